"""Lesson 3, further sights: the variance measured, where the argument breaks, the scores, the gradient."""

from collections.abc import Mapping, Sequence

import streamlit as st

from attention_core.analysis.dot_product_moments import MeasuredVariance, exact_moments, score_factors
from attention_core.analysis.softmax_jacobian import with_jacobian
from attention_core.analysis.softmax_saturation import measure_sharpness
from attention_core.drawing.axes import Axis
from attention_core.drawing.cells import colour_reach
from attention_core.drawing.curves import Curve, curves, histogram_picture
from attention_core.record.number_text import format_fixed, format_short
from pages.lessons.pictures import show_step_picture
from pages.panels.chart import show_curve_chart
from pages.panels.link_controls import choose_option, slide
from pages.panels.progress import compute_one_by_one
from pages.runs.cache import cached_histograms, cached_variances, trace_for
from pages.session.labels import Selection, current_palette
from pages.setup.setup import Setup
from pages.site.words import say

SCALE_WIDTHS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
VARIANCE_RANGES = {
    100: (0.0, 2.0),
    1000: (0.7, 1.3),
    5000: (0.85, 1.15),
}  # of so many draws: where a variance of 1 is measured
VARIANCE_DRAWS = 5000
COMPARED_DOT_SCORES = ("dot", "scaled_dot")
DRAWN_LAW_NAMES = ("normal", "signs", "uniform")  # of laws
FIRST_SELECTION = Selection(0, 0, 0, 0)


def width_axis() -> Axis:
    """Along which d_k grows."""
    return Axis("d_k", SCALE_WIDTHS[0], SCALE_WIDTHS[-1], log=True, values=SCALE_WIDTHS[::2])


def make_measured_curve(name: str, found: Sequence[MeasuredVariance], colour: str) -> Curve:
    """What was measured; the band is around what was worked out."""
    band = [(each.low, each.high) for each in found]
    return Curve(say(f"lessons.scale.curve.{name}"), SCALE_WIDTHS, [each.measured for each in found], colour, band=band)


def make_independent_curve(score: str, name: str) -> Curve:
    """What the variance is where all components are independent: any law of mean 0 and variance 1 has the same."""
    moments = [
        exact_moments("normal", "independent", width).scaled(score_factors(width)[score]) for width in SCALE_WIDTHS
    ]
    figures = [each.variance for each in moments]
    return Curve(say(f"lessons.scale.curve.{name}"), SCALE_WIDTHS, figures, current_palette().x, dashed=True)


def show_variance(d_k: int, seed: int) -> None:
    """The variance of scores whose components are drawn from several laws, beside d_k, and divided beside 1."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        law = choose_option("law", DRAWN_LAW_NAMES)
        draws = slide("draws", tuple(VARIANCE_RANGES), VARIANCE_DRAWS)
    found = compute_one_by_one(lambda width: cached_variances(law, "independent", width, draws, seed), SCALE_WIDTHS)
    at = {name: cached_variances(name, "independent", d_k, draws, seed)["dot"] for name in DRAWN_LAW_NAMES}
    words = {name: format_short(each.measured, 4) for name, each in at.items()}
    st.markdown(say("lessons.scale.variance", d_k=d_k, draws=f"{draws:,}", **words))
    axes = {"dot": Axis(say("lessons.scale.axis.dot"), 0.5, 2000.0, log=True)}
    axes["scaled_dot"] = Axis(say("lessons.scale.axis.scaled_dot"), *VARIANCE_RANGES[draws])
    with st.container(horizontal=True):
        for score, colour in zip(COMPARED_DOT_SCORES, (current_palette().plus, current_palette().share), strict=True):
            drawn = [
                make_independent_curve(score, "exact"),
                make_measured_curve("measured", [each[score] for each in found], colour),
            ]
            picture = curves(drawn, width_axis(), axes[score], current_palette(), at=d_k, width=330, height=240)
            show_curve_chart(picture, f"scale_{score}", say("lessons.scale.alt", what=axes[score].title))


def show_broken_assumptions(d_k: int, seed: int) -> None:
    """The same where q and k, or their components, hang together."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        dependence = choose_option("dependence", ("same", "silent", "repeated"))
        law = choose_option("law_breaks", DRAWN_LAW_NAMES, words=lambda name: say(f"lessons.scale.option.law.{name}"))
    found = compute_one_by_one(
        lambda width: cached_variances(law, dependence, width, VARIANCE_DRAWS, seed), SCALE_WIDTHS
    )
    at = found[SCALE_WIDTHS.index(d_k)]
    words = {score: format_short(each.measured, 4) for score, each in at.items()}
    means = {f"{score}_mean": format_short(each.mean, 4) for score, each in at.items()}
    told = {"exact": format_short(at["dot"].exact, 7), "exact_mean": format_short(at["dot"].exact_mean, 7)}
    st.markdown(say(f"lessons.scale.breaks_{dependence}", d_k=d_k, **words, **means, **told))
    colours = {"dot": current_palette().plus, "scaled_dot": current_palette().share}
    measured = [
        make_measured_curve(score, [each[score] for each in found], colour) for score, colour in colours.items()
    ]
    alone = [make_independent_curve(score, f"independent_{score}") for score in COMPARED_DOT_SCORES]
    y = Axis(say("lessons.scale.axis.variance"), 0.5, 2e6, log=True)
    picture = curves([*alone, *measured], width_axis(), y, current_palette(), at=d_k, height=260)
    show_curve_chart(picture, "scale_breaks", say("lessons.scale.alt", what=y.title))


def show_score_histogram(d_k: int, seed: int) -> None:
    """How drawn scores lie around 0, undivided and divided."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        law = choose_option("law_scores", DRAWN_LAW_NAMES, words=lambda name: say(f"lessons.scale.option.law.{name}"))
        limit = slide("limit", (2, 5, 10, 20, 50, 100), 10)
    found = cached_histograms(law, "independent", d_k, limit, 40, VARIANCE_DRAWS, seed)
    outside = {score: f"{each.outside:,}" for score, each in found.items()}
    st.markdown(say("lessons.scale.outside", limit=limit, draws=f"{VARIANCE_DRAWS:,}", **outside))
    shares = [found[score].shares for score in COMPARED_DOT_SCORES]
    edges = found["dot"].edges
    x = Axis(say("lessons.scale.axis.score"), edges[0], edges[-1], values=edges[::10])
    y = Axis(say("lessons.scale.axis.share"), 0.0, max(map(max, shares)))
    colours = current_palette().plus, current_palette().share
    picture = histogram_picture(edges, shares, colours, x, y, current_palette())
    show_curve_chart(picture, "scale_scores", say("lessons.scale.alt_scores"))


def show_softmax_gradient(runs: Mapping[str, Setup]) -> None:
    """The Jacobian of the draw, undivided and divided, in one scale of colours."""
    traces = {name: with_jacobian(trace_for(run)) for name, run in runs.items()}
    words = {
        name: format_fixed(measure_sharpness(trace["scaled_scores"][0, 0], 1.0).slope.mean, 3)
        for name, trace in traces.items()
    }
    st.markdown(say("lessons.scale.gradient", **words))
    reach = max(colour_reach(trace, "jacobian") for trace in traces.values())
    with st.container(horizontal=True):
        for name, trace in traces.items():
            with st.container(width="content"):
                st.caption(say(f"lessons.scale.curve.{name}"))
                show_step_picture(f"jacobian_{name}", trace, "jacobian", FIRST_SELECTION, reach)
