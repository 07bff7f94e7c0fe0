"""The lesson on the scale, drawer "variance": is the variance of a score d_k?"""

from collections.abc import Mapping, Sequence

import streamlit as st

from attention_core.analysis.dot_product_moments import MeasuredVariance
from attention_core.drawing.axes import Axis
from attention_core.drawing.curves import curves
from attention_core.record.number_text import format_short
from pages.lessons.scale.variance_curves import (
    DRAWN_LAW_NAMES,
    VARIANCE_DRAWS,
    choose_law,
    make_independent_curve,
    make_measured_curve,
    measure_variances_by_width,
)
from pages.lessons.scale.width_axis import width_axis
from pages.lessons.sentences import show_sentence
from pages.panels.chart import show_curve_chart
from pages.panels.link_controls import slide
from pages.runs.cache import cached_variances
from pages.session.labels import current_palette
from pages.site.words import say

VARIANCE_RANGES = {  # of so many draws: where a variance of 1 is measured
    100: (0.0, 2.0),
    1000: (0.7, 1.3),
    5000: (0.85, 1.15),
}


def show_variance(d_k: int, seed: int) -> None:
    """Shows the variance of scores whose components are drawn from several laws, beside d_k, and divided beside 1."""
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
    """Shows the variance of one score against d_k, measured and worked out."""
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
