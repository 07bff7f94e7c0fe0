"""A puzzle on the screen: the list, the cells to change, what must come of it, the hint, the pictures."""

from dataclasses import replace

import streamlit as st
import torch

from attention_core.analysis.head_contributions import with_contributions
from attention_core.comparison.distances import abs_difference
from attention_core.drawing.bars import row_of
from attention_core.drawing.charts import single_picture
from attention_core.examples.examples import EXAMPLES
from attention_core.exercises.puzzle import BoundReading, find_hint, goal_slopes
from attention_core.exercises.puzzles import PUZZLES
from attention_core.explanation.layout import gather_panel
from attention_core.inputs.matrix_text import to_text
from attention_core.record.expressions import Ref
from attention_core.record.number_text import format_exact, format_fixed, format_percent
from attention_core.record.trace import Step, Trace
from pages.components import number_grid
from pages.lessons.pictures import (
    SMALL_MAP_CELL_PX,
    RunPicture,
    get_opened_cell,
    make_cell_rows,
    make_weights_map,
    show_side_by_side,
)
from pages.panels import link_controls
from pages.panels.head_maps import head_name
from pages.practice.puzzles import game
from pages.practice.puzzles.game import PlayedPuzzle
from pages.runs.cache import inputs_of, trace_for
from pages.session.labels import current_palette, name_token, picture_texts_for, place_name, place_names, selection_of
from pages.session.reveal import are_answers_revealed
from pages.setup.link_values import make_member_reader
from pages.setup.setup import Setup
from pages.site.words import escape_markdown, say
from pages.workbench.matrix_editors import make_axis_headings

HINT_NUDGE = 0.1  # by how much a hint moves a number
SINGLE_MAP_CELL_PX = 40.0  # pixels: a cell of a map that stands alone
OUTPUT_MAP_CELL_PX = 29.0  # of maps below which the output stands above the fold
PUZZLE_HEADING_PX, PUZZLE_COLUMN_PX, PUZZLE_GAP_PX = (
    88,
    63,
    16,
)  # pixels: headings of rows, a column, a gap between matrices
TEXT_BESIDE_ONE_MAP_PX, TEXT_BESIDE_TWO_MAPS_PX = (
    480,
    340,
)  # pixels: what is said under cells beside one map, and beside two


def say_with_cast(played: PlayedPuzzle, key: str, **values) -> str:
    """A text of a puzzle, its words by name."""
    words = played.trace.labels["T"]
    cast = {name: escape_markdown(words[at]) for name, at in played.puzzle.cast.items()}
    return say(key, **cast, **values)


# ---- which puzzle ----------------------------------------------------------------------------------------------------
def show_puzzle_list(played: PlayedPuzzle) -> None:
    """All puzzles by number, solved ones with a tick; beside them what this one is called."""
    names, done = [*PUZZLES], game.remembered_puzzles("puzzles_solved")
    how = link_controls.bind_control("puzzle", played.puzzle.name, game.FIRST_PUZZLE, make_member_reader(names))
    st.segmented_control(
        **how | {"on_change": lambda: game.go_to_puzzle(st.session_state[how["key"]])},
        options=names,
        format_func=lambda name: f"{names.index(name) + 1}{' ✓' if name in done else ''}",
        required=True,
        wrap=True,
        label_visibility="collapsed",
    )


def show_task(played: PlayedPuzzle) -> None:
    """What is given, and what is asked for."""
    number = [*PUZZLES].index(played.puzzle.name) + 1
    title = say_with_cast(played, f"lessons.puzzles.title.{played.puzzle.name}")
    task = say_with_cast(played, f"lessons.puzzles.task.{played.puzzle.name}")
    st.markdown(f"#### {number} · {title}\n{task}")


# ---- the cells -------------------------------------------------------------------------------------------------------
def are_matrices_side_by_side(played: PlayedPuzzle) -> bool:
    """Whether the matrices stand beside each other: where there is one map alone there is room."""
    return not played.puzzle.heads[1:]


def get_cells_width(played: PlayedPuzzle) -> int:
    """Of the matrices, and of what is said under them, in pixels."""
    widths = [PUZZLE_HEADING_PX + PUZZLE_COLUMN_PX * len(range(*columns)) for columns in played.puzzle.open.values()]
    return (
        max(TEXT_BESIDE_ONE_MAP_PX, sum(widths) + PUZZLE_GAP_PX)
        if are_matrices_side_by_side(played)
        else max(TEXT_BESIDE_TWO_MAPS_PX, *widths)
    )


def show_cells(played: PlayedPuzzle) -> None:
    """The matrices that may be changed."""
    with st.container(horizontal=are_matrices_side_by_side(played), gap="small"):
        for name in played.puzzle.open:
            with st.container(width="content", gap="xxsmall"):
                show_matrix_cells(played, name)
    link_controls.show_choice_refusal(game.NUMBERS_KEY)


def show_matrix_cells(played: PlayedPuzzle, name: str) -> None:
    """The numbers of one matrix that may be changed, under what its rows and columns stand for."""
    first, behind = played.puzzle.open[name]
    part, start = played.matrices[name][:, first:behind], played.start[name][:, first:behind]
    key = f"cells_{name}"
    st.markdown(say("lessons.puzzles.matrix", name=escape_markdown(name), count=int((part != start).sum())))
    data = {
        "name": name,
        "rows": make_axis_headings(label_columns(played), name, -2, 0, len(part)),
        "columns": [name_column(played, name, column) for column in range(first, behind)],
        "numbers": [row.split(",") for row in to_text(part, name).replace("-", "−").split(";")],
        "changed": (part != start).tolist(),
        "version": [played.puzzle.name, game.puzzle_version()],
    }
    number_grid(data=data, key=key, on_typed_change=lambda: game.take_typed_numbers(name, st.session_state[key].typed))


def name_column(played: PlayedPuzzle, name: str, column: int) -> str:
    """What a column stands for: a number of the output, or a head and the number in it."""
    if name == "w_o":
        return place_name(label_columns(played), "D_out", column)
    head, at = divmod(column, played.trace.sizes()["d_k"])
    return f"H{head + 1}·{at + 1}"


def label_columns(played: PlayedPuzzle) -> Trace:
    """The run with what the columns of x and of the output stand for, also where some of them were typed."""
    dims = EXAMPLES[played.setup.example].dims
    return played.trace.labelled(D=dims, D_out=dims)


# ---- what must come of it --------------------------------------------------------------------------------------------
def show_bounds(played: PlayedPuzzle) -> None:
    """The goal and what must be true besides, each with its number and a tick where it is."""
    lines = []
    for reading in played.readings:
        sign = ":green[:material/check:]" if reading.holds else ":orange[:material/radio_button_unchecked:]"
        numbers = {"value": format_reading(reading), "limit": format_limit(reading)}
        lines.append(f"{sign} {say_with_cast(played, f'lessons.puzzles.bound.{reading.bound.name}', **numbers)}")
    st.markdown("  \n".join(lines))
    if played.solved:
        st.success(say_with_cast(played, f"lessons.puzzles.done.{played.puzzle.name}"), icon=":material/check_circle:")


def format_reading(reading: BoundReading) -> str:
    """A reading in two decimals, a count without any; with all digits where two would say that it holds."""
    if isinstance(reading.bound.limit, int):
        return format_exact(reading.value)
    rounded = format_fixed(reading.value)
    return format_exact(reading.value) if rounded == format_limit(reading) and not reading.holds else rounded


def format_limit(reading: BoundReading) -> str:
    """What it must be at least, or at most."""
    limit = reading.bound.limit
    return format_exact(limit) if isinstance(limit, int) else format_fixed(limit)


# ---- what a reader may ask for ---------------------------------------------------------------------------------------
def show_puzzle_buttons(played: PlayedPuzzle) -> bool:
    """A hint, a solution once answers may be seen, the start again, the next puzzle. Whether a hint is wanted."""
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
                type="primary" if played.solved else "secondary",
            )
    return wanted


def show_hint(played: PlayedPuzzle) -> None:
    """The number that is worth a change, by its slope, and all slopes as maps; else why there is none."""
    if played.solved:
        st.markdown(say("lessons.puzzles.hint_solved"))
        return
    found = goal_slopes(played.puzzle, played.trace, played.before)
    hint = find_hint(played.puzzle, played.trace, found)
    if hint is None:
        st.markdown(
            say("lessons.puzzles.hint_silent" if played.readings[0].value == 0 else "lessons.puzzles.hint_flat")
        )
        return
    trace = label_columns(played)
    row = make_axis_headings(trace, hint.name, -2, hint.row, 1)[0]
    column = name_column(played, hint.name, hint.column)
    way = "flip" if played.puzzle.flips else "raise" if hint.slope > 0 else "lower"
    grows = "grows" if played.puzzle.goal.least else "falls"
    st.markdown(
        say(
            f"lessons.puzzles.hint_{grows}",
            place=escape_markdown(f"{hint.name} [{row}, {column}]"),
            now=format_fixed(played.matrices[hint.name][hint.row, hint.column]),
            way=say(f"lessons.puzzles.{way}"),
            nudge=format_fixed(HINT_NUDGE),
            percent=format_percent(abs(hint.slope) * HINT_NUDGE),
            slope=format_fixed(hint.slope),
        )
    )
    show_side_by_side(*[make_slopes_map(played, name, torch.from_numpy(found[name])) for name in played.puzzle.open])


def make_slopes_map(played: PlayedPuzzle, name: str, found: torch.Tensor) -> RunPicture:
    """The slopes of the numbers that may be changed, as a map."""
    step, (first, behind) = f"slope_{name}", played.puzzle.open[name]
    trace = label_columns(played)
    dims = trace.step(name).dims
    trace = replace(trace, steps={**trace.steps, step: Step(step, found, dims)})
    refs = [[Ref(step, (row, column)) for column in range(first, behind)] for row in range(len(found))]
    title, opened = say("lessons.puzzles.slopes", name=name), get_opened_cell(step, {"": trace})
    drawn = [gather_panel(trace, step, refs, dims)]
    picture = single_picture(drawn, trace, picture_texts_for(trace), current_palette(), [title], opened and opened[1])
    return RunPicture(step, picture, {"": trace}, title)


# ---- the pictures ----------------------------------------------------------------------------------------------------
def get_map_cell_size(played: PlayedPuzzle) -> float:
    """The largest side of a cell of the maps, in pixels."""
    if played.puzzle.name in OUTPUT_PICTURES:
        return OUTPUT_MAP_CELL_PX
    return SINGLE_MAP_CELL_PX if are_matrices_side_by_side(played) else SMALL_MAP_CELL_PX


def show_puzzle_maps(played: PlayedPuzzle) -> None:
    """The weights of the heads that change; a click on a number opens its arithmetic."""
    setup, heads = played.setup, played.puzzle.heads
    asks = played.puzzle.asks
    look = selection_of(played.trace, replace(setup, token=asks, head=heads[0]))
    most, drawn = get_map_cell_size(played), []
    for head in heads:
        title, seen = head_name(setup, inputs_of(setup), head), replace(look, head=head)
        drawn.append(make_weights_map(f"head_{head}", played.trace, seen, title, most=most, outlined=asks is not None))
    show_side_by_side(*drawn)


def make_copy_picture(played: PlayedPuzzle) -> RunPicture:
    """What a word became, below the word that it is to be."""
    trace, cast = label_columns(played), played.puzzle.cast
    fed, dog = (name_token(trace, "T", cast[name]) for name in ("fed", "dog"))
    rows = [
        row_of(say("lessons.puzzles.vector_of", word=fed), trace, "x", (0, cast["fed"])),
        row_of(say("lessons.puzzles.output_of", word=dog), trace, "output", (0, cast["dog"])),
    ]
    return make_cell_rows("output", rows, place_names(trace, "D", trace.sizes()["D"]), {"": trace}, trace)


def make_cancel_picture(played: PlayedPuzzle) -> RunPicture:
    """What each head brings to the word to which one brings most, and their sum."""
    trace = with_contributions(label_columns(played))
    at = int(trace["contributions"][0].abs().amax((0, 2)).argmax())  # (H, T, D_out) -> (T,)
    word = name_token(trace, "T", at)
    brought = [
        row_of(say("lessons.puzzles.brings", head=head + 1), trace, "contributions", (0, head, at))
        for head in played.puzzle.heads
    ]
    total = row_of(say("lessons.puzzles.output_of", word=word), trace, "output", (0, at))
    names = place_names(trace, "D", trace.sizes()["D"])
    return make_cell_rows("output", [*brought, total], names, {"": trace}, trace, sums=1)


def make_half_picture(played: PlayedPuzzle) -> RunPicture:
    """The output of full width and this one, for the word where they differ most."""
    runs = {"whole": trace_for(Setup(example=played.setup.example)), "now": label_columns(played)}
    gaps = abs_difference(runs["now"]["output"], runs["whole"]["output"])[0].amax(-1)  # (T, D_out) -> (T,)
    at = int(gaps.argmax())
    word = name_token(runs["now"], "T", at)
    rows = [row_of(say(f"lessons.puzzles.at_{name}"), trace, "output", (0, at), name) for name, trace in runs.items()]
    names = place_names(runs["now"], "D", runs["now"].sizes()["D"])
    corner = say("lessons.puzzles.output_of", word=word)
    return make_cell_rows("output", rows, names, runs, runs["now"], corner=corner)


OUTPUT_PICTURES = {
    "copy": make_copy_picture,
    "cancel": make_cancel_picture,
    "half": make_half_picture,
}  # of the puzzles whose goal is about the output


def show_puzzle_output(played: PlayedPuzzle) -> None:
    """The numbers of the output that the goal is about, where it is about any."""
    if played.puzzle.name in OUTPUT_PICTURES:
        show_side_by_side(OUTPUT_PICTURES[played.puzzle.name](played))
