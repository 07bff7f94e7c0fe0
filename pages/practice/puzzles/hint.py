"""Shows a puzzle's hint: the number whose change helps most, according to the gradient of the goal."""

from dataclasses import replace

import streamlit as st
import torch

from attention_core.drawing.charts import single_picture
from attention_core.exercises.puzzle import Hint, Puzzle, find_hint, goal_slopes
from attention_core.explanation.layout import Panel, gather_panel
from attention_core.record.expressions import Ref
from attention_core.record.number_text import format_fixed, format_percent
from attention_core.record.trace import Step, Trace
from pages.lessons.opened_cell import get_opened_ref
from pages.lessons.pictures import RunPicture, show_side_by_side
from pages.lessons.sentences import show_sentence
from pages.practice.puzzles.game import PlayedPuzzle
from pages.practice.puzzles.names import label_columns, name_column
from pages.session.labels import current_palette, picture_texts_for
from pages.site.words import escape_markdown, say
from pages.workbench.matrix_cells import make_axis_headings

HINT_NUDGE = 0.1  # amount by which a hint changes a number


def show_hint(played: PlayedPuzzle) -> None:
    """Shows which number to change, and maps of the goal's gradient; if there is no hint, shows the reason."""
    if played.solved:
        show_sentence("lessons.puzzles.hint_solved")
        return
    puzzle = played.puzzle
    slopes = goal_slopes(puzzle, played.trace, played.before)
    hint = find_hint(puzzle, played.trace, slopes)
    if hint is None:
        is_silent = played.readings[0].value == 0
        show_sentence("lessons.puzzles.hint_silent" if is_silent else "lessons.puzzles.hint_flat")
        return
    st.markdown(describe_hint(played, hint))
    maps = [make_slopes_map(played, name, torch.from_numpy(slopes[name])) for name in puzzle.open]
    show_side_by_side(*maps)


def describe_hint(played: PlayedPuzzle, hint: Hint) -> str:
    """Returns the sentence that names the number to change, the direction, and by how much this changes the goal."""
    (row,) = make_axis_headings(
        label_columns(played),
        hint.name,
        -2,
        hint.row,
        1,
    )
    column = name_column(played, hint.name, hint.column)
    now = played.matrices[hint.name][hint.row, hint.column]
    way = choose_way(played.puzzle, hint)
    grows = "grows" if played.puzzle.goal.least else "falls"
    return say(
        f"lessons.puzzles.hint_{grows}",
        place=escape_markdown(f"{hint.name} [{row}, {column}]"),
        now=format_fixed(now),
        way=say(f"lessons.puzzles.{way}"),
        nudge=format_fixed(HINT_NUDGE),
        percent=format_percent(abs(hint.slope) * HINT_NUDGE),
        slope=format_fixed(hint.slope),
    )


def choose_way(puzzle: Puzzle, hint: Hint) -> str:
    """Returns the change of a number that a hint suggests: "flip" its sign, "raise" it or "lower" it."""
    if puzzle.flips:
        return "flip"
    return "raise" if hint.slope > 0 else "lower"


def make_slopes_map(played: PlayedPuzzle, name: str, slopes: torch.Tensor) -> RunPicture:
    """Returns the gradient of the goal with respect to a matrix as coloured cells, for numbers that may be changed."""
    step = f"slope_{name}"
    trace = label_columns(played)
    dims = trace.step(name).dims
    steps = {**trace.steps, step: Step(step, slopes, dims)}
    trace = replace(trace, steps=steps)
    title = say("lessons.puzzles.slopes", name=name)
    picture = single_picture(
        [gather_open_columns(played, trace, name, step)],
        trace,
        picture_texts_for(trace),
        current_palette(),
        [title],
        get_opened_ref(step, trace),
    )
    return RunPicture(step, picture, {"": trace}, title)


def gather_open_columns(played: PlayedPuzzle, trace: Trace, name: str, step: str) -> Panel:
    """Returns the cells of the columns of a step that the visitor may change, to draw them as a matrix.

    The step has the shape of the matrix called `name`.
    """
    first, behind = played.puzzle.open[name]
    refs = []
    for row in range(len(trace[step])):
        cells = [Ref(step, (row, column)) for column in range(first, behind)]
        refs.append(cells)
    dims = trace.step(name).dims
    return gather_panel(trace, step, refs, dims)
