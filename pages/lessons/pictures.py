"""The pictures of a lesson: a click on a number opens its arithmetic under the picture, and leads on from there."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import streamlit as st

from attention_core import Trace
from attention_core.drawing.bars import Row
from attention_core.drawing.cell_rows import cell_rows
from attention_core.drawing.charts import MAP, Picture, equally_large, head_map
from attention_core.record.expressions import Ref
from pages.panels import link_controls
from pages.panels.arithmetic import Place, show_arithmetic
from pages.panels.chart import PLACE, chart
from pages.panels.head_maps import fact_sentence, head_name
from pages.panels.step import step_picture
from pages.runs.cache import material_of
from pages.session.labels import Look, palette, words_for
from pages.setup.setup import Setup
from pages.site.words import say

BESIDE, ROOM = 400, 700  # pixels: arithmetic stands beside a picture that is no wider
CELL = "cell"  # in the link: which number of which run in which picture is opened
SMALL = 34.0  # pixels: a cell of maps of which two stand above the fold
Runs = Mapping[str, Trace]  # the runs that a picture shows, by name; where it is one alone, its name is ""
Told = Callable[[str, Ref], None]  # what is done with a run's cell


def read_cell(text: str) -> tuple[str, str, str, tuple[int, ...]]:
    """ "hero,bare,weights,0,0,5,3" as a picture, a run, a step and a cell."""
    picture, run, step, place = text.split(",", 3)
    if not PLACE.fullmatch(place):
        raise ValueError(text)
    return picture, run, step, tuple(map(int, place.split(",")))


def opened_in(picture: str, runs: Runs) -> tuple[str, Ref] | None:
    """The cell that is opened under a picture, behind the name of its run, where that has it."""
    shown, run, step, index = link_controls.choice(CELL, ("", "", "", ()), read_cell)
    return (run, Ref(step, index)) if shown == picture and run in runs and runs[run].holds(step, index) else None


@dataclass(frozen=True, eq=False)
class Shown:
    """A picture of some runs under its name, and what a screen reader says of it.

    tell: is told of each cell that is clicked. above: draws what stands over the arithmetic of the opened one. secret:
    of which cells there is no more than that to see."""

    name: str
    picture: Picture
    runs: Runs
    alt: str
    tell: Told | None = None
    above: Told | None = None
    secret: Callable[[str, Ref], bool] | None = None


def show(name: str, picture: Picture, runs: Runs, alt: str, tell: Told | None = None, **how) -> None:
    """A picture of some runs, and beside it the arithmetic of the cell that is opened in it; as Shown."""
    shown = Shown(name, picture, runs, alt, tell, **how)
    with st.container(horizontal=True, gap="small"):
        draw(shown)
        show_opened(shown, BESIDE if picture.spec["width"] <= ROOM else "stretch")


def show_beside(*pictures: Shown) -> None:
    """Pictures side by side; below them the arithmetic of the cell that is opened in one, so that none moves."""
    with st.container(horizontal=True, gap="medium"):
        for shown in pictures:
            draw(shown)
    for shown in pictures:
        show_opened(shown, "stretch")


def draw(shown: Shown) -> None:
    """The picture, whose cells can be clicked."""
    key = f"{link_controls.slug()}_{shown.name}"
    chart(shown.picture, key, shown.alt, lambda place: clicked(shown.name, shown.runs, place, shown.tell))


def show_opened(shown: Shown, width: int | str) -> None:
    """The arithmetic of the cell that is opened in a picture, where one is."""
    opened, name = opened_in(shown.name, shown.runs), shown.name
    if opened is None:
        return
    run, cell = opened
    trail = trail_to(name, run, cell)
    with st.container(border=True, width=width):
        if shown.above:
            shown.above(run, cell)
        if shown.secret and shown.secret(run, cell):
            return
        take, key = partial(follow, name, run, shown.runs[run], trail), f"arithmetic_{link_controls.slug()}_{name}"
        show_arithmetic(shown.runs[run], cell, trail[:-1], take, key)


# ---- pictures that several lessons have ------------------------------------------------------------------------------
def show_step(name: str, trace: Trace, step: str, look: Look, reach: float | None = None) -> None:
    """A step of a run as the workbench draws it: the matrix product that it is, or beside its operand. reach: of the
    colours, where several are compared."""
    opened = opened_in(name, {"": trace})
    picture = step_picture(trace, step, look.at, opened and opened[1], reach)
    show(name, picture, {"": trace}, say("step.alt", step=step))


def show_rows(name: str, rows: Sequence[Row], names: Sequence[str], runs: Runs, trace: Trace, **how) -> None:
    """Rows of cells one below the other; as rows_shown."""
    show(**vars(rows_shown(name, rows, names, runs, trace, **how)))


def rows_shown(
    name: str,
    rows: Sequence[Row],
    names: Sequence[str],
    runs: Runs,
    trace: Trace,
    made: Callable[..., Picture] = cell_rows,
    **how,
) -> Shown:
    """Rows of cells. trace: a run that has every step that is drawn; made: by which function, and how it is called."""
    picture = made(rows, names, words_for(trace), palette(), opened_in(name, runs), **how)
    return Shown(name, picture, runs, say("lesson.rows"))


def heads_shown(trace: Trace, setup: Setup, look: Look, most: float) -> list[Shown]:
    """The map of each head, as the workbench draws it. most: the largest side of a cell, in pixels."""
    return [head_shown(trace, setup, replace(look, head=head), most) for head in range(trace.sizes()["H"])]


def head_shown(trace: Trace, setup: Setup, look: Look, most: float) -> Shown:
    """The map of the head that is looked at."""
    return map_shown(f"head_{look.head}", trace, look, head_name(setup, material_of(setup), look.head), most=most)


def show_map(name: str, trace: Trace, look: Look, title: str, wide: float = MAP) -> None:
    """The weights of the head that is looked at as a map, the query's row outlined."""
    show(**vars(map_shown(name, trace, look, title, wide)))


def map_shown(
    name: str, trace: Trace, look: Look, title: str, wide: float = MAP, most: float = 40.0, outlined: bool = True
) -> Shown:
    """The weights of the head that is looked at as a map. wide: at most, and most: the largest side of a cell, in
    pixels. outlined: the row of the query that is looked at; else nothing is said of it."""
    opened = opened_in(name, {"": trace})
    chosen, axes = opened and opened[1], (say("corner.T"), say("corner.S"))
    query, alt = None, title
    if outlined:
        query, alt = look.query, f"{title}. {fact_sentence(trace, look, spell=str)}"
    seen = (words_for(trace), palette(), chosen, query, False, look.batch, axes, title, most, wide)
    return Shown(name, head_map(trace, look.head, *seen), {"": trace}, alt)


def alike(*pictures: Shown) -> list[Shown]:
    """The same, all equally large: where two exchange their places, their charts stay."""
    sized = equally_large([shown.picture for shown in pictures])
    return [replace(shown, picture=picture) for shown, picture in zip(pictures, sized, strict=True)]


# ---- what is opened --------------------------------------------------------------------------------------------------
def clicked(name: str, runs: Runs, place: object, tell: Told | None = None) -> None:
    """A cell of a picture was clicked, {"step": "bare:weights", "index"}: it opens, or closes where it was open."""
    match place:
        case {"step": str(told), "index": [*index]}:
            run, _, step = told.rpartition(":")
            there = (name, run, step, tuple(index))
            if run in runs and runs[run].holds(step, tuple(index)):
                again = link_controls.choice(CELL, (), read_cell) == there
                link_controls.keep(CELL, None if again else there)
                st.session_state["followed"] = None
                if tell:
                    tell(run, Ref(step, tuple(index)))


def follow(name: str, run: str, trace: Trace, trail: list[Place], place: object) -> None:
    """An operand was clicked, or a cell of the way back; a browser may name anything."""
    match place:
        case {"step": str(step), "index": [*index]} if all(type(at) is int for at in index):
            there = (step, tuple(index))
            if trace.holds(*there):
                passed = trail[: trail.index(there)] if there in trail else trail
                st.session_state["followed"] = (name, run, [*passed, there])
                link_controls.keep(CELL, (name, run, *there))


def trail_to(name: str, run: str, cell: Ref) -> list[Place]:
    """The cells through which a number was followed to the one that is open."""
    here, followed = (cell.step, cell.index), st.session_state.get("followed")
    return followed[2] if followed and followed[:2] == (name, run) and followed[2][-1] == here else [here]
