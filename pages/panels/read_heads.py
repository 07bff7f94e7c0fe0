"""Prepares the maps of all heads, of the run or of all layers of a language model, under the options that the visitor
chose.
"""

from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from attention_core.analysis.map_reading import AS_THEY_ARE, MapReading, ReadMaps, read_maps
from attention_core.drawing.cells import darkest_share, is_share, unblocked_cells
from attention_core.inputs.tokenizer import printable_token
from attention_core.record.errors import AttentionError
from attention_core.record.number_text import format_grouped
from pages.panels.flow_run import row_facts_for
from pages.panels.flow_words import list_heads
from pages.panels.map_reading import (
    Packed,
    fit_reading,
    make_options,
    pack_difference,
    pack_read_maps,
    reading_of,
)
from pages.panels.model_rail import list_layer_maps, pack_layers, words_of_model
from pages.panels.run_differences import describe_setting_differences, describe_size_differences
from pages.runs.model_runs import model_sentences_of
from pages.session import setup_state
from pages.session.fragments import redraw
from pages.session.view import ScreenState, make_screen_state
from pages.setup.map_link import read_map_parts, write_map_reading
from pages.setup.resolve import resolve_run
from pages.site.words import say, split_bold

MAX_READ_NUMBERS = 300_000  # maps with more numbers are sent without these options; 8 heads of 193 tokens have as many
READING = "maps"  # name under which the error of refused options is stored


def pack_readings(screen: ScreenState, queries: list[str], keys: list[str]) -> tuple[dict, dict[str, bytes]]:
    """Returns the data of the options of maps, and the maps under the chosen options, for the flow picture.

    Both are {} for maps whose numbers are not shares, because such maps have no options. If the maps are too large to
    be sent, or if a kept run A cannot be shown beside B, a text says so.
    """
    count = count_map_numbers(screen)
    if count > MAX_READ_NUMBERS:
        limits = {"count": format_grouped(count), "most": format_grouped(MAX_READ_NUMBERS)}
        return {"unread": say("reading.too_large", **limits)}, {}
    own = find_maps(screen)
    is_compared = screen.setup.comparison.run_a is not None
    if own is None:
        return {"unread": say("reading.no_sides")} if is_compared else {}, {}
    maps, rows, columns = own[0].shape
    queries, keys = queries[:rows], keys[:columns]
    reading = fit_reading(read_map_parts(screen.setup.view.maps), maps, columns)
    a = find_a(screen) if is_compared else None
    if a is None:
        packed = read_run(own, reading, queries, keys)
        described = {"reads": make_options(reading, keys), "read": packed[0], "sides": None}
        if is_compared:
            described["unread"] = say("compare.lost" if screen.a is None else "reading.no_sides")
        return described, name_bytes({"read": packed})
    return pack_compared(screen, a, own, reading, (queries, keys))


def pack_compared(
    b: ScreenState,
    a: ScreenState,
    own: tuple[Tensor, Tensor],
    reading: MapReading,
    words: tuple[list[str], list[str]],
) -> tuple[dict, dict[str, bytes]]:
    """Returns the result of pack_readings while run A is compared with run B, the run on the screen.

    If the maps of A and B have the same shape, their difference is included; otherwise a text says why there is no
    difference. own: the maps of B and their cells that no mask blocks. words: the queries and the keys of B.
    """
    maps_a, maps_b = list_maps(a)[0], own[0]
    is_alike = maps_a.shape == maps_b.shape
    side = b.setup.view.side or "difference"
    if side == "difference" and reading.mean and not is_alike:
        side = "b"  # only run B is shown, because a mean of heads is taken within one run
    sides = pack_sides(a, own, reading, *words)
    packed = read_run(own, reading, *words) if side == "b" or not (is_alike or side == "a") else sides[side]
    described = {
        "reads": make_options(reading, words[1], side, is_alike),
        "read": packed[0],
        "heads_of_a": list_heads_of_a(a),
        "differ": split_bold(describe_setting_differences(b)),
        "sides": None,
    }
    if not is_alike:
        pairs = zip(maps_a.shape, maps_b.shape, strict=True)
        described["no_difference"] = describe_size_differences(dict(zip(("H", "T", "S"), pairs, strict=True)))
    count = maps_a.numel() + maps_b.numel() * (len(sides) - 1)
    if count > MAX_READ_NUMBERS and is_alike:
        sides = {}  # only the difference is shown, neither A nor B
    if sides:
        described["sides"] = {name: description for name, (description, _, _) in sides.items()}
        for name, run in {"a": a, "b": b}.items():
            described["sides"][name]["largest"] = darkest_share(run.trace.sizes()["S"], run.times)
    return described, name_bytes({"read": packed, **sides})


def name_bytes(packed: dict[str, Packed]) -> dict[str, bytes]:
    """Returns {name that the browser expects: bytes} for the numbers and the hidden cells of packed maps."""
    named = {}
    for name, (_, numbers, hidden) in packed.items():
        named |= {f"{name}_numbers": numbers, f"{name}_hidden": hidden}
    return named


def read_run(maps: tuple[Tensor, Tensor], reading: MapReading, queries: list[str], keys: list[str]) -> Packed:
    """Packs the maps of the run on the screen under the chosen options.

    If no option is chosen, nothing is packed, because the browser has these maps already.
    """
    if reading == AS_THEY_ARE:
        return None, b"", b""
    return pack_read_maps(*maps, reading, queries, keys)


def pack_sides(
    a: ScreenState, b: tuple[Tensor, Tensor], reading: MapReading, queries: list[str], keys: list[str]
) -> dict[str, Packed]:
    """Packs the maps of runs A and B and, if both have the same shape, of B minus A, under the chosen options.

    b: the result of list_maps of the run B.
    """
    others = list_maps(a)
    maps, rows, columns = others[0].shape
    queries_a, keys_a = list_words(a, "T")[:rows], list_words(a, "S")[:columns]
    sides = {
        "a": pack_read_maps(*others, fit_reading(reading, maps, columns), queries_a, keys_a),
        "b": pack_read_maps(*b, reading, queries, keys),
    }
    if others[0].shape == b[0].shape:
        both = [list(map(name_both, *each)) for each in ((queries_a, queries), (keys_a, keys))]
        sides["difference"] = pack_difference(others, b, reading, *both)
    return sides


def list_words(screen: ScreenState, axis: str) -> list[str]:
    """Returns the words along an axis, with printable characters only."""
    return [printable_token(word) for word in screen.trace.labels[axis]]


def list_heads_of_a(a: ScreenState) -> list[dict[str, str]]:
    """Returns the name of each map of the run A, its short name, what the head does, and the layer of a model."""
    layers, _ = pack_layers(a)
    if not layers:
        return [{**head, "group": ""} for head in list_heads(a, row_facts_for(a))]
    heads = []
    for layer, (title, names) in enumerate(zip(layers["titles"], layers["names"], strict=True), start=1):
        for number, name in enumerate(names, start=1):
            short = f"L{layer} H{number}"
            habit = "" if name == str(number) else name
            heads.append({"name": short, "short": short, "habit": habit, "group": title})
    return heads


def read_screen(screen: ScreenState) -> tuple[ReadMaps, MapReading] | None:
    """Returns the maps of all heads on the screen under the chosen options, and these options.

    Returns None if these maps have no such options.
    """
    maps = find_maps(screen)
    if maps is None:
        return None
    weights, allowed = maps
    reading = fit_reading(read_map_parts(screen.setup.view.maps), len(weights), weights.shape[-1])
    return read_maps(weights, allowed, reading), reading


def find_a(screen: ScreenState) -> ScreenState | None:
    """Returns the pinned run A, else the run before the last change, if its maps can be shown beside those on the
    screen.

    Returns None if there is no such run, if it can no longer be computed, or if its maps are too large or not shares.
    """
    pinned = screen.setup.comparison.run_a
    earlier = pinned if pinned is not None or screen.named is None else screen.named.run
    if earlier is None:
        return None
    try:
        a = make_screen_state(replace(screen.setup, run=earlier), None)
    except AttentionError:  # the session no longer has the uploaded file of run A
        return None
    return None if find_maps(a) is None else a


def name_both(one: str, other: str) -> str:
    """Returns the label of a position in a comparison: its word in both runs."""
    return one if one == other else f"{one} / {other}"


def find_maps(screen: ScreenState) -> tuple[Tensor, Tensor] | None:
    """Returns the result of list_maps; returns None if the maps have too many numbers, or numbers that
    are not shares.
    """
    if count_map_numbers(screen) > MAX_READ_NUMBERS or not is_share(screen.trace, "weights"):
        return None
    weights, allowed = list_maps(screen)
    # no shares: typed weights may be negative, and an overflow is NaN
    return (weights, allowed) if (weights >= 0).all() else None


def count_map_numbers(screen: ScreenState) -> int:
    """Returns how many numbers the maps of all heads have; for a language model, those of one layer."""
    sizes = screen.trace.sizes()
    return sizes["H"] * sizes["T"] * sizes["S"]


def list_maps(screen: ScreenState) -> tuple[Tensor, Tensor]:
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
        layers[now] = shown  # replaces the layer of the model by the shown one, which the visitor may have changed
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
    setup_state.choose_view(side=side if side in ("a", "b") else None)
    redraw()
