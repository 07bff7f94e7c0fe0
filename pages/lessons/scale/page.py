"""Why divide by the square root of d_k? How sharp the softmax is as d_k grows, undivided and divided."""

from collections.abc import Mapping

import streamlit as st

from attention_core.analysis.softmax_jacobian import with_jacobian
from attention_core.analysis.softmax_saturation import Sharpness
from attention_core.inputs.given_scores import MAX_LINKED_WIDTH
from pages.lessons.frame import draw_drawer, draw_lesson, show_lesson_code, show_lesson_run
from pages.lessons.pictures import show_lesson_journey, show_live_bars
from pages.lessons.prompts import predict
from pages.lessons.scale.cloud import show_cloud, tell_dots
from pages.lessons.scale.drawers import LESSON
from pages.lessons.scale.sharpness_chart import show_sharpness_chart
from pages.lessons.scale.single_draw import (
    change_draw,
    draw_runs,
    draw_single_draw,
    tell_gradient,
    tell_sharpness,
)
from pages.lessons.scale.width_axis import SCALE_WIDTHS
from pages.panels.lesson_choices import store_choice
from pages.panels.link_controls import choose_option, choose_whole_number
from pages.panels.live_choice import LiveChoices, find_live_choice, make_flow_wait, show_live_choice
from pages.panels.live_frames import only_now, tell_live
from pages.panels.progress import compute_one_by_one
from pages.runs.cache import cached_saturation, trace_for
from pages.session.staged import is_one_screen
from pages.site.words import say

DRAWS_BY_KEYS = {  # of so many keys: more would take longer together
    2: 2000,
    4: 2000,
    8: 2000,
    16: 1000,
    32: 500,
    64: 250,
}
SCALE_SEED = 1268  # whose one draw is much like the mean of many
QUANTITIES = ("largest", "entropy", "at_query", "slope")
CURVE_GUESSES = ("rises", "level", "falls")


def reset_keys_and_seed() -> None:
    """Goes back to the keys and the seed that the lesson opens on, whose numbers are kept for all sessions."""
    store_choice("keys", None)
    store_choice("seed", None)


def tell_how(keys: int) -> str:
    """Says of what the chart is drawn."""
    return say("lessons.scale.how", draws=f"{DRAWS_BY_KEYS[keys]:,}", keys=keys)


with draw_lesson(LESSON) as place:
    width = find_live_choice("d_k", SCALE_WIDTHS, 64)
    d_k = width.value
    top = st.container(gap="xsmall")
    picture, controls = st.columns([5, 2], gap="medium")
    with controls:
        quantity = choose_option("quantity", QUANTITIES)
        key_count = find_live_choice("keys", tuple(DRAWS_BY_KEYS), 8)
        show_live_choice(key_count, make_flow_wait(key_count))
        seed = choose_whole_number("seed", SCALE_SEED)
    keys = key_count.value
    draws = DRAWS_BY_KEYS[keys]
    followed = LiveChoices(follows=(width,), waits_for=(key_count,))

    def measure_sharpness(width: int) -> Mapping[str, Sharpness]:
        """How sharp the softmax is at one width, by score."""
        return cached_saturation(width, keys, draws, seed)

    with picture:
        found = compute_one_by_one(measure_sharpness, SCALE_WIDTHS, reset_keys_and_seed)
    all_runs = [draw_runs(each, keys, seed) for each in SCALE_WIDTHS]
    runs = all_runs[width.position]
    with top:
        dial, question = st.columns([3, 2], gap="medium", vertical_alignment="bottom")
        guesses = [say(f"lessons.scale.option.guess.{name}") for name in CURVE_GUESSES]
        with question:
            known = predict(guesses, {CURVE_GUESSES.index("level")})
        score = "scaled_dot" if known else "dot"
        with dial:
            show_live_choice(width, lambda each: change_draw(all_runs[SCALE_WIDTHS.index(each)][score]))
        told = [tell_sharpness(by_score, each, keys, known) for each, by_score in zip(SCALE_WIDTHS, found, strict=True)]
        tell_live(followed, "scale_fact", told, "heading")
        show_cloud(followed, seed, all_runs, found, known)
        if not is_one_screen():  # there the curve of many draws says more than the bars of one
            pictures = [draw_single_draw(each, seed, known) for each in all_runs]
            traces = {name: trace_for(run) for name, run in runs.items()}
            show_live_bars(followed, "live", pictures, traces, say("lessons.scale.alt_live"))
            st.caption(tell_dots())
        show_lesson_journey(runs[score], plays=False)
        if d_k > MAX_LINKED_WIDTH:
            st.caption(say("lessons.scale.wide", limit=MAX_LINKED_WIDTH))
    with picture:
        show_sharpness_chart(found, quantity, followed, keys, known)
        if known:
            arrives = tell_gradient(dict(zip(SCALE_WIDTHS, found, strict=True)), keys)
            tell_live(key_count, "scale_arrives", only_now(key_count, arrives))
        tell_live(key_count, "scale_how", [tell_how(each) for each in DRAWS_BY_KEYS], "caption")
    show_lesson_run(runs[score], place)
    draw_drawer(LESSON, "variance", d_k, seed)
    draw_drawer(LESSON, "gradient", runs)
    draw_drawer(LESSON, "breaks", d_k, seed)
    draw_drawer(LESSON, "scores", d_k, seed)
    trace = with_jacobian(trace_for(runs[score]))
    show_lesson_code(LESSON, trace)
