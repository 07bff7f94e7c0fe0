"""Lists the mistakes that depend on what a run has: its projections, masks, modifiers, positions and axes.

Each function takes a run and returns its possible mistakes, each with its code in MISTAKE_SENTENCES and the values of
the sentence's placeholders.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import permutations

import torch
from torch import Tensor

from attention_core.comparison.distances import LARGE_NEGATIVE_FILL
from attention_core.comparison.rerun import Change, Values, unchanged_value
from attention_core.mechanism.masks import PADDING
from attention_core.mechanism.modifiers import MODIFIERS, Modifier
from attention_core.mechanism.normalisers import NORMALISERS, SIGMOID, SOFTMAX
from attention_core.mechanism.norms import RMS_NORM_HEADS
from attention_core.mechanism.operations import project
from attention_core.mechanism.plan_steps import LAST_STEP, PlanStep
from attention_core.mechanism.positions import POSITIONS, ROPE
from attention_core.record.trace import Faces, Step, Trace
from attention_core.verification.mistaken_masks import (
    BROADCAST_MISTAKES,
    broadcast_mask,
    mask_inverted,
    multiply_by_mask,
    no_mask,
    widen_window,
)
from attention_core.verification.mistaken_steps import has_faces, is_first_with_heads, one_bias_missing, transposed
from attention_core.verification.mistakes import Mistake

Found = tuple[str, Mapping[str, object], Mistake]  # code, values of the sentence's placeholders, the change

ROLES = ("q", "k", "v")
MODIFIED = ("q", "k", "x", "query", "scores", "mixed", "added", "output")  # steps that modifiers change
INPUT_NAMES = ("x", "query", "key", "value")
USUAL_BASE = 10000.0  # base of RoPE in most models
WINDOW_CHANGES = {"window_wider": 1, "window_narrower": -1}


# ---- the matrices of nn.Linear ---------------------------------------------------------------------------------------
def projection_mistakes(trace: Trace) -> list[Found]:
    """Return the mistakes in the matrices and biases of q, k and v: transposed, left out, added twice."""
    found = []
    for names in sets_of_inputs(trace, "w_"):
        if names != ("w_o",):  # its own code is w_o_transposed
            found.append(("matrix_transposed", {"names": ", ".join(names)}, Mistake(names, transposed)))
    for names in sets_of_inputs(trace, "b_"):
        text = {"names": ", ".join(names)}
        if names != ("b_o",):  # its own code is b_o_missing
            found.append(("bias_missing", text, Mistake(names, one_bias_missing)))
        found.append(("bias_twice", text, Mistake(names, doubled)))
    return found


def exchanged_projections(trace: Trace) -> list[Found]:
    """Return the mistakes of making q, k and v with the matrices of others, or of cutting their joint projection
    wrongly.
    """
    projected = tuple(f"{role}_projected" for role in ROLES)
    if not all(name in trace for name in projected):
        return []
    found = []
    for order in permutations(ROLES):
        if order != ROLES:
            names = ", ".join(f"w_{role}" for role in order)
            found.append(("projections_exchanged", {"names": names}, Mistake(projected, project_in_order(order))))
    if trace.step("q").shape[1] == trace.step("k").shape[1] > 1:
        found.append(("qkv_by_head", {}, Mistake(projected, cut_by_head(trace.step("q").shape[1]))))
    return found


def sets_of_inputs(trace: Trace, prefix: str) -> list[tuple[str, ...]]:
    """Return each matrix (w_) or bias (b_) of a run alone, those of q, k and v together, and all of them.

    Of the tensors together, a set is left out if it has fewer than two.
    """
    there = tuple(f"{prefix}{role}" for role in "qkvo" if f"{prefix}{role}" in trace)
    of_qkv = tuple(name for name in there if name != f"{prefix}o")
    together = dict.fromkeys(names for names in (of_qkv, there) if len(names) > 1)
    return [*((name,) for name in there), *together]


def doubled(step: Step, values: Values) -> Tensor:
    return 2 * unchanged_value(step, values)


def project_in_order(order: tuple[str, ...]) -> Change:
    """Return the mistake of making q, k and v with the matrices and biases of others, in the given order."""
    others = dict(zip(ROLES, order, strict=True))

    def change(step: Step, values: Values) -> Tensor | None:
        role = step.name.removesuffix("_projected")
        weight, bias = values[f"w_{others[role]}"], values.get(f"b_{others[role]}")
        source = values[step.operation.reads[0]]
        fits = source.shape[-1] == weight.shape[-2] and weight.shape == values[f"w_{role}"].shape
        return project(source, weight, bias) if fits else None

    return change


def cut_by_head(heads: int) -> Change:
    """Return the mistake of cutting q, k and v from their joint projection as (H, 3, d), though it is (3, H, d)."""

    def change(step: Step, values: Values) -> Tensor | None:
        if len({values[f"w_{role}"].shape for role in ROLES}) > 1:
            return None
        source = values[step.operation.reads[0]]
        each = [project(source, values[f"w_{role}"], values.get(f"b_{role}")) for role in ROLES]
        joint = torch.cat(each, dim=-1)  # (B, T, 3 * H * d)
        by_head = joint.unflatten(-1, (heads, len(ROLES), -1))  # (B, T, H, 3, d)
        role = step.name.removesuffix("_projected")
        return by_head[:, :, :, ROLES.index(role)].flatten(2)  # (B, T, H, d) -> (B, T, H * d)

    return change


# ---- masks -----------------------------------------------------------------------------------------------------------
def mask_mistakes(trace: Trace) -> list[Found]:
    """Return the mistakes in one of several masks, in the width of a window, and in a mask that is multiplied."""
    found = []
    for name in trace.steps:
        if name.startswith("allowed_"):
            found.append(("one_mask_missing", {"name": name}, Mistake((name,), no_mask)))
            found.append(("one_mask_inverted", {"name": name}, Mistake((name,), mask_inverted)))
        window = window_of(trace.step(name))
        if window is None:
            continue
        for code, more in WINDOW_CHANGES.items():
            values = {"window": window, "given": window + more}
            found.append((code, values, Mistake((name,), widen_window(more))))
    masks = tuple(name for name in trace.steps if name.startswith("allowed"))
    for code in BROADCAST_MISTAKES if masks else ():
        found.append((code, {}, Mistake(masks, broadcast_mask(code, trace.step("scores").shape))))
    if masks:
        for fill, text in ((LARGE_NEGATIVE_FILL, "−1e9"), (-torch.inf, "−∞")):
            found.append(("mask_multiplied", {"fill": text}, Mistake(("masked_scores",), multiply_by_mask(fill))))
    return found


def window_of(step: Step) -> int | None:
    """Return the width of a mask's window; None if the step is no mask with a window."""
    if step.operation is None or not step.name.startswith("allowed"):
        return None
    return step.operation.params.get("window")


# ---- parts that are left out -----------------------------------------------------------------------------------------
def missing_parts(trace: Trace) -> list[Found]:
    """Return the mistakes of leaving out a modifier, such as a score cap or a norm, a position, or the residual."""
    found = []
    for name, modifier in MODIFIERS.items():
        skipped = skipped_operands(trace, modifier)
        if skipped:
            found.append(("part_missing", {"name": name}, Mistake(tuple(skipped), pass_operand(skipped))))
    for name, position in POSITIONS.items():
        if position.place == "input":
            steps = tuple(step for step in trace.steps if step in {f"{name}_{source}" for source in INPUT_NAMES})
            if steps:
                found.append(("part_missing", {"name": name}, Mistake(steps, one_bias_missing)))
        if position.place == "scores" and f"{name}_scores" in trace:
            before = {f"{name}_scores": trace.step(f"{name}_scores").operation.reads[0]}
            found.append(("part_missing", {"name": name}, Mistake(tuple(before), pass_operand(before))))
        if position.place == "bias":
            steps = tuple(step for step in trace.steps if step == f"{name}_bias")
            found += [("one_bias_missing", {"name": step}, Mistake((step,), one_bias_missing)) for step in steps]
    if "bias_custom" in trace:
        found.append(("one_bias_missing", {"name": "bias_custom"}, Mistake(("bias_custom",), one_bias_missing)))
    if "residual" in trace:
        before = {"residual": trace.step("residual").operation.reads[1]}
        found.append(("residual_missing", {}, Mistake(tuple(before), pass_operand(before))))
    return found


def skipped_operands(trace: Trace, modifier: Modifier) -> dict[str, str]:
    """Return {last step of a modifier: the step that it changes}, for each place of a run at which it acts.

    The result is empty if the run lacks the modifier, or cannot do without it: two maps, or another width.
    """
    found: dict[str, str] = {}
    if {"maps", "sources"} & modifier.steps.keys():
        return found
    for place, steps in modifier.steps.items():
        for thing in MODIFIED:
            names = [steps[-1].output.format(thing=thing)]
            if place == "heads":
                names.append(thing)  # the last change of q is named q
            name = next(
                (each for each in names if each in trace and has_faces(trace.step(each), steps[-1].faces)), None
            )
            if name is not None:
                found[name] = changed_operand(trace, name, steps)
    return found


def changed_operand(trace: Trace, name: str, steps: tuple[PlanStep, ...]) -> str:
    """Return the step that a modifier changes at one place of a run.

    name: the run's name of the last of the modifier's steps. steps: all its steps at this place.
    """
    reads = trace.step(name).operation.reads
    if LAST_STEP in steps[-1].reads:
        return reads[steps[-1].reads.index(LAST_STEP)]
    return trace.step(reads[0]).operation.reads[0]  # of two steps the first reads what is changed


def pass_operand(before: Mapping[str, str]) -> Change:
    """Return the mistake of passing on an operand of each step that is left out. before: {step: its operand}."""

    def change(step: Step, values: Values) -> Tensor:
        return values[before[step.name]]

    return change


def other_normalisers(trace: Trace) -> list[Found]:
    """Return the mistakes of making the weights with another normaliser than the run's: a softmax, or sigmoids."""
    found = []
    for name, normaliser in NORMALISERS.items():
        own = [step for step in ("computed_weights", "weights") if step in trace]
        if not own or not has_faces(trace.step(own[0]), normaliser.faces):
            continue
        if normaliser.faces == SOFTMAX:
            found.append(("sigmoid_weights", {}, Mistake((own[0],), normalise_with(SIGMOID, {"bias": 0.0}))))
        else:
            found.append(("softmax_weights", {"name": name}, Mistake((own[0],), normalise_with(SOFTMAX, {}))))
    return found


def normalise_with(faces: Faces, params: Mapping[str, object]) -> Change:
    """Return the mistake of making the weights with another normaliser, which needs no tensors of its own."""

    def change(step: Step, values: Values) -> Tensor:
        operation = replace(step.operation, faces=faces, params=params, reads=("masked_scores",))
        return operation.apply(values)

    return change


# ---- positions -------------------------------------------------------------------------------------------------------
def position_mistakes(trace: Trace) -> list[Found]:
    """Return the mistakes in the position of the first query, and in RoPE: of q or k alone, with the usual base."""
    found = []
    placed = {name: offset for name in trace.steps if (offset := offset_of(trace.step(name))) is not None}
    positions = tuple(name for name in placed if not name.startswith("allowed"))
    offset = max(placed.values(), default=0)
    if offset and positions:
        found.append(("positions_from_0", {"offset": offset}, Mistake(positions, place_at(0))))
        if len(positions) < len(placed):
            found.append(("offset_missing", {"offset": offset}, Mistake(tuple(placed), place_at(0))))
    T, S = trace.step("scores").shape[-2:]
    if not offset and S > T and positions:
        of_queries = tuple(name for name in positions if not is_of_keys(name))
        found.append(("positions_from_end", {"offset": S - T}, Mistake(of_queries, place_at(S - T))))
    rotated = {role: steps_with(trace, role, ROPE) for role in "qk"}
    if all(rotated.values()):
        for role, code in (("k", "rope_q_alone"), ("q", "rope_k_alone")):
            before = {name: trace.step(name).operation.reads[0] for name in rotated[role]}
            found.append((code, {}, Mistake(tuple(before), pass_operand(before))))
        both = rotated["q"] + rotated["k"]
        base = trace.step(both[0]).operation.params["base"]
        if base != USUAL_BASE:
            found.append(("rope_base", {"base": f"{base:g}"}, Mistake(both, use_usual_base)))
    return found


def is_of_keys(name: str) -> bool:
    """Return whether a step is k or its positions, and not q or its positions."""
    return name == "k" or name.startswith("k_") or name.endswith(("_key", "_value"))


def steps_with(trace: Trace, role: str, faces: Faces) -> tuple[str, ...]:
    """Return the steps of q or k in a run that an operation with these faces computes."""
    names = (name for name in trace.steps if name == role or name.startswith(f"{role}_"))
    return tuple(name for name in names if has_faces(trace.step(name), faces))


def offset_of(step: Step) -> int | None:
    """Return the position of the first row in a step that depends on positions; None for any other step."""
    params = {} if step.operation is None else step.operation.params
    return params.get("first_position", params.get("query_offset"))


def place_at(offset: int) -> Change:
    """Return the mistake of placing the first query at another position than the run does."""

    def change(step: Step, values: Values) -> Tensor | None:
        if not offset_of(step) and not offset:
            return None
        name = "first_position" if "first_position" in step.operation.params else "query_offset"
        return replace(step.operation, params={**step.operation.params, name: offset}).apply(values)

    return change


def use_usual_base(step: Step, values: Values) -> Tensor:
    return replace(step.operation, params={**step.operation.params, "base": USUAL_BASE}).apply(values)


# ---- axes ------------------------------------------------------------------------------------------------------------
EXCHANGED_AXES = {  # code -> the order in which (B, H, T, d) is read; twice the same order is the first again
    "batch_not_first": (2, 1, 0, 3),
    "heads_not_transposed": (0, 2, 1, 3),
}


def axis_mistakes(trace: Trace) -> list[Found]:
    """Return the mistakes of attending along another axis: over the sentences, or over the heads of each word.

    They are possible with as many queries as keys and one key head for each query head, and without masks or biases
    that have an axis of queries and keys.
    """
    q, k = trace.step("q").shape, trace.step("k").shape
    if q[:3] != k[:3] or has_second_queries(trace):
        return []
    if any(has_pairs(step) for step in trace.steps.values()):
        return []
    orders = EXCHANGED_AXES
    if any(is_by_head(step) for step in trace.steps.values()):
        orders = {code: order for code, order in orders.items() if order[1] == 1}
    changed = tuple(name for name in ("q_heads", "q", "k_heads", "k", "v", "head_outputs") if name in trace)
    return [(code, {}, Mistake(changed, read_axes(order))) for code, order in orders.items()]


def has_second_queries(trace: Trace) -> bool:
    """Return whether a position, such as decoupled RoPE, makes further queries and keys from the input."""
    further = {step.output for position in POSITIONS.values() for step in position.steps}
    return bool(further & trace.steps.keys())


def has_pairs(step: Step) -> bool:
    """Return whether a step gives numbers for the pairs of a batch of fixed sizes: a tensor, or a padding mask."""
    is_given = step.operation is None and {"T", "S"} <= set(step.dims)
    return is_given or has_faces(step, PADDING)


def is_by_head(step: Step) -> bool:
    """Return whether a step gives each head numbers of its own: learned, the slopes of ALiBi, or gains of all heads."""
    has_slopes = step.operation is not None and "slopes" in step.operation.params
    is_shared = "H" in step.dims and "B" not in step.dims
    return is_shared or has_slopes or has_faces(step, RMS_NORM_HEADS)


def read_axes(order: tuple[int, ...]) -> Change:
    """Return the mistake of attending along other axes; the outputs of the heads are put back into their order."""

    def change(step: Step, values: Values) -> Tensor | None:
        if step.name == "head_outputs" or is_first_with_heads(step):
            return unchanged_value(step, values).permute(order)
        return None

    return change


# ---- all of them -----------------------------------------------------------------------------------------------------
def joint_mistakes(trace: Trace) -> Iterator[Found]:
    """Yield the mistakes that change several steps at once and cannot be told from one of these steps alone."""
    yield from exchanged_projections(trace)
    yield from axis_mistakes(trace)


def mistakes_of(trace: Trace) -> Iterator[Found]:
    """Yield the other mistakes that depend on what a run has."""
    yield from projection_mistakes(trace)
    yield from mask_mistakes(trace)
    yield from missing_parts(trace)
    yield from other_normalisers(trace)
    yield from position_mistakes(trace)
