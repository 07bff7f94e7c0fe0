"""Why divide by the square root of d_k? How sharp the softmax is as d_k grows, undivided and divided."""

from collections.abc import Mapping
from functools import partial

import streamlit as st

from attention_core.analysis.softmax_jacobian import with_jacobian
from attention_core.analysis.softmax_saturation import Sharpness
from attention_core.drawing.bars import row_of
from attention_core.inputs.given_scores import MAX_LINKED_WIDTH, draw_query_and_keys
from attention_core.record.number_text import format_fixed
from pages.lessons.frame import draw_lesson, drawer, show_lesson_code, show_lesson_run
from pages.lessons.pictures import show_bar_rows
from pages.lessons.prompts import predict
from pages.lessons.scale import drawers
from pages.lessons.scale.sharpness_chart import show_sharpness_chart
from pages.lessons.scale.width_axis import SCALE_WIDTHS
from pages.lessons.sentences import list_place_labels
from pages.panels.lesson_choices import store_choice
from pages.panels.link_controls import choose_option, choose_whole_number, slide
from pages.panels.progress import compute_one_by_one
from pages.runs.cache import cached_saturation, trace_for
from pages.setup.setup import Setup
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
MAX_NAMED_BARS = 16  # bars with names that can be read
QUANTITIES = ("largest", "entropy", "slope")
CURVE_GUESSES = ("rises", "level", "falls")


def show_single_draw(runs: Mapping[str, Setup], d_k: int, seed: int, known: bool) -> None:
    """Shows the weights of one draw, undivided and divided."""
    traces = {score: trace_for(run) for score, run in runs.items()}
    rows = []
    for score, trace in traces.items():
        hidden = score == "scaled_dot" and not known
        title = say(f"lessons.scale.row_{score}", seed=seed)
        row = row_of(title, trace, "weights", (0, 0, 0), score, hidden=hidden)
        rows.append(row)
    divided = traces["scaled_dot"]
    names = list_place_labels(divided, "S")
    if len(names) > MAX_NAMED_BARS:
        names = ["" for _ in names]
    alt = say("lessons.scale.alt_live")
    show_bar_rows("live", rows, names, traces, divided, alt, whole=True)
    if d_k > MAX_LINKED_WIDTH:
        st.caption(say("lessons.scale.wide", limit=MAX_LINKED_WIDTH))


def reset_keys_and_seed() -> None:
    """Goes back to the keys and the seed that the lesson opens on, whose numbers are kept for all sessions."""
    store_choice("keys", None)
    store_choice("seed", None)


with draw_lesson("scale") as place:
    d_k = slide("d_k", SCALE_WIDTHS, 64)
    fact = st.container()
    picture, controls = st.columns([5, 2], gap="medium")
    with controls:
        guesses = [say(f"lessons.scale.option.guess.{name}") for name in CURVE_GUESSES]
        known = predict(guesses, {CURVE_GUESSES.index("level")})
        quantity = choose_option("quantity", QUANTITIES)
        keys = slide("keys", tuple(DRAWS_BY_KEYS), 8)
        seed = choose_whole_number("seed", SCALE_SEED)
    draws = DRAWS_BY_KEYS[keys]

    def measure_sharpness(width: int) -> Mapping[str, Sharpness]:
        """How sharp the softmax is at one width, by score."""
        return cached_saturation(width, keys, draws, seed)

    with picture:
        found = compute_one_by_one(measure_sharpness, SCALE_WIDTHS, reset_keys_and_seed)
        show_sharpness_chart(found, quantity, d_k, keys, known)
        st.caption(say("lessons.scale.how", draws=f"{draws:,}", keys=keys))
    values = {"d_k": d_k, "keys": keys}
    for score, sharpness in found[SCALE_WIDTHS.index(d_k)].items():
        values[score] = format_fixed(sharpness.largest.mean)
        values[f"{score}_slope"] = format_fixed(sharpness.slope.mean, 3)
    sentence = "fact" if known else "fact_hidden"
    fact.markdown(f"##### {say(f'lessons.scale.{sentence}', **values)}")
    runs = {}
    for score, parts in draw_query_and_keys(d_k, keys, seed).items():
        runs[score] = Setup(example="one_query", **parts)
    show_single_draw(runs, d_k, seed, known)
    shown = runs["scaled_dot" if known else "dot"]
    show_lesson_run(shown, place)
    drawer("variance", partial(drawers.show_variance, d_k, seed))
    drawer("breaks", partial(drawers.show_broken_assumptions, d_k, seed))
    drawer("scores", partial(drawers.show_score_histogram, d_k, seed))
    drawer("gradient", partial(drawers.show_softmax_gradient, runs))
    trace = with_jacobian(trace_for(shown))
    show_lesson_code(trace, ("scores", "scaled_scores", "weights", "jacobian"))
