"""Reads attention maps in other forms: without the first key, only their larger weights, as multiples of a uniform
weight, or averaged.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attention_core.record.errors import AttentionError

TIE = 1e-9  # weights that differ by less than this count as equal, because of rounding


@dataclass(frozen=True)
class MapReading:
    """How attention maps are to be read; by default unchanged.

    without_first: whether the first key is left out. least: the weight below which a cell is hidden; None for no limit.
    largest: how many weights of each row are shown, besides those equal to the last of them; None for all. times:
    whether numbers are multiples of the uniform weight. mean: the indices of the heads whose mean map is added.

    Raises AttentionError (a ValueError): share_range, positive_integer, not_negative; chosen_twice for both limits.

    >>> MapReading(least=0.1, largest=2)
    Traceback (most recent call last):
    attention_core.record.errors.AttentionError: least, largest may be chosen only once: it was chosen twice
    """

    without_first: bool = False
    least: float | None = None
    largest: int | None = None
    times: bool = False
    mean: tuple[int, ...] = ()

    def __post_init__(self):
        if self.least is not None and not 0 < self.least <= 1:
            raise AttentionError("share_range", name="least", given=self.least)
        if self.largest is not None and not (type(self.largest) is int and self.largest > 0):
            raise AttentionError("positive_integer", name="largest", given=self.largest)
        if self.least is not None and self.largest is not None:
            raise AttentionError("chosen_twice", kind="least, largest")
        for head in self.mean:
            if type(head) is not int or head < 0:
                raise AttentionError("not_negative", name="mean", given=head)


AS_THEY_ARE = MapReading()


@dataclass(frozen=True, eq=False)
class ReadMaps:
    """Attention maps as a MapReading reads them.

    numbers (N, T, S'): weights, or multiples of the uniform weight; S' is S - 1 if the first key is left out. allowed,
    hidden (N, T, S'): boolean, True for the cells that no mask blocks, and for those of them that are not shown.
    left_out (N,): the share of each map's weight that the first key has. hidden_share (N,): the share of the remaining
    weight that is hidden.
    """

    numbers: Float[Tensor, "N T S"]
    allowed: Bool[Tensor, "N T S"]
    hidden: Bool[Tensor, "N T S"]
    left_out: Float[Tensor, " N"]
    hidden_share: Float[Tensor, " N"]


def read_maps(weights: Float[Tensor, "N T S"], allowed: Bool[Tensor, "N T S"], reading: MapReading) -> ReadMaps:
    """Return N attention maps of one size as a MapReading reads them; a mean of maps is one more map, the last.

    The mean is computed from the unchanged weights. Then, in each map, the first key is left out, small weights are
    hidden, and the unit is changed. allowed: boolean, True = may attend.

    Raises AttentionError (a ValueError): weight_shape if a head of the mean does not exist, or the first key is left
    out and there is no other; number_not_negative for a weight below 0.

    >>> weights = torch.tensor([[[0.5, 0.25, 0.25, 0.0]], [[0.1, 0.7, 0.1, 0.1]]])
    >>> read = read_maps(weights, torch.ones(2, 1, 4) > 0, MapReading(without_first=True, least=0.2, mean=(0, 1)))
    >>> read.numbers[0].tolist(), read.hidden[0].tolist(), read.left_out.tolist()
    ([[0.5, 0.5, 0.0]], [[False, False, True]], [0.5, 0.10000000149011612, 0.30000001192092896])
    """
    if weights.min() < 0:
        raise AttentionError("number_not_negative", name="weights", given=float(weights.min()))
    if reading.mean:
        weights = torch.cat([weights, mean_map(weights, reading.mean)[None]])
        allowed = torch.cat([allowed, allowed[list(reading.mean)].any(0, keepdim=True)])
    left_out = share_of(weights[..., :1], weights)
    if reading.without_first:
        weights, allowed = leave_out_first(weights), allowed[..., 1:]
    hidden = allowed & ~keep_large(weights, reading.least, reading.largest)
    hidden_share = share_of(weights * hidden, weights)
    numbers = weights * count_keys(allowed) if reading.times else weights
    return ReadMaps(numbers, allowed, hidden, left_out, hidden_share)


def leave_out_first(weights: Float[Tensor, "*rows S"]) -> Float[Tensor, "*rows S-1"]:
    r"""Leave out the first key, and divide each row by what remains: $w'_{ts} = w_{ts} / \sum_{r > 1} w_{tr}$.

    Many models put most of a weight that they do not need on the first token (an attention sink); without it, the rest
    can be compared. A row with all of its weight on the first key becomes 0. Raises AttentionError: weight_shape.

    Source: Xiao et al. 2024, Efficient Streaming Language Models with Attention Sinks.

    >>> leave_out_first(torch.tensor([[0.5, 0.25, 0.25], [1.0, 0.0, 0.0]]))
    tensor([[0.5000, 0.5000],
            [0.0000, 0.0000]])
    """
    if weights.shape[-1] < 2:
        raise AttentionError("weight_shape", weight="weights", axes="(T, S) with S > 1", shape=tuple(weights.shape))
    rest = weights[..., 1:]
    remains = rest.sum(-1, keepdim=True)
    return torch.where(remains > 0, rest / remains, 0.0)


def keep_large(
    weights: Float[Tensor, "*rows S"], least: float | None = None, largest: int | None = None
) -> Bool[Tensor, "*rows S"]:
    """Return a boolean tensor that is True for weights of at least `least` that are among the `largest` of their row,
    ties included.

    >>> keep_large(torch.tensor([0.4, 0.2, 0.2, 0.1, 0.1]), largest=2)
    tensor([ True,  True,  True, False, False])
    """
    kept = torch.ones_like(weights, dtype=torch.bool)
    if least is not None:
        kept = weights >= least - TIE
    if largest is not None and largest < weights.shape[-1]:
        last = weights.topk(largest, dim=-1).values[..., -1:]  # (..., S) -> (..., 1)
        kept = kept & (weights >= last - TIE)
    return kept


def count_keys(allowed: Bool[Tensor, "*rows S"]) -> Float[Tensor, "*rows 1"]:
    """Return the number of allowed keys of each query; a weight times this number is a multiple of the uniform weight.

    >>> torch.tensor([0.75, 0.25]) * count_keys(torch.tensor([True, True]))
    tensor([1.5000, 0.5000], dtype=torch.float64)
    """
    return allowed.sum(-1, keepdim=True).double()


def mean_map(weights: Float[Tensor, "N T S"], heads: Sequence[int]) -> Float[Tensor, "T S"]:
    """Return the mean of the maps of some heads. Raises AttentionError: weight_shape, for a head that does not exist.

    >>> mean_map(torch.tensor([[[1.0, 0.0]], [[0.0, 1.0]], [[0.5, 0.5]]]), (0, 2))
    tensor([[0.7500, 0.2500]])
    """
    if not heads or max(heads) >= len(weights):
        raise AttentionError(
            "weight_shape", weight="weights", axes=f"(N, T, S) with heads {heads}", shape=(len(weights),)
        )
    return weights[list(heads)].mean(0)


def share_of(part: Float[Tensor, "N T S"], whole: Float[Tensor, "N T R"]) -> Float[Tensor, " N"]:
    """Return the weight of a part of each map divided by the map's whole weight; 0 for a map without weight."""
    total = whole.sum((-2, -1))
    return torch.where(total > 0, part.sum((-2, -1)) / total, 0.0)
