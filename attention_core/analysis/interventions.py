"""Runs a stack again with changed heads or feed-forward layers: attention head ablation and activation patching.

A Trace has its inputs and operations, so the stack can run again from the first changed layer on, and earlier layers
are reused. The new run records each changed number as a step.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.analysis.parts_of_sum import DIVIDE_PARTS, ROOT_MEAN_SQUARE
from attention_core.mechanism.masks import ALL_ALLOW, MASKS
from attention_core.mechanism.norms import LAYER_NORM, RMS_NORM
from attention_core.mechanism.operations import ADD, EVEN_WEIGHTS
from attention_core.mechanism.pair_inputs import split_chosen_numbers
from attention_core.mechanism.plain_checks import require_one_of
from attention_core.mechanism.plan import plan_put, run_plan
from attention_core.mechanism.scores import SCORE_DIMS
from attention_core.record.errors import AttentionError
from attention_core.record.trace import Operation, Step, Trace
from attention_core.transformer.stack import Stack

OFF, EVEN, OTHER, MASKED = "off", "even", "other", "mask"
KINDS = (OFF, EVEN, OTHER, MASKED)

Inputs = dict[str, Step]
Plan = list[Operation]


@dataclass(frozen=True)
class Intervention:
    """One change of a head or feed-forward layer in a run.

    part: the layer's name, such as "2.attention", or "1.feed_forward", which can only be "off". head: its index, from
    0; None for a feed-forward layer. kind: one of KINDS: "off", the head adds 0 (ablation); "even", the head attends
    uniformly to all allowed words; "other", the head gets its weights of another sentence (activation patching);
    "mask", further pairs are blocked. blocked: the (query, key) pairs that "mask" blocks.

    Raises AttentionError: unknown_choice.
    """

    part: str
    head: int | None = None
    kind: str = OFF
    blocked: tuple[tuple[int, int], ...] = ()

    def __post_init__(self):
        require_one_of("kind", self.kind, KINDS if self.head is not None else (OFF,))


def intervene(
    stack: Stack, interventions: Sequence[Intervention], other: Stack | None = None, hold_norms: bool = False
) -> Stack:
    r"""Run a stack again with changed heads or feed-forward layers.

    An ablated head has the weights 0, so its rows of $W_o$ add 0: $\mathrm{output} = \sum_{h \ne h_0} A_h V_h W_{o,h} +
    b_o$. An ablated feed-forward layer has $W_2 = 0$ and $b_2 = 0$. A recorded part, which the core does not compute,
    adds the same as in the unchanged run whatever changes before it, or 0 if it is ablated.

    stack: the unchanged run. interventions: the changes, at most one for each head or feed-forward layer. other: the
    run of another sentence of the same length, for the kind "other". hold_norms: True if each norm divides by the same
    number as in the unchanged run, so that a change has no effect through the length of the vectors.

    Returns a Stack; parts before the first change are the same Traces. Raises AttentionError (a ValueError) for an
    unknown part or head, a head changed twice, weights that were replaced already, or another sentence that is missing
    or of another length. Sources: ablated heads: Michel, Levy, Neubig 2019, section 2.3; another run's weights: Vig et
    al. 2020, Causal Mediation Analysis for Interpreting Neural NLP.

    >>> from attention_core import AttentionConfig, LayerConfig, LayerWeights, StackConfig, StackWeights, Weights
    >>> from attention_core import run_stack
    >>> config = StackConfig([LayerConfig(AttentionConfig(residual=True))])
    >>> stack = run_stack(torch.eye(2), StackWeights([LayerWeights(Weights())]), config)
    >>> intervene(stack, [Intervention("1.attention", head=0, kind="even")]).end
    tensor([[[1.5000, 0.5000],
             [0.5000, 1.5000]]])
    """
    check_interventions(stack, interventions, other)
    changed = Stack({}, {})
    for part, trace in stack.parts.items():
        own = [each for each in interventions if each.part == part]
        reads = {name: changed[source][step] for name, (source, step) in stack.sources[part].items()}
        if own or any(value is not trace[name] for name, value in reads.items()):
            trace = run_again(trace, reads, own, other[part] if other else None, hold_norms)
        changed = Stack({**changed.parts, part: trace}, {**changed.sources, part: stack.sources[part]})
    return changed


def run_again(
    trace: Trace, reads: Mapping[str, Tensor], own: Sequence[Intervention], other: Trace | None, hold_norms: bool
) -> Trace:
    """Run one layer of a stack again, with some of its heads or its whole feed-forward layer changed by interventions.

    trace: the unchanged run of the layer. reads: the layer's new inputs by name. own: the layer's interventions. other:
    the same layer in the run of another sentence. hold_norms: whether the layer's norms divide by the same numbers as
    in the unchanged run.
    """
    inputs = {name: replace(step, value=reads.get(name, step.value)) for name, step in trace.inputs().items()}
    plan = [step.operation for step in trace.computed().values()]
    if any(each.head is None for each in own):
        inputs = without_output(inputs)
    masked = [each for each in own if each.kind == MASKED]
    if masked:
        inputs, plan = draw_masks(trace, inputs, plan, masked)
    chosen = [each for each in own if each.head is not None and each.kind != MASKED]
    if chosen:
        inputs, plan = choose_weights(trace, inputs, plan, chosen, other)
    if hold_norms:
        inputs, plan = hold_roots(trace, inputs, plan)
    return run_plan(inputs, plan).labelled(**trace.labels)


# ---- a feed-forward layer that adds nothing --------------------------------------------------------------------------
def without_output(inputs: Inputs) -> Inputs:
    """Return the inputs of a feed-forward layer with W_2 = 0 and b_2 = 0, which ablate the layer: its output is 0."""
    return {
        name: replace(step, value=torch.zeros_like(step.value)) if name in ("w_2", "b_2", "recorded") else step
        for name, step in inputs.items()
    }


# ---- other weights instead of a head's own ---------------------------------------------------------------------------
def choose_weights(
    trace: Trace, inputs: Inputs, plan: Plan, changes: Sequence[Intervention], other: Trace | None
) -> tuple[Inputs, Plan]:
    """Return an attention layer's inputs and operations in which the attention weights of the changed heads are
    replaced.
    """
    own = trace["weights"]
    numbers = torch.full_like(own, float("nan"))  # (B, H, T, S): NaN marks weights that stay as computed
    for change in changes:
        numbers[:, change.head] = weights_of(change, trace, other)
    pairs = split_chosen_numbers("weights", numbers, tuple(own.shape))
    given = {name: Step(name, value, SCORE_DIMS) for name, value in pairs.items()}
    at = next(place for place, operation in enumerate(plan) if operation.output == "weights")
    computed = replace(plan[at], output="computed_weights")
    put = plan_put("weights", computed.output)
    return {**inputs, **given}, [*plan[:at], computed, put, *plan[at + 1 :]]


def weights_of(change: Intervention, trace: Trace, other: Trace | None) -> Float[Tensor, "B T S"] | float:
    """Return the weights that replace those of one head: zeros, uniform weights, or the head's weights on another
    sentence."""
    if change.kind == OFF:
        return 0.0
    if change.kind == OTHER:
        return other["weights"][:, change.head]
    allowed = [trace["allowed"]] if "allowed" in trace else []
    return EVEN_WEIGHTS.torch(trace["masked_scores"], *allowed)[:, change.head]


# ---- further blocked pairs -------------------------------------------------------------------------------------------
def draw_masks(trace: Trace, inputs: Inputs, plan: Plan, changes: Sequence[Intervention]) -> tuple[Inputs, Plan]:
    """Return an attention layer's inputs and operations with further (query, key) pairs blocked, in its mask or in an
    added one.
    """
    drawn = torch.ones_like(trace["weights"], dtype=torch.bool)  # (B, H, T, S)
    for change in changes:
        for query, key in change.blocked:
            drawn[:, change.head, query, key] = False
    is_masked = any(operation.output == "allowed" for operation in plan)
    name = "allowed_custom" if is_masked else "allowed"
    if name in inputs:
        given = replace(inputs[name], value=inputs[name].value & drawn)
        return {**inputs, name: given}, plan
    plan = [step for operation in plan for step in put_mask_beside(operation, name)]
    return {**inputs, name: Step(name, drawn, SCORE_DIMS)}, plan


def put_mask_beside(operation: Operation, name: str) -> Plan:
    """Return the operations that replace `operation` so that an added mask also blocks pairs.

    They replace the masking of scores, or the mask; any other operation is returned unchanged. name: the step of the
    added mask.
    """
    if operation.output == "masked_scores" and name == "allowed":
        return [replace(operation, reads=(*operation.reads, name))]
    if operation.output != "allowed":
        return [operation]
    if operation.faces is ALL_ALLOW:
        return [replace(operation, reads=(*operation.reads, name))]
    (kind,) = (kind for kind, mask in MASKS.items() if mask.faces is operation.faces)
    own = replace(operation, output=f"allowed_{kind}")
    return [own, Operation("allowed", SCORE_DIMS, (own.output, name), ALL_ALLOW)]


# ---- norms that keep their divisors ----------------------------------------------------------------------------------
def hold_roots(trace: Trace, inputs: Inputs, plan: Plan) -> tuple[Inputs, Plan]:
    """Return a layer's inputs and operations with the divisor of each norm fixed at its value in the unchanged run."""
    held: Plan = []
    roots = {}
    for operation in plan:
        if operation.faces not in (RMS_NORM, LAYER_NORM):
            held.append(operation)
            continue
        normed, gain, *shift = operation.reads
        root = f"root_of_{operation.output}"
        roots[root] = Step(root, ROOT_MEAN_SQUARE.torch(trace[normed], **operation.params), operation.dims[:-1])
        output = f"{operation.output}_unshifted" if shift else operation.output
        held.append(Operation(output, operation.dims, (normed, root, gain), DIVIDE_PARTS))
        if shift:
            held.append(Operation(operation.output, operation.dims, (output, *shift), ADD))
    return {**inputs, **roots}, held


# ---- checks ----------------------------------------------------------------------------------------------------------
def check_interventions(stack: Stack, interventions: Sequence[Intervention], other: Stack | None) -> None:
    """Check that each change names a known part and head, and that no head is changed twice. Raises AttentionError."""
    changed = [(each.part, each.head) for each in interventions]
    for each in interventions:
        require_one_of("part", each.part, tuple(stack.parts))
        trace = stack[each.part]
        heads = range(trace["weights"].shape[1]) if "weights" in trace else (None,)
        if each.head not in heads or "output" not in trace:
            raise AttentionError("no_such_head", part=each.part, given=each.head)
        if changed.count((each.part, each.head)) > 1:
            raise AttentionError("changed_twice", part=each.part, head=each.head)
        if each.kind != MASKED and "computed_weights" in trace:
            raise AttentionError("replacement_twice", given=each.part)
        check_blocked(each, trace)
        check_other(each, trace, other)


def check_blocked(change: Intervention, trace: Trace) -> None:
    """Check that the (query, key) pairs that a change blocks are inside the head's attention map.

    Raises AttentionError: pair_outside.
    """
    if change.head is None:
        return
    *_, T, S = trace["weights"].shape
    for query, key in change.blocked:
        if not (0 <= query < T and 0 <= key < S):
            raise AttentionError("pair_outside", given=(query, key), shape=(T, S))


def check_other(change: Intervention, trace: Trace, other: Stack | None) -> None:
    """Check that, for a change of kind "other", the run of another sentence is given and has the same length.

    Raises AttentionError: other_missing, other_length.
    """
    if change.kind != OTHER:
        return
    if other is None:
        raise AttentionError("other_missing", part=change.part)
    own, given = trace["weights"].shape, other[change.part]["weights"].shape
    if own != given:
        raise AttentionError("other_length", expected=own[-2], given=given[-2])
