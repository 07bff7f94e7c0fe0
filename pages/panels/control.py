"""Control: the widget for one value that a page stores and writes into its link, on the workbench and in lessons.

Controls differ only in where the value is stored: setup_controls.field_control makes a control for a field of a Setup,
and link_controls.link_control makes one for a parameter in a lesson's link.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import streamlit as st

from pages.panels.refusals import show_error
from pages.session.entered_values import when_entered
from pages.session.linked_state import LinkedState
from pages.session.moved_widgets import is_outdated, moved_widget_key, set_moved_widget
from pages.site.words import say

LIMITS = ("min_value", "max_value", "step", "max_chars")  # arguments of widget functions that limit the possible values


@dataclass(frozen=True)
class Control:
    """The widget for one stored value, with the functions that show the value and apply a new one.

    name: the name under which the state stores the error of a refused input; several widgets may share it. key: the key
    of the widget. value: the current value, which the widget shows. take: a function that applies the value that the
    visitor entered, or refuses it. label: the key of the widget's text. option_text: a function that returns the text
    of an offered value.

    The server sets the widget's value only if the widget does not show this value yet: setting it would undo a click
    that the visitor makes while the page is computed.
    """

    name: str
    key: str
    value: object
    take: Callable[[object], None]
    state: LinkedState
    label: str
    option_text: Callable[[object], str]

    def show(self, widget: Callable, offered: Iterable | None = None, **how) -> None:
        """Draws the widget and, if its input was refused, the reason below it.

        widget: a function such as st.toggle. offered: the values that the widget offers, if it offers several. how:
        further arguments of the widget function.
        """
        self.draw(widget, offered, **how)
        show_error(self.state.refused.get(self.name))

    def draw(self, widget: Callable, offered: Iterable | None = None, label: str | None = None, **how) -> None:
        """Draws the widget with the current value.

        widget: a function such as st.toggle. offered: the values that the widget offers, if it offers several. label:
        replaces the widget's text. how: further arguments of the widget function.
        """
        texts = None
        text = say(self.label) if label is None else label
        if offered is not None:
            how = {"options": offered, "format_func": self.option_text} | how
            texts = list(map(how["format_func"], offered))
        if widget is st.text_area:
            # without this argument, a text area whose two drawings reach a browser at once would show its default
            how = {"value": self.value} | how
        limits = {name: how[name] for name in LIMITS if name in how}
        self.keep(self.key, (text, texts, limits))
        widget(
            text,
            key=self.key,
            on_change=when_entered(self.key, self.take),
            **how,
        )

    def keep(self, place: str, drawing: object = None) -> object:
        """Returns the value that the widget shows, and stores it under `place`.

        The result is the current value or, if the visitor's input was refused, that input. place: a key of the session.
        drawing: the arguments of the widget besides the value. Streamlit drops the input of a widget that was not drawn
        for a while; then the stored error is removed too.
        """
        if self.key not in st.session_state:
            self.state.forget_refusals(self.name)
        shown = list(self.value) if isinstance(self.value, tuple) else self.value
        if self.name not in self.state.refused and not self.has_drawn(place, shown, drawing):
            st.session_state[place] = shown
        return st.session_state[place]

    def has_drawn(self, place: str, shown: object, drawing: object) -> bool:
        """Returns whether the widget already shows this value and has the same arguments, so that its value need not be
        set.

        Streamlit may take a widget with other arguments for a new one, and a select box shows the former text of its
        option until it is set again.
        """
        is_redrawn = st.session_state.get(f"{place}.drawing") != drawing
        st.session_state[f"{place}.drawing"] = drawing
        return not is_redrawn and place in st.session_state and st.session_state[place] == shown

    def moved(self) -> "Control":
        """Returns the control with a new key, so that the widget shows a value that was changed by other means than the
        widget.

        For example, the cells of a matrix change such a value. See set_moved_widget.
        """
        key = moved_widget_key(self.key)
        if key not in st.session_state:
            self.state.forget_refusals(self.name)
        if self.name not in self.state.refused:
            key = set_moved_widget(self.key, self.value)

        def take(given: object) -> None:
            if not is_outdated(key):
                self.take(given)

        return replace(self, key=key, take=take)
