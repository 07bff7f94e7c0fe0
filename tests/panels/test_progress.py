"""Work in parts: all results in order, and a bar only where it takes long."""

from contextlib import nullcontext

import pytest

from pages.panels import progress as waiting
from pages.site.words import say


class Fake:
    """What stands for Streamlit: it writes down what is drawn, in order."""

    def __init__(self, ended=False):
        self.drawn, self.ended = [], ended

    def empty(self):
        """A place; and, of a place, that nothing stands there any more."""
        self.drawn.append("empty")
        return self

    def container(self, **_):
        return nullcontext()

    def progress(self, share, text=""):
        if self.ended and text:
            raise InterruptedError
        self.drawn.append((share, text))
        return self

    def button(self, label, on_click, **_):
        self.drawn.append((label, on_click))


@pytest.fixture
def screen(monkeypatch):
    def put(fake):
        monkeypatch.setattr(waiting, "st", fake)
        monkeypatch.setattr(waiting, "current_slug", lambda: "scale")
        return fake

    return put


def test_a_bar_says_how_far_it_is_and_is_gone_at_the_end(screen):
    fake = screen(Fake())
    assert waiting.compute_one_by_one(str, [3, 5, 7], patience=-1.0) == ["3", "5", "7"]
    first, begun, *bars, last = fake.drawn
    assert (first, last) == ("empty", "empty")
    assert begun == (0.0, "")
    assert [share for share, _ in bars] == [0, 1 / 3, 2 / 3]
    assert "1" in bars[1][1] and "3" in bars[1][1]


def test_what_is_done_soon_has_no_bar(screen):
    fake = screen(Fake())
    assert waiting.compute_one_by_one(str, [3, 5, 7], print, patience=60.0) == ["3", "5", "7"]
    assert fake.drawn == ["empty", "empty"]


def test_a_button_stops_where_there_is_something_to_stop_with(screen):
    fake = screen(Fake())
    waiting.compute_one_by_one(str, [3, 5], print, patience=-1.0)
    assert [on_click for label, on_click in fake.drawn[1:-1] if label == say("lesson.stop")] == [print]


def test_moving_a_control_ends_the_work_between_two_parts(screen):
    """Streamlit ends a run where something is drawn."""
    screen(Fake(ended=True))
    begun = []
    with pytest.raises(InterruptedError):
        waiting.compute_one_by_one(begun.append, [3, 5, 7], patience=-1.0)
    assert begun == []
