"""Defines Recording: the attention layers of one run of a model, each as a Trace of the core, and their proofs."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

from torch import Tensor

from attention_core.checkpoints.call import AttentionCall
from attention_core.checkpoints.call_mechanism import Mechanism, read_mechanism, share_mechanism
from attention_core.checkpoints.core_run import CoreRun, run_call, run_from_x
from attention_core.checkpoints.interface import Heads
from attention_core.checkpoints.layer_maps import LayerMaps
from attention_core.checkpoints.layer_proof import ProofRow, compare_from_x, compare_layer
from attention_core.checkpoints.named_biases import BucketTable
from attention_core.checkpoints.stream_sum import StreamSum
from attention_core.checkpoints.whole_model import WholeModel
from attention_core.checkpoints.whole_run import WholeRun
from attention_core.record.errors import AttentionError
from attention_core.record.trace import Trace

FoundMaps = Sequence[LayerMaps | AttentionError]


@dataclass(frozen=True, eq=False)
class Recording:
    """The calls of all attention layers in one run of a model, in order, and what the model returned.

    missing: the reasons why other softmaxes or layers are not recorded. tables: the model's tables of relative
    positions. The other four are functions that run the model again, or None without a model. find_maps returns for
    each layer its LayerMaps, or the error that says why there are none; find_model returns the whole model as a stack
    of the core, find_sum its last vectors as a sum of what its parts added; record_without returns the recording of the
    same inputs with some heads switched off.
    """

    calls: tuple[AttentionCall, ...]
    outputs: object
    missing: tuple[AttentionError, ...] = ()
    tables: tuple[BucketTable, ...] = ()
    find_maps: Callable[[Sequence[AttentionCall]], FoundMaps] | None = None
    find_model: Callable[[Sequence[AttentionCall], Sequence[BucketTable], FoundMaps], WholeModel] | None = None
    find_sum: Callable[[Sequence[AttentionCall]], StreamSum] | None = None
    record_without: Callable[[Heads], "Recording"] | None = None
    runs: dict[int, CoreRun] = field(default_factory=dict, repr=False)
    mechanisms: list[tuple[AttentionCall, Mechanism]] = field(default_factory=list, repr=False)
    proofs_from_x: dict[int, ProofRow] = field(default_factory=dict, repr=False)

    def run(self, layer: int) -> CoreRun:
        """Return a layer as a CoreRun, which is computed at the first call and then cached. layer: the index of the
        layer, from 0."""
        if layer not in self.runs:
            call = self.calls[layer]
            self.runs[layer] = run_call(call, self.read_mechanism(call))
        return self.runs[layer]

    def read_mechanism(self, call: AttentionCall) -> Mechanism:
        """Return the masks, biases, scale, cap and sinks of a call; calls that share them are read once."""
        for other, found in self.mechanisms:
            if share_mechanism(call, other):
                return found
        found = read_mechanism(call, self.tables)
        self.mechanisms.append((call, found))
        return found

    @cached_property
    def maps(self) -> FoundMaps:
        """The LayerMaps of each layer (how it computes q, k, v and its output), or the error that says why there are
        none.

        The model runs again at the first access. Raises AttentionError (no_model) without a model.
        """
        if self.find_maps is None:
            raise AttentionError("no_model")
        return self.find_maps(self.calls)

    def with_small_layers(self, most_bytes: int) -> "Recording":
        """Return the same recording, in which a layer with larger matrices has an error (layer_too_large) in `maps`, as
        it is not searched.

        most_bytes: the most bytes of the W_q, W_k, W_v and W_o of one layer in float64. Raises AttentionError
        (no_model) without a model.
        """
        if self.find_maps is None:
            raise AttentionError("no_model")
        return replace(self, find_maps=partial(self.find_maps, most_bytes=most_bytes))

    def without(self, heads: Iterable[tuple[int, int]]) -> "Recording":
        """Record the same inputs again with some heads ablated: the output that each of these heads passes to W_o is 0.

        The model itself computes everything after that, so that no part of it needs to be one of the core. In the new
        recording a call has what its heads computed, also those that are switched off.

        heads: (layer, head) pairs, both from 0; layers as `layers` counts them. Raises AttentionError:
        no_head_in_layer; heads_watched if the interface of transformers does not show all attention; no_model.
        """
        if self.record_without is None:
            raise AttentionError("no_model")
        off = frozenset(heads)
        for layer, head in off:
            if not 0 <= layer < len(self.calls) or not 0 <= head < self.calls[layer].sizes[1]:
                raise AttentionError("no_head_in_layer", layer=layer, given=head)
        watched = [call.name for call in self.calls if call.way == "watched"]
        if watched:
            raise AttentionError("heads_watched", layer=watched[0])
        return self.record_without(off)

    def from_x(self, layer: int) -> CoreRun:
        """Return a layer as a CoreRun that begins at the layer's recorded input x. layer: the index of the layer, from
        0.

        Its W_q, W_k, W_v, W_o, their biases, the norms of the heads and RoPE are found by comparing numbers
        (layer_maps). If no linear map reads the concatenated heads, the Trace has no W_o and ends with them.

        Raises an AttentionError that names what was not found; no_model if `record` did not make the recording.
        """
        maps = self.maps[layer]
        if isinstance(maps, AttentionError):
            raise maps
        return run_from_x(self.calls[layer], maps, self.tables)

    @property
    def layers(self) -> tuple[str, ...]:
        """The names of the layers' modules."""
        return tuple(call.name for call in self.calls)

    @property
    def traces(self) -> list[Trace]:
        """The layers as Traces of the core, in float64, from the recorded q, k and v on.

        Raises AttentionError if a number of a layer is not finite.
        """
        return [self.run(layer).trace for layer in range(len(self.calls))]

    @property
    def logits(self) -> Tensor | None:
        """The logits that the model returned; None if it returned no logits."""
        return getattr(self.outputs, "logits", None)

    def proof(self) -> list[ProofRow]:
        """Return the proof of each layer, in order, as ProofRows."""
        return [self.prove_layer(layer) for layer in range(len(self.calls))]

    @property
    def passed(self) -> bool:
        """Whether the proof of every layer succeeded."""
        return all(row.passed for row in self.proof())

    def prove_layer(self, layer: int) -> ProofRow:
        """Return the proof of one layer. layer: the index of the layer, from 0."""
        call = self.calls[layer]
        try:
            run = self.run(layer)
        except AttentionError as error:
            return ProofRow(call.name, None, 0.0, None, 0.0, faults=(error,))
        return compare_layer(call, run)

    def whole(self) -> WholeRun:
        """Run the model again, and return it as a stack of the core.

        Raises AttentionError that says which part of the model the core lacks; no_model if the recording was not made
        by `record`.
        """
        if self.find_model is None:
            raise AttentionError("no_model")
        return WholeRun(self.find_model(self.calls, self.tables, self.maps), self.calls[0].rounding)

    def residual_sum(self) -> StreamSum:
        r"""Run the model again, and return its last vectors as a sum of the embedding and of what each head, bias and
        other part added: $x = \sum_{\mathrm{part}} \mathrm{part}$.

        Norms of the sum divide each part by the divisor of this run. A part that is none of the core is one summand,
        under the name of its module. Raises AttentionError: stream_no_sum, stack_no_end; no_model if the recording was
        not made by `record`.
        """
        if self.find_sum is None:
            raise AttentionError("no_model")
        return self.find_sum(self.calls)

    def prove_from_x(self, layer: int) -> ProofRow:
        """Return the proof of a layer that is computed from its input; later calls return the same one. Raises
        AttentionError as from_x does.
        """
        if layer not in self.proofs_from_x:
            self.proofs_from_x[layer] = compare_from_x(self.calls[layer], self.from_x(layer))
        return self.proofs_from_x[layer]
