"""The lesson on softmax, drawer "stable": why is the largest number taken away first?"""

from collections.abc import Sequence

import streamlit as st

from attention_core.analysis.softmax_stages import NAIVE_SOFTMAX, STABLE_SOFTMAX
from attention_core.comparison.distances import abs_difference
from attention_core.verification.proof import find_overflow
from pages.export.page_links import link_to_workbench
from pages.lessons.pictures import FIRST_SELECTION, show_step_picture
from pages.lessons.sentences import format_gap, show_sentence
from pages.lessons.softmax.given_numbers import read_typed_numbers, setup_with_scores
from pages.panels.link_controls import choose_option, slide
from pages.runs.cache import trace_for
from pages.setup.setup import DTYPES
from pages.site.words import say

LARGE_NUMBERS = {"thousand": "1001, 1002, 1003", "tens": "10000, 9999.21875, 0, -10000"}
NUMBER_SHIFTS = (0, 1, 10, 100, 500, 1000)


def show_stable_softmax(own: Sequence[float]) -> None:
    """Shows the softmax as it is written, and with the largest number taken away first."""
    numbers = choose_numbers(own)
    with st.columns(2)[0]:
        shift = slide("shift", NUMBER_SHIFTS, 0)
    dtype = choose_option("dtype", DTYPES, words=lambda name: say(f"dtype.{name}"))
    setup = setup_with_scores(numbers, shift, dtype=dtype)
    trace = trace_for(setup).then(*NAIVE_SOFTMAX, *STABLE_SOFTMAX)
    unshifted = trace_for(setup_with_scores(numbers, dtype=dtype))
    moved = abs_difference(trace["weights"], unshifted["weights"]).max()
    values = {"dtype": dtype, "shift": shift, "gap": format_gap(moved.item())}
    verdict = "overflows" if find_overflow(trace) else "holds"
    show_sentence(f"lessons.softmax.{verdict}", **values)
    weights = trace["stable_weights"]
    zeros = int(weights.eq(0).sum())
    if zeros:
        show_sentence("lessons.softmax.underflows", dtype=dtype, zeros=zeros, count=weights.numel())
    show_sentence(f"lessons.softmax.shifted{'_rounded' if moved > 0 else ''}", **values)
    for step in ("naive_weights", "stable_weights"):
        show_step_picture(step, trace, step, FIRST_SELECTION)
    link_to_workbench(setup, "stable")


def choose_numbers(own: Sequence[float]) -> Sequence[float]:
    """Asks for large numbers, or the reader's own."""
    name = choose_option("numbers", (*LARGE_NUMBERS, "own"))
    if name == "own":
        return own
    return read_typed_numbers(LARGE_NUMBERS[name])
