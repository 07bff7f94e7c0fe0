"""What a language model is asked: one panel under the picture at a time, which a link names."""

import streamlit as st

from pages.panels.model_rail import words_of_model
from pages.session.fragments import page_part, select_and_redraw
from pages.session.view import ScreenState
from pages.setup.setup import PANELS
from pages.site.words import say


def open_panel(screen: ScreenState) -> str | None:
    """The panel that is open, of PANELS; None where no language model reads the sentence."""
    return None if words_of_model(screen) is None else screen.setup.panel or PANELS[0]


@page_part(lambda screen: (open_panel(screen),))
def show_panel_choice(screen: ScreenState) -> None:
    """Which panel is open; nothing where no language model reads the sentence."""
    panel = open_panel(screen)
    if panel is None:
        return

    def choose_panel() -> None:
        chosen = st.session_state["c_panel"]
        select_and_redraw(panel=None if chosen == PANELS[0] else chosen)

    st.session_state["c_panel"] = panel
    st.segmented_control(
        say("control.panel"),
        PANELS,
        format_func=lambda name: say(f"model.panel.{name}"),
        key="c_panel",
        on_change=choose_panel,
        required=True,
        help=say("help.panel"),
    )
