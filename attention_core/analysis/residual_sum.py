"""Writes the residual stream as a sum of what each layer of a stack adds to it, and splits logits in the same way."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile

from attention_core.analysis.head_contributions import CONTRIBUTE, PLACE_HEAD
from attention_core.analysis.parts_of_sum import (
    ADD_PARTS,
    DIVIDE_PARTS,
    PARTS_DIMS,
    ROOT_MEAN_SQUARE,
    STACK_PARTS,
)
from attention_core.mechanism.norms import CENTRE, LAYER_NORM, RMS_NORM
from attention_core.mechanism.operations import PROJECT
from attention_core.mechanism.plan import run_plan
from attention_core.record.errors import AttentionError
from attention_core.record.trace import Operation, Step, Trace
from attention_core.transformer.stack import EMBEDDING, ENCODER, NORM, UNEMBEDDING, Reading, Stack
from attention_core.transformer.unembedding import CHOOSE_WORDS, MEET_ROWS

RESIDUAL_SUM, LOGIT_SUM = "residual_sum", "logit_sum"
SUM_DIMS = PARTS_DIMS[1:]  # (B, T, D)
PUSHES_DIMS = ("part", "B", "T", "V")
CHOSEN = "V'"  # axis of the chosen words of the vocabulary
NORMED_OUTPUT = "rms_normed_added"  # step of a norm that acts on a layer's output before the residual adds it
OUTPUT_NORMS = ("layer_normed_output", "layer_normed_output_unshifted", "rms_normed_output")


@dataclass(frozen=True)
class Added:
    """A step of one or more summands of the residual stream: its name, its kind, and a label for each summand.

    kind: a key of parts_of_sum.KINDS, which says along which axis the summands lie.
    """

    step: str
    kind: str
    labels: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class SumPlan:
    """The steps that compute a residual stream as a sum, layer by layer: inputs, operations, and summands."""

    reads: dict[str, Reading] = field(default_factory=dict)
    dims: dict[str, tuple[str, ...]] = field(default_factory=dict)
    operations: tuple[Operation, ...] = ()
    added: tuple[Added, ...] = ()

    def reading(self, stack: Stack, part: str, *steps: str) -> "SumPlan":
        """Return this SumPlan with more inputs, which are named steps of a layer of the stack."""
        trace = stack[part]
        reads = {own_name(part, step): Reading(trace[step], part, step) for step in steps}
        dims = {own_name(part, step): trace.step(step).dims for step in steps}
        return replace(self, reads={**self.reads, **reads}, dims={**self.dims, **dims})

    def then(self, *operations: Operation) -> "SumPlan":
        """Return this SumPlan with more operations at the end."""
        return replace(self, operations=(*self.operations, *operations))

    def adding(self, *added: Added) -> "SumPlan":
        """Return this SumPlan with more summands at the end."""
        return replace(self, added=(*self.added, *added))

    @property
    def labels(self) -> tuple[str, ...]:
        """Return the labels of all summands, in the order in which they were added to the SumPlan."""
        return tuple(label for each in self.added for label in each.labels)


def own_name(part: str, step: str) -> str:
    """Return the name that a part's step gets in the run that computes the residual sum: the part's name, then the
    step's.

    >>> own_name("1.attention", "w_o")
    'attention_1_w_o'
    """
    *number, name = part.split(".")
    return "_".join([name, *number, step])


# ---- what each part added --------------------------------------------------------------------------------------------
def plan_sum(stack: Stack, parts: Iterable[str]) -> SumPlan:
    """Collect the steps that compute the sum of all vectors that the given layers add to the residual stream, in order.

    Raises AttentionError: no_residual, if a layer has an output but no residual.
    """
    plan = SumPlan()
    for part in parts:
        trace = stack[part]
        if part == EMBEDDING:
            plan = plan.reading(stack, part, "x").adding(Added(own_name(part, "x"), "vectors", (part,)))
            plan = add_places(plan, stack, part)
        elif not plan.added:
            first = "x" if "x" in trace else "query"
            plan = plan.reading(stack, part, first).adding(Added(own_name(part, first), "vectors", (first,)))
        if "output" in trace:
            plan = add_places(plan, stack, part)
            if "residual" not in trace:
                raise AttentionError("no_residual", part=part)
            plan = add_layer(plan, stack, part)
        for step in norms_of_sum(part, trace):
            plan = carry_through(plan, stack, part, step)
    return plan


def add_places(plan: SumPlan, stack: Stack, part: str) -> SumPlan:
    """Add the position vectors that a layer adds to its input as a summand to a SumPlan; without any, return the plan
    unchanged.
    """
    trace = stack[part]
    for source in ("x", "query"):
        if f"positioned_{source}" in trace:
            _, places = trace.step(f"positioned_{source}").operation.reads
            plan = plan.reading(stack, part, places)
            plan = plan.adding(Added(own_name(part, places), "places", (f"{part}.positions",)))
    return plan


def add_layer(plan: SumPlan, stack: Stack, part: str) -> SumPlan:
    """Add the summands of an attention layer, a feed-forward layer or a recorded part to a SumPlan, after the norm on
    their sum if there is one.
    """
    trace, earlier = stack[part], plan.added
    if "recorded" in trace:
        return plan.reading(stack, part, "output").adding(Added(own_name(part, "output"), "vectors", (part,)))
    plan = add_heads(plan, stack, part) if "head_outputs" in trace else add_feed_forward(plan, stack, part)
    if NORMED_OUTPUT not in trace:
        return plan
    own = replace(plan, added=plan.added[len(earlier) :])
    own = carry_through(own, stack, part, trace.step(NORMED_OUTPUT))
    return replace(own, added=(*earlier, *own.added))


def add_heads(plan: SumPlan, stack: Stack, part: str) -> SumPlan:
    """Add summands to a SumPlan: the output of each head times its rows of W_o, and the bias b_o."""
    trace = stack[part]
    (outputs,) = trace.step("concat").operation.reads  # the steps with the heads' outputs, after an output gate
    learned = ("w_o",) if "w_o" in trace else ()
    plan = plan.reading(stack, part, outputs, *learned)
    heads = Operation(
        output=own_name(part, "contributions"),
        dims=("B", "H", "T", "D"),
        reads=tuple(own_name(part, step) for step in (outputs, *learned)),
        faces=CONTRIBUTE if learned else PLACE_HEAD,
    )
    labels = tuple(f"{part}.head_{h + 1}" for h in range(trace[outputs].shape[1]))
    return add_bias(plan.then(heads).adding(Added(heads.output, "heads", labels)), stack, part, "b_o")


def add_feed_forward(plan: SumPlan, stack: Stack, part: str) -> SumPlan:
    """Add two summands to a SumPlan: the output of a feed-forward layer without its last bias, and that bias."""
    plan = plan.reading(stack, part, "activated", "w_2")
    reads = (own_name(part, "activated"), own_name(part, "w_2"))
    output = Operation(own_name(part, "output"), SUM_DIMS, reads, PROJECT)
    return add_bias(plan.then(output).adding(Added(output.output, "vectors", (part,))), stack, part, "b_2")


def add_bias(plan: SumPlan, stack: Stack, part: str, bias: str) -> SumPlan:
    """Add a bias of a layer as a summand to a SumPlan; return the plan unchanged if the layer has no such bias."""
    if bias not in stack[part]:
        return plan
    return plan.reading(stack, part, bias).adding(Added(own_name(part, bias), "bias", (f"{part}.{bias}",)))


# ---- through a norm --------------------------------------------------------------------------------------------------
def norms_of_sum(part: str, trace: Trace) -> Iterator[Step]:
    """Yield the norms that apply to the whole residual sum: those after a part's output, and those at the stack's end.

    Norms before a layer are left out, because the residual bypasses them.
    """
    for name, step in trace.computed().items():
        is_norm = step.operation.faces in (LAYER_NORM, RMS_NORM, DIVIDE_PARTS)  # DIVIDE_PARTS has a fixed divisor
        if is_norm and (name in OUTPUT_NORMS or part in (NORM, UNEMBEDDING)):
            yield step


@dataclass(frozen=True)
class NormReads:
    """The names of the steps that are operands of a norm.

    is_centred: whether the norm subtracts the mean. root: the step of its fixed divisor; None if the norm computes its
    divisor. gain: the step of the gain. shift: the step of a LayerNorm's bias; () if the norm has no bias.
    """

    is_centred: bool
    root: str | None
    gain: str
    shift: tuple[str, ...]


def read_norm(trace: Trace, step: Step) -> NormReads:
    """Return the names of the steps that a norm of a part reads."""
    normed, *reads = step.operation.reads
    if step.operation.faces is not DIVIDE_PARTS:
        gain, *shift = reads
        return NormReads(step.operation.faces is LAYER_NORM, None, gain, tuple(shift))
    root, gain = reads
    before = trace.step(normed).operation
    is_centred = before is not None and before.faces is CENTRE
    later = [each.operation for each in trace.computed().values() if step.name in each.operation.reads]
    return NormReads(is_centred, root, gain, later[0].reads[1:] if is_centred else ())


def stack_added(plan: SumPlan, name: str, dims: tuple[str, ...] = PARTS_DIMS) -> SumPlan:
    """Append two steps to a SumPlan: `name`, the stack of all summands, and `name`_sum, their sum."""
    reads = tuple(each.step for each in plan.added)
    kinds = tuple(each.kind for each in plan.added)
    stacked = Operation(name, dims, reads, STACK_PARTS, {"kinds": kinds})
    total = Operation(f"{name}_sum", dims[1:], (name,), ADD_PARTS)
    return replace(plan.then(stacked, total), added=(Added(name, "parts", plan.labels),))


def carry_through(plan: SumPlan, stack: Stack, part: str, step: Step) -> SumPlan:
    """Apply a norm to each summand of a SumPlan, and add the shift of a LayerNorm as a further summand.

    Each summand is divided by the norm's fixed divisor if there is one, else by the divisor of the sum of all summands.
    """
    norm = read_norm(stack[part], step)
    plan = plan.reading(stack, part, norm.gain, *norm.shift, *filter(None, [norm.root]))
    plan = norm_summands(
        plan,
        output=own_name(part, f"parts_of_{step.name}"),
        before=own_name(part, f"before_{step.name}"),
        gain=own_name(part, norm.gain),
        divisor=own_name(part, norm.root or f"divisor_of_{step.name}"),
        is_centred=norm.is_centred,
        params=None if norm.root else step.operation.params,
    )
    for bias in norm.shift:
        plan = add_bias(plan, stack, part, bias)
    return plan


def norm_summands(
    plan: SumPlan, *, output: str, before: str, gain: str, divisor: str, is_centred: bool, params: Mapping | None
) -> SumPlan:
    """Apply a norm without its shift to each summand of a SumPlan: centred, for a LayerNorm, then times the gain and
    divided by a divisor that all share.

    output, before: the names of the summands after and before the norm. gain, divisor: the names of these tensors.
    params: the parameters of the divisor, if it is computed from the sum of all summands; None if the plan reads it.
    """
    plan = stack_added(plan, before)
    parts, total = before, f"{before}_sum"
    if is_centred:
        parts, total = f"{before}_centred", f"{before}_sum_centred"
        plan = plan.then(
            Operation(parts, PARTS_DIMS, (before,), CENTRE),
            Operation(total, SUM_DIMS, (f"{before}_sum",), CENTRE),
        )
    if params is not None:
        plan = plan.then(Operation(divisor, SUM_DIMS[:-1], (total,), ROOT_MEAN_SQUARE, params))
    plan = plan.then(Operation(output, PARTS_DIMS, (parts, divisor, gain), DIVIDE_PARTS))
    return replace(plan, added=(Added(output, "parts", plan.labels),))


# ---- the sums --------------------------------------------------------------------------------------------------------
def with_residual_sum(stack: Stack, after: str | None = None) -> Stack:
    r"""Add the part "residual_sum" to a stack: what each part added to the words' vectors, and the sum of all summands.

    $x_L = e + \sum_l \big(\sum_h z_{l,h} W_{o,l,h} + b_{o,l} + f_l + b_{2,l}\big)$ if norms come before layers. A norm
    on a layer's output divides what the layer adds, a norm after a layer everything that was added before, by the
    divisor of this run.

    stack: a run with residuals; if it has an encoder, only the decoder's parts are summed. after: the name of the part
    after which the vectors are taken; None for the last part before the unembedding.

    The new part has the step `parts` (part, B, T, D), labelled with the source of each summand, and `parts_sum` (B, T,
    D), the vectors. Raises AttentionError (a ValueError) for an unknown part and for a part without a residual. Source:
    Elhage et al. 2021.

    >>> import torch
    >>> from attention_core import AttentionConfig, LayerConfig, LayerWeights, StackConfig, StackWeights, Weights
    >>> from attention_core import run_stack
    >>> config = StackConfig([LayerConfig(AttentionConfig(residual=True))])
    >>> trace = with_residual_sum(run_stack(torch.eye(2), StackWeights([LayerWeights(Weights())]), config))[
    ...     "residual_sum"
    ... ]
    >>> trace.labels["part"], trace["parts"][:, 0, 1]
    (('x', '1.attention.head_1'), tensor([[0.0000, 1.0000],
            [0.3302, 0.6698]]))
    """
    plan = stack_added(plan_sum(stack, parts_until(stack, after)), "parts")
    return put_sum(stack, RESIDUAL_SUM, plan)


def with_logit_sum(stack: Stack, words: Sequence[int] | None = None) -> Stack:
    r"""Add the part "logit_sum" to a stack: what each part adds to the logits of words (direct logit attribution).

    $\mathrm{logits} = \sum_{\mathrm{part}} \mathrm{norm}(\mathrm{part})\,E^\top$, where the last norm divides by the
    same number as in this run. The shift of that norm and the bias of the unembedding are separate parts.

    stack: a run with residuals and an unembedding. words: the rows of the unembedding table whose logits are
    attributed; None for all. Of a large vocabulary the words that are looked at are enough: 180 parts of 14 words for
    each of 150,000 take 3 GB in float64. The new part has the steps `pushes` (part, B, T, V), and `pushes_sum` (B, T,
    V), the logits before the division by a temperature; with chosen words (part, B, T, V') and (B, T, V'), in their
    order. Raises AttentionError (a ValueError) for a stack without an unembedding, or without a residual, and for an
    unknown word. Source: Elhage et al. 2021, "logit attribution".

    >>> from attention_core.learned.language.reading import run_model
    >>> run = run_model("en_asked_decoder", ("<start>", "the", "dog"))
    >>> with_logit_sum(run, words=(7, 5))["logit_sum"]["pushes_sum"].shape
    torch.Size([1, 3, 2])
    """
    if UNEMBEDDING not in stack.parts:
        raise AttentionError("part_missing", name="the sum of logits", part=UNEMBEDDING, choices=", ".join(stack.parts))
    check_words(stack, words or ())
    plan = plan_sum(stack, parts_until(stack, None))
    for step in norms_of_sum(UNEMBEDDING, stack[UNEMBEDDING]):
        plan = carry_through(plan, stack, UNEMBEDDING, step)
    plan, table = read_rows(stack_added(plan, "parts"), stack, "table", words)
    dims = PUSHES_DIMS if words is None else (*PUSHES_DIMS[:-1], CHOSEN)
    pushes = Operation("pushes_of_vectors", dims, ("parts", table), MEET_ROWS)
    plan = replace(plan.then(pushes), added=(Added(pushes.output, "parts", plan.labels),))
    if "b_words" in stack[UNEMBEDDING]:
        plan, bias = read_rows(plan, stack, "b_words", words)
        plan = plan.adding(Added(bias, "bias", (f"{UNEMBEDDING}.b_words",)))
    return put_sum(stack, LOGIT_SUM, stack_added(plan, "pushes", dims))


def read_rows(plan: SumPlan, stack: Stack, name: str, words: Sequence[int] | None) -> tuple[SumPlan, str]:
    """Let a sum read only the rows of chosen words from the unembedding's table or bias; return the sum and the read
    step's name.

    name: "table" or "b_words". words: the rows to read; None for all.
    """
    plan, step = plan.reading(stack, UNEMBEDDING, name), own_name(UNEMBEDDING, name)
    if words is None:
        return plan, step
    chosen = f"{step}_chosen"
    dims = (CHOSEN, *plan.dims[step][1:])
    return plan.then(Operation(chosen, dims, (step,), CHOOSE_WORDS, {"words": tuple(words)})), chosen


def place_of_word(stack: Stack, word: int) -> int:
    """Return the place of a word on the last axis of the logit sum's `pushes`.

    stack: one with the part "logit_sum". word: the word's row of the unembedding table. The place is the row itself,
    unless with_logit_sum was given words.
    """
    table = stack[LOGIT_SUM].steps.get(own_name(UNEMBEDDING, "table_chosen"))
    return word if table is None else table.operation.params["words"].index(word)


def check_words(stack: Stack, words: Iterable[int]) -> None:
    """Check that some words are rows of a stack's unembedding table. Raises AttentionError: unknown_choice."""
    count = len(stack[UNEMBEDDING]["table"])
    for word in words:
        if word not in range(count):
            raise AttentionError("unknown_choice", name="word", choices=f"0 to {count - 1}", given=word)


def parts_until(stack: Stack, after: str | None) -> list[str]:
    """Return the names of the parts to sum up, in order.

    after: the last of these parts; None for the last part before the unembedding. Raises AttentionError:
    unknown_choice.
    """
    parts = [name for name in stack.parts if not name.startswith(ENCODER)]
    parts = list(takewhile(lambda name: name != UNEMBEDDING, parts))
    if after is None:
        return parts
    if after not in parts:
        raise AttentionError("unknown_choice", name="after", choices=", ".join(parts), given=repr(after))
    return parts[: parts.index(after) + 1]


def put_sum(stack: Stack, name: str, plan: SumPlan) -> Stack:
    """Compute the steps of a sum as a run, and add this run to the stack as a new part.

    name: the name of the new part.
    """
    inputs = {step: Step(step, reading.value, plan.dims[step]) for step, reading in plan.reads.items()}
    trace = run_plan(inputs, list(plan.operations)).labelled(part=plan.labels)
    return stack.then(name, trace, plan.reads)
