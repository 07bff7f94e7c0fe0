"""The lesson on the scale, drawer "breaks": where does the argument break?"""

import streamlit as st

from attention_core.drawing.axes import Axis
from attention_core.drawing.curves import curves
from attention_core.record.number_text import format_short
from pages.lessons.scale.variance_curves import (
    COMPARED_DOT_SCORES,
    VARIANCE_DRAWS,
    choose_law,
    make_independent_curve,
    make_measured_curve,
    measure_variances_by_width,
)
from pages.lessons.scale.width_axis import SCALE_WIDTHS, width_axis
from pages.lessons.sentences import show_sentence
from pages.lessons.trained_model import show_without
from pages.panels.chart import show_curve_chart
from pages.panels.link_controls import choose_option
from pages.session.labels import current_palette
from pages.site.words import say


def show_broken_assumptions(d_k: int, seed: int) -> None:
    """Shows the variance of scores where q and k, or their components, depend on each other."""
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
