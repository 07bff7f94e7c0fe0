"""One step opened: the product that it is, the arithmetic of a cell, its formula and its code."""

import streamlit as st

from attention_core import Trace, charts
from attention_core.cells import Ref
from attention_core.explanation import Piece, explain
from attention_core.export import call, source
from attention_core.formula import family, formula
from attention_core.layout import Panel, panel, product
from attention_core.numerals import exact, fixed
from pages.shared import state
from pages.shared.components import arithmetic
from pages.shared.places import chart, describe, fits, kv_of, open_cell, palette, words_for
from pages.shared.runs import trace_of
from pages.shared.setup import Setup
from pages.shared.words import literal, say

WIDEST = 24  # columns of an axis that is no token's: two such matrices and their product fit on a projector
BESIDE = 460  # pixels: a picture up to this wide has its formula and arithmetic beside it


def show_step(trace: Trace, setup: Setup, head: int, query: int) -> None:
    """The opened step: its formula, the product that it is, the chosen cell's arithmetic, its code."""
    step = setup.step
    if step is None or step not in trace:
        return
    at = {"H": head, "H_kv": kv_of(trace, head), "T": query}
    chosen = Ref(step, setup.cell) if setup.cell and fits(trace, step, setup.cell) else None
    picture = step_picture(trace, step, at, chosen)
    beside = picture.spec["width"] <= BESIDE
    with st.container(horizontal=beside, gap="small"):
        with st.container(width="content"):
            chart(picture, "large", say("step.alt", step=step))
        with st.container(width=330 if beside else "stretch"):
            st.latex(formula(trace, step, palette().families()))
            if chosen is not None:
                show_arithmetic(trace, chosen)
            else:
                st.caption(say("step.choose"))
    show_code(trace, step)


def step_picture(trace: Trace, step: str, at: dict[str, int], chosen: Ref | None) -> charts.Picture:
    """A step as the matrix product that it is, or beside the operand that it is made from cell by cell."""
    drawn = product(trace, step, at, widest=WIDEST)
    if drawn is not None:
        titles = {place: title_of(trace, getattr(drawn, place)) for place in ("left", "above", "result")}
        return charts.product_picture(drawn, trace, words_for(trace), palette(), titles, chosen)
    panels = [panel(trace, name, at, widest=WIDEST) for name in (*shown_operands(trace, step), step)]
    titles = [title_of(trace, part) for part in panels]
    return charts.single_picture(panels, trace, words_for(trace), palette(), titles, chosen)


def shown_operands(trace: Trace, step: str) -> list[str]:
    """The operand that a step is made from, where its rows stand for the same as the step's."""
    operation = trace.step(step).operation
    if operation is None:
        return []
    first = operation.cell((0,) * trace[step].dim(), trace.shapes())
    used = {factor.step for term in first.terms for factor in term if isinstance(factor, Ref)}
    rows = trace.step(step).dims[-2:-1]
    alike = [name for name in operation.reads[:1] if name in used and trace.step(name).dims[-2:-1] == rows]
    return [name for name in alike if trace[name].dim() <= trace[step].dim()]


def title_of(trace: Trace, part: Panel) -> str:
    """A step's name with its shape, and how much of it is drawn where that is not all."""
    title = f"{part.step}  {' × '.join(map(str, trace[part.step].shape))}"
    rows, columns = part.values.shape
    return title + (say("step.part", rows=rows, columns=columns) if any(part.hidden) else "")


def show_arithmetic(trace: Trace, ref: Ref) -> None:
    """One cell's arithmetic; every operand leads to where it stands."""
    explanation = explain(trace, ref.step, ref.index)
    st.markdown(f"**{literal(describe(trace, ref))}** = {exact(explanation.value)}")
    if explanation.cell is None:
        st.caption(say("arithmetic.input"))
        return
    data = {"pieces": [piece_data(trace, piece) for piece in explanation.pieces], "colours": palette().families()}
    arithmetic(data=data, key="arithmetic", on_followed_change=followed)


def piece_data(trace: Trace, piece: Piece) -> dict:
    """A piece of arithmetic for the screen."""
    if piece.rest is not None:
        count, subtotal = piece.rest
        return {"text": say("arithmetic.rest", count=count, subtotal=fixed(subtotal))}
    if piece.ref is None:
        return {"text": piece.text}
    place = {"step": piece.ref.step, "index": list(piece.ref.index), "family": family(piece.ref.step) or ""}
    return {"text": piece.text, "title": describe(trace, piece.ref), **place}


def followed() -> None:
    """An operand of the arithmetic was clicked."""
    place = st.session_state["arithmetic"].followed
    trace = trace_of(state.current())
    if place and place.get("step") in trace and fits(trace, place["step"], tuple(place["index"])):
        open_cell(place["step"], tuple(place["index"]), follow=True)


def show_code(trace: Trace, step: str) -> None:
    """The function that ran and its NumPy twin, with the call of this step."""
    operation = trace.step(step).operation
    if operation is None:
        return
    with st.expander(say("code.title")):
        left, right = st.columns(2)
        for column, language in ((left, "torch"), (right, "numpy")):
            with column:
                st.code(source(operation, language) + "\n\n" + call(operation, language), language="python")
