"""A and B: what was pinned beside what is on the screen, B - A, how far each row lies apart, which settings differ."""

from collections.abc import Callable

import pyarrow as pa
import streamlit as st

from attention_core import Trace
from attention_core.drawing.charts import Picture, head_map
from attention_core.drawing.comparison import SIGNS, short, three_maps
from attention_core.drawing.text_layout import Words
from attention_core.explanation.facts import row_fact
from pages.panels import canvas_map, head_maps
from pages.panels.chart import chart
from pages.panels.setup_controls import show_refusal
from pages.panels.thumbnails import look_at_head, show_all_heads, show_strip
from pages.runs.cache import material_of, trace_of
from pages.session import setup_state
from pages.session.fragments import look_at, redraw
from pages.session.labels import axis_name, chosen_cell, palette, place_names, words_for
from pages.session.view import Scene
from pages.setup.setup import pinned_of, seen_from
from pages.site.words import literal, say
from pages.workbench import change
from pages.workbench.setting_differences import differences

MOST = 20  # queries or keys: of more the three maps stand on canvases
RASTER = 128  # rows or columns of such a canvas
FARTHEST, ROWS = 4, 215  # rows that are named, and pixels of the table of all


def swap() -> None:
    """A becomes B and B becomes A."""
    setup_state.swap(trace_of)
    redraw()


def back() -> None:
    """B becomes what A is."""
    setup_state.back(trace_of)
    redraw()


def end() -> None:
    """The screen shows B alone."""
    look_at(against=None, pinned=None)


WAYS: dict[str, tuple[str, Callable[[], None]]] = {
    "pin": ("keep", change.pin),
    "swap": ("swap_horiz", swap),
    "back": ("undo", back),
    "end": ("close", end),
}


# ---- what is drawn ---------------------------------------------------------------------------------------------------
def pictures(scene: Scene) -> list[Picture]:
    """The maps as far as they stand in cells: one picture of all three, or A's and B's where their sizes differ."""
    runs = [run for run in (scene.a, scene.trace) if run is not None]
    if any(max(run.sizes()["T"], run.sizes()["S"]) > MOST for run in runs):
        return []
    if scene.before is None:
        return [own_map(scene, run, title) for run, title in zip(runs, titles(scene)[-len(runs) :], strict=True)]
    look, words = scene.look, (words_for(scene.a), words_for(scene.trace))
    return [
        three_maps(
            (scene.a, scene.trace, scene.weights_apart),
            (*words, from_to(*words)),
            palette(),
            look.head,
            look.query,
            (*titles(scene), SIGNS[2]),
            [(say(f"compare.{name}"), say(f"compare.{name}_is")) for name in ("tv", "kl")],
            chosen_cell(scene.trace, scene.setup),
            look.batch,
            scene.times,
        )
    ]


def own_map(scene: Scene, run: Trace, title: str) -> Picture:
    """A's or B's map by itself."""
    sizes, look = run.sizes(), scene.look
    axes, head = (say("corner.T"), say("corner.S")), min(look.head, sizes["H"] - 1)
    place = {"query": look.query if run is scene.trace else None, "batch": min(look.batch, sizes["B"] - 1)}
    return head_map(run, head, words_for(run), palette(), times=scene.times, axes=axes, title=title, **place)


def titles(scene: Scene) -> tuple[str, str]:
    """What stands over A's map and over B's; which head it is, and what it was built to do, is said once."""
    a, head = seen_from(pinned_of(scene.setup), scene.setup), scene.look.head
    name = "" if scene.a is None else head_maps.head_name(a, material_of(a), min(head, scene.a.sizes()["H"] - 1))
    return say("compare.title", sign=SIGNS[0], head=name), SIGNS[1]


def from_to(one: Words, other: Words) -> Words:
    """How the difference speaks: a token that is another one in B with both."""

    def labels(axis: str, position: int) -> str:
        was, now = one.labels(axis, position), other.labels(axis, position)
        return now if was == now or axis != "T" else f"{was} → {now}"

    return Words(other.describe, labels)


def show_comparison(scene: Scene, drawn: list[Picture]) -> None:
    """What changed most, as the heading; the ways on; which settings differ; the maps; the strip of B's steps."""
    st.markdown(f"##### {heading(scene)}")
    show_ways(scene)
    st.markdown(settings(scene))
    if drawn:
        show_maps(scene, drawn)
    else:
        show_canvases(scene)
    if not one_by_one(scene):
        show_all_heads(scene)
    show_strip(scene)


def heading(scene: Scene) -> str:
    """What changed most, or why nothing can be compared cell by cell."""
    if scene.before is not None:
        return change.sentence(scene)
    if scene.a is None:
        return say("compare.lost")
    one, other = (run["weights"].shape for run in (scene.a, scene.trace))
    dims = scene.trace.step("weights").dims
    parts = [say(f"compare.count.{dim}", a=a, b=b) for dim, a, b in zip(dims, one, other, strict=True) if a != b]
    return say("compare.sizes", sizes=say("fact.comma").join(parts))


def one_by_one(scene: Scene) -> bool:
    """Whether the heads are so few that each is a word in a line, where else they are small maps."""
    return scene.trace.sizes()["H"] <= head_maps.TOGETHER[0]


def show_ways(scene: Scene) -> None:
    """Another A, swap, back to A, end; which of two heads; whether the other maps show the difference; the colours of
    long rows."""

    def switched() -> None:
        look_at(pinned="difference" if st.session_state["c_apart"] else "values")

    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        for name, (icon, act) in WAYS.items():
            off = scene.a is None and name in ("swap", "back")
            how = {"icon": f":material/{icon}:", "type": "tertiary", "help": say(f"compare.{name}_help")}
            st.button(say(f"compare.{name}"), key=name, on_click=act, disabled=off, **how)
        st.session_state["c_apart"] = scene.setup.pinned == "difference" and scene.before is not None
        off = scene.before is None
        st.toggle(say("compare.apart"), key="c_apart", on_change=switched, width="content", disabled=off)
        if scene.trace.sizes()["H"] > 1 and one_by_one(scene):
            head_picker(scene)
        if scene.trace.sizes()["S"] > head_maps.LONG:
            head_maps.ramp_switch(scene)
    show_refusal(setup_state.COMPARING)


def head_picker(scene: Scene) -> None:
    """Which of two heads."""
    st.session_state["c_compared_head"] = scene.look.head
    st.segmented_control(
        say("axis.H"),
        range(scene.trace.sizes()["H"]),
        format_func=lambda head: say("place.head", number=head + 1),
        key="c_compared_head",
        on_change=lambda: look_at_head(st.session_state["c_compared_head"]),
        required=True,
        label_visibility="collapsed",
    )


def settings(scene: Scene) -> str:
    """The settings that differ, each with A's value and B's."""
    if scene.a is None:
        return ""
    a = seen_from(pinned_of(scene.setup), scene.setup)
    found = differences((a, scene.a, material_of(a)), (scene.setup, scene.trace, scene.material))
    said = [
        say("compare.differs" if was else "compare.differ", name=literal(name), a=literal(was), b=literal(now))
        for name, was, now in found
    ]
    return say("compare.settings", settings=say("compare.between").join(said)) if said else say("compare.alike")


# ---- up to 20 tokens: in cells ---------------------------------------------------------------------------------------
def show_maps(scene: Scene, drawn: list[Picture]) -> None:
    """All three in one picture; A's and B's where there is no difference."""
    with st.container(horizontal=True, gap="small"):
        for picture, key in zip(drawn, ("compared",) if len(drawn) == 1 else ("compared_a", "compared_b"), strict=True):
            chart(picture, key, say("compare.alt"))
    if scene.before is not None:
        st.caption(figures_are(scene))


def figures_are(scene: Scene) -> str:
    """What the figures beside the rows are; why one is infinite, where one is."""
    endless = scene.rows_apart[1].isinf().any()
    return say("compare.figures") + (say("compare.endless") if endless else "")


# ---- longer ones: on canvases ----------------------------------------------------------------------------------------
def show_canvases(scene: Scene) -> None:
    """A, B, and B - A; below them how far the rows lie apart."""
    look, apart = scene.look, scene.before is not None
    runs = {"a": scene.a, "b": scene.trace, "apart": scene.weights_apart}
    named = dict(zip(runs, (*titles(scene), SIGNS[2]), strict=True))
    there = {name: run for name, run in runs.items() if run is not None}
    even = row_fact(scene.trace, look.head, look.query, look.batch).possible
    for column, (name, run) in zip(st.columns(len(there)), there.items(), strict=True):
        with column:
            st.markdown(literal(named[name]))
            linked = "compared" if apart else ""  # of the same size
            key = f"compared_{name}"
            canvas_map.large_map(scene, "weights", look.at, key, say("compare.alt"), even, run, RASTER, linked)
    if apart:
        st.caption(figures_are(scene))
        show_rows(scene)


def show_rows(scene: Scene) -> None:
    """How far each row lies from the other: the farthest in a line, all of them in a drawer, the farthest first."""
    moved, surprise = scene.rows_apart
    order = moved.argsort(descending=True, stable=True).tolist()
    names, tv, kl = place_names(scene.trace, "T", len(moved)), moved.tolist(), surprise.tolist()
    first = [
        say("compare.row", query=literal(names[row]), tv=short(tv[row]), kl=short(kl[row])) for row in order[:FARTHEST]
    ]
    st.markdown(say("compare.farthest", rows=say("fact.comma").join(first)))
    drawer = st.expander(say("compare.rows"), icon=":material/table:", key="rows", on_change="rerun")
    if drawer.open:
        columns = {axis_name("T"): names, say("compare.tv"): tv, say("compare.kl"): [*map(short, kl)]}
        table = {name: [column[row] for row in order] for name, column in columns.items()}
        drawer.dataframe(pa.table(table), height=ROWS, hide_index=True)
