"""Which mistake somebody made: one thing done otherwise, with their own numbers before it, gives what they wrote.

Nothing is named that does not give every number of the step; where several do, nobody can tell which it was.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations

import torch
from jaxtyping import Bool
from torch import Tensor

from attention_core.comparison.rerun import Change, unchanged_value
from attention_core.exercises.marking import (
    COMPUTATION_ROUNDING,
    Mark,
    NumberRange,
    agrees_with_range,
    range_of_function,
    range_through,
)
from attention_core.exercises.rounding import half_a_unit
from attention_core.exercises.worked_example import CheckedWork
from attention_core.explanation.arithmetic import number_at
from attention_core.record.expressions import Ref, multiply_factors
from attention_core.record.trace import Step
from attention_core.verification.causes import Cause, single_changes

ROUNDING_SLACK = 64  # times what rounding may do to the right number, or
RELATIVE_SLACK = 0.1  # of the written one: no mistake makes rounding worse than both, not even an exp
OTHERWISE_TRANSPOSED = ("scores", "weights")  # whose transposing has a name of its own


@dataclass(frozen=True)
class WrongSum:
    """The only wrong number of a step, and what was done with the terms of its sum, where one thing gives it.

    kind: "left_out", "sign", "twice" (of the term with these factors), "minus" (of the whole), else "other". own: what
    it should be from the writer's own numbers before it.
    """

    cell: Ref
    written: float
    own: float
    kind: str = "other"
    factors: tuple[float, ...] = ()


@dataclass(frozen=True)
class StepSlips:
    """What is wrong in one step even from the writer's own numbers before it: the cells, and what explains all of
    them. Several causes: each of them does. wrong_sum: of a single cell that no cause explains."""

    step: str
    cells: tuple[Ref, ...]
    causes: tuple[Cause, ...]
    wrong_sum: WrongSum | None = None


def find_slips(checked: CheckedWork) -> dict[str, StepSlips]:
    """Every step of somebody's worked example that holds slips, in the order of the run, each with its causes.

    checked: as worked.check gives it. A cause is one change of HYPOTHESES made with the numbers that were written
    before, or two rows or columns exchanged, or another factor; it must give every written number of the step, in a
    step of several heads those of the heads that hold slips, within what rounding may do.

    >>> from attention_core import attend_qkv
    >>> from attention_core.exercises.worked_example import check_work, stages_of
    >>> trace = attend_qkv(*3 * [torch.tensor([[1.0, 2.0], [3.0, 1.0]])])
    >>> texts = {"scores": "5 5; 5 10", "scaled_scores": "2.5 2.5; 2.5 5"}
    >>> found = find_slips(check_work(trace, texts, stages_of(trace)))
    >>> [str(cause) for cause in found["scaled_scores"].causes][0]
    'the scores are divided by d_k, not √d_k: the root is missing, or they are scaled twice'
    """
    found = {}
    for step in checked.marked:
        if cells := checked.cells(step, Mark.SLIP):
            named = tuple(find_slip_causes(checked, step))
            single = find_wrong_sum(checked, cells[0]) if len(cells) == 1 and not named else None
            found[step] = StepSlips(step, tuple(cells), named, single)
    return found


# ---- what was done otherwise -----------------------------------------------------------------------------------------
def find_slip_causes(checked: CheckedWork, step: str) -> list[Cause]:
    """Everything that gives the written numbers of a step that holds slips."""
    ranges, concerned = ranges_before(checked, step), cells_in_slipped_heads(checked, step)
    theirs, half = checked.marked[step].theirs, half_a_unit(checked.digits[step])

    def gives(supposed: NumberRange | None, slack: float | Tensor = 0.0) -> bool:
        same = supposed is not None and supposed[0].shape == theirs.shape
        return same and bool((agrees_with_range(theirs, supposed, half + slack) | ~concerned).all())

    low, high = ranges[step]
    slack = ROUNDING_SLACK * (high - low).abs().nan_to_num(0.0).max().item() + RELATIVE_SLACK * theirs.abs()
    still = {name: (ends[0], ends[0]) for name, ends in ranges.items()}
    found = []
    for cause, change in single_changes(checked.trace):
        near = gives(
            suppose_change(checked, still, step, change), slack
        )  # worth following its rounding, which takes longer
        if near and gives(suppose_change(checked, ranges, step, change)):
            found.append(cause)
    found += [
        cause
        for cause, ends in [*try_exchanges(ranges[step], step), *try_other_factor(checked, step, ranges)]
        if gives(ends)
    ]
    telling = [cause for cause in found if cause.code != "scale_other"]
    return [replace(cause, steps=(step,)) for cause in telling or found]


def ranges_before(checked: CheckedWork, step: str) -> dict[str, NumberRange]:
    """What may stand behind the numbers of every step before one, and what they make of it."""
    ranges: dict[str, NumberRange] = {}
    for name, each in checked.trace.steps.items():
        ranges[name] = (
            checked.marked[name].behind if name in checked.marked and name != step else step_range(each, ranges)
        )
        if name == step:
            return ranges
    return ranges


def step_range(step: Step, ranges: Mapping[str, NumberRange]) -> NumberRange:
    """What a step is, from ranges before it."""
    if step.operation is not None:
        return range_through(step.operation, ranges)
    value = unchanged_value(step, {})
    return value, value


def cells_in_slipped_heads(checked: CheckedWork, step: str) -> Bool[Tensor, "..."]:
    """The written cells of a step that a cause must give: where it has heads, those of the heads that hold slips."""
    marked, dims = checked.marked[step], checked.trace.step(step).dims
    written, wrong = ~marked.theirs.isnan(), marked.marks == int(Mark.SLIP)
    if "H" not in dims:
        return written
    others = tuple(axis for axis, dim in enumerate(dims) if dim != "H")
    return written & wrong.any(dim=others, keepdim=True)  # (1, H, 1, 1) over (B, H, T, S)


def is_written(checked: CheckedWork, step: str) -> bool:
    """Whether any number of a step was written."""
    return step in checked.marked and not checked.marked[step].theirs.isnan().all()


def suppose_change(
    checked: CheckedWork, ranges: Mapping[str, NumberRange], step: str, change: Change
) -> NumberRange | None:
    """What a step is where one thing was done otherwise behind the written numbers; None where that changes nothing."""
    now: dict[str, NumberRange] = {}
    moved: set[str] = set()
    for name in ranges:
        each, kept = checked.trace.step(name), name != step and is_written(checked, name)
        now[name] = ranges[name]
        reads = set(each.operation.reads) if each.operation else set()
        if not kept and change(each, {other: low for other, (low, _) in now.items()}) is not None:
            before = {other: ends for other, ends in now.items() if other != name}
            now[name] = range_of_function(lambda values, each=each: change(each, dict(values)), before)
            moved.add(name)
        elif not kept and moved & reads:
            now[name] = range_through(each.operation, now)
            moved.add(name)
    return now[step] if step in moved else None


def try_exchanges(right: NumberRange, step: str) -> Iterator[tuple[Cause, NumberRange]]:
    """Two rows, or two columns, in each other's place; or all of them."""
    low, high = right
    for axis, code in ((-2, "rows_swapped"), (-1, "columns_swapped")):
        size = low.shape[axis]
        for one, other in combinations(range(size), 2):
            order = [other if at == one else one if at == other else at for at in range(size)]
            swapped = low.index_select(axis, torch.tensor(order)), high.index_select(axis, torch.tensor(order))
            yield Cause(code, (), {"one": one + 1, "other": other + 1}), swapped
    if low.shape[-1] == low.shape[-2] and step not in OTHERWISE_TRANSPOSED:
        yield Cause("transposed", ()), (low.mT, high.mT)


def try_other_factor(
    checked: CheckedWork, step: str, ranges: Mapping[str, NumberRange]
) -> Iterator[tuple[Cause, NumberRange]]:
    """Scaled scores that are all the scores times one other number: most of them tell which."""
    if step != "scaled_scores":
        return
    theirs, scores = checked.marked[step].theirs, checked.written["scores"]
    ratios = (theirs / scores)[(scores != 0) & ~theirs.isnan()]
    factor = ratios.median().item() if len(ratios) else 0.0
    low, high = (end * factor for end in ranges["scores"])
    text = f"{factor:.3g}".replace("-", "−")
    yield Cause("scale_other", (), {"factor": text}), (torch.minimum(low, high), torch.maximum(low, high))


# ---- one wrong sum ---------------------------------------------------------------------------------------------------
def find_wrong_sum(checked: CheckedWork, cell: Ref) -> WrongSum:
    """The only wrong number of a step: one of its terms left out, added twice, with the other sign; or all of it."""
    marked, half = checked.marked[cell.step], half_a_unit(checked.digits[cell.step]) + COMPUTATION_ROUNDING
    written, right = marked.theirs[cell.index].item(), marked.own[cell.index].item()
    if right and abs(written + right) <= half:
        return WrongSum(cell, written, right, "minus")
    found = {}
    for term in written_terms(checked, cell):
        for kind, times in TERM_CHANGES.items():
            if abs(multiply_factors(term)) > half and abs(written - right - times * multiply_factors(term)) <= half:
                found.setdefault(kind, term)
    kind, factors = next(iter(found.items())) if len(found) == 1 else ("other", ())
    return WrongSum(cell, written, right, kind, tuple(factors))


TERM_CHANGES = {
    "left_out": -1.0,
    "sign": -2.0,
    "twice": 1.0,
}  # what is done with a term, by how often it is added too much


def written_terms(checked: CheckedWork, cell: Ref) -> list[list[float]]:
    """The factors of each term of a cell that is a sum, as they were written; none where there are not several."""
    expression = checked.trace.step(cell.step).operation.cell(cell.index, checked.written.shapes())
    if expression.function != "sum" or len(expression.terms) < 2:
        return []
    return [[number_at(checked.written, factor) for factor in term] for term in expression.terms]
