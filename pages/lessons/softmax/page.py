"""What does softmax do? The same numbers as shares of 1, at temperature 1 and at another."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import streamlit as st

from attention_core.analysis.softmax_stages import NAIVE_SOFTMAX, STABLE_SOFTMAX
from attention_core.explanation.facts import RowFact, row_fact
from attention_core.record.number_text import format_term
from pages.lessons.frame import draw_lesson, drawer, show_lesson_code, show_lesson_run
from pages.lessons.pictures import show_lesson_journey
from pages.lessons.softmax import drawers
from pages.lessons.softmax.columns import WANTED_SHARE, show_columns
from pages.lessons.softmax.given_numbers import ask_for_numbers, setup_with_scores
from pages.panels.live_choice import find_live_choice, show_live_choice
from pages.panels.live_frames import show_live_goal, tell_live
from pages.runs.cache import trace_for
from pages.session.labels import spoken_share
from pages.site.words import get_text_template, say

SOFTMAX_TEMPERATURES = (0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0, 10.0)
FIRST_NUMBERS = "2, 1, 0, -1"


def describe_largest(numbers: Sequence[float], temperature: float, fact: RowFact) -> dict[str, object]:
    """What the sentences say of a temperature: which share the largest number gets."""
    return {
        "T": format_term(temperature),
        "percent": spoken_share(fact.share, fact.rest),
        "ratio": f"{fact.ratio:.1f}",
        "count": len(numbers),
    }


with draw_lesson("softmax") as place:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        numbers = ask_for_numbers("logits", FIRST_NUMBERS)
        temperature = find_live_choice("temperature", SOFTMAX_TEMPERATURES, 1.0)
        show_live_choice(temperature, lambda value: {"params": {"scaled_scores": {"temperature": value}}})
    usual = setup_with_scores(numbers)
    setups = [replace(usual, temperature=value) for value in temperature.options]
    facts = [row_fact(trace_for(run), 0, 0) for run in setups]
    told = [describe_largest(numbers, run.temperature, fact) for run, fact in zip(setups, facts, strict=True)]
    setup = setups[temperature.position]
    trace = trace_for(setup)
    tell_live(
        temperature,
        "softmax_fact",
        [say("lessons.softmax.fact", **values) for values in told],
        "heading",
        get_text_template("lessons.softmax.fact"),
    )
    show_columns(temperature, numbers, usual, setup, FIRST_NUMBERS)
    built = [fact.share >= WANTED_SHARE for fact in facts]
    goals = [f"lessons.softmax.{'built' if is_built else 'build'}" for is_built in built]
    show_live_goal(
        temperature,
        "softmax_goal",
        built,
        [say(goal, **values) for goal, values in zip(goals, told, strict=True)],
        [get_text_template(f"lessons.softmax.{goal}") for goal in ("build", "built")],
    )
    show_lesson_journey(setup, plays=False)
    show_lesson_run(setup, place)
    drawer("stable", partial(drawers.show_stable_softmax, numbers))
    drawer("slope", partial(drawers.show_slopes, setup))
    drawer("sharp", drawers.show_close_numbers)
    drawer("many", partial(drawers.show_many_numbers, setup.temperature))
    stages = trace.then(*NAIVE_SOFTMAX, *STABLE_SOFTMAX)
    show_lesson_code(stages, ("weights", "exponentials", "naive_weights", "stable_exponentials"))
