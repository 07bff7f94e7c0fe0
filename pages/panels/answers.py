"""Numbers that a learner writes into cells, or pastes as text; both are one text, which stands in the link."""

import unicodedata
from functools import partial

import streamlit as st

from attention_core import Trace
from attention_core.exercises.answer_text import BLANK_MARK, read_answers
from attention_core.inputs.matrix_cells import split_cells
from attention_core.record.expressions import Ref
from pages.components import number_grid
from pages.panels.link_controls import (
    current_lesson_choices,
    get_typed_text,
    make_text_reader,
    show_choice_refusal,
    switch,
    take_choice,
    text_box,
)
from pages.session.cell_clicks import read_typed_cells
from pages.session.labels import inline_step_name, place_names

ANSWERS_VERSION_KEY = "answers_version"  # what the cells are told, so that they forget what was typed
ENTRY, TURN = "entry", "entry_turn"  # the cell that was chosen to be written, and how many were
MAX_ANSWER_CELL_CHARS = 12  # characters of a cell


def get_answer_text(trace: Trace, step: str, start: str) -> str:
    """What is written of a step, without showing it. start: what stands there before anybody writes."""
    return get_typed_text(step, start, make_answer_check(trace, step))


def make_answer_check(trace: Trace, step: str):
    """A check of texts: numbers of the step's shape, question marks where there is none."""
    return partial(read_answers, right=trace[step], name=step)


def answer_box(trace: Trace, step: str, start: str, head: int) -> None:
    """The cells of one head of a step to write into, or the text of the whole step."""
    if switch("as_text"):
        text_box(step, start, make_answer_check(trace, step), tall=True, height="content")
        return
    answer_cells(trace, step, start, head)
    show_choice_refusal(step)


def answer_cells(trace: Trace, step: str, start: str, head: int) -> None:
    """The numbers of a head in cells; what cannot be taken leaves them as they were."""
    found, dims = trace.step(step), trace.step(step).dims
    down, across = (place_names(trace, dims[axis], trace[step].shape[axis]) for axis in (-2, -1))
    first = found.leading({"H": head}).get("H", 0) * len(down)  # the heads stand below each other
    rows, key = split_cells(get_answer_text(trace, step, start), step), f"cells_{step}"

    def written() -> None:
        for row, column, text in read_typed_cells(st.session_state[key].typed, len(down), len(across)):
            rows[first + row][column] = clean_cell_text(text)
        take_choice(
            step, "; ".join(" ".join(row) for row in rows), start, make_text_reader(make_answer_check(trace, step))
        )
        if step in current_lesson_choices().refused:
            st.session_state[ANSWERS_VERSION_KEY] = (
                st.session_state.get(ANSWERS_VERSION_KEY, 0) + 1
            )  # they show what was there before

    shown = [
        [cell.replace(BLANK_MARK, "").replace("-", "−") for cell in row] for row in rows[first : first + len(down)]
    ]
    data = {
        "name": inline_step_name(step),
        "rows": down,
        "columns": across,
        "numbers": shown,
        "changed": [[False] * len(across)] * len(down),
        "entry": entry_of(step),
        "version": [step, head, st.session_state.get(ANSWERS_VERSION_KEY, 0)],
    }
    number_grid(data=data, key=key, on_typed_change=written)


def go_to(cell: Ref) -> None:
    """The box of a cell is where the next number will be typed."""
    st.session_state[ENTRY] = cell
    st.session_state[TURN] = st.session_state.get(TURN, 0) + 1


def entry_of(step: str) -> list[int] | None:
    """The row and the column of the box to go to, told once, and which time it is that one is gone to."""
    cell = st.session_state.pop(ENTRY, None)
    if cell is None or cell.step != step:
        return None
    return [*cell.index[-2:], st.session_state[TURN]]


def clean_cell_text(typed_text: str) -> str:
    """What was typed into a cell: nothing is a question mark, a decimal comma is a point."""
    plain = unicodedata.normalize("NFKC", typed_text)  # digits as wide as Chinese letters
    return "".join(plain.split())[:MAX_ANSWER_CELL_CHARS].replace(",", ".") or BLANK_MARK
