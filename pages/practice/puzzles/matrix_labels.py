"""Names of the columns of a puzzle's matrices."""

from attention_core.examples.examples import EXAMPLES
from attention_core.record.trace import Trace
from pages.practice.puzzles.game import PlayedPuzzle
from pages.session.labels import place_name


def name_column(played: PlayedPuzzle, name: str, column: int) -> str:
    """The name of a column of a matrix: an output dimension for w_o, else a head and the dimension in it."""
    if name == "w_o":
        return place_name(label_columns(played), "D_out", column)
    width = played.trace.sizes()["d_k"]
    head, number = divmod(column, width)
    return f"H{head + 1}·{number + 1}"


def label_columns(played: PlayedPuzzle) -> Trace:
    """The run with the example's names of D and D_out, also if its matrices were edited."""
    dims = EXAMPLES[played.setup.example].dims
    return played.trace.labelled(D=dims, D_out=dims)
