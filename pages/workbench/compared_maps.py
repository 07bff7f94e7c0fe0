"""Shows the attention maps of the compared runs A and B and of B - A, and the distances between their rows."""

from dataclasses import replace
from functools import partial

import pyarrow as pa
import streamlit as st

from attention_core import Trace
from attention_core.drawing.charts import head_map
from attention_core.drawing.comparison import RUN_SIGNS, format_row_figure, three_maps
from attention_core.drawing.specifications import Picture
from attention_core.drawing.text_layout import PictureTexts
from attention_core.explanation.facts import row_fact
from pages.panels import canvas_map
from pages.panels.chart import draw_for_widths, show_chart
from pages.panels.head_maps import head_name
from pages.runs.cache import inputs_of
from pages.session.labels import axis_name, chosen_cell, current_palette, picture_texts_for, place_names
from pages.session.view import ScreenState
from pages.site.words import escape_markdown, say

MAX_CELL_MAP_TOKENS = 20  # most queries or keys of a map with separate cells; larger maps are drawn on canvases
COMPARED_CANVAS_CELLS = 128  # most rows or columns that a canvas draws of a map
ROWS_SWITCH_KEY = "c_rows"  # session key of the switch that shows the distances between rows of A and B
MAX_NAMED_ROWS, ROWS_TABLE_HEIGHT_PX = 4, 215  # most rows named in the sentence; height of the table of all rows


def make_compared_maps(screen: ScreenState) -> list[Picture]:
    """Returns the compared attention maps drawn in cells; [] if the maps are too large for cells.

    They are one picture of A, B and B - A, or two pictures of A and B if the sizes of A and B differ.
    """
    sizes = [run.sizes() for run in (screen.a, screen.trace) if run is not None]
    if any(max(size["T"], size["S"]) > MAX_CELL_MAP_TOKENS for size in sizes):
        return []
    title_a, title_b = title_compared_maps(screen)
    if screen.before is not None:
        return [make_three_maps(screen, title_a, title_b)]
    picture_b = make_run_map(screen, screen.trace, title_b)
    if screen.a is None:
        return [picture_b]
    return [make_run_map(screen, screen.a, title_a), picture_b]


def make_three_maps(screen: ScreenState, title_a: str, title_b: str, stacked: bool = False) -> Picture:
    """Returns one picture with the maps of A, B and B - A.

    stacked: whether the maps are below each other, for a narrow screen.
    """
    selection = screen.selection
    texts_a = picture_texts_for(screen.a)
    texts_b = picture_texts_for(screen.trace)
    shown = ("tv", "kl") if st.session_state.get(ROWS_SWITCH_KEY) else ()
    row_figures = [(say(f"compare.{name}"), say(f"compare.{name}_is")) for name in shown]
    return three_maps(
        (screen.a, screen.trace, screen.weights_difference),
        (texts_a, texts_b, make_difference_texts(texts_a, texts_b)),
        current_palette(),
        selection.head,
        selection.query,
        (title_a, title_b, RUN_SIGNS[2]),
        row_figures,
        chosen_cell(screen.trace, screen.setup),
        selection.batch,
        screen.times,
        stacked,
    )


def make_run_map(screen: ScreenState, run: Trace, title: str) -> Picture:
    """Returns the attention map of one of the compared runs, A or B, as a separate picture."""
    sizes, selection = run.sizes(), screen.selection
    return head_map(
        run,
        min(selection.head, sizes["H"] - 1),
        picture_texts_for(run),
        current_palette(),
        query=selection.query if run is screen.trace else None,
        times=screen.times,
        batch=min(selection.batch, sizes["B"] - 1),
        axes=(say("corner.T"), say("corner.S")),
        title=title,
    )


def title_compared_maps(screen: ScreenState) -> tuple[str, str]:
    """Returns the titles of the maps of A and of B.

    The title of A has the name of the head; the title of B has a name only if its head may be another one.
    """
    sign_a, sign_b, _ = RUN_SIGNS
    if screen.a is None:
        return say("compare.title", sign=sign_a, head=""), sign_b
    setup_a = replace(screen.setup, run=screen.setup.comparison.run_a)
    head = min(screen.selection.head, screen.a.sizes()["H"] - 1)
    title_a = say("compare.title", sign=sign_a, head=head_name(setup_a, inputs_of(setup_a), head))
    if screen.before is not None:
        return title_a, sign_b
    name_b = head_name(screen.setup, screen.inputs, screen.selection.head)
    return title_a, say("compare.title", sign=sign_b, head=name_b)


def make_difference_texts(one: PictureTexts, other: PictureTexts) -> PictureTexts:
    """Returns the texts of the difference map. A query that differs between A and B is labelled with both words."""

    def label_place(axis: str, position: int) -> str:
        before = one.labels(axis, position)
        now = other.labels(axis, position)
        if before == now or axis != "T":
            return now
        return f"{before} → {now}"

    return PictureTexts(other.describe, label_place)


def show_compared_maps(screen: ScreenState, pictures: list[Picture]) -> None:
    """Shows the compared attention maps as pictures, or on canvases if `pictures` is empty.

    Shows also the distances between rows, if these are switched on.
    """
    if pictures and screen.before is not None:
        stacked = make_three_maps(screen, *title_compared_maps(screen), stacked=True)
        draw_for_widths(
            "compared",
            partial(show_chart, pictures[0], "compared", say("compare.alt")),
            partial(show_chart, stacked, "compared_stacked", say("compare.alt")),
            width="stretch",
        )
    elif pictures:
        keys = ["compared"] if len(pictures) == 1 else ["compared_a", "compared_b"]
        with st.container(horizontal=True, gap="small"):
            for picture, key in zip(pictures, keys, strict=True):
                show_chart(picture, key, say("compare.alt"))
    else:
        show_canvases(screen)
    if screen.before is not None and st.toggle(say("compare.rows"), key=ROWS_SWITCH_KEY):
        st.caption(explain_row_figures(screen))
        if not pictures:
            show_row_distances(screen)


def explain_row_figures(screen: ScreenState) -> str:
    """Returns the text that explains the distances beside the rows, also infinite distances if there are any."""
    _, divergences = screen.row_distances
    explanation = say("compare.figures")
    if divergences.isinf().any():
        explanation += say("compare.endless")
    return explanation


# ---- larger maps, on canvases ----------------------------------------------------------------------------------------
def show_canvases(screen: ScreenState) -> None:
    """Shows the attention maps of A, B and B - A on canvases side by side; maps that do not exist are left out."""
    title_a, title_b = title_compared_maps(screen)
    canvases = [
        ("compared_a", title_a, screen.a),
        ("compared_b", title_b, screen.trace),
        ("compared_apart", RUN_SIGNS[2], screen.weights_difference),
    ]
    shown = [canvas for canvas in canvases if canvas[2] is not None]
    for column, (key, title, run) in zip(st.columns(len(shown)), shown, strict=True):
        with column:
            st.markdown(escape_markdown(title))
            show_compared_canvas(screen, key, run)


def show_compared_canvas(screen: ScreenState, key: str, run: Trace) -> None:
    """Shows a map on a canvas. Canvases of equal size are linked, so that all of them highlight the same cell."""
    selection = screen.selection
    fact = row_fact(screen.trace, selection.head, selection.query, selection.batch)
    canvas_map.show_large_map(
        screen,
        "weights",
        selection.at,
        key,
        say("compare.alt"),
        even=fact.possible,
        run=run,
        most=COMPARED_CANVAS_CELLS,
        linked="" if screen.before is None else "compared",
    )


def show_row_distances(screen: ScreenState) -> None:
    """Shows the distances between the rows of A and B, largest first.

    A sentence names the rows with the largest distances, and a table has all rows.
    """
    variations, divergences = screen.row_distances  # (T,) each
    farthest_first = variations.argsort(descending=True, stable=True).tolist()
    names = place_names(screen.trace, "T", len(variations))
    tv, kl = variations.tolist(), divergences.tolist()
    sentences = []
    for row in farthest_first[:MAX_NAMED_ROWS]:
        sentence = say(
            "compare.row",
            query=escape_markdown(names[row]),
            tv=format_row_figure(tv[row]),
            kl=format_row_figure(kl[row]),
        )
        sentences.append(sentence)
    st.markdown(say("compare.farthest", rows=say("fact.comma").join(sentences)))
    table = {
        axis_name("T"): [names[row] for row in farthest_first],
        say("compare.tv"): [tv[row] for row in farthest_first],
        say("compare.kl"): [format_row_figure(kl[row]) for row in farthest_first],
    }
    st.dataframe(pa.table(table), height=ROWS_TABLE_HEIGHT_PX, hide_index=True)
