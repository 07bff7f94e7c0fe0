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
from pages.panels.lesson_choices import store_choice
from pages.session.labels import current_palette
from pages.site.words import say

TRIANGLE_STATES = {
    "with": (STATE_COMPUTED, STATE_KEPT, STATE_ABSENT),
    "without": (STATE_COMPUTED, STATE_AGAIN, STATE_ABSENT),
}  # the states that a triangle explains


def show_triangles(names: Sequence[str], step: int, count: int) -> None:
    """Draws both triangles up to a step. A click on a cell leads to its step.

    names: of the tokens. count: how many tokens there are at that step."""

    def describe_cell(step: int, token: int, state: str) -> str:
        return say("lessons.decoding.cell", step=names[step], token=names[token])

    def take_cell(place: object) -> None:
        match place:
            case {"index": [int(clicked), int()]} if clicked < len(names):
                store_choice("t", clicked)

    for kind, states in TRIANGLE_STATES.items():
        is_cached = kind == "with"
        computed = total_work(count, cached=is_cached)
        title = say(f"lessons.decoding.{kind}", keys=computed.keys)
        triangle = CacheTriangle(title, cache_states(len(names), cached=is_cached))
        legend = {state: say(f"lessons.decoding.state.{state}") for state in states}
        picture = triangle_picture(triangle, names, step, describe_cell, legend, current_palette())
        alt = say("lessons.decoding.alt", title=title)
        show_chart(picture, f"decoding_{kind}", alt, take_cell)
