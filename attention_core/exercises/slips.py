"""The slips of a worked example: steps that are wrong even given the writer's numbers before them, and their causes."""

from dataclasses import dataclass

from attention_core.exercises.marking import Mark
from attention_core.exercises.slip_causes import find_slip_causes
from attention_core.exercises.worked_example import CheckedWork
from attention_core.exercises.wrong_sum import WrongSum, find_wrong_sum
from attention_core.record.expressions import Ref
from attention_core.verification.causes import Cause


@dataclass(frozen=True)
class StepSlips:
    """The cells of a step that are wrong even given the writer's numbers before it.

    cells: the wrong cells. causes: each of them explains all cells. wrong_sum: of a single cell without a cause.
    """

    step: str
    cells: tuple[Ref, ...]
    causes: tuple[Cause, ...]
    wrong_sum: WrongSum | None = None


def find_slips(checked: CheckedWork) -> dict[str, StepSlips]:
    """Find every step of a written worked example with slips, in the order of the run, each with its causes.

    checked: from check_work. A cause is one of single_changes applied to the written numbers before the step, or
    two rows or columns exchanged, or another factor; it must give every written number of the step (in a step of
    several heads, those of the heads with slips), within rounding errors.

    >>> import torch
    >>> from attention_core import attend_qkv
    >>> from attention_core.exercises.stages import stages_of
    >>> from attention_core.exercises.worked_example import check_work
    >>> trace = attend_qkv(*3 * [torch.tensor([[1.0, 2.0], [3.0, 1.0]])])
    >>> texts = {"scores": "5 5; 5 10", "scaled_scores": "2.5 2.5; 2.5 5"}
    >>> found = find_slips(check_work(trace, texts, stages_of(trace)))
    >>> [str(cause) for cause in found["scaled_scores"].causes][0]
    'the scores are divided by d_k, not √d_k: the root is missing, or they are scaled twice'
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
