"""Draws the opened step of a run: select boxes for its cells, its formula, its code, and its numbers as a table."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import streamlit as st

from attention_core import Trace
from attention_core.explanation.formula import formula
from attention_core.explanation.scripts import call_line
from attention_core.explanation.traced_source import listing
from attention_core.record.expressions import Ref
from pages.panels import canvas_map
from pages.panels.arithmetic import show_arithmetic
from pages.panels.chart import show_chart
from pages.panels.setup_controls import field_control
from pages.panels.step_picture import make_step_picture, position_with_cell, step_name
from pages.session import setup_state
from pages.session.cell_clicks import open_cell, open_sent_cell
from pages.session.collected import collected
from pages.session.entered_values import when_entered
from pages.session.labels import axis_name, chosen_cell, current_palette, formula_names, place_names
from pages.session.moved_widgets import is_outdated, set_moved_widget
from pages.session.opened_drawers import show_drawer
from pages.session.view import ScreenState, current_screen
from pages.site.code_words import say_code
from pages.site.words import say

if TYPE_CHECKING:
    import pandas as pd

STEP_DRAWER_KEY = "step_drawer"


def step_dependencies(screen: ScreenState) -> tuple[object, ...]:
    """Returns the values on which the drawing of the opened step depends; () if nothing of the step is drawn here.

    These values are the step, the cell and the cells opened before it, the numbers, and which part of them is drawn.
    Nothing is drawn if the accordion is closed and the step has no picture here.
    """
    trace, setup, selection = screen.trace, screen.setup, screen.selection
    is_drawer_open = st.session_state.get(STEP_DRAWER_KEY)
    if not is_drawer_open and not has_picture_here(screen):
        return ()
    if setup.view.step not in trace:
        return (is_drawer_open, setup.view.step, *trace.steps)
    query = selection.query if shows_part_of_query(trace, setup.view.step) else None
    return (
        setup.view.step,
        setup.view.cell,
        *setup_state.get_trail(),
        setup.run,
        setup.comparison.pinned,
        setup.comparison.against and setup_state.setup_before(),
        selection.batch,
        selection.head,
        query,
        screen.times,
        *(st.session_state.get(key) for key in (STEP_DRAWER_KEY, "opened", "code", "table")),
    )


def shows_part_of_query(trace: Trace, step: str) -> bool:
    """Returns whether the selected query determines which part of a step, or of its operands, is drawn."""
    operation = trace.step(step).operation
    operands = operation.reads if operation else ()
    for name in (step, *operands):
        picks_query = "T" in trace.step(name).dims[:-2]
        if picks_query or canvas_map.is_large(trace, name):
            return True
    return False


def has_picture_here(screen: ScreenState) -> bool:
    """Returns whether the opened step is drawn below the flow picture.

    This is so if the step is large, if its difference between two runs is shown, or if runs are compared.
    """
    if screen.setup.view.step not in screen.trace:
        return False
    return screen.shows_difference or screen.a is not None or canvas_map.is_large(screen.trace, screen.setup.view.step)


def show_step_panel(screen: ScreenState) -> None:
    """Draws the opened step's pictures, if the flow picture does not show them, and an accordion in which any step can
    be opened.

    The accordion has the step's formula, code and table.
    """
    if has_picture_here(screen):
        show_step_pictures(screen)
    show_drawer(say("step.title"), ":material/function:", STEP_DRAWER_KEY, lambda: show_named_step(screen))


def show_step_pictures(screen: ScreenState) -> None:
    """Draws the opened step as a picture and, if it is large, also as a map on a canvas.

    If runs A and B are compared, it also shows the arithmetic of the opened cell in both.
    """
    trace, step = screen.trace, screen.setup.view.step
    chosen = chosen_cell(trace, screen.setup)
    at = screen.selection.at
    alt = say("step.alt", step=step)
    if canvas_map.is_large(trace, step):
        canvas_map.show_large_map(screen, step, at, "large_map", alt)
    picture = make_step_picture(screen.drawn(step), step, position_with_cell(at, trace, chosen), chosen)
    show_chart(picture, "large", alt)
    if chosen is not None and screen.a is not None:
        show_both_sums(screen, chosen)


def show_named_step(screen: ScreenState) -> None:
    """Draws the select boxes of a step and its cell, then the formula, code and numbers of the opened step."""
    trace, step = screen.trace, screen.setup.view.step
    is_open = step in trace
    # the key of the container keeps the keyboard focus inside
    with st.container(horizontal=True, gap="small", key="pickers"):
        step_picker(trace, step if is_open else None)
        if is_open:
            step_cell_pickers(trace, step, chosen_cell(trace, screen.setup), screen.selection.at)
    if not is_open:
        return
    st.latex(formula(trace, step, current_palette().families(), formula_names(trace)))
    step_code_drawer(trace, step)
    show_drawer(say("table.title"), ":material/table:", "table", lambda: st.dataframe(make_step_table(screen, step)))


def show_both_sums(screen: ScreenState, chosen: Ref) -> None:
    """Draws the arithmetic of the opened cell in run B, and in run A if A has this cell."""
    trail = setup_state.get_trail()[:-1]
    show_arithmetic(screen.trace, chosen, trail, follow_operand, "arithmetic", "B")
    if screen.a.holds(chosen.step, chosen.index):
        show_arithmetic(screen.a, chosen, (), follow_operand, "arithmetic_a", "A")


def follow_operand(place: Mapping) -> None:
    """Opens the cell of an operand that the visitor clicked in the arithmetic."""
    open_sent_cell(place, follow=True)


# ---- pickers ---------------------------------------------------------------------------------------------------------
def step_picker(trace: Trace, step: str | None) -> None:
    """Draws a select box of all steps.

    For the keyboard and screen readers, this select box replaces a click on a step's map.
    """
    names = {name: step_name(name) for name in trace.steps}

    def open_chosen_step(wanted: str | None) -> None:
        if wanted is None or wanted in names:
            open_cell(wanted, None)

    control = field_control("step", step, open_chosen_step, option_text=names.__getitem__).moved()
    control.draw(st.selectbox, list(names), index=None, placeholder=say("step.none"), width=240)


def step_cell_pickers(trace: Trace, step: str, chosen: Ref | None, at: dict[str, int]) -> None:
    """Draws a select box for each axis of a step.

    For the keyboard and screen readers, these replace a click on a cell in a picture.
    """
    dims = trace.step(step).dims
    sizes = trace.step(step).shape
    # the query (T) is left out, because another query redraws nothing here
    looked = {dim: place for dim, place in at.items() if dim != "T"}
    shown = [looked.get(dim) for dim in dims] if chosen is None else chosen.index
    keys = [set_moved_widget(f"c_axis_{step}_{axis}", place) for axis, place in enumerate(shown)]

    def open_chosen_cell(_: int | None) -> None:
        is_gone = setup_state.current_setup().view.step != step
        if is_gone or any(is_outdated(key) for key in keys):
            return
        chosen_places = [st.session_state.get(key) for key in keys]
        places = current_screen().selection.at  # an axis without a control has the selected index, or 0
        index = [places.get(dim, 0) if place is None else place for dim, place in zip(dims, chosen_places, strict=True)]
        open_sent_cell({"step": step, "index": tuple(index)})

    for key, dim, size in zip(keys, dims, sizes, strict=True):
        if size == 1:
            continue
        names = place_names(trace, dim, size)
        st.selectbox(
            axis_name(dim),
            range(size),
            index=None,
            key=key,
            on_change=when_entered(key, open_chosen_cell),
            width=130,
            placeholder="–",
            format_func=names.__getitem__,
        )


# ---- the code and the table ------------------------------------------------------------------------------------------
def step_code_drawer(trace: Trace, step: str) -> None:
    """Draws the accordion with the step's code, which is generated when it is opened."""
    if trace.step(step).operation is None:
        return
    show_drawer(say("code.title"), ":material/code:", "code", lambda: show_step_code(trace, step))


def show_step_code(trace: Trace, step: str) -> None:
    """Shows the step's function in torch and in NumPy, each with its call; shows nothing for an input."""
    if trace.step(step).operation is None:
        return
    for column, language in zip(st.columns(2), ("torch", "numpy"), strict=True):
        text = list_step_code(trace, step, language)
        collected().code.append(text)
        column.code(text, language="python", wrap_lines=True)
        if "np.einsum(" in text:
            column.caption(say("code.einsum"))


def list_step_code(trace: Trace, step: str, language: str) -> str:
    """Returns a computed step's function and the call of it, as code. language: "torch" or "numpy"."""
    operation = trace.step(step).operation
    operands = {name: trace[name] for name in operation.reads}
    code = listing(operation, operands, language)
    call = call_line(operation, language)
    return say_code(f"{code}\n\n\n{call}")


def make_step_table(screen: ScreenState, step: str) -> "pd.DataFrame":
    """Returns a table of the last two axes of a step, with all digits, and with the row and column names of its
    picture.

    The table has the step's numbers, or differences if the picture shows differences.
    """
    import pandas as pd  # pandas is imported here because it takes a third of a second

    trace = screen.drawn(step)
    found = trace.step(step)
    values = found.window(**found.leading(screen.selection.at))
    values = values.reshape(-1, values.shape[-1])  # (rows, columns); a vector becomes one row
    row_count, column_count = values.shape
    row_dim, column_dim = ("", *found.dims)[-2:]
    row_names = place_names(trace, row_dim, row_count) if row_dim else [step]
    column_names = place_names(trace, column_dim, column_count)
    return pd.DataFrame(values, index=row_names, columns=column_names)
