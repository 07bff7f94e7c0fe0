"""Names the words of a puzzle's sentence and the columns of its matrices, for its texts and headings."""

from collections.abc import Sequence

from attention_core.examples.examples import EXAMPLES
from attention_core.exercises.puzzle import Puzzle
from attention_core.record.trace import Trace
from pages.practice.puzzles.game import PlayedPuzzle
from pages.runs.cache import trace_for
from pages.session.labels import place_name
from pages.setup.setup import make_setup
from pages.site.words import current_language, escape_markdown, say


def say_with_cast(played: PlayedPuzzle, key: str, **values) -> str:
    """Returns the text of a key; its placeholders are filled with words of the puzzle's sentence."""
    cast = name_cast(played.puzzle, played.trace.labels["T"])
    return say(key, **cast, **values)


def say_title(puzzle: Puzzle) -> str:
    """Returns the title of a puzzle; its placeholders are filled with words of the puzzle's sentence."""
    begin = make_setup(**puzzle.start(current_language()))
    cast = name_cast(puzzle, trace_for(begin).labels["T"])
    return say(f"lessons.puzzles.title.{puzzle.name}", **cast)


def name_cast(puzzle: Puzzle, words: Sequence[str]) -> dict[str, str]:
    """Returns {placeholder in the puzzle's texts: the word of its sentence that replaces it}.

    words: the words of the puzzle's sentence.
    """
    return {name: escape_markdown(words[position]) for name, position in puzzle.cast.items()}


def name_column(played: PlayedPuzzle, name: str, column: int) -> str:
    """Returns the name of a matrix column: for w_o an output dimension, else a head and a dimension of this head."""
    if name == "w_o":
        return place_name(label_columns(played), "D_out", column)
    width = played.trace.sizes()["d_k"]
    head, number = divmod(column, width)
    return f"H{head + 1}·{number + 1}"


def label_columns(played: PlayedPuzzle) -> Trace:
    """Returns the run labelled with the example's names of D and D_out, even after its matrices were edited."""
    dims = EXAMPLES[played.setup.run.example].dims
    return played.trace.labelled(D=dims, D_out=dims)
