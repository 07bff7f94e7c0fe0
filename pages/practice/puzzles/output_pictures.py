"""Draws the output for the puzzles whose goal depends on it."""

from attention_core.analysis.head_contributions import with_contributions
from attention_core.comparison.differences import index_of_largest
from attention_core.comparison.distances import abs_difference
from attention_core.drawing.bars import row_of
from pages.lessons.pictures import RunPicture, make_cell_rows, show_side_by_side
from pages.lessons.sentences import list_place_names
from pages.practice.puzzles.game import PlayedPuzzle
from pages.practice.puzzles.names import label_columns
from pages.runs.cache import trace_for
from pages.session.labels import name_token
from pages.setup.setup import make_setup
from pages.site.words import say


def make_copy_picture(played: PlayedPuzzle) -> RunPicture:
    """Returns a picture of the output for the word "dog" below the vector of "fed", which the output should equal."""
    trace = label_columns(played)
    fed, dog = played.puzzle.cast["fed"], played.puzzle.cast["dog"]
    vector_title = say("lessons.puzzles.vector_of", word=name_token(trace, "T", fed))
    output_title = say("lessons.puzzles.output_of", word=name_token(trace, "T", dog))
    rows = [
        row_of(vector_title, trace, "x", (0, fed)),
        row_of(output_title, trace, "output", (0, dog)),
    ]
    names = list_place_names(trace, "D")
    return make_cell_rows(
        "output",
        rows,
        names,
        {"": trace},
        trace,
    )


def make_cancel_picture(played: PlayedPuzzle) -> RunPicture:
    """Returns a picture of each head's contribution to an output, and their sum, for the query with the largest
    contribution.
    """
    trace = with_contributions(label_columns(played))
    largest = trace["contributions"][0].abs().amax((0, 2))  # (H, T, D_out) -> (T,)
    (query,) = index_of_largest(largest)
    rows = []
    for head in played.puzzle.heads:
        title = say("lessons.puzzles.brings", head=head + 1)
        rows.append(row_of(title, trace, "contributions", (0, head, query)))
    title = say("lessons.puzzles.output_of", word=name_token(trace, "T", query))
    rows.append(row_of(title, trace, "output", (0, query)))
    names = list_place_names(trace, "D")
    return make_cell_rows(
        "output",
        rows,
        names,
        {"": trace},
        trace,
        sums=1,
    )


def make_half_picture(played: PlayedPuzzle) -> RunPicture:
    """Returns a picture of a word's output twice: in the unchanged example, and in the puzzle's run.

    The word is the one whose outputs differ most.
    """
    now = label_columns(played)
    whole = trace_for(make_setup(example=played.setup.run.example))
    gaps = abs_difference(now["output"], whole["output"])[0].amax(-1)  # (T, D_out) -> (T,)
    query = int(gaps.argmax())
    runs = {"whole": whole, "now": now}
    rows = []
    for name, trace in runs.items():
        title = say(f"lessons.puzzles.at_{name}")
        row = row_of(title, trace, "output", (0, query), name)
        rows.append(row)
    word = name_token(now, "T", query)
    return make_cell_rows(
        "output",
        rows,
        list_place_names(now, "D"),
        runs,
        now,
        corner=say("lessons.puzzles.output_of", word=word),
    )


OUTPUT_PICTURES = {  # puzzle -> function that draws the output in its goal
    "copy": make_copy_picture,
    "cancel": make_cancel_picture,
    "half": make_half_picture,
}


def show_puzzle_output(played: PlayedPuzzle) -> None:
    """Shows the output numbers on which the goal depends; shows nothing if the goal does not depend on the output."""
    make_picture = OUTPUT_PICTURES.get(played.puzzle.name)
    if make_picture is not None:
        show_side_by_side(make_picture(played))
