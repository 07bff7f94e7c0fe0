"""What does it cost? Multiply-adds against the length, counted, and two settings that race on this machine."""

from collections.abc import Mapping, Sequence

import streamlit as st

from attention_core.analysis.online_softmax import in_blocks
from attention_core.mechanism.attention import attend_qkv
from attention_core.record.number_text import duration, grouped
from attention_core.variants.cost import attention_cost, by_growth
from attention_core.variants.timing import LENGTHS, WIDTH, Case, devices, drawn
from pages.lessons.cost import drawers
from pages.lessons.frame import code, drawer, lesson
from pages.lessons.prompts import bet
from pages.lessons.races import case_name, grows, run_race
from pages.panels.link_controls import choose, slide
from pages.site.words import say

RACES = {
    "local": (Case(), Case("local")),
    "strided": (Case(), Case("strided")),
    "bfloat16": (Case(), Case(dtype="bfloat16")),
    "float16": (Case(), Case(dtype="float16")),
    "cuda": (Case(), Case(device="cuda")),
}
BLOCK = 32  # keys of a block, in the code of the softmax block by block
STEPS = ("scores", "weights", "head_outputs", "maximum_2", "powers_2", "faded_2", "total_2", "mixed_2")

with lesson("cost"):
    with st.container(horizontal=True, vertical_alignment="bottom"):
        with st.container(width=300):
            length = slide("length", LENGTHS[1:], 1024, grouped)
        race = choose("race", [name for name in RACES if name != "cuda" or name in devices()], width="content")
        cases, lengths = RACES[race], [at for at in LENGTHS if at <= length]
        names = [case_name(case) for case in cases]
        settle = bet(names)
    parts = {at: by_growth(attention_cost(T=at, D=WIDTH)) for at in lengths}
    pairs, tokens = ({at: part[n] for at, part in parts.items()} for n in (0, 1))

    def tell(times: Sequence[Mapping[int, float]]) -> None:
        """The sentence: what is counted at this length, or once it was measured, what came of the race."""
        if not all(length in points for points in times):
            told = {"pairs": grouped(pairs[length]), "tokens": grouped(tokens[length]), "width": WIDTH}
            slopes = {"steep": grows(pairs), "flat": grows(tokens)}
            st.markdown(f"##### {say('lessons.cost.fact', length=grouped(length), **told, **slopes)}")
            return
        ends = [points[length] for points in times]
        took = dict(zip(("a", "b", "slope_a", "slope_b"), [*map(duration, ends), *map(grows, times)], strict=True))
        told = {"length": grouped(length), "one": names[0], "other": names[1]}
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"##### {say('lessons.cost.took', **told, **took)}", width="content")
            settle(ends.index(min(ends)))

    run_race(race, cases, lengths, {say("lessons.cost.projections"): tokens}, tell, say("lessons.cost.alt"))
    for name in ("batch", "skip", "precision", "stored"):
        drawer(name, getattr(drawers, name))
    code(in_blocks(attend_qkv(*drawn(1, LENGTHS[0])), BLOCK), STEPS)
