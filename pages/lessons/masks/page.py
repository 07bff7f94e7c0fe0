"""Who may look at whom? A mask that is drawn or chosen, and the weights under it."""

from dataclasses import replace

import streamlit as st

from attention_core import Trace
from attention_core.analysis.future_leakage import compare_with_causal
from attention_core.drawing.charts import MAP_WIDTH_PX
from attention_core.explanation.facts import allowed_pairs, count_allowed_pairs, row_fact
from attention_core.record.number_text import format_fixed, format_percent
from pages.lessons.frame import draw_lesson, drawer, show_lesson_code, show_lesson_run
from pages.lessons.masks import drawers
from pages.lessons.masks.painted_mask import Bits, allowed_text, get_painted_bits, mask_brush, write_padding_mask
from pages.lessons.pictures import show_weights_map
from pages.lessons.prompts import show_goal
from pages.panels.head_maps import fact_sentence
from pages.panels.link_controls import choose_option, pick_example, pick_place, sentence_box, slide, store_choice
from pages.runs.cache import trace_for
from pages.session.labels import Selection, name_token, place_name, place_names, selection_of
from pages.session.reveal import are_answers_revealed
from pages.setup.setup import Setup
from pages.site.words import escape_markdown, say

MASK_PRESETS = ("none", "causal", "local", "sliding", "padding", "local_global", "custom")
MAX_TOKENS_BESIDE_TEXT = 9  # tokens: of more the maps are so wide that the words stand over them


def take_painted_mask(bits: Bits) -> None:
    """A stroke makes the mask the reader's own."""
    store_choice("mask", "custom")
    store_choice("paint", bits)


def setup_under_mask(preset: str, setup: Setup, free: Trace, names: list[str]) -> Setup:
    """The run under a mask, whose numbers are asked for where it has any."""
    last_but_one = max(range(len(names[:-1])), default=0)
    if preset == "custom":
        return replace(setup, allowed=allowed_text(get_painted_bits("paint"), free))
    match preset:
        case "local":
            return replace(setup, masks=(f"local:{slide('near', range(8), 1)}",))
        case "sliding":
            return replace(setup, masks=(f"sliding:{slide('width', range(1, 9), 3)}",))
        case "padding":
            return replace(setup, masks=(write_padding_mask(pick_place("last", names, last_but_one)),))
        case "local_global":
            window = slide("near", range(8), 1)
            return replace(setup, masks=(f"local_global:{window}:{pick_place('global', names, 0)}",))
    return replace(setup, masks=(preset,)) if preset == "causal" else setup


def show_mask_facts(trace: Trace, free: Trace, look: Selection, preset: str) -> None:
    """What the word that asks does now, how many pairs are kept, what the mask moved; and what is to be built."""
    st.markdown(f"##### {fact_sentence(trace, look)}")
    pairs, row = count_allowed_pairs(trace), (look.batch, look.head, look.query)
    key = row_fact(free, look.head, look.query).keys[0]
    words = {
        "query": escape_markdown(name_token(trace, "T", look.query)),
        "key": escape_markdown(name_token(trace, "S", key)),
    }
    shares = {
        name: format_fixed(run["weights"][(*row, key)].item(), 3) for name, run in (("free", free), ("now", trace))
    }
    st.markdown(
        say("lessons.masks.kept", kept=pairs.kept, of=pairs.of, percent=format_percent(pairs.share), **words, **shares)
    )
    if preset in ("none", "custom"):
        ahead = compare_with_causal(allowed_pairs(trace)[0, 0])
        still = say("lessons.masks.still", later=ahead.later, missing=ahead.missing)
        answer = say("lessons.masks.answer") if are_answers_revealed() else ""
        show_goal(
            (ahead.later, ahead.missing) == (0, 0), say("lessons.masks.done", **words, **shares), f"{still} {answer}"
        )
    else:
        st.caption(say("lessons.masks.build"))


with draw_lesson("masks") as place:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        own = sentence_box(pick_example("en_it", "zh_ta", zh="zh_ta"))
        free = trace_for(own)
        names = place_names(free, "T", free.sizes()["T"])
        own = replace(own, token=pick_place("token", names, selection_of(free, own).query, width=110))
        with st.container(width="content"):
            preset = choose_option("mask", MASK_PRESETS, "causal")
    look = selection_of(free, own)
    if len(names) > MAX_TOKENS_BESIDE_TEXT:
        (text, maps), wide = (st.container(), st.container()), (450, 640.0)
    else:
        (maps, text), wide = st.columns([5, 2]), (370, MAP_WIDTH_PX)
    with text:
        setup = setup_under_mask(preset, own, free, names)
        trace = trace_for(setup)
        show_mask_facts(trace, free, look, preset)
    with maps, st.container(horizontal=True, gap="small"):
        with st.container(width=wide[0], gap=None):
            st.markdown(say("lessons.masks.control.paint"))
            mask_brush(trace, take_painted_mask)
        with st.container(width="content"):
            show_weights_map("hero", trace, look, place_name(trace, "H", look.head), wide[1])
    show_lesson_run(setup, place)
    for name in ("future", "pairs", "nothing", "wirings"):
        drawer(name, lambda name=name: getattr(drawers, f"show_{name}")(own, setup))
    show_lesson_code(trace, ("masked_scores", "weights", "allowed", "head_outputs"))
