"""The lesson on one vector, drawer "growing": how does the alignment form in training?"""

from collections.abc import Sequence

import streamlit as st

from attention_core.drawing.specifications import PAGE_WIDTH_PX
from pages.lessons.learned.learning import TrainingRecord
from pages.lessons.learned.writers import shorten_writing, write_at_step
from pages.lessons.pictures import RunPicture, make_weights_map, show_side_by_side
from pages.runs.cache import trace_for
from pages.session.labels import selection_of
from pages.setup.setup import Setup
from pages.site.words import say

TINY_MAP_CELL_PX = 20.0  # pixels: a cell of maps of which several stand beside each other
MAX_GROWING_MAPS = 5


def show_growing_alignment(record: TrainingRecord, text: str) -> None:
    """Shows the map of the same text after several steps of the training."""
    pictures = []
    for step in thin_steps(record.steps):
        result = write_at_step(record, step, text)
        step_text = f"{step:,}"
        written = shorten_writing(result.written)
        if result.setup is None:
            st.caption(say("lessons.bottleneck.grown_nothing", step=step_text))
            continue
        title = say("lessons.bottleneck.grown", step=step_text, written=written)
        picture = make_tiny_map(f"grown_{step}", result.setup, title)
        pictures.append(picture)
    show_side_by_side(*pictures)
    if not record.own:
        st.caption(say("lessons.bottleneck.shipped_steps"))


def thin_steps(steps: Sequence[int]) -> list[int]:
    """Lists at most as many of the steps as maps stand beside each other, evenly, the last among them."""
    every = len(range(0, len(steps), MAX_GROWING_MAPS))
    from_the_last = steps[::-1][::every]
    return from_the_last[::-1]


def make_tiny_map(name: str, setup: Setup, title: str) -> RunPicture:
    """Draws the weights of a run in tiny cells."""
    trace = trace_for(setup)
    return make_weights_map(
        name,
        trace,
        selection_of(trace, setup),
        title,
        PAGE_WIDTH_PX,
        TINY_MAP_CELL_PX,
        outlined=False,
    )
