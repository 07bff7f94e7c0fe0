"""The frame of a lesson: where one is, the question, then what its page draws, drawers, the code, the sources."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attention_core import Trace
from attention_core.inputs.tokenizer import shown
from pages.components import arrows
from pages.export.doors import workbench_door
from pages.export.export_panel import show_export
from pages.panels import link_controls
from pages.panels.language import language_switch
from pages.panels.proof import show_proof
from pages.panels.step import show_code
from pages.runs.cache import trace_of
from pages.session.reveal import REVEAL
from pages.setup.setup import Setup
from pages.site.catalog import ASKING, LESSONS, PAGE
from pages.site.words import has, literal, say, speaking

OPEN, CODE = "open", "code"


@contextmanager
def lesson(slug: str) -> Iterator[DeltaGenerator]:
    """Draws what stands around a lesson. Gives the place in its first line for stands_for."""
    with frame(slug) as place:
        st.markdown(f"#### {say(f'lessons.{slug}.question')}\n{say(f'lessons.{slug}.intro')}")
        yield place
        st.caption(say(f"lessons.{slug}.sources"))
    follow_key(slug)


@contextmanager
def frame(slug: str) -> Iterator[DeltaGenerator]:
    """Draws the first line of a page whose choices stand in its link, and says what of that could not be read."""
    link_controls.enter(slug)
    with speaking(), st.container(gap="xsmall"):
        place = show_line(slug)
        trouble = st.container()
        yield place
        with trouble:
            show_unread()
        link_controls.show_link()


def show_line(slug: str) -> DeltaGenerator:
    """Where one is among the lessons, the way on and back, and what concerns all of them."""
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        if slug in LESSONS:
            show_ways(slug)
        place = st.container(horizontal=True, vertical_alignment="center", gap="xsmall", width="content")
        if slug in ASKING:
            st.toggle(say("lesson.reveal"), key="c_reveal", value=st.session_state.get(REVEAL, False), on_change=reveal)
        language_switch()
        arrows(key="arrows", on_moved_change=pressed, width="content")
    return place


def show_ways(slug: str) -> None:
    """The lesson before, the number of this one, the lesson after."""
    show_way(slug, -1, "previous", ":material/chevron_left:")
    st.markdown(say("lesson.place", number=LESSONS.index(slug) + 1, count=len(LESSONS)), width="content")
    show_way(slug, 1, "next", ":material/chevron_right:")


def show_way(slug: str, step: int, name: str, icon: str) -> None:
    """The way to a neighbour, where there is one."""
    if neighbour := next_to(slug, step):
        question = say(f"lessons.{neighbour}.question")
        st.page_link(PAGE[neighbour].path, label=say(f"lesson.{name}"), icon=icon, help=question)


def next_to(slug: str, step: int) -> str | None:
    """The lesson before (-1) or after (1) one."""
    at = LESSONS.index(slug) + step
    return LESSONS[at] if 0 <= at < len(LESSONS) else None


def pressed() -> None:
    """An arrow key was pressed: remembered, because a page cannot be left from here."""
    moved = st.session_state["arrows"].moved
    st.session_state["way"] = {"previous": -1, "next": 1}.get(moved) if isinstance(moved, str) else None


def follow_key(slug: str) -> None:
    """Goes where an arrow key pointed."""
    step = st.session_state.pop("way", None)
    if step and (neighbour := next_to(slug, step)):
        st.switch_page(PAGE[neighbour].path)


def reveal() -> None:
    """All answers are shown, or hidden again."""
    st.session_state[REVEAL] = st.session_state["c_reveal"]


def show_unread() -> None:
    """What of the link could not be read."""
    for key, text in link_controls.kept().unread:
        trouble = "unread" if link_controls.is_known(link_controls.slug(), key) else "unknown"
        st.error(say(f"link.{trouble}", key=literal(key), text=literal(shown(text))), icon=":material/link_off:")


# ---- what a page adds ------------------------------------------------------------------------------------------------
def stands_for(setup: Setup, place: DeltaGenerator) -> None:
    """The run that the lesson is about: its proof, its files, and the door to the workbench, which shows exactly this
    run."""
    with place:
        show_proof(trace_of(setup), setup)
        show_export(trace_of(setup), setup)
        workbench_door(setup, "workbench")


def drawer(name: str, draw: Callable[[], None], title: str | None = None) -> None:
    """A further sight, under its question; drawn while it is open."""
    slug, key = link_controls.slug(), f"{link_controls.slug()}.drawer.{name}"
    opened = link_controls.choice(OPEN, (), drawers)

    def moved() -> None:
        others = tuple(other for other in link_controls.choice(OPEN, (), drawers) if other != name)
        link_controls.take(OPEN, (*others, name) if st.session_state[key] else others, (), drawers)

    st.session_state[key] = name in opened
    box = st.expander(title or say(f"lessons.{slug}.drawer.{name}"), key=key, on_change=moved)
    if box.open:
        with box:
            draw()


def drawers(text: str) -> tuple[str, ...]:
    """Reads the names of open drawers."""
    names = tuple(filter(None, text.split(",")))
    if not all(name == CODE or has(f"lessons.{link_controls.slug()}.drawer.{name}") for name in names):
        raise ValueError(text)
    return names


def code(trace: Trace, steps: Sequence[str]) -> None:
    """The code that ran for the steps that the lesson is about, in PyTorch and in NumPy, one click away."""

    def draw() -> None:
        there = [step for step in steps if step in trace]
        at = link_controls.choice("step", there[0], link_controls.member(there))
        st.segmented_control(
            **link_controls.drawn("step", at, there[0], link_controls.member(there), say("control.step")),
            options=there,
            required=True,
            label_visibility="collapsed",
        )
        show_code(trace, at)

    drawer(CODE, draw, say("code.title"))
