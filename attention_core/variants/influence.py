"""How far a position hears: the influence of every word on it by distance, over several draws of the weights."""

from dataclasses import dataclass, replace

import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.mechanism.config import require_one_of, require_positive
from attention_core.variants.encoders import Encoder, influence

INFLUENCE_MEASURES = ("share", "relative")


@dataclass(frozen=True)
class InfluenceByDistance:
    """What one position hears, by distance: how many words before it a word stands (minus: after it), in rising order;
    for each the mean over the draws, the least and the most."""

    distances: tuple[int, ...]
    mean: tuple[float, ...]
    least: tuple[float, ...]
    most: tuple[float, ...]

    @property
    def band(self) -> tuple[tuple[float, float], ...]:
        """The least and the most at every distance."""
        return tuple(zip(self.least, self.most, strict=True))

    def at(self, distance: int) -> float:
        """The mean at a distance."""
        return self.mean[self.distances.index(distance)]


def influence_by_distance(
    encoder: Encoder, x: Float[Tensor, "T D"], at: int, measure: str = "share", draws: int = 1
) -> InfluenceByDistance:
    r"""The influence of every word on what stands at one position, see `influence`, with weights drawn several times.

    encoder: its seed is that of the first draw, the next ones follow. x: the words' vectors; at: the position. measure:
    "share", $\lVert J_s \rVert / \sum_{s'} \lVert J_{s'} \rVert$, where even hearing gives each word 1/S; "relative",
    over the position's own word, $\lVert J_s \rVert / \lVert J_t \rVert$. Both are taken draw by draw. Words that
    nothing leads from are left out where they come after the position in one direction. Raises AttentionError:
    unknown_choice, positive_integer, and what `influence` raises.

    >>> from attention_core.variants.encoders import random_words
    >>> encoder = Encoder("rnn", gain=0.9)
    >>> found = influence_by_distance(encoder, random_words(encoder, 20, 32), at=19, measure="relative")
    >>> [round(found.at(distance), 3) for distance in (0, 1, 5, 10, 19)]
    [1.0, 0.733, 0.213, 0.035, 0.001]
    """
    require_one_of("measure", measure, INFLUENCE_MEASURES)
    drawn = [influence(replace(encoder, seed=encoder.seed + n), x, at) for n in range(require_positive("draws", draws))]
    sizes = torch.stack(drawn)  # (draws, T)
    sizes = sizes / (sizes.sum(1) if measure == "share" else sizes[:, at])[:, None]
    there = distances_heard(encoder.both, len(x), at)
    sizes = sizes.flip(1)[:, -len(there) :]  # (draws, S): the last word first, so that distances rise
    parts = (sizes.mean(0), sizes.amin(0), sizes.amax(0))
    return InfluenceByDistance(tuple(there), *(tuple(part.tolist()) for part in parts))


def distances_heard(both: bool, length: int, at: int) -> range:
    """How far before a position the words stand that it can hear from (minus: after it), in rising order.

    >>> distances_heard(False, 5, at=3), distances_heard(True, 5, at=3)
    (range(0, 4), range(-1, 4))
    """
    return range(at - length + 1 if both else 0, at + 1)


def word_at(at: int, distance: int) -> int:
    """The word that stands so many words before a position (minus: after it).

    >>> word_at(5, 2), word_at(5, -1)
    (3, 6)
    """
    return at - distance


def even_share_line(there: range) -> tuple[float, float]:
    """An even share of so many words, at both ends of a line.

    >>> even_share_line(range(-1, 3))
    (0.25, 0.25)
    """
    return 1 / len(there), 1 / len(there)


def default_position(both: bool, length: int) -> int:
    """The position that hears from most words: the last one, or in both directions the one in the middle.

    >>> default_position(False, 5), default_position(True, 5)
    (4, 2)
    """
    return length // 2 if both else length - 1


def first_overtaking_distance(one: InfluenceByDistance, other: InfluenceByDistance) -> int | None:
    """The first distance at which the one that was behind among the nearest words is ahead; None where it never is.

    >>> near = InfluenceByDistance((0, 1, 2), (0.7, 0.2, 0.1), (), ())
    >>> far = InfluenceByDistance((0, 1, 2), (0.3, 0.2, 0.5), (), ())
    >>> first_overtaking_distance(near, far), first_overtaking_distance(near, near)
    (2, None)
    """
    signs = [(d, (a > b) - (a < b)) for d, a, b in zip(one.distances, one.mean, other.mean, strict=True) if d >= 0]
    decided = [(d, sign) for d, sign in signs if sign]
    return next((d for d, sign in decided if sign != decided[0][1]), None)
