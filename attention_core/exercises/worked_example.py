"""Compares a visitor's worked example with the right run.

The visitor's numbers form a separate run, so that any number can be traced back to the visitor's earlier numbers.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attention_core.comparison.distances import abs_difference
from attention_core.comparison.rerun import Values, rerun, unchanged_value
from attention_core.exercises.answer_text import count_decimals, read_answers
from attention_core.exercises.marking import Mark, MarkedStep, mark_answers
from attention_core.exercises.rounding import COMPUTATION_ROUNDING, half_a_unit, rounding_reach
from attention_core.exercises.stages import STAGES
from attention_core.record.errors import AttentionError
from attention_core.record.expressions import Ref
from attention_core.record.trace import Step, Trace
from attention_core.verification.causes import fit_given_steps


@dataclass(frozen=True, eq=False)
class CheckedWork:
    """A checked worked example; each mapping is keyed by the names of a run's steps.

    trace: the run with the right numbers. marked: each step with a mark on every cell, such as right or unanswered.
    digits: the decimals of each step's written numbers, None for exact ones. written: the run with the written numbers.
    misfits: {stage: the error of its text if it could not be parsed}.
    """

    trace: Trace
    marked: Mapping[str, MarkedStep]
    digits: Mapping[str, int | None]
    written: Trace
    misfits: Mapping[str, AttentionError]

    def cells(self, step: str, mark: Mark) -> list[Ref]:
        """List the cells of a stage of the calculation that have the mark `mark`."""
        has_mark = self.marked[step].marks == mark
        return list_cells(step, has_mark)

    def met(self, step: str) -> list[Ref]:
        """List the cells of a stage that are right although their numbers do not follow from the visitor's earlier
        numbers.
        """
        return list_cells(step, self.marked[step].met)

    def rounding(self, step: str) -> float:
        """Return the largest rounding error among the written numbers of a stage of the calculation."""
        return half_a_unit(self.digits[step]) + COMPUTATION_ROUNDING

    def computed_at(self, step: str) -> Trace:
        """Return the visitor's run with one step computed from the visitor's earlier numbers instead of the written
        ones.
        """
        value = self.written.reapply(step)
        return self.written.holding({step: value})


def list_cells(step: str, is_listed: Bool[Tensor, "..."]) -> list[Ref]:
    """List the cells of a step at which the boolean tensor `is_listed` is True."""
    indices = is_listed.nonzero().tolist()
    return [Ref(step, tuple(index)) for index in indices]


def check_work(trace: Trace, texts: Mapping[str, str], stages: Mapping[str, str] = STAGES) -> CheckedWork:
    """Compare every stage of a worked example with the run with the right numbers.

    texts: {stage: its numbers}, written like "1 0; 1 ?", where ? is an empty cell. A stage counts as unanswered if it
    has no text, or a text that cannot be read. count_decimals determines the decimals. stages: {stage: step}; for
    several heads use stages_of.

    >>> from attention_core import Weights, attend
    >>> one = torch.eye(2)
    >>> checked = check_work(attend(one, weights=Weights(w_q=one, w_k=one, w_v=one)), {"scores": "1 0; 1 ?"})
    >>> checked.marked["scores"].marks.tolist()
    [[[[1, 1], [3, 0]]]]
    """
    answers: dict[str, Tensor] = {}
    digits: dict[str, int | None] = {}
    misfits: dict[str, AttentionError] = {}
    for stage, step in stages.items():
        right = trace[step]
        text = texts.get(stage, "")
        answers[step] = torch.full(right.shape, torch.nan, dtype=torch.float64)
        if text:
            try:
                rows = read_answers(text, right, stage)
                answers[step] = rows.reshape(right.shape)
            except AttentionError as error:
                misfits[step] = error
                text = ""
        digits[step] = count_decimals(text, answers[step], right)
    decimals = {step: count for step, count in digits.items() if count is not None}
    return CheckedWork(
        trace,
        marked=mark_answers(trace, answers, decimals),
        digits=digits,
        written=run_as_written(trace, answers),
        misfits=misfits,
    )


def run_as_written(trace: Trace, answers: Mapping[str, Float[Tensor, "..."]]) -> Trace:
    """Run a computation with the written numbers; steps and cells without a written number are computed.

    answers: by the names of the trace's steps, NaN for empty cells. A cell's arithmetic then has the written operands.
    Raises AttentionError as mark_answers does.

    >>> from attention_core import attend_qkv
    >>> trace = attend_qkv(torch.eye(2), torch.eye(2), torch.eye(2))
    >>> run_as_written(trace, {"q": torch.tensor([[7.0, torch.nan], [0.0, 1.0]])})["scores"][0, 0]
    tensor([[7., 0.],
            [0., 1.]], dtype=torch.float64)
    """
    theirs = fit_given_steps(trace, answers)

    def take_answers(step: Step, values: Values) -> Tensor | None:
        answer = theirs.get(step.name)
        if answer is None:
            return None
        own = unchanged_value(step, values)
        return torch.where(answer.isnan(), own, answer)

    return trace.holding(rerun(trace, take_answers))


# ---- effects of the errors of a worked example -----------------------------------------------------------------------
def wrong_through_slip(checked: CheckedWork, slip: Ref) -> dict[str, Bool[Tensor, "..."]]:
    """Find which later numbers are wrong because of one slip, by computing the right run with this error alone.

    slip: a cell of a stage; its error is the written number minus the number computed from the visitor's earlier
    numbers. Returns {stage: boolean tensor} for every later stage: the cells whose error then exceeds their rounding.
    """
    marked = checked.marked[slip.step]
    errors = marked.theirs - marked.own
    error = errors[slip.index]

    def add_error(step: Step, values: Values) -> Tensor | None:
        if step.name != slip.step:
            return None
        value = unchanged_value(step, values).clone()
        value[slip.index] += error
        return value

    right = rerun(checked.trace)
    wrong = rerun(checked.trace, add_error)
    stages = [*checked.marked]
    first_later = stages.index(slip.step) + 1
    found = {}
    for step in stages[first_later:]:
        gaps = abs_difference(wrong[step], right[step])
        found[step] = gaps > checked.rounding(step)
    return found


def largest_written_error(checked: CheckedWork, step: str) -> float:
    """Return the largest error of the visitor's numbers in a stage of the calculation; 0 if there are none."""
    right = checked.trace[step].double()
    gaps = (checked.marked[step].theirs - right).abs()
    if not gaps.isfinite().any():
        return 0.0
    is_written = ~gaps.isnan()
    return gaps[is_written].max().item()


def rounding_explains(checked: CheckedWork, step: str, by: str, digits: int) -> bool:
    """Return whether rounding explains all errors in a stage of the calculation: rounding of its numbers, and of the
    operand `by`.

    digits: the decimals to which the visitor rounded the operand.
    """
    theirs = checked.marked[step].theirs
    gaps = abs_difference(theirs, checked.trace[step])
    reach = rounding_reach(checked.trace, step, by, digits)
    allowed = reach + half_a_unit(checked.digits[step]) + COMPUTATION_ROUNDING
    is_explained = (gaps <= allowed) | theirs.isnan()
    return bool(is_explained.all())


def count_agreeing(checked: CheckedWork, step: str, other: Float[Tensor, "..."]) -> int:
    """Count the visitor's numbers in a stage that, after rounding, equal those of another run."""
    gaps = abs_difference(checked.marked[step].theirs, other)
    agrees = gaps <= checked.rounding(step)
    return int(agrees.sum())
