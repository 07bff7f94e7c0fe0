"""One cell's arithmetic; every operand leads to where it stands."""

from collections.abc import Callable, Sequence

import streamlit as st

from attention_core import Trace
from attention_core.explanation.arithmetic import Piece, explain
from attention_core.explanation.formula import colour_family
from attention_core.record.expressions import Ref
from attention_core.record.number_text import format_exact, format_fixed
from pages.components import arithmetic
from pages.session.labels import current_palette, describe_cell
from pages.site.words import escape_markdown, say

StepCell = tuple[str, tuple[int, ...] | None]  # a step, and a cell of it


def show_arithmetic(
    trace: Trace, ref: Ref, trail: Sequence[StepCell], take: Callable[[object], None], key: str, sign: str = ""
) -> None:
    """One cell's arithmetic. trail: the cells through which it was reached; take: what is done with a cell that is
    clicked, as {"step", "index"}; sign: of the run, where two stand beside each other."""
    before = f"{sign} · " if sign else ""
    st.markdown(
        f"{before}**{escape_markdown(describe_cell(trace, ref))}** = {format_exact(float(trace[ref.step][ref.index]))}"
    )
    computed = show_pieces(trace, ref, trail, take, key)
    st.caption(say("arithmetic.rounded" if computed else "arithmetic.input"))


def show_pieces(trace: Trace, ref: Ref, trail: Sequence[StepCell], take: Callable[[object], None], key: str) -> bool:
    """The arithmetic alone; whether there is any: an input was given."""
    explanation = explain(trace, ref.step, ref.index)
    pieces = [] if explanation.cell is None else explanation.pieces
    data = {
        "trail": [trail_cell_data(trace, step, cell) for step, cell in trail if cell and trace.holds(step, cell)],
        "pieces": [piece_data(trace, piece) for piece in pieces],
        "colours": current_palette().families(),
        "label": say("arithmetic.trail"),
    }
    arithmetic(data=data, key=key, on_followed_change=lambda: take(st.session_state[key].followed))
    return bool(pieces)


def trail_cell_data(trace: Trace, step: str, cell: tuple[int, ...]) -> dict:
    """A cell that was passed on the way, to go back to."""
    return {"text": step, "title": describe_cell(trace, Ref(step, cell)), "step": step, "index": list(cell)}


def piece_data(trace: Trace, piece: Piece) -> dict:
    """A piece of arithmetic for the screen."""
    if piece.rest is not None:
        count, subtotal = piece.rest
        return {"text": say("arithmetic.rest", count=count, subtotal=format_fixed(subtotal))}
    if piece.ref is None:
        return {"text": piece.text}
    place = {"step": piece.ref.step, "index": list(piece.ref.index), "family": colour_family(piece.ref.step) or ""}
    number = format_exact(float(trace[piece.ref.step][piece.ref.index]))
    return {"text": piece.text, "title": f"{describe_cell(trace, piece.ref)} = {number}", **place}
