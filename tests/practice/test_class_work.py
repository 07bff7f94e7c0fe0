"""A class on an exercise: counted by how far each browser has got, in the room that the link names, without names."""

import pytest

from attention_core.exercises.puzzles import PUZZLES
from pages.classroom.rooms import ROOMS, Reached, RoomPage
from pages.site.words import load_app_texts
from tests.practice.test_check import QKV, type_cells
from tests.screen.lesson import Lesson

WORDS = load_app_texts("en")


def told(check):
    """What the page says of the class."""
    return [each.value.partition(": ")[2] for each in check.at.caption if each.value.startswith(":material/groups:")]


@pytest.fixture
def key():
    """The key of the only open room."""
    ROOMS.rooms.clear()
    yield ROOMS.open(RoomPage(b"the page", "5f"))
    ROOMS.rooms.clear()


def test_a_right_step_moves_the_browser_up_and_a_reload_counts_it_once(key):
    check = Lesson("check", **QKV, stage="scores", room=key.code.lower())
    assert told(check) == [WORDS["present.room.work.counted"].format(code=key.code)]
    (begun,) = ROOMS.count_progress(key)["check"]
    assert begun.done == 0 and begun.total > 1
    type_cells(check, [(0, 0, "0"), (0, 1, "-4"), (0, 2, "2"), (1, 0, "-3"), (1, 1, "4"), (1, 2, "4")])
    assert ROOMS.count_progress(key) == {"check": {begun: 1}}  # a step that is half done is not done
    type_cells(check, [(2, 0, "-2"), (2, 1, "2"), (2, 2, "3")])
    one_right = {"check": {Reached(1, begun.total): 1}}
    assert ROOMS.count_progress(key) == one_right
    Lesson("check", **check.link())
    assert ROOMS.count_progress(key) == one_right
    Lesson("check", **QKV, room=key.code)  # somebody else
    assert ROOMS.count_progress(key)["check"].total() == 2


def test_a_solved_puzzle_counts(key):
    first, puzzle = next(iter(PUZZLES.items()))
    Lesson("puzzles", lang="en", room=key.code, puzzle=first, numbers=puzzle.solution)
    assert ROOMS.count_progress(key) == {"puzzles": {Reached(1, len(PUZZLES)): 1}}


def test_who_leaves_the_class_or_outlives_the_room_keeps_the_work(key):
    check = Lesson("check", **QKV, stage="scores", room=key.code)
    check.press("leave_class")
    assert "room" not in check.link() and told(check) == []
    check = Lesson("check", **QKV, stage="scores", room=key.code)
    ROOMS.end(key)
    type_cells(check, [(0, 0, "0")])
    assert told(check) == [WORDS["present.room.work.over"].format(code=key.code)] and check.errors() == []


@pytest.mark.parametrize("text", ["guess", "K7QFEM.", "K7QFEM.xyz", "<b>x</b>", "A" * 5000, "K7QFEM.0123456789abcdef0"])
def test_a_link_with_anything_else_than_a_room_says_so_and_counts_nobody(key, text):
    check = Lesson("check", **QKV, room=text)
    assert ["room=" in error for error in check.errors()] == [True] and ROOMS.count_progress(key) == {}


def test_other_pages_know_no_room(key):
    lesson = Lesson("softmax", lang="en", room=key.code)
    assert ["room=" in error for error in lesson.errors()] == [True] and ROOMS.count_progress(key) == {}
