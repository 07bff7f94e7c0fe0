"""The picture of the lesson on one vector: letters through one neck of numbers, beside attention's threads."""

from collections.abc import Mapping

import numpy as np
import streamlit as st

from attention_core import Trace
from attention_core.drawing.palette import shade_cells
from attention_core.learned.insight.views import context_vector, symbol_labels
from pages import components
from pages.lessons.learned.writers import MAX_WRITTEN_ROWS, WRITING_TASKS, WritingResult
from pages.lessons.opened_cell import get_opened_ref, handle_picture_click
from pages.lessons.pictures import show_arithmetic_under
from pages.panels.link_controls import option_labels
from pages.panels.live_choice import LiveChoice, describe_followed
from pages.runs.cache import cache_by_setup, trace_for
from pages.runs.network_store import find_network
from pages.session.collected import show_moving
from pages.session.labels import current_palette
from pages.site.words import get_text_template, say

NAME = "neck"  # of the picture
KEY = "bottleneck_neck"
TEXTS = ("label", "at", "from_one", "from_all", "ended")


@cache_by_setup
def find_context_vector(network: str, text: str) -> list[float]:
    """The one vector between what is read and what is written."""
    return context_vector(find_network(network), text).tolist()


def show_neck(
    task: str,
    symbols: tuple[str, ...],
    step: LiveChoice,
    networks: Mapping[str, str],
    results: Mapping[str, WritingResult],
) -> None:
    """Shows how each network writes its letters, and below that the arithmetic of the weight that is opened.

    symbols: that are read. networks: by kind. results: what each has written."""
    ways = [describe_way(task, symbols, kind, networks[kind], result) for kind, result in results.items()]
    ways = ways[::-1]  # the one vector stands first
    trace = next((trace_for(result.setup) for result in results.values() if result.setup), None)
    data = {
        "run": repr((task, symbols, networks)),
        "read": symbol_labels(symbols),
        "ways": ways,
        "start": find_start(ways),
        "slider": describe_followed(step),
        "palette": vars(current_palette()),
        "text": {name: get_text_template(f"lessons.bottleneck.neck.{name}") for name in TEXTS}
        | {"play": say("walk.play"), "pause": say("walk.pause")},
    }
    show_moving(components.neck, data=data, key=KEY, on_opened=lambda place: take_opened(trace, *place))
    opened = trace and get_opened_ref(NAME, trace)
    if opened:
        with st.container(border=True):
            show_arithmetic_under(NAME, {"": trace}, "", opened)


def take_opened(trace: Trace | None, row: int, column: int) -> None:
    """Opens the weight that a browser names."""
    if trace:
        handle_picture_click(NAME, {"": trace}, {"step": "weights", "index": (0, 0, row, column)})


def describe_way(
    task: str, symbols: tuple[str, ...], kind: str, network: str, result: WritingResult
) -> dict[str, object]:
    """What is drawn of a network: its letters, and its vector or its weights."""
    written = result.written[:MAX_WRITTEN_ROWS]
    wanted = WRITING_TASKS[task].answer("".join(symbols))
    way = {
        "name": option_labels("kind")(kind),
        "written": symbol_labels(tuple(written)),
        "right": mark_letters(written, wanted),
    }
    if kind == "one":
        return way | {"fills": shade_vector(find_context_vector(network, "".join(symbols)))}
    weights = trace_for(result.setup)["weights"][0, 0].tolist() if result.setup else []  # (T, S)
    return way | {"weights": weights}


def mark_letters(written: str, wanted: str | None) -> list[bool | None]:
    """Says of each letter whether it is right; None where nobody knows.

    >>> mark_letters("cbb", "cba")
    [True, True, False]
    """
    if wanted is None:
        return [None] * len(written)
    return [wanted[i : i + 1] == letter for i, letter in enumerate(written)]


def shade_vector(vector: list[float]) -> list[str]:
    """The colours of a vector's numbers."""
    values = np.array(vector)
    colours, _ = shade_cells(values, float(abs(values).max()), is_share=False, palette=current_palette())
    return colours


def find_start(ways: list[dict]) -> int:
    """The place at which the picture begins: the first letter that one of them gets wrong, else the last."""
    wrong = [i for way in ways for i, right in enumerate(way["right"]) if right is False]
    last = max((len(way["written"]) for way in ways), default=0) - 1
    return min(wrong, default=max(last, 0))
