"""The lesson on the scale, drawer "scores": how do the scores lie around 0?"""

import streamlit as st

from attention_core.drawing.axes import Axis
from attention_core.drawing.curves import histogram_picture
from pages.lessons.scale.variance_curves import COMPARED_DOT_SCORES, VARIANCE_DRAWS, choose_law
from pages.lessons.sentences import show_sentence
from pages.panels.chart import show_curve_chart
from pages.panels.link_controls import slide
from pages.runs.cache import cached_histograms
from pages.session.labels import current_palette
from pages.site.words import say

HISTOGRAM_BINS = 40


def show_score_histogram(d_k: int, seed: int) -> None:
    """Shows how drawn scores lie around 0, undivided and divided."""
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
