"""Defines Recording: all attention layers of one run of a model, each as a Trace of the core, and their proofs."""

from dataclasses import dataclass, field

from torch import Tensor

from attention_core.checkpoints.call import AttentionCall
from attention_core.checkpoints.core_run import CoreRun, run_call
from attention_core.checkpoints.layer_proof import ProofRow, compare_layer
from attention_core.checkpoints.named_biases import BucketTable
from attention_core.record.errors import AttentionError
from attention_core.record.trace import Trace


@dataclass(frozen=True, eq=False)
class Recording:
    """All attention layers of one run of a model, in order, and what the model returned.

    missing: what computes no recorded attention, and why. tables: the model's tables of relative positions.
    """

    calls: tuple[AttentionCall, ...]
    outputs: object
    missing: tuple[AttentionError, ...] = ()
    tables: tuple[BucketTable, ...] = ()
    runs: dict[int, CoreRun] = field(default_factory=dict, repr=False)

    def run(self, layer: int) -> CoreRun:
        """Return a layer as a run of the core; computed when it is first asked for. layer: its number, from 0."""
        if layer not in self.runs:
            self.runs[layer] = run_call(self.calls[layer], self.tables)
        return self.runs[layer]

    @property
    def layers(self) -> tuple[str, ...]:
        """The names of the modules of the layers."""
        return tuple(call.name for call in self.calls)

    @property
    def traces(self) -> list[Trace]:
        """The layers as Traces of the core, in float64, from the recorded q, k and v on.

        Raises AttentionError if a layer holds a number that is not finite.
        """
        return [self.run(layer).trace for layer in range(len(self.calls))]

    @property
    def logits(self) -> Tensor | None:
        """The logits that the model returned; None if it returned none."""
        return getattr(self.outputs, "logits", None)

    def proof(self) -> list[ProofRow]:
        """Return the proof of each layer, in order: see ProofRow."""
        return [self.prove_layer(layer) for layer in range(len(self.calls))]

    @property
    def passed(self) -> bool:
        """Whether every layer is proven."""
        return all(row.passed for row in self.proof())

    def prove_layer(self, layer: int) -> ProofRow:
        """Return the proof of one layer. layer: its number, from 0."""
        call = self.calls[layer]
        try:
            run = self.run(layer)
        except AttentionError as error:
            return ProofRow(call.name, None, 0.0, None, 0.0, faults=(error,))
        return compare_layer(call, run)
