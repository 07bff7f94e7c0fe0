"""The table of an exercise to type numbers into, drawn as the result of a product after its operands."""

from collections.abc import Callable, Mapping
from functools import partial

import streamlit as st

from attention_core.drawing.worked_picture import BESIDE_WIDTH_PX, SheetPart, WorkedFrame, worked_frame
from attention_core.exercises.worked_example import CheckedWork
from pages.lessons.opened_cell import get_opened_cell
from pages.lessons.pictures import (
    RunPicture,
    draw_picture,
    show_opened_arithmetic,
)
from pages.lessons.worked_example import (
    close_blank,
    is_blank,
    list_cell_marks,
    make_written_part,
    open_written_cell,
    show_mark_verdict,
)
from pages.panels.answers import CellPlace, answer_cells
from pages.panels.link_controls import show_choice_refusal
from pages.session.answers import are_answers_revealed
from pages.session.labels import current_palette, picture_texts_for
from pages.site.words import say

NAME = "work"  # name of the picture on the page


def show_worked_table(
    checked: CheckedWork,
    step: str,
    head: int,
    parts: list[SheetPart],
    starts: Mapping[str, str],
    show_verdict: Callable[[], None],
) -> None:
    """Shows the cells of a step with its operands; a click on an entered number opens its arithmetic and its mark.

    parts: the operands, and the right numbers if these may be shown. starts: the initial texts of the cells.
    show_verdict: draws the verdict, beside the picture if there is room.
    """
    runs = {"printed": checked.written, "right": checked.trace}
    frame = draw_frame(checked, step, head, parts)
    shown = make_work_picture(checked, frame, runs)
    opens_beside = frame.picture.spec["width"] <= BESIDE_WIDTH_PX
    with st.container(horizontal=opens_beside, gap="medium", key="shrinks" if opens_beside else None):  # page.css
        with st.container(key="worked", width="content"):  # page.css puts the cells into the picture
            draw_picture(shown)
            answer_cells(
                checked.trace,
                step,
                starts[step],
                head,
                list_cell_marks(checked, step, head),
                partial(open_written_cell, checked, NAME, step, head),
                CellPlace(frame.left, frame.top, frame.cell, frame.row, frame.column),
            )
        with st.container():
            show_choice_refusal(step)
            show_verdict()
            show_opened_arithmetic(shown, "stretch")


def draw_frame(checked: CheckedWork, step: str, head: int, parts: list[SheetPart]) -> WorkedFrame:
    """The picture of the operands, with free space for the cells."""
    opened = get_opened_cell(NAME, {"printed": checked.written, "right": checked.trace})
    free = make_written_part(checked, step, "", head=head)
    words = picture_texts_for(checked.trace)
    return worked_frame(parts, free, words, current_palette(), opened)


def make_work_picture(checked: CheckedWork, frame: WorkedFrame, runs: dict) -> RunPicture:
    """The picture with its runs; a cell without a number can only be opened if all answers are revealed."""
    opened = get_opened_cell(NAME, runs)
    if opened is not None:
        run, cell = opened
        if run == "printed":
            runs["printed"] = checked.computed_at(cell.step)
    is_asked = are_answers_revealed()
    return RunPicture(
        NAME,
        frame.picture,
        runs,
        say("lessons.printed.alt"),
        on_click=None if is_asked else partial(close_blank, checked),
        show_above=partial(show_mark_verdict, checked),
        is_secret=None if is_asked else partial(is_blank, checked),
    )
