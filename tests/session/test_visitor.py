"""For whom a thread works: a file is made for the visitor who asked, and for nobody who has left."""

from types import SimpleNamespace

import pytest

from pages.session import visitor
from pages.session.visitor import NOBODY, current_visitor, has_asker_left, work_for


@pytest.fixture
def connected(monkeypatch):
    """The sessions that are connected to a server."""
    sessions = {"one"}
    server = SimpleNamespace(is_active_session=sessions.__contains__)
    monkeypatch.setattr(visitor, "runtime", SimpleNamespace(exists=lambda: True, get_instance=lambda: server))
    return sessions


def test_a_thread_works_for_who_asked_and_then_for_nobody():
    assert current_visitor() == NOBODY
    with work_for("one"):
        assert current_visitor() == "one"
        with work_for("other"):
            assert current_visitor() == "other"
        assert current_visitor() == "one"
    assert current_visitor() == NOBODY


def test_who_asked_has_left_when_the_session_is_no_longer_connected(connected):
    assert not has_asker_left()
    with work_for("one"):
        assert not has_asker_left()
        connected.clear()
        assert has_asker_left()
    assert not has_asker_left()


def test_without_a_server_nobody_has_left():
    with work_for("one"):
        assert not has_asker_left()
