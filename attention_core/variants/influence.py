"""Measures how strongly a vector depends on each word (its influence: the norm of a Jacobian), also by distance.

The Jacobian is that of the vector at a position with respect to the word's vector.
"""

from dataclasses import dataclass, replace

import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.mechanism import checks
from attention_core.mechanism.plain_checks import require_not_negative, require_one_of, require_positive
from attention_core.record.errors import AttentionError
from attention_core.variants.encoders import MAX_ENCODER_LENGTH, Encoder, draw_layers, encode, position_width

NORMS = {"spectral": 2, "frobenius": "fro"}  # name of a norm -> the argument `ord` of torch.linalg
INFLUENCE_MEASURES = ("share", "relative")


# ---- with one sample of the weights ----------------------------------------------------------------------------------
def influence(
    encoder: Encoder,
    x: Float[Tensor, "T D"],
    at: int | None = None,
    norm: str = "spectral",
    relative: bool = False,
) -> Float[Tensor, " T"]:
    r"""Measure how much the encoder's vector at one position depends on each word.

    $\lVert \partial h_t / \partial x_s \rVert$ for every word s and one position t.

    x: the words' vectors (T, D), T at most 128, such as random_words. at: the position t; None for the last one. norm:
    "spectral", the largest factor on a small change of x_s (the largest singular value), or "frobenius", the root of
    the sum of squares. relative: whether to divide by the influence of word t itself.

    Returns one number per word s, exactly 0 if no path leads from s to t: after t without `both`, and beyond the 1 +
    layers (window - 1) positions that stacked convolutions read. Raises AttentionError: rank, at_most, not_negative,
    unknown_choice, not_floating, not_finite. Source: Bengio, Simard, Frasconi 1994; Pascanu, Mikolov, Bengio 2013,
    equation 5.

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

    jacobian = encoder_jacobian(encoder, x.double(), at)  # (T, width, D): derivatives of the vector at `at`
    sizes = torch.linalg.matrix_norm(jacobian, ord=NORMS[norm])  # (T,)
    if relative:
        sizes = sizes / sizes[at]
    return sizes


def encoder_jacobian(encoder: Encoder, x: Float[Tensor, "T D"], at: int) -> Float[Tensor, "T width D"]:
    """Compute the Jacobian d h_at / d x_s for every word s.

    Each component of h_at is computed from a separate copy of x, so that one backward pass gives the derivatives of all
    components.
    """
    D = x.shape[-1]
    layers = draw_layers(encoder, D)
    width = position_width(encoder)
    copies = x.detach().expand(width, *x.shape)  # (width, T, D)
    copies = copies.clone().requires_grad_()
    hidden = encode(encoder, copies, layers)[:, at]  # (width, width): the vector at position `at`, for each copy of x
    own_numbers = hidden.diagonal()  # component n of h_at, which depends on copy n of x alone
    (slopes,) = torch.autograd.grad(own_numbers.sum(), copies)  # (width, T, D)
    return slopes.transpose(0, 1)  # (T, width, D)


# ---- by distance, over several samples -------------------------------------------------------------------------------
@dataclass(frozen=True)
class InfluenceByDistance:
    """The influence of the words on one position, by distance, in ascending order.

    distances: how many positions each word is before the measured position; below 0 if it is after it. mean, least,
    most: the mean, the minimum and the maximum over the samples of the weights, for each distance.
    """

    distances: tuple[int, ...]
    mean: tuple[float, ...]
    least: tuple[float, ...]
    most: tuple[float, ...]

    @property
    def band(self) -> tuple[tuple[float, float], ...]:
        """The smallest and the largest influence over the sampled weights, at each distance."""
        return tuple(zip(self.least, self.most, strict=True))

    def at(self, distance: int) -> float:
        """Return the mean influence of the word that is `distance` positions before the measured one."""
        return self.mean[self.distances.index(distance)]

    def factor_per_step(self) -> float | None:
        """Return the factor by which the influence changes per word of distance: the geometric mean, from distance 1
        on.

        Below 1 the influence vanishes with distance, above 1 it explodes
        (Bengio, Simard, Frasconi 1994). Returns None if fewer than two words are before the position.

        >>> InfluenceByDistance((0, 1, 2, 3), (1.0, 0.8, 0.4, 0.2), (), ()).factor_per_step()
        0.5
        """
        farthest = self.distances[-1]
        if farthest < 2:
            return None
        return self.left_at_the_end() ** (1 / (farthest - 1))

    def left_at_the_end(self) -> float:
        """Return the ratio of two influences: of the farthest earlier word, and of the word before the position.

        >>> InfluenceByDistance((0, 1, 2, 3), (1.0, 0.8, 0.4, 0.2), (), ()).left_at_the_end()
        0.25
        """
        return self.at(self.distances[-1]) / self.at(1)


def influence_by_distance(
    encoder: Encoder, x: Float[Tensor, "T D"], at: int, measure: str = "share", draws: int = 1
) -> InfluenceByDistance:
    r"""Measure the influence of every word on one position (the norm of a Jacobian), for several samples of the
    weights.

    encoder: its seed gives the first sample; the seed of each further sample is larger by 1. x: the words' vectors. at:
    the position. measure: "share", $\lVert J_s \rVert / \sum_{s'} \lVert J_{s'} \rVert$, which is 1/S for each word if
    all influence is equal; or "relative" to the position's own word, $\lVert J_s \rVert / \lVert J_t \rVert$. Both are
    computed per sample. draws: the number of samples. Words after the position are omitted if the encoder reads in one
    direction. Raises AttentionError: unknown_choice, positive_integer, and what `influence` raises.

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
    last_word_first = measured.flip(1)  # so that distances ascend
    by_distance = last_word_first[:, -len(distances) :]  # (draws, distances)
    return InfluenceByDistance(
        distances=tuple(distances),
        mean=tuple(by_distance.mean(0).tolist()),
        least=tuple(by_distance.amin(0).tolist()),
        most=tuple(by_distance.amax(0).tolist()),
    )


def distances_heard(both: bool, length: int, at: int) -> range:
    """Return the distances of the words that can influence a position, in ascending order; below 0 for words after it.

    both: whether the encoder reads both directions. at: the
    position.

    >>> distances_heard(False, 5, at=3), distances_heard(True, 5, at=3)
    (range(0, 4), range(-1, 4))
    """
    last = length - 1
    nearest = at - last if both else 0
    return range(nearest, at + 1)


def default_position(both: bool, length: int) -> int:
    """Return the position to measure: the middle one if the encoder reads both directions, else the last.

    >>> default_position(False, 5), default_position(True, 5)
    (4, 2)
    """
    return length // 2 if both else length - 1


def first_overtaking_distance(one: InfluenceByDistance, other: InfluenceByDistance) -> int | None:
    """Return the first distance at which the order of two mean influences is reversed; None if it is never reversed.

    The reference is the order at the first distance, from 0 on, at which the means differ.

    >>> near = InfluenceByDistance((0, 1, 2), (0.7, 0.2, 0.1), (), ())
    >>> far = InfluenceByDistance((0, 1, 2), (0.3, 0.2, 0.5), (), ())
    >>> first_overtaking_distance(near, far), first_overtaking_distance(near, near)
    (2, None)
    """
    order_at_first = 0
    for distance, mean, other_mean in zip(one.distances, one.mean, other.mean, strict=True):
        order = (mean > other_mean) - (mean < other_mean)  # 1, -1 or 0: which mean is larger
        if distance < 0 or order == 0:
            continue
        if order_at_first == 0:
            order_at_first = order
        elif order != order_at_first:
            return distance
    return None
