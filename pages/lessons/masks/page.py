"""Who may look at whom? A mask that is drawn or chosen, and the weights under it."""

from dataclasses import replace
from functools import partial

import streamlit as st

from attention_core import Trace
from attention_core.drawing.charts import MAP_WIDTH_PX
from pages.lessons.frame import draw_lesson, drawer, show_lesson_code, show_lesson_run
from pages.lessons.masks.drawers import DRAWERS
from pages.lessons.masks.mask_facts import show_mask_facts
from pages.lessons.masks.painted_mask import Bits, allowed_text, get_painted_bits, mask_brush, write_padding_mask
from pages.lessons.pictures import show_weights_map
from pages.lessons.sentences import list_place_names, show_sentence
from pages.panels.lesson_choices import store_choice
from pages.panels.link_controls import choose_option, pick_example, pick_place, sentence_box, slide
from pages.runs.cache import trace_for
from pages.session.labels import place_name, selection_of
from pages.setup.setup import Setup

MASK_PRESETS = ("none", "causal", "local", "sliding", "padding", "local_global", "custom")
MAX_TOKENS_BESIDE_TEXT = 9  # tokens: of more the maps are so wide that the words stand over them


def take_painted_mask(bits: Bits) -> None:
    """Makes the mask that a stroke leaves the reader's own."""
    store_choice("mask", "custom")
    store_choice("paint", bits)


def setup_under_mask(preset: str, setup: Setup, free: Trace, names: list[str]) -> Setup:
    """The run under a mask, whose numbers are asked for where it has any."""
    match preset:
        case "causal":
            mask = "causal"
        case "local":
            mask = f"local:{slide('near', range(8), 1)}"
        case "sliding":
            mask = f"sliding:{slide('width', range(1, 9), 3)}"
        case "padding":
            mask = write_padding_mask(pick_place("last", names, max(len(names) - 2, 0)))
        case "local_global":
            window = slide("near", range(8), 1)
            mask = f"local_global:{window}:{pick_place('global', names, 0)}"
        case "custom":
            return replace(setup, allowed=allowed_text(get_painted_bits("paint"), free))
        case _:
            return setup
    return replace(setup, masks=(mask,))


with draw_lesson("masks") as place:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        own = sentence_box(pick_example("en_it", "zh_ta", zh="zh_ta"))
        free = trace_for(own)
        names = list_place_names(free, "T")
        own = replace(own, token=pick_place("token", names, selection_of(free, own).query, width=110))
        with st.container(width="content"):
            preset = choose_option("mask", MASK_PRESETS, "causal")
    selection = selection_of(free, own)
    if len(names) > MAX_TOKENS_BESIDE_TEXT:
        text, maps = st.container(), st.container()
        brush_width, map_width = 450, 640.0
    else:
        maps, text = st.columns([5, 2])
        brush_width, map_width = 370, MAP_WIDTH_PX
    with text:
        setup = setup_under_mask(preset, own, free, names)
        trace = trace_for(setup)
        show_mask_facts(trace, free, selection, preset)
    with maps, st.container(horizontal=True, gap="small"):
        with st.container(width=brush_width, gap=None):
            show_sentence("lessons.masks.control.paint")
            mask_brush(trace, take_painted_mask)
        with st.container(width="content"):
            show_weights_map("hero", trace, selection, place_name(trace, "H", selection.head), map_width)
    show_lesson_run(setup, place)
    for name, show in DRAWERS.items():
        drawer(name, partial(show, own, setup))
    show_lesson_code(trace, ("masked_scores", "weights", "allowed", "head_outputs"))
