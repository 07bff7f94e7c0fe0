"""One step opened: any cell of it by name, its formula, its code, its numbers as a table."""

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
from pages.panels.step_picture import make_step_picture, position_with_cell, step_name
from pages.session import setup_state
from pages.session.cell_clicks import open_cell, open_sent_cell
from pages.session.collected import collected
from pages.session.labels import axis_name, chosen_cell, current_palette, formula_names, place_names
from pages.session.moved_widgets import is_outdated, set_moved_widget
from pages.session.opened_drawers import show_drawer
from pages.session.view import ScreenState, current_screen
from pages.setup.setup import without_view
from pages.site.code_words import say_code
from pages.site.words import say

if TYPE_CHECKING:
    import pandas as pd

STEP_DRAWER_KEY = "step_drawer"


def step_dependencies(screen: ScreenState) -> tuple[object, ...]:
    """The step, the cell and how one came there; the numbers, and which part of them is drawn; nothing of that while
    the drawer is closed and the step has no picture here."""
    trace, setup, selection = screen.trace, screen.setup, screen.selection
    is_drawer_open = st.session_state.get(STEP_DRAWER_KEY)
    if not is_drawer_open and not has_picture_here(screen):
        return ()
    if setup.step not in trace:
        return (is_drawer_open, setup.step, *trace.steps)
    query = selection.query if shows_part_of_query(trace, setup.step) else None
    return (
        setup.step,
        setup.cell,
        *setup_state.get_trail(),
        without_view(setup),
        setup.pinned,
        setup.against and setup_state.setup_before(),
        selection.batch,
        selection.head,
        query,
        screen.times,
        *(st.session_state.get(key) for key in (STEP_DRAWER_KEY, "opened", "code", "table")),
    )


def shows_part_of_query(trace: Trace, step: str) -> bool:
    """Whether the chosen query decides which part of a step, or of what the step reads, is drawn."""
    operation = trace.step(step).operation
    operands = operation.reads if operation else ()
    for name in (step, *operands):
        picks_query = "T" in trace.step(name).dims[:-2]
        if picks_query or canvas_map.is_large(trace, name):
            return True
    return False


def has_picture_here(screen: ScreenState) -> bool:
    """Whether an opened step is drawn under the flow: one too large for it, a difference, or one of two runs."""
    if screen.setup.step not in screen.trace:
        return False
    return screen.shows_difference or screen.a is not None or canvas_map.is_large(screen.trace, screen.setup.step)


def show_step_panel(screen: ScreenState) -> None:
    """What the flow does not show of the opened step; in a drawer any step by name, its formula, code and table."""
    if has_picture_here(screen):
        show_step_pictures(screen)
    show_drawer(say("step.title"), ":material/function:", STEP_DRAWER_KEY, lambda: show_named_step(screen))


def show_step_pictures(screen: ScreenState) -> None:
    """The map of a large step; the picture of a difference, or of two runs with both sums of the chosen cell."""
    trace, step = screen.trace, screen.setup.step
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
    """Any step and any of its cells by name; the formula, the code and the numbers of the opened one."""
    trace, step = screen.trace, screen.setup.step
    is_open = step in trace
    with st.container(horizontal=True, gap="small", key="pickers"):  # where the focus stays
        step_picker(trace, step if is_open else None)
        if is_open:
            step_cell_pickers(trace, step, chosen_cell(trace, screen.setup), screen.selection.at)
    if not is_open:
        return
    st.latex(formula(trace, step, current_palette().families(), formula_names(trace)))
    step_code_drawer(trace, step)
    table_drawer(screen, step)


def show_both_sums(screen: ScreenState, chosen: Ref) -> None:
    """The arithmetic of the chosen cell in B and, where A has such a cell, in A."""
    trail = setup_state.get_trail()[:-1]
    show_arithmetic(screen.trace, chosen, trail, follow_operand, "arithmetic", "B")
    if screen.a.holds(chosen.step, chosen.index):
        show_arithmetic(screen.a, chosen, (), follow_operand, "arithmetic_a", "A")


def follow_operand(place: Mapping) -> None:
    """An operand of the arithmetic was clicked."""
    open_sent_cell(place, follow=True)


# ---- pickers ---------------------------------------------------------------------------------------------------------
def step_picker(trace: Trace, step: str | None) -> None:
    """Any step by name: what a click on its small map does, for keyboards and screen readers."""
    names = {name: step_name(name) for name in trace.steps}
    key = set_moved_widget("c_step", step)

    def open_chosen_step() -> None:
        wanted = st.session_state[key]
        if not is_outdated(key) and (wanted is None or wanted in names):
            open_cell(wanted, None)

    st.selectbox(
        say("control.step"),
        list(names),
        index=None,
        key=key,
        on_change=open_chosen_step,
        placeholder=say("step.none"),
        width=240,
        format_func=names.__getitem__,
    )


def step_cell_pickers(trace: Trace, step: str, chosen: Ref | None, at: dict[str, int]) -> None:
    """Any cell of a step by name: what a click on a picture does."""
    dims = trace.step(step).dims
    sizes = trace.step(step).shape
    looked = {dim: place for dim, place in at.items() if dim != "T"}  # another query draws nothing here anew
    shown = [looked.get(dim) for dim in dims] if chosen is None else chosen.index
    keys = [set_moved_widget(f"c_axis_{step}_{axis}", place) for axis, place in enumerate(shown)]

    def open_chosen_cell() -> None:
        is_gone = setup_state.current_setup().step != step
        if is_gone or any(is_outdated(key) for key in keys):
            return
        chosen_places = [st.session_state.get(key) for key in keys]
        places = current_screen().selection.at  # of what nobody chose, what is looked at, or the first
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
            on_change=open_chosen_cell,
            width=130,
            placeholder="–",
            format_func=names.__getitem__,
        )


# ---- the code and the table ------------------------------------------------------------------------------------------
def step_code_drawer(trace: Trace, step: str) -> None:
    """The code of the step, written when its drawer opens."""
    if trace.step(step).operation is None:
        return
    show_drawer(say("code.title"), ":material/code:", "code", lambda: show_step_code(trace, step))


def show_step_code(trace: Trace, step: str) -> None:
    """Both functions, run once more on the operands of this step, and its call; nothing for an input."""
    if trace.step(step).operation is None:
        return
    for column, language in zip(st.columns(2), ("torch", "numpy"), strict=True):
        text = list_step_code(trace, step, language)
        collected().code.append(text)
        column.code(text, language="python", wrap_lines=True)
        if "np.einsum(" in text:
            column.caption(say("code.einsum"))


def list_step_code(trace: Trace, step: str, language: str) -> str:
    """The function of a step that is computed, and its call. language: "torch" or "numpy"."""
    operation = trace.step(step).operation
    operands = {name: trace[name] for name in operation.reads}
    code = listing(operation, operands, language)
    call = call_line(operation, language)
    return say_code(f"{code}\n\n\n{call}")


def table_drawer(screen: ScreenState, step: str) -> None:
    """The matrix that is looked at, all its digits, rows and columns called as on the map."""
    show_drawer(say("table.title"), ":material/table:", "table", lambda: st.dataframe(make_step_table(screen, step)))


def make_step_table(screen: ScreenState, step: str) -> "pd.DataFrame":
    """The last two axes of a step as the map draws them: numbers, or differences where the map shows those."""
    import pandas as pd  # a third of a second, which no page needs to begin

    trace = screen.drawn(step)
    found = trace.step(step)
    values = found.window(**found.leading(screen.selection.at))
    values = values.reshape(-1, values.shape[-1])  # (rows, columns); a vector is one row
    row_count, column_count = values.shape
    row_dim, column_dim = ("", *found.dims)[-2:]
    row_names = place_names(trace, row_dim, row_count) if row_dim else [step]
    column_names = place_names(trace, column_dim, column_count)
    return pd.DataFrame(values, index=row_names, columns=column_names)
