"""The triangles of the lesson on decoding: which keys each step computes, with a cache and without one."""

from collections.abc import Sequence

from attention_core.drawing.cache_triangle import CacheTriangle, triangle_picture
from attention_core.variants.decoding_work import (
    STATE_ABSENT,
    STATE_AGAIN,
    STATE_COMPUTED,
    STATE_KEPT,
    cache_states,
    total_work,
)
from pages.panels.chart import show_chart
from pages.session.labels import current_palette
from pages.site.words import say

TRIANGLE_STATES = {
    "with": (STATE_COMPUTED, STATE_KEPT, STATE_ABSENT),
    "without": (STATE_COMPUTED, STATE_AGAIN, STATE_ABSENT),
}  # the states in each triangle's legend


def show_triangles(names: Sequence[str]) -> None:
    """Draws the triangles with a cache and without one. names: of the tokens."""

    def describe_cell(step: int, token: int, state: str) -> str:
        return say("lessons.decoding.cell", step=names[step], token=names[token])

    for kind, states in TRIANGLE_STATES.items():
        is_cached = kind == "with"
        computed = total_work(len(names), cached=is_cached)
        title = say(f"lessons.decoding.{kind}", keys=computed.keys)
        triangle = CacheTriangle(title, cache_states(len(names), cached=is_cached))
        legend = {state: say(f"lessons.decoding.state.{state}") for state in states}
        picture = triangle_picture(triangle, names, len(names) - 1, describe_cell, legend, current_palette())
        show_chart(picture, f"decoding_{kind}", say("lessons.decoding.alt", title=title), lambda cell: None)
