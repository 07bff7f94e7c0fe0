"""Runs a whole recorded model as a stack of the core, each part from the vectors that the model recorded there."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from torch import Tensor

from attention_core.checkpoints.layer_proof import largest
from attention_core.checkpoints.whole_model import WholeModel
from attention_core.mechanism.attention import attend
from attention_core.record.errors import AttentionError
from attention_core.record.trace import Trace
from attention_core.transformer.feed_forward import feed_forward
from attention_core.transformer.part_norms import norm_vectors
from attention_core.transformer.stack import NORM, UNEMBEDDING, Stack, StackConfig, StackWeights
from attention_core.transformer.unembedding import unembed

PART_BOUND = 32  # in units of u (1 + largest |score|) · largest |number|; measured over 37 models: 9


@dataclass(frozen=True)
class PartRow:
    """The proof of one part: how far its end is from what the model recorded there.

    part: its name in the stack. apart: the largest difference. bound: the largest that the model's precision explains,
    32 u (1 + largest |score|) times the largest number of that end, at least 1. fault: None if it is proven.
    """

    part: str
    apart: float
    bound: float
    fault: AttentionError | None = None

    @property
    def passed(self) -> bool:
        """Whether the end is apart by no more than the model's precision explains."""
        return self.fault is None


@dataclass(frozen=True, eq=False)
class WholeRun:
    """A whole recorded model as a stack of the core. rounding: the unit roundoff of the model's precision, u.

    Each part begins with the vectors that the model recorded there, so that no difference grows from part to part; its
    end is compared with the next part's beginning, and the last one with the logits, or vectors, that the model gave.
    """

    model: WholeModel
    rounding: float

    @property
    def config(self) -> StackConfig:
        """The choices of all parts, as run_stack takes them; it has no embedding, and begins with vectors."""
        return self.model.config

    @property
    def weights(self) -> StackWeights:
        """The learned tensors of all parts, in float64."""
        return self.model.weights

    @property
    def x(self) -> Tensor:
        """The vectors with which the first layer begins."""
        return self.model.beginnings[0]

    @cached_property
    def stack(self) -> Stack:
        """The run, with every step recorded; each part is given the vectors that were recorded at its beginning.

        A run in which each part reads the end of the one before is `run_stack(whole.x, whole.weights, whole.config)`.
        """
        parts = dict(self.run_parts())
        return Stack(parts, {name: {} for name in parts})

    def run_parts(self) -> Iterator[tuple[str, Trace]]:
        """Yield the name of each part and its run."""
        beginnings = iter(self.model.beginnings)
        layers = zip(self.config.layers, self.weights.layers, strict=True)
        for number, (config, weights) in enumerate(layers, 1):
            yield f"{number}.attention", attend(next(beginnings), weights=weights.attention, config=config.attention)
            if config.feed_forward is not None:
                trace = feed_forward(next(beginnings), weights.feed_forward, config.feed_forward)
                yield f"{number}.feed_forward", trace
        if self.config.norms:
            yield NORM, norm_vectors(next(beginnings), self.weights.norms, self.config.norms)
        if self.config.unembedding is not None:
            yield UNEMBEDDING, unembed(next(beginnings), self.weights.unembedding, self.config.unembedding)

    def proof(self) -> list[PartRow]:
        """Return the proof of each part, in order: see PartRow."""
        names, recorded = list(self.stack.parts), [*self.model.beginnings[1:], self.model.end]
        return [self.prove_part(name, end) for name, end in zip(names, recorded, strict=False)]

    @property
    def passed(self) -> bool:
        """Whether every part is proven."""
        return all(row.passed for row in self.proof())

    def prove_part(self, name: str, recorded: Tensor) -> PartRow:
        """Return the proof of one part. recorded: what the model recorded at its end."""
        trace = self.stack[name]
        end = trace["logits"] if name == UNEMBEDDING else trace.steps[next(reversed(trace.steps))].value
        apart = largest(end - recorded)
        bound = PART_BOUND * self.rounding * (1 + self.largest_score(trace)) * max(1.0, largest(recorded))
        if apart <= bound:
            return PartRow(name, apart, bound)
        return PartRow(name, apart, bound, AttentionError("part_apart", given=f"{apart:.2g}", limit=f"{bound:.2g}"))

    def largest_score(self, trace: Trace) -> float:
        """Return the largest magnitude of a score that is not blocked; 0 for a part without scores."""
        if "masked_scores" not in trace:
            return 0.0
        scores = trace["masked_scores"]
        return largest(scores[scores.isfinite()])
