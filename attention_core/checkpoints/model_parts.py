"""Finds the attention and feed-forward layers of a recorded model, and their config and weights in the core.

The vectors are followed back from the model's result, from the last layer to the first: each sum adds the output of a
layer to its input. An attention layer is recognized by its recorded call (see LayerMaps), a feed-forward layer by
trying each activation of the core; anything else that follows attention, such as experts, is a recorded part. The names
of modules are not used to recognize anything; an error names the layer that the core cannot compute.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.checkpoints.core_run import CoreRun
from attention_core.checkpoints.layer_maps import LayerMaps
from attention_core.checkpoints.linear_maps import LinearMap
from attention_core.checkpoints.vector_norms import VectorNorm, choose_norm, choose_norms_behind, read_vector_norm
from attention_core.checkpoints.watched_stream import Point, Stream
from attention_core.mechanism.config import Weights
from attention_core.record.errors import AttentionError
from attention_core.transformer.activations import ACTIVATIONS
from attention_core.transformer.feed_forward import FeedForwardConfig, FeedForwardWeights
from attention_core.transformer.recorded_part import RecordedConfig, RecordedWeights

SAME_ROUNDINGS = 32  # accepted difference, in roundings of the largest number


@dataclass(frozen=True, eq=False)
class FoundPart:
    """An attention layer, a feed-forward layer or a recorded part: its config, its weights, and the vectors x to which
    its output is added.

    parallel: whether it is a feed-forward layer that reads the same vectors as the attention layer before it, instead
    of x.
    """

    config: object
    weights: object
    x: Float[Tensor, "B T D"]
    parallel: bool = False

    @property
    def is_attention(self) -> bool:
        """Whether the part is an attention layer."""
        return isinstance(self.weights, Weights)


def as_double(tensor: Tensor | None) -> Tensor | None:
    """Return a tensor in float64, or None for None."""
    return None if tensor is None else tensor.double()


@dataclass(frozen=True, eq=False)
class MapPart:
    """Some columns of a linear map's result; the map may compute two things at once, such as a gate and hidden
    vectors."""

    source: LinearMap
    columns: slice

    @property
    def made(self) -> Float[Tensor, "R D_hidden"]:
        """The columns of the map's result."""
        return self.source.made[:, self.columns]

    @property
    def matrix(self) -> Float[Tensor, "D D_hidden"]:
        """The columns of the map's matrix, in float64."""
        return self.source.matrix[:, self.columns].double()

    @property
    def bias(self) -> Float[Tensor, " D_hidden"] | None:
        """The numbers of the map's bias for these columns, in float64; None without a bias."""
        return None if self.source.bias is None else self.source.bias[self.columns].double()


def activate(activation: str, hidden: MapPart, gate: MapPart | None) -> Float[Tensor, "R D_hidden"]:
    """Return the hidden vectors of a feed-forward layer after one of the core's activations; gate: None if it has no
    gate."""
    faces = ACTIVATIONS[activation].faces
    return faces.torch(hidden.made) if gate is None else hidden.made * faces.torch(gate.made)


@dataclass(frozen=True, eq=False)
class Addition:
    """What a layer added to the residual stream: the result of its last linear map, or the RMS norm of that result.

    normed: the result of the norm; None without a norm.
    """

    output: LinearMap
    norm: VectorNorm | None = None
    normed: Tensor | None = None

    @property
    def value(self) -> Tensor:
        """The vectors that the layer added."""
        return self.output.made if self.normed is None else self.normed


class PartReader:
    """Finds the attention and feed-forward layers of a model, from the last to the first; layers: see
    find_whole_model."""

    def __init__(self, stream: Stream, layers: Sequence[tuple[str, LayerMaps, CoreRun]]):
        self.stream = stream
        self.layers = layers
        self.shape = layers[-1][1].x.shape
        self.by_output = {id(maps.output): each for each in layers if (maps := each[1]).output is not None}

    def norm_at(self, point: Point) -> VectorNorm | None:
        """Return the norm of the core that computed a tensor; None if none did."""
        call = self.stream.norm_at(point)
        return None if call is None else read_vector_norm(call)

    def read_head(self, logits: Tensor) -> tuple[LinearMap, VectorNorm | None, Point] | None:
        """Return the linear map that computed the logits, the norm before it, and that norm's operand; None without
        such a map.
        """
        words = self.stream.map_at(self.stream.point(logits))
        if words is None:
            return None
        given = self.stream.point(words.given)
        norm = self.norm_at(given)
        return words, norm, given if norm is None else self.stream.point(self.stream.norm_at(given).given)

    def vectors_at(self, point: Point, layer: str) -> Float[Tensor, "B T D"]:
        """Return vectors in the shape (B, T, D) of a layer's input. Raises AttentionError (stack_reads) if their size
        differs.

        layer: the name of the layer whose input they are.
        """
        is_flat = point.value.shape == (self.shape[0] * self.shape[1], self.shape[2])
        if not is_flat and point.value.shape != self.shape:
            raise AttentionError("stack_reads", layer=layer)
        return point.value.reshape(self.shape)

    def read_parts(self, end: Point, is_needed: bool = False) -> list[FoundPart]:
        """Return the parts (attention or feed-forward layers) before the vectors `end`, each of which adds its output
        to its input.

        The parts are found from the last to the first, and returned from the first to the last. If the vectors at `end`
        are no sum of a part's input and output, the list is empty, or with is_needed an AttentionError is raised. It is
        also raised if an attention layer of the model is missing among the parts.
        """
        parts: list[FoundPart] = []
        point = end
        while True:
            norm = self.norm_at(point)
            total = point if norm is None else self.stream.point(self.stream.norm_at(point).given)
            sides = self.stream.summands(total)
            layer = self.split_parallel(total) if norm is None else None
            if layer is not None:
                parts = [*self.read_parallel(*layer), *parts]
                point = layer[-1]
                continue
            added, x = self.split(total)
            if added is None and norm is None:
                added, x = self.split_recorded(total)
            follows_attention = not parts or parts[0].is_attention
            if added is None:
                break
            try:
                part = self.read_part(added, x, norm)
            except AttentionError:
                if sum(part.is_attention for part in parts) == len(self.layers):
                    break  # before the first layer: the sum of word and position vectors
                raise
            if not (follows_attention or part.is_attention):
                break
            parts.insert(0, part)
            point = x
        count = sum(part.is_attention for part in parts)
        if (parts or is_needed) and (count < len(self.layers) or not parts[0].is_attention):
            self.refuse_changed(sides)
            layer = "" if point.made_by is None else point.made_by.module
            raise AttentionError("stack_layers", given=count, count=len(self.layers), layer=layer)
        return parts

    def split(self, total: Point) -> tuple[Addition | None, Point]:
        """Split vectors that are a residual sum into what a layer added and the vectors before; (None, vectors) if they
        are no such sum.
        """
        sides = self.stream.summands(total)
        made = [self.addition_at(side) for side in sides]
        found = [place for place, each in enumerate(made) if each is not None]
        if len(found) != 1:
            return None, total
        [place] = found
        return made[place], sides[1 - place]

    def addition_at(self, point: Point) -> Addition | None:
        """Return the last linear map of a layer, and the norm of its result, if these computed the given vectors; else
        None.
        """
        output = self.stream.map_at(point)
        if output is not None:
            return Addition(output)
        norm = self.norm_at(point)
        if norm is None or norm.shift is not None:
            return None
        output = self.stream.map_at(self.stream.point(self.stream.norm_at(point).given))
        return None if output is None else Addition(output, norm, point.value)

    def split_recorded(self, total: Point) -> tuple[Point | None, Point]:
        """Split a residual sum into a summand that the core cannot compute and the vectors after attention; (None,
        vectors) if it is none.
        """
        sides = self.stream.summands(total)
        for added, x in zip(sides, reversed(sides), strict=True):
            if added.made_by is not None and self.is_behind_attention(x):
                return added, x
        return None, total

    def is_behind_attention(self, x: Point) -> bool:
        """Return whether vectors are a residual sum to which an attention layer added its output."""
        added, _ = self.split(x)
        return added is not None and self.is_attention(added)

    def is_attention(self, added: Addition | Point) -> bool:
        """Return whether a summand is the output of a recorded attention layer."""
        return isinstance(added, Addition) and id(added.output) in self.by_output

    # ---- attention and feed-forward layer side by side ---------------------------------------------------------------
    def split_parallel(self, total: Point) -> tuple[Addition, Addition, Point] | None:
        """Split a sum of three into the outputs of parallel attention and feed-forward layers and the x that both read;
        else None.

        The three are added in any order: the two outputs first, or one of them to x and then the other.
        """
        for outputs, x in self.list_triples(total):
            of_attention = [each for each in outputs if id(each.output) in self.by_output]
            others = [each for each in outputs if id(each.output) not in self.by_output]
            if len(others) != 1:
                continue
            _, maps, _ = self.by_output[id(of_attention[0].output)]
            own = {id(part.source) for part in maps.projections}  # those of attention may have the same size
            read = {id(hidden.source) for _, hidden, _ in self.list_readings(others[0].output, x)}
            if self.reads(maps.q.source, x) and read - own:
                return *of_attention, *others, x
        return None

    def list_triples(self, total: Point) -> Iterator[tuple[list[Addition], Point]]:
        """Yield the ways in which vectors can be a sum of three: two layers' outputs, and other vectors."""
        sides = self.stream.summands(total)
        for side, x in zip(sides, reversed(sides), strict=True):
            outputs = [self.addition_at(inner) for inner in self.stream.summands(side)]
            if len(outputs) == 2 and None not in outputs:
                yield outputs, x
        last, before = self.split(total)
        first, x = self.split(before)
        if last is not None and first is not None:
            yield [first, last], x

    def read_parallel(self, attention: Addition, feed_forward: Addition, x: Point) -> list[FoundPart]:
        """Return the attention and the feed-forward layer that read x in parallel. attention, feed_forward: the output
        of each."""
        attended = self.read_part(attention, x, None)
        fed = self.read_part(feed_forward, x, None)
        after = attended.x.double() + attention.value.reshape(self.shape).double()
        return [attended, replace(fed, x=after, parallel=True)]

    # ---- what is not found -------------------------------------------------------------------------------------------
    def refuse_changed(self, sides: Sequence[Point]) -> None:
        """Raise AttentionError (stack_changed) if a summand was changed after its linear map, by a norm or a
        product."""
        for side in sides:
            call = self.stream.norm_at(side)
            inner = [] if call is None else [self.stream.point(call.given)]
            if call is None and side.made_by is not None and side.made_by.name in ("mul", "mul_", "div"):
                given = enumerate(side.made_by.arguments[:2])
                inner = [Point(each, side.made_by.source(n)) for n, each in given if isinstance(each, Tensor)]
            for each in inner:
                found = self.stream.map_at(self.stream.before_shapes(each))
                if found is not None:
                    raise AttentionError("stack_changed", layer=found.name)

    # ---- one part ----------------------------------------------------------------------------------------------------
    def read_part(self, added: Addition | Point, x: Point, after: VectorNorm | None) -> FoundPart:
        """Return the part (attention or feed-forward layer) whose output was added to x. after: the norm of the sum, if
        there is one."""
        if isinstance(added, Point):
            return self.take_recorded(added.made_by.module, added.value, x)
        layer = self.by_output.get(id(added.output))
        if layer is None:
            return self.read_feed_forward(added, x, after)
        name, maps, run = layer
        if run.given:
            raise AttentionError("stack_given", layer=name, given=run.given[0])
        if any(name in run.trace for name in ("key", "value")):
            raise AttentionError("stack_reads", layer=name)
        norm = self.norm_before(name, maps.q.source, x)
        before, gains = choose_norm(norm, "before")
        behind, more = choose_norms_behind(added.norm, after)
        config = replace(run.config, modifiers=(*before, *run.config.modifiers, *behind), residual=True)
        return FoundPart(config, Weights(**run.weights.given(), **gains, **more), self.vectors_at(x, name))

    def norm_before(self, layer: str, reading: LinearMap, x: Point) -> VectorNorm | None:
        """Return the norm between the vectors x and a linear map that reads them; None if there is none.

        Raises AttentionError (stack_reads) if the map reads other vectors.
        """
        given = self.stream.point(reading.given)
        if same_numbers(given.value, x.value):
            return None
        call, norm = self.stream.norm_at(given), self.norm_at(given)
        if norm is None or not same_numbers(call.given, x.value):
            raise AttentionError("stack_reads", layer=layer)
        return norm

    def take_recorded(self, module: str, output: Tensor, x: Point) -> FoundPart:
        """Return a part that the core cannot compute, with its recorded output. module: the module that computed this
        output.
        """
        weights = RecordedWeights(output.reshape(self.shape).double())
        return FoundPart(RecordedConfig(module), weights, self.vectors_at(x, module))

    def read_feed_forward(self, added: Addition, x: Point, after: VectorNorm | None) -> FoundPart:
        """Return the feed-forward layer whose output was added to x; a recorded part if the core has no such layer.

        Raises AttentionError (stack_feed_forward) if it does not follow attention, or a norm changes its sum with x.
        """
        output = added.output
        behind, more = choose_norms_behind(added.norm, after)
        for activation, hidden, gate in self.list_readings(output, x):
            if not nearly_same(activate(activation, hidden, gate), output.given):
                continue
            before, gains = choose_norm(self.norm_before(output.name, hidden.source, x), "before")
            learned = {
                "w_1": hidden.matrix,
                "b_1": hidden.bias,
                "w_gate": None if gate is None else gate.matrix,
                "w_2": output.matrix.double(),
                "b_2": as_double(output.bias),
            }
            config = FeedForwardConfig(activation, norms=(*before, *behind), residual=True)
            weights = FeedForwardWeights(**learned, **gains, **more)
            return FoundPart(config, weights, self.vectors_at(x, output.name))
        if after is None and self.is_behind_attention(x):
            return self.take_recorded(output.name, added.value, x)
        raise AttentionError("stack_feed_forward", layer=output.name, choices=", ".join(ACTIVATIONS))

    def list_readings(self, output: LinearMap, x: Point) -> Iterator[tuple[str, MapPart, MapPart | None]]:
        """Yield the possible readings of a feed-forward layer: an activation, a linear map of x and a gate that give
        `output`'s operand.
        """
        inner = output.given.shape[1]
        parts: list[MapPart] = []
        for source in self.stream.maps.values():
            if self.may_read(source, x, inner):
                starts = range(0, source.made.shape[1], inner)
                parts += [MapPart(source, slice(start, start + inner)) for start in starts]
        gates = [part for part in parts if part.bias is None]
        for name, activation in ACTIVATIONS.items():
            yield from product([name], parts, gates if activation.is_gated else [None])

    def may_read(self, reading: LinearMap, x: Point, inner: int) -> bool:
        """Return whether a linear map reads x or a norm of x, and returns vectors of size `inner`, or of twice this
        size (with a gate).
        """
        return reading.made.shape[1] in (inner, 2 * inner) and self.reads(reading, x)

    def reads(self, reading: LinearMap, x: Point) -> bool:
        """Return whether a map reads x, or a norm of x."""
        given = self.stream.point(reading.given)
        call = self.stream.norm_at(given)
        return same_numbers(given.value, x.value) or (call is not None and same_numbers(call.given, x.value))


def same_numbers(one: Tensor, other: Tensor) -> bool:
    """Return whether two tensors have the same numbers in the same order, whatever their shapes."""
    return one is other or (one.numel() == other.numel() and torch.equal(one.flatten(), other.flatten()))


def nearly_same(made: Tensor, recorded: Tensor) -> bool:
    """Return whether two tensors differ by no more than rounding."""
    if made.shape != recorded.shape:
        return False
    limit = SAME_ROUNDINGS * torch.finfo(recorded.dtype).eps * float(recorded.abs().max())
    return float((made - recorded).abs().max()) <= limit
