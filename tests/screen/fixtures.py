"""What all tests of the screen share."""

import pytest
from streamlit.runtime.scriptrunner import get_script_run_ctx

from pages.session import fragments
from pages.site import words
from tests.screen.driver import Screen


@pytest.fixture(autouse=True)
def labels_are_read_in_the_language_of_the_screen(monkeypatch):
    """AppTest asks for the labels of a choice outside the session, where its language is not known."""
    inside = words.current_language
    known = lambda: words.THREAD_LANGUAGE.now or (inside() if get_script_run_ctx() else Screen.outside)  # noqa: E731
    monkeypatch.setattr(words, "current_language", known)


@pytest.fixture(autouse=True)
def every_change_draws_the_whole_page(monkeypatch):
    """AppTest keeps nothing of what a run leaves alone. That it may be left alone is what Screen looks at."""
    monkeypatch.setattr(fragments, "list_outdated_parts", lambda: [])


@pytest.fixture(autouse=True)
def a_page_is_drawn_at_once(monkeypatch):
    """The workbench first draws its picture, and the rest when a browser has it. That both are one page is tested in
    tests/session/test_first_picture.py; all other tests begin with the whole page, which takes one run in place of two.
    """
    monkeypatch.setattr(fragments, "draw_first", lambda *parts: None)
