"""Shows the heads of a file: all as small attention maps, and the open one as a large map with downloads."""

import math
from dataclasses import replace
from functools import partial

import streamlit as st
from torch import Tensor

from attention_core.comparison.measures import mean_moved_weight
from attention_core.documents.number_files import csv_text
from attention_core.documents.picture_files import png_bytes, svg_text
from attention_core.documents.provenance import Provenance
from attention_core.drawing.cells import TIMES_STEP
from attention_core.drawing.charts import head_map, single_picture
from attention_core.explanation.layout import panel
from attention_core.inputs.given_maps import AttentionMaps, measure_maps, pack_maps
from attention_core.inputs.tokenizer import printable_token
from attention_core.record.trace import Step, Trace
from pages import components
from pages.export.downloads import button_row, can_export, offer_download
from pages.export.worker_drawing import find_missing_letters
from pages.lectures import lecture_session
from pages.lectures.add_button import show_add_button
from pages.lectures.kinds.picture import MAX_PICTURE_WORDS_CHARS, OwnPicture
from pages.lectures.script import Scene
from pages.maps.given_file import EXAMPLE_FILE, HEAD_KEY, GivenFile
from pages.maps.head_names import name_heads_off
from pages.maps.read_file import READING, can_be_read, read_given, take_reading, without_first
from pages.panels.canvas_map import show_plain_map
from pages.panels.flow_words import say_habit
from pages.panels.head_grid import HeadGrid, make_grid_data, measures_of_head, pack_numbers
from pages.panels.link_controls import show_choice_refusal
from pages.panels.map_reading import join_sentences, make_options, tell_map, tell_reading
from pages.session.labels import current_palette, name_token, picture_texts_for
from pages.session.opened_drawers import scroll_here
from pages.site.words import escape_markdown, get_text_template, say

GRID_KEY = "map_heads"
MOVED = "moved"  # name of the measure: how much weight ablation has moved
CLICKED_KEY = "maps_clicked"  # session key: True after a click on a head, so that the page scrolls to its map


# ---- all heads -------------------------------------------------------------------------------------------------------
def show_all_heads(given: GivenFile) -> None:
    """Shows every head as a small map; a click opens the large map.

    The browser lets the visitor sort, search and compare the maps.
    """
    layers, heads, *_ = given.maps.maps.shape
    components.model_heads(
        data=components.pack_bytes(make_maps_data(given)),
        key=GRID_KEY,
        given={"layers": layers, "heads": heads},
        on_head=take_head,
        on_maps=take_reading,
    )
    show_choice_refusal(READING)


def take_head(place: tuple[int, int]) -> None:
    """Opens the head whose small map the visitor clicked. place: the layer, counted from 1, and the head."""
    layer, head = place
    st.session_state[HEAD_KEY] = (layer - 1, head)
    st.session_state[CLICKED_KEY] = True


def make_maps_data(given: GivenFile) -> dict:
    """Returns the data of the grid of all heads for the browser."""
    maps, read = given.measured, given.read
    trace = maps.trace()
    measures = measure_maps(maps)
    layer, head = given.opened
    keys = [name_token(given.maps.trace(), "S", place) for place in range(len(given.maps.keys))]
    shown = maps.maps if read is None else unflatten(read.numbers, maps)
    kind = "times" if given.reading.times else "share"
    grid = HeadGrid(
        maps=shown,
        queries=[name_token(trace, "T", place) for place in range(len(maps.queries))],
        keys=[name_token(trace, "S", place) for place in range(len(maps.keys))],
        heads=list_heads(given, measures),
        measures={name: say(f"all_heads.measure.{name}") for name in measures},
        now=(layer + 1, head),
        allowed=maps.seen,
        kind="signed" if maps.fault else kind,
        hidden=None if read is None else unflatten(read.hidden, maps),
        reads=make_options(given.reading, keys) if can_be_read(given.maps) else None,
        picture=describe_picture(given),
    )
    texts = {"about": say("lessons.maps.about"), "open": get_text_template("lessons.maps.open")}
    texts["here"] = texts["why"] = ""  # no name for a page's only text; the rollout is shown below
    if not measures:
        texts["about"] = say("lessons.maps.about_unmeasured")
        texts["open"] = get_text_template("lessons.maps.open_unmeasured")
    data = make_grid_data(grid, **texts)
    return data if given.before is None else put_before(data, given)


def put_before(data: dict, given: GivenFile) -> dict:
    """Returns the data of the grid, after adding the maps of the model with all heads, which the browser subtracts."""
    before = without_first(given.before, given.reading)
    numbers = before.maps
    if given.read is not None:
        numbers = unflatten(read_given(given.before, given.reading).numbers, before)
    measures = measure_maps(before)
    moved = {MOVED: mean_moved_weight(given.measured.maps, before.maps)}
    heads = []
    for head in data["heads"]:
        place = (head["layer"] - 1, head["head"])
        here = head["here"] | measures_of_head(moved, *place)
        heads.append({**head, "here": here, "there": measures_of_head(measures, *place)})
    texts = {name: say(f"lessons.maps.off.{name}") for name in ("about", "here", "there", "less", "compare")}
    return {
        **data,
        "heads": heads,
        "text": {**data["text"], **texts},
        "measures": {MOVED: say("second.moved"), **data["measures"]},
        "other": pack_numbers(numbers),
        "other_words": data["queries"],
        "other_keys": data["keys"],
    }


def describe_picture(given: GivenFile) -> dict:
    """Returns the texts of the picture of all heads that the browser saves: its notes name the file, but no address."""
    source = given.name or say("lessons.maps.example_source")
    notes = (source, say("export.made_with"), *list_origins(given))
    return {
        "names": {kind: say(f"export.{kind}") for kind in ("svg", "png")},
        "label": say("lessons.maps.picture"),
        "file": "attention_maps",
        "title": source,
        "notes": [*filter(None, (*notes, tell_reading(given.reading, given.maps.shown_keys)))],
    }


def unflatten(numbers: Tensor, maps: AttentionMaps) -> Tensor:
    """Returns the maps of all heads as (L, H, T, S), without the mean that may follow them."""
    layers, heads, *_ = maps.maps.shape
    return numbers[: layers * heads].unflatten(0, (layers, heads))


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
    title = name_opened_head(given)
    st.markdown(f"##### {escape_markdown(title)}")
    axes = say("canvas.axes", rows=say("corner.T"), columns=say("corner.S"))
    told = tell_opened(given)
    if told:
        st.caption(escape_markdown(told))
    trace, step = opened_map(given)
    show_plain_map(trace, step, "map_opened", title, axes)


def tell_opened(given: GivenFile) -> str:
    """Returns the sentences about the options of the open map; "" if no option is chosen."""
    if given.read is None:
        return ""
    told = [tell_map(given.read, given.reading, given.maps.shown_keys, given.opened_number)]
    if given.reading.times:
        told.append(say("reading.all_times"))
    return join_sentences([*filter(None, told)])


def opened_map(given: GivenFile, hidden: float = 0.0) -> tuple[Trace, str]:
    """Returns the open map (of a head, or the mean of heads) under the chosen options, as a Trace and the name of its
    step.

    Multiples of the uniform weight are a step with another name, because they are not weights. hidden: the number that
    replaces hidden weights.
    """
    if given.read is None:
        return given.maps.head_trace(*given.opened), "weights"
    numbers = given.read.numbers.masked_fill(given.read.hidden, hidden)[given.opened_number]
    step = TIMES_STEP if given.reading.times else "weights"
    dims = ("B", "H", "T", "S")
    steps = {step: Step(step, numbers[None, None], dims)}
    steps["allowed"] = Step("allowed", given.measured.seen[None, None], dims)
    return Trace(steps, given.measured.labels()), step


def name_opened_head(given: GivenFile) -> str:
    """Returns the name of the open head and, if known, the pattern of its weights (its habit)."""
    layer, head = given.opened
    name = name_opened_map(given)
    habit = "" if given.reading.mean else say_given_habit(given, layer, head)
    return say("lessons.maps.title", name=name, habit=habit) if habit else name


def name_opened_map(given: GivenFile) -> str:
    """Returns the name of the open head, or that of the mean of heads."""
    heads = given.maps.maps.shape[1]
    mean = [divmod(number, heads) for number in given.reading.mean] or [given.opened]
    names = [say("all_heads.name", layer=layer + 1, head=head + 1) for layer, head in mean]
    if not given.reading.mean:
        return names[0]
    return say("reading.mean_title", count=len(names), heads=say("fact.comma").join(names))


def say_given_habit(given: GivenFile, layer: int, head: int) -> str:
    """Returns the pattern of a head's weights (its habit) in a few words; "" if it is unknown."""
    habit = given.habits[layer][head] if given.habits else None
    told = say_habit(given.measured.trace(), habit) if habit else ""
    if given.recorded is None:
        return told
    is_off = (given.recorded.maps.number_of(given.view.group, layer), head) in given.recorded.wanted.off
    if not is_off:
        return told
    return say("lessons.maps.off.tile_and", habit=told) if told else say("lessons.maps.off.tile")


def show_head_files(given: GivenFile) -> None:
    """Shows the downloads: the open map as SVG, PNG and CSV, and all maps as an NPZ file that this page can read."""
    layer, head = given.opened
    trace, step = opened_map(given, hidden=math.nan)
    draw = partial(draw_opened_head, given)
    stem = "attention_map_mean" if given.reading.mean else f"attention_map_{layer + 1}_{head + 1}"
    with button_row():
        offer_download("svg", f"{stem}.svg", "image/svg+xml", draw)
        if has_all_letters(given):
            offer_download("png", f"{stem}.png", "image/png", lambda: png_bytes(draw()))
        if can_export(trace, "CSV", step):
            as_given = trace.labelled(T=given.measured.queries, S=given.measured.keys)
            write = partial(csv_text, as_given, step, make_provenance(given))
            offer_download("csv", f"{stem}.csv", "text/csv", write)
        all_maps = say("lessons.maps.all")
        offer_download("npz", EXAMPLE_FILE, "application/octet-stream", partial(pack_maps, given.maps), all_maps)


def draw_opened_head(given: GivenFile, is_titled: bool = True) -> str:
    """Returns the map of the open head as SVG.

    is_titled: whether the title of the map is drawn.
    """
    trace, step = opened_map(given)
    palette, words = current_palette(), picture_texts_for(trace)
    axes = (say("corner.T"), say("corner.S"))
    if step == "weights":
        picture = head_map(trace, 0, words, palette, axes=axes)
    else:
        picture = single_picture([panel(trace, step, {"B": 0, "H": 0})], trace, words, palette, [""], None)
    provenance = make_provenance(given)
    # notes with the file's name, which svg_text does not draw as an address
    with_source = replace(provenance, notes=provenance.lines[1:])
    return svg_text(picture, with_source, palette, is_titled=is_titled)


def make_provenance(given: GivenFile) -> Provenance:
    """Returns the provenance of the open head's map for downloads: its title and origin."""
    source = given.name or say("lessons.maps.example_source")
    notes = (say("export.made_with"), *list_origins(given), tell_opened(given))
    return Provenance(name_opened_map(given), source, tuple(filter(None, notes)))


def list_origins(given: GivenFile) -> list[str]:
    """Returns the sentences about where the numbers of the maps come from, and which heads are switched off."""
    if given.recorded is None and not given.is_closed:
        return [say("lessons.maps.given_note")]
    off = given.heads_off if given.recorded is None else name_heads_off(given.recorded)
    origins = [say("lessons.maps.model.note", name=given.name)]
    return [*origins, say("lessons.maps.off.note", heads=off)] if off else origins


def has_all_letters(given: GivenFile) -> bool:
    """Returns whether this machine's fonts contain all letters of the picture.

    In a PNG, boxes would replace missing letters.
    """
    words = map(printable_token, (*given.maps.shown_queries, *given.maps.shown_keys))
    return find_missing_letters("".join([*make_provenance(given).lines, *words])) == ""


# ---- all layers together ---------------------------------------------------------------------------------------------
def show_rollout(given: GivenFile) -> None:
    """Shows the attention rollout of all layers as a large map, if it is defined."""
    rolled = given.measured.rolled()
    if rolled is None:
        return
    title, dims = say("all_heads.rollout"), ("B", "H", "T", "S")
    values = {"weights": rolled, "allowed": given.measured.seen}
    steps = {name: Step(name, numbers[None, None], dims) for name, numbers in values.items()}
    st.markdown(f"##### {title}")
    axes = say("canvas.axes", rows=say("corner.T"), columns=say("corner.S"))
    show_plain_map(Trace(steps, given.measured.labels()), "weights", "map_rollout", title, axes)
    st.caption(say("all_heads.why"))


# ---- as a scene of a lecture, because the file is stored only in this session ----------------------------------------
def show_head_scene(given: GivenFile) -> None:
    """Shows a button that adds the open head's map to the lecture as a scene.

    If fonts lack letters of its words, shows a message instead.
    """
    if not has_all_letters(given):
        st.caption(say("lessons.maps.no_scene"))
        return
    show_add_button(partial(make_head_scene, given))
    st.caption(
        say("lessons.maps.scene" if given.recorded is None and not given.is_closed else "lessons.maps.model.scene")
    )


def make_head_scene(given: GivenFile) -> Scene:
    """Returns a scene of a lecture with the map of the open head as a picture, and the map's provenance as source."""
    title = name_opened_head(given)
    source = " ".join(make_provenance(given).lines[1:])[:MAX_PICTURE_WORDS_CHARS]
    picture = OwnPicture(png_bytes(draw_opened_head(given, is_titled=False)), title, source)
    return lecture_session.make_scene(picture, title)
