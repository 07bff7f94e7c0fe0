"""Shows a worked example: typed numbers beside right ones, marks, and explanations of the mistakes."""

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from itertools import chain

import streamlit as st

from attention_core.drawing.worked_picture import MARK_SIGNS, SheetPart, worked_sheet
from attention_core.exercises.answer_text import cell_text, right_decimals
from attention_core.exercises.marking import Mark, MarkedStep
from attention_core.exercises.slips import StepSlips, WrongSum
from attention_core.exercises.stages import calculated_cell, operand_stages
from attention_core.exercises.worked_example import CheckedWork
from attention_core.explanation.layout import panel, transpose_panel
from attention_core.record.expressions import Ref
from pages.lessons.opened_cell import (
    OPENED_CELL_KEY,
    CellHandler,
    get_opened_cell,
    read_opened_cell,
    toggle_opened_cell,
)
from pages.lessons.pictures import RunPicture, show_run_picture
from pages.panels import lesson_choices
from pages.session.labels import cell_naming_axes, current_palette, picture_texts_for, place_name, typeset_step_name
from pages.site.words import escape_markdown, say, say_cause

MARK_TEXT_KEYS = {Mark.RIGHT: "right", Mark.FOLLOWED: "followed", Mark.SLIP: "slip"}


# ---- a stage ---------------------------------------------------------------------------------------------------------
def count_marked_numbers(marked: MarkedStep) -> dict[str, int]:
    """Returns {mark: how many numbers of a step have it}, with "blank" for empty cells and "count" for all numbers."""
    counts = {name: marked.count(mark) for mark, name in MARK_TEXT_KEYS.items()}
    return {
        **counts,
        "blank": marked.count(Mark.UNANSWERED),
        "count": sum(counts.values()),
    }


def is_step_right(checked: CheckedWork, step: str) -> bool:
    """Returns whether every number of a step is right."""
    marked = checked.marked[step]
    return marked.count(Mark.RIGHT) == marked.marks.numel()


def label_stage(checked: CheckedWork, step: str) -> str:
    """Returns a step's name, followed by the number of its errors, or by ✓ if all its numbers are right."""
    name = typeset_step_name(step)
    slips = checked.marked[step].count(Mark.SLIP)
    if slips:
        return say("lessons.check.stage_wrong", step=name, count=slips)
    if is_step_right(checked, step):
        return f"{name} ✓"
    return name


# ---- the parts of the picture ----------------------------------------------------------------------------------------
def make_work_parts(
    checked: CheckedWork,
    step: str,
    titles: Callable[[str], str],
    own: str,
    right: str,
    known: Collection[Ref] | None = None,
    hidden: bool = False,
    head: int = 0,
    apart: bool = False,
) -> list[SheetPart]:
    """Returns the matrices of a step for the picture: the visitor's numbers, the right numbers, and the operands.

    titles: a function that returns the title of an operand. own, right: the titles of the visitor's and of the right
    numbers. known: the cells whose marks may be shown; None for all. hidden: True leaves out the right numbers. apart:
    True leaves out the visitor's numbers, because input cells beside the picture show them.
    """
    parts = []
    if not apart:
        parts.append(make_written_part(checked, step, own, known, head=head))
    if not hidden:
        parts.append(make_right_part(checked, step, right, head))
    operands = operand_stages(checked.trace, step)
    for place, operand in zip(("left", "above"), operands, strict=False):
        part = make_operand_part(checked, step, operand, place, titles(operand), head)
        parts.append(part)
    return parts


def make_written_part(
    checked: CheckedWork,
    step: str,
    title: str,
    known: Collection[Ref] | None = None,
    place: str = "result",
    head: int = 0,
) -> SheetPart:
    """Returns the visitor's numbers for a step as a matrix of the picture."""
    return SheetPart(
        title,
        panel(checked.written, step, {"H": head}),
        "printed",
        place,
        checked.digits[step],
        marked=checked.marked[step],
        known=known,
    )


def make_right_part(checked: CheckedWork, step: str, title: str, head: int) -> SheetPart:
    """Returns the right numbers of a step as a matrix of the picture."""
    return SheetPart(
        title,
        panel(checked.trace, step, {"H": head}),
        "right",
        "beside",
        right_decimals(checked.digits[step]),
    )


def make_operand_part(checked: CheckedWork, step: str, operand: str, place: str, title: str, head: int) -> SheetPart:
    """Returns the visitor's numbers for an operand of a step as a matrix of the picture.

    place: where the operand is in the product: "left" of the result or "above" it.
    """
    cells = panel(checked.written, operand, {"H": head})
    if step == "scores" and place == "above":
        title = f"{title}ᵀ"
        cells = transpose_panel(cells)
    return SheetPart(
        title,
        cells,
        "printed",
        place,
        checked.digits.get(operand),
        sign="×" if place == "above" else "",
        spare=True,
    )


# ---- the picture -----------------------------------------------------------------------------------------------------
def show_work(
    name: str,
    checked: CheckedWork,
    rows: Sequence[Sequence[SheetPart]],
    on_click: CellHandler | None = None,
    reached: Collection[Ref] = (),
    is_secret: Callable[[str, Ref], bool] | None = None,
) -> None:
    """Shows the matrices of a step; a click on a number opens its mark, and its arithmetic with the visitor's operands.

    on_click: a callback that gets each clicked cell. is_secret: a function that returns whether the arithmetic of a
    cell is hidden. reached: the cells that are wrong because of an earlier error.
    """
    runs = {"printed": checked.written}
    parts = chain.from_iterable(rows)
    if any(part.run == "right" for part in parts):
        runs["right"] = checked.trace
    opened = get_opened_cell(name, runs)
    if opened is not None:
        run, cell = opened
        if run == "printed":
            runs["printed"] = checked.computed_at(cell.step)
    marks = {mark: say(f"lessons.printed.mark_{word}") for mark, word in MARK_TEXT_KEYS.items()}
    words = picture_texts_for(checked.trace)
    shown = RunPicture(
        name,
        worked_sheet(rows, words, current_palette(), marks, opened, reached),
        runs,
        say("lessons.printed.alt"),
        on_click=on_click,
        show_above=partial(show_mark_verdict, checked),
        is_secret=is_secret,
    )
    show_run_picture(shown)


def show_exercise(name: str, checked: CheckedWork, rows: Sequence[Sequence[SheetPart]], asked: bool) -> None:
    """Shows the matrices of an exercise; a click on a number opens it.

    asked: whether the visitor requested the right numbers; if not, a cell without a number does not open.
    """
    if asked:
        show_work(name, checked, rows)
        return
    show_work(
        name,
        checked,
        rows,
        on_click=partial(close_blank, checked),
        is_secret=partial(is_blank, checked),
    )


def is_blank(checked: CheckedWork, run: str, cell: Ref) -> bool:
    """Returns whether the visitor has not yet typed a number for a cell."""
    calculated = calculated_cell(checked.trace, cell)
    if run != "printed" or calculated.step not in checked.marked:
        return False
    written = checked.marked[calculated.step].theirs[calculated.index]
    return bool(written.isnan())


def close_blank(checked: CheckedWork, run: str, cell: Ref) -> None:
    """Closes the cell that the visitor has just opened, if the visitor has not typed a number into this cell yet."""
    if is_blank(checked, run, cell):
        lesson_choices.store_choice(OPENED_CELL_KEY, None)


def list_cell_marks(checked: CheckedWork, step: str, head: int) -> list[list[tuple[str, str]]]:
    """Returns the (symbol, meaning) of each cell's mark, for one head; ("", "") for a cell without a number."""
    part = make_written_part(checked, step, "", head=head)
    rows = []
    for refs in part.panel.refs:
        marks = [part.mark(ref) for ref in refs]
        rows.append([(MARK_SIGNS.get(mark, ""), say_mark(mark)) for mark in marks])
    return rows


def say_mark(mark: Mark) -> str:
    """Returns the meaning of a mark as text; "" for a cell without a number."""
    return say(f"lessons.printed.mark_{MARK_TEXT_KEYS[mark]}") if mark in MARK_TEXT_KEYS else ""


def open_written_cell(checked: CheckedWork, name: str, step: str, head: int, row: int, column: int) -> None:
    """Opens one of the visitor's numbers below a picture, or closes it if it is open; ignores a cell without a number.

    name: the name of the picture. row, column: the position of the number in the step, for one head.
    """
    cell = panel(checked.written, step, {"H": head}).refs[row][column]
    if not is_blank(checked, "printed", cell):
        toggle_opened_cell(name, "printed", cell)


def close_on_change(name: str, *subject: object) -> None:
    """Closes the open cell of a picture if `subject` has changed since the last script run.

    subject: the values that determine what the picture shows.
    """
    key = f"{lesson_choices.current_slug()}_{name}_drawn"
    is_changed = st.session_state.get(key, subject) != subject
    st.session_state[key] = subject
    opened_in, *_ = lesson_choices.get_choice(OPENED_CELL_KEY, ("",), read_opened_cell)
    if is_changed and opened_in == name:
        lesson_choices.store_choice(OPENED_CELL_KEY, None)


def show_mark_verdict(checked: CheckedWork, run: str, cell: Ref) -> None:
    """Shows a sentence that says whether the number that the visitor typed in a cell is right, and the right number."""
    calculated = calculated_cell(checked.trace, cell)
    step, index = calculated.step, calculated.index
    if run != "printed" or step not in checked.marked:
        return
    marked = checked.marked[step]
    digits = checked.digits[step]
    exact_digits = right_decimals(digits)
    mark = Mark(marked.marks[index].item())
    verdict = "met" if marked.met[index] else MARK_TEXT_KEYS.get(mark, "blank")
    sentence = say(
        f"lessons.printed.verdict_{verdict}",
        written=cell_text(marked.theirs[index].item(), digits),
        own=cell_text(marked.own[index].item(), exact_digits),
        right=cell_text(checked.trace[step][index].item(), exact_digits),
    )
    st.markdown(sentence)


# ---- explanations of mistakes: the rule that gives the same wrong numbers, or the only wrong sum ---------------------
def show_slips(checked: CheckedWork, found: Mapping[str, StepSlips]) -> None:
    """Shows a sentence for each step with errors."""
    for step, slips in found.items():
        explanation = describe_slips(checked, slips)
        st.markdown(say("slips.step", step=typeset_step_name(step), told=explanation))


def describe_slips(checked: CheckedWork, slips: StepSlips) -> str:
    """Returns the text that explains the errors of a step."""
    if slips.wrong_sum is not None:
        return describe_wrong_sum(checked, slips.wrong_sum)
    count = len(slips.cells)
    if not slips.causes:
        first_place = describe_slip_place(checked, slips.cells[0])
        return say("slips.none", count=count, first=first_place)
    reasons = [say_cause(cause) for cause in slips.causes]
    if len(reasons) == 1:
        return say("slips.one", reason=reasons[0], count=count)
    listed_reasons = say("slips.or").join(reasons)
    return say("slips.either", reasons=listed_reasons, count=count)


def describe_wrong_sum(checked: CheckedWork, wrong: WrongSum) -> str:
    """Returns the text that names the only wrong number of a step, and the mistake in its sum."""
    digits = checked.digits[wrong.cell.step]
    factors = [cell_text(factor, None) for factor in wrong.factors]
    mistake = say(f"slips.sum_{wrong.kind}", term=" × ".join(factors))
    return say(
        "slips.sum",
        place=describe_slip_place(checked, wrong.cell),
        how=mistake,
        written=cell_text(wrong.written, digits),
    )


def show_met(checked: CheckedWork, step: str, named: bool = True) -> None:
    """Shows the sentence that some of the visitor's numbers are right although they do not follow from the visitor's
    earlier numbers. named:

    whether the sentence lists these numbers.
    """
    cells = checked.met(step)
    if not cells:
        return
    sentence = say("lessons.printed.met", count=len(cells))
    if named:
        places = [describe_slip_place(checked, cell) for cell in cells]
        sentence = say("lessons.printed.met_at", told=sentence, places=say("fact.comma").join(places))
    st.markdown(sentence)


def describe_slip_place(checked: CheckedWork, cell: Ref) -> str:
    """Returns the position of a cell in its step, in words; a single head is not named."""
    trace = checked.trace
    has_one_head = trace.sizes()["H"] == 1
    names = []
    for axis, dim in cell_naming_axes(trace, cell.step):
        if dim == "H" and has_one_head:
            continue
        position = cell.index[axis]
        names.append(place_name(trace, dim, position))
    place = ", ".join(names)
    return escape_markdown(f"[{place}]")
