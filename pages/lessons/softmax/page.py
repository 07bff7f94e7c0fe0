"""What does softmax do? The same numbers as shares of 1, at temperature 1 and at another."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import streamlit as st

from attention_core.analysis.softmax_stages import NAIVE_SOFTMAX, STABLE_SOFTMAX
from attention_core.drawing.bars import row_of
from attention_core.drawing.specifications import Picture
from attention_core.explanation.facts import RowFact, row_fact
from attention_core.record.number_text import format_term
from pages.lessons.frame import draw_lesson, drawer, show_lesson_code, show_lesson_run
from pages.lessons.pictures import draw_bar_rows, show_lesson_journey, show_live_bars
from pages.lessons.softmax import drawers
from pages.lessons.softmax.given_numbers import ONLY_ROW, ask_for_numbers, setup_with_scores
from pages.panels.live_choice import find_live_choice, show_live_choice
from pages.panels.live_frames import show_live_goal, tell_live
from pages.runs.cache import trace_for
from pages.session.labels import spoken_share
from pages.setup.setup import Setup
from pages.site.words import say

SOFTMAX_TEMPERATURES = (0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0, 10.0)
SOFTMAX_BARS_HEIGHT_PX = 50.0  # pixels: a field of bars, so that three rows and what is to be built stand on one screen
SOFTMAX_BARS_WIDTH_PX = 960.0  # pixels: all columns, before they take the width of the page
WANTED_SHARE = 0.98  # of the largest weight: what is to be built


def describe_largest(numbers: Sequence[float], temperature: float, fact: RowFact) -> dict[str, object]:
    """What the sentences say of a temperature: which share the largest number gets."""
    return {
        "T": format_term(temperature),
        "percent": spoken_share(fact.share, fact.rest),
        "ratio": f"{fact.ratio:.1f}",
        "count": len(numbers),
    }


def draw_bars(usual: Setup, setup: Setup, numbers: Sequence[float]) -> Picture:
    """Draws the numbers and their shares, at temperature 1 and at that of a run."""
    plain = trace_for(usual)
    rows = [row_of(say("lessons.softmax.row_scores"), plain, "scores", ONLY_ROW, "plain")]
    for name, run in {"plain": usual, "now": setup}.items():
        title = say("lessons.softmax.row_weights", T=format_term(run.temperature))
        rows.append(row_of(title, trace_for(run), "weights", ONLY_ROW, name))
    return draw_bar_rows(
        "hero",
        rows,
        [format_term(float(number)) for number in numbers],
        {"plain": plain, "now": trace_for(setup)},
        height=SOFTMAX_BARS_HEIGHT_PX,
        room=SOFTMAX_BARS_WIDTH_PX,
        fills=True,
    )


with draw_lesson("softmax") as place:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        numbers = ask_for_numbers("logits", "2, 1, 0, -1")
        temperature = find_live_choice("temperature", SOFTMAX_TEMPERATURES, 1.0)
        show_live_choice(temperature, lambda value: {"params": {"scaled_scores": {"temperature": value}}})
    usual = setup_with_scores(numbers)
    setups = [replace(usual, temperature=value) for value in temperature.options]
    facts = [row_fact(trace_for(run), 0, 0) for run in setups]
    told = [describe_largest(numbers, run.temperature, fact) for run, fact in zip(setups, facts, strict=True)]
    setup = setups[temperature.position]
    trace = trace_for(setup)
    tell_live(temperature, "softmax_fact", [say("lessons.softmax.fact", **values) for values in told], "heading")
    show_live_bars(
        temperature,
        "hero",
        [draw_bars(usual, run, numbers) for run in setups],
        {"plain": trace_for(usual), "now": trace},
        say("lessons.softmax.alt"),
    )
    built = [fact.share >= WANTED_SHARE for fact in facts]
    goals = [f"lessons.softmax.{'built' if is_built else 'build'}" for is_built in built]
    show_live_goal(
        temperature, "softmax_goal", built, [say(goal, **values) for goal, values in zip(goals, told, strict=True)]
    )
    show_lesson_journey(setup, plays=False)
    show_lesson_run(setup, place)
    drawer("stable", partial(drawers.show_stable_softmax, numbers))
    drawer("slope", partial(drawers.show_slopes, setup))
    drawer("sharp", drawers.show_close_numbers)
    drawer("many", partial(drawers.show_many_numbers, setup.temperature))
    stages = trace.then(*NAIVE_SOFTMAX, *STABLE_SOFTMAX)
    show_lesson_code(stages, ("weights", "exponentials", "naive_weights", "stable_exponentials"))
