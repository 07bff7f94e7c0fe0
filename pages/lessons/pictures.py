"""Shows the pictures of a lesson; a click on a number shows its arithmetic, whose operands can be clicked in turn."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import streamlit as st

from attention_core import Trace
from attention_core.drawing.bars import Row, bar_rows
from attention_core.drawing.cell_rows import cell_rows
from attention_core.drawing.charts import MAP_WIDTH_PX, head_map, make_equally_large, single_picture
from attention_core.drawing.specifications import Picture
from attention_core.explanation.layout import Panel
from attention_core.record.expressions import Ref
from pages import components
from pages.lessons.opened_cell import (
    CellHandler,
    RunsByName,
    get_opened_cell,
    get_opened_ref,
    get_trail_to,
    handle_operand_click,
    handle_picture_click,
)
from pages.panels import lesson_choices
from pages.panels.arithmetic import show_arithmetic
from pages.panels.chart import PHONE_WIDTH_PX, draw_for_widths, show_chart
from pages.panels.flow_data import Showing
from pages.panels.flow_picture import show_journey
from pages.panels.head_maps import fact_sentence
from pages.panels.live_choice import Followed
from pages.panels.live_frames import LiveCells, pack_live_cells, show_live_cells
from pages.panels.step_picture import make_step_picture
from pages.session.collected import show_moving
from pages.session.labels import Selection, current_palette, picture_texts_for, written_share
from pages.session.staged import is_one_screen
from pages.session.view import make_screen_state
from pages.setup.setup import Setup
from pages.site.words import say

JOURNEY_HEIGHT_PX = 340  # height in pixels on a page 1280 wide, so that the question above stays visible
ARITHMETIC_WIDTH_PX = 400  # width in pixels of the arithmetic beside a picture
MAX_PICTURE_BESIDE_PX = 700  # px: the arithmetic of a picture wider than this is shown below the picture
SMALL_MAP_CELL_PX = 34.0  # px: width of a cell of attention maps, so that two fit on the screen
PHONE_COLUMN_PX = 30.0  # px: least width of a column of numbers on a phone
FIRST_SELECTION = Selection(batch=0, head=0, kv=0, query=0)  # the selection in a run that has one sentence and one head


@dataclass(frozen=True, eq=False)
class RunPicture:
    """A named picture of some runs, with its alternative text for screen readers.

    runs: the runs by name. on_click: a function that is called with each clicked cell. show_above: a function that
    draws what is above the arithmetic of the open cell. is_secret: a function that returns whether the arithmetic of a
    cell is hidden. followed: the slider that the picture follows, None if there is none. cells: the cells of the
    picture at each position of that slider. narrow: the picture for a phone, None if it is the same.
    """

    name: str
    picture: Picture
    runs: RunsByName
    alt: str
    narrow: Picture | None = None
    on_click: CellHandler | None = None
    show_above: CellHandler | None = None
    is_secret: Callable[[str, Ref], bool] | None = None
    followed: Followed | None = None
    cells: LiveCells | None = None


def show_picture(name: str, picture: Picture, runs: RunsByName, alt: str, narrow: Picture | None = None) -> None:
    """Shows a picture of some runs and the arithmetic of the cell that the visitor opened.

    name: the picture's name in links. runs: the runs by name. alt: the text for screen readers. narrow: the picture for
    a phone, None if it is the same.
    """
    show_run_picture(RunPicture(name, picture, runs, alt, narrow))


def show_run_picture(shown: RunPicture) -> None:
    """Shows a picture with the arithmetic of its open cell beside it, or below it if the picture is wide."""
    fits_beside = shown.picture.spec["width"] <= MAX_PICTURE_BESIDE_PX
    width = ARITHMETIC_WIDTH_PX if fits_beside else "stretch"
    with st.container(horizontal=True, gap="small"):
        draw_picture(shown)
        show_opened_arithmetic(shown, width)


def show_side_by_side(*pictures: RunPicture) -> None:
    """Shows pictures side by side, and below them the arithmetic of each open cell, so that no picture moves."""
    with st.container(horizontal=True, gap="medium"):
        for shown in pictures:
            draw_picture(shown)
    for shown in pictures:
        show_opened_arithmetic(shown, "stretch")


def draw_picture(shown: RunPicture) -> None:
    """Draws a picture with clickable cells, but not the arithmetic of the open cell."""
    if shown.followed:
        with st.container(width=int(shown.picture.spec["width"]) + 1):
            draw_live_picture(shown.followed, shown, shown.cells, fills=False)
        return

    key = f"{lesson_choices.current_slug()}_{shown.name}"
    take = make_click_handler(shown)
    draw = partial(show_chart, shown.picture, key, shown.alt, take)
    if shown.narrow is None:
        draw()
    else:
        draw_for_widths(key, draw, partial(show_chart, shown.narrow, f"{key}_narrow", shown.alt, take))


def make_live(choice: Followed, shown: Sequence[RunPicture], alt: str) -> RunPicture:
    """Returns a picture that changes with a slider in the browser.

    choice: the slider. shown: the picture at each position of the slider. alt: the text for screen readers, the same
    for all pictures.
    """
    cells = pack_live_cells([each.picture for each in shown])
    return replace(shown[choice.position], followed=choice, cells=cells, alt=alt)


def show_opened_arithmetic(shown: RunPicture, width: int | str) -> None:
    """Shows the arithmetic of the open cell of a picture; shows nothing if no cell is open."""
    opened = get_opened_cell(shown.name, shown.runs)
    if opened is None:
        return
    with st.container(border=True, width=width):
        if shown.show_above:
            shown.show_above(*opened)
        if shown.is_secret and shown.is_secret(*opened):
            return
        show_arithmetic_under(shown.name, shown.runs, *opened)


def show_arithmetic_under(name: str, runs: RunsByName, run: str, cell: Ref) -> None:
    """Shows the arithmetic of a cell under a picture; a click on an operand opens that operand.

    name: the name of the picture. run: the name of the cell's run.
    """
    trace = runs[run]
    trail = get_trail_to(name, run, cell)
    handle_click = partial(handle_operand_click, name, run, trace, trail)
    key = f"arithmetic_{lesson_choices.current_slug()}_{name}"
    show_arithmetic(trace, cell, trail[:-1], handle_click, key)


# ---- pictures that several lessons have ------------------------------------------------------------------------------
def show_step_picture(name: str, trace: Trace, step: str, selection: Selection, reach: float | None = None) -> None:
    """Shows a step of a run as a picture: as a matrix product if it is one, else beside its operand.

    reach: the magnitude of the strongest colour, to share a scale between pictures; None for the largest magnitude of
    this picture.
    """
    opened = get_opened_ref(name, trace)
    picture = make_step_picture(trace, step, selection.at, opened, reach)
    alt = say("step.alt", step=step)
    show_picture(name, picture, {"": trace}, alt)


def show_panels(name: str, panels: Sequence[Panel], trace: Trace, titles: Sequence[str], alt: str) -> None:
    """Shows one or two steps of a run as matrices, each under its title; the second is computed from the first."""
    picture = single_picture(
        panels,
        trace,
        picture_texts_for(trace),
        current_palette(),
        titles,
        get_opened_ref(name, trace),
    )
    show_picture(name, picture, {"": trace}, alt)


def show_bar_rows(
    name: str,
    rows: Sequence[Row],
    names: Sequence[str],
    runs: RunsByName,
    trace: Trace,
    alt: str,
    made: Callable[..., Picture] = bar_rows,
    fits_phone: bool = False,
    **how,
) -> None:
    """Shows rows of bars, and the arithmetic of the cell that the visitor opened.

    names: the labels below the bars. trace: a run that has all steps of the rows. made: the function that draws the
    bars. fits_phone: whether a page draws narrower bars for a phone. how: further arguments of that function.
    """
    words = picture_texts_for(trace)
    opened = get_opened_cell(name, runs)
    draw = partial(made, rows, names, words, current_palette(), opened, **how)
    narrow = draw(room=find_phone_room(len(names))) if fits_phone and not is_one_screen() else None
    show_picture(name, draw(), runs, alt, narrow)


def find_phone_room(columns: int) -> float:
    """Returns the width of a picture for a phone: that of the screen, or what legible columns need if that is more."""
    return max(PHONE_WIDTH_PX, columns * PHONE_COLUMN_PX)


def draw_bar_rows(name: str, rows: Sequence[Row], names: Sequence[str], runs: RunsByName, **how) -> Picture:
    """Returns rows of bars as a picture.

    name: the name of the picture. how: further arguments of bar_rows.
    """
    words = picture_texts_for(next(iter(runs.values())))
    return bar_rows(rows, names, words, current_palette(), get_opened_cell(name, runs), **how)


def show_live_bars(
    choice: Followed,
    name: str,
    pictures: Sequence[Picture],
    narrow: Sequence[Picture],
    runs: RunsByName,
    alt: str,
) -> None:
    """Shows bars that follow a slider, and below them the arithmetic of the open cell.

    pictures: one picture for each position of the slider. narrow: the same for a phone. runs: the runs at the current
    position.
    """
    shown = RunPicture(name, pictures[choice.position], runs, alt)
    draw_for_widths(
        name,
        partial(draw_live_picture, choice, shown, pack_live_cells(pictures), fills=True),
        partial(draw_live_picture, choice, shown, pack_live_cells(narrow), fills=True, suffix="_narrow"),
        width="stretch",
    )
    show_opened_arithmetic(shown, "stretch")


def draw_live_picture(choice: Followed, shown: RunPicture, cells: LiveCells, fills: bool, suffix: str = "") -> None:
    """Draws a picture with clickable cells that changes with a slider in the browser.

    cells: the picture's cells at each position. fills: whether the picture is as wide as its container. suffix: the end
    of its key, if the page has the picture twice.
    """
    key = f"{lesson_choices.current_slug()}_{shown.name}{suffix}"
    show_live_cells(choice, key, cells, shown.alt, make_click_handler(shown), fills)


def make_click_handler(shown: RunPicture) -> Callable[[Mapping], None]:
    """Returns a picture's click handler.

    A widget keeps its handler in memory, so the handler refers to the runs and not to the picture.
    """
    name, runs, on_click = shown.name, shown.runs, shown.on_click
    return lambda sent: handle_picture_click(name, runs, sent, on_click)


def show_cell_rows(name: str, rows: Sequence[Row], names: Sequence[str], runs: RunsByName, trace: Trace, **how) -> None:
    """Shows rows of cells as a picture, and the arithmetic of the cell that the visitor opened.

    trace: a run that has all steps of the rows. how: further arguments of make_cell_rows.
    """
    shown = make_cell_rows(name, rows, names, runs, trace, **how)
    show_run_picture(shown)


def make_cell_rows(
    name: str,
    rows: Sequence[Row],
    names: Sequence[str],
    runs: RunsByName,
    trace: Trace,
    made: Callable[..., Picture] = cell_rows,
    **how,
) -> RunPicture:
    """Returns a picture of rows of cells.

    trace: a run that has all steps of the rows. made: the function that draws the rows. how: further arguments of that
    function.
    """
    words = picture_texts_for(trace)
    opened = get_opened_cell(name, runs)
    picture = made(rows, names, words, current_palette(), opened, **how)
    return RunPicture(name, picture, runs, say("lesson.rows"))


def show_weights_map(name: str, trace: Trace, selection: Selection, title: str, wide: float = MAP_WIDTH_PX) -> None:
    """Shows the weights of the selected head as an attention map, with the row of the query outlined.

    wide: the largest width of the map in pixels.
    """
    shown = make_weights_map(name, trace, selection, title, wide)
    show_run_picture(shown)


def make_weights_map(
    name: str,
    trace: Trace,
    selection: Selection,
    title: str,
    wide: float = MAP_WIDTH_PX,
    most: float = 40.0,
    outlined: bool = True,
) -> RunPicture:
    """Returns the weights of the selected head as an attention map.

    wide: the largest width of the map in pixels. most: the largest width of a cell in pixels. outlined: whether the row
    of the selected query is outlined and described in the alternative text.
    """
    picture = head_map(
        trace,
        selection.head,
        picture_texts_for(trace),
        current_palette(),
        get_opened_ref(name, trace),
        selection.query if outlined else None,
        batch=selection.batch,
        axes=(say("corner.T"), say("corner.S")),
        title=title,
        most=most,
        room=wide,
    )
    alt = f"{title}. {fact_sentence(trace, selection, spell=str)}" if outlined else title
    return RunPicture(name, picture, {"": trace}, alt)


def equalize_sizes(*pictures: RunPicture) -> list[RunPicture]:
    """Returns the pictures in the same size, so that the browser keeps their charts if two of them change places."""
    sized = make_equally_large([shown.picture for shown in pictures])
    return [replace(shown, picture=picture) for shown, picture in zip(pictures, sized, strict=True)]


def show_lesson_journey(setup: Setup, *, plays: bool = True) -> None:
    """Shows the animation of the query that a Setup selects, or of the default query, without a headline.

    Shows nothing in a lecture, where a page shows only its main picture. plays: whether the animation starts by itself.
    """
    if is_one_screen():
        return
    showing = Showing(plays=plays, begins="start" if plays else "end", speaks=False, height=JOURNEY_HEIGHT_PX)
    show_journey(make_screen_state(setup, None), showing)


# ---- words and their probabilities as bars ---------------------------------------------------------------------------
def show_word_shares(shares: Sequence[tuple[str, float]], key: str) -> None:
    """Shows words, the likeliest first, each with its probability and a bar of that length.

    shares: (word, probability) pairs.
    """
    rows = [{"word": word, "share": share, "said": written_share(share)} for word, share in shares]
    show_moving(components.word_shares, data={"rows": rows, "colour": current_palette().share}, key=key)
