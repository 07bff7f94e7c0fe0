"""A page that was left may send its values once more, when its menus close: no callback of it fails for that."""

from collections.abc import Callable
from functools import partial

import pytest
from streamlit.proto.WidgetStates_pb2 import WidgetStates
from streamlit.runtime.state.session_state import SessionState

from pages.session.side_panel import PANEL_KEY, row_key
from pages.site.catalog import PAGES
from pages.site.controls import FILE, MATRICES, MORE, RESEARCH
from tests.screen.driver import ROWS
from tests.screen.lesson import Lesson

OTHER_PAGE = "history"
PANELS = {
    panel: {PANEL_KEY: panel} | {row_key(row): True for row in ROWS} for panel in (MORE, RESEARCH, MATRICES, FILE)
}
OPENED = PANELS | {"drawers": {"step_drawer": True, "sharing": True}}  # parts of the workbench
PLACES = [page.slug for page in PAGES if page.slug not in ("workbench", "scale", OTHER_PAGE)]


def list_callbacks(page: Lesson) -> dict[str, Callable[[], None]]:
    """The callbacks of all widgets of a page, by the widget; those of our own components check what was sent."""
    metadata = page.at.session_state._state._state._new_widget_state.widget_metadata
    found = {}
    for widget, each in metadata.items():
        if each.callback is not None and each.value_type != "trigger_value":  # a button has no value to read
            found[widget] = partial(each.callback, *(each.callback_args or ()), **(each.callback_kwargs or {}))
    return found


def leave_and_call(page: Lesson, monkeypatch) -> list[tuple[str, Exception]]:
    """Calls the callbacks of a page in a run of another page, where their values are gone; returns what was raised."""
    callbacks, raised = list_callbacks(page), []
    assert callbacks
    page.go_to(OTHER_PAGE)

    def call_all(state: SessionState, **_) -> None:
        for widget, call in callbacks.items():
            try:
                call()
            except Exception as error:
                raised.append((widget, error))

    monkeypatch.setattr(SessionState, "_call_callbacks", call_all)
    page.ran(page.at._run, WidgetStates())
    return raised


def test_a_lesson_that_was_left_is_called_without_its_values(monkeypatch):
    assert leave_and_call(Lesson("scale", open="code"), monkeypatch) == []


@pytest.mark.slow
@pytest.mark.parametrize("slug", PLACES)
def test_any_page_that_was_left_is_called_without_its_values(slug, monkeypatch):
    page = Lesson(slug)
    if slug == "present":
        page.press("copy")  # one's own lecture, which has an editor
    assert leave_and_call(page, monkeypatch) == []


@pytest.mark.slow
@pytest.mark.parametrize("part", OPENED)
def test_each_part_of_a_workbench_that_was_left_is_called_without_its_values(part, monkeypatch):
    page = Lesson("workbench")
    for key, value in OPENED[part].items():
        page.at.session_state[key] = value
    page.ran(page.at.run)
    assert leave_and_call(page, monkeypatch) == []
