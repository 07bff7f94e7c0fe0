"""Writes the last vectors of a recorded model as the sum of what its parts added, also where the core lacks parts.

The vectors are followed back through the model's own sums and norms: heads are split by the rows of the linear map that
reads them, everything else that was added is one part, under the name of the module that computed it. No name is used
to recognize a part.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.analysis.head_contributions import CONTRIBUTE
from attention_core.analysis.residual_sum import SUM_DIMS, Added, SumPlan, norm_summands, stack_added
from attention_core.checkpoints.call import AttentionCall
from attention_core.checkpoints.layer_maps import find_output
from attention_core.checkpoints.layer_proof import largest
from attention_core.checkpoints.linear_maps import LinearMap
from attention_core.checkpoints.vector_norms import VectorNorm, read_vector_norm
from attention_core.checkpoints.watched_stream import Point, Stream
from attention_core.mechanism.plan import run_plan
from attention_core.record.errors import AttentionError
from attention_core.record.trace import Operation, Step, Trace
from attention_core.transformer.stack import Reading

OF_ATTENTION = re.compile(r"\.(head_\d+|b_o)$")  # end of an attention part's label: a head, or the bias of W_o
SUM_BOUND = 32  # bound in units of u times the largest sum of all parts' magnitudes; largest over 74 measured models: 5


@dataclass(frozen=True, eq=False)
class StreamSum:
    """The vectors at the end of a recorded model as a sum of parts.

    trace: the sum, with the steps `parts` (part, B, T, D), labelled by what computed each part, and `parts_sum` (B, T,
    D). end: the model's own vectors. rounding: the unit roundoff of the model's precision, u. words: the linear map
    that computed the logits from these vectors; None without logits, and if they were computed in another way.
    """

    trace: Trace
    end: Float[Tensor, "B T D"]
    rounding: float
    words: LinearMap | None = None

    @property
    def labels(self) -> tuple[str, ...]:
        """The name of what computed each part: a module, or a head such as "model.layers.0.self_attn.head_1"."""
        return self.trace.labels["part"]

    @property
    def apart(self) -> float:
        """The largest difference of the sum from the model's own vectors."""
        return largest(self.trace["parts_sum"] - self.end)

    @property
    def bound(self) -> float:
        """The largest difference that the model's precision explains: 32 u times the largest sum of magnitudes."""
        return SUM_BOUND * self.rounding * largest(self.trace["parts"].abs().sum(0))

    @property
    def passed(self) -> bool:
        """Whether the sum equals the model's own vectors, up to a difference of at most the bound."""
        return self.apart <= self.bound

    def by_layer(self) -> "LayerSum":
        """Return the same sum with one part per attention layer, which joins its heads and the bias of its W_o."""
        places: dict[str, list[int]] = {}
        for place, label in enumerate(self.labels):
            places.setdefault(OF_ATTENTION.sub("", label), []).append(place)
        vectors = torch.stack([self.trace["parts"][own].sum(0) for own in places.values()])
        return LayerSum(tuple(places), vectors, self.end, self.apart, self.bound, self.words)


@dataclass(frozen=True, eq=False)
class LayerSum:
    """The last vectors of a recorded model as a sum of what each attention layer and each other part added.

    labels: the names of the modules that computed the parts, in order. vectors: what each part adds. end: the model's
    own vectors. apart, bound: how far the sum is from them, and the largest difference that rounding explains. words:
    as in StreamSum.
    """

    labels: tuple[str, ...]
    vectors: Float[Tensor, "part B T D"]
    end: Float[Tensor, "B T D"]
    apart: float
    bound: float
    words: LinearMap | None = None

    @property
    def passed(self) -> bool:
        """Whether the sum equals the model's own vectors within the bound."""
        return self.apart <= self.bound

    def lengths(self, place: int) -> list[float]:
        r"""Return the length of what each part adds to the vector of a token of the first text: $\lVert v \rVert$."""
        return self.vectors[:, 0, place].norm(dim=-1).tolist()

    def shares(self, place: int) -> list[float]:
        r"""Return the share of each part in the vector x of a token: $v \cdot x / \lVert x \rVert^2$, which sum to 1.

        A part that points against x has a share below 0.
        """
        total = self.vectors[:, 0, place].sum(0)
        return (self.vectors[:, 0, place] @ total / total.square().sum()).tolist()

    def pushes(self, place: int, word: int) -> list[float]:
        """Return what each part adds to the logit of a word; the last number is the logits' bias, if there is one.

        word: its row of the map to the logits, `words`.
        """
        pushes = self.vectors[:, 0, place] @ self.words.matrix[:, word].double()
        bias = [] if self.words.bias is None else [float(self.words.bias[word])]
        return [*pushes.tolist(), *bias]


def find_stream_sum(
    stream: Stream,
    calls: Sequence[AttentionCall],
    maps: Sequence[LinearMap],
    vectors: Float[Tensor, "*rows D"],
    shape: Sequence[int],
    words: LinearMap | None = None,
) -> StreamSum:
    """Return the vectors at the end of a recorded model as a sum of what its parts added.

    calls: the recorded attention layers. maps: the linear maps of the run. vectors: the result of the last layer, after
    any last norm, as the run has it. shape: their shape with all axes, (B, T, D). words: the linear map that computed
    the logits, if one did; it is kept if it reads these vectors.

    Raises AttentionError: stack_no_end for vectors with other axes, stream_no_sum if they are no sum that can be
    followed back.
    """
    if len(shape) != len(SUM_DIMS):
        raise AttentionError("stack_no_end")
    plan = SumReader(stream, calls, maps, shape).read(SumPlan(), stream.point(vectors))
    if len(plan.labels) == 1:
        raise AttentionError("stream_no_sum", layer=plan.labels[0])
    plan = stack_added(plan, "parts")
    inputs = {name: Step(name, reading.value, plan.dims[name]) for name, reading in plan.reads.items()}
    trace = run_plan(inputs, list(plan.operations)).labelled(part=plan.labels)
    end = vectors.detach().reshape(tuple(shape))
    reads_end = (
        words is not None and words.given.numel() == end.numel() and torch.equal(words.given.flatten(), end.flatten())
    )
    return StreamSum(trace, end.double(), calls[0].rounding, words if reads_end else None)


def compute(output: LinearMap) -> Float[Tensor, "R C"]:
    """Return the result of a linear map, computed again from its recorded input in float64."""
    made = output.given.double() @ output.matrix.double()
    return made if output.bias is None else made + output.bias.double()


class SumReader:
    """Follows the vectors of a recorded run back to the parts whose sum they are. shape: the shape of the vectors, (B,
    T, D)."""

    def __init__(self, stream: Stream, calls: Sequence[AttentionCall], maps: Sequence[LinearMap], shape: Sequence[int]):
        self.stream, self.shape = stream, tuple(shape)
        outputs = [(find_output(call, maps), call) for call in calls]
        self.heads = {id(output): call for output, call in outputs if output is not None}

    def read(self, plan: SumPlan, point: Point) -> SumPlan:
        """Return a copy of a SumPlan to which all parts of some vectors are appended as summands, in the order of the
        run."""
        sides = sorted(self.stream.summands(point), key=self.stream.time_of)
        for side in sides:
            plan = self.read(plan, side)
        if sides:
            return plan
        call = self.stream.norm_at(point)
        norm = None if call is None else read_vector_norm(call)
        if norm is not None:
            own = self.read(replace(plan, added=()), self.stream.point(call.given))
            own = self.carry(own, norm, point.made_by.module)
            return replace(own, added=(*plan.added, *own.added))
        output = self.stream.map_at(point)
        if id(output) in self.heads:
            return self.add_heads(plan, output, self.heads[id(output)])
        module = "input" if point.made_by is None else point.made_by.module
        value = point.value if output is None else compute(output)  # may be changed in place
        plan, name = self.take(plan, self.as_vectors(value, module), SUM_DIMS)
        return plan.adding(Added(name, "vectors", (module,)))

    def as_vectors(self, value: Tensor, module: str) -> Float[Tensor, "B T D"]:
        """Return the result of a module in the shape of the vectors. Raises AttentionError: stream_no_sum, if its size
        differs.
        """
        if value.numel() != prod(self.shape):
            raise AttentionError("stream_no_sum", layer=module)
        return value.reshape(self.shape)

    def take(self, plan: SumPlan, value: Tensor, dims: tuple[str, ...]) -> tuple[SumPlan, str]:
        """Return a copy of a SumPlan with a recorded tensor, in float64, as a further input, and the name of this
        input."""
        name = f"recorded_{len(plan.reads) + 1}"
        reads, axes = {**plan.reads, name: Reading(value.detach().double())}, {**plan.dims, name: dims}
        return replace(plan, reads=reads, dims=axes), name

    def add_heads(self, plan: SumPlan, output: LinearMap, call: AttentionCall) -> SumPlan:
        """Add to a SumPlan what each head of an attention layer contributes through its rows of W_o, and the bias of
        W_o."""
        B, T, _ = self.shape
        self.as_vectors(output.made, call.name)
        given = output.given.reshape(B, T, call.output.shape[2], -1).transpose(1, 2)  # (B, H, T, d_v)
        plan, outputs = self.take(plan, given, ("B", "H", "T", "d_v"))
        plan, w_o = self.take(plan, output.matrix, ("H·d_v", "D"))
        heads = Operation(f"contributions_{outputs}", ("B", "H", "T", "D"), (outputs, w_o), CONTRIBUTE)
        labels = tuple(f"{call.name}.head_{h + 1}" for h in range(given.shape[1]))
        plan = plan.then(heads).adding(Added(heads.output, "heads", labels))
        return self.add_bias(plan, output.bias, f"{call.name}.b_o")

    def add_bias(self, plan: SumPlan, bias: Tensor | None, label: str) -> SumPlan:
        """Add a bias to a SumPlan as a summand; return the plan unchanged if there is no bias."""
        if bias is None or not bool(bias.any()):
            return plan
        plan, name = self.take(plan, bias, ("D",))
        return plan.adding(Added(name, "bias", (label,)))

    def carry(self, plan: SumPlan, norm: VectorNorm, module: str) -> SumPlan:
        """Apply a norm to each summand of a SumPlan, with the divisor of their sum; the norm's shift becomes a further
        summand.
        """
        plan, gain = self.take(plan, norm.gain, ("D",))
        plan = norm_summands(
            plan,
            output=f"normed_{gain}",
            before=f"before_{gain}",
            gain=gain,
            divisor=f"divisor_{gain}",
            is_centred=norm.shift is not None,
            params={"eps": norm.eps},
        )
        return self.add_bias(plan, norm.shift, f"{module}.shift")
