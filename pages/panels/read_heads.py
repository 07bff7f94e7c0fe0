"""Prepares the maps of all heads, of the run or of all layers of a language model, under the options that the visitor
chose.
"""

from dataclasses import replace

import numpy as np
import torch

from attention_core.analysis.map_reading import AS_THEY_ARE, MapReading, ReadMaps, read_maps
from attention_core.drawing.cells import is_share, unblocked_cells
from attention_core.inputs.tokenizer import printable_token
from attention_core.record.errors import AttentionError
from attention_core.record.number_text import format_grouped
from pages.panels.map_reading import (
    Packed,
    fit_reading,
    make_options,
    pack_difference,
    pack_read_maps,
    reading_of,
)
from pages.panels.model_rail import list_layer_maps, words_of_model
from pages.runs.model_runs import model_sentences_of
from pages.session import setup_state
from pages.session.fragments import redraw
from pages.session.view import ScreenState, make_screen_state
from pages.setup.map_link import read_map_parts, write_map_reading
from pages.setup.resolve import resolve_run
from pages.site.words import say

MAX_READ_NUMBERS = 300_000  # maps with more numbers are sent without these options; 8 heads of 193 tokens have as many
READING = "maps"  # control under which the error of refused options is stored


def pack_readings(screen: ScreenState, queries: list[str], keys: list[str]) -> tuple[dict, dict[str, bytes]]:
    """Returns the data of these options, and the maps under them, for the flow picture.

    Both are {} for maps that are no shares, which have no options. If the maps are too large to be sent, a text says
    so.
    """
    count = count_map_numbers(screen)
    if count > MAX_READ_NUMBERS:
        limits = {"count": format_grouped(count), "most": format_grouped(MAX_READ_NUMBERS)}
        return {"unread": say("reading.too_large", **limits)}, {}
    own = find_maps(screen)
    if own is None:
        return {}, {}
    weights, allowed = own
    _, rows, columns = weights.shape
    queries, keys = queries[:rows], keys[:columns]
    a = find_a(screen, weights)
    side = "" if a is None else screen.setup.view.side or "difference"
    reading = fit_reading(read_map_parts(screen.setup.view.maps), len(weights), len(keys))
    sides = {} if a is None else pack_sides(a, own, reading, queries, keys)
    if side in ("a", "difference"):
        packed = sides[side]
    elif reading != AS_THEY_ARE:
        packed = pack_read_maps(weights, allowed, reading, queries, keys)
    else:
        packed = (None, b"", b"")
    described = {"reads": make_options(reading, keys, side), "read": packed[0], "sides": None}
    if len(sides) * count > MAX_READ_NUMBERS:
        sides = {}
    if sides:
        described["sides"] = {name: description for name, (description, _, _) in sides.items()}
    numbers = {}
    for name, (_, shares, hidden) in {"read": packed, **sides}.items():
        numbers |= {f"{name}_numbers": shares, f"{name}_hidden": hidden}
    return described, numbers


def pack_sides(
    a: ScreenState, b: tuple[torch.Tensor, torch.Tensor], reading: MapReading, queries: list[str], keys: list[str]
) -> dict[str, Packed]:
    """Packs the maps of the run A, of the run B, and B minus A, under the chosen options.

    b: the result of list_maps of the run B.
    """
    others = list_maps(a)
    ends = {"T": len(queries), "S": len(keys)}
    words_a = [[printable_token(word) for word in a.trace.labels[axis][:end]] for axis, end in ends.items()]
    both = [list(map(name_both, *each)) for each in zip(words_a, (queries, keys), strict=True)]
    return {
        "a": pack_read_maps(*others, reading, *words_a),
        "b": pack_read_maps(*b, reading, queries, keys),
        "difference": pack_difference(others, b, reading, *both),
    }


def read_screen(screen: ScreenState) -> tuple[ReadMaps, MapReading] | None:
    """Returns the maps of all heads on the screen under the chosen options, and these options.

    None if there are none.
    """
    maps = find_maps(screen)
    if maps is None:
        return None
    weights, allowed = maps
    reading = fit_reading(read_map_parts(screen.setup.view.maps), len(weights), weights.shape[-1])
    return read_maps(weights, allowed, reading), reading


def find_a(screen: ScreenState, weights: torch.Tensor) -> ScreenState | None:
    """Returns the run A of a comparison, if its maps are as many and of the same size as these weights, else None."""
    if screen.setup.comparison.run_a is None or screen.a is None:
        return None
    a = make_screen_state(replace(screen.setup, run=screen.setup.comparison.run_a), None)
    maps = find_maps(a)
    return a if maps is not None and maps[0].shape == weights.shape else None


def name_both(one: str, other: str) -> str:
    """Returns the label of a position in a comparison: its word in both runs."""
    return one if one == other else f"{one} / {other}"


def find_maps(screen: ScreenState) -> tuple[torch.Tensor, torch.Tensor] | None:
    """Returns the result of list_maps; None if the maps have too many numbers, or numbers that are no shares."""
    if count_map_numbers(screen) > MAX_READ_NUMBERS or not is_share(screen.trace, "weights"):
        return None
    weights, allowed = list_maps(screen)
    return (weights, allowed) if (weights >= 0).all() else None  # a typed weight may be negative, an overflow is NaN


def count_map_numbers(screen: ScreenState) -> int:
    """Returns how many numbers the maps of all heads have; for a language model, those of one layer."""
    sizes = screen.trace.sizes()
    return sizes["H"] * sizes["T"] * sizes["S"]


def list_maps(screen: ScreenState) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns the weights of all heads (N, T, S), layer by layer, and which cells no mask blocks.

    A language model reads each sentence of a batch alone: its maps lack the rows and columns of padding at the end.
    """
    trace, batch = screen.trace, screen.selection.batch
    weights = trace.step("weights").window(B=batch).astype(np.float64)  # (H, T, S)
    free = unblocked_cells(trace, "weights")[batch]
    words = words_of_model(screen)
    if words is not None:
        kind, now = model_sentences_of(screen.setup.run), resolve_run(screen.setup.run).layer - 1
        layers = list_layer_maps(kind.model, kind.read(words)).astype(np.float64)  # (L, H, T, T); a blocked cell is NaN
        length = layers.shape[-1]
        shown = np.where(free, weights, np.nan)[:, :length, :length]
        layers[now] = shown  # the visitor may have changed the shown layer
        weights = layers.reshape(-1, *layers.shape[-2:])
        free = np.isfinite(weights)
    return torch.from_numpy(np.where(free, weights, 0.0)), torch.from_numpy(np.array(free))


def take_reading(chosen: dict) -> None:
    """Stores the options of maps that the visitor chose; refuses values that no control offers."""
    try:
        reading = reading_of(chosen)
    except AttentionError as error:
        setup_state.workbench().refuse(READING, error)
        redraw()
    else:
        setup_state.workbench().forget_refusals(READING)
        setup_state.choose_view(maps=write_map_reading(reading))
        redraw()


def take_side(side: str) -> None:
    """Shows the maps of the run A or B of a comparison, or their difference."""
    setup_state.choose_view(side=None if side == "difference" else side)
    redraw()
