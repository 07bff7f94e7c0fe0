"""Shows the line above the pictures (present, undo and redo, link, proof, export), and the errors of an opened link."""

from functools import partial

import streamlit as st

from pages.components import shortcuts
from pages.export.export_panel import show_export
from pages.export.run_files import EXPORTED_STEP_KEY, TRANSPARENT_KEY
from pages.lectures import lecture_session
from pages.lectures.add_button import is_added, show_add_button
from pages.lectures.script import Scene
from pages.panels.proof import proof_badge, show_proof
from pages.panels.refusals import show_link_trouble
from pages.panels.setup_controls import show_refusal
from pages.panels.toolbar import show_toolbar
from pages.runs.cache import trace_for
from pages.session import linked_setup, setup_history, setup_state
from pages.session.fragments import page_part, redraw
from pages.session.linked_state import open_page
from pages.session.view import ScreenState, name_shown
from pages.setup.codec import LINK_KEYS, link_trouble
from pages.site.catalog import PAGES_BY_SLUG
from pages.site.words import escape_markdown, say
from pages.workbench.sharing import show_share_panel

DONE_KEY = "moves_done"  # session key: how many key presses for undo and redo were handled


def header_dependencies(screen: ScreenState) -> tuple[object, ...]:
    """Returns the values whose change redraws the header's line, including the Setup if one of its panels is open."""
    session, setup = st.session_state, screen.setup
    lecture, state = lecture_session.get_lecture_session(), setup_state.workbench()
    open_drawers = [session.get(drawer, False) for drawer in ("proof", "sharing", "export")]
    shown = setup if any(open_drawers) else (setup.run.example, proof_badge(screen.trace, setup))
    return (
        shown,
        *open_drawers,
        session.get(EXPORTED_STEP_KEY),
        session.get(TRANSPARENT_KEY),
        *map(setup_history.can_move, setup_history.HISTORY_MOVES),
        session.get(DONE_KEY),
        *state.unread,
        *state.unfit,
        state.missing,
        is_added(make_scene_of_screen),
        lecture_session.current_lecture().title,
        lecture.refusal,
        linked_setup.awaited_file(),
    )


@page_part(header_dependencies, keeps_place=True)
def show_header(screen: ScreenState) -> None:
    """Shows the buttons present, undo, redo, link, proof and export; below them, the errors of the opened
    link or file.
    """
    with st.container(gap="xsmall"):
        show_header_line(screen)
        show_trouble()


def show_empty() -> None:
    """Shows that the model of the link is not kept, instead of numbers, and the ways to open it again or to begin."""
    show_trouble()
    with st.container(horizontal=True):
        st.page_link(PAGES_BY_SLUG["maps"].path, label=say("header.open_again"), icon=":material/folder_open:")
        begins = st.button(say("header.begin"), key="begin", icon=":material/edit:", type="tertiary")
    if begins:
        setup_state.begin_session()
        st.rerun()


def show_header_line(screen: ScreenState) -> None:
    """Shows the line of buttons: present, undo, redo, link, proof, export. page.css hides redo while there is nothing
    to redo.
    """
    trace, setup = screen.trace, screen.setup
    own, shared = show_toolbar()
    with own:
        shortcuts(
            key="shortcuts", data={"done": st.session_state.get(DONE_KEY, 0)}, on_moved=do_pressed, width="content"
        )
    with shared:
        show_present_button()
        show_add_button(make_scene_of_screen)
        for move in setup_history.HISTORY_MOVES:
            st.button(
                say(f"header.{move}"),
                key=move,
                icon=f":material/{move}:",
                help=say(f"help.{move}"),
                type="tertiary",
                disabled=not setup_history.can_move(move),
                on_click=undo_or_redo,
                args=(move,),
            )
        show_share_panel(setup)
        show_proof(trace, setup)
        show_export(trace, setup)


def show_present_button() -> None:
    """Shows the button that starts the open lecture on the page "present"; without scenes, it opens its overview."""
    title = escape_markdown(lecture_session.current_lecture().title)
    how = say("help.present", title=title)
    if st.button(say("header.present"), key="present", icon=":material/slideshow:", help=how, type="tertiary"):
        open_page("present", lecture_session.link_to_start())


def make_scene_of_screen() -> Scene:
    """Returns the current Setup as a scene (one screen) of a lecture, named after its example or its model."""
    setup = setup_state.current_setup()
    return lecture_session.make_scene(setup, name_shown(setup))


def undo_or_redo(move: str) -> None:
    """Undoes or redoes a change, after a click or a key press, and redraws the page."""
    setup_history.move_in_history(move, trace_for)
    redraw()


def do_pressed(pressed: dict) -> None:
    """Handles the key presses for undo and redo that were not handled yet, in order, and redraws the page.

    pressed: the moves that the server has not yet confirmed to the browser, and the number of moves before them.
    """
    first, moves = pressed["first"], pressed["moves"]
    done = st.session_state.get(DONE_KEY, 0)
    for move in moves[max(done - first, 0) :]:
        setup_history.move_in_history(move, trace_for)
    st.session_state[DONE_KEY] = first + len(moves)
    redraw()


def show_trouble() -> None:
    """Shows why undo was refused, and what of the opened link or file could not be read or computed.

    Nothing is said yet about a link that waits for files from the browser.
    """
    show_refusal(setup_state.HISTORY_CONTROL)
    if linked_setup.awaited_file():
        return
    state = setup_state.workbench()
    show_link_trouble(state, state.source, partial(link_trouble, known=LINK_KEYS))
