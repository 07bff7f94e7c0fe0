"""Controls of Setup fields: each shows the field's value, applies a change, and shows its own refusal."""

from collections.abc import Callable, Iterable

import numpy as np
import streamlit as st

from attention_core.inputs.matrix_edits import shorten_matrix
from attention_core.record.errors import AttentionError
from pages.panels.readings import show_readings
from pages.runs.cache import trace_for
from pages.session import setup_state
from pages.session.fragments import redraw
from pages.session.moved_widgets import moved_widget_key, set_moved_widget
from pages.site.words import say, say_refusal

HALF_WIDTH_PX = 112  # width of a control, for two controls side by side in the sidebar


def mirror_field(key: str, control: str, value: object) -> None:
    """Sets a widget to the Setup's value, unless the widget contains a refused input that must be kept.

    Streamlit drops the value of a widget that was not drawn for a while; then its refusal is removed too.
    """
    mirror_field_as(key, key, control, value)


def mirror_field_as(kept: str, key: str, control: str, value: object) -> None:
    """Sets a session value as mirror_field sets a widget. kept: the session key. key: of the widget."""
    if key not in st.session_state:
        setup_state.workbench().forget_refusals(control)
    if setup_state.workbench().refused.get(control) is None:
        st.session_state[kept] = value


def mirror_moved_field(name: str, control: str, value: object) -> str:
    """As mirror_field, for a widget whose value can also change elsewhere; returns the widget's key."""
    key = moved_widget_key(name)
    if key not in st.session_state:
        setup_state.workbench().forget_refusals(control)
    if setup_state.workbench().refused.get(control) is not None:
        return key
    return set_moved_widget(name, value)


def keep_typed(key: str, control: str, value: object) -> object:
    """The value for a component's text box: the Setup's, or the refused input."""
    typed = f"{key}.typed"
    mirror_field_as(typed, key, control, value)
    return st.session_state[typed]


def try_change(control: str, **updates) -> None:
    """Applies a change or keeps its refusal, and redraws: must be the last call of a callback."""
    try_made_change(control, lambda: updates)


def try_matrix(control: str, name: str, read: Callable[[], np.ndarray], base: np.ndarray | None) -> None:
    """Applies the matrix that `read` returns, or keeps its refusal; `base` is the unedited matrix."""
    try_made_change(control, lambda: {name: shorten_matrix(read(), base, name)})


def try_made_change(control: str, make: Callable[[], dict]) -> None:
    """Applies the change that `make` returns, or keeps the refusal of either, and redraws."""
    take_made_change(control, make)
    redraw()


def take_made_change(control: str, make: Callable[[], dict]) -> None:
    """Applies the change that `make` returns, or keeps the refusal of either, without redrawing."""
    try:
        changes = make()
    except AttentionError as error:
        setup_state.workbench().refuse(control, error)
    else:
        setup_state.change_setup(control, trace_for, **changes)


def show_refusal(control: str, take_reading: Callable[[str], None] | None = None) -> None:
    """Shows the reason for a refusal at its control. take_reading: handler of a reading, for an ambiguous input."""
    error = setup_state.workbench().refused.get(control)
    if error is None:
        return
    st.error(say_refusal(error), icon=":material/error:")
    if take_reading is not None:
        show_readings(error, control, take_reading)


def show_field_selectbox(
    field: str, options: list[str], value: str, width: int | str = "stretch", help: str | None = None
) -> None:
    """Shows a select box for a field with a few options."""
    key = f"c_{field}"

    def chosen() -> None:
        try_change(field, **{field: st.session_state[key]})

    mirror_field(key, field, value if value in options else options[0])
    st.selectbox(
        say(f"control.{field}"),
        options,
        format_func=lambda name: say(f"{field}.{name}"),
        key=key,
        on_change=chosen,
        filter_mode=None,
        width=width,
        help=help,
    )
    show_refusal(field)


def show_field_text(field: str, typed: str | None, shipped: str, help: str | None = None) -> None:
    """Shows a text input for a field; `shipped` is its value if nothing was typed."""
    key = f"c_{field}"

    def changed() -> None:
        try_change(field, **{field: st.session_state[key]})

    mirror_field(key, field, shipped if typed is None else typed)
    st.text_input(say(f"control.{field}"), key=key, on_change=changed, help=help)
    show_refusal(field)


def show_field_pills(
    field: str,
    options: Iterable[str],
    values: Iterable[str],
    chosen: Callable[[], None],
    help: str | None = None,
) -> None:
    """Shows pills for a field with any number of options; `chosen` is called after a choice."""
    mirror_field(f"c_{field}", field, list(values))
    st.pills(
        say(f"control.{field}"),
        list(options),
        selection_mode="multi",
        format_func=lambda name: say(f"{field}.{name}"),
        key=f"c_{field}",
        on_change=chosen,
        help=help,
    )
