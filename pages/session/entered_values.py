"""Makes the callbacks of widgets: functions that get the value which the visitor entered."""

from collections.abc import Callable

import streamlit as st


def when_entered(key: str, take: Callable[[object], None]) -> Callable[[], None]:
    """Returns a callback for a widget; it calls `take` with the value that the visitor entered.

    It does nothing if the widget's page was left: while another page opens, a menu that closes on the former page sends
    the values of that page once more, and Streamlit calls their callbacks though it has deleted the values.

    key: the widget's key.
    """

    def take_entered() -> None:
        if key in st.session_state:
            take(st.session_state[key])

    return take_entered
