"""Why divide by the square root of d_k? How sharp the softmax is as d_k grows, undivided and divided."""

import streamlit as st

from attention_core.analysis.softmax_jacobian import with_jacobian
from attention_core.analysis.softmax_saturation import Sharpness, even_sharpness
from attention_core.drawing.axes import Axis
from attention_core.drawing.bars import bar_rows, row_of
from attention_core.drawing.curves import Curve, curves
from attention_core.inputs.given_scores import MAX_LINKED_WIDTH, draw_query_and_keys
from attention_core.record.number_text import format_fixed
from pages.lessons.frame import draw_lesson, drawer, show_lesson_code, show_lesson_run
from pages.lessons.pictures import get_opened_cell, show_picture
from pages.lessons.prompts import predict
from pages.lessons.scale import drawers
from pages.lessons.scale.drawers import SCALE_WIDTHS, width_axis
from pages.panels.chart import show_curve_chart
from pages.panels.link_controls import choose_option, choose_whole_number, slide, store_choice
from pages.panels.progress import compute_one_by_one
from pages.runs.cache import cached_saturation, trace_for
from pages.session.labels import current_palette, picture_texts_for, place_names
from pages.setup.setup import Setup
from pages.site.words import say

DRAWS_BY_KEYS = {
    2: 2000,
    4: 2000,
    8: 2000,
    16: 1000,
    32: 500,
    64: 250,
}  # of so many keys: more would take longer together
SCALE_SEED = 1268  # whose one draw is much like the mean of many
MAX_NAMED_BARS = 16  # bars with names that can be read
QUANTITIES = ("largest", "entropy", "slope")
CURVE_GUESSES = ("rises", "level", "falls")


def draw_sharpness_curves(found: list[dict[str, Sharpness]], quantity: str, d_k: int, keys: int, known: bool) -> None:
    """The quantity against d_k, and what it is where all keys get the same."""
    even, colours = getattr(even_sharpness(keys), quantity).mean, current_palette()
    reach = {"largest": 1.0, "entropy": even, "slope": 0.5}  # the largest that each can be
    sharp = [
        Curve(
            say(f"lessons.scale.curve.{score}"),
            SCALE_WIDTHS,
            [getattr(each[score], quantity).mean for each in found],
            colour,
            band=[getattr(each[score], quantity).band for each in found],
        )
        for score, colour in (("dot", colours.plus), ("scaled_dot", colours.share))
        if known or score == "dot"
    ]
    alike = Curve(
        say("lessons.scale.curve.even"), (SCALE_WIDTHS[0], SCALE_WIDTHS[-1]), (even, even), colours.x, dashed=True
    )
    y = Axis(say(f"lessons.scale.axis.{quantity}"), 0.0, reach[quantity])
    picture = curves([*sharp, alike], width_axis(), y, colours, at=d_k, width=560, height=250)
    show_curve_chart(picture, "scale_hero", say("lessons.scale.alt", what=y.title))


def show_single_draw(runs: dict[str, Setup], d_k: int, seed: int, known: bool) -> None:
    """The weights of one draw, undivided and divided."""
    traces = {name: trace_for(run) for name, run in runs.items()}
    rows = [
        row_of(say(f"lessons.scale.row_{name}", seed=seed), trace, "weights", (0, 0, 0), name, hidden=hidden)
        for (name, trace), hidden in zip(traces.items(), (False, not known), strict=True)
    ]
    trace = traces["scaled_dot"]
    names = place_names(trace, "S", trace.sizes()["S"])
    names = names if len(names) <= MAX_NAMED_BARS else ["" for _ in names]
    picture = bar_rows(
        rows, names, picture_texts_for(trace), current_palette(), get_opened_cell("live", traces), whole=True
    )
    show_picture("live", picture, traces, say("lessons.scale.alt_live"))
    if d_k > MAX_LINKED_WIDTH:
        st.caption(say("lessons.scale.wide", limit=MAX_LINKED_WIDTH))


def reset_keys_and_seed() -> None:
    """To the keys and the seed that the lesson opens on, whose figures are kept for all sessions."""
    store_choice("keys", None)
    store_choice("seed", None)


with draw_lesson("scale") as place:
    d_k = slide("d_k", SCALE_WIDTHS, 64)
    fact = st.container()
    picture, controls = st.columns([5, 2], gap="medium")
    with controls:
        known = predict(
            [say(f"lessons.scale.option.guess.{name}") for name in CURVE_GUESSES], {CURVE_GUESSES.index("level")}
        )
        quantity = choose_option("quantity", QUANTITIES)
        keys = slide("keys", tuple(DRAWS_BY_KEYS), 8)
        seed = choose_whole_number("seed", SCALE_SEED)
    with picture:
        found = compute_one_by_one(
            lambda width: cached_saturation(width, keys, DRAWS_BY_KEYS[keys], seed), SCALE_WIDTHS, reset_keys_and_seed
        )
        draw_sharpness_curves(found, quantity, d_k, keys, known)
        st.caption(say("lessons.scale.how", draws=f"{DRAWS_BY_KEYS[keys]:,}", keys=keys))
    at = found[SCALE_WIDTHS.index(d_k)]
    largest = {score: format_fixed(each.largest.mean) for score, each in at.items()}
    slopes = {f"{score}_slope": format_fixed(each.slope.mean, 3) for score, each in at.items()}
    told = say(f"lessons.scale.{'fact' if known else 'fact_hidden'}", d_k=d_k, keys=keys, **largest, **slopes)
    fact.markdown(f"##### {told}")
    runs = {name: Setup(example="one_query", **parts) for name, parts in draw_query_and_keys(d_k, keys, seed).items()}
    show_single_draw(runs, d_k, seed, known)
    seen = runs["scaled_dot" if known else "dot"]
    show_lesson_run(seen, place)
    drawer("variance", lambda: drawers.show_variance(d_k, seed))
    drawer("breaks", lambda: drawers.show_broken_assumptions(d_k, seed))
    drawer("scores", lambda: drawers.show_score_histogram(d_k, seed))
    drawer("gradient", lambda: drawers.show_softmax_gradient(runs))
    show_lesson_code(with_jacobian(trace_for(seen)), ("scores", "scaled_scores", "weights", "jacobian"))
