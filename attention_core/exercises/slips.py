"""Finds the errors ("slips") in a visitor's worked example: steps that do not follow from the earlier numbers, and the
causes.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, combinations

import torch
from jaxtyping import Bool
from torch import Tensor

from attention_core.comparison.rerun import Change
from attention_core.exercises.marking import Mark
from attention_core.exercises.rounding import (
    NumberRange,
    agrees_with_range,
    half_a_unit,
    range_of_function,
    range_through,
    step_range,
)
from attention_core.exercises.worked_example import CheckedWork
from attention_core.explanation.arithmetic import number_at
from attention_core.record.expressions import Ref, multiply_factors
from attention_core.record.trace import Step
from attention_core.verification.causes import Cause, single_changes

ROUNDING_SLACK = 64  # accepted difference in units of the right number's rounding error
RELATIVE_SLACK = 0.1  # further accepted difference, as a share of the visitor's number
EXCHANGED_AXES = {-2: "rows_swapped", -1: "columns_swapped"}  # axis of the exchange -> code of the cause
OTHERWISE_TRANSPOSED = ("scores", "weights")  # steps whose transposition is another kind of cause
TERM_CHANGES = {"left_out": -1.0, "sign": -2.0, "twice": 1.0}  # mistake in a term -> its factor in the error


@dataclass(frozen=True)
class WrongSum:
    """The only wrong number in a step of the visitor's work, and the mistake in its sum that explains it, if there is
    one.

    kind: "left_out", "sign" or "twice" for a mistake in one term of the sum; "minus" if the whole sum has the wrong
    sign; else "other". factors: the factors of the mistaken term. own: the number that follows from the visitor's
    earlier numbers.
    """

    cell: Ref
    written: float
    own: float
    kind: str = "other"
    factors: tuple[float, ...] = ()


@dataclass(frozen=True)
class StepSlips:
    """The cells of a step that are wrong even given the visitor's earlier numbers.

    cells: the wrong cells. causes: the possible causes, each of which explains all wrong cells. wrong_sum: the mistake
    in the sum of a single wrong cell that no cause explains, else None.
    """

    step: str
    cells: tuple[Ref, ...]
    causes: tuple[Cause, ...]
    wrong_sum: WrongSum | None = None


def find_slips(checked: CheckedWork) -> dict[str, StepSlips]:
    """Find every step of a worked example with slips: cells that are wrong even given the visitor's earlier numbers.

    The steps are in the order of the run, each with its causes. checked: from check_work. A cause is one of
    single_changes on the visitor's earlier numbers, a swap of two rows or columns, or another factor. A cause must
    explain every written number of the step up to rounding; in a step of several heads, every number of the heads with
    slips.

    >>> import torch
    >>> from attention_core import attend_qkv
    >>> from attention_core.exercises.stages import stages_of
    >>> from attention_core.exercises.worked_example import check_work
    >>> trace = attend_qkv(*3 * [torch.tensor([[1.0, 2.0], [3.0, 1.0]])])
    >>> texts = {"scores": "5 5; 5 10", "scaled_scores": "2.5 2.5; 2.5 5"}
    >>> found = find_slips(check_work(trace, texts, stages_of(trace)))
    >>> [str(cause) for cause in found["scaled_scores"].causes][0]
    'the scores are divided by dₖ, not √dₖ: the root is missing, or they are scaled twice'
    """
    found = {}
    for step in checked.marked:
        cells = checked.cells(step, Mark.SLIP)
        if not cells:
            continue
        causes = find_slip_causes(checked, step)
        wrong_sum = None
        if len(cells) == 1 and not causes:
            wrong_sum = find_wrong_sum(checked, cells[0])
        found[step] = StepSlips(
            step,
            tuple(cells),
            tuple(causes),
            wrong_sum,
        )
    return found


# ---- the cause: a single change of the computation that, from the written numbers, gives the slip --------------------
def find_slip_causes(checked: CheckedWork, step: str) -> list[Cause]:
    """Find every cause that explains the visitor's numbers of a step with errors."""
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
    """Return whether a supposed cause of errors gives the visitor's numbers of a step, within rounding and `slack`.

    supposed: the ranges of the step's numbers if the cause is true. slack: the accepted difference in addition to
    rounding.
    """
    theirs = checked.marked[step].theirs
    if supposed.low.shape != theirs.shape:
        return False
    allowed = half_a_unit(checked.digits[step]) + slack
    agrees = agrees_with_range(theirs, supposed, allowed)
    is_concerned = cells_in_slipped_heads(checked, step)
    return bool((agrees | ~is_concerned).all())


def cells_in_slipped_heads(checked: CheckedWork, step: str) -> Bool[Tensor, "..."]:
    """Return which of the visitor's cells a cause must explain: in a step with heads, only those in heads with an
    error.
    """
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
    """Return {step: range of its numbers before rounding} for the steps before `step`, and for `step`, computed from
    these ranges.
    """
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
    """Yield (cause, range of the step) for each single change of a run that gives nearly the visitor's numbers of a
    step.

    Computing ranges under a change takes long, so each change is tried on single numbers first.
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
    """Return, for each cell, how far a changed run may be from the visitor's number so that a test with ranges is
    worthwhile."""
    widths = (right.high - right.low).abs().nan_to_num(0.0)
    widest = widths.max().item()
    magnitudes = checked.marked[step].theirs.abs()
    return ROUNDING_SLACK * widest + RELATIVE_SLACK * magnitudes


def suppose_change(
    checked: CheckedWork, ranges: Mapping[str, NumberRange], step: str, change: Change
) -> NumberRange | None:
    """Compute the range of a step under a single change of the run; None if the change does not affect the step."""
    now: dict[str, NumberRange] = {}
    moved: set[str] = set()
    for name in ranges:
        each = checked.trace.step(name)
        supposed = None
        if name == step or not is_answered(checked, name):  # the visitor computed later steps from written numbers
            supposed = change_range(each, change, now)
            if supposed is None and each.operation is not None and not moved.isdisjoint(each.operation.reads):
                supposed = range_through(each.operation, now)
        if supposed is None:
            now[name] = ranges[name]
        else:
            now[name] = supposed
            moved.add(name)
    return now[step] if step in moved else None


def change_range(step: Step, change: Change, before: Mapping[str, NumberRange]) -> NumberRange | None:
    """Compute the range of a step to which a change is applied; None if the change does not affect the step."""
    numbers = {name: ends.low for name, ends in before.items()}
    if change(step, numbers) is None:
        return None
    return range_of_function(partial(change, step), before)


def is_answered(checked: CheckedWork, step: str) -> bool:
    """Return whether the visitor wrote at least one number of a step."""
    if step not in checked.marked:
        return False
    return not checked.marked[step].theirs.isnan().all()


# ---- numbers exchanged or scaled -------------------------------------------------------------------------------------
def try_exchanges(right: NumberRange, step: str) -> Iterator[tuple[Cause, NumberRange]]:
    """Yield each swap of two rows or of two columns of a step as a cause, with the ranges that it gives.

    The transposition of a square step is also yielded, except for the steps in OTHERWISE_TRANSPOSED.
    """
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
    """Yield, for scaled_scores only, the cause "another scaling factor" and the range of the step with that factor.

    The factor is the median of the factors that the visitor's numbers imply.
    """
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
    """Compute the median ratio of the visitor's scaled scores to the visitor's scores; 0 if no score allows a ratio."""
    theirs = checked.marked["scaled_scores"].theirs
    scores = checked.written["scores"]
    has_ratio = (scores != 0) & ~theirs.isnan()
    ratios = (theirs / scores)[has_ratio]
    if len(ratios) == 0:
        return 0.0
    return ratios.median().item()


# ---- a single wrong number: a term of its sum that was left out, added twice, or of the wrong sign -------------------
def find_wrong_sum(checked: CheckedWork, cell: Ref) -> WrongSum:
    """Find the one mistake in a sum that explains a wrong number: a term that is left out, is added twice, or has the
    wrong sign.

    The kind is "other" if no mistake explains the number, or if several do.
    """
    marked = checked.marked[cell.step]
    written = marked.theirs[cell.index].item()
    own = marked.own[cell.index].item()
    allowed = checked.rounding(cell.step)
    if own and abs(written + own) <= allowed:
        return WrongSum(cell, written, own, "minus")
    found = {}
    for factors in written_terms(checked, cell):
        term = multiply_factors(factors)
        if abs(term) <= allowed:
            continue
        for kind, times in TERM_CHANGES.items():
            gap = abs(written - own - times * term)
            if gap <= allowed:
                found.setdefault(kind, factors)
    if len(found) != 1:
        return WrongSum(cell, written, own)
    ((kind, factors),) = found.items()
    return WrongSum(cell, written, own, kind, tuple(factors))


def written_terms(checked: CheckedWork, cell: Ref) -> list[list[float]]:
    """Return the factors of each term of a cell's sum, as the visitor's numbers; [] if the sum has only one term."""
    operation = checked.trace.step(cell.step).operation
    expression = operation.cell(cell.index, checked.written.shapes())
    if expression.function != "sum" or len(expression.terms) < 2:
        return []
    terms = []
    for term in expression.terms:
        numbers = [number_at(checked.written, factor) for factor in term]
        terms.append(numbers)
    return terms
