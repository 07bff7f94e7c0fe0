"""The pictures of a lesson: a click on a number opens its arithmetic under the picture, and leads on from there."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import streamlit as st

from attention_core import Trace
from attention_core.drawing.bars import Row
from attention_core.drawing.cell_rows import cell_rows
from attention_core.drawing.charts import MAP_WIDTH_PX, Picture, head_map, make_equally_large
from attention_core.record.expressions import Ref
from pages.panels import link_controls
from pages.panels.arithmetic import StepCell, show_arithmetic
from pages.panels.chart import CELL_INDEX_PATTERN, show_chart
from pages.panels.head_maps import fact_sentence, head_name
from pages.panels.step import make_step_picture
from pages.runs.cache import inputs_of
from pages.session.labels import Selection, current_palette, picture_texts_for
from pages.setup.setup import Setup
from pages.site.words import say

ARITHMETIC_WIDTH_PX, MAX_PICTURE_BESIDE_PX = 400, 700  # pixels: arithmetic stands beside a picture that is no wider
OPENED_CELL_KEY = "cell"  # in the link: which number of which run in which picture is opened
SMALL_MAP_CELL_PX = 34.0  # pixels: a cell of maps of which two stand above the fold
RunsByName = Mapping[str, Trace]  # the runs that a picture shows, by name; where it is one alone, its name is ""
CellHandler = Callable[[str, Ref], None]  # what is done with a run's cell


def read_opened_cell(text: str) -> tuple[str, str, str, tuple[int, ...]]:
    """ "hero,bare,weights,0,0,5,3" as a picture, a run, a step and a cell."""
    picture, run, step, place = text.split(",", 3)
    if not CELL_INDEX_PATTERN.fullmatch(place):
        raise ValueError(text)
    return picture, run, step, tuple(map(int, place.split(",")))


def get_opened_cell(picture: str, runs: RunsByName) -> tuple[str, Ref] | None:
    """The cell that is opened under a picture, behind the name of its run, where that has it."""
    shown, run, step, index = link_controls.get_choice(OPENED_CELL_KEY, ("", "", "", ()), read_opened_cell)
    return (run, Ref(step, index)) if shown == picture and run in runs and runs[run].holds(step, index) else None


@dataclass(frozen=True, eq=False)
class RunPicture:
    """A picture of some runs under its name, and what a screen reader says of it.

    tell: is told of each cell that is clicked. above: draws what stands over the arithmetic of the opened one. secret:
    of which cells there is no more than that to see."""

    name: str
    picture: Picture
    runs: RunsByName
    alt: str
    tell: CellHandler | None = None
    above: CellHandler | None = None
    secret: Callable[[str, Ref], bool] | None = None


def show_picture(
    name: str, picture: Picture, runs: RunsByName, alt: str, tell: CellHandler | None = None, **how
) -> None:
    """A picture of some runs, and beside it the arithmetic of the cell that is opened in it; as Shown."""
    shown = RunPicture(name, picture, runs, alt, tell, **how)
    with st.container(horizontal=True, gap="small"):
        draw_picture(shown)
        show_opened_arithmetic(
            shown, ARITHMETIC_WIDTH_PX if picture.spec["width"] <= MAX_PICTURE_BESIDE_PX else "stretch"
        )


def show_side_by_side(*pictures: RunPicture) -> None:
    """Pictures side by side; below them the arithmetic of the cell that is opened in one, so that none moves."""
    with st.container(horizontal=True, gap="medium"):
        for shown in pictures:
            draw_picture(shown)
    for shown in pictures:
        show_opened_arithmetic(shown, "stretch")


def draw_picture(shown: RunPicture) -> None:
    """The picture, whose cells can be clicked."""
    key = f"{link_controls.current_slug()}_{shown.name}"
    show_chart(
        shown.picture, key, shown.alt, lambda place: handle_picture_click(shown.name, shown.runs, place, shown.tell)
    )


def show_opened_arithmetic(shown: RunPicture, width: int | str) -> None:
    """The arithmetic of the cell that is opened in a picture, where one is."""
    opened, name = get_opened_cell(shown.name, shown.runs), shown.name
    if opened is None:
        return
    run, cell = opened
    trail = get_trail_to(name, run, cell)
    with st.container(border=True, width=width):
        if shown.above:
            shown.above(run, cell)
        if shown.secret and shown.secret(run, cell):
            return
        take, key = (
            partial(handle_operand_click, name, run, shown.runs[run], trail),
            f"arithmetic_{link_controls.current_slug()}_{name}",
        )
        show_arithmetic(shown.runs[run], cell, trail[:-1], take, key)


# ---- pictures that several lessons have ------------------------------------------------------------------------------
def show_step_picture(name: str, trace: Trace, step: str, look: Selection, reach: float | None = None) -> None:
    """A step of a run as the workbench draws it: the matrix product that it is, or beside its operand. reach: of the
    colours, where several are compared."""
    opened = get_opened_cell(name, {"": trace})
    picture = make_step_picture(trace, step, look.at, opened and opened[1], reach)
    show_picture(name, picture, {"": trace}, say("step.alt", step=step))


def show_cell_rows(name: str, rows: Sequence[Row], names: Sequence[str], runs: RunsByName, trace: Trace, **how) -> None:
    """Rows of cells one below the other; as rows_shown."""
    show_picture(**vars(make_cell_rows(name, rows, names, runs, trace, **how)))


def make_cell_rows(
    name: str,
    rows: Sequence[Row],
    names: Sequence[str],
    runs: RunsByName,
    trace: Trace,
    made: Callable[..., Picture] = cell_rows,
    **how,
) -> RunPicture:
    """Rows of cells. trace: a run that has every step that is drawn; made: by which function, and how it is called."""
    picture = made(rows, names, picture_texts_for(trace), current_palette(), get_opened_cell(name, runs), **how)
    return RunPicture(name, picture, runs, say("lesson.rows"))


def make_head_maps(trace: Trace, setup: Setup, look: Selection, most: float) -> list[RunPicture]:
    """The map of each head, as the workbench draws it. most: the largest side of a cell, in pixels."""
    return [make_head_map(trace, setup, replace(look, head=head), most) for head in range(trace.sizes()["H"])]


def make_head_map(trace: Trace, setup: Setup, look: Selection, most: float) -> RunPicture:
    """The map of the head that is looked at."""
    return make_weights_map(f"head_{look.head}", trace, look, head_name(setup, inputs_of(setup), look.head), most=most)


def show_weights_map(name: str, trace: Trace, look: Selection, title: str, wide: float = MAP_WIDTH_PX) -> None:
    """The weights of the head that is looked at as a map, the query's row outlined."""
    show_picture(**vars(make_weights_map(name, trace, look, title, wide)))


def make_weights_map(
    name: str,
    trace: Trace,
    look: Selection,
    title: str,
    wide: float = MAP_WIDTH_PX,
    most: float = 40.0,
    outlined: bool = True,
) -> RunPicture:
    """The weights of the head that is looked at as a map. wide: at most, and most: the largest side of a cell, in
    pixels. outlined: the row of the query that is looked at; else nothing is said of it."""
    opened = get_opened_cell(name, {"": trace})
    chosen, axes = opened and opened[1], (say("corner.T"), say("corner.S"))
    query, alt = None, title
    if outlined:
        query, alt = look.query, f"{title}. {fact_sentence(trace, look, spell=str)}"
    seen = (picture_texts_for(trace), current_palette(), chosen, query, False, look.batch, axes, title, most, wide)
    return RunPicture(name, head_map(trace, look.head, *seen), {"": trace}, alt)


def equalize_sizes(*pictures: RunPicture) -> list[RunPicture]:
    """The same, all equally large: where two exchange their places, their charts stay."""
    sized = make_equally_large([shown.picture for shown in pictures])
    return [replace(shown, picture=picture) for shown, picture in zip(pictures, sized, strict=True)]


# ---- what is opened --------------------------------------------------------------------------------------------------
def handle_picture_click(name: str, runs: RunsByName, place: object, tell: CellHandler | None = None) -> None:
    """A cell of a picture was clicked, {"step": "bare:weights", "index"}: it opens, or closes where it was open."""
    match place:
        case {"step": str(told), "index": [*index]}:
            run, _, step = told.rpartition(":")
            there = (name, run, step, tuple(index))
            if run in runs and runs[run].holds(step, tuple(index)):
                again = link_controls.get_choice(OPENED_CELL_KEY, (), read_opened_cell) == there
                link_controls.store_choice(OPENED_CELL_KEY, None if again else there)
                st.session_state["followed"] = None
                if tell:
                    tell(run, Ref(step, tuple(index)))


def handle_operand_click(name: str, run: str, trace: Trace, trail: list[StepCell], place: object) -> None:
    """An operand was clicked, or a cell of the way back; a browser may name anything."""
    match place:
        case {"step": str(step), "index": [*index]} if all(type(at) is int for at in index):
            there = (step, tuple(index))
            if trace.holds(*there):
                passed = trail[: trail.index(there)] if there in trail else trail
                st.session_state["followed"] = (name, run, [*passed, there])
                link_controls.store_choice(OPENED_CELL_KEY, (name, run, *there))


def get_trail_to(name: str, run: str, cell: Ref) -> list[StepCell]:
    """The cells through which a number was followed to the one that is open."""
    here, followed = (cell.step, cell.index), st.session_state.get("followed")
    return followed[2] if followed and followed[:2] == (name, run) and followed[2][-1] == here else [here]
