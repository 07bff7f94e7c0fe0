"""The opened number of the model: its arithmetic, whose operands lead on across all parts to the embedding."""

import re
from collections.abc import Callable, Mapping

import streamlit as st

from attention_core import Trace
from attention_core.explanation.shown_steps import explain_shown
from attention_core.record.expressions import Ref
from attention_core.transformer.stack import Stack
from pages import components
from pages.panels.arithmetic import format_cell_number, make_piece_data
from pages.panels.model_look import LOGITS, SUM, BlockCell, BlockView, is_held, keep_look
from pages.session.labels import current_palette, describe_cell, inline_step_name
from pages.site.words import escape_markdown, say


def show_open_number(view: BlockView, find: Callable[[], BlockView]) -> None:
    """Shows the arithmetic of the opened number; returns early if none is open.

    find: returns the view again after a click: a widget keeps its handler, and a view is large.
    """
    if not view.look.trail:
        return
    cell = view.look.trail[-1]
    trace = view.stack[cell.part]
    pieces = explain_shown(trace, cell.ref.step, cell.ref.index)
    title = escape_markdown(f"{name_cell_part(cell.part)} · {describe_cell(trace, cell.ref)}")
    st.markdown(f"**{title}** = {format_cell_number(trace, cell.ref)}")
    data = {
        "trail": [make_step_back(view.stack, each) for each in view.look.trail[:-1]],
        "pieces": [] if pieces.cell is None else [make_piece(trace, cell.part, each) for each in pieces.pieces],
        "colours": current_palette().families(),
        "label": say("arithmetic.trail"),
    }
    components.arithmetic(data=data, key="block_sum", on_followed=lambda cell: follow_sent(find(), cell))
    st.caption(say("arithmetic.rounded" if data["pieces"] else "arithmetic.input"))


def name_step(cell: BlockCell) -> str:
    """The display name of a cell's step; for a step of a sum over the parts, followed by the name of the part."""
    made = re.fullmatch(r"([a-z_]+)_(\d+)_([a-z]+)", cell.ref.step)
    if cell.part in (SUM, LOGITS) and made:
        kind, layer, step = made.groups()
        return f"{name_cell_part(f'{layer}.{kind}')}: {say(f'block.step.{step}')}"
    if cell.part in (SUM, LOGITS):
        return name_cell_part(cell.part)
    return f"{name_cell_part(cell.part)}: {inline_step_name(cell.ref.step)}"


def name_cell_part(part: str) -> str:
    """The display name of a part, with its layer."""
    layer, _, kind = part.rpartition(".")
    name = say(f"block.part.{kind}")
    return f"{say('model.layer', layer=layer)}, {name}" if layer else name


def make_piece(trace: Trace, part: str, piece: object) -> dict:
    """The component's data for a piece of arithmetic, its operand's step prefixed by the part."""
    data = make_piece_data(trace, piece)
    if "step" in data:
        data["step"] = f"{part}/{data['step']}"
    return data


def make_step_back(stack: Stack, cell: BlockCell) -> dict:
    """The component's data for a number of the trail, to which a click returns."""
    return {
        "text": name_step(cell),
        "title": describe_cell(stack[cell.part], cell.ref),
        "step": f"{cell.part}/{cell.ref.step}",
        "index": list(cell.ref.index),
    }


def find_maker(stack: Stack, cell: BlockCell) -> BlockCell:
    """The cell in which a number was computed: if the cell is an input of a part, the cell of the other part that the
    input comes from.
    """
    source = stack.source_of(cell.part, cell.ref)
    while source is not None:
        cell = BlockCell(*source)
        source = stack.source_of(cell.part, cell.ref)
    return cell


# ---- event handlers --------------------------------------------------------------------------------------------------
def find_cell(view: BlockView, part: str, step: str, index: tuple[int, ...]) -> BlockCell | None:
    """The cell in a message from the browser; None if the run does not have it."""
    cell = BlockCell(part, Ref(step, index))
    return cell if is_held(view.stack, cell) else None


def open_sent(view: BlockView, sent: Mapping) -> None:
    """Opens the number in a message from the browser, {"part", "step", "index"}."""
    cell = find_cell(view, sent["part"], sent["step"], sent["index"])
    if cell is not None:
        keep_look(view, trail=(find_maker(view.stack, cell),))


def follow_sent(view: BlockView, sent: Mapping) -> None:
    """Follows an operand, {"step": "part/step", "index"}, or returns to a number of the trail."""
    part, _, step = sent["step"].partition("/")
    cell = find_cell(view, part, step, sent["index"])
    if cell is None:
        return
    trail = view.look.trail
    if cell in trail:
        keep_look(view, trail=trail[: trail.index(cell) + 1])
    else:
        keep_look(view, trail=(*trail, find_maker(view.stack, cell)))
