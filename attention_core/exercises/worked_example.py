"""A worked example as people write it: its steps one after the other, numbers as text, "?" where there is none yet.

What is written is checked against the run with the right numbers. It makes a run of its own as well, in which every
step holds what was written, so that any number can be followed back through the writer's own.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from types import MappingProxyType

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attention_core.comparison.distances import abs_difference
from attention_core.comparison.rerun import Values, rerun, unchanged_value
from attention_core.exercises.marking import COMPUTATION_ROUNDING, Mark, MarkedStep, PrintedExample, mark_answers
from attention_core.exercises.rounding import half_a_unit, rounding_reach
from attention_core.explanation.formula import SYMBOL_COLOURS, symbol
from attention_core.inputs.matrix_text import parse_matrix
from attention_core.inputs.matrix_text import shortest_decimal as shortest
from attention_core.mechanism.operations import MASK, MERGE, PASS_ON, SPLIT
from attention_core.record.errors import AttentionError
from attention_core.record.expressions import Ref
from attention_core.record.number_text import format_fixed
from attention_core.record.trace import Step, Trace
from attention_core.verification.causes import fit_given_steps

STAGES = MappingProxyType(  # what is written down, in order, and the step of a run that has its arithmetic
    {
        "q": "q_projected",
        "k": "k_projected",
        "v": "v_projected",
        "scores": "scores",
        "scaled_scores": "scaled_scores",
        "weights": "weights",
        "output": "head_outputs",
    }
)
COPYING_FACES = (SPLIT, MERGE, MASK, PASS_ON)
BLANK_MARK = "?"
DEFAULT_DECIMALS = 2  # decimals of a number that is not whole, where nobody wrote any


@dataclass(frozen=True, eq=False)
class CheckedWork:
    """A worked example that was checked; all by the names of a run's steps.

    trace: the run with the right numbers. marked: every stage, marked. digits: with how many decimals it is written,
    None for exact numbers. written: the run with the numbers that were written. misfits: why a text was left out.
    """

    trace: Trace
    marked: Mapping[str, MarkedStep]
    digits: Mapping[str, int | None]
    written: Trace
    misfits: Mapping[str, AttentionError]

    def cells(self, step: str, mark: Mark) -> list[Ref]:
        """The cells of a stage that have a mark."""
        return [Ref(step, tuple(index)) for index in (self.marked[step].marks == mark).nonzero().tolist()]

    def met(self, step: str) -> list[Ref]:
        """The cells of a stage that are right, and do not follow from the numbers before them."""
        return [Ref(step, tuple(index)) for index in self.marked[step].met.nonzero().tolist()]

    def computed_at(self, step: str) -> Trace:
        """The run as it was written, one step computed from the written numbers before it."""
        return self.written.holding({step: self.written.reapply(step)})


def check_work(trace: Trace, texts: Mapping[str, str], stages: Mapping[str, str] = STAGES) -> CheckedWork:
    """Every stage of a worked example, checked against the run with the right numbers.

    texts: the numbers by the names of the stages, as read_answers takes them; a stage that is not named has none,
    neither has one whose text cannot be read. Decimals: as decimals_of says. stages: the steps that they stand for;
    those of stages_of where there is more than one head.

    >>> from attention_core import Weights, attend
    >>> one = torch.eye(2)
    >>> checked = check_work(attend(one, weights=Weights(w_q=one, w_k=one, w_v=one)), {"scores": "1 0; 1 ?"})
    >>> checked.marked["scores"].marks.tolist()
    [[[[1, 1], [3, 0]]]]
    """
    answers, digits, misfits = {}, {}, {}
    for stage, step in stages.items():
        right, text = trace[step], texts.get(stage, "")
        answers[step] = torch.full(right.shape, torch.nan, dtype=torch.float64)
        try:
            answers[step] = read_answers(text, right, stage).reshape(right.shape) if text else answers[step]
        except AttentionError as error:
            misfits[step], text = error, ""
        digits[step] = count_decimals(text, answers[step], right)
    marked = mark_answers(trace, answers, {step: count for step, count in digits.items() if count is not None})
    return CheckedWork(trace, marked, digits, run_as_written(trace, answers), misfits)


def run_as_written(trace: Trace, answers: Mapping[str, Float[Tensor, "..."]]) -> Trace:
    """The run with somebody's numbers in the place of its own, and what they make of the steps and cells left out.

    answers: by the names of the trace's steps, NaN where there is none. The operations stay the run's own, so the
    arithmetic of a cell has the written operands. Raises AttentionError as mark does.

    >>> from attention_core import attend_qkv
    >>> trace = attend_qkv(torch.eye(2), torch.eye(2), torch.eye(2))
    >>> run_as_written(trace, {"q": torch.tensor([[7.0, torch.nan], [0.0, 1.0]])})["scores"][0, 0]
    tensor([[7., 0.],
            [0., 1.]], dtype=torch.float64)
    """
    theirs = fit_given_steps(trace, answers)

    def written(step: Step, values: Values) -> Tensor | None:
        given = theirs.get(step.name)
        return None if given is None else torch.where(given.isnan(), unchanged_value(step, values), given)

    return trace.holding(rerun(trace, written))


def is_copy(step: Step) -> bool:
    """Whether a step only moves numbers, or leaves them as they are: nobody calculates it."""
    operation = step.operation
    return (
        operation.faces in COPYING_FACES or operation.params.get("factor") == operation.params.get("temperature") == 1.0
    )


def stages_of(trace: Trace) -> dict[str, str]:
    """What there is to calculate in a run, in order: every step but masks, tables of positions, and what copies.

    >>> from attention_core import AttentionConfig, attend_qkv
    >>> [*stages_of(attend_qkv(*3 * [torch.eye(2)], config=AttentionConfig(masks=["causal"])))]
    ['scores', 'scaled_scores', 'weights', 'head_outputs']
    """
    made = {name: step for name, step in trace.computed().items() if step.value.is_floating_point()}
    return {name: name for name, step in made.items() if "B" in step.dims and not is_copy(step)}


def calculated_cell(trace: Trace, cell: Ref) -> Ref:
    """The calculated cell that a cell is a copy of; any other is itself.

    >>> from attention_core import Weights, attend
    >>> trace = attend(torch.eye(2), weights=Weights(w_q=torch.eye(2)))
    >>> calculated_cell(trace, Ref("q", (0, 0, 1, 0))), calculated_cell(trace, Ref("scores", (0, 0, 1, 0)))
    (Ref(step='q_projected', index=(0, 1, 0)), Ref(step='scores', index=(0, 0, 1, 0)))
    """
    operation = trace.step(cell.step).operation
    if operation is None or operation.faces != SPLIT:
        return cell
    return next(iter(trace.read_by(cell)))


def operand_stages(trace: Trace, step: str) -> list[str]:
    """What stands beside a stage while it is worked out: its operands, with one head as they were calculated.

    >>> from attention_core import Weights, attend
    >>> operand_stages(attend(torch.eye(2), weights=Weights(w_q=torch.eye(2))), "scores")
    ['q_projected', 'x']
    """
    reads = trace.step(step).operation.reads[:2]
    return [unmoved_source(trace, name) for name in reads if trace[name].is_floating_point()]


def unmoved_source(trace: Trace, name: str) -> str:
    """The first step that has the same numbers in the same rows and columns."""
    operation = trace.step(name).operation
    if operation is None or not is_copy(trace.step(name)) or len(operation.reads) > 1:
        return name
    source = operation.reads[0]
    return unmoved_source(trace, source) if trace[source].shape[-2:] == trace[name].shape[-2:] else name


def stage_formula(trace: Trace, step: str, colours: Mapping[str, str] = SYMBOL_COLOURS) -> str:
    r"""The formula of a stage in the names of what stands beside it; q, k and v keep their letters.

    >>> from attention_core import attend_qkv
    >>> stage_formula(attend_qkv(torch.eye(2), torch.eye(2), torch.eye(2)), "weights", {})
    '\\mathrm{weights} = \\mathrm{softmax}_S(\\mathrm{scaled\\_scores})'
    """

    def named(name: str) -> str:
        operation = trace.step(name).operation
        lettered = operation is None or operation.faces == SPLIT
        return symbol(name if lettered else unmoved_source(trace, name), colours)

    right = trace.step(step).operation.formula(named)
    return f"{symbol(step, colours)} = {right}"


def wrong_through_slip(checked: CheckedWork, slip: Ref) -> dict[str, Bool[Tensor, "..."]]:
    """Which later numbers a slip alone makes wrong: the right run once more, with this one error in it.

    slip: a cell of a stage; its error is what is written less what the written numbers before it make. Returns for
    every later stage the cells that are then further from the right number than their rounding.
    """
    marked = checked.marked[slip.step]
    error = (marked.theirs - marked.own)[slip.index]

    def moved(step: Step, values: Values) -> Tensor | None:
        if step.name != slip.step:
            return None
        value = unchanged_value(step, values).clone()
        value[slip.index] += error
        return value

    right, wrong, stages = rerun(checked.trace), rerun(checked.trace, moved), [*checked.marked]
    later = stages[stages.index(slip.step) + 1 :]
    return {
        step: abs_difference(wrong[step], right[step]) > half_a_unit(checked.digits[step]) + COMPUTATION_ROUNDING
        for step in later
    }


def largest_written_error(checked: CheckedWork, step: str) -> float:
    """How far the written numbers of a stage lie from the right ones at most; 0 where none is written."""
    gaps = (checked.marked[step].theirs - checked.trace[step].double()).abs()
    return gaps[~gaps.isnan()].max().item() if gaps.isfinite().any() else 0.0


def rounding_explains(checked: CheckedWork, step: str, by: str, digits: int) -> bool:
    """Whether every written number of a stage may be a right one whose operand `by` was rounded to so many decimals,
    and which was rounded itself."""
    gaps = abs_difference(checked.marked[step].theirs, checked.trace[step])
    reach = rounding_reach(checked.trace, step, by, digits) + half_a_unit(checked.digits[step]) + COMPUTATION_ROUNDING
    return bool(((gaps <= reach) | checked.marked[step].theirs.isnan()).all())


def count_agreeing(checked: CheckedWork, step: str, other: Float[Tensor, "..."]) -> int:
    """How many written numbers of a stage are those of another run, rounded."""
    gaps = abs_difference(checked.marked[step].theirs, other)
    return int((gaps <= half_a_unit(checked.digits[step]) + COMPUTATION_ROUNDING).sum())


# ---- numbers as text -------------------------------------------------------------------------------------------------
def read_answers(text: str, right: Float[Tensor, "..."], name: str) -> Float[Tensor, "rows columns"]:
    """The numbers of a text, in rows and columns as the right ones, head below head; NaN for each question mark.

    text: as parse_matrix takes it. name: how errors call the step. Raises AttentionError as parse_matrix does, and rank
    where the shape is another.

    >>> read_answers("1 ?; 0.5 -2", torch.zeros(2, 2), "q")
    tensor([[ 1.0000,     nan],
            [ 0.5000, -2.0000]], dtype=torch.float64)
    """
    shape = tuple(right.flatten(0, -2).shape)  # (B, H, T, S) -> (B * H * T, S)
    one, other = (parse_matrix(text.replace(BLANK_MARK, digit), name) for digit in "01")  # a blank is what differs
    if one.shape != shape:
        raise AttentionError("rank", name=name, axes=" x ".join(map(str, shape)), shape=one.shape)
    return torch.from_numpy(np.where(one == other, one, np.nan))


def count_decimals(text: str, numbers: Float[Tensor, "..."], right: Float[Tensor, "..."]) -> int | None:
    """With how many decimals somebody's numbers are written: as many as the longest has.

    Where no number has any, whole numbers are exact where the right ones are whole, and else stand for 1.00, 2.00 ...
    text: what was written. numbers: what was read of it.

    >>> whole, parts = torch.tensor([1.0, 2.0]), torch.tensor([0.3, 0.7])
    >>> count_decimals("0.30 .7", parts, parts), count_decimals("1 2", whole, whole)
    (2, None)
    >>> count_decimals("0 1", whole - 1, parts)
    2
    """
    written = max(map(len, re.findall(r"\.([0-9]+)", text)), default=0)
    if written:
        return written
    given = numbers[numbers.isfinite()].double()
    if not is_whole(given):  # fractions, decimal commas
        return max(-Decimal(repr(value)).as_tuple().exponent for value in given.tolist())
    return None if is_whole(right) else DEFAULT_DECIMALS


def is_whole(numbers: Float[Tensor, "..."]) -> bool:
    """Whether all numbers are whole."""
    return bool((numbers == numbers.round()).all())


def answers_text(numbers: Float[Tensor | np.ndarray, "rows columns"], digits: int | None, between: str = "; ") -> str:
    """Numbers as read_answers takes them, with so many decimals or as many as they need. between: the rows.

    >>> answers_text(torch.tensor([[0.2, torch.nan], [1.0, 2.0]]).double(), 2)
    '0.20 ?; 1.00 2.00'
    """

    def cell(value: float) -> str:
        return BLANK_MARK if value != value else shortest(value) if digits is None else f"{value:.{digits}f}"

    return between.join(" ".join(map(cell, row)) for row in numbers.tolist())


def blank_text(right: Float[Tensor, "..."], between: str = "; ") -> str:
    """A question mark for each number of a stage.

    >>> blank_text(torch.zeros(1, 2, 3))
    '? ? ?; ? ? ?'
    """
    return answers_text(torch.full_like(right, torch.nan).flatten(0, -2), None, between)


def printed_text(printed: PrintedExample, stage: str, right: Float[Tensor, "..."]) -> str:
    """The numbers of a printed example at a stage as text; question marks where it has none of this shape."""
    numbers = printed.steps.get(stage)
    if numbers is None or numbers.shape != right.shape[-2:]:
        return blank_text(right)
    return answers_text(numbers, printed.decimals.get(stage))


def cell_text(value: float, digits: int | None) -> str:
    """A number as it stands in a worked example: nothing where there is none, whole numbers without decimals where
    numbers are exact.

    >>> cell_text(2.0, None), cell_text(0.5, None), cell_text(0.2, 2), cell_text(float("nan"), 2)
    ('2', '0.50', '0.20', '')
    """
    if value != value:
        return ""
    return format_fixed(value, digits if digits is not None else 0 if float(value).is_integer() else DEFAULT_DECIMALS)


def right_decimals(digits: int | None) -> int | None:
    """With how many decimals right numbers stand beside somebody's: exact ones beside exact ones, else at least two."""
    return None if digits is None else max(DEFAULT_DECIMALS, digits)
