"""What does it cost? Multiply-adds against the length, counted, and two settings that race on this machine."""

from collections.abc import Mapping, Sequence

import streamlit as st

from attention_core.analysis.online_softmax import with_online_softmax
from attention_core.mechanism.attention import attend_qkv
from attention_core.record.number_text import format_duration, format_grouped
from attention_core.variants.cost import attention_cost, split_by_growth
from attention_core.variants.timed_kinds import LONG_TIMED_LENGTHS, TIMED_WIDTH, TimedCase, draw_qkv, list_devices
from pages.lessons.cost import drawers
from pages.lessons.frame import draw_lesson, drawer, show_lesson_code
from pages.lessons.prompts import bet
from pages.lessons.races import case_name, describe_growth, run_race
from pages.panels.link_controls import choose_option, slide
from pages.site.words import say

RACES = {
    "local": (TimedCase(), TimedCase("local")),
    "strided": (TimedCase(), TimedCase("strided")),
    "bfloat16": (TimedCase(), TimedCase(dtype="bfloat16")),
    "float16": (TimedCase(), TimedCase(dtype="float16")),
    "cuda": (TimedCase(), TimedCase(device="cuda")),
}
KEYS_OF_BLOCK = 32  # keys of a block, in the code of the softmax block by block
COST_CODE_STEPS = ("scores", "weights", "head_outputs", "maximum_2", "powers_2", "faded_2", "total_2", "mixed_2")

with draw_lesson("cost"):
    with st.container(horizontal=True, vertical_alignment="bottom"):
        with st.container(width=300):
            length = slide("length", LONG_TIMED_LENGTHS[1:], 1024, format_grouped)
        race = choose_option(
            "race", [name for name in RACES if name != "cuda" or name in list_devices()], width="content"
        )
        cases, lengths = RACES[race], [at for at in LONG_TIMED_LENGTHS if at <= length]
        names = [case_name(case) for case in cases]
        settle = bet(names)
    parts = {at: split_by_growth(attention_cost(T=at, D=TIMED_WIDTH)) for at in lengths}
    pairs, tokens = ({at: part[n] for at, part in parts.items()} for n in (0, 1))

    def tell(times: Sequence[Mapping[int, float]]) -> None:
        """The sentence: what is counted at this length, or once it was measured, what came of the race."""
        if not all(length in points for points in times):
            told = {
                "pairs": format_grouped(pairs[length]),
                "tokens": format_grouped(tokens[length]),
                "width": TIMED_WIDTH,
            }
            slopes = {"steep": describe_growth(pairs), "flat": describe_growth(tokens)}
            st.markdown(f"##### {say('lessons.cost.fact', length=format_grouped(length), **told, **slopes)}")
            return
        ends = [points[length] for points in times]
        took = dict(
            zip(
                ("a", "b", "slope_a", "slope_b"),
                [*map(format_duration, ends), *map(describe_growth, times)],
                strict=True,
            )
        )
        told = {"length": format_grouped(length), "one": names[0], "other": names[1]}
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"##### {say('lessons.cost.took', **told, **took)}", width="content")
            settle(ends.index(min(ends)))

    run_race(race, cases, lengths, {say("lessons.cost.projections"): tokens}, tell, say("lessons.cost.alt"))
    for name in ("batch", "skip", "precision", "stored"):
        drawer(name, getattr(drawers, f"show_{name}"))
    show_lesson_code(
        with_online_softmax(attend_qkv(*draw_qkv(1, LONG_TIMED_LENGTHS[0])), KEYS_OF_BLOCK), COST_CODE_STEPS
    )
