"""Draws the lesson on a printed worked example: the printed page, then its numbers beside the right ones."""

from functools import partial

import streamlit as st

from attention_core.drawing.palette import LIGHT_PALETTE
from attention_core.exercises.answer_text import cell_text
from attention_core.exercises.marking import Mark
from attention_core.exercises.stages import STAGES, calculated_cell
from attention_core.exercises.worked_example import CheckedWork
from attention_core.explanation.layout import panel
from attention_core.record.expressions import Ref
from pages import components
from pages.lessons.frame import draw_drawers, draw_lesson, show_lesson_code, show_lesson_run
from pages.lessons.opened_cell import toggle_opened_cell
from pages.lessons.printed.drawers import (
    FIRST_STAGE,
    LESSON,
    check_printed_stages,
    choose_given_setup,
    handle_written_click,
    make_printed_work,
    name_stage,
    offer_right_numbers,
)
from pages.lessons.prompts import ask_to_find_errors, get_tried_cells, try_cell
from pages.lessons.worked_example import close_on_change, count_marked_numbers, show_met, show_work
from pages.panels.fact import show_fact
from pages.panels.lesson_choices import store_choice
from pages.panels.link_controls import choose_option
from pages.session.answers import are_answers_revealed
from pages.session.collected import show_moving
from pages.site.words import say

# ---- the page of the printed example: all numbers as they were printed, a ring around each number found wrong --------
PAPER_KEY = "printed_paper"


def show_paper(checked: CheckedWork, stage: str) -> None:
    """Shows the printed page; a click on a number marks it as wrong and opens its arithmetic.

    stage: the name of the selected stage of the calculation.
    """
    show_moving(
        components.printed_paper,
        data={
            "title": say("lessons.printed.paper"),
            "stages": [describe_stage(checked, name, name == stage) for name in STAGES],
            "ring": LIGHT_PALETTE.minus,  # colours of the light theme, because paper is light in both themes
            "text": {"alt": say("lessons.printed.paper_alt")},
        },
        key=PAPER_KEY,
        given={"stages": tuple(STAGES)},
        on_pressed=lambda place: take_number(checked, *place),
    )


def describe_stage(checked: CheckedWork, name: str, is_open: bool) -> dict[str, object]:
    """Returns the data of a stage for the browser component: its title, and its printed numbers in rows.

    is_open: whether the stage is selected.
    """
    slips = set(checked.cells(STAGES[name], Mark.SLIP))
    found = slips if are_answers_revealed() else slips & get_tried_cells()
    rows = []
    for refs in panel(checked.written, STAGES[name]).refs:
        rows.append([describe_number(checked, name, ref, found) for ref in refs])
    return {"name": name, "title": name_stage(name), "isOpen": is_open, "rows": rows}


def describe_number(checked: CheckedWork, name: str, ref: Ref, found: set[Ref]) -> dict[str, object]:
    """Returns the data of a printed number for the browser: its text, whether it has a ring, and its text for screen
    readers.

    found: the cells that get a ring, because they were found to be wrong.
    """
    cell = calculated_cell(checked.trace, ref)
    step = STAGES[name]
    text = cell_text(checked.marked[step].theirs[cell.index].item(), checked.digits[step])
    *_, row, column = (place + 1 for place in ref.index)
    mark = say("lessons.printed.mark_slip") if cell in found else ""
    said = f"{name_stage(name)} [{row}, {column}]: {text} {mark}".rstrip()
    return {"text": text, "ringed": cell in found, "said": said}


def take_number(checked: CheckedWork, name: str, row: int, column: int) -> None:
    """Selects the stage of a clicked printed number, opens or closes the number's arithmetic, and marks it as wrong.

    name: the stage. row, column: the number's position in the stage's matrix.
    """
    refs = panel(checked.written, STAGES[name]).refs
    if row >= len(refs) or column >= len(refs[0]):
        return
    ref = refs[row][column]
    store_choice("stage", None if name == FIRST_STAGE else name)
    toggle_opened_cell("hero", "printed", ref)
    try_cell(calculated_cell(checked.trace, ref))


with draw_lesson(LESSON) as place:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        stage = choose_option("stage", tuple(STAGES), FIRST_STAGE)
        setup = choose_given_setup(stage)
        checked = check_printed_stages(setup, stage)
    step = STAGES[stage]
    close_on_change("hero", step)
    counts = count_marked_numbers(checked.marked[step])
    printed = say(f"lessons.printed.control.{stage}")
    place_of_fact = st.container()
    known = None
    if counts["count"]:
        known = ask_to_find_errors(checked.cells(step, Mark.SLIP))
    is_asked = known is None or offer_right_numbers(stage)
    fact = "fact" if is_asked else "fact_asked"
    if not counts["count"]:
        fact = "fact_none"
    with place_of_fact:
        show_fact(say(f"lessons.printed.{fact}", printed=printed, **counts))
    show_paper(checked, stage)
    show_met(checked, step, named=known is None)
    parts = make_printed_work(checked, stage, known, hidden=not is_asked)
    show_work("hero", checked, [parts], partial(handle_written_click, checked))
    show_lesson_run(setup, place)
    draw_drawers(LESSON, checked, setup)
    show_lesson_code(LESSON, checked.trace)
