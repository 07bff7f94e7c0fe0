"""Draws the lesson on the cost of attention: multiply-adds by length, and the times of two settings on this machine."""

from collections.abc import Callable, Sequence

import streamlit as st

from attention_core.analysis.online_softmax import with_online_softmax
from attention_core.mechanism.attention import attend_qkv
from attention_core.record.number_text import format_duration, format_grouped
from attention_core.variants.cost import attention_cost, split_by_growth
from attention_core.variants.timing import LONG_TIMED_LENGTHS, TIMED_WIDTH, TimedCase, draw_qkv, list_devices
from pages import components
from pages.lessons.cost.drawers import LESSON
from pages.lessons.cost.races import PointsByLength, case_name, describe_growth, run_race
from pages.lessons.frame import draw_drawers, draw_lesson, show_lesson_code
from pages.lessons.prompts import bet
from pages.lessons.sentences import say_large_count
from pages.panels.link_controls import choose_option
from pages.panels.live_choice import LiveChoice, describe_followed, find_live_choice, show_live_choice
from pages.panels.live_frames import tell_live
from pages.session.collected import show_moving
from pages.session.labels import current_palette, describe_gpu_obstacle
from pages.site.catalog import PAGES_BY_SLUG
from pages.site.words import say

RACES = {
    "local": (TimedCase(), TimedCase("local")),
    "strided": (TimedCase(), TimedCase("strided")),
    "bfloat16": (TimedCase(), TimedCase(dtype="bfloat16")),
    "float16": (TimedCase(), TimedCase(dtype="float16")),
    "cuda": (TimedCase(), TimedCase(device="cuda")),
}
KEYS_OF_BLOCK = 32  # keys per block of the online softmax in the code accordion


def count_growing_parts(lengths: Sequence[int]) -> tuple[PointsByLength, PointsByLength]:
    """Counts, for each length, the multiply-adds for all pairs of tokens, and the multiply-adds for the projections.

    Returns two mappings {length: multiply-adds}.
    """
    pairs = {}
    tokens = {}
    for length in lengths:
        cost = attention_cost(T=length, D=TIMED_WIDTH)
        pairs[length], tokens[length] = split_by_growth(cost)
    return pairs, tokens


def tell_counted_work(length: int, pairs: PointsByLength, tokens: PointsByLength) -> str:
    """Returns the sentence about the multiply-adds at a length.

    pairs, tokens: {length: multiply-adds} for pairs of tokens and for projections.
    """
    return say(
        "lessons.cost.fact",
        length=format_grouped(length),
        width=TIMED_WIDTH,
        pairs=say_large_count(pairs[length]),
        tokens=say_large_count(tokens[length]),
    )


def show_measured_race(
    length: int, names: Sequence[str], times: Sequence[PointsByLength], settle: Callable[[int], None]
) -> None:
    """Shows the times of the two compared settings at a length, and whether the visitor guessed the faster one.

    times: a mapping {length: seconds} for each setting. settle: a function that compares the guess with the index of
    the faster setting.
    """
    seconds = [points[length] for points in times]
    fact = say(
        "lessons.cost.took",
        length=format_grouped(length),
        one=names[0],
        other=names[1],
        a=format_duration(seconds[0]),
        b=format_duration(seconds[1]),
        slope_a=describe_growth(times[0]),
        slope_b=describe_growth(times[1]),
    )
    fastest = seconds.index(min(seconds))
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**{fact}**", width="content")
        settle(fastest)


# ---- the cost of all pairs as a square that grows with the length, and the cost of the projections as a stripe -------
def show_areas(length: LiveChoice, pairs: PointsByLength, tokens: PointsByLength) -> None:
    """Shows the multiply-adds for pairs as a square and for projections as a stripe; both follow the length slider.

    pairs, tokens: {length: multiply-adds} for pairs of tokens and for projections.
    """
    told = [tell_areas(each, pairs, tokens) for each in length.options]
    square, stripe = told[length.position]
    data = {
        "lengths": list(length.options),
        "written": [format_grouped(each) for each in length.options],
        "pairs": [pairs[each] for each in length.options],
        "tokens": [tokens[each] for each in length.options],
        "told": told,
        "palette": vars(current_palette()),
        "alt": " ".join([*square, *stripe]),
    }
    show_moving(components.cost_areas, data=describe_followed(length) | data, key="cost_areas")


def tell_areas(length: int, pairs: PointsByLength, tokens: PointsByLength) -> list[list[str]]:
    """Returns the texts beside the picture at a length: two about the square (pairs), then two about the stripe
    (projections).

    pairs, tokens: {length: multiply-adds} for pairs of tokens and for projections.
    """
    values = {"length": format_grouped(length), "width": TIMED_WIDTH}
    square = {**values, "products": format_grouped(pairs[length])}
    stripe = {**values, "products": format_grouped(tokens[length])}
    return [
        [say(f"lessons.cost.areas.{name}", **square) for name in ("pairs", "square")],
        [say(f"lessons.cost.areas.{name}", **stripe) for name in ("tokens", "stripe")],
    ]


with draw_lesson(LESSON) as place:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        length_choice = find_live_choice("length", LONG_TIMED_LENGTHS[1:], 1024, format_grouped)
        show_live_choice(length_choice, width=300)
        devices = list_devices()
        # comparisons that this machine can measure
        races = [name for name in RACES if name != "cuda" or name in devices]
        race = choose_option("race", races, width="content", help=describe_gpu_obstacle())
        cases = RACES[race]
        names = [case_name(case) for case in cases]
        settle = bet(names)
    pairs, tokens = count_growing_parts(LONG_TIMED_LENGTHS)
    told = [tell_counted_work(each, pairs, tokens) for each in length_choice.options]
    tell_live(length_choice, "cost_fact", told, "heading")
    show_areas(length_choice, pairs, tokens)
    length = length_choice.value
    lengths = [each for each in LONG_TIMED_LENGTHS if each <= length]

    def tell(times: Sequence[PointsByLength]) -> None:
        """Shows the times of the compared settings, if both are measured at the chosen length."""
        if all(length in points for points in times):
            show_measured_race(length, names, times, settle)

    projections = {say("lessons.cost.projections"): {each: tokens[each] for each in lengths}}
    st.caption(say("lessons.cost.how"))
    run_race(race, cases, lengths, projections, tell, "lessons.cost.alt")
    if place is not None:  # a scene of a lecture (place is None) has no place for links
        st.page_link(
            PAGES_BY_SLUG["choice"].path, label=say("lessons.choice.question"), icon=PAGES_BY_SLUG["choice"].icon
        )
    draw_drawers(LESSON)
    shortest = attend_qkv(*draw_qkv(1, LONG_TIMED_LENGTHS[0]))
    show_lesson_code(LESSON, with_online_softmax(shortest, KEYS_OF_BLOCK))
