"""A and B: what was pinned beside what is on the screen, B - A, how far each row lies apart, which settings differ."""

from collections.abc import Callable

import pyarrow as pa
import streamlit as st

from attention_core import Trace
from attention_core.drawing.charts import Picture, head_map
from attention_core.drawing.comparison import RUN_SIGNS, format_row_figure, three_maps
from attention_core.drawing.text_layout import PictureTexts
from attention_core.explanation.facts import row_fact
from pages.panels import canvas_map, head_maps
from pages.panels.chart import show_chart
from pages.panels.setup_controls import show_refusal
from pages.panels.thumbnails import select_head, show_all_heads, show_strip
from pages.runs.cache import inputs_of, trace_for
from pages.session import setup_history
from pages.session.fragments import redraw, select_and_redraw
from pages.session.labels import axis_name, chosen_cell, current_palette, picture_texts_for, place_names
from pages.session.view import ScreenState
from pages.setup.setup import pinned_setup_of, with_view_of
from pages.site.words import escape_markdown, say
from pages.workbench import change
from pages.workbench.setting_differences import find_setting_differences

MAX_CELL_MAP_TOKENS = 20  # queries or keys: of more the three maps stand on canvases
COMPARED_CANVAS_CELLS = 128  # rows or columns of such a canvas
MAX_NAMED_ROWS, ROWS_TABLE_HEIGHT_PX = 4, 215  # rows that are named, and pixels of the table of all


def swap_and_redraw() -> None:
    """A becomes B and B becomes A."""
    setup_history.swap_a_and_b(trace_for)
    redraw()


def reset_b_and_redraw() -> None:
    """B becomes what A is."""
    setup_history.reset_b_to_a(trace_for)
    redraw()


def end_comparison() -> None:
    """The screen shows B alone."""
    select_and_redraw(against=None, pinned=None)


COMPARISON_BUTTONS: dict[str, tuple[str, Callable[[], None]]] = {
    "pin": ("keep", change.pin_and_redraw),
    "swap": ("swap_horiz", swap_and_redraw),
    "back": ("undo", reset_b_and_redraw),
    "end": ("close", end_comparison),
}


# ---- what is drawn ---------------------------------------------------------------------------------------------------
def make_compared_maps(scene: ScreenState) -> list[Picture]:
    """The maps as far as they stand in cells: one picture of all three, or A's and B's where their sizes differ."""
    runs = [run for run in (scene.a, scene.trace) if run is not None]
    if any(max(run.sizes()["T"], run.sizes()["S"]) > MAX_CELL_MAP_TOKENS for run in runs):
        return []
    if scene.before is None:
        return [
            make_run_map(scene, run, title)
            for run, title in zip(runs, title_compared_maps(scene)[-len(runs) :], strict=True)
        ]
    look, words = scene.look, (picture_texts_for(scene.a), picture_texts_for(scene.trace))
    return [
        three_maps(
            (scene.a, scene.trace, scene.weights_difference),
            (*words, make_difference_texts(*words)),
            current_palette(),
            look.head,
            look.query,
            (*title_compared_maps(scene), RUN_SIGNS[2]),
            [(say(f"compare.{name}"), say(f"compare.{name}_is")) for name in ("tv", "kl")],
            chosen_cell(scene.trace, scene.setup),
            look.batch,
            scene.times,
        )
    ]


def make_run_map(scene: ScreenState, run: Trace, title: str) -> Picture:
    """A's or B's map by itself."""
    sizes, look = run.sizes(), scene.look
    axes, head = (say("corner.T"), say("corner.S")), min(look.head, sizes["H"] - 1)
    place = {"query": look.query if run is scene.trace else None, "batch": min(look.batch, sizes["B"] - 1)}
    return head_map(
        run, head, picture_texts_for(run), current_palette(), times=scene.times, axes=axes, title=title, **place
    )


def title_compared_maps(scene: ScreenState) -> tuple[str, str]:
    """What stands over A's map and over B's; which head it is, and what it was built to do, is said once."""
    a, head = with_view_of(pinned_setup_of(scene.setup), scene.setup), scene.look.head
    name = "" if scene.a is None else head_maps.head_name(a, inputs_of(a), min(head, scene.a.sizes()["H"] - 1))
    return say("compare.title", sign=RUN_SIGNS[0], head=name), RUN_SIGNS[1]


def make_difference_texts(one: PictureTexts, other: PictureTexts) -> PictureTexts:
    """How the difference speaks: a token that is another one in B with both."""

    def labels(axis: str, position: int) -> str:
        was, now = one.labels(axis, position), other.labels(axis, position)
        return now if was == now or axis != "T" else f"{was} → {now}"

    return PictureTexts(other.describe, labels)


def show_comparison(scene: ScreenState, drawn: list[Picture]) -> None:
    """What changed most, as the heading; the ways on; which settings differ; the maps; the strip of B's steps."""
    st.markdown(f"##### {compared_heading(scene)}")
    show_comparison_buttons(scene)
    st.markdown(describe_setting_differences(scene))
    if drawn:
        show_compared_maps(scene, drawn)
    else:
        show_canvases(scene)
    if not has_few_heads(scene):
        show_all_heads(scene)
    show_strip(scene)


def compared_heading(scene: ScreenState) -> str:
    """What changed most, or why nothing can be compared cell by cell."""
    if scene.before is not None:
        return change.describe_change(scene)
    if scene.a is None:
        return say("compare.lost")
    one, other = (run["weights"].shape for run in (scene.a, scene.trace))
    dims = scene.trace.step("weights").dims
    parts = [say(f"compare.count.{dim}", a=a, b=b) for dim, a, b in zip(dims, one, other, strict=True) if a != b]
    return say("compare.sizes", sizes=say("fact.comma").join(parts))


def has_few_heads(scene: ScreenState) -> bool:
    """Whether the heads are so few that each is a word in a line, where else they are small maps."""
    return scene.trace.sizes()["H"] <= head_maps.LARGE_MAPS_LIMITS[0]


def show_comparison_buttons(scene: ScreenState) -> None:
    """Another A, swap, back to A, end; which of two heads; whether the other maps show the difference; the colours of
    long rows."""

    def switched() -> None:
        select_and_redraw(pinned="difference" if st.session_state["c_apart"] else "values")

    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        for name, (icon, act) in COMPARISON_BUTTONS.items():
            off = scene.a is None and name in ("swap", "back")
            how = {"icon": f":material/{icon}:", "type": "tertiary", "help": say(f"compare.{name}_help")}
            st.button(say(f"compare.{name}"), key=name, on_click=act, disabled=off, **how)
        off = scene.before is None or not scene.exchange.compared
        st.session_state["c_apart"] = scene.setup.pinned == "difference" and not off
        st.toggle(say("compare.apart"), key="c_apart", on_change=switched, width="content", disabled=off)
        if scene.trace.sizes()["H"] > 1 and has_few_heads(scene):
            head_picker(scene)
        if scene.trace.sizes()["S"] > head_maps.LONG_ROW_KEYS:
            head_maps.ramp_switch(scene)
    show_refusal(setup_history.COMPARISON_CONTROL)


def head_picker(scene: ScreenState) -> None:
    """Which of two heads."""
    st.session_state["c_compared_head"] = scene.look.head
    st.segmented_control(
        say("axis.H"),
        range(scene.trace.sizes()["H"]),
        format_func=lambda head: say("place.head", number=head + 1),
        key="c_compared_head",
        on_change=lambda: select_head(st.session_state["c_compared_head"]),
        required=True,
        label_visibility="collapsed",
    )


def describe_setting_differences(scene: ScreenState) -> str:
    """The settings that differ, each with A's value and B's."""
    if scene.a is None:
        return ""
    a = with_view_of(pinned_setup_of(scene.setup), scene.setup)
    found = find_setting_differences((a, scene.a, inputs_of(a)), (scene.setup, scene.trace, scene.inputs))
    said = [
        say(
            "compare.differs" if was else "compare.differ",
            name=escape_markdown(name),
            a=escape_markdown(was),
            b=escape_markdown(now),
        )
        for name, was, now in found
    ]
    return say("compare.settings", settings=say("compare.between").join(said)) if said else say("compare.alike")


# ---- up to 20 tokens: in cells ---------------------------------------------------------------------------------------
def show_compared_maps(scene: ScreenState, drawn: list[Picture]) -> None:
    """All three in one picture; A's and B's where there is no difference."""
    with st.container(horizontal=True, gap="small"):
        for picture, key in zip(drawn, ("compared",) if len(drawn) == 1 else ("compared_a", "compared_b"), strict=True):
            show_chart(picture, key, say("compare.alt"))
    if scene.before is not None:
        st.caption(explain_row_figures(scene))


def explain_row_figures(scene: ScreenState) -> str:
    """What the figures beside the rows are; why one is infinite, where one is."""
    endless = scene.row_distances[1].isinf().any()
    return say("compare.figures") + (say("compare.endless") if endless else "")


# ---- longer ones: on canvases ----------------------------------------------------------------------------------------
def show_canvases(scene: ScreenState) -> None:
    """A, B, and B - A; below them how far the rows lie apart."""
    look, apart = scene.look, scene.before is not None
    runs = {"a": scene.a, "b": scene.trace, "apart": scene.weights_difference}
    named = dict(zip(runs, (*title_compared_maps(scene), RUN_SIGNS[2]), strict=True))
    there = {name: run for name, run in runs.items() if run is not None}
    even = row_fact(scene.trace, look.head, look.query, look.batch).possible
    for column, (name, run) in zip(st.columns(len(there)), there.items(), strict=True):
        with column:
            st.markdown(escape_markdown(named[name]))
            linked = "compared" if apart else ""  # of the same size
            key = f"compared_{name}"
            canvas_map.show_large_map(
                scene, "weights", look.at, key, say("compare.alt"), even, run, COMPARED_CANVAS_CELLS, linked
            )
    if apart:
        st.caption(explain_row_figures(scene))
        show_row_distances(scene)


def show_row_distances(scene: ScreenState) -> None:
    """How far each row lies from the other: the farthest in a line, all of them in a drawer, the farthest first."""
    moved, surprise = scene.row_distances
    order = moved.argsort(descending=True, stable=True).tolist()
    names, tv, kl = place_names(scene.trace, "T", len(moved)), moved.tolist(), surprise.tolist()
    first = [
        say(
            "compare.row",
            query=escape_markdown(names[row]),
            tv=format_row_figure(tv[row]),
            kl=format_row_figure(kl[row]),
        )
        for row in order[:MAX_NAMED_ROWS]
    ]
    st.markdown(say("compare.farthest", rows=say("fact.comma").join(first)))
    drawer = st.expander(say("compare.rows"), icon=":material/table:", key="rows", on_change="rerun")
    if drawer.open:
        columns = {axis_name("T"): names, say("compare.tv"): tv, say("compare.kl"): [*map(format_row_figure, kl)]}
        table = {name: [column[row] for row in order] for name, column in columns.items()}
        drawer.dataframe(pa.table(table), height=ROWS_TABLE_HEIGHT_PX, hide_index=True)
