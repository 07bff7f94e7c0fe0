"""Writes an exercise sheet for a lecture, with the numbers of its slides; the solutions begin on a new page."""

from collections.abc import Iterator

from attention_core.documents.excerpt import DocumentTexts
from attention_core.documents.handout import (
    MAX_PAPER_SIDE,
    Grid,
    HandoutPart,
    Heading,
    NewPage,
    Paragraph,
    Together,
    blank_copy,
    handout,
)
from attention_core.documents.html import plain_table
from attention_core.documents.slides import Slide, SlideExercise, SlideShow
from attention_core.exercises.stages import stages_of
from attention_core.explanation.formula import formula
from attention_core.explanation.layout import Panel, cut_panel, find_in_panel, panel, product
from attention_core.explanation.shown_steps import explain_shown, shown_name
from attention_core.record.expressions import Ref
from attention_core.record.trace import Trace


def exercise_sheet(show: SlideShow, paper: str) -> str:
    """Return the exercise sheet as HTML to print: for each slide with an exercise, the given numbers and an empty grid.

    paper: one of PAPERS. Raises AttentionError: unknown_choice, for another paper; at_most, for a grid with too many
    columns.
    """
    return handout(list(sheet_parts(show)), show.provenance, paper, show.words.language)


def sheet_parts(show: SlideShow) -> Iterator[HandoutPart]:
    """Yield the exercises, followed by their solutions. If no slide has an exercise, yield only a note."""
    numbered = [(number, slide) for number, slide in enumerate(show.slides, start=1) if slide.exercise]
    if not numbered:
        yield Paragraph(show.words.nothing)
        return
    for number, slide in numbered:
        yield Together(tuple(task_parts(show, number, slide)))
    yield NewPage()
    yield Heading(show.words.solutions)
    for number, slide in numbered:
        yield Together(tuple(solution_parts(number, slide)))


def task_parts(show: SlideShow, number: int, slide: Slide) -> Iterator[Paragraph | Heading | Grid]:
    """Yield the content of one exercise: its title, the task, the given matrices, and an empty grid.

    number: the slide's position in the slide show, from 1.
    """
    exercise = slide.exercise
    yield Heading(f"{number} · {slide.title}")
    yield Paragraph(exercise.task)
    yield Paragraph(show.words.given)
    yield from exercise.given
    yield Paragraph(show.words.asked)
    yield exercise.asked


def solution_parts(number: int, slide: Slide) -> Iterator[Paragraph | Heading | Grid]:
    """Yield the solution of one exercise: the filled grid, and the arithmetic of one of its numbers.

    number: the slide's position in the slide show, from 1.
    """
    exercise = slide.exercise
    yield Paragraph(f"{number} · {slide.title}")
    yield Grid(exercise.solution.table)
    if exercise.arithmetic:
        yield Paragraph(exercise.arithmetic)


# ---- a row as an exercise --------------------------------------------------------------------------------------------
def cell_exercise(trace: Trace, cell: Ref, texts: DocumentTexts, task: str) -> SlideExercise | None:
    """Return an exercise: the row of a step that contains a cell, to be calculated from the row's operands.

    Returns None if the cell is a copy of another cell, or if a matrix is too large for the paper.

    >>> import torch
    >>> from attention_core import attend_qkv
    >>> from attention_core.drawing.text_layout import PictureTexts
    >>> words = PictureTexts(lambda cell: f"{cell.step} {cell.index}", lambda axis, position: str(position + 1))
    >>> texts = DocumentTexts("en", "", (), words, lambda part: part.step, str)
    >>> exercise = cell_exercise(attend_qkv(*[torch.eye(2)] * 3), Ref("scores", (0, 0, 1, 0)), texts, "Fill in.")
    >>> [grid.table.title for grid in exercise.given], exercise.arithmetic
    (['q', 'k'], 'scores (0, 0, 1, 0): 0.00 × 1.00 + 1.00 × 0.00 = 0.00')
    """
    if cell.step not in stages_of(trace):
        return None
    *given, asked = row_panels(trace, cell)
    for part in (*given, asked):
        if any(part.hidden) or max(len(part.refs), len(part.refs[0])) > MAX_PAPER_SIDE:
            return None
    solution = plain_table(asked, trace, texts)
    worked = explain_shown(trace, cell.step, cell.index).text
    return SlideExercise(
        task=task,
        given=tuple(Grid(plain_table(part, trace, texts)) for part in given),
        asked=Grid(blank_copy(solution), formula(trace, cell.step, names=texts.names)),
        solution=Grid(solution),
        arithmetic=f"{texts.words.describe(cell)}: {worked}" if worked else "",
    )


def row_panels(trace: Trace, cell: Ref) -> list[Panel]:
    """Return the operands of a cell's row as panels, then the row itself.

    The operands of a product are a row and a matrix; those of another step are the same row of its operands. A step
    that only copies another is replaced by that step, such as masked scores by scaled scores in a run without a mask.
    """
    position = dict(zip(trace.step(cell.step).dims, cell.index, strict=True))
    whole = product(trace, cell.step, position)
    if whole is not None:
        row, _ = find_in_panel(whole.result, cell)
        return [cut_panel(whole.left, row=row), whole.above, cut_panel(whole.result, row=row)]
    result = panel(trace, cell.step, position)
    row, _ = find_in_panel(result, cell)
    parts = []
    for read in trace.step(cell.step).operation.reads:
        name = shown_name(trace, read)
        if trace.step(name).dims[-2:] == trace.step(cell.step).dims[-2:]:
            parts.append(cut_panel(panel(trace, name, position), row=row))
    return [*parts, cut_panel(result, row=row)]
