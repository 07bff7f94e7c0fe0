"""Finds, by comparing numbers, the columns of a linear map that give the heads of q, k or v at position 0, and the norm
of these heads.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

import torch
from jaxtyping import Float, Int
from torch import Tensor

from attention_core.checkpoints.head_norms import NormCall
from attention_core.checkpoints.linear_maps import (
    LinearMap,
    find_columns,
    is_learned,
    list_linear_maps,
    take_columns,
)
from attention_core.checkpoints.vector_norms import VectorNorm, read_vector_norm
from attention_core.checkpoints.watched_run import Computed, OperationWatch
from attention_core.record.errors import AttentionError

MOST_JOINED = 4  # most tensors (q, k, v, a gate) that one linear map may compute together
FACTOR_ROUNDINGS = 8  # accepted difference between numbers and a multiple of others, in roundings of the largest number


@dataclass(frozen=True, eq=False)
class HeadNorm:
    """The norm of q's or k's heads in a layer. together: whether all heads of a token are normed as one vector."""

    norm: VectorNorm
    together: bool = False

    @property
    def modifier(self) -> str | None:
        """The name of the core's modifier that computes this norm; None if the core has none."""
        is_centred = self.norm.shift is not None
        if self.together:
            return None if is_centred else "qk_norm_all"
        return "qk_layer_norm" if is_centred else "qk_norm"

    def choice(self) -> tuple[str, dict[str, float]]:
        """Return the modifier that computes this norm, with its parameters, as AttentionConfig takes it."""
        return self.modifier, {"eps": self.norm.eps}

    @property
    def kind(self) -> tuple[str | None, float]:
        """The name and the eps of the norm, which must be equal for q and k."""
        return self.modifier, self.norm.eps

    def learned(self, role: str) -> dict[str, Tensor]:
        """Return the gain and the shift of the norm, keyed by their names in the weights. role: "q" or "k"."""
        if self.together:
            return {f"g_{role}_all": self.norm.gain}
        if self.norm.shift is None:
            return {f"g_{role}": self.norm.gain}
        return {f"g_{role}_layer": self.norm.gain, f"b_{role}_layer": self.norm.shift}


@dataclass(frozen=True, eq=False)
class Projection:
    """How a linear map computes the heads of q, k or v: by some of its columns, times a factor, perhaps normed.

    columns: the columns of the map by head. texts_first: whether the rows of the map's input are all tokens of the
    first text, then those of the second; if not, they are the first tokens of all texts, then the second tokens.
    """

    source: LinearMap
    columns: Int[Tensor, "H d"]
    texts: int
    texts_first: bool
    factor: float = 1.0
    norm: HeadNorm | None = None

    @property
    def x(self) -> Float[Tensor, "B L D"]:
        """The input of the map, in float64."""
        return by_text(self.source.given, self.texts, self.texts_first).double()

    @property
    def matrix(self) -> Float[Tensor, "D H*d"]:
        """The chosen columns of the map's matrix, in float64."""
        return take_columns(self.source.matrix, self.columns.flatten()).double()

    @property
    def bias(self) -> Float[Tensor, " H*d"] | None:
        """The chosen numbers of the map's bias, in float64; None if it has no bias."""
        return None if self.source.bias is None else self.source.bias[self.columns.flatten()].double()

    def in_run(self, maps: Sequence[LinearMap]) -> "Projection":
        """Return the same Projection with the linear map of another run; see LayerMaps.in_run."""
        return replace(self, source=maps[self.source.number])

    def split(self, projected: Float[Tensor, "B L H*d"]) -> Float[Tensor, "B H L d"]:
        """Return projected numbers as (B, H, L, d), with an axis of heads."""
        return projected.unflatten(-1, tuple(self.columns.shape)).transpose(1, 2)

    def project(self) -> tuple[Float[Tensor, "B H L d"], float]:
        """Return the heads in float64 before the multiplication by the factor, and the largest |x| |W| + |b|, after the
        same norm."""
        projected, sizes = self.x @ self.matrix, self.x.abs() @ self.matrix.abs()
        if self.bias is not None:
            projected, sizes = projected + self.bias, sizes + self.bias.abs()
        if self.norm is None:
            return self.split(projected), float(sizes.max())
        norm = self.norm.norm
        if self.norm.together:
            return self.split(norm.norm(projected)), float(norm.norm_sizes(sizes, projected).max())
        heads = self.split(projected)
        return norm.norm(heads), float(norm.norm_sizes(self.split(sizes), heads).max())


def by_text(rows: Float[Tensor, "R D"], texts: int, texts_first: bool) -> Float[Tensor, "B L D"]:
    """Return rows, one per token, by text; texts, texts_first: see Projection."""
    if texts_first:
        return rows.reshape(texts, -1, rows.shape[-1])
    return rows.reshape(-1, texts, rows.shape[-1]).transpose(0, 1)


# ---- the columns of one map ------------------------------------------------------------------------------------------
def find_projection(
    role: str, heads: Float[Tensor, "B H L d"], maps: Sequence[LinearMap], norms: Sequence[NormCall]
) -> Projection:
    """Return the Projection that gives q, k or v at position 0. Raises AttentionError: heads_of_no_map,
    heads_normed.
    """
    found = find_map(heads, maps)
    if found is not None:
        return found
    for call in norms:
        before = find_given(call, heads)
        found = None if before is None else find_map(before, maps)
        if found is not None:
            norm = read_vector_norm(call)
            if norm is None:
                raise AttentionError("heads_normed", name=role)
            return replace(found, norm=HeadNorm(norm, together=call.made.dim() < heads.dim()))
    raise AttentionError("heads_of_no_map", name=role)


def find_given(call: NormCall, heads: Float[Tensor, "B H L d"]) -> Float[Tensor, "B H L d"] | None:
    """Return the operand of a norm call, split by head, if the call's result equals the given heads at position 0; else
    None."""
    given, made = call.given, call.made
    if made.dim() < heads.dim():  # (B, T, H·d)
        _, H, _, d = heads.shape
        if made.dim() < 3 or made.shape[-1] != H * d:
            return None
        given, made = given.unflatten(-1, (H, d)), made.unflatten(-1, (H, d))
    by_head = (given, made)
    by_place = (given.transpose(1, 2), made.transpose(1, 2))
    for given, made in (by_head, by_place):
        first = made[:, :, 0].to(heads.dtype)
        if made.shape == heads.shape and torch.equal(first, heads[:, :, 0]):
            return given
    return None


def find_map(heads: Float[Tensor, "B H L d"], maps: Sequence[LinearMap]) -> Projection | None:
    """Return the Projection (columns of a linear map) that equals the given heads at position 0 of each text; None if
    there is none.
    """
    B, H, L, d = heads.shape
    first = heads[:, :, 0]
    fitting = [each for each in maps if len(each.made) == B * L]
    for source, texts_first in product(fitting, (True, False)):
        rows = by_text(source.made, B, texts_first)[:, 0].to(heads.dtype)
        columns = find_columns(first, rows)
        if columns is not None:
            return Projection(source, columns, B, texts_first)
    for source in fitting:
        joined = source.made.shape[1] // (H * d)
        for part in range(joined if joined <= MOST_JOINED else 0):
            columns = part * H * d + torch.arange(H * d, device=heads.device).reshape(H, d)
            for texts_first in (True, False):
                factor = find_factor(first, by_text(source.made, B, texts_first)[:, 0][:, columns])
                if factor is not None:
                    return Projection(source, columns, B, texts_first, factor)
    return None


def find_factor(numbers: Tensor, others: Tensor) -> float | None:
    """Return the positive factor by which `others` must be multiplied to give `numbers`; None if there is none.

    >>> find_factor(torch.tensor([1.0, -2.0]), torch.tensor([4.0, -8.0]))
    0.25
    """
    rounding = torch.finfo(numbers.dtype).eps / 2
    numbers, others = numbers.double(), others.double()
    squares = float(others.square().sum())
    factor = float((numbers * others).sum()) / squares if squares else 0.0  # least squares: both are rounded
    limit = FACTOR_ROUNDINGS * rounding * float(numbers.abs().max())
    return factor if factor > 0 and differ_by(factor * others, numbers) <= limit else None


def differ_by(made: Tensor, recorded: Tensor) -> float:
    """Return the largest absolute difference of two tensors."""
    return float((made - recorded.double()).abs().max())


# ---- a bias that is added to heads -----------------------------------------------------------------------------------
def list_maps(watched: OperationWatch) -> list[LinearMap]:
    """Return the linear maps of a recorded run in order, then those whose bias is added after the split into heads, as
    in DeBERTa.
    """
    maps = list_linear_maps(watched)
    sums = [computed for computed in watched.operations.values() if computed.name in ("add", "add_")]
    later = [each for computed in sums if (each := add_head_bias(computed, maps)) is not None]
    numbered = (replace(each, number=len(maps) + place) for place, each in enumerate(later))
    return [*maps, *numbered]


def add_head_bias(computed: Computed, maps: Sequence[LinearMap]) -> LinearMap | None:
    """Return the linear map of heads to which an addition adds a learned bias, with this bias; None if the operation is
    no such addition. Its number is that of the map without this bias.
    """
    heads, bias = computed.arguments[:2]
    is_pair = isinstance(heads, Tensor) and isinstance(bias, Tensor) and heads.dim() == 4
    if not is_pair or not is_learned(computed.source(1)) or computed.named.get("alpha", 1) != 1:
        return None
    _, H, _, d = heads.shape
    if bias.shape != (1, H, 1, d):
        return None
    found = find_map(heads, maps)
    if found is None or found.factor != 1:
        return None
    places = (0, 2) if found.texts_first else (2, 0)
    made = computed.result.permute(*places, 1, 3).reshape(-1, H * d)
    columns = found.columns.flatten()
    total = bias.detach().flatten()
    if found.source.bias is not None:
        total = total + found.source.bias[columns]
    matrix = take_columns(found.source.matrix, columns)
    return LinearMap(found.source.number, computed.module, found.source.given, matrix, total, made)
