"""Draws attention weights as curves ("threads") between two lines of words: queries in one line, keys in the other."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import streamlit as st

from attention_core import Trace
from attention_core.drawing.palette import shade_cells
from attention_core.explanation.facts import allowed_pairs
from pages import components
from pages.lessons.opened_cell import get_opened_cell, handle_picture_click
from pages.lessons.pictures import show_arithmetic_under
from pages.lessons.sentences import list_place_names
from pages.panels.lesson_choices import current_slug
from pages.panels.live_choice import Followed, describe_followed
from pages.session.collected import show_moving
from pages.session.labels import Selection, current_palette
from pages.site.words import get_text_template

THREAD_TEXTS = ("alt", "turn", "asks", "asked", "asks_short", "asked_short", "gives", "gets", "blocked")
MAX_CELLS = 8  # most components of a vector that are drawn beside its word
ASKING_VECTORS = {"q": "q", "head_outputs": "v"}  # step -> symbol (q or v) whose colour frames the cells of its vectors
ASKED_VECTORS = {"k": "k", "v": "v"}


@dataclass(frozen=True, eq=False)
class Way:
    """One direction of attention between two lines of words, such as from the upper to the lower line.

    name: the name of the run. asks: the line with the queries, 0 for the upper or 1 for the lower. selection: the
    selected head and query.
    """

    name: str
    trace: Trace
    asks: int
    selection: Selection


def show_threads(
    name: str,
    ways: Sequence[Way],
    way: int,
    lines: tuple[str, str],
    take: Callable[[int, int], None] | None = None,
    follows: Followed | None = None,
) -> None:
    """Draws the weights of a direction as curves between two lines of words, and below them the arithmetic of an open
    weight.

    name: the name of the picture. ways: one direction, both directions, or a direction for each position of a slider.
    way: the index of the direction that is shown. lines: the names of both lines. take: a callback that gets the
    indices of direction and word of a selected query; None if the server stores no selection. follows: the slider, if
    any.
    """
    runs = {each.name: each.trace for each in ways}

    def handle_choice(sent: tuple[int, int]) -> None:
        chosen, word = sent
        if take and word < ways[chosen].trace.sizes()["T"]:
            take(chosen, word)

    def handle_opening(sent: tuple[int, int, int]) -> None:
        opened, query, asked = sent
        at = ways[opened].selection
        cell = (at.batch, at.head, query, asked)
        handle_picture_click(name, runs, {"step": f"{ways[opened].name}:weights", "index": cell})

    slider = follows and describe_followed(follows)
    show_moving(
        components.word_threads,
        data=make_threads_data(ways, way, lines) | {"hears": take is not None, "slider": slider},
        key=f"{current_slug()}_{name}",
        given={"ways": len(ways)},
        on_chosen=handle_choice,
        on_opened=handle_opening,
    )
    opened = get_opened_cell(name, runs)
    if opened:
        with st.container(border=True):
            show_arithmetic_under(name, runs, *opened)


def make_threads_data(ways: Sequence[Way], way: int, lines: tuple[str, str]) -> dict:
    """Returns the data from which the browser draws the curves: the words of both lines, directions, texts and
    colours.
    """
    first = ways[0]
    asking = list_place_names(first.trace, "T")
    asked = list_place_names(first.trace, "S")
    words = [asking, asked] if first.asks == 0 else [asked, asking]
    texts = {name: get_text_template(f"threads.{name}") for name in THREAD_TEXTS}
    return {
        "run": " ".join([*words[0], "|", *words[1]]),
        "lines": words,
        "ways": [describe_way(each) for each in ways],
        "way": way,
        "palette": vars(current_palette()),
        "names": list(lines),
        "text": texts,
    }


def describe_way(way: Way) -> dict[str, object]:
    """Returns a direction as data for the browser: the line with its queries, its weights and its coloured vectors.

    A weight is None if its pair is masked.
    """
    at = way.selection
    weights = way.trace["weights"][at.batch, at.head]  # (T, S)
    allowed = allowed_pairs(way.trace)[at.batch, at.head]
    rows = []
    for row, open_to in zip(weights.tolist(), allowed.tolist(), strict=True):
        rows.append([weight if is_open else None for weight, is_open in zip(row, open_to, strict=True)])
    vectors = [shade_vectors(way, ASKING_VECTORS), shade_vectors(way, ASKED_VECTORS)]
    return {
        "asks": way.asks,
        "chosen": at.query,
        "weights": rows,
        "vectors": vectors if way.asks == 0 else vectors[::-1],
    }


def shade_vectors(way: Way, steps: dict[str, str]) -> list[dict[str, object]]:
    """Returns, for each step with at most MAX_CELLS components, the symbol and the colours of each word's cells."""
    at = way.selection
    shaded = []
    for step, symbol in steps.items():
        heads = way.trace[step][at.batch]  # (heads, words, width)
        of_head = heads[at.kv if step in ASKED_VECTORS else at.head]
        width = of_head.shape[-1]
        if width > MAX_CELLS:
            continue
        values = of_head.reshape(-1).numpy()  # (words, width) -> (words * width,)
        colours, _ = shade_cells(values, float(abs(values).max()), is_share=False, palette=current_palette())
        fills = [colours[start : start + width] for start in range(0, len(colours), width)]
        shaded.append({"look": symbol, "fills": fills})
    return shaded
