"""The lesson on the worked example, drawer "own": the same example with the reader's own numbers."""

from attention_core.exercises.worked_example import CheckedWork
from pages.export.page_links import link_to_exercise
from pages.lessons.sentences import show_sentence
from pages.setup.setup import Setup


def show_own_exercise(_: CheckedWork, setup: Setup) -> None:
    """Shows the way to where the reader's own numbers of this example are checked."""
    show_sentence("lessons.printed.own")
    link_to_exercise(setup, "own")
