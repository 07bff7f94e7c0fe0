"""The sentence above the maps, and what stands beside it: a switch of the colours, or the way to learned weights."""

import streamlit as st

from pages.panels.head_maps import fact_sentence
from pages.session import setup_state
from pages.session.fragments import redraw, select_and_redraw
from pages.session.view import ScreenState
from pages.setup.setup import network_of
from pages.site.words import say

LONG_ROW_KEYS = 8  # keys: beyond, the colours of an even row are hard to tell from those of an empty one
LEARNED_EXAMPLE = "learned_copy"  # the example that answers where weights come from


def show_fact(screen: ScreenState) -> None:
    """What the chosen query does, as the heading.

    Beside it a switch, for rows so long that all weights are small, or the way to weights that were learned.
    """
    with st.container(horizontal=True, vertical_alignment="center"):
        sentence = fact_sentence(screen.trace, screen.selection)
        st.markdown(f"##### {sentence}", width="content")
        if has_long_rows(screen):
            ramp_switch(screen)
        elif network_of(screen.setup) is None:
            learned_door()


def has_long_rows(screen: ScreenState) -> bool:
    """Whether a row has so many keys that its colours can be counted in even shares."""
    return screen.trace.sizes()["S"] > LONG_ROW_KEYS


def learned_door() -> None:
    """The way to an example that shows where weights come from: a head whose weights were learned."""

    def open_learned_example() -> None:
        setup_state.open_example(LEARNED_EXAMPLE)
        redraw()

    st.button(
        say("header.learned"),
        key="learned",
        help=say("help.learned"),
        type="tertiary",
        on_click=open_learned_example,
    )


def ramp_switch(screen: ScreenState) -> None:
    """Colours of the weights from 0 to 1, or in even shares."""

    def choose_ramp() -> None:
        in_even_shares = st.session_state["c_ramp"]
        ramp = "times" if in_even_shares else "shares"
        is_usual = in_even_shares == screen.times_by_itself
        select_and_redraw(ramp=None if is_usual else ramp)

    st.session_state["c_ramp"] = screen.times
    st.toggle(
        say("control.ramp"),
        key="c_ramp",
        on_change=choose_ramp,
        help=say("help.ramp"),
        width="content",
    )
