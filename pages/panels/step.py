"""One step opened: the product that it is, the arithmetic of a cell, its formula and its code."""

from typing import TYPE_CHECKING

import streamlit as st

from pages.session.labels import place_names
from pages.session.view import ScreenState
from pages.site.words import say

if TYPE_CHECKING:
    import pandas as pd


from attention_core import Trace
from attention_core.drawing import charts
from attention_core.drawing.palette import Palette
from attention_core.explanation.formula import formula
from attention_core.explanation.layout import MAX_PANEL_SIDE, Panel, panel, product
from attention_core.explanation.scripts import call_line
from attention_core.explanation.traced_source import listing
from attention_core.record.expressions import Ref
from pages.components import scroller
from pages.panels import canvas_map
from pages.panels.arithmetic import show_arithmetic
from pages.panels.chart import show_chart
from pages.session import setup_state
from pages.session.cell_clicks import open_cell, open_sent_cell
from pages.session.labels import (
    HEAD_DIMS,
    axis_name,
    chosen_cell,
    current_palette,
    picture_texts_for,
    short_step_name,
)
from pages.setup.setup import without_view

MAX_COLUMNS_ACROSS = 18  # columns of cells with numbers that fit on a projector
STEP_WINDOW_SIDE = 10  # rows and columns of the part of a large step that stands in cells
MIN_OPERAND_COLUMNS = 6  # columns of an operand that are drawn at least
MAX_STEP_BESIDE_PX, STEP_AND_ARITHMETIC_PX = (
    560,
    790,
)  # pixels: a picture up to this wide has its arithmetic beside it; both together


def step_dependencies(scene: ScreenState) -> tuple[object, ...]:
    """The step, the cell and how one came there; the numbers, and which part of them is drawn."""
    trace, setup, look = scene.trace, scene.setup, scene.look
    if setup.step not in trace:
        return (setup.step, *trace.steps)
    operation = trace.step(setup.step).operation
    drawn = [setup.step, *(operation.reads if operation else ())]
    asks = any(
        "T" in trace.step(name).dims[:-2] or canvas_map.is_large(trace, name) for name in drawn
    )  # one query's part
    numbers = (without_view(setup), setup.pinned, setup.against and setup_state.setup_before())
    at = (look.batch, look.head, look.query if asks else None)
    session = [st.session_state.get(name) for name in ("opened", "code", "table")]
    return (setup.step, setup.cell, *setup_state.get_trail(), numbers, at, scene.times, *session)


def show_step_panel(scene: ScreenState) -> None:
    """The opened step: its formula, the product that it is, the chosen cell's arithmetic, its code."""
    trace, step = scene.trace, scene.setup.step
    is_open, chosen = step in trace, chosen_cell(trace, scene.setup)
    with st.container(horizontal=True, gap="small", key="pickers"):  # where the focus stays
        step_picker(trace, step if is_open else None)
        if is_open:
            step_cell_pickers(trace, step, chosen, scene.look.at)
    if not is_open:
        return
    st.latex(formula(trace, step, current_palette().families()))
    scroller(data={"opened": st.session_state.get("opened", 0)}, key="scroller")
    if canvas_map.is_large(trace, step) and step != "weights":  # which stand above, as the map of the head
        canvas_map.show_large_map(scene, step, scene.look.at, "large_map", say("step.alt", step=step))
    picture = make_step_picture(scene.drawn(step), step, position_with_cell(scene.look.at, trace, chosen), chosen)
    width = picture.spec["width"]
    beside = width <= MAX_STEP_BESIDE_PX
    with st.container(horizontal=beside, gap="small"):
        show_chart(picture, "large", say("step.alt", step=step))
        with st.container(
            width=STEP_AND_ARITHMETIC_PX - max(width, STEP_AND_ARITHMETIC_PX // 2) if beside else "stretch"
        ):
            if chosen is not None:
                show_arithmetic(
                    trace, chosen, setup_state.get_trail()[:-1], follow_operand, "arithmetic", "B" if scene.a else ""
                )
                if scene.a is not None and scene.a.holds(*vars(chosen).values()):
                    show_arithmetic(scene.a, chosen, (), follow_operand, "arithmetic_a", "A")
            else:
                st.caption(say("step.choose"))
    step_code_drawer(trace, step)


def follow_operand(place: object) -> None:
    """An operand of the arithmetic was clicked."""
    open_sent_cell(place, follow=True)


def position_with_cell(at: dict[str, int], trace: Trace, chosen: Ref | None) -> dict[str, int]:
    """What is looked at, and the chosen cell: the part of a large step that stands in cells holds them."""
    return at if chosen is None else at | dict(zip(trace.step(chosen.step).dims, chosen.index, strict=True))


def step_picker(trace: Trace, step: str | None) -> None:
    """Any step by name: what a click on its small map does, for keyboards and screen readers."""

    def opened() -> None:
        wanted = st.session_state["c_step"]
        if wanted is None or wanted in trace:
            open_cell(wanted, None)

    st.session_state["c_step"] = step
    names = {name: step_name(name) for name in trace.steps}
    words = {"placeholder": say("step.none"), "width": 240, "format_func": names.__getitem__}
    st.selectbox(say("control.step"), list(names), key="c_step", on_change=opened, **words)


def step_cell_pickers(trace: Trace, step: str, chosen: Ref | None, at: dict[str, int]) -> None:
    """Any cell of a step by name: what a click on a picture does."""
    dims, sizes = trace.step(step).dims, trace[step].shape
    keys = [f"c_axis_{step}_{axis}" for axis in range(len(dims))]

    def placed() -> None:
        open_sent_cell({"step": step, "index": [st.session_state.get(key, 0) for key in keys]})

    for axis, (key, dim, size) in enumerate(zip(keys, dims, sizes, strict=True)):
        if size == 1:
            continue
        if chosen is not None:
            st.session_state[key] = chosen.index[axis]
        elif st.session_state.get(key) is None:
            st.session_state[key] = at.get(dim)
        texts = place_names(trace, dim, size)
        st.selectbox(
            axis_name(dim),
            range(size),
            key=key,
            on_change=placed,
            width=130,
            placeholder="–",
            format_func=texts.__getitem__,
        )


def step_name(step: str) -> str:
    """A step's name in the code, with the page's word for it where that says more."""
    word = short_step_name(step).replace("\n", "")
    return step if word.lower() in step else say("step.name", step=step, word=word)


def make_step_picture(
    trace: Trace,
    step: str,
    at: dict[str, int],
    chosen: Ref | None,
    reach: float | None = None,
    palette: Palette | None = None,
) -> charts.Picture:
    """A step as the matrix product that it is, or beside the operand that it is made from cell by cell; reach: of the
    colours of one that is no product, where that is not its own. palette: where no session can be asked for it."""
    palette = palette or current_palette()
    largest = STEP_WINDOW_SIDE if canvas_map.is_large(trace, step) else MAX_PANEL_SIDE
    drawn = product(trace, step, at, largest, widest=count_feature_columns(trace, step))
    if drawn is not None:
        titles = {place: make_panel_title(trace, getattr(drawn, place)) for place in ("left", "above", "result")}
        return charts.product_picture(drawn, trace, picture_texts_for(trace), palette, titles, chosen)
    names = (*list_shown_operands(trace, step), step)
    panels = [panel(trace, name, at, largest, widest=MAX_COLUMNS_ACROSS // len(names)) for name in names]
    titles = [make_panel_title(trace, part) for part in panels]
    return charts.single_picture(panels, trace, picture_texts_for(trace), palette, titles, chosen, reach)


def count_feature_columns(trace: Trace, step: str) -> int:
    """Columns of features that fit: beside the keys where a product has these, else beside as many of the other."""
    operation, keys = trace.step(step).operation, trace.sizes()["S"]
    names = (step, *(operation.reads if operation else ()))
    beside_keys = any(trace.step(name).dims[-1:] == ("S",) for name in names)
    return (
        max(MIN_OPERAND_COLUMNS, MAX_COLUMNS_ACROSS - keys)
        if beside_keys
        else max(MIN_OPERAND_COLUMNS, min(MAX_COLUMNS_ACROSS // 2, MAX_COLUMNS_ACROSS - keys))
    )


def list_shown_operands(trace: Trace, step: str) -> list[str]:
    """The operand that a step is made from, where its rows stand for the same as the step's and there is room."""
    operation = trace.step(step).operation
    if operation is None or (trace.step(step).dims[-1] == "S" and trace.sizes()["S"] > MAX_COLUMNS_ACROSS):
        return []
    used = {ref.step for ref in trace.read_by(Ref(step, (0,) * trace[step].dim()))}
    rows = trace.step(step).dims[-2:-1]
    alike = [name for name in operation.reads[:1] if name in used and trace.step(name).dims[-2:-1] == rows]
    return [name for name in alike if trace[name].dim() <= trace[step].dim()]


def make_panel_title(trace: Trace, part: Panel) -> str:
    """A step's name, the head that is drawn, and its shape; how much of it is drawn where that is not all."""
    dims, shape = trace.step(part.step).dims, trace[part.step].shape
    leading = zip(dims[:-2], shape[:-2], part.refs[0][0].index, strict=False)
    heads = [say("place.head", number=at + 1) for dim, size, at in leading if dim in HEAD_DIMS and size > 1]
    turned = len(dims) > 1 and (part.columns, part.rows) == dims[-2:]  # drawn as its transpose
    name = step_name(part.step) + ("ᵀ" if turned else "") + (difference_title() if trace.difference else "")
    title = " · ".join([name, *heads, " × ".join(map(str, shape[-2:][::-1] if turned else shape[-2:]))])
    if not any(part.hidden):
        return title
    (top, left), (rows, columns) = part.first, part.values.shape
    return title + say("step.part", a=top + 1, b=top + rows, c=left + 1, d=left + columns)


def difference_title() -> str:
    """What is subtracted from what."""
    return say("compare.step" if setup_state.current_setup().pinned else "change.title")


def step_code_drawer(trace: Trace, step: str) -> None:
    """The code of the step, written when its drawer opens."""
    if trace.step(step).operation is None:
        return
    drawer = st.expander(say("code.title"), icon=":material/code:", key="code", on_change="rerun")
    if drawer.open:
        with drawer:
            show_step_code(trace, step)


def show_step_code(trace: Trace, step: str) -> None:
    """Both functions, run once more on the operands of this step, and its call; nothing for an input."""
    operation = trace.step(step).operation
    if operation is None:
        return
    operands = {name: trace[name] for name in operation.reads}
    for column, language in zip(st.columns(2), ("torch", "numpy"), strict=True):
        text = listing(operation, operands, language) + "\n\n\n" + call_line(operation, language)
        column.code(text, language="python", wrap_lines=True)


def show_table(scene: ScreenState) -> None:
    """The matrix that is looked at, all its digits, rows and columns called as on the map."""
    step = scene.setup.step
    if step is None or step not in scene.trace:
        return
    drawer = st.expander(say("table.title"), icon=":material/table:", key="table", on_change="rerun")
    if drawer.open:
        with drawer:
            st.dataframe(make_step_table(scene, step))


def make_step_table(scene: ScreenState, step: str) -> "pd.DataFrame":
    """The last two axes of a step as the map draws them: numbers, or differences where the map shows those."""
    import pandas as pd  # a third of a second, which no page needs to begin

    trace = scene.drawn(step)
    found = trace.step(step)
    values = found.window(**found.leading(scene.look.at))
    rows, columns = ("", *found.dims)[-2:] if values.ndim == 1 else found.dims[-2:]
    values = values.reshape(-1, values.shape[-1])
    named = [
        place_names(trace, axis, size) if axis else [step]
        for axis, size in zip((rows, columns), values.shape, strict=True)
    ]
    return pd.DataFrame(values, index=named[0], columns=named[1])
