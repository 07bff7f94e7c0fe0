"""Defines the record of a lesson, and draws the frame of its page: number, question, accordions, code and sources."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attention_core import Trace
from attention_core.record.errors import AttentionError
from pages.components import arrows, seen_drawers, visited
from pages.export.export_panel import show_export
from pages.export.page_links import link_to_workbench
from pages.lectures import lecture_session
from pages.lectures.add_button import show_add_button
from pages.lectures.kinds.lesson import PICTURE_PART, SHOWN_PAGES, TRAINING_PART, LessonPart
from pages.lectures.script import Scene
from pages.panels import lesson_choices, link_controls
from pages.panels.model_guess import forget_guess_sign, repeat_guess_sign
from pages.panels.proof import show_proof
from pages.panels.refusals import show_error, show_link_trouble
from pages.panels.step import show_step_code
from pages.panels.toolbar import show_toolbar
from pages.runs.cache import trace_for
from pages.runs.compute import sentences_of
from pages.session.answers import REVEAL_KEY, forget_answers, is_solved
from pages.session.collected import collect_in_sight, collect_nothing, collected
from pages.session.entered_values import when_entered
from pages.session.opened_drawers import show_drawer
from pages.session.staged import get_staged_part
from pages.setup.link_values import make_choices_reader, make_member_reader
from pages.setup.setup import Setup
from pages.site.catalog import ADVANCED, COURSE, LESSONS, PAGES_BY_SLUG, PAGES_WITH_ANSWERS, PATH
from pages.site.words import get_text_template, say, say_refusal, use_language

OPEN_DRAWERS_KEY = "open"  # link parameter with the names of the open accordions
UNKNOWN_WORD = "{unknown}"  # placeholder in a text on sources, replaced by a phrase about unknown words' vectors
GUESS_KEY = "guess"  # link parameter with the visitor's guess
CODE_DRAWER = "code"  # a lesson's last accordion: its sources, how its numbers were measured, its code
METHOD_DRAWER = "method"  # name of the last accordion in a lesson without code
METHOD_KEY = "lesson_method"  # session key of the text on how the lesson's numbers were measured
RUN_KEY = "lesson_run"  # session key of the Setup that the lesson shows
DRAWERS_KEY = "lesson_drawers"  # session key of the accordions drawn in this script run, in order
PLACE_WIDTH_PX = 124  # width in pixels of the lesson number, fixed so that the links beside it do not move


@dataclass(frozen=True)
class Lesson:
    """The parts of a lesson, or of another page with accordions ("drawers").

    slug: the lesson's name in the URL. drawers: {name in a link: function that draws the accordion}, in order;
    draw_drawer calls the function with the page's arguments. code: the names of the steps whose code the code accordion
    offers.
    """

    slug: str
    drawers: Mapping[str, Callable[..., None]]
    code: tuple[str, ...] = ()


@dataclass(frozen=True)
class Tabs:
    """An accordion with tabs, of which only the selected tab is drawn.

    control: the name of the choice of a tab, in the link and in the lesson's texts. tabs: {name of the tab: function
    that draws it}; the first tab is the default. below: a function that draws the content below the tabs, the same for
    every tab.
    """

    control: str
    tabs: Mapping[str, Callable[..., None]]
    below: Callable[[], None] | None = None

    def __call__(self, *given: object) -> None:
        """Shows the choice of a tab, and draws the selected tab and what is below all tabs.

        The choice has no label, because the accordion's title is above it.
        """
        chosen = link_controls.choose_option(self.control, tuple(self.tabs), label_visibility="collapsed")
        self.tabs[chosen](*given)
        if self.below:
            self.below()


@contextmanager
def draw_lesson(lesson: Lesson) -> Iterator[DeltaGenerator | None]:
    """Context manager that draws the frame of a lesson around the drawing code in its block.

    If the block raises AttentionError, the error is shown where the page ends.

    Yields the toolbar's container for the links to the lesson's run. Yields None while a lecture shows the page as one
    of its scenes, because a scene has no toolbar.
    """
    slug = lesson.slug
    forget_answers()
    st.session_state.pop(RUN_KEY, None)
    st.session_state.pop(METHOD_KEY, None)
    forget_guess_sign()
    with draw_page_frame(slug) as place:
        if place is None:
            with show_refusal():
                yield None
            return
        show_question(slug)
        with show_refusal():
            yield place
        if not lesson.code or f"{slug}.drawer.{CODE_DRAWER}" not in st.session_state[DRAWERS_KEY]:
            fold(lesson, METHOD_DRAWER, say("lesson.method"), partial(show_method, slug))
    visited(data={"slug": slug, "solved": is_solved()}, key="visited")
    follow_arrow_key(slug)


def tell_method(text: str) -> None:
    """Stores a text about how the lesson's numbers were measured, for the last accordion."""
    st.session_state[METHOD_KEY] = text


def show_method(slug: str) -> None:
    """Shows how a lesson's numbers were measured, if the lesson says so, and its sources."""
    method = st.session_state.get(METHOD_KEY)
    if method is not None:
        st.markdown(method)
    st.markdown(tell_sources(slug))


def tell_sources(slug: str) -> str:
    """Returns the text about a lesson's sources, in which a phrase on the vectors of unknown words replaces a
    placeholder.
    """
    key = f"lessons.{slug}.sources"
    setup = st.session_state.get(RUN_KEY)
    if setup is None or UNKNOWN_WORD not in get_text_template(key):
        return say(key, unknown="")
    lexicon = sentences_of(setup.run).lexicon()
    return say(key, unknown=say(f"lesson.unknown.{lexicon.unknown}"))


def show_question(slug: str) -> None:
    """Shows the question and the introduction of a page."""
    question = say(f"lessons.{slug}.question")
    intro = say(f"lessons.{slug}.intro")
    st.markdown(f"#### {question}\n{intro}")


@contextmanager
def draw_page_frame(slug: str) -> Iterator[DeltaGenerator | None]:
    """Context manager that draws a page's toolbar, writes its choices to the link, and shows unreadable link parts.

    Yields a container in the toolbar. Yields None while a lecture shows the page as one of its scenes, because a scene
    has no toolbar.
    """
    if get_staged_part() is not None:
        with draw_staged_picture():
            yield None
        return
    lesson_choices.enter_lesson(slug)
    st.session_state[DRAWERS_KEY] = []  # the record of drawn accordions is emptied, so that their numbers begin at 1
    if st.session_state["arrived"]:
        st.session_state.pop("way", None)  # discards an arrow key pressed on the previous page
    with use_language(), st.container(gap="xsmall"):
        place = show_lesson_line(slug)
        errors = st.container()
        adding = place.container(width="content")  # this container is created before the page fills the toolbar
        yield place
        with errors:
            show_unread_link_parts()
        if slug in SHOWN_PAGES:
            with adding:
                show_add_button(make_picture_scene)
        lesson_choices.write_lesson_link()
        mark_seen_drawers()


@contextmanager
def draw_staged_picture() -> Iterator[None]:
    """Context manager that draws a page's picture while a lecture shows the page as a scene.

    The picture is hidden if the scene shows an accordion of the page instead.
    """
    in_sight = get_staged_part().name in (PICTURE_PART, TRAINING_PART)
    place = st.container(key="staged_picture" if in_sight else "staged_unseen")
    with place, nullcontext() if in_sight else collect_nothing():
        yield
    show_unread_link_parts()


def show_lesson_line(slug: str) -> DeltaGenerator:
    """Shows the toolbar (reveal switch, lesson number, links to neighbouring lessons); returns its free container."""
    own, place = show_toolbar()
    with own:
        if slug in PAGES_WITH_ANSWERS:
            show_reveal_switch()
        if slug in COURSE:
            show_neighbour_lessons(slug)
        arrows(key="arrows", on_moved=handle_arrow_key, width="content")
    return place


def show_neighbour_lessons(slug: str) -> None:
    """Shows the number of the current lesson, and links to the lessons before and after it."""
    part, key = (PATH, "lesson.place") if slug in PATH else (ADVANCED, "lesson.advanced_place")
    number = part.index(slug) + 1
    st.markdown(say(key, number=number, count=len(part)), width=PLACE_WIDTH_PX)
    show_neighbour_link(slug, -1, "previous", ":material/chevron_left:")
    show_neighbour_link(slug, 1, "next", ":material/chevron_right:")


def show_neighbour_link(slug: str, step: int, name: str, icon: str) -> None:
    """Shows the link to a neighbouring lesson, disabled if there is none.

    step: -1 for the previous lesson, 1 for the next. name: the text key of the link.
    """
    neighbour = neighbour_lesson(slug, step)
    path = PAGES_BY_SLUG[neighbour or slug].path
    question = say(f"lessons.{neighbour}.question") if neighbour else None
    st.page_link(path, label=say(f"lesson.{name}"), icon=icon, help=question, disabled=neighbour is None)


def neighbour_lesson(slug: str, step: int) -> str | None:
    """Returns the slug of the previous (-1) or next (1) lesson of the course; None if there is none."""
    if slug not in COURSE:
        return None
    place = COURSE.index(slug) + step
    return COURSE[place] if 0 <= place < len(COURSE) else None


def handle_arrow_key(moved: str) -> None:
    """Stores the direction of a pressed arrow key, which follow_arrow_key reads, because a callback cannot switch the
    page.

    moved: "previous" or "next".
    """
    st.session_state["way"] = {"previous": -1, "next": 1}[moved]


def follow_arrow_key(slug: str) -> None:
    """Opens the neighbouring lesson if the visitor pressed an arrow key, which handle_arrow_key stored in the
    session.
    """
    step = st.session_state.pop("way", None)
    neighbour = neighbour_lesson(slug, step) if step else None
    if neighbour:
        st.switch_page(PAGES_BY_SLUG[neighbour].path)


def show_reveal_switch() -> None:
    """Shows the toggle that reveals all answers."""
    st.toggle(
        say("lesson.reveal"),
        key="c_reveal",
        value=st.session_state.get(REVEAL_KEY, False),
        on_change=when_entered("c_reveal", handle_reveal_switch),
    )


def handle_reveal_switch(is_on: bool) -> None:
    """Stores in the session whether the visitor's toggle reveals all answers."""
    st.session_state[REVEAL_KEY] = is_on


def show_unread_link_parts() -> None:
    """Shows an error for each link parameter that could not be read."""
    slug = lesson_choices.current_slug()

    def trouble_of(key: str) -> str:
        return "unread" if lesson_choices.is_known_choice(slug, key) else "unknown"

    show_link_trouble(lesson_choices.current_lesson_choices(), "link", trouble_of)


# ---- functions that a page calls -------------------------------------------------------------------------------------
def show_lesson_run(setup: Setup, place: DeltaGenerator | None) -> None:
    """Shows in the toolbar a link that opens the lesson's run on the workbench, the proof of the run, and its export.

    place: the toolbar's container; None while a lecture shows the page as a scene, which has no toolbar.
    """
    collected().run = setup
    st.session_state[RUN_KEY] = setup
    if place is None:
        return
    trace = trace_for(setup)
    with place:
        link_to_workbench(setup, "workbench")
        show_proof(trace, setup)
        show_export(trace, setup)


def draw_drawers(lesson: Lesson, *given: object) -> None:
    """Draws all accordions of a lesson, each with the same arguments."""
    for name in lesson.drawers:
        draw_drawer(lesson, name, *given)


def draw_drawer(lesson: Lesson, name: str, *given: object, title: str | None = None) -> None:
    """Draws one accordion of a lesson.

    given: the arguments of the function that draws its content. title: the accordion's title; None for the title in the
    lesson's texts.
    """
    title = title or say(f"lessons.{lesson.slug}.drawer.{name}")
    fold(lesson, name, title, partial(lesson.drawers[name], *given), scene_title=title)


def show_lesson_code(lesson: Lesson, trace: Trace) -> None:
    """Draws the last accordion: sources and method, and the code of a step of the run, in PyTorch and in NumPy.

    A lecture's scene shows the code alone.
    """

    def show_method_and_code() -> None:
        if get_staged_part() is None:
            show_method(lesson.slug)
            st.markdown(f"**{say('code.title')}**")
        show_code_of_step(trace, lesson.code)

    fold(lesson, CODE_DRAWER, say("lesson.method"), show_method_and_code, scene_title=say("code.title"))


def fold(lesson: Lesson, name: str, title: str, draw: Callable[[], None], scene_title: str | None = None) -> None:
    """Draws an accordion; its content is computed and drawn only while the accordion is open.

    While a lecture shows the page as a scene, only the content is drawn, without the title, and only if the scene shows
    this accordion. name: the accordion's name in the link. draw: a function that draws the content; if it raises
    AttentionError, the error is shown where the content ends. scene_title: the title of the scene that a button in the
    accordion adds to the visitor's lecture; None for no such button.
    """
    staged = get_staged_part()
    if staged is not None:
        if staged.name == name:
            with staged.place, collect_in_sight(), show_refusal():
                repeat_guess_sign()
                draw()
        return
    key = f"{lesson.slug}.drawer.{name}"
    read = make_choices_reader(make_member_reader((*lesson.drawers, CODE_DRAWER, METHOD_DRAWER)))
    open_drawers = link_controls.link_control(OPEN_DRAWERS_KEY, (), read).value

    def handle_toggle(is_open: bool) -> None:
        control = link_controls.link_control(OPEN_DRAWERS_KEY, (), read)
        others = [other for other in control.value if other != name]
        control.take((*others, name) if is_open else tuple(others))

    def draw_and_offer() -> None:
        with show_refusal():
            draw()
        if scene_title is not None:
            show_add_button(partial(make_part_scene, name, scene_title), f"add_{key}")

    st.session_state[key] = name in open_drawers
    icon = drawer_icon(key)
    on_change = when_entered(key, handle_toggle)
    if name in lesson.drawers:
        show_drawer(title, icon, key, draw_and_offer, on_change=on_change)
        return
    with st.container(key="method"):  # page.css shows the content under this key in small letters
        show_drawer(title, ":material/notes:", key, draw_and_offer, on_change=on_change)


@contextmanager
def show_refusal() -> Iterator[None]:
    """Context manager that catches an AttentionError in its block and shows it there. Each control refuses a wrong
    value itself;

    this context manager is for values that are valid alone, but do not fit each other.
    """
    try:
        yield
    except AttentionError as refusal:
        collected().warnings.append(say_refusal(refusal))
        show_error(refusal)


def make_picture_scene() -> Scene:
    """Returns a lecture scene that shows the picture of the current page and, for a lesson, its question."""
    slug = lesson_choices.current_slug()
    question = say(f"lessons.{slug}.question") if slug in LESSONS else ""
    return make_part_scene(PICTURE_PART, say(f"page.{slug}"), question)


def make_part_scene(part: str, title: str, question: str = "") -> Scene:
    """Returns a lecture scene that shows one part of the current page, with the page's current choices.

    part: the name of an accordion, or PICTURE_PART.
    """
    choices = lesson_choices.get_lesson_link()
    kept = [(name, text) for name, text in choices.items() if name not in (OPEN_DRAWERS_KEY, GUESS_KEY)]
    shown = LessonPart(lesson_choices.current_slug(), part, tuple(kept))
    return lecture_session.make_scene(shown, title, question)


def drawer_icon(key: str) -> str:
    """Returns an accordion's icon, its number; an accordion that was not drawn before gets the next number."""
    order = st.session_state[DRAWERS_KEY]
    if key not in order:
        order.append(key)
    return f":material/counter_{order.index(key) + 1}:"


def mark_seen_drawers() -> None:
    """Shows a check mark on each accordion that was ever opened in this browser; the browser stores the accordions'
    names.
    """
    order = st.session_state[DRAWERS_KEY]
    opened = [key for key in order if st.session_state[key]]
    if order:
        seen_drawers(data={"drawn": order, "opened": opened, "said": say("lesson.seen")}, key="seen_drawers")


def show_code_of_step(trace: Trace, steps: tuple[str, ...]) -> None:
    """Shows the choice of one of the given steps, if the run has it, and the code of this step."""
    offered = [step for step in steps if step in trace]
    control = link_controls.link_control("step", offered[0], make_member_reader(offered), label="control.step")
    control.draw(st.segmented_control, offered, format_func=str, required=True, label_visibility="collapsed")
    show_step_code(trace, control.value)
