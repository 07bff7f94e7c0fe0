"""Draws the accordions of the lesson on the scale, and provides functions that its page uses too."""

from collections.abc import Mapping, Sequence

import streamlit as st

from attention_core.analysis.dot_product_moments import MeasuredVariance, exact_moments, score_factors
from attention_core.analysis.softmax_saturation import measure_sharpness
from attention_core.analysis.softmax_steps import with_jacobian
from attention_core.drawing.axes import Axis
from attention_core.drawing.cells import colour_reach
from attention_core.drawing.curves import Curve, curves, histogram_picture
from attention_core.record.number_text import format_fixed, format_short
from pages.lessons.frame import Lesson
from pages.lessons.pictures import FIRST_SELECTION, show_step_picture
from pages.lessons.sentences import show_sentence
from pages.lessons.trained_model import show_without
from pages.panels.chart import show_curve_chart
from pages.panels.link_controls import choose_option, slide
from pages.panels.progress import compute_one_by_one
from pages.runs.cache import cached_histograms, cached_variances, trace_for
from pages.session.labels import current_palette
from pages.setup.setup import Setup
from pages.site.words import say

# ---- the widths d_k in the charts, and their axis --------------------------------------------------------------------
SCALE_WIDTHS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)


def width_axis() -> Axis:
    """Returns the horizontal axis of the lesson's charts: d_k, on a logarithmic scale."""
    return Axis(
        "dₖ",
        SCALE_WIDTHS[0],
        SCALE_WIDTHS[-1],
        log=True,
        values=SCALE_WIDTHS[::2],
    )


# ---- curves of the variance of sampled scores against d_k, measured and exact ----------------------------------------
VARIANCE_DRAWS = 5000
COMPARED_DOT_SCORES = ("dot", "scaled_dot")
DRAWN_LAW_NAMES = ("normal", "signs", "uniform")  # names of the distributions on offer


def choose_law(name: str) -> str:
    """Shows a choice of the distribution of the sampled components, and returns its name.

    name: the name of the control, because an accordion may have several such choices.
    """
    return choose_option(name, DRAWN_LAW_NAMES, words=lambda law: say(f"lessons.scale.option.law.{law}"))


def measure_variances_by_width(
    law: str, dependence: str, draws: int, seed: int
) -> list[Mapping[str, MeasuredVariance]]:
    """Returns the measured variances of sampled scores as {score: variance}, for each d_k in SCALE_WIDTHS.

    law: the distribution of the components. draws: the number of samples.
    """

    def measure(width: int) -> Mapping[str, MeasuredVariance]:
        return cached_variances(law, dependence, width, draws, seed)

    return compute_one_by_one(measure, SCALE_WIDTHS)


def make_measured_curve(name: str, score: str, found: Sequence[Mapping[str, MeasuredVariance]], colour: str) -> Curve:
    """Returns the curve of a score's measured variance against d_k, with a band around the exact variance.

    name: the text key of the curve. found: the measured variances for each d_k.
    """
    of_score = [by_score[score] for by_score in found]
    return Curve(
        say(f"lessons.scale.curve.{name}"),
        SCALE_WIDTHS,
        [variance.measured for variance in of_score],
        colour,
        band=[(variance.low, variance.high) for variance in of_score],
    )


def make_independent_curve(name: str, score: str) -> Curve:
    """Returns the curve of a score's exact variance against d_k for independent components.

    The variance is equal for all distributions with mean 0 and variance 1.
    """
    variances = []
    for width in SCALE_WIDTHS:
        moments = exact_moments("normal", "independent", width)
        scaled = moments.scaled(score_factors(width)[score])
        variances.append(scaled.variance)
    return Curve(
        say(f"lessons.scale.curve.{name}"),
        SCALE_WIDTHS,
        variances,
        current_palette().x,
        dashed=True,
    )


# ---- drawer "variance": is the variance of a score d_k? --------------------------------------------------------------
VARIANCE_RANGES = {  # number of samples -> ends of the axis for the variance of divided scores, which is about 1
    100: (0.0, 2.0),
    1000: (0.7, 1.3),
    5000: (0.85, 1.15),
}


def show_variance(d_k: int, seed: int) -> None:
    """Shows the measured variance of scores: about d_k before the division by √d_k, about 1 after it.

    The variance is nearly the same for every distribution of the components.
    """
    with st.container(horizontal=True, vertical_alignment="bottom"):
        law = choose_law("law")
        draws = slide("draws", tuple(VARIANCE_RANGES), VARIANCE_DRAWS)
    found = measure_variances_by_width(law, "independent", draws, seed)
    measured = {}
    for name in DRAWN_LAW_NAMES:
        by_score = cached_variances(name, "independent", d_k, draws, seed)
        measured[name] = format_short(by_score["dot"].measured, 4)
    show_sentence("lessons.scale.variance", d_k=d_k, draws=f"{draws:,}", **measured)
    divided_range = VARIANCE_RANGES[draws]
    axes = {
        "dot": Axis(say("lessons.scale.axis.dot"), 0.5, 2000.0, log=True),
        "scaled_dot": Axis(say("lessons.scale.axis.scaled_dot"), *divided_range),
    }
    palette = current_palette()
    with st.container(horizontal=True):
        show_variance_chart("dot", found, axes["dot"], palette.plus, d_k)
        show_variance_chart("scaled_dot", found, axes["scaled_dot"], palette.share, d_k)


def show_variance_chart(
    score: str, found: Sequence[Mapping[str, MeasuredVariance]], y: Axis, colour: str, d_k: int
) -> None:
    """Shows the variance of one kind of score against d_k: the measured and the exact variance."""
    compared = [
        make_independent_curve("exact", score),
        make_measured_curve("measured", score, found, colour),
    ]
    picture = curves(
        compared,
        width_axis(),
        y,
        current_palette(),
        at=d_k,
        width=330,
        height=240,
    )
    show_curve_chart(picture, f"scale_{score}", say("lessons.scale.alt", what=y.title))


# ---- drawer "gradient": how much gradient does the softmax pass on? --------------------------------------------------
def show_softmax_gradient(runs: Mapping[str, Setup]) -> None:
    """Shows the softmax's Jacobian for one sample of scores, both undivided and divided by √d_k, on a common colour
    scale.
    """
    traces = {score: with_jacobian(trace_for(run)) for score, run in runs.items()}
    slopes = {}
    for score, trace in traces.items():
        row = trace["scaled_scores"][0, 0]  # (T, S)
        slope = measure_sharpness(row, 1.0).slope
        slopes[score] = format_fixed(slope.mean, 3)
    show_sentence("lessons.scale.gradient", **slopes)
    reach = max(colour_reach(trace, "jacobian") for trace in traces.values())
    with st.container(horizontal=True):
        for score, trace in traces.items():
            with st.container(width="content"):
                st.caption(say(f"lessons.scale.curve.{score}"))
                show_step_picture(
                    f"jacobian_{score}",
                    trace,
                    "jacobian",
                    FIRST_SELECTION,
                    reach,
                )


# ---- drawer "breaks": which assumptions does the argument need? ------------------------------------------------------
def show_broken_assumptions(d_k: int, seed: int) -> None:
    """Shows how the variance of scores changes if q and k, or the components within them, depend on each other."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        dependence = choose_option("dependence", ("same", "silent", "repeated"))
        law = choose_law("law_breaks")
    found = measure_variances_by_width(law, dependence, VARIANCE_DRAWS, seed)
    chosen = found[SCALE_WIDTHS.index(d_k)]
    values = {}
    for score, variance in chosen.items():
        values[score] = format_short(variance.measured, 4)
        values[f"{score}_mean"] = format_short(variance.mean, 4)
    once = "_once" if dependence == "repeated" and d_k == 1 else ""
    show_sentence(
        f"lessons.scale.breaks_{dependence}{once}",
        d_k=d_k,
        exact=format_short(chosen["dot"].exact, 7),
        exact_mean=format_short(chosen["dot"].exact_mean, 7),
        **values,
    )
    palette = current_palette()
    compared = [make_independent_curve(f"independent_{score}", score) for score in COMPARED_DOT_SCORES]
    compared.append(make_measured_curve("dot", "dot", found, palette.plus))
    compared.append(make_measured_curve("scaled_dot", "scaled_dot", found, palette.share))
    y = Axis(say("lessons.scale.axis.variance"), 0.5, 2e6, log=True)
    picture = curves(compared, width_axis(), y, palette, at=d_k, height=260)
    show_curve_chart(picture, "scale_breaks", say("lessons.scale.alt", what=y.title))
    show_without("scale")


# ---- drawer "scores": how are the scores distributed around 0? -------------------------------------------------------
HISTOGRAM_BINS = 40


def show_score_histogram(d_k: int, seed: int) -> None:
    """Shows the histogram of sampled scores around 0, both undivided and divided by √d_k."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        law = choose_law("law_scores")
        limit = slide("limit", (2, 5, 10, 20, 50, 100), 10)
    found = cached_histograms(law, "independent", d_k, limit, HISTOGRAM_BINS, VARIANCE_DRAWS, seed)
    outside = {score: f"{histogram.outside:,}" for score, histogram in found.items()}
    show_sentence("lessons.scale.outside", limit=limit, draws=f"{VARIANCE_DRAWS:,}", **outside)
    shares = [found[score].shares for score in COMPARED_DOT_SCORES]
    highest = max(max(of_score) for of_score in shares)
    edges = found["dot"].edges
    x = Axis(say("lessons.scale.axis.score"), edges[0], edges[-1], values=edges[::10])
    y = Axis(say("lessons.scale.axis.share"), 0.0, highest)
    palette = current_palette()
    picture = histogram_picture(
        edges,
        shares,
        (palette.plus, palette.share),
        x,
        y,
        palette,
    )
    show_curve_chart(picture, "scale_scores", say("lessons.scale.alt_scores"))


LESSON = Lesson(
    "scale",
    drawers={
        "variance": show_variance,
        "gradient": show_softmax_gradient,
        "breaks": show_broken_assumptions,
        "scores": show_score_histogram,
    },
    code=("scores", "scaled_scores", "weights", "jacobian"),
)
