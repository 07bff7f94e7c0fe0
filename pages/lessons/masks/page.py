"""Who may look at whom? A mask that is drawn or chosen, and the weights under it."""

from dataclasses import replace

import streamlit as st

from attention_core import Trace
from attention_core.analysis.future_leakage import looks_ahead
from attention_core.drawing.charts import MAP
from attention_core.explanation.facts import allowed_pairs, kept_pairs, row_fact
from attention_core.record.number_text import fixed, percent
from pages.lessons.frame import code, drawer, lesson, stands_for
from pages.lessons.masks import drawers
from pages.lessons.masks.painted_mask import Bits, allowed_text, mask_brush, padded_behind, painted
from pages.lessons.pictures import show_map
from pages.lessons.prompts import goal
from pages.panels.head_maps import fact_sentence
from pages.panels.link_controls import choose, keep, pick_example, pick_place, sentence_box, slide
from pages.runs.cache import trace_of
from pages.session.labels import Look, looked_at, place_name, place_names, token
from pages.session.reveal import revealed
from pages.setup.setup import Setup
from pages.site.words import literal, say

PRESETS = ("none", "causal", "local", "sliding", "padding", "local_global", "custom")
BESIDE = 9  # tokens: of more the maps are so wide that the words stand over them


def drawn(bits: Bits) -> None:
    """A stroke makes the mask the reader's own."""
    keep("mask", "custom")
    keep("paint", bits)


def under(preset: str, setup: Setup, free: Trace, names: list[str]) -> Setup:
    """The run under a mask, whose numbers are asked for where it has any."""
    last_but_one = max(range(len(names[:-1])), default=0)
    if preset == "custom":
        return replace(setup, allowed=allowed_text(painted("paint"), free))
    match preset:
        case "local":
            return replace(setup, masks=(f"local:{slide('near', range(8), 1)}",))
        case "sliding":
            return replace(setup, masks=(f"sliding:{slide('width', range(1, 9), 3)}",))
        case "padding":
            return replace(setup, masks=(padded_behind(pick_place("last", names, last_but_one)),))
        case "local_global":
            window = slide("near", range(8), 1)
            return replace(setup, masks=(f"local_global:{window}:{pick_place('global', names, 0)}",))
    return replace(setup, masks=(preset,)) if preset == "causal" else setup


def tell(trace: Trace, free: Trace, look: Look, preset: str) -> None:
    """What the word that asks does now, how many pairs are kept, what the mask moved; and what is to be built."""
    st.markdown(f"##### {fact_sentence(trace, look)}")
    pairs, row = kept_pairs(trace), (look.batch, look.head, look.query)
    key = row_fact(free, look.head, look.query).keys[0]
    words = {"query": literal(token(trace, "T", look.query)), "key": literal(token(trace, "S", key))}
    shares = {name: fixed(run["weights"][(*row, key)].item(), 3) for name, run in (("free", free), ("now", trace))}
    st.markdown(
        say("lessons.masks.kept", kept=pairs.kept, of=pairs.of, percent=percent(pairs.share), **words, **shares)
    )
    if preset in ("none", "custom"):
        ahead = looks_ahead(allowed_pairs(trace)[0, 0])
        still = say("lessons.masks.still", later=ahead.later, missing=ahead.missing)
        answer = say("lessons.masks.answer") if revealed() else ""
        goal((ahead.later, ahead.missing) == (0, 0), say("lessons.masks.done", **words, **shares), f"{still} {answer}")
    else:
        st.caption(say("lessons.masks.build"))


with lesson("masks") as place:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        own = sentence_box(pick_example("en_it", "zh_ta", zh="zh_ta"))
        free = trace_of(own)
        names = place_names(free, "T", free.sizes()["T"])
        own = replace(own, token=pick_place("token", names, looked_at(free, own).query, width=110))
        with st.container(width="content"):
            preset = choose("mask", PRESETS, "causal")
    look = looked_at(free, own)
    if len(names) > BESIDE:
        (text, maps), wide = (st.container(), st.container()), (450, 640.0)
    else:
        (maps, text), wide = st.columns([5, 2]), (370, MAP)
    with text:
        setup = under(preset, own, free, names)
        trace = trace_of(setup)
        tell(trace, free, look, preset)
    with maps, st.container(horizontal=True, gap="small"):
        with st.container(width=wide[0], gap=None):
            st.markdown(say("lessons.masks.control.paint"))
            mask_brush(trace, drawn)
        with st.container(width="content"):
            show_map("hero", trace, look, place_name(trace, "H", look.head), wide[1])
    stands_for(setup, place)
    for name in ("future", "pairs", "nothing", "wirings"):
        drawer(name, lambda name=name: getattr(drawers, name)(own, setup))
    code(trace, ("masked_scores", "weights", "allowed", "head_outputs"))
