"""Lesson 12, drawer "own": the same example with the reader's own numbers."""

from attention_core.exercises.worked_example import CheckedWork
from pages.export.doors import exercise_door
from pages.lessons.sentences import show_sentence
from pages.setup.setup import Setup


def show_own_exercise(_: CheckedWork, setup: Setup) -> None:
    """Shows the way to where the reader's own numbers of this example are checked."""
    show_sentence("lessons.printed.own")
    exercise_door(setup, "own")
