"""What all tests of the screen share."""

import pytest
from streamlit.runtime.scriptrunner import get_script_run_ctx

from pages.shared import words
from tests.screen.driver import Screen


@pytest.fixture(autouse=True)
def labels_are_read_in_the_language_of_the_screen(monkeypatch):
    """AppTest asks for the labels of a choice outside the session, where its language is not known."""
    inside = words.language
    monkeypatch.setattr(words, "language", lambda: inside() if get_script_run_ctx() else Screen.outside)
