"""Runs a recorded model as a stack of the core; each part starts from the input vectors that the model itself had
there."""

from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cached_property

import torch
from torch import Tensor

from attention_core.checkpoints.layer_proof import largest
from attention_core.checkpoints.whole_model import WholeModel
from attention_core.mechanism.attention import attend
from attention_core.record.errors import AttentionError
from attention_core.record.trace import Trace
from attention_core.transformer.part_norms import norm_vectors
from attention_core.transformer.stack import NORM, UNEMBEDDING, Stack, StackConfig, StackWeights, run_feed_forward
from attention_core.transformer.unembedding import unembed

PART_BOUND = 32  # bound in units of u (1 + largest |score|) · largest |number|; largest over 37 measured models: 9


@dataclass(frozen=True)
class PartRow:
    """The proof of one part: how far its result is from the model's.

    part: its name in the stack. apart: the largest difference. bound: the largest difference that the model's precision
    explains: 32 u (1 + largest |score|) times the model's largest number there, or times 1 if that is larger. fault:
    the error that says how far they differ; None if the part is proven. recorded: whether what the part adds was
    recorded and not computed again, so that only its sum with the vectors is proven.
    """

    part: str
    apart: float
    bound: float
    fault: AttentionError | None = None
    recorded: bool = False

    @property
    def passed(self) -> bool:
        """Whether the difference is within the bound."""
        return self.fault is None


@dataclass(frozen=True, eq=False)
class WholeRun:
    """A recorded model as a stack of the core. rounding: the unit roundoff of the model's precision, u.

    Each part is run from the input that the model recorded for it, so that differences do not add up from part to part.
    Its result is compared with the recorded input of the next part, that of the last part with the model's logits or
    vectors.
    """

    model: WholeModel
    rounding: float

    @property
    def config(self) -> StackConfig:
        """The config of the stack. It has no embedding: the stack starts from vectors."""
        return self.model.config

    @property
    def weights(self) -> StackWeights:
        """The learned tensors of the stack, in float64."""
        return self.model.weights

    @property
    def x(self) -> Tensor:
        """The input vectors of the first layer."""
        return self.model.beginnings[0]

    def sharing(self, known: StackWeights) -> "WholeRun":
        """Return the same run in which tensors that equal those of `known` are replaced by these, so that both runs
        share memory.
        """
        return WholeRun(replace(self.model, weights=share_tensors(self.weights, known)), self.rounding)

    @cached_property
    def stack(self) -> Stack:
        """The run of the stack, with every step recorded; each part is run from its recorded input.

        For a run in which each part reads the result of the part before it, call `run_stack(whole.x, whole.weights,
        whole.config)`.
        """
        parts = dict(self.run_parts())
        return Stack(parts, {name: {} for name in parts})

    def run_parts(self) -> Iterator[tuple[str, Trace]]:
        """Run each part from its recorded input; yield its name and its run."""
        beginnings = iter(self.model.beginnings)
        layers = zip(self.config.layers, self.weights.layers, strict=True)
        for number, (config, weights) in enumerate(layers, 1):
            x = next(beginnings)
            yield f"{number}.attention", attend(x, weights=weights.attention, config=config.attention)
            if config.feed_forward is not None:
                stream = next(beginnings)
                reads = {"x": x, "stream": stream} if config.parallel else {"x": stream}
                name, trace = run_feed_forward(reads, weights, config)
                yield f"{number}.{name}", trace
        if self.config.norms:
            yield NORM, norm_vectors(next(beginnings), self.weights.norms, self.config.norms)
        if self.config.unembedding is not None:
            yield UNEMBEDDING, unembed(next(beginnings), self.weights.unembedding, self.config.unembedding)

    def proof(self) -> list[PartRow]:
        """Return the proof of each part, in order."""
        names, recorded = list(self.stack.parts), [*self.model.beginnings[1:], self.model.end]
        return [self.prove_part(name, end) for name, end in zip(names, recorded, strict=False)]

    @property
    def passed(self) -> bool:
        """Whether every part is proven."""
        return all(row.passed for row in self.proof())

    def prove_part(self, name: str, recorded: Tensor) -> PartRow:
        """Return the proof of one part. recorded: the model's own result of it."""
        trace = self.stack[name]
        end = trace["logits"] if name == UNEMBEDDING else trace.steps[next(reversed(trace.steps))].value
        apart = largest(end - recorded)
        bound = PART_BOUND * self.rounding * (1 + self.largest_score(trace)) * max(1.0, largest(recorded))
        fault = AttentionError("part_apart", given=f"{apart:.2g}", limit=f"{bound:.2g}") if apart > bound else None
        return PartRow(name, apart, bound, fault, recorded="recorded" in trace)

    def largest_score(self, trace: Trace) -> float:
        """Return the largest magnitude of a score that no mask blocks; 0 for a part without scores."""
        if "masked_scores" not in trace:
            return 0.0
        scores = trace["masked_scores"]
        return largest(scores[scores.isfinite()])


def share_tensors(found: object, known: object) -> object:
    """Return tensors, in which each that equals the tensor at the same place of `known` is replaced by the latter, to
    share memory.

    >>> known = (torch.tensor([1.0, 2.0]), torch.tensor([3.0]))
    >>> shared = share_tensors((torch.tensor([1.0, 2.0]), torch.tensor([4.0])), known)
    >>> shared[0] is known[0], shared[1] is known[1]
    (True, False)
    """
    if type(found) is not type(known):
        return found
    if isinstance(found, Tensor):
        is_same = found.dtype == known.dtype and torch.equal(found, known)
        return known if is_same else found
    if isinstance(found, tuple | list):
        shared = [share_tensors(each, other) for each, other in zip(found, known, strict=False)]
        return type(found)([*shared, *found[len(shared) :]])
    if is_dataclass(found):
        names = [each.name for each in fields(found) if each.init]
        return replace(found, **{name: share_tensors(getattr(found, name), getattr(known, name)) for name in names})
    return found
