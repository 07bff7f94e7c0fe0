"""The lesson on the scale, drawer "gradient": how much gradient comes through?"""

from collections.abc import Mapping

import streamlit as st

from attention_core.analysis.softmax_jacobian import with_jacobian
from attention_core.analysis.softmax_saturation import measure_sharpness
from attention_core.drawing.cells import colour_reach
from attention_core.record.number_text import format_fixed
from pages.lessons.pictures import FIRST_SELECTION, show_step_picture
from pages.lessons.sentences import show_sentence
from pages.runs.cache import trace_for
from pages.setup.setup import Setup
from pages.site.words import say


def show_softmax_gradient(runs: Mapping[str, Setup]) -> None:
    """Shows the Jacobian of the draw, undivided and divided, in one scale of colours."""
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
