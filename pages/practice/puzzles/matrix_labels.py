"""What the columns of a puzzle's matrices stand for."""

from attention_core.examples.examples import EXAMPLES
from attention_core.record.trace import Trace
from pages.practice.puzzles.game import PlayedPuzzle
from pages.session.labels import place_name


def name_column(played: PlayedPuzzle, name: str, column: int) -> str:
    """What a column of a matrix stands for: a number of the output, or a head and the number in it."""
    if name == "w_o":
        return place_name(label_columns(played), "D_out", column)
    width = played.trace.sizes()["d_k"]
    head, number = divmod(column, width)
    return f"H{head + 1}·{number + 1}"


def label_columns(played: PlayedPuzzle) -> Trace:
    """The run with what the columns of x and of the output stand for, also where some of them were typed."""
    dims = EXAMPLES[played.setup.example].dims
    return played.trace.labelled(D=dims, D_out=dims)
