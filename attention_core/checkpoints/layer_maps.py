"""Finds, by comparing numbers, how a recorded attention layer computes q, k and v from its input, and its output from
its heads.

RoPE rotates nothing at position 0, so that the numbers of q and k at this position are among the results of one linear
map. A map found there counts only if it gives the recorded numbers at every position. Neither names of modules nor the
architecture are read, only what the model's config states about RoPE.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import torch
from jaxtyping import Float, Int
from torch import Tensor

from attention_core.checkpoints.call import AttentionCall
from attention_core.checkpoints.head_norms import NormCall
from attention_core.checkpoints.linear_maps import LinearMap, find_columns, take_columns
from attention_core.checkpoints.vector_norms import VectorNorm, read_vector_norm
from attention_core.mechanism.positions import POSITIONS
from attention_core.record.errors import AttentionError

MOST_ROUNDINGS = 32  # accepted difference of q, k, v in roundings of the largest |x| |W| + |b|; largest measured: 15
MOST_JOINED = 4  # most tensors (q, k, v, a gate) that one linear map may compute together
FLOAT64_BYTES = 8
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
        return self.by_text(self.source.given).double()

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

    def by_text(self, rows: Float[Tensor, "R D"]) -> Float[Tensor, "B L D"]:
        """Return rows, one per token, as (B, L, D), where B counts the texts."""
        if self.texts_first:
            return rows.reshape(self.texts, -1, rows.shape[-1])
        return rows.reshape(-1, self.texts, rows.shape[-1]).transpose(0, 1)

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


@dataclass(frozen=True, eq=False)
class LayerMaps:
    """How a layer computes its heads and its output: projections, RoPE and the output's linear map.

    rope: the parameters of RoPE; None if q and k are not rotated. output: the linear map of the concatenated heads;
    None if no map reads them unchanged.
    """

    q: Projection
    k: Projection
    v: Projection
    rope: Mapping[str, object] | None
    output: LinearMap | None

    def in_run(self, maps: Sequence[LinearMap]) -> "LayerMaps":
        """Return the same LayerMaps with the linear maps of another run of the model on the same inputs.

        maps: all linear maps of this run.
        """
        q, k, v = (each.in_run(maps) for each in (self.q, self.k, self.v))
        output = None if self.output is None else maps[self.output.number]
        return LayerMaps(q, k, v, self.rope, output)


def find_layer_maps(
    call: AttentionCall,
    maps: Sequence[LinearMap],
    norms: Sequence[NormCall],
    rope_choices: Sequence[Mapping],
    most_bytes: int | None = None,
) -> LayerMaps:
    """Return how a recorded layer computes q, k, v and its output, as LayerMaps.

    maps, norms: the linear maps and the norm calls of the model's run. rope_choices: the parameters of RoPE to try.
    most_bytes: the most bytes of the layer's matrices in float64; None for any number.

    Raises AttentionError: heads_of_no_map, heads_normed, rope_in_part, rope_unknown; layer_too_large, before a matrix
    is copied.
    """
    heads = {"q": call.q, "k": call.k, "v": call.v}
    found = {role: find_projection(role, tensor, maps, norms) for role, tensor in heads.items()}
    require_same_norms(found)
    output = find_output(call, maps)
    if most_bytes is not None:
        require_matrix_size([*found.values()], output, most_bytes)
    require_agreement("v", found["v"], call.v, call.rounding)
    found, rope = find_rope(found, heads, rope_choices, call.rounding)
    return LayerMaps(**found, rope=rope, output=output)


def require_matrix_size(projections: Sequence[Projection], output: LinearMap | None, most_bytes: int) -> None:
    """Raise AttentionError (layer_too_large) if the matrices of a layer take more than most_bytes in float64."""
    numbers = sum(each.source.matrix.shape[0] * each.columns.numel() for each in projections)
    if output is not None:
        numbers += output.matrix.numel()
    given = FLOAT64_BYTES * numbers
    if given > most_bytes:
        raise AttentionError("layer_too_large", limit=most_bytes // 2**20, given=given // 2**20)


def require_same_norms(found: Mapping[str, Projection]) -> None:
    """Raise AttentionError (heads_normed) unless q and k have the same norm, which the core must have, and v has
    none."""
    normed = {role: found[role].norm for role in found if found[role].norm is not None}
    if not normed:
        return
    kinds = {norm.kind for norm in normed.values()}
    is_known = all(name is not None for name, _ in kinds)
    if [*normed] != ["q", "k"] or len(kinds) > 1 or not is_known:
        raise AttentionError("heads_normed", name=[*normed][-1])


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
    for source in fitting:
        columns = find_columns(first[0], source.made[0].to(heads.dtype))
        if columns is not None:
            for texts_first in (True, False):
                found = Projection(source, columns, B, texts_first)
                if torch.equal(found.by_text(source.made)[:, 0][:, columns].to(heads.dtype), first):
                    return found
    for source in fitting:
        joined = source.made.shape[1] // (H * d)
        for part in range(joined if joined <= MOST_JOINED else 0):
            columns = part * H * d + torch.arange(H * d, device=heads.device).reshape(H, d)
            for texts_first in (True, False):
                found = Projection(source, columns, B, texts_first)
                factor = find_factor(first, found.by_text(source.made)[:, 0][:, columns])
                if factor is not None:
                    return replace(found, factor=factor)
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


def find_output(call: AttentionCall, maps: Sequence[LinearMap]) -> LinearMap | None:
    """Return the linear map whose input is the concatenated outputs of the heads; None if there is none."""
    rows = call.output.flatten(2)  # (B, T, H d_v)
    readings = (rows.flatten(0, 1), rows.transpose(0, 1).flatten(0, 1))
    for each in maps:
        if any(each.given.shape == reading.shape and torch.equal(each.given, reading) for reading in readings):
            return each
    return None


# ---- every place -----------------------------------------------------------------------------------------------------
def differ_by(made: Tensor, recorded: Tensor) -> float:
    """Return the largest absolute difference of two tensors."""
    return float((made - recorded.double()).abs().max())


def require_agreement(role: str, projection: Projection, recorded: Float[Tensor, "B H L d"], rounding: float) -> None:
    """Raise AttentionError (heads_of_no_map) unless the projection equals the recorded heads at every position."""
    heads, size = projection.project()
    factor = projection.factor
    if differ_by(factor * heads, recorded) > MOST_ROUNDINGS * rounding * factor * size:
        raise AttentionError("heads_of_no_map", name=role)


def find_rope(
    found: Mapping[str, Projection], heads: Mapping[str, Tensor], choices: Sequence[Mapping], rounding: float
) -> tuple[dict[str, Projection], Mapping[str, object] | None]:
    """Return the projections, and the parameters of the RoPE that gives the recorded q and k; None as parameters
    without rotation.

    Of all choices that fit, the nearest is taken, because in half precision rounding hides differences, and more than
    one may fit. YaRN multiplies q and k by a factor, which the projection's factor at position 0 contains; it is
    divided out.

    Raises AttentionError for another rotation: rope_in_part if some columns of each head are not rotated, else
    rope_unknown.
    """
    projected = {role: found[role].project() for role in "qk"}
    width = projected["q"][0].shape[-1]
    turned_columns = count_turned(projected["q"], heads["q"].double() / found["q"].factor, rounding)
    fitting: list[tuple[float, dict[str, float], Mapping | None]] = []
    for choice in (None, *with_counted_columns(choices, turned_columns, width)):
        factors, distance = {}, 0.0
        for role, (numbers, size) in projected.items():
            turned, length = (numbers, 1.0) if choice is None else turn(numbers, choice)
            factor = found[role].factor / length
            places = 0 if choice is None else turned.shape[2]  # an angle's rounding error grows with the position
            limit = MOST_ROUNDINGS * rounding * found[role].factor * (size + places * float(numbers.abs().max()))
            if differ_by(factor * turned, heads[role]) > limit:
                break
            factors[role] = 1.0 if abs(factor - 1) <= FACTOR_ROUNDINGS * rounding else factor
            distance += float((factor * turned - heads[role].double()).square().sum())
        else:
            fitting.append((distance, factors, choice))
    if fitting:
        _, factors, choice = min(fitting, key=lambda fit: fit[0])  # of equal choices the simplest
        return {**found, **{role: replace(found[role], factor=factors[role]) for role in factors}}, choice
    if turned_columns < width:
        raise AttentionError("rope_in_part", given=turned_columns, width=width)
    raise AttentionError("rope_unknown")


def with_counted_columns(choices: Sequence[Mapping], turned: int, width: int) -> list[Mapping]:
    """Return the RoPE parameters to try if only the first `turned` columns of a head change with the position.

    The choices that rotate fewer columns are left out, those with this number of columns are added. width: the width of
    a head.
    """
    fitting = [choice for choice in choices if turned <= choice.get("columns", width) and has_pairs(choice, width)]
    counted = turned + turned % 2
    if not 0 < counted < width:
        return fitting
    plain = [{**choice, "columns": counted} for choice in choices if "columns" not in choice]
    return [*fitting, *(choice for choice in plain if choice not in fitting)]


def has_pairs(choice: Mapping[str, object], width: int) -> bool:
    """Return whether the number of columns that a choice of RoPE rotates is even."""
    return choice.get("columns", width) % 2 == 0


def turn(heads: Float[Tensor, "B H L d"], choice: Mapping[str, object]) -> tuple[Tensor, float]:
    """Return heads rotated by RoPE from position 0 on, and the factor by which RoPE lengthens their vectors."""
    rope = POSITIONS["rope"]
    usual = {parameter.name: parameter.usual for parameter in rope.parameters}
    turned = rope.faces.torch(heads, **{**usual, **choice}, first_position=0)
    return turned, float(turned[:, :, 0].norm() / heads[:, :, 0].norm())


def count_turned(projected: tuple[Tensor, float], recorded: Float[Tensor, "B H L d"], rounding: float) -> int:
    """Return how many columns RoPE rotates: up to the last column that differs from its projection at any position; 0
    if none does.
    """
    numbers, size = projected
    apart = (numbers - recorded).abs().amax((0, 1, 2))
    places = (apart > MOST_ROUNDINGS * rounding * size).nonzero().flatten()
    return int(places[-1]) + 1 if len(places) else 0
