"""The pictures of a lesson: a click on a number opens its arithmetic under the picture, and leads on from there."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import streamlit as st

from attention_core import Trace
from attention_core.drawing.bars import Row, bar_rows
from attention_core.drawing.cell_rows import cell_rows
from attention_core.drawing.charts import MAP_WIDTH_PX, Picture, head_map, make_equally_large, single_picture
from attention_core.explanation.layout import Panel
from attention_core.record.expressions import Ref
from pages.panels import link_controls
from pages.panels.arithmetic import StepCell, show_arithmetic
from pages.panels.chart import CELL_INDEX_PATTERN, show_chart
from pages.panels.head_maps import fact_sentence, head_name
from pages.panels.step_picture import make_step_picture
from pages.runs.cache import inputs_of
from pages.session.labels import Selection, current_palette, picture_texts_for
from pages.setup.setup import Setup
from pages.site.words import say

ARITHMETIC_WIDTH_PX = 400  # pixels: the arithmetic beside a picture
MAX_PICTURE_BESIDE_PX = 700  # pixels: a wider picture has its arithmetic below it
OPENED_CELL_KEY = "cell"  # in the link: which number of which run in which picture is opened
SMALL_MAP_CELL_PX = 34.0  # pixels: a cell of maps of which two stand above the fold
FIRST_SELECTION = Selection(batch=0, head=0, kv=0, query=0)  # of a run with one sentence, one head and one query
RunsByName = Mapping[str, Trace]  # the runs that a picture shows, by name; where it is one alone, its name is ""
CellHandler = Callable[[str, Ref], None]  # what is done with a run's cell


def read_opened_cell(text: str) -> tuple[str, str, str, tuple[int, ...]]:
    """Reads "hero,bare,weights,0,0,5,3" as a picture, a run, a step and a cell."""
    picture, run, step, place = text.split(",", 3)
    if not CELL_INDEX_PATTERN.fullmatch(place):
        raise ValueError(text)
    return picture, run, step, tuple(map(int, place.split(",")))


def get_opened_cell(picture: str, runs: RunsByName) -> tuple[str, Ref] | None:
    """The cell that is opened under a picture, behind the name of its run; None where no run has it."""
    shown, run, step, index = link_controls.get_choice(OPENED_CELL_KEY, ("", "", "", ()), read_opened_cell)
    if shown != picture or run not in runs:
        return None
    return (run, Ref(step, index)) if runs[run].holds(step, index) else None


def get_opened_ref(picture: str, trace: Trace) -> Ref | None:
    """The cell that is opened under a picture of one run."""
    opened = get_opened_cell(picture, {"": trace})
    return None if opened is None else opened[1]


@dataclass(frozen=True, eq=False)
class RunPicture:
    """A picture of some runs under its name, and what a screen reader says of it.

    tell: is called with each cell that is clicked. above: draws what stands over the arithmetic of the opened cell.
    secret: says of which cells nothing more than that may be seen."""

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
    """Shows a picture of some runs, and beside it the arithmetic of the cell that is opened in it.

    The arguments are the fields of RunPicture."""
    shown = RunPicture(name, picture, runs, alt, tell, **how)
    fits_beside = picture.spec["width"] <= MAX_PICTURE_BESIDE_PX
    with st.container(horizontal=True, gap="small"):
        draw_picture(shown)
        show_opened_arithmetic(shown, ARITHMETIC_WIDTH_PX if fits_beside else "stretch")


def show_side_by_side(*pictures: RunPicture) -> None:
    """Shows pictures side by side; below them the arithmetic of the cell that is opened in one, so that none moves."""
    with st.container(horizontal=True, gap="medium"):
        for shown in pictures:
            draw_picture(shown)
    for shown in pictures:
        show_opened_arithmetic(shown, "stretch")


def draw_picture(shown: RunPicture) -> None:
    """Draws the picture, whose cells can be clicked."""

    def clicked(place: object) -> None:
        handle_picture_click(shown.name, shown.runs, place, shown.tell)

    show_chart(shown.picture, f"{link_controls.current_slug()}_{shown.name}", shown.alt, clicked)


def show_opened_arithmetic(shown: RunPicture, width: int | str) -> None:
    """Shows the arithmetic of the cell that is opened in a picture, where one is."""
    opened = get_opened_cell(shown.name, shown.runs)
    if opened is None:
        return
    run, cell = opened
    trace = shown.runs[run]
    trail = get_trail_to(shown.name, run, cell)
    with st.container(border=True, width=width):
        if shown.above:
            shown.above(run, cell)
        if shown.secret and shown.secret(run, cell):
            return
        key = f"arithmetic_{link_controls.current_slug()}_{shown.name}"
        show_arithmetic(trace, cell, trail[:-1], partial(handle_operand_click, shown.name, run, trace, trail), key)


# ---- pictures that several lessons have ------------------------------------------------------------------------------
def show_step_picture(name: str, trace: Trace, step: str, look: Selection, reach: float | None = None) -> None:
    """Shows a step of a run as the workbench draws it: as the matrix product that it is, or beside its operand.

    reach: the magnitude of the strongest colour, where several pictures are compared."""
    picture = make_step_picture(trace, step, look.at, get_opened_ref(name, trace), reach)
    show_picture(name, picture, {"": trace}, say("step.alt", step=step))


def show_panels(name: str, panels: Sequence[Panel], trace: Trace, titles: Sequence[str], alt: str) -> None:
    """Shows one step of a run, or two that were made from each other, under their titles."""
    opened = get_opened_ref(name, trace)
    picture = single_picture(panels, trace, picture_texts_for(trace), current_palette(), titles, opened)
    show_picture(name, picture, {"": trace}, alt)


def show_bar_rows(
    name: str,
    rows: Sequence[Row],
    names: Sequence[str],
    runs: RunsByName,
    trace: Trace,
    alt: str,
    made: Callable[..., Picture] = bar_rows,
    **how,
) -> None:
    """Shows rows of bars. trace: a run that has every step drawn; made: by which function; how: its options."""
    opened = get_opened_cell(name, runs)
    picture = made(rows, names, picture_texts_for(trace), current_palette(), opened, **how)
    show_picture(name, picture, runs, alt)


def show_cell_rows(name: str, rows: Sequence[Row], names: Sequence[str], runs: RunsByName, trace: Trace, **how) -> None:
    """Shows rows of cells one below the other. The arguments are those of make_cell_rows."""
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
    """Draws rows of cells. trace: a run that has every step drawn; made: by which function; how: its options."""
    opened = get_opened_cell(name, runs)
    picture = made(rows, names, picture_texts_for(trace), current_palette(), opened, **how)
    return RunPicture(name, picture, runs, say("lesson.rows"))


def make_head_maps(trace: Trace, setup: Setup, look: Selection, most: float) -> list[RunPicture]:
    """Draws the map of each head as the workbench does. most: the largest side of a cell, in pixels."""
    return [make_head_map(trace, setup, replace(look, head=head), most) for head in range(trace.sizes()["H"])]


def make_head_map(trace: Trace, setup: Setup, look: Selection, most: float) -> RunPicture:
    """Draws the map of the head that is looked at."""
    title = head_name(setup, inputs_of(setup), look.head)
    return make_weights_map(f"head_{look.head}", trace, look, title, most=most)


def show_weights_map(name: str, trace: Trace, look: Selection, title: str, wide: float = MAP_WIDTH_PX) -> None:
    """Shows the weights of the head that is looked at as a map, the query's row outlined."""
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
    """Draws the weights of the head that is looked at as a map.

    wide: the largest width of the map, and most: the largest side of a cell, in pixels. outlined: whether the row of
    the query that is looked at is outlined, and told by the screen reader."""
    picture = head_map(
        trace,
        look.head,
        picture_texts_for(trace),
        current_palette(),
        get_opened_ref(name, trace),
        look.query if outlined else None,
        batch=look.batch,
        axes=(say("corner.T"), say("corner.S")),
        title=title,
        most=most,
        room=wide,
    )
    alt = f"{title}. {fact_sentence(trace, look, spell=str)}" if outlined else title
    return RunPicture(name, picture, {"": trace}, alt)


def equalize_sizes(*pictures: RunPicture) -> list[RunPicture]:
    """Makes pictures equally large. Where two exchange their places, the browser keeps their charts."""
    sized = make_equally_large([shown.picture for shown in pictures])
    return [replace(shown, picture=picture) for shown, picture in zip(pictures, sized, strict=True)]


# ---- what is opened --------------------------------------------------------------------------------------------------
def handle_picture_click(name: str, runs: RunsByName, place: object, tell: CellHandler | None = None) -> None:
    """Opens the cell of a picture that was clicked, {"step": "bare:weights", "index"}; closes it where it was open."""
    match place:
        case {"step": str(told), "index": [*index]}:
            run, _, step = told.rpartition(":")
            if run in runs and runs[run].holds(step, tuple(index)):
                toggle_opened_cell(name, run, Ref(step, tuple(index)))
                if tell:
                    tell(run, Ref(step, tuple(index)))


def toggle_opened_cell(name: str, run: str, cell: Ref) -> None:
    """Opens a cell, or closes it where it was open."""
    there = (name, run, cell.step, cell.index)
    was_open = link_controls.get_choice(OPENED_CELL_KEY, (), read_opened_cell) == there
    link_controls.store_choice(OPENED_CELL_KEY, None if was_open else there)
    st.session_state["followed"] = None


def handle_operand_click(name: str, run: str, trace: Trace, trail: list[StepCell], place: object) -> None:
    """Opens an operand that was clicked, or a cell of the way back. A browser may name anything: it is checked."""
    match place:
        case {"step": str(step), "index": [*index]} if all(type(at) is int for at in index):
            there = (step, tuple(index))
            if trace.holds(*there):
                passed = trail[: trail.index(there)] if there in trail else trail
                st.session_state["followed"] = (name, run, [*passed, there])
                link_controls.store_choice(OPENED_CELL_KEY, (name, run, *there))


def get_trail_to(name: str, run: str, cell: Ref) -> list[StepCell]:
    """The cells through which a number was followed to the one that is open."""
    here = (cell.step, cell.index)
    followed = st.session_state.get("followed")
    if followed is None or followed[:2] != (name, run):
        return [here]
    trail = followed[2]
    return trail if trail[-1] == here else [here]
