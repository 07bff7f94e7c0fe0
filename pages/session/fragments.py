"""Divides a page into parts that are redrawn separately, each only if a value on which it depends has changed."""

from collections.abc import Callable
from functools import wraps

import streamlit as st

from pages import components
from pages.session import setup_state, view
from pages.session.view import ScreenState
from pages.site.words import use_language

DependencyReader = Callable[[ScreenState], object]
DrawingFunction = Callable[[ScreenState], None]
PART_DEPENDENCIES: dict[str, DependencyReader] = {}  # name of a part -> function that returns its dependencies
DRAWING: dict[str, DrawingFunction] = {}  # name of a part -> function that draws it
NOT_DRAWN = "not drawn"  # stored in place of the dependencies of a part that is not drawn yet


def page_part(shows: DependencyReader, keeps_place: bool = False) -> Callable[[DrawingFunction], Callable[[], None]]:
    """Returns a decorator that makes a function that draws a part of the page into a separately redrawn fragment.

    shows: a function that returns the values on which the drawing depends; the part is redrawn only if these values
    differ. keeps_place: whether empty space is reserved while draw_first delays the part; page.css sets its height.
    """

    def make_part(draw: DrawingFunction) -> Callable[[], None]:
        register_part(draw, shows)

        @st.fragment(key=draw.__name__)
        @wraps(draw)
        def draw_part() -> None:
            name = draw.__name__
            if name not in (st.session_state["first"] or [name]):
                hold_back(name, keeps_place)
                return
            screen = view.current_screen()
            with use_language() as language:
                dependencies = (*shared_dependencies(language), PART_DEPENDENCIES[name](screen))
                draw(screen)
            st.session_state["drawn"][name] = dependencies

        return draw_part

    return make_part


def register_part(draw: DrawingFunction, shows: DependencyReader) -> None:
    """Registers the function that draws a part of the page, under its name, with the function that returns its
    dependencies.

    Raises ValueError if another function has that name.
    """
    name = draw.__name__
    before = DRAWING.setdefault(name, draw)
    if before is not draw and not is_loaded_anew(draw, before):
        modules = f"{before.__module__} and {draw.__module__}"
        raise ValueError(f"each part needs a name of its own: {name} is in {modules}")
    DRAWING[name] = draw
    PART_DEPENDENCIES[name] = shows


def is_loaded_anew(draw: DrawingFunction, before: DrawingFunction) -> bool:
    """Returns whether a function replaces an earlier version of itself, because its module was reloaded."""
    return draw.__module__ == before.__module__ and draw.__globals__ is not before.__globals__


def shared_dependencies(language: str) -> tuple[object, ...]:
    """Returns the values on which every part of a page depends: the language, and the errors of refused changes."""
    return (language, *setup_state.workbench().refused.items())


def draw_whole_page(draw: Callable[[], None]) -> None:
    """Draws a page completely, or, if the page calls draw_first, only the parts that this call names."""
    st.session_state.update(drawn={}, whole=False, first=None)
    draw()
    if holds_back():
        ask_for_rest()
    st.session_state.update(whole=True, first=None)


def draw_first(*parts: Callable[[], None]) -> None:
    """Delays all parts of the page except the given ones. Once the browser has drawn these, it requests the others."""
    st.session_state["first"] = [part.__name__ for part in (*parts, ask_for_rest)]


def hold_back(name: str, keeps_place: bool) -> None:
    """Marks a part of the page as delayed, and reserves an empty place for it if `keeps_place`."""
    st.session_state["drawn"][name] = NOT_DRAWN
    if keeps_place:
        with st.container(key=f"held_{name}"):
            st.empty()  # an empty element, because Streamlit draws no container without elements


def holds_back() -> bool:
    """Returns whether draw_first delays some parts of the page in this script run."""
    return st.session_state["first"] is not None


@page_part(lambda screen: holds_back())
def ask_for_rest(screen: ScreenState) -> None:
    """Lets the browser request the delayed parts once it has drawn the parts of draw_first; must be the last part of a
    page.

    An earlier request would start a script run that cancels parts which Streamlit has not sent yet, although it has
    sent parts after them. Streamlit's page would then stop responding.
    """
    if holds_back():
        components.rest(key="rest", on_drawn=lambda _: redraw())


def note_drawn(draw: Callable) -> None:
    """Records that a part that surrounds every page is drawn, and the values on which this drawing depends.

    Does nothing for a page that is not drawn in parts.
    """
    drawn, name = st.session_state["drawn"], draw.__name__
    if drawn:
        with use_language() as language:
            drawn[name] = (*shared_dependencies(language), PART_DEPENDENCIES[name](None))


def list_outdated_parts() -> list[str]:
    """Returns the names of the drawn parts whose dependencies have changed since they were drawn.

    Returns [] for a page without parts.
    """
    if not st.session_state["drawn"]:
        return []
    screen = view.current_screen()
    outdated = []
    with use_language() as language:
        shared = shared_dependencies(language)
        for name, shown in st.session_state["drawn"].items():
            if shown != (*shared, PART_DEPENDENCIES[name](screen)):
                outdated.append(name)
    return outdated


def select_and_redraw(asking: str | None = None, **updates) -> None:
    """Changes the selection (see setup_state.look_at) and redraws the parts that show it; must be the last call of a
    callback.

    asking: the part in which the event occurred, which Streamlit redraws anyway.
    """
    setup_state.look_at(**updates)
    redraw(asking)


def redraw(asking: str | None = None) -> None:
    """Redraws the outdated parts by requesting a script run; must be the last call of a callback, because it may end
    the callback.

    If the page was not drawn completely, the whole page is drawn. asking: the part in which the event occurred, which
    Streamlit redraws anyway. If no other part is outdated, no further script run is requested.
    """
    names = list_outdated_parts()
    if not st.session_state["whole"]:
        st.rerun()
    if set(names) - {asking}:
        # A later click may end this run while it draws a part; Streamlit then discards what it sent of that part.
        st.session_state["drawn"].update(dict.fromkeys(names, NOT_DRAWN))
        # "show_run" first, because it is slowest; the others are sent together with it
        st.rerun(sorted(names, key="show_run".__ne__))
