"""A puzzle on the screen: the list, the cells to change, what must come of it, the hint, the pictures."""

from dataclasses import replace

import streamlit as st
import torch

from attention_core.analysis.head_contributions import contributions
from attention_core.comparison.distances import apart
from attention_core.drawing.bars import row_of
from attention_core.drawing.charts import single_picture
from attention_core.examples.examples import EXAMPLES
from attention_core.exercises.puzzle import Reading, slopes, steepest
from attention_core.exercises.puzzles import PUZZLES
from attention_core.explanation.layout import gather
from attention_core.inputs.matrix_text import to_text
from attention_core.record.expressions import Ref
from attention_core.record.number_text import exact, fixed, percent
from attention_core.record.trace import Step, Trace
from pages.components import numbers
from pages.lessons.pictures import SMALL, Shown, map_shown, opened_in, rows_shown, show_beside
from pages.panels import link_controls
from pages.panels.head_maps import head_name
from pages.practice.puzzles import game
from pages.practice.puzzles.game import Play
from pages.runs.cache import material_of, trace_of
from pages.session.labels import looked_at, palette, place_name, place_names, token, words_for
from pages.session.reveal import revealed
from pages.setup.setup import Setup, member
from pages.site.words import literal, say
from pages.workbench.matrix_editors import headings

NUDGE = 0.1  # by how much a hint moves a number
LARGE = 40.0  # pixels: a cell of a map that stands alone
LOW = 29.0  # of maps below which the output stands above the fold
HEADING, COLUMN, GAP = 88, 63, 16  # pixels: headings of rows, a column, a gap between matrices
SENTENCE, SHORT = 480, 340  # pixels: what is said under cells beside one map, and beside two


def told(played: Play, key: str, **values) -> str:
    """A text of a puzzle, its words by name."""
    words = played.trace.labels["T"]
    cast = {name: literal(words[at]) for name, at in played.puzzle.cast.items()}
    return say(key, **cast, **values)


# ---- which puzzle ----------------------------------------------------------------------------------------------------
def show_list(played: Play) -> None:
    """All puzzles by number, solved ones with a tick; beside them what this one is called."""
    names, done = [*PUZZLES], game.kept("puzzles_solved")
    how = link_controls.drawn("puzzle", played.puzzle.name, game.FIRST, member(names))
    st.segmented_control(
        **how | {"on_change": lambda: game.go(st.session_state[how["key"]])},
        options=names,
        format_func=lambda name: f"{names.index(name) + 1}{' ✓' if name in done else ''}",
        required=True,
        wrap=True,
        label_visibility="collapsed",
    )


def show_task(played: Play) -> None:
    """What is given, and what is asked for."""
    number = [*PUZZLES].index(played.puzzle.name) + 1
    title = told(played, f"lessons.puzzles.title.{played.puzzle.name}")
    task = told(played, f"lessons.puzzles.task.{played.puzzle.name}")
    st.markdown(f"#### {number} · {title}\n{task}")


# ---- the cells -------------------------------------------------------------------------------------------------------
def beside(played: Play) -> bool:
    """Whether the matrices stand beside each other: where there is one map alone there is room."""
    return not played.puzzle.heads[1:]


def width_of_cells(played: Play) -> int:
    """Of the matrices, and of what is said under them, in pixels."""
    widths = [HEADING + COLUMN * len(range(*columns)) for columns in played.puzzle.open.values()]
    return max(SENTENCE, sum(widths) + GAP) if beside(played) else max(SHORT, *widths)


def show_cells(played: Play) -> None:
    """The matrices that may be changed."""
    with st.container(horizontal=beside(played), gap="small"):
        for name in played.puzzle.open:
            with st.container(width="content", gap="xxsmall"):
                cells(played, name)
    link_controls.show_refused(game.NUMBERS)


def cells(played: Play, name: str) -> None:
    """The numbers of one matrix that may be changed, under what its rows and columns stand for."""
    first, behind = played.puzzle.open[name]
    part, start = played.matrices[name][:, first:behind], played.start[name][:, first:behind]
    key = f"cells_{name}"
    st.markdown(say("lessons.puzzles.matrix", name=literal(name), count=int((part != start).sum())))
    data = {
        "name": name,
        "rows": headings(labelled(played), name, -2, 0, len(part)),
        "columns": [column_name(played, name, column) for column in range(first, behind)],
        "numbers": [row.split(",") for row in to_text(part, name).replace("-", "−").split(";")],
        "changed": (part != start).tolist(),
        "version": [played.puzzle.name, game.version()],
    }
    numbers(data=data, key=key, on_typed_change=lambda: game.type_into(name, st.session_state[key].typed))


def column_name(played: Play, name: str, column: int) -> str:
    """What a column stands for: a number of the output, or a head and the number in it."""
    if name == "w_o":
        return place_name(labelled(played), "D_out", column)
    head, at = divmod(column, played.trace.sizes()["d_k"])
    return f"H{head + 1}·{at + 1}"


def labelled(played: Play) -> Trace:
    """The run with what the columns of x and of the output stand for, also where some of them were typed."""
    dims = EXAMPLES[played.setup.example].dims
    return played.trace.labelled(D=dims, D_out=dims)


# ---- what must come of it --------------------------------------------------------------------------------------------
def show_bounds(played: Play) -> None:
    """The goal and what must be true besides, each with its number and a tick where it is."""
    lines = []
    for reading in played.readings:
        sign = ":green[:material/check:]" if reading.holds else ":orange[:material/radio_button_unchecked:]"
        numbers = {"value": value_of(reading), "limit": limit_of(reading)}
        lines.append(f"{sign} {told(played, f'lessons.puzzles.bound.{reading.bound.name}', **numbers)}")
    st.markdown("  \n".join(lines))
    if played.solved:
        st.success(told(played, f"lessons.puzzles.done.{played.puzzle.name}"), icon=":material/check_circle:")


def value_of(reading: Reading) -> str:
    """A reading in two decimals, a count without any; with all digits where two would say that it holds."""
    if isinstance(reading.bound.limit, int):
        return exact(reading.value)
    rounded = fixed(reading.value)
    return exact(reading.value) if rounded == limit_of(reading) and not reading.holds else rounded


def limit_of(reading: Reading) -> str:
    """What it must be at least, or at most."""
    limit = reading.bound.limit
    return exact(limit) if isinstance(limit, int) else fixed(limit)


# ---- what a reader may ask for ---------------------------------------------------------------------------------------
def show_buttons(played: Play) -> bool:
    """A hint, a solution once answers may be seen, the start again, the next puzzle. Whether a hint is wanted."""
    later = game.neighbour(played.puzzle.name, 1)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", width="content"):
        wanted = link_controls.switch("hint")
        st.button(
            say("lessons.puzzles.solution"),
            key="puzzles_solution",
            on_click=game.show_solution,
            disabled=not (revealed() or played.solved),
            help=say("lessons.puzzles.when"),
        )
        st.button(say("editor.reset"), key="puzzles_reset", on_click=game.put, args=(None,))
        if later:
            st.button(
                say("lessons.puzzles.next"),
                key="puzzles_next",
                on_click=game.go,
                args=(later,),
                type="primary" if played.solved else "secondary",
            )
    return wanted


def show_hint(played: Play) -> None:
    """The number that is worth a change, by its slope, and all slopes as maps; else why there is none."""
    if played.solved:
        st.markdown(say("lessons.puzzles.hint_solved"))
        return
    found = slopes(played.puzzle, played.trace, played.before)
    hint = steepest(played.puzzle, played.trace, found)
    if hint is None:
        st.markdown(
            say("lessons.puzzles.hint_silent" if played.readings[0].value == 0 else "lessons.puzzles.hint_flat")
        )
        return
    trace = labelled(played)
    row = headings(trace, hint.name, -2, hint.row, 1)[0]
    column = column_name(played, hint.name, hint.column)
    way = "flip" if played.puzzle.flips else "raise" if hint.slope > 0 else "lower"
    grows = "grows" if played.puzzle.goal.least else "falls"
    st.markdown(
        say(
            f"lessons.puzzles.hint_{grows}",
            place=literal(f"{hint.name} [{row}, {column}]"),
            now=fixed(played.matrices[hint.name][hint.row, hint.column]),
            way=say(f"lessons.puzzles.{way}"),
            nudge=fixed(NUDGE),
            percent=percent(abs(hint.slope) * NUDGE),
            slope=fixed(hint.slope),
        )
    )
    show_beside(*[slopes_shown(played, name, torch.from_numpy(found[name])) for name in played.puzzle.open])


def slopes_shown(played: Play, name: str, found: torch.Tensor) -> Shown:
    """The slopes of the numbers that may be changed, as a map."""
    step, (first, behind) = f"slope_{name}", played.puzzle.open[name]
    trace = labelled(played)
    dims = trace.step(name).dims
    trace = replace(trace, steps={**trace.steps, step: Step(step, found, dims)})
    refs = [[Ref(step, (row, column)) for column in range(first, behind)] for row in range(len(found))]
    title, opened = say("lessons.puzzles.slopes", name=name), opened_in(step, {"": trace})
    drawn = [gather(trace, step, refs, dims)]
    picture = single_picture(drawn, trace, words_for(trace), palette(), [title], opened and opened[1])
    return Shown(step, picture, {"": trace}, title)


# ---- the pictures ----------------------------------------------------------------------------------------------------
def cell_of_maps(played: Play) -> float:
    """The largest side of a cell of the maps, in pixels."""
    if played.puzzle.name in OUTPUTS:
        return LOW
    return LARGE if beside(played) else SMALL


def show_maps(played: Play) -> None:
    """The weights of the heads that change; a click on a number opens its arithmetic."""
    setup, heads = played.setup, played.puzzle.heads
    asks = played.puzzle.asks
    look = looked_at(played.trace, replace(setup, token=asks, head=heads[0]))
    most, drawn = cell_of_maps(played), []
    for head in heads:
        title, seen = head_name(setup, material_of(setup), head), replace(look, head=head)
        drawn.append(map_shown(f"head_{head}", played.trace, seen, title, most=most, outlined=asks is not None))
    show_beside(*drawn)


def copied(played: Play) -> Shown:
    """What a word became, below the word that it is to be."""
    trace, cast = labelled(played), played.puzzle.cast
    fed, dog = (token(trace, "T", cast[name]) for name in ("fed", "dog"))
    rows = [
        row_of(say("lessons.puzzles.vector_of", word=fed), trace, "x", (0, cast["fed"])),
        row_of(say("lessons.puzzles.output_of", word=dog), trace, "output", (0, cast["dog"])),
    ]
    return rows_shown("output", rows, place_names(trace, "D", trace.sizes()["D"]), {"": trace}, trace)


def summed(played: Play) -> Shown:
    """What each head brings to the word to which one brings most, and their sum."""
    trace = contributions(labelled(played))
    at = int(trace["contributions"][0].abs().amax((0, 2)).argmax())  # (H, T, D_out) -> (T,)
    word = token(trace, "T", at)
    brought = [
        row_of(say("lessons.puzzles.brings", head=head + 1), trace, "contributions", (0, head, at))
        for head in played.puzzle.heads
    ]
    total = row_of(say("lessons.puzzles.output_of", word=word), trace, "output", (0, at))
    names = place_names(trace, "D", trace.sizes()["D"])
    return rows_shown("output", [*brought, total], names, {"": trace}, trace, sums=1)


def compared(played: Play) -> Shown:
    """The output of full width and this one, for the word where they differ most."""
    runs = {"whole": trace_of(Setup(example=played.setup.example)), "now": labelled(played)}
    gaps = apart(runs["now"]["output"], runs["whole"]["output"])[0].amax(-1)  # (T, D_out) -> (T,)
    at = int(gaps.argmax())
    word = token(runs["now"], "T", at)
    rows = [row_of(say(f"lessons.puzzles.at_{name}"), trace, "output", (0, at), name) for name, trace in runs.items()]
    names = place_names(runs["now"], "D", runs["now"].sizes()["D"])
    corner = say("lessons.puzzles.output_of", word=word)
    return rows_shown("output", rows, names, runs, runs["now"], corner=corner)


OUTPUTS = {"copy": copied, "cancel": summed, "half": compared}  # of the puzzles whose goal is about the output


def show_output(played: Play) -> None:
    """The numbers of the output that the goal is about, where it is about any."""
    if played.puzzle.name in OUTPUTS:
        show_beside(OUTPUTS[played.puzzle.name](played))
