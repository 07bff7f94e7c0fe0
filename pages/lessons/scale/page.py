"""Why divide by the square root of d_k? How sharp the softmax is as d_k grows, undivided and divided."""

import streamlit as st

from attention_core.analysis.softmax_jacobian import with_jacobian
from attention_core.analysis.softmax_saturation import Sharpness, evenly
from attention_core.drawing.bars import bar_rows, row_of
from attention_core.drawing.charts import Axis
from attention_core.drawing.curves import Curve, curves
from attention_core.inputs.given_scores import WIDEST, one_draw
from attention_core.record.number_text import fixed
from pages.lessons.frame import code, drawer, lesson, stands_for
from pages.lessons.pictures import opened_in, show
from pages.lessons.prompts import predict
from pages.lessons.scale import drawers
from pages.lessons.scale.drawers import WIDTHS, width_axis
from pages.panels.chart import curve_chart
from pages.panels.link_controls import choose, keep, slide, whole
from pages.panels.progress import one_by_one
from pages.runs.cache import saturation_of, trace_of
from pages.session.labels import palette, place_names, words_for
from pages.setup.setup import Setup
from pages.site.words import say

DRAWS = {2: 2000, 4: 2000, 8: 2000, 16: 1000, 32: 500, 64: 250}  # of so many keys: more would take longer together
SEED = 1268  # whose one draw is much like the mean of many
MANY = 16  # bars with names that can be read
QUANTITIES = ("largest", "entropy", "slope")
CURVES = ("rises", "level", "falls")


def hero(found: list[dict[str, Sharpness]], quantity: str, d_k: int, keys: int, known: bool) -> None:
    """The quantity against d_k, and what it is where all keys get the same."""
    even, colours = getattr(evenly(keys), quantity).mean, palette()
    reach = {"largest": 1.0, "entropy": even, "slope": 0.5}  # the largest that each can be
    sharp = [
        Curve(
            say(f"lessons.scale.curve.{score}"),
            WIDTHS,
            [getattr(each[score], quantity).mean for each in found],
            colour,
            band=[getattr(each[score], quantity).band for each in found],
        )
        for score, colour in (("dot", colours.plus), ("scaled_dot", colours.share))
        if known or score == "dot"
    ]
    alike = Curve(say("lessons.scale.curve.even"), (WIDTHS[0], WIDTHS[-1]), (even, even), colours.x, dashed=True)
    y = Axis(say(f"lessons.scale.axis.{quantity}"), 0.0, reach[quantity])
    picture = curves([*sharp, alike], width_axis(), y, colours, at=d_k, width=560, height=250)
    curve_chart(picture, "scale_hero", say("lessons.scale.alt", what=y.title))


def live(runs: dict[str, Setup], d_k: int, seed: int, known: bool) -> None:
    """The weights of one draw, undivided and divided."""
    traces = {name: trace_of(run) for name, run in runs.items()}
    rows = [
        row_of(say(f"lessons.scale.row_{name}", seed=seed), trace, "weights", (0, 0, 0), name, hidden=hidden)
        for (name, trace), hidden in zip(traces.items(), (False, not known), strict=True)
    ]
    trace = traces["scaled_dot"]
    names = place_names(trace, "S", trace.sizes()["S"])
    names = names if len(names) <= MANY else ["" for _ in names]
    picture = bar_rows(rows, names, words_for(trace), palette(), opened_in("live", traces), whole=True)
    show("live", picture, traces, say("lessons.scale.alt_live"))
    if d_k > WIDEST:
        st.caption(say("lessons.scale.wide", limit=WIDEST))


def back() -> None:
    """To the keys and the seed that the lesson opens on, whose figures are kept for all sessions."""
    keep("keys", None)
    keep("seed", None)


with lesson("scale") as place:
    d_k = slide("d_k", WIDTHS, 64)
    fact = st.container()
    picture, controls = st.columns([5, 2], gap="medium")
    with controls:
        known = predict([say(f"lessons.scale.option.guess.{name}") for name in CURVES], {CURVES.index("level")})
        quantity = choose("quantity", QUANTITIES)
        keys = slide("keys", tuple(DRAWS), 8)
        seed = whole("seed", SEED)
    with picture:
        found = one_by_one(lambda width: saturation_of(width, keys, DRAWS[keys], seed), WIDTHS, back)
        hero(found, quantity, d_k, keys, known)
        st.caption(say("lessons.scale.how", draws=f"{DRAWS[keys]:,}", keys=keys))
    at = found[WIDTHS.index(d_k)]
    largest = {score: fixed(each.largest.mean) for score, each in at.items()}
    slopes = {f"{score}_slope": fixed(each.slope.mean, 3) for score, each in at.items()}
    told = say(f"lessons.scale.{'fact' if known else 'fact_hidden'}", d_k=d_k, keys=keys, **largest, **slopes)
    fact.markdown(f"##### {told}")
    runs = {name: Setup(example="one_query", **parts) for name, parts in one_draw(d_k, keys, seed).items()}
    live(runs, d_k, seed, known)
    seen = runs["scaled_dot" if known else "dot"]
    stands_for(seen, place)
    drawer("variance", lambda: drawers.variance(d_k, seed))
    drawer("breaks", lambda: drawers.breaks(d_k, seed))
    drawer("scores", lambda: drawers.scores(d_k, seed))
    drawer("gradient", lambda: drawers.gradient(runs))
    code(with_jacobian(trace_of(seen)), ("scores", "scaled_scores", "weights", "jacobian"))
