"""The line above the pictures: proof, undo, link, export; and what a link said that could not be read."""

from urllib.parse import urlencode

import streamlit as st

from attention_core import Trace
from attention_core.export import INPUTS_FILE, code, inputs_npz, needs_file
from attention_core.tokens import shown
from pages.shared import controls, state
from pages.shared.components import keys
from pages.shared.proof_panel import show_proof
from pages.shared.runs import trace_of
from pages.shared.scene import Scene
from pages.shared.setup import Setup, to_link
from pages.shared.words import language, literal, say, sentence


def show(scene: Scene) -> None:
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
                on_click=state.travel,
                args=(move, trace_of),
            )
        with st.popover(say("header.link"), icon=":material/link:", type="tertiary"):
            st.markdown(say("header.link_how"))
            st.code(address(setup), language=None, wrap_lines=True)
        with st.popover(say("header.export"), icon=":material/download:", type="tertiary"):
            show_export(trace)
        controls.language_switch()
        keys(key="keys", on_moved_change=pressed, width="content")


def pressed() -> None:
    """Undo or redo by keyboard."""
    move = st.session_state["keys"].moved
    if move in state.MOVES:
        state.travel(move, trace_of)


def address(setup: Setup) -> str:
    """The page's address with everything that is on the screen."""
    return (st.context.url or "").split("?")[0] + "?" + urlencode(to_link(setup) | {"lang": language()})


def show_export(trace: Trace) -> None:
    """Scripts that print the same numbers."""
    st.markdown(say("header.export_how"))
    for name in ("torch", "numpy"):
        st.download_button(
            say(f"header.script_{name}"),
            lambda name=name: code(trace, name),
            file_name=f"attention_{name}.py",
            mime="text/x-python",
            icon=":material/code:",
            on_click="ignore",
        )
    if needs_file(trace):
        st.download_button(
            say("header.inputs", file=INPUTS_FILE),
            lambda: inputs_npz(trace),
            file_name=INPUTS_FILE,
            mime="application/octet-stream",
            icon=":material/dataset:",
            on_click="ignore",
        )


def show_link_trouble() -> None:
    """What of the opened link could not be read or computed."""
    for key, text in st.session_state["unread"]:
        st.error(say("link.unread", key=literal(key), text=literal(shown(text))), icon=":material/link_off:")
    for key, error in st.session_state["unfit"]:
        st.error(say("link.refused", key=literal(key), reason=sentence(error)), icon=":material/link_off:")
