"""Numbers that a learner writes into cells, or pastes as text; both are one text, which stands in the link."""

from functools import partial

import streamlit as st

from attention_core import Trace
from attention_core.matrices import cells_of
from attention_core.worked import BLANK, read_answers
from pages.shared.choices import kept, show_refused, switch, take, taken, text_box, typed
from pages.shared.editors import sent_cells
from pages.shared.places import place_names

VERSION, OWN = "answers_version", "answers_text"  # of the cells, and the text that they made
CELL = 64  # pixels
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
    """The numbers in cells of text: a column of numbers would drop what it does not understand.

    What was typed stays in the cells, over the text that it made; where another text came, they begin anew."""
    text = answer_of(trace, step, start)
    session = st.session_state
    if session.get(OWN) != (step, text):
        session[VERSION], session[OWN] = session.get(VERSION, 0) + 1, (step, text)
    key = f"check.cells.{step}.{head}.{session[VERSION]}"
    found, dims = trace.step(step), trace.step(step).dims
    down, across = (place_names(trace, dims[axis], trace[step].shape[axis]) for axis in (-2, -1))
    first = found.leading({"H": head}).get("H", 0) * len(down)  # the heads stand below each other
    rows = cells_of(text, step)
    import pandas as pd  # a third of a second, which no page needs to begin

    def written() -> None:
        sent = sent_cells(session[key], len(down), across)
        for row, column, cell in sent or ():
            rows[first + row][column] = as_cell(cell)
        made = "; ".join(" ".join(row) for row in rows)
        take(step, made, start, taken(reader(trace, step)))
        session[OWN] = (step, made)
        if sent is None or step in kept().refused:
            session[VERSION] += 1  # the cells show what was there before

    columns = {name: st.column_config.TextColumn(width=CELL) for name in across}
    columns["_index"] = st.column_config.TextColumn(disabled=True)
    shown = [[cell.replace(BLANK, "") for cell in row] for row in rows[first : first + len(down)]]
    frame = pd.DataFrame(shown, index=down, columns=across)
    st.data_editor(frame, key=key, on_change=written, height="content", width="content", column_config=columns)


def as_cell(typed_text: object) -> str:
    """What was typed into a cell: nothing is a question mark, a decimal comma is a point."""
    text = "" if typed_text is None else "".join(str(typed_text).split())
    return text[:MOST_TYPED].replace(",", ".") or BLANK
