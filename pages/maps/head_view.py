"""Shows the heads of a file: all as small attention maps, and the open head as a large map with downloads."""

from dataclasses import replace
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
from pages.lectures import lecture_session
from pages.lectures.add_button import show_add_button
from pages.lectures.kinds.picture import MAX_PICTURE_WORDS_CHARS, OwnPicture
from pages.lectures.script import Scene
from pages.maps.given_file import EXAMPLE_FILE, HEAD_KEY, GivenFile
from pages.panels.canvas_map import show_plain_map
from pages.panels.flow_words import say_habit
from pages.panels.head_grid import HeadGrid, make_grid_data, measures_of_head
from pages.session.labels import current_palette, label_token, picture_texts_for
from pages.session.opened_drawers import scroll_here
from pages.site.words import escape_markdown, get_text_template, say

GRID_KEY = "map_heads"
CLICKED_KEY = "maps_clicked"  # session key: True after a click on a head; the page then scrolls to its map


# ---- all heads -------------------------------------------------------------------------------------------------------
def show_all_heads(given: GivenFile) -> None:
    """Shows every head as a small map; a click opens a large map.

    The visitor can sort, search and compare the maps in the browser.
    """
    layers, heads, *_ = given.maps.maps.shape
    components.model_heads(
        data=components.pack_bytes(make_maps_data(given)),
        key=GRID_KEY,
        given={"layers": layers, "heads": heads},
        on_head=take_head,
    )


def take_head(place: tuple[int, int]) -> None:
    """Opens the head whose small map the visitor clicked. place: the layer, counted from 1, and the head."""
    layer, head = place
    st.session_state[HEAD_KEY] = (layer - 1, head)
    st.session_state[CLICKED_KEY] = True


def opened_head(given: GivenFile) -> tuple[int, int]:
    """Returns the layer and the head that are open, counted from 0."""
    return st.session_state.get(HEAD_KEY, given.first)


def make_maps_data(given: GivenFile) -> dict:
    """Returns the component data of the grid of heads of a file."""
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
    texts["here"] = ""  # empty: a page with a single text needs no name for it
    if grid.rolled is None:
        texts["why"] = ""
    if not measures:
        texts["about"] = say("lessons.maps.about_unmeasured")
        texts["open"] = get_text_template("lessons.maps.open_unmeasured")
    return make_grid_data(grid, **texts)


def list_heads(given: GivenFile, measures: dict) -> list[dict]:
    """Returns, for each head, its layer, index, name and measures, and the pattern of its weights in words (its
    "habit").
    """
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
    """Shows the map of the open head, with its title and words."""
    scroll_here("map_opened", is_new=st.session_state.pop(CLICKED_KEY, False))
    layer, head = opened_head(given)
    title = name_opened_head(given)
    st.markdown(f"##### {escape_markdown(title)}")
    axes = say("canvas.axes", rows=say("corner.T"), columns=say("corner.S"))
    show_plain_map(given.maps.head_trace(layer, head), "weights", "map_opened", title, axes)


def name_opened_head(given: GivenFile) -> str:
    """Returns the name of the open head, with the pattern of its weights (its habit) if that is known."""
    layer, head = opened_head(given)
    name = say("all_heads.name", layer=layer + 1, head=head + 1)
    habit = say_given_habit(given, layer, head)
    return say("lessons.maps.title", name=name, habit=habit) if habit else name


def say_given_habit(given: GivenFile, layer: int, head: int) -> str:
    """Returns the pattern of a head's weights (its habit) in a few words; "" if it is not known."""
    habit = given.habits[layer][head] if given.habits else None
    return say_habit(given.maps.trace(), habit) if habit else ""


def show_head_files(given: GivenFile) -> None:
    """Shows the downloads: the open map as SVG, PNG and CSV, and all maps as an NPZ file that this page can read."""
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
    """Returns the map of the open head as SVG.

    is_titled: whether the title of the map is drawn.
    """
    trace, palette = given.maps.head_trace(*opened_head(given)), current_palette()
    axes = (say("corner.T"), say("corner.S"))
    picture = head_map(trace, 0, picture_texts_for(trace), palette, axes=axes)
    provenance = make_provenance(given)
    with_source = replace(provenance, notes=provenance.lines[1:])  # because the second line is usually an address
    return svg_text(picture, with_source, palette, is_titled=is_titled)


def make_provenance(given: GivenFile) -> Provenance:
    """Returns the title and origin of the open head's map, as the provenance for downloads."""
    layer, head = opened_head(given)
    title = say("all_heads.name", layer=layer + 1, head=head + 1)
    source = given.name or say("lessons.maps.example_source")
    return Provenance(title, source, (say("export.made_with"), say("lessons.maps.given_note")))


def has_all_letters(given: GivenFile) -> bool:
    """Returns whether this machine's fonts have all letters of the picture.

    A PNG would show boxes instead of missing letters.
    """
    words = map(printable_token, (*given.maps.shown_queries, *given.maps.shown_keys))
    return not missing_letters("".join([*make_provenance(given).lines, *words]))


# ---- as a scene of a lecture, because the file is stored only in this session ----------------------------------------
def show_head_scene(given: GivenFile) -> None:
    """Shows a button that adds the open head's map to the lecture as a scene, or a message if fonts lack letters of its
    words.
    """
    if not has_all_letters(given):
        st.caption(say("lessons.maps.no_scene"))
        return
    show_add_button(partial(make_head_scene, given))
    st.caption(say("lessons.maps.scene"))


def make_head_scene(given: GivenFile) -> Scene:
    """Returns a scene of a lecture: the map of the open head as a picture, and the map's provenance as its source."""
    title = name_opened_head(given)
    source = " ".join(make_provenance(given).lines[1:])[:MAX_PICTURE_WORDS_CHARS]
    picture = OwnPicture(png_bytes(draw_opened_head(given, is_titled=False)), title, source)
    return lecture_session.make_scene(picture, title)
