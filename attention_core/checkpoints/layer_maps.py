"""Finds, by comparing numbers, how a recorded attention layer computes q, k and v from its input, and its output from
its heads.

RoPE rotates nothing at position 0, so that the numbers of q and k at this position are among the results of one linear
map. A map found there counts only if it gives the recorded numbers at every position. Neither names of modules nor the
architecture are read, only what the model's config states about RoPE.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.checkpoints.call import AttentionCall
from attention_core.checkpoints.head_norms import NormCall
from attention_core.checkpoints.latent_maps import LatentMaps, find_compression, find_shared_columns
from attention_core.checkpoints.linear_maps import LinearMap
from attention_core.checkpoints.projection import (
    FACTOR_ROUNDINGS,
    Projection,
    differ_by,
    find_map,
    find_projection,
)
from attention_core.mechanism.positions import POSITIONS
from attention_core.record.errors import AttentionError

MOST_ROUNDINGS = 32  # accepted difference of q, k, v in roundings of the largest |x| |W| + |b|; largest measured: 15
FLOAT64_BYTES = 8


@dataclass(frozen=True, eq=False)
class LayerMaps:
    """How a layer computes its heads and its output: projections, RoPE and the output's linear map.

    rope: the parameters of RoPE; None if q and k are not rotated. output: the linear map of the concatenated heads;
    None if no map reads them unchanged. latent: the further parts of a layer with latent attention; q and k are then
    the projections to the columns that are not rotated, and rope is that of the others.
    """

    q: Projection
    k: Projection
    v: Projection
    rope: Mapping[str, object] | None
    output: LinearMap | None
    latent: LatentMaps | None = None

    @property
    def x(self) -> Float[Tensor, "B T D"]:
        """The input of the layer's queries, before any compression, in float64."""
        return self.q.x if self.latent is None else self.latent.compressed.x

    @property
    def projections(self) -> tuple[Projection, ...]:
        """All projections of the layer from its inputs."""
        latent = self.latent
        further = () if latent is None else (latent.compressed, latent.q_turned, latent.k_turned)
        return (self.q, self.k, self.v, *further)

    def in_run(self, maps: Sequence[LinearMap]) -> "LayerMaps":
        """Return the same LayerMaps with the linear maps of another run of the model on the same inputs.

        maps: all linear maps of this run.
        """
        q, k, v = (each.in_run(maps) for each in (self.q, self.k, self.v))
        output = None if self.output is None else maps[self.output.number]
        latent = None if self.latent is None else self.latent.in_run(maps)
        return LayerMaps(q, k, v, self.rope, output, latent)


RopeChoices = Callable[[int], Sequence[Mapping]]  # number of columns -> the parameters of RoPE to try on them


def find_layer_maps(
    call: AttentionCall,
    maps: Sequence[LinearMap],
    norms: Sequence[NormCall],
    rope_choices: RopeChoices,
    most_bytes: int | None = None,
) -> LayerMaps:
    """Return how a recorded layer computes q, k, v and its output, as LayerMaps.

    maps, norms: the linear maps and the norm calls of the model's run. rope_choices: a function that returns the
    parameters of RoPE to try. most_bytes: the most bytes of the layer's matrices in float64; None for any number.

    Raises AttentionError: heads_of_no_map, heads_normed, rope_in_part, rope_unknown, latent_bias; layer_too_large,
    before a matrix is copied.
    """
    latent = find_latent_layer(call, maps, norms, rope_choices, most_bytes)
    if latent is not None:
        return latent
    heads = {"q": call.q, "k": call.k, "v": call.v}
    found = {role: find_projection(role, tensor, maps, norms) for role, tensor in heads.items()}
    require_same_norms(found)
    output = find_output(call, maps)
    if most_bytes is not None:
        require_matrix_size([*found.values()], output, most_bytes)
    require_agreement("v", found["v"], call.v, call.rounding)
    found, rope = find_rope(found, heads, rope_choices(call.q.shape[-1]), call.rounding)
    return LayerMaps(**found, rope=rope, output=output)


def find_latent_layer(
    call: AttentionCall,
    maps: Sequence[LinearMap],
    norms: Sequence[NormCall],
    rope_choices: RopeChoices,
    most_bytes: int | None,
) -> LayerMaps | None:
    """Return the LayerMaps of a layer whose keys and values are projected from one compressed vector per token; None if
    it has no such.

    Arguments and errors are those of find_layer_maps.
    """
    is_turned = find_shared_columns(call.k[:, :, 0])
    if not is_turned.any() or is_turned.all():
        return None
    heads = {"q": call.q[..., ~is_turned], "k": call.k[..., ~is_turned], "v": call.v}
    turned_heads = {"q": call.q[..., is_turned], "k": call.k[:, :1][..., is_turned]}
    found = {role: find_map(tensor, maps) for role, tensor in heads.items()}
    turned = {role: find_map(tensor, maps) for role, tensor in turned_heads.items()}
    if None in (*found.values(), *turned.values()):
        return None
    if any(part.factor != 1 for part in found.values()):
        return None
    compression = find_compression(found["k"], norms, maps)
    if compression is None or not torch.equal(found["v"].source.given, found["k"].source.given):
        return None
    if any(part.bias is not None for part in turned.values()):
        raise AttentionError("latent_bias")
    output = find_output(call, maps)
    if most_bytes is not None:
        require_matrix_size([*found.values(), *turned.values(), compression[0]], output, most_bytes)
    for role, tensor in heads.items():
        require_agreement(role, found[role], tensor, call.rounding)
    turned, rope = find_rope(turned, turned_heads, rope_choices(int(is_turned.sum())), call.rounding)
    if rope is None:
        raise AttentionError("rope_unknown")
    return LayerMaps(**found, rope=rope, output=output, latent=LatentMaps(*compression, turned["q"], turned["k"]))


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


def find_output(call: AttentionCall, maps: Sequence[LinearMap]) -> LinearMap | None:
    """Return the linear map whose input is the concatenated outputs of the heads; None if there is none."""
    rows = call.output.flatten(2)  # (B, T, H d_v)
    readings = (rows.flatten(0, 1), rows.transpose(0, 1).flatten(0, 1))
    for each in maps:
        if any(each.given.shape == reading.shape and torch.equal(each.given, reading) for reading in readings):
            return each
    return None


# ---- every place -----------------------------------------------------------------------------------------------------
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
