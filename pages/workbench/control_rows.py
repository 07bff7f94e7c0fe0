"""Draws rows of the panels More and Research variants: a setting's name, its value, and the controls to change it."""

from collections.abc import Callable, Iterable, Sequence

import streamlit as st

from pages.panels.setup_controls import field_control
from pages.session import setup_state
from pages.session.side_panel import kept_row_key, row_key
from pages.site.words import escape_markdown, say


def show_row(name: str, value: str, is_set: bool, show_controls: Callable[[], None]) -> None:
    """Shows a row of a panel; a click opens its controls below it, which are drawn only while the row is open.

    name: the row's key in [row] of the page's texts. value: the current value, shown at the right end of the row.
    is_set: whether the value differs from the default, so that it is shown in colour.
    """
    colour = "primary" if is_set else "gray"
    key = row_key(name)
    kept = kept_row_key(name)
    if key not in st.session_state:  # Streamlit has deleted the state of this row, because the row was not drawn
        st.session_state[key] = st.session_state.get(kept, False)
    with st.container(key=f"line_{name}", gap=None):
        st.markdown(f":{colour}[{escape_markdown(value)}]")  # page.css moves the value up to the row's line
        drawer = st.expander(say(f"row.{name}"), key=key, on_change="rerun", type="compact")
        st.session_state[kept] = drawer.open
        setup_state.write_panel()
        if drawer.open:
            with drawer:
                show_controls()


def show_choice_row(
    row: str,
    family: str,
    offered: Sequence[str],
    chosen: Sequence[str],
    choose: Callable[[Sequence[str]], None],
    show_numbers: Callable[[], None],
    help_key: str = "",
) -> None:
    """Shows a row in which several mechanisms can be chosen, and the parameters of the chosen ones.

    row: the name of the row and of its control. family: the section of the page's texts with the names of the
    mechanisms, such as "masks"; its label is control.<family>. choose: a function that applies the new choice.
    show_numbers: a function that draws the parameters, and why a choice was refused. help_key: the key of the help
    text; by default help.<family>.
    """

    def name_option(name: str) -> str:
        return say(f"{family}.{name}")

    def show_choice() -> None:
        control = field_control(row, chosen, choose, label=f"control.{family}", option_text=name_option)
        control.draw(st.pills, offered, selection_mode="multi", help=say(help_key or f"help.{family}"))
        show_numbers()

    show_row(row, list_values([name_option(name) for name in chosen]), bool(chosen), show_choice)


def list_values(values: list[str]) -> str:
    """Returns the texts of the chosen options, separated by commas; "off" if none is chosen."""
    return say("fact.comma").join(values) if values else say("row.off")


def say_on_or_off(is_on: bool) -> str:
    """Returns the text of a switch's state: "on" or "off"."""
    return say("row.on" if is_on else "row.off")


def merge_choice(now: Iterable[str], offered: Sequence[str], chosen: Sequence[str]) -> list[str]:
    """Returns all chosen options after a change in a row that offers only some of them.

    now: the options chosen before, in order. offered: the options of the row. chosen: those of the row that are chosen
    now.

    >>> merge_choice(["rope", "t5"], ["rope", "alibi"], ["alibi"])
    ['t5', 'alibi']
    """
    kept = [name for name in now if name not in offered or name in chosen]
    return kept + [name for name in chosen if name not in kept]
