"""The heads of a file: all as small maps, one of them large, and what can be taken along."""

from functools import partial

import streamlit as st

from attention_core.documents.number_files import csv_text
from attention_core.documents.picture_files import missing_letters, png_bytes, svg_text
from attention_core.documents.provenance import Provenance
from attention_core.drawing.charts import head_map
from attention_core.inputs.given_maps import measure_maps, pack_maps
from attention_core.inputs.tokenizer import printable_token
from pages import components
from pages.export.downloads import button_row, can_export, offer_download
from pages.maps.given_file import EXAMPLE_FILE, HEAD_KEY, GivenFile
from pages.panels.canvas_map import show_plain_map
from pages.panels.flow_words import say_habit
from pages.panels.head_grid import HeadGrid, make_grid_data, measures_of_head
from pages.session.labels import current_palette, label_token, picture_texts_for
from pages.session.opened_drawers import scroll_here
from pages.site.words import escape_markdown, get_text_template, say

GRID_KEY = "map_heads"
CLICKED_KEY = "maps_clicked"  # a head was just opened: its large map comes into view


# ---- all heads -------------------------------------------------------------------------------------------------------
def show_all_heads(given: GivenFile) -> None:
    """Every head as a small map, sorted, searched and compared in the browser; a click opens it large."""
    layers, heads, *_ = given.maps.maps.shape
    components.model_heads(
        data=components.pack_bytes(make_maps_data(given)),
        key=GRID_KEY,
        given={"layers": layers, "heads": heads},
        on_head=lambda place: take_head(*place),
    )


def take_head(layer: int, head: int) -> None:
    """Opens the head whose map was clicked. layer: from 1."""
    st.session_state[HEAD_KEY] = (layer - 1, head)
    st.session_state[CLICKED_KEY] = True


def opened_head(given: GivenFile) -> tuple[int, int]:
    """The layer and the head that are open, from 0."""
    return st.session_state.get(HEAD_KEY, given.first)


def make_maps_data(given: GivenFile) -> dict:
    """All that the grid draws of a file."""
    maps = given.maps
    trace = maps.trace()
    measures = measure_maps(maps)
    layer, head = opened_head(given)
    grid = HeadGrid(
        maps=maps.maps,
        queries=[label_token(trace, "T", place) for place in range(len(maps.queries))],
        keys=[label_token(trace, "S", place) for place in range(len(maps.keys))],
        heads=list_heads(given, measures),
        measures={name: say(f"all_heads.measure.{name}") for name in measures},
        now=(layer + 1, head),
        allowed=maps.seen,
        rolled=maps.rolled(),
        as_numbers=bool(maps.fault),
    )
    texts = {"about": say("lessons.maps.about"), "open": get_text_template("lessons.maps.open")}
    texts["here"] = ""  # there is no other text to tell it from
    if grid.rolled is None:
        texts["why"] = ""
    if not measures:
        texts["about"] = say("lessons.maps.about_unmeasured")
        texts["open"] = get_text_template("lessons.maps.open_unmeasured")
    return make_grid_data(grid, **texts)


def list_heads(given: GivenFile, measures: dict) -> list[dict]:
    """Of each head its place, its name, what it does in words, and its measures."""
    layers, heads, *_ = given.maps.maps.shape
    places = [(layer, head) for layer in range(layers) for head in range(heads)]
    return [
        {
            "layer": layer + 1,
            "head": head,
            "name": say("all_heads.name", layer=layer + 1, head=head + 1),
            "habit": say_given_habit(given, layer, head),
            "here": measures_of_head(measures, layer, head),
            "held": {},
        }
        for layer, head in places
    ]


# ---- one head --------------------------------------------------------------------------------------------------------
def show_opened_head(given: GivenFile) -> None:
    """The map of the head that is open, with its words; a cell tells its number."""
    scroll_here("map_opened", is_new=st.session_state.pop(CLICKED_KEY, False))
    layer, head = opened_head(given)
    title = name_opened_head(given)
    st.markdown(f"##### {escape_markdown(title)}")
    axes = say("canvas.axes", rows=say("corner.T"), columns=say("corner.S"))
    show_plain_map(given.maps.head_trace(layer, head), "weights", "map_opened", title, axes)


def name_opened_head(given: GivenFile) -> str:
    """The place of the head that is open, and what it does, where that was read."""
    layer, head = opened_head(given)
    name = say("all_heads.name", layer=layer + 1, head=head + 1)
    habit = say_given_habit(given, layer, head)
    return say("lessons.maps.title", name=name, habit=habit) if habit else name


def say_given_habit(given: GivenFile, layer: int, head: int) -> str:
    """What a head does, in a few words; nothing where it was not read, or has no meaning."""
    habit = given.habits[layer][head] if given.habits else None
    return say_habit(given.maps.trace(), habit) if habit else ""


def show_head_files(given: GivenFile) -> None:
    """The map that is open as a picture, its numbers as a table, and all maps as a file that opens here again."""
    layer, head = opened_head(given)
    trace = given.maps.head_trace(layer, head)
    draw = partial(draw_opened_head, given)
    stem = f"attention_map_{layer + 1}_{head + 1}"
    with button_row():
        offer_download("svg", f"{stem}.svg", "image/svg+xml", draw)
        if has_all_letters(given):
            offer_download("png", f"{stem}.png", "image/png", lambda: png_bytes(draw()))
        if can_export(trace, "CSV", "weights"):
            as_given = trace.labelled(T=given.maps.queries, S=given.maps.keys)
            write = partial(csv_text, as_given, "weights", make_provenance(given))
            offer_download("csv", f"{stem}.csv", "text/csv", write)
        all_maps = say("lessons.maps.all")
        offer_download("npz", EXAMPLE_FILE, "application/octet-stream", partial(pack_maps, given.maps), all_maps)


def draw_opened_head(given: GivenFile, is_titled: bool = True) -> str:
    """The map of the head that is open as SVG. is_titled: whether its title is drawn; else a scene has it."""
    trace, palette = given.maps.head_trace(*opened_head(given)), current_palette()
    axes = (say("corner.T"), say("corner.S"))
    picture = head_map(trace, 0, picture_texts_for(trace), palette, axes=axes)
    return svg_text(picture, make_provenance(given), palette, is_titled=is_titled)


def make_provenance(given: GivenFile) -> Provenance:
    """What stands under the map that is open where it leaves the page."""
    layer, head = opened_head(given)
    title = say("all_heads.name", layer=layer + 1, head=head + 1)
    source = given.name or say("lessons.maps.example_source")
    return Provenance(title, source, (say("export.made_with"), say("lessons.maps.given_note")))


def has_all_letters(given: GivenFile) -> bool:
    """Whether this machine's fonts have all letters of the picture, so that no box stands in a PNG."""
    words = map(printable_token, (*given.maps.shown_queries, *given.maps.shown_keys))
    return not missing_letters("".join([*make_provenance(given).lines, *words]))
