"""Builds the controls of the workbench, whose values are fields of the Setup; each applies a change or stores its
error.
"""

from collections.abc import Callable

import numpy as np

from attention_core.inputs.matrix_edits import shorten_matrix
from attention_core.inputs.matrix_values import UNCHANGED
from attention_core.record.errors import AttentionError
from pages.panels.control import Control
from pages.panels.refusals import show_error
from pages.runs.cache import trace_for
from pages.session import setup_state
from pages.session.fragments import redraw
from pages.session.view import current_screen
from pages.site.words import say

HALF_WIDTH_PX = 112  # width in pixels at which two controls fit side by side in the sidebar


def field_control(
    field: str,
    value: object,
    take: Callable[[object], None] | None = None,
    key: str = "",
    label: str = "",
    option_text: Callable[[object], str] | None = None,
) -> Control:
    """Returns the control of a Setup field, or of a value that determines several fields.

    value: the current value. take: a function that applies the widget's new value; by default it sets the field to this
    value. key: the key of the widget; by default c_<field>. label: the text key of the label; by default
    control.<field>. option_text: a function that returns the text of an option; by default it reads <field>.<option>.
    """
    return Control(
        field,
        key or f"c_{field}",
        value,
        take or (lambda given: try_change(field, **{field: given})),
        setup_state.workbench(),
        label or f"control.{field}",
        option_text or (lambda option: say(f"{field}.{option}")),
    )


def try_change(control: str, **updates) -> None:
    """Applies a change to the Setup, or stores its error for the control; then redraws the page.

    Must be the last call of a callback.
    """
    try_made_change(control, lambda: updates)


def try_matrix(control: str, name: str, read: Callable[[], np.ndarray], base: np.ndarray | None) -> None:
    """Applies the matrix that `read` returns, or stores the error for which it is refused.

    control: the name of the control that shows the error. base: the matrix without the visitor's edits.
    """
    try_made_change(control, lambda: {name: shorten_matrix(read(), base, name)})


def try_made_change(control: str, make: Callable[[], dict]) -> None:
    """Applies the change of the Setup that `make` returns, or stores the error for which it is refused, and redraws."""
    take_made_change(control, make)
    redraw()


def take_made_change(control: str, make: Callable[[], dict]) -> None:
    """Applies the change of the Setup that `make` returns, or stores its error, without redrawing the screen."""
    try:
        changes = make()
    except AttentionError as error:
        setup_state.workbench().refuse(control, error)
    else:
        setup_state.change_setup(control, trace_for, **keep_head(changes))


def keep_head(changes: dict) -> dict:
    """Returns the changes of a Setup, extended by the head on the screen if they replace the vectors X of several
    heads.

    Without a chosen head, the page would show the head with the most telling weights, which may be another head.
    """
    if setup_state.current_setup().view.head is not None or changes.get("x") in (None, UNCHANGED):
        return changes
    screen = current_screen()
    has_several = screen.trace["weights"].shape[1] > 1
    return {"head": screen.selection.head, **changes} if has_several else changes


def show_refusal(control: str, take_reading: Callable[[str], None] | None = None) -> None:
    """Shows why the control's last change was refused; nothing if that change was applied.

    take_reading: a callback that gets the interpretation that the visitor chose for an ambiguous input.
    """
    show_error(setup_state.workbench().refused.get(control), control, take_reading)
