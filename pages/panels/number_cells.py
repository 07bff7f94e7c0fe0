"""Shows a matrix of number fields that visitors type into, also while the server is still busy with earlier numbers."""

from collections.abc import Callable, Iterable, Mapping

import streamlit as st

from pages.components import number_grid


def show_number_cells(
    key: str,
    data: dict,
    version: str,
    take: Callable[[Iterable[Mapping]], None],
    on_opened: Callable[[Mapping], None] | None = None,
) -> None:
    """Shows number fields, and hands the cells that were typed or pasted to `take`.

    The browser numbers its messages and is told the last number that the server has read. Until then it keeps what was
    typed, and sends it again with the next message, because of two messages that wait for a busy server, Streamlit
    hands on only the later one.

    data: the fields of `Numbers` in numbers.js but for the two that are added here. version: a text that differs for
    each matrix that the key shows; with another version the browser discards what was typed, and a message of an
    earlier version is ignored. on_opened: a callback that gets {"row", "column"} of a clicked number.
    """
    answered_key = f"{key}.answered"

    def take_sent(sent: Mapping) -> None:
        st.session_state[answered_key] = sent["serial"]
        if sent["version"] == version:
            take(sent["cells"])

    number_grid(
        data={**data, "version": version, "answered": st.session_state.get(answered_key, 0)},
        key=key,
        given={"rows": len(data["rows"]), "columns": len(data["columns"])},
        on_typed=take_sent,
        **({} if on_opened is None else {"on_opened": on_opened}),
    )
