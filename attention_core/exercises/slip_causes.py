"""Finds the cause of a slip: a single change of the computation that, from the written numbers, gives the slip."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import chain, combinations

import torch
from jaxtyping import Bool
from torch import Tensor

from attention_core.comparison.rerun import Change
from attention_core.exercises.marking import Mark
from attention_core.exercises.number_range import (
    NumberRange,
    agrees_with_range,
    range_of_function,
    range_through,
    step_range,
)
from attention_core.exercises.rounding import half_a_unit
from attention_core.exercises.worked_example import CheckedWork
from attention_core.record.trace import Step
from attention_core.verification.causes import Cause, single_changes

ROUNDING_SLACK = 64  # accepted difference, in multiples of the right number's rounding error,
RELATIVE_SLACK = 0.1  # plus this share of the written number: more than any rounding error, even through exp
EXCHANGED_AXES = {-2: "rows_swapped", -1: "columns_swapped"}  # axis -> code of the cause
OTHERWISE_TRANSPOSED = ("scores", "weights")  # steps whose transposition has a separate name


def find_slip_causes(checked: CheckedWork, step: str) -> list[Cause]:
    """Find every cause that gives the written numbers of a step with slips."""
    ranges = ranges_before(checked, step)
    candidates = chain(
        try_changes(checked, step, ranges),
        try_exchanges(ranges[step], step),
        try_other_factor(checked, step, ranges),
    )
    found = []
    for cause, supposed in candidates:
        if gives_answers(checked, step, supposed):
            found.append(replace(cause, steps=(step,)))
    telling = [cause for cause in found if cause.code != "scale_other"]
    return telling or found


def gives_answers(checked: CheckedWork, step: str, supposed: NumberRange, slack: float | Tensor = 0.0) -> bool:
    """Return whether a supposed step gives the written numbers. slack: the accepted difference beyond rounding."""
    theirs = checked.marked[step].theirs
    if supposed.low.shape != theirs.shape:
        return False
    allowed = half_a_unit(checked.digits[step]) + slack
    agrees = agrees_with_range(theirs, supposed, allowed)
    is_concerned = cells_in_slipped_heads(checked, step)
    return bool((agrees | ~is_concerned).all())


def cells_in_slipped_heads(checked: CheckedWork, step: str) -> Bool[Tensor, "..."]:
    """Return which written cells a cause must explain: in a step with heads, the cells of heads with slips."""
    marked = checked.marked[step]
    is_written = ~marked.theirs.isnan()
    dims = checked.trace.step(step).dims
    if "H" not in dims:
        return is_written
    is_slip = marked.marks == int(Mark.SLIP)  # (B, H, T, S)
    other_axes = [*range(len(dims))]
    other_axes.remove(dims.index("H"))
    has_slip = is_slip.any(dim=other_axes, keepdim=True)  # (1, H, 1, 1)
    return is_written & has_slip


def ranges_before(checked: CheckedWork, step: str) -> dict[str, NumberRange]:
    """Return the ranges of every step before one, and the range of that step computed from them."""
    ranges: dict[str, NumberRange] = {}
    for name, each in checked.trace.steps.items():
        if name == step:
            break
        if name in checked.marked:
            ranges[name] = checked.marked[name].behind
        else:
            ranges[name] = step_range(each, ranges)
    ranges[step] = step_range(checked.trace.step(step), ranges)
    return ranges


# ---- one change of the run -------------------------------------------------------------------------------------------
def try_changes(
    checked: CheckedWork, step: str, ranges: Mapping[str, NumberRange]
) -> Iterator[tuple[Cause, NumberRange]]:
    """Yield the single changes of a run that come near the written numbers, each with the resulting range of the step.

    Tracking the rounding through a change takes long, so each change is tried on single numbers first.
    """
    numbers = {}
    for name, ends in ranges.items():
        numbers[name] = NumberRange(ends.low, ends.low)
    slack = change_slack(checked, step, ranges[step])
    for cause, change in single_changes(checked.trace):
        unrounded = suppose_change(checked, numbers, step, change)
        if unrounded is None:
            continue
        is_near = gives_answers(checked, step, unrounded, slack)
        if not is_near:
            continue
        supposed = suppose_change(checked, ranges, step, change)
        if supposed is not None:
            yield cause, supposed


def change_slack(checked: CheckedWork, step: str, right: NumberRange) -> Tensor:
    """Return the largest difference between a change and the written numbers at which its range is computed."""
    widths = (right.high - right.low).abs().nan_to_num(0.0)
    widest = widths.max().item()
    magnitudes = checked.marked[step].theirs.abs()
    return ROUNDING_SLACK * widest + RELATIVE_SLACK * magnitudes


def suppose_change(
    checked: CheckedWork, ranges: Mapping[str, NumberRange], step: str, change: Change
) -> NumberRange | None:
    """Compute the range of a step under a single change of the run; None if it changes nothing."""
    now: dict[str, NumberRange] = {}
    moved: set[str] = set()
    for name in ranges:
        each = checked.trace.step(name)
        supposed = None
        if name == step or not is_answered(checked, name):  # else the writer continued with the written numbers
            supposed = change_range(each, change, now)
            if supposed is None and reads_any(each, moved):
                supposed = range_through(each.operation, now)
        if supposed is None:
            now[name] = ranges[name]
        else:
            now[name] = supposed
            moved.add(name)
    return now[step] if step in moved else None


def change_range(step: Step, change: Change, before: Mapping[str, NumberRange]) -> NumberRange | None:
    """Compute the range of a step after a change; None if it leaves the step unchanged."""
    numbers = {name: ends.low for name, ends in before.items()}
    if change(step, numbers) is None:
        return None
    return range_of_function(partial(change, step), before)


def reads_any(step: Step, names: set[str]) -> bool:
    """Return whether a step reads one of these steps."""
    return step.operation is not None and not names.isdisjoint(step.operation.reads)


def is_answered(checked: CheckedWork, step: str) -> bool:
    """Return whether any number of a step was written."""
    if step not in checked.marked:
        return False
    return not checked.marked[step].theirs.isnan().all()


# ---- numbers exchanged or scaled -------------------------------------------------------------------------------------
def try_exchanges(right: NumberRange, step: str) -> Iterator[tuple[Cause, NumberRange]]:
    """Yield each exchange of two rows or of two columns, and the transposition if it could be a slip."""
    low, high = right
    for axis, code in EXCHANGED_AXES.items():
        size = low.shape[axis]
        for one, other in combinations(range(size), 2):
            order = torch.arange(size, device=low.device)
            order[one] = other
            order[other] = one
            swapped = NumberRange(
                low.index_select(axis, order),
                high.index_select(axis, order),
            )
            places = {"one": one + 1, "other": other + 1}
            yield Cause(code, (), places), swapped
    rows, columns = low.shape[-2:]
    if rows == columns and step not in OTHERWISE_TRANSPOSED:
        transposed = NumberRange(low.mT, high.mT)
        yield Cause("transposed", ()), transposed


def try_other_factor(
    checked: CheckedWork, step: str, ranges: Mapping[str, NumberRange]
) -> Iterator[tuple[Cause, NumberRange]]:
    """Yield, for scaled_scores only, the scores times the factor that most written numbers imply."""
    if step != "scaled_scores":
        return
    factor = median_factor(checked)
    text = f"{factor:.3g}".replace("-", "−")
    cause = Cause("scale_other", (), {"factor": text})
    scores = ranges["scores"]
    one = scores.low * factor
    other = scores.high * factor
    scaled = NumberRange(
        low=torch.minimum(one, other),
        high=torch.maximum(one, other),
    )
    yield cause, scaled


def median_factor(checked: CheckedWork) -> float:
    """Compute the median ratio of the written scaled scores to the written scores; 0 if there is none."""
    theirs = checked.marked["scaled_scores"].theirs
    scores = checked.written["scores"]
    has_ratio = (scores != 0) & ~theirs.isnan()
    ratios = (theirs / scores)[has_ratio]
    if len(ratios) == 0:
        return 0.0
    return ratios.median().item()
