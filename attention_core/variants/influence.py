"""How far a position hears: the influence of every word on it, and that by distance over several draws of the weights.

The influence of a word on a position is the norm of a Jacobian.
"""

from dataclasses import dataclass, replace

import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.mechanism import checks
from attention_core.mechanism.plain_checks import require_not_negative, require_one_of, require_positive
from attention_core.record.errors import AttentionError
from attention_core.variants.encoders import MAX_ENCODER_LENGTH, Encoder, draw_layers, encode, position_width

NORMS = {"spectral": 2, "frobenius": "fro"}  # a name, and torch's order
INFLUENCE_MEASURES = ("share", "relative")


# ---- with one draw of the weights ------------------------------------------------------------------------------------
def influence(
    encoder: Encoder,
    x: Float[Tensor, "T D"],
    at: int | None = None,
    norm: str = "spectral",
    relative: bool = False,
) -> Float[Tensor, " T"]:
    r"""Measure how much the encoder's vector at one position depends on each word.

    $\lVert \partial h_t / \partial x_s \rVert$ for every word s and one position t.

    x: the words' vectors (T, D), T at most 128: random_words, or somebody's own. at: the position t; the last where it
    is None. norm: "spectral", the most by which a small change of x_s is stretched (the largest singular value),
    or "frobenius", the root of the sum of squares. relative: over what it is at t itself.

    Returns a number for every s, exactly 0 where no path leads from s to t: after t without `both`, and beyond the
    1 + layers (window - 1) positions that stacked convolutions see. Raises AttentionError: rank, at_most, not_negative,
    unknown_choice, not_floating, not_finite.
    Source: Bengio, Simard, Frasconi 1994; Pascanu, Mikolov, Bengio 2013, equation 5.

    >>> from attention_core.variants.encoders import random_words
    >>> encoder = Encoder("rnn", gain=0.9)
    >>> influence(encoder, random_words(encoder, 20, 32), relative=True)[[18, 14, 9, 0]].numpy().round(3)
    array([0.733, 0.213, 0.035, 0.001])
    """
    require_one_of("norm", norm, tuple(NORMS))
    checks.check_tensors({"x": x})
    if x.dim() != 2:
        shape = checks.shape_of(x)
        raise AttentionError("rank", name="x", axes="(T, D)", shape=shape)
    T = len(x)
    if T > MAX_ENCODER_LENGTH:
        raise AttentionError("at_most", name="T", limit=MAX_ENCODER_LENGTH, given=T)
    if at is None:
        at = T - 1
    if require_not_negative("at", at) >= T:
        raise AttentionError("at_most", name="at", limit=T - 1, given=at)

    jacobian = encoder_jacobian(encoder, x.double(), at)  # (T, width, D)
    sizes = torch.linalg.matrix_norm(jacobian, ord=NORMS[norm])  # (T,)
    if relative:
        sizes = sizes / sizes[at]
    return sizes


def encoder_jacobian(encoder: Encoder, x: Float[Tensor, "T D"], at: int) -> Float[Tensor, "T width D"]:
    """Compute d h_at / d x_s for every s. Each number of h gets an x of its own, so that one backward pass suffices."""
    D = x.shape[-1]
    layers = draw_layers(encoder, D)
    width = position_width(encoder)
    copies = x.detach().expand(width, *x.shape)  # (width, T, D)
    copies = copies.clone().requires_grad_()
    hidden = encode(encoder, copies, layers)[:, at]  # (width, width): a row a copy
    own_numbers = hidden.diagonal()  # number n of copy n
    (slopes,) = torch.autograd.grad(own_numbers.sum(), copies)  # (width, T, D)
    return slopes.transpose(0, 1)  # (T, width, D)


# ---- by distance, over several draws ---------------------------------------------------------------------------------
@dataclass(frozen=True)
class InfluenceByDistance:
    """The influence of the words on one position, by distance, in rising order.

    A distance is how many words before the position a word stands (minus: after it). For each distance the mean over
    the draws, the least and the most.
    """

    distances: tuple[int, ...]
    mean: tuple[float, ...]
    least: tuple[float, ...]
    most: tuple[float, ...]

    @property
    def band(self) -> tuple[tuple[float, float], ...]:
        """The least and the most at every distance."""
        return tuple(zip(self.least, self.most, strict=True))

    def at(self, distance: int) -> float:
        """Give the mean at a distance."""
        return self.mean[self.distances.index(distance)]

    def factor_per_step(self) -> float | None:
        """Give the factor that each further word before the position brings, on geometric average from distance 1 on.

        Below 1 the influence vanishes with distance, above 1 it explodes (Bengio, Simard, Frasconi 1994). None where
        fewer than two words stand before the position.

        >>> InfluenceByDistance((0, 1, 2, 3), (1.0, 0.8, 0.4, 0.2), (), ()).factor_per_step()
        0.5
        """
        farthest = self.distances[-1]
        if farthest < 2:
            return None
        return self.left_at_the_end() ** (1 / (farthest - 1))

    def left_at_the_end(self) -> float:
        """Give how much of the influence of the word before the position the farthest word before it has.

        >>> InfluenceByDistance((0, 1, 2, 3), (1.0, 0.8, 0.4, 0.2), (), ()).left_at_the_end()
        0.25
        """
        return self.at(self.distances[-1]) / self.at(1)


def influence_by_distance(
    encoder: Encoder, x: Float[Tensor, "T D"], at: int, measure: str = "share", draws: int = 1
) -> InfluenceByDistance:
    r"""Measure the influence of every word on one position, see `influence`, with weights drawn several times.

    encoder: its seed is that of the first draw, the next ones follow. x: the words' vectors; at: the position. measure:
    "share", $\lVert J_s \rVert / \sum_{s'} \lVert J_{s'} \rVert$, where even hearing gives each word 1/S; "relative",
    over the position's own word, $\lVert J_s \rVert / \lVert J_t \rVert$. Both are taken draw by draw. Words after the
    position are left out where an encoder of one direction hears nothing of them. Raises AttentionError:
    unknown_choice, positive_integer, and what `influence` raises.

    >>> from attention_core.variants.encoders import random_words
    >>> encoder = Encoder("rnn", gain=0.9)
    >>> found = influence_by_distance(encoder, random_words(encoder, 20, 32), at=19, measure="relative")
    >>> [round(found.at(distance), 3) for distance in (0, 1, 5, 10, 19)]
    [1.0, 0.733, 0.213, 0.035, 0.001]
    """
    require_one_of("measure", measure, INFLUENCE_MEASURES)
    rows = []
    for draw in range(require_positive("draws", draws)):
        redrawn = replace(encoder, seed=encoder.seed + draw)
        rows.append(influence(redrawn, x, at))
    sizes = torch.stack(rows)  # (draws, T)
    wholes = sizes.sum(1) if measure == "share" else sizes[:, at]  # (draws,)
    measured = sizes / wholes[:, None]  # (draws, T)

    distances = distances_heard(encoder.both, len(x), at)
    last_word_first = measured.flip(1)  # so that distances rise
    by_distance = last_word_first[:, -len(distances) :]  # (draws, distances)
    return InfluenceByDistance(
        distances=tuple(distances),
        mean=tuple(by_distance.mean(0).tolist()),
        least=tuple(by_distance.amin(0).tolist()),
        most=tuple(by_distance.amax(0).tolist()),
    )


def distances_heard(both: bool, length: int, at: int) -> range:
    """List how far before a position the words stand that it can hear from (minus: after it), in rising order.

    >>> distances_heard(False, 5, at=3), distances_heard(True, 5, at=3)
    (range(0, 4), range(-1, 4))
    """
    last = length - 1
    nearest = at - last if both else 0
    return range(nearest, at + 1)


def word_at(at: int, distance: int) -> int:
    """Give the word that stands so many words before a position (minus: after it).

    >>> word_at(5, 2), word_at(5, -1)
    (3, 6)
    """
    return at - distance


def even_share_line(distances: range) -> tuple[float, float]:
    """Give an even share of the words at these distances, at both ends of a line.

    >>> even_share_line(range(-1, 3))
    (0.25, 0.25)
    """
    share = 1 / len(distances)
    return share, share


def default_position(both: bool, length: int) -> int:
    """Give the position that hears from most words: the last one, or in both directions the one in the middle.

    >>> default_position(False, 5), default_position(True, 5)
    (4, 2)
    """
    return length // 2 if both else length - 1


def first_overtaking_distance(one: InfluenceByDistance, other: InfluenceByDistance) -> int | None:
    """Find the first distance at which the one that was behind among the nearest words is ahead; None: there is none.

    >>> near = InfluenceByDistance((0, 1, 2), (0.7, 0.2, 0.1), (), ())
    >>> far = InfluenceByDistance((0, 1, 2), (0.3, 0.2, 0.5), (), ())
    >>> first_overtaking_distance(near, far), first_overtaking_distance(near, near)
    (2, None)
    """
    order_at_first = 0
    for distance, mean, other_mean in zip(one.distances, one.mean, other.mean, strict=True):
        order = (mean > other_mean) - (mean < other_mean)  # 1 where `one` is ahead, 0 where both are level
        if distance < 0 or order == 0:
            continue
        if order_at_first == 0:
            order_at_first = order
        elif order != order_at_first:
            return distance
    return None
