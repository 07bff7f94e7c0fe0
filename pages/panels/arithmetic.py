"""Shows the arithmetic of one cell of a run; each operand is a link that opens the operand's own cell."""

from collections.abc import Callable, Mapping, Sequence

import streamlit as st

from attention_core import Trace
from attention_core.explanation.arithmetic import Piece
from attention_core.explanation.formula import colour_family
from attention_core.explanation.shown_steps import explain_shown
from attention_core.record.expressions import Ref
from attention_core.record.number_text import format_exact, format_fixed
from pages.components import arithmetic
from pages.panels.hints import show_hint
from pages.session.labels import current_palette, describe_cell, spoken_step_name
from pages.site.words import escape_markdown, say

StepCell = tuple[str, tuple[int, ...] | None]  # (name of a step, index of one of its cells; None for no cell)


def show_arithmetic(
    trace: Trace, ref: Ref, trail: Sequence[StepCell], take: Callable[[Mapping], None], key: str, sign: str = ""
) -> None:
    """Shows one cell's number and its arithmetic; a click on an operand opens the operand's cell.

    trail: the cells that the visitor opened before this one. take: a callback that gets {"step", "index"} of a clicked
    cell. key: the component's key. sign: the label of the run if two runs are shown side by side.
    """
    place = escape_markdown(describe_cell(trace, ref))
    prefix = f"{sign} · " if sign else ""
    st.markdown(f"{prefix}**{place}** = {format_cell_number(trace, ref)}")
    has_pieces = show_pieces(trace, ref, trail, take, key)
    show_rounding(has_pieces, key)


def show_rounding(has_pieces: bool, key: str) -> None:
    """Shows below a cell's arithmetic how to see its numbers with all digits, or that the cell is an input.

    key: the key of the component with the arithmetic.
    """
    if has_pieces:
        show_hint("arithmetic.rounded", st.caption, key)
    else:
        st.caption(say("arithmetic.input"))


def show_pieces(trace: Trace, ref: Ref, trail: Sequence[StepCell], take: Callable[[Mapping], None], key: str) -> bool:
    """Shows the arithmetic of a cell without its number; returns False if the cell is an input, which has no
    arithmetic.

    trail: the cells that the visitor opened before this one. take: a callback that gets {"step", "index"} of a clicked
    cell. key: the component's key.
    """
    explanation = explain_shown(trace, ref.step, ref.index)
    pieces = [] if explanation.cell is None else explanation.pieces
    passed_cells = [(step, cell) for step, cell in trail if cell and trace.holds(step, cell)]
    data = {
        "trail": [make_trail_data(trace, step, cell) for step, cell in passed_cells],
        "pieces": [make_piece_data(trace, piece) for piece in pieces],
        "sources": list_sources(pieces),
        "from": say("arithmetic.from"),
        "colours": current_palette().families(),
        "label": say("arithmetic.trail"),
    }
    arithmetic(data=data, key=key, on_followed=take)
    return bool(pieces)


def make_trail_data(trace: Trace, step: str, cell: tuple[int, ...]) -> dict:
    """Returns the data of a cell that the visitor opened earlier, which the browser shows as a link back to it."""
    return {
        "text": spoken_step_name(step),
        "title": describe_cell(trace, Ref(step, cell)),
        "step": step,
        "index": list(cell),
    }


def make_piece_data(trace: Trace, piece: Piece) -> dict:
    """Returns one piece of a cell's arithmetic, an operand, a symbol or a subtotal, as data for the browser."""
    if piece.rest is not None:
        count, subtotal = piece.rest
        text = say("arithmetic.rest", count=count, subtotal=format_fixed(subtotal))
        return {"text": text}
    operand = piece.ref
    if operand is None:
        return {"text": piece.text}
    return {
        "text": piece.text,
        "title": f"{describe_cell(trace, operand)} = {format_cell_number(trace, operand)}",
        "step": operand.step,
        "index": list(operand.index),
        "family": colour_family(operand.step) or "",
    }


def list_sources(pieces: Sequence[Piece]) -> list[dict[str, str]]:
    """Returns the steps from which the operands of a cell come, each with its name and the colour of its operands.

    Returns [] if all operands come from one step, as in a softmax.
    """
    steps = dict.fromkeys(piece.ref.step for piece in pieces if piece.ref is not None)
    if len(steps) < 2:
        return []
    return [{"text": spoken_step_name(step), "family": colour_family(step) or ""} for step in steps]


def format_cell_number(trace: Trace, ref: Ref) -> str:
    """Returns a cell's number with all the digits that the page shows."""
    number = trace[ref.step][ref.index]
    return format_exact(float(number))
