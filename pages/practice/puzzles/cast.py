"""The texts of a puzzle, with placeholders for words of its sentence."""

from collections.abc import Sequence

from attention_core.exercises.puzzle import Puzzle
from pages.practice.puzzles.game import PlayedPuzzle
from pages.runs.cache import trace_for
from pages.setup.setup import Setup
from pages.site.words import current_language, escape_markdown, say


def say_with_cast(played: PlayedPuzzle, key: str, **values) -> str:
    """The text of a key, filled in with the words of the played puzzle's sentence."""
    cast = name_cast(played.puzzle, played.trace.labels["T"])
    return say(key, **cast, **values)


def say_title(puzzle: Puzzle) -> str:
    """The title of a puzzle, filled in with words of its sentence."""
    begin = Setup(**puzzle.start(current_language()))
    cast = name_cast(puzzle, trace_for(begin).labels["T"])
    return say(f"lessons.puzzles.title.{puzzle.name}", **cast)


def name_cast(puzzle: Puzzle, words: Sequence[str]) -> dict[str, str]:
    """The words for the placeholders in a puzzle's texts. words: of its sentence."""
    return {name: escape_markdown(words[position]) for name, position in puzzle.cast.items()}
