"""Parts of a page that are redrawn separately, each only when what it depends on has changed."""

from collections.abc import Callable
from functools import wraps

import streamlit as st

from pages import components
from pages.session import setup_state, view
from pages.session.view import ScreenState
from pages.site.words import use_language

DependencyReader = Callable[[ScreenState], object]
DrawingFunction = Callable[[ScreenState], None]
PART_DEPENDENCIES: dict[str, DependencyReader] = {}  # part's name -> returns its dependencies
DRAWING: dict[str, DrawingFunction] = {}  # part's name -> function that draws it
HELD_BACK = "held back"  # stored for a part that is held back, instead of its dependencies


def page_part(shows: DependencyReader, height_px: int = 0) -> Callable[[DrawingFunction], Callable[[], None]]:
    """Returns a decorator that makes a part of the page from a function that draws a screen. shows: returns the values
    on which the drawing depends; the part is redrawn only if they differ. height_px: height reserved while the part is
    held back (draw_first).
    """

    def make_part(draw: DrawingFunction) -> Callable[[], None]:
        register_part(draw, shows)

        @st.fragment(key=draw.__name__)
        @wraps(draw)
        def draw_part() -> None:
            name = draw.__name__
            if name not in (st.session_state["first"] or [name]):
                hold_back(name, height_px)
                return
            screen = view.current_screen()
            with use_language() as language:
                dependencies = (*shared_dependencies(language), PART_DEPENDENCIES[name](screen))
                draw(screen)
            st.session_state["drawn"][name] = dependencies

        return draw_part

    return make_part


def register_part(draw: DrawingFunction, shows: DependencyReader) -> None:
    """Registers a part under the name of its function. Raises ValueError if another function has that name."""
    name = draw.__name__
    before = DRAWING.setdefault(name, draw)
    if before is not draw and not is_loaded_anew(draw, before):
        modules = f"{before.__module__} and {draw.__module__}"
        raise ValueError(f"each part needs a name of its own: {name} is in {modules}")
    DRAWING[name] = draw
    PART_DEPENDENCIES[name] = shows


def is_loaded_anew(draw: DrawingFunction, before: DrawingFunction) -> bool:
    """Whether a function replaces an earlier one because its module was reloaded."""
    return draw.__module__ == before.__module__ and draw.__globals__ is not before.__globals__


def shared_dependencies(language: str) -> tuple[object, ...]:
    """The values that every part depends on: the language and the refusals."""
    return (language, *setup_state.workbench().refused.items())


def draw_whole_page(draw: Callable[[], None]) -> None:
    """Draws a page with all its parts; if it calls draw_first, only with the parts named there."""
    st.session_state.update(drawn={}, whole=False, first=None)
    draw()
    if holds_back():
        ask_for_rest()
    st.session_state.update(whole=True, first=None)


def draw_first(*parts: Callable[[], None]) -> None:
    """Holds back all parts of the page except these until the browser has drawn these and requests the rest."""
    st.session_state["first"] = [part.__name__ for part in (*parts, ask_for_rest)]


def hold_back(name: str, height_px: int) -> None:
    """Marks a part as held back and reserves its height."""
    st.session_state["drawn"][name] = HELD_BACK
    if height_px:
        st.space(height_px)


def holds_back() -> bool:
    """Whether the page being drawn holds parts back."""
    return st.session_state["first"] is not None


@page_part(lambda screen: holds_back())
def ask_for_rest(screen: ScreenState) -> None:
    """Requests the parts that are held back, once the browser has drawn the others; this part is the last one of a
    page.

    If the request came earlier, the script run that follows would cancel parts that Streamlit has not sent yet,
    although it has sent parts after them: Streamlit's page would then stop responding.
    """
    if holds_back():
        components.rest(key="rest", on_drawn=lambda _: redraw())


def list_outdated_parts() -> list[str]:
    """Names of the drawn parts whose dependencies have changed since they were drawn; [] for a page without parts."""
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
    """Changes the selection (setup_state.look_at) and redraws what shows it; the last call of a callback.

    asking: as for redraw.
    """
    setup_state.look_at(**updates)
    redraw(asking)


def redraw(asking: str | None = None) -> None:
    """Redraws the outdated parts. It ends the callback that calls it, so no code may follow the call.

    If the page was not drawn completely, all of it is drawn. asking: the part in which the event occurred, which
    Streamlit redraws anyway: if no other part is outdated, no further script run is requested.
    """
    names = list_outdated_parts()
    if not st.session_state["whole"]:
        st.rerun()
    if set(names) - {asking}:
        st.rerun(sorted(names, key="show_run".__ne__))  # the slowest first: the others are sent with it
