"""Lesson 3, further sights: the variance measured, where the argument breaks, the scores, the gradient."""

from collections.abc import Mapping, Sequence

import streamlit as st

from attention_core.analysis.dot_product_moments import MeasuredVariance, exact, factors
from attention_core.analysis.softmax_jacobian import with_jacobian
from attention_core.analysis.softmax_saturation import sharpness
from attention_core.drawing.cells import span
from attention_core.drawing.charts import Axis
from attention_core.drawing.curves import Curve, curves, histogram
from attention_core.record.number_text import fixed, short
from pages.lessons.pictures import show_step
from pages.panels.chart import curve_chart
from pages.panels.link_controls import choose, slide
from pages.panels.progress import one_by_one
from pages.runs.cache import histograms_of, trace_of, variances_of
from pages.session.labels import Look, palette
from pages.setup.setup import Setup
from pages.site.words import say

WIDTHS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
NEAR = {100: (0.0, 2.0), 1000: (0.7, 1.3), 5000: (0.85, 1.15)}  # of so many draws: where a variance of 1 is measured
DRAWS = 5000
SCORES = ("dot", "scaled_dot")
NAMES = ("normal", "signs", "uniform")  # of laws
FIRST = Look(0, 0, 0, 0)


def width_axis() -> Axis:
    """Along which d_k grows."""
    return Axis("d_k", WIDTHS[0], WIDTHS[-1], log=True, values=WIDTHS[::2])


def curve(name: str, found: Sequence[MeasuredVariance], colour: str) -> Curve:
    """What was measured; the band is around what was worked out."""
    band = [(each.low, each.high) for each in found]
    return Curve(say(f"lessons.scale.curve.{name}"), WIDTHS, [each.measured for each in found], colour, band=band)


def independent(score: str, name: str) -> Curve:
    """What the variance is where all components are independent: any law of mean 0 and variance 1 has the same."""
    moments = [exact("normal", "independent", width).scaled(factors(width)[score]) for width in WIDTHS]
    figures = [each.variance for each in moments]
    return Curve(say(f"lessons.scale.curve.{name}"), WIDTHS, figures, palette().x, dashed=True)


def variance(d_k: int, seed: int) -> None:
    """The variance of scores whose components are drawn from several laws, beside d_k, and divided beside 1."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        law = choose("law", NAMES)
        draws = slide("draws", tuple(NEAR), DRAWS)
    found = one_by_one(lambda width: variances_of(law, "independent", width, draws, seed), WIDTHS)
    at = {name: variances_of(name, "independent", d_k, draws, seed)["dot"] for name in NAMES}
    words = {name: short(each.measured, 4) for name, each in at.items()}
    st.markdown(say("lessons.scale.variance", d_k=d_k, draws=f"{draws:,}", **words))
    axes = {"dot": Axis(say("lessons.scale.axis.dot"), 0.5, 2000.0, log=True)}
    axes["scaled_dot"] = Axis(say("lessons.scale.axis.scaled_dot"), *NEAR[draws])
    with st.container(horizontal=True):
        for score, colour in zip(SCORES, (palette().plus, palette().share), strict=True):
            drawn = [independent(score, "exact"), curve("measured", [each[score] for each in found], colour)]
            picture = curves(drawn, width_axis(), axes[score], palette(), at=d_k, width=330, height=240)
            curve_chart(picture, f"scale_{score}", say("lessons.scale.alt", what=axes[score].title))


def breaks(d_k: int, seed: int) -> None:
    """The same where q and k, or their components, hang together."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        dependence = choose("dependence", ("same", "silent", "repeated"))
        law = choose("law_breaks", NAMES, words=lambda name: say(f"lessons.scale.option.law.{name}"))
    found = one_by_one(lambda width: variances_of(law, dependence, width, DRAWS, seed), WIDTHS)
    at = found[WIDTHS.index(d_k)]
    words = {score: short(each.measured, 4) for score, each in at.items()}
    means = {f"{score}_mean": short(each.mean, 4) for score, each in at.items()}
    told = {"exact": short(at["dot"].exact, 7), "exact_mean": short(at["dot"].exact_mean, 7)}
    st.markdown(say(f"lessons.scale.breaks_{dependence}", d_k=d_k, **words, **means, **told))
    colours = {"dot": palette().plus, "scaled_dot": palette().share}
    measured = [curve(score, [each[score] for each in found], colour) for score, colour in colours.items()]
    alone = [independent(score, f"independent_{score}") for score in SCORES]
    y = Axis(say("lessons.scale.axis.variance"), 0.5, 2e6, log=True)
    picture = curves([*alone, *measured], width_axis(), y, palette(), at=d_k, height=260)
    curve_chart(picture, "scale_breaks", say("lessons.scale.alt", what=y.title))


def scores(d_k: int, seed: int) -> None:
    """How drawn scores lie around 0, undivided and divided."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        law = choose("law_scores", NAMES, words=lambda name: say(f"lessons.scale.option.law.{name}"))
        limit = slide("limit", (2, 5, 10, 20, 50, 100), 10)
    found = histograms_of(law, "independent", d_k, limit, 40, DRAWS, seed)
    outside = {score: f"{each.outside:,}" for score, each in found.items()}
    st.markdown(say("lessons.scale.outside", limit=limit, draws=f"{DRAWS:,}", **outside))
    shares = [found[score].shares for score in SCORES]
    edges = found["dot"].edges
    x = Axis(say("lessons.scale.axis.score"), edges[0], edges[-1], values=edges[::10])
    y = Axis(say("lessons.scale.axis.share"), 0.0, max(map(max, shares)))
    colours = palette().plus, palette().share
    picture = histogram(edges, shares, colours, x, y, palette())
    curve_chart(picture, "scale_scores", say("lessons.scale.alt_scores"))


def gradient(runs: Mapping[str, Setup]) -> None:
    """The Jacobian of the draw, undivided and divided, in one scale of colours."""
    traces = {name: with_jacobian(trace_of(run)) for name, run in runs.items()}
    words = {name: fixed(sharpness(trace["scaled_scores"][0, 0], 1.0).slope.mean, 3) for name, trace in traces.items()}
    st.markdown(say("lessons.scale.gradient", **words))
    reach = max(span(trace, "jacobian") for trace in traces.values())
    with st.container(horizontal=True):
        for name, trace in traces.items():
            with st.container(width="content"):
                st.caption(say(f"lessons.scale.curve.{name}"))
                show_step(f"jacobian_{name}", trace, "jacobian", FIRST, reach)
