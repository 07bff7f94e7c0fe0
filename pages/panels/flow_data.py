"""Packs the data from which the browser draws the flow, the animated picture of how attention computes one query's
output.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from attention_core import Trace
from attention_core.drawing.cells import darkest_share
from attention_core.drawing.palette import palette_for
from attention_core.inputs.tokenizer import printable_token
from pages.components import pack_bytes
from pages.panels.flow_numbers import MAX_WHOLE_NUMBERS, MAX_WHOLE_TOKENS, cut_of, list_unsent_matrices, pack_cut_steps
from pages.panels.flow_plane import make_plane_data, plane_text
from pages.panels.flow_run import flow_run_for, row_facts_for
from pages.panels.flow_words import flow_text, list_facts, list_heads
from pages.panels.model_guess import mark_startling
from pages.panels.model_rail import pack_layers
from pages.panels.read_heads import find_a, pack_readings
from pages.panels.thumbnails import list_strip_steps, make_small_maps
from pages.panels.typed_cells import list_typed_steps
from pages.panels.word_roles import make_role_data
from pages.session import setup_state
from pages.session.labels import axis_label, current_palette, name_token
from pages.session.view import ScreenState
from pages.site.words import say

STAGE_HEIGHT_PX = 412  # height of the picture on a page 1280 px wide; it scales with the page
RAIL_MAP_SIDE = 40  # most rows or columns of a head's small map in a run too large to be sent completely
GIVEN_INPUTS = ("x", "context")
MAX_NAMED_COLUMNS = 64  # columns get names only on an axis with at most so many indices


@dataclass(frozen=True)
class Showing:
    """Options of the flow picture, the animation of how attention computes one query's output.

    hears: whether the picture sends the visitor's selection to the server, and can open a cell's arithmetic. plays:
    whether the animation starts automatically. begins: the keyframe shown first if the animation does not start,
    "start" or "end". known: motions that were shown before, whose keyframes a key press skips. fills: whether the
    picture fills the screen of a lecture hall. speaks: whether the picture has its own headline. height: the height if
    the picture does not fill the screen, in pixels on a page 1280 px wide.
    """

    hears: bool = False
    plays: bool = False
    begins: str = "start"
    known: tuple[str, ...] = ()
    fills: bool = False
    speaks: bool = True
    height: int = STAGE_HEIGHT_PX


HEARD = Showing(hears=True, begins="end")  # options for the workbench, where the picture sends selections to the server


def make_flow_data(screen: ScreenState, look: dict, showing: Showing = HEARD) -> bytes:
    """Returns all data of the flow picture as bytes: parts (the drawn steps), keyframes, numbers, texts.

    look: the selection (query, head, step, keyframe) that the server stores.
    """
    trace = screen.trace
    run = flow_run_for(screen)
    facts = row_facts_for(screen)
    cut = cut_of(screen)
    steps, numbers = pack_cut_steps(trace, run.parts, cut) if cut else (run.steps, run.numbers)
    heads = trace.sizes()["H"]
    inputs = screen.inputs
    origins = mark_startling(screen, inputs.key_origins if inputs.crossed else inputs.word_origins)
    data = {
        "parts": run.described,
        "stops": run.stops,
        "steps": steps,
        "cut": cut and vars(cut),
        "largest": run.largest,
        "words": {axis: list_words(trace, axis, is_cut=cut is not None) for axis in ("T", "S")},
        "names": name_columns(trace),
        "strip": [] if cut else list_strip_steps(trace),
        "darkest": darkest_share(trace.sizes()["S"], screen.times),
        "moved": list_moved_steps(screen),
        "typed": [name for name in list_typed_steps(trace, screen.inputs) if name in steps and not cut],
        "heads": heads,
        "rounding": torch.finfo(trace.step("weights").dtype).eps,
        "roles": make_role_data(screen) if showing.hears and not cut else None,
        "origins": {"T": screen.inputs.word_origins, "S": origins},
        "titles": list_word_titles(trace, origins),
        "crossed": screen.inputs.crossed,
        "facts": list_facts(trace, facts),
        "head_names": list_heads(screen, facts),
        "random": bool(trace.chance.matrices),
        "palette": vars(palette_for(trace, current_palette())),
        "given": pack_given(screen),
        "text": flow_text(screen, cut and len(cut.keys)),
    }
    if showing.hears and not cut and not list_unsent_matrices(trace):
        data |= {"plane": make_plane_data(screen)}
        data["text"] |= {"plane": plane_text(), "views": data["text"]["views"] | {"plane": say("flow.view.plane")}}
    elif showing.hears:
        data["text"] |= {
            "missing_views": [{"kind": "plane", "name": say("flow.view.plane"), "why": say_no_plane(trace)}]
        }
    rail = pack_head_maps(screen, data) if cut else b""
    has_heads = showing.hears or shows_heads(look["stop"])
    data["layers"], layer_maps = pack_layers(screen) if has_heads else ({}, b"")
    readings, read_bytes = pack_readings(screen, *data["words"].values()) if has_heads else ({}, {})
    data |= readings
    data["compares"] = "reads" in readings and find_a(screen) is not None  # whether A and B can be shown side by side
    packed = {"numbers": numbers, "rail": rail, "layer_maps": layer_maps, **read_bytes}
    digest = hashlib.sha256(b"".join(packed.values()) + repr(data).encode()).hexdigest()
    data |= {**vars(showing), "shown": not showing.hears}
    data["is_moved"] = showing.hears and setup_state.is_moved_in_history()
    return pack_bytes({**data, "look": look, "digest": digest, **packed})


def pack_given(screen: ScreenState) -> dict:
    """Returns the inputs that the visitor gave as numbers, and the colours of these numbers, which are no greys even if
    the matrices are random.
    """
    origins, palette = screen.inputs.origins, current_palette()
    steps = [name for name in GIVEN_INPUTS if origins.get(name) in ("typed", "given")]
    return {"steps": steps, "colours": {"given-plus": palette.plus, "given-minus": palette.minus}}


def say_no_plane(trace: Trace) -> str:
    """Returns the reason why a large run has no view in which vectors are dragged: the limit, and what the run has."""
    sizes = trace.sizes()
    tokens = max(sizes["T"], sizes["S"])
    if tokens > MAX_WHOLE_TOKENS:
        return say("flow.no_plane.tokens", most=MAX_WHOLE_TOKENS, count=tokens)
    return say("flow.no_plane.numbers", most=f"{MAX_WHOLE_NUMBERS:,}", count=f"{trace.count_numbers():,}")


def shows_heads(stop: str | None) -> bool:
    """Returns whether a keyframe in a link is the view of all heads, maybe with a second head: "heads-2.1".

    >>> shows_heads("heads-2.1"), shows_heads("weights"), shows_heads(None)
    (True, False, False)
    """
    return (stop or "").split("-")[0] == "heads"


def pack_head_maps(screen: ScreenState, data: dict) -> bytes:
    """Returns the weights of every head as a small map of palette indices, one byte per cell, one map after the other.

    Also adds the size of these maps to `data`.
    """
    places = [("weights", screen.selection.at | {"H": head}) for head in range(data["heads"])]
    maps = make_small_maps(screen, places, RAIL_MAP_SIDE)
    data["rail_shape"] = maps[0].drawn
    return b"".join(small_map.cells for small_map in maps)


def list_words(trace: Trace, axis: str, is_cut: bool) -> list[str]:
    """Returns the words along an axis; if only a part of the run is sent, repeated words get their position as a
    suffix.
    """
    if is_cut:
        return [name_token(trace, axis, place) for place in range(len(trace.labels[axis]))]
    return [printable_token(word) for word in trace.labels[axis]]


def list_word_titles(trace: Trace, origins: Sequence[str]) -> list[str]:
    """Returns a tooltip for each key's word; it tells where the word's vector comes from, if this is known."""
    words = [printable_token(word) for word in trace.labels["S"]]
    if not origins:
        return words
    return [say(f"origin.word.{origin}", word=word) for word, origin in zip(words, origins, strict=True)]


def list_moved_steps(screen: ScreenState) -> list[str]:
    """Returns the steps whose numbers have changed because of the visitor's last change, in the order of
    computation.
    """
    moved = {*screen.moved, *screen.new, *screen.reshaped}
    return [step for step in list_strip_steps(screen.trace) if step in moved]


def name_columns(trace: Trace) -> dict[str, list[str]]:
    """Returns {axis: its column names} for all axes except those of words, heads and sentences."""
    names = {}
    for axis, size in trace.sizes().items():
        if axis not in ("B", "H", "H_kv", "T", "S") and size <= MAX_NAMED_COLUMNS:
            names[axis] = [axis_label(trace, axis, place) for place in range(size)]
    return names
