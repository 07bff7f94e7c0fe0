"""Rows of cells over the same columns, a number in each: what is added up and the sum, what was and what became of it.

The cells are a run's own, or those of several runs, and a click opens one as in any other picture.
"""

from collections.abc import Sequence

import numpy as np

from attention_core.drawing.bars import Row
from attention_core.drawing.cells import cell_table, colour_reach, is_share, unblocked_cells, widest_number
from attention_core.drawing.charts import PAGE_WIDTH_PX, Picture, sized_specification
from attention_core.drawing.palette import Palette, shade_cells, tint_cells
from attention_core.drawing.text_layout import PictureTexts, place_label, shorten_text, text_width
from attention_core.record.expressions import Ref
from attention_core.record.number_text import format_exact, format_fixed
from attention_core.record.trace import Trace

ROW_TEXT_PX = 16.0  # the size of the texts beside the rows, above the columns, and at most of the numbers
MAX_ROW_TITLE_PX = 390.0  # pixels: the most that a title takes
MAX_CELL_COLUMN_PX, MIN_CELL_COLUMN_PX = 112.0, 64.0  # pixels: a column, as far as there is room
NUMBER_ROW_HEIGHT_PX, COLOUR_ROW_HEIGHT_PX = 40.0, 48.0  # pixels: a row, and one whose cells are colours
ROW_TITLE_ROOM_PX = 24.0  # room for a title above its row
SUM_LINE_ROOM_PX = 8.0  # room for the line above a sum


def column_of(
    title: str, trace: Trace, step: str, at: Sequence[int], column: int, run: str = "", hidden: bool = False
) -> Row:
    """One column of a matrix as a row: the number `column` of each token, `at` on all axes before the last two.

    >>> import torch
    >>> from attention_core import attend_qkv
    >>> column_of("first", attend_qkv(*[torch.eye(2)] * 3), "v", (0, 0), 0).values
    [1.0, 0.0]
    """
    return Row(title, trace, [Ref(step, (*at, t, column)) for t in range(trace[step].shape[-2])], run, hidden)


def cell_rows(
    rows: Sequence[Row],
    names: Sequence[str],
    words: PictureTexts,
    palette: Palette,
    chosen: tuple[str, Ref] | None = None,
    sums: int = 0,
    corner: str = "",
) -> Picture:
    """The rows one below the other, each beside its title; names: of the columns. Shares are coloured on the ramp of
    the weights, all other rows on one signed scale.

    chosen: the cell that is opened, behind the name of its run. sums: how many of the last rows stand below a line, as
    what comes of those above it. corner: what stands above the titles. A row that is hidden shows a question mark in
    each cell.
    """
    left = min(
        MAX_ROW_TITLE_PX, max(text_width(text, ROW_TEXT_PX) for text in (corner, *(row.title for row in rows))) + 14
    )
    column = column_width(names, PAGE_WIDTH_PX - left)
    size = row_number_size(rows, column)
    signed = [row for row in rows if not is_share(row.trace, row.refs[0].step)]
    reach = max((colour_reach(row.trace, row.refs[0].step) for row in signed), default=1.0)
    drawn, y = place_column_names(names, left, column, palette), ROW_TEXT_PX + 12
    if corner:
        drawn.append(
            place_label(
                shorten_text(corner, left - 8, ROW_TEXT_PX), 0, ROW_TEXT_PX / 2, palette, align="left", size=ROW_TEXT_PX
            )
        )
    for number, row in enumerate(rows):
        if sums and number == len(rows) - sums:
            line = {"kind": "bar", "x": 0.0, "x2": left + len(names) * column, "fill": palette.ink}
            drawn.append(line | {"y": y + SUM_LINE_ROOM_PX / 2 - 1, "y2": y + SUM_LINE_ROOM_PX / 2})
            y += SUM_LINE_ROOM_PX
        drawn.append(
            place_label(
                shorten_text(row.title, left - 8, ROW_TEXT_PX),
                0,
                y + NUMBER_ROW_HEIGHT_PX / 2,
                palette,
                align="left",
                size=ROW_TEXT_PX,
            )
        )
        place, shading = (left, y, column, NUMBER_ROW_HEIGHT_PX), shade_row(row, reach, palette)
        drawn += place_row_cells(row, place, shading, size, words, palette, chosen, number)
        y += NUMBER_ROW_HEIGHT_PX
    return Picture(cell_table(drawn), sized_specification(left + len(names) * column + 4, y + 4))


def colour_rows(
    rows: Sequence[Row],
    names: Sequence[str],
    words: PictureTexts,
    palette: Palette,
    chosen: tuple[str, Ref] | None = None,
    looked: int | None = None,
) -> Picture:
    """The same where a number is a colour, black at 1, white at -1: each cell has that very colour. Titles stand above
    their rows, so that a phone is wide enough. looked: the column that is looked at."""
    column = column_width(names, PAGE_WIDTH_PX)
    size = row_number_size(rows, column)
    drawn, y = place_column_names(names, 0.0, column, palette), ROW_TEXT_PX + 6
    for number, row in enumerate(rows):
        drawn.append(
            place_label(
                shorten_text(row.title, PAGE_WIDTH_PX, ROW_TEXT_PX),
                0,
                y + ROW_TITLE_ROOM_PX / 2,
                palette,
                align="left",
                size=ROW_TEXT_PX,
            )
        )
        y += ROW_TITLE_ROOM_PX
        shading = tint_cells(np.array(row.values))
        drawn += place_row_cells(
            row, (0.0, y, column, COLOUR_ROW_HEIGHT_PX), shading, size, words, palette, chosen, number
        )
        if looked is not None:
            frame = {"kind": "chosen", "x": looked * column, "x2": (looked + 1) * column, "fill": palette.outline}
            drawn.append(frame | {"y": y, "y2": y + COLOUR_ROW_HEIGHT_PX})
        y += COLOUR_ROW_HEIGHT_PX
    wide = max(len(names) * column, *(min(text_width(row.title, ROW_TEXT_PX), PAGE_WIDTH_PX) for row in rows))
    return Picture(cell_table(drawn), sized_specification(wide + 4, y + 4))


# ---- columns ---------------------------------------------------------------------------------------------------------
def column_width(names: Sequence[str], room: float) -> float:
    """Of each column, so that its name and a number fit, and all of them into the room."""
    longest = max(text_width(name, ROW_TEXT_PX) for name in names) + 10
    return min(MAX_CELL_COLUMN_PX, max(MIN_CELL_COLUMN_PX, longest), room / len(names))


def row_number_size(rows: Sequence[Row], column: float) -> float:
    """The size of the numbers in columns of this width."""
    return min(18.0, (column - 6) / max(widest_number(np.array(row.values)) for row in rows))


def place_column_names(names: Sequence[str], left: float, column: float, palette: Palette) -> list[dict]:
    """The names above the columns."""
    return [
        place_label(
            shorten_text(name, column - 4, ROW_TEXT_PX),
            left + (at + 0.5) * column,
            ROW_TEXT_PX / 2,
            palette,
            size=ROW_TEXT_PX,
        )
        for at, name in enumerate(names)
    ]


# ---- cells -----------------------------------------------------------------------------------------------------------
def shade_row(row: Row, reach: float, palette: Palette) -> tuple[list[str], list[str]]:
    """Fill and ink of a row's cells, as in any matrix."""
    shares = is_share(row.trace, row.refs[0].step)
    return shade_cells(np.array(row.values), 1.0 if shares else reach, shares, palette)


def place_row_cells(
    row: Row,
    place: tuple[float, float, float, float],
    shading: tuple[list[str], list[str]],
    size: float,
    words: PictureTexts,
    palette: Palette,
    chosen: tuple[str, Ref] | None,
    number: int,
) -> list[dict]:
    """The cells of a row. place: their left and top, the width and the height of one; shading: fills and inks."""
    if row.hidden:
        return place_unknown_cells(row, place, palette)
    left, top, column, height = place
    free, drawn = {step: unblocked_cells(row.trace, step) for step in {ref.step for ref in row.refs}}, []
    for at, (ref, value, fill, ink) in enumerate(zip(row.refs, row.values, *shading, strict=True)):
        is_blocked = not free[ref.step][ref.index]
        drawn.append(
            {
                "kind": "blocked" if is_blocked else "cell",
                "x": left + at * column,
                "x2": left + (at + 1) * column,
                "y": top,
                "y2": top + height,
                "fill": palette.ground if is_blocked else fill,
                "ink": palette.ink if is_blocked else ink,
                "edge": palette.x,
                "text": ("0" if is_blocked and value == 0 else format_fixed(value)) if size >= 9 else "",
                "size": size,
                "what": words.describe(ref),
                "value": format_exact(value),
                "step": f"{row.run}:{ref.step}" if row.run else ref.step,
                "index": ",".join(map(str, ref.index)),
                "panel": f"row{number}",
                "row": number,
                "column": at,
            }
        )
        if (row.run, ref) == chosen:
            drawn.append({**drawn[-1], "kind": "chosen", "fill": palette.outline, "text": "", "what": ""})
    return drawn


def place_unknown_cells(row: Row, place: tuple[float, float, float, float], palette: Palette) -> list[dict]:
    """The cells of a row whose numbers are still to be guessed."""
    left, top, column, height = place
    drawn = []
    for at in range(len(row.refs)):
        box = {"kind": "bar", "x": left + at * column + 1, "x2": left + (at + 1) * column - 1, "fill": palette.faint}
        drawn.append(box | {"y": top + 1, "y2": top + height - 1})
        drawn.append(place_label("?", left + (at + 0.5) * column, top + height / 2, palette, size=22.0))
    return drawn
