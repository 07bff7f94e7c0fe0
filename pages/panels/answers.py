"""Numbers that a learner writes into cells, or pastes as text; both are one text, which stands in the link."""

import unicodedata
from functools import partial

import streamlit as st

from attention_core import Trace
from attention_core.exercises.worked_example import BLANK, read_answers
from attention_core.inputs.matrix_text import cells_of
from attention_core.record.expressions import Ref
from pages.components import numbers
from pages.panels.link_controls import kept, show_refused, switch, take, taken, text_box, typed
from pages.session.cell_clicks import typed_cells
from pages.session.labels import place_names, step_word

VERSION = "answers_version"  # what the cells are told, so that they forget what was typed
ENTRY, TURN = "entry", "entry_turn"  # the cell that was chosen to be written, and how many were
MOST_TYPED = 12  # characters of a cell


def answer_of(trace: Trace, step: str, start: str) -> str:
    """What is written of a step, without showing it. start: what stands there before anybody writes."""
    return typed(step, start, reader(trace, step))


def reader(trace: Trace, step: str):
    """A check of texts: numbers of the step's shape, question marks where there is none."""
    return partial(read_answers, right=trace[step], name=step)


def answer_box(trace: Trace, step: str, start: str, head: int) -> None:
    """The cells of one head of a step to write into, or the text of the whole step."""
    if switch("as_text"):
        text_box(step, start, reader(trace, step), tall=True, height="content")
        return
    cell_grid(trace, step, start, head)
    show_refused(step)


def cell_grid(trace: Trace, step: str, start: str, head: int) -> None:
    """The numbers of a head in cells; what cannot be taken leaves them as they were."""
    found, dims = trace.step(step), trace.step(step).dims
    down, across = (place_names(trace, dims[axis], trace[step].shape[axis]) for axis in (-2, -1))
    first = found.leading({"H": head}).get("H", 0) * len(down)  # the heads stand below each other
    rows, key = cells_of(answer_of(trace, step, start), step), f"cells_{step}"

    def written() -> None:
        for row, column, text in typed_cells(st.session_state[key].typed, len(down), len(across)):
            rows[first + row][column] = as_cell(text)
        take(step, "; ".join(" ".join(row) for row in rows), start, taken(reader(trace, step)))
        if step in kept().refused:
            st.session_state[VERSION] = st.session_state.get(VERSION, 0) + 1  # they show what was there before

    shown = [[cell.replace(BLANK, "").replace("-", "−") for cell in row] for row in rows[first : first + len(down)]]
    data = {
        "name": step_word(step),
        "rows": down,
        "columns": across,
        "numbers": shown,
        "changed": [[False] * len(across)] * len(down),
        "entry": entry_of(step),
        "version": [step, head, st.session_state.get(VERSION, 0)],
    }
    numbers(data=data, key=key, on_typed_change=written)


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


def as_cell(typed_text: str) -> str:
    """What was typed into a cell: nothing is a question mark, a decimal comma is a point."""
    plain = unicodedata.normalize("NFKC", typed_text)  # digits as wide as Chinese letters
    return "".join(plain.split())[:MOST_TYPED].replace(",", ".") or BLANK
