"""Shows a puzzle: the list of puzzles, the cells to change, the goal and its conditions, buttons, attention maps."""

from dataclasses import replace
from functools import partial

import streamlit as st

from attention_core.drawing.charts import MAP_WIDTH_PX
from attention_core.exercises.puzzle import BoundReading
from attention_core.exercises.puzzles import PUZZLES
from attention_core.inputs.matrix_text import to_text
from attention_core.record.number_text import format_exact, format_fixed
from pages.lessons.pictures import SMALL_MAP_CELL_PX, make_weights_map, show_side_by_side
from pages.panels import link_controls
from pages.panels.head_maps import head_name
from pages.panels.number_cells import show_number_cells
from pages.practice.puzzles import game
from pages.practice.puzzles.game import PlayedPuzzle
from pages.practice.puzzles.names import label_columns, name_column, say_title, say_with_cast
from pages.practice.puzzles.output_pictures import OUTPUT_PICTURES
from pages.runs.cache import inputs_of
from pages.session.answers import are_answers_revealed
from pages.session.labels import selection_of
from pages.setup.link_values import make_member_reader
from pages.site.words import say, typeset_matrix_names
from pages.workbench.matrix_cells import make_axis_headings

# px, for a single map: most side of a cell, and most height of all rows
SINGLE_MAP_CELL_PX, SINGLE_MAP_CELLS_PX = 60.0, 350.0
SINGLE_MAP_WIDTH_PX = 540.0  # px: width of a single attention map beside large cells
OUTPUT_MAP_CELL_PX = 29.0  # px: side of a cell of attention maps above an output, so that both fit
PUZZLE_HEADING_PX, LARGE_HEADING_PX = 88, 112  # px: width of a row heading of normal and of large cells
PUZZLE_COLUMN_PX, LARGE_COLUMN_PX = 63, 77  # px: width of a column of normal and of large cells
MAX_LARGE_COLUMNS = 4  # most columns of all matrices together that leave room for a map beside large cells
PUZZLE_GAP_PX = 16  # px: gap between two matrices
TEXT_BESIDE_ONE_MAP_PX = 480  # px: width of the text below the cells beside one map
TEXT_BESIDE_TWO_MAPS_PX = 340  # px: width of the text below the cells beside two maps


# ---- which puzzle ----------------------------------------------------------------------------------------------------
def show_puzzle_list(played: PlayedPuzzle) -> None:
    """Shows the choice of a puzzle by its number; solved puzzles have a check mark."""
    names = [*PUZZLES]
    solved = game.remembered_puzzles("puzzles_solved")
    control = link_controls.link_control("puzzle", game.FIRST_PUZZLE, make_member_reader(names))

    def label_puzzle(name: str) -> str:
        number = names.index(name) + 1
        return f"{number} ✓" if name in solved else str(number)

    replace(control, take=game.go_to_puzzle).draw(
        st.segmented_control,
        names,
        format_func=label_puzzle,
        required=True,
        wrap=True,
        label_visibility="collapsed",
    )


def show_task(played: PlayedPuzzle) -> None:
    """Shows a puzzle's title and task, the number of changed numbers, and the least number known to suffice."""
    name = played.puzzle.name
    number = [*PUZZLES].index(name) + 1
    title = say_title(played.puzzle)
    task = say_with_cast(played, f"lessons.puzzles.task.{name}")
    counter = say("lessons.puzzles.counter", count=played.changed, fewest=played.fewest)
    st.markdown(f"#### {number} · {title} :small[:gray[{counter}]]\n{task}")


# ---- the cells -------------------------------------------------------------------------------------------------------
def are_matrices_side_by_side(played: PlayedPuzzle) -> bool:
    """Returns whether the matrices to change are side by side; there is room for that only beside a single map."""
    return len(played.puzzle.heads) == 1


def are_cells_large(played: PlayedPuzzle) -> bool:
    """Returns whether the cells to change are large, as with a single attention map and few columns."""
    columns = sum(behind - first for first, behind in played.puzzle.open.values())
    return are_matrices_side_by_side(played) and columns <= MAX_LARGE_COLUMNS


def get_cells_width(played: PlayedPuzzle) -> int:
    """Returns the width in pixels of the matrices to change, and of the texts below them."""
    is_large = are_cells_large(played)
    heading = LARGE_HEADING_PX if is_large else PUZZLE_HEADING_PX
    column = LARGE_COLUMN_PX if is_large else PUZZLE_COLUMN_PX
    widths = [heading + column * (behind - first) for first, behind in played.puzzle.open.values()]
    if are_matrices_side_by_side(played):
        return max(TEXT_BESIDE_ONE_MAP_PX, sum(widths) + PUZZLE_GAP_PX)
    return max(TEXT_BESIDE_TWO_MAPS_PX, *widths)


def show_cells(played: PlayedPuzzle) -> None:
    """Shows the matrices whose numbers the visitor may change, and why the last typed number was refused."""
    with st.container(horizontal=are_matrices_side_by_side(played), gap="small"):
        for name in played.puzzle.open:
            with st.container(width="content", gap="xxsmall"):
                show_matrix_cells(played, name)
    link_controls.show_choice_refusal(game.NUMBERS_KEY)


def show_matrix_cells(played: PlayedPuzzle, name: str) -> None:
    """Shows the numbers of one matrix that may be changed, with headings of its rows and columns."""
    first, behind = played.puzzle.open[name]
    numbers = played.matrices[name][:, first:behind]
    is_changed = numbers != played.start[name][:, first:behind]
    count = int(is_changed.sum())
    st.markdown(say("lessons.puzzles.matrix", name=typeset_matrix_names(name), count=count))
    rows = to_text(numbers, name).replace("-", "−").split(";")

    data = {
        "name": name,
        "rows": make_axis_headings(
            label_columns(played),
            name,
            -2,
            0,
            len(numbers),
        ),
        "columns": [name_column(played, name, column) for column in range(first, behind)],
        "numbers": [row.split(",") for row in rows],
        "changed": is_changed.tolist(),
        "hint": say("lessons.puzzles.drag"),
        "large": are_cells_large(played),
    }
    version = f"{played.puzzle.name} {game.puzzle_version()}"
    show_number_cells(f"cells_{name}", data, version, partial(game.take_typed_numbers, name))


# ---- the goal and further conditions ---------------------------------------------------------------------------------
def show_bounds(played: PlayedPuzzle) -> None:
    """Shows the goal and the further conditions, each with its present value, and with a check mark if it is met."""
    lines = []
    for reading in played.readings:
        sign = ":green[:material/check:]" if reading.holds else ":orange[:material/radio_button_unchecked:]"
        sentence = say_with_cast(
            played,
            f"lessons.puzzles.bound.{reading.bound.name}",
            value=format_reading(reading),
            limit=format_limit(reading),
        )
        lines.append(f"{sign} {sentence}")
    st.markdown("  \n".join(lines))


def format_reading(reading: BoundReading) -> str:
    """Returns the present value of a condition, with two decimals; a count has none.

    If the value misses the limit but would be rounded to it, it is returned exactly.
    """
    exact = format_exact(reading.value)
    if isinstance(reading.bound.limit, int):
        return exact
    rounded = format_fixed(reading.value)
    seems_to_hold = rounded == format_limit(reading)
    return exact if seems_to_hold and not reading.holds else rounded


def format_limit(reading: BoundReading) -> str:
    """Returns the limit of a condition, with two decimals; a count has none."""
    limit = reading.bound.limit
    return format_exact(limit) if isinstance(limit, int) else format_fixed(limit)


# ---- the buttons -----------------------------------------------------------------------------------------------------
def show_puzzle_buttons(played: PlayedPuzzle) -> bool:
    """Shows the buttons for a hint, a solution, a reset and the next puzzle; returns whether the hint is on."""
    later = game.neighbour_puzzle(played.puzzle.name, 1)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", width="content"):
        wanted = link_controls.switch("hint")
        st.button(
            say("lessons.puzzles.solution"),
            key="puzzles_solution",
            on_click=game.show_solution,
            disabled=not (are_answers_revealed() or played.solved),
            help=say("lessons.puzzles.when"),
        )
        st.button(say("editor.reset"), key="puzzles_reset", on_click=game.put_numbers, args=(None,))
        if later:
            st.button(
                say("lessons.puzzles.next"),
                key="puzzles_next",
                on_click=game.go_to_puzzle,
                args=(later,),
            )
    return wanted


# ---- the maps --------------------------------------------------------------------------------------------------------
def get_map_cell_size(played: PlayedPuzzle) -> float:
    """Returns the largest side of a cell in the puzzle's attention maps, in pixels."""
    if played.puzzle.name in OUTPUT_PICTURES:
        return OUTPUT_MAP_CELL_PX
    if are_matrices_side_by_side(played):
        return min(SINGLE_MAP_CELL_PX, SINGLE_MAP_CELLS_PX / played.trace.sizes()["T"])
    return SMALL_MAP_CELL_PX


def show_puzzle_maps(played: PlayedPuzzle) -> None:
    """Shows the attention maps of the heads in the puzzle; a click on a weight opens its arithmetic."""
    puzzle, setup = played.puzzle, played.setup
    asking = setup.with_fields(token=puzzle.asks, head=puzzle.heads[0])
    selection = selection_of(played.trace, asking)
    cell_size = get_map_cell_size(played)
    width = SINGLE_MAP_WIDTH_PX if are_cells_large(played) else MAP_WIDTH_PX
    maps = []
    for head in puzzle.heads:
        weights_map = make_weights_map(
            f"head_{head}",
            played.trace,
            replace(selection, head=head),
            head_name(setup, inputs_of(setup), head),
            width,
            cell_size,
            outlined=puzzle.asks is not None,
        )
        maps.append(weights_map)
    show_side_by_side(*maps)
