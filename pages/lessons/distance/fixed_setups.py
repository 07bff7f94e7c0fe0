"""Setups of the lesson on distance whose weights are independent of the words: a kernel's, or by position alone."""

from dataclasses import replace

from attention_core.inputs.matrix_edits import to_places
from attention_core.inputs.matrix_text import to_text
from attention_core.variants.convolution import attend_by_position, kernel_band, read_taps
from pages.lessons.encoders import PLAIN_LAYER
from pages.runs.cache import trace_for
from pages.setup.setup import Setup

PROJECTIONS = ("w_q", "w_k", "w_v")


def setup_with_kernel(own: Setup, taps: str) -> Setup:
    """Makes the Setup with a kernel's weights instead of computed ones."""
    length = trace_for(own).sizes()["T"]
    weights = kernel_band(read_taps(taps), length)  # (T, T)
    no_projections = dict.fromkeys(PROJECTIONS, "none")
    return replace(
        own,
        **PLAIN_LAYER,
        **no_projections,
        weights=to_places(weights[None, None].numpy()),  # (1, 1, T, T)
    )


def setup_with_offset_scores(own: Setup, scores: str) -> Setup:
    """Makes the Setup in which each score depends only on the offset between two positions."""
    x = trace_for(own)["x"][0]  # (T, D)
    run = attend_by_position(x, read_taps(scores))
    projections = {name: to_text(run.step(name).window()) for name in PROJECTIONS}
    widened = run.step("x").window(B=0)
    return replace(
        own,
        **PLAIN_LAYER,
        **projections,
        scale=1.0,
        x=to_text(widened),
    )


FIXED_WEIGHT_SETUPS = {"kernel": setup_with_kernel, "position": setup_with_offset_scores}
DEFAULT_TAPS = {"kernel": "0.2, 0.5, 0.3", "position": "4, 0, 0"}
