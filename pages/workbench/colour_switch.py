"""Shows the switch for the colour scale of weights in long rows: from 0 to 1, or in multiples of the uniform weight."""

import streamlit as st

from pages.panels.setup_controls import field_control
from pages.session.fragments import page_part, select_and_redraw
from pages.session.view import ScreenState
from pages.site.words import say
from pages.workbench.control_rows import say_on_or_off, show_row

LONG_ROW_KEYS = 8  # most keys of a row in which the colours of a uniform weight and of 0 are easily told apart


def has_long_rows(screen: ScreenState) -> bool:
    """Returns whether each row has more than LONG_ROW_KEYS keys, so that the switch for the colour scale is offered."""
    return screen.trace.sizes()["S"] > LONG_ROW_KEYS


@page_part(lambda screen: (has_long_rows(screen), screen.times, screen.setup.comparison.run_a is None))
def show_colour_row(screen: ScreenState) -> None:
    """Shows the row with the switch for the colour scale, if rows are long.

    A comparison has the switch beside its other buttons instead.
    """
    if has_long_rows(screen) and screen.setup.comparison.run_a is None:
        show_row("ramp", say_on_or_off(screen.times), screen.times, lambda: ramp_switch(screen))


def ramp_switch(screen: ScreenState) -> None:
    """Shows the switch between two colour scales: from 0 to 1, or in multiples of the uniform weight."""

    def choose_ramp(in_even_shares: bool) -> None:
        ramp = "times" if in_even_shares else "shares"
        is_usual = in_even_shares == screen.times_by_itself
        select_and_redraw(ramp=None if is_usual else ramp)

    field_control("ramp", screen.times, choose_ramp).draw(st.toggle, help=say("help.ramp"), width="content")
