"""The line above the pictures: proof, undo, link, export; and what a link or a file said that could not be read."""

import streamlit as st

from attention_core.tokens import shown
from pages.shared import controls, lectures, state
from pages.shared.components import shortcuts
from pages.shared.export_panel import WHICH, show_export
from pages.shared.parts import part, redraw
from pages.shared.proof_panel import proof_badge, show_proof
from pages.shared.runs import trace_of
from pages.shared.scene import Scene
from pages.shared.setup import LINK_KEYS
from pages.shared.sharing import show_sharing
from pages.shared.widgets import show_refusal
from pages.shared.words import literal, say, sentence


def shows(scene: Scene) -> tuple[object, ...]:
    """What the line says; all that is on the screen, where one of its drawers is open."""
    session = st.session_state
    opened = [session.get(drawer, False) for drawer in ("proof", "sharing", "export")]
    seen = scene.setup if any(opened) else (scene.setup.example, proof_badge(scene.trace, scene.setup))
    told = (*session["unread"], *session["unfit"], lectures.talk().own, lectures.talk().refused)
    return (seen, *opened, session.get(WHICH), *map(state.can, state.MOVES), *told)


@part(shows)
def header(scene: Scene) -> None:
    """Proof badge, undo and redo, link, export; then what could not be read."""
    with st.container(gap="xsmall"):
        show_line(scene)
        show_link_trouble()


def show_line(scene: Scene) -> None:
    """Proof badge, undo and redo, link, export."""
    trace, setup = scene.trace, scene.setup
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        controls.example_picker(setup)
        show_proof(trace, setup)
        for move in state.MOVES:
            st.button(
                say(f"header.{move}"),
                key=move,
                icon=f":material/{move}:",
                help=say(f"help.{move}"),
                type="tertiary",
                disabled=not state.can(move),
                on_click=go,
                args=(move,),
            )
        show_sharing(setup)
        show_export(trace, setup)
        controls.language_switch()
        shortcuts(key="shortcuts", on_moved_change=pressed, width="content")


def pressed() -> None:
    """Undo or redo by keyboard."""
    move = st.session_state["shortcuts"].moved
    if isinstance(move, str) and move in state.MOVES:
        go(move)


def go(move: str) -> None:
    """Undo or redo."""
    state.travel(move, trace_of)
    redraw()


def show_link_trouble() -> None:
    """Where undo leads nowhere; what of the opened link or file could not be read or computed."""
    show_refusal(state.HISTORY)
    source = st.session_state["source"]
    for key, text in st.session_state["unread"]:
        trouble = "unread" if key in LINK_KEYS else "unknown"
        st.error(say(f"{source}.{trouble}", key=literal(key), text=literal(shown(text))), icon=":material/link_off:")
    for key, error in st.session_state["unfit"]:
        st.error(say(f"{source}.refused", key=literal(key), reason=sentence(error)), icon=":material/link_off:")
