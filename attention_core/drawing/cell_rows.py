"""Draws rows of numbers: summands and their sum, or numbers before and after a step.

The numbers are cells of one or several runs; a click on one shows how it is computed.
"""

from collections.abc import Sequence

import numpy as np

from attention_core.drawing.bars import Row, place_question
from attention_core.drawing.cells import (
    MIN_NUMBER_PX,
    box,
    cell_table,
    colour_reach,
    name_cell,
    outline_cell,
    place_bar,
    place_outline,
    unblocked_cells,
    widest_number,
    write_number,
)
from attention_core.drawing.palette import Palette, shade_cells, tint_cells
from attention_core.drawing.specifications import PAGE_WIDTH_PX, Picture, sized_specification
from attention_core.drawing.text_layout import PictureTexts, fitting_size, place_fitted_label, text_width, wrap_text
from attention_core.record.expressions import Ref
from attention_core.record.number_text import format_exact
from attention_core.record.trace import Trace

ROW_TEXT_PX = 16.0  # in pixels: the text size of row titles and column names
MAX_ROW_NUMBER_PX = 18.0  # in pixels: the largest text size of a number
MAX_ROW_TITLE_PX = 390.0  # in pixels: the largest width of a title beside its row
MAX_CELL_COLUMN_PX, MIN_CELL_COLUMN_PX = 112.0, 64.0  # pixels: a column's largest and least width
NUMBER_ROW_HEIGHT_PX, COLOUR_ROW_HEIGHT_PX = 40.0, 48.0  # in pixels: heights of rows of numbers and of colours
NAMES_HEIGHT_PX = 24.0  # in pixels: the height of the column names
ROW_TITLE_ROOM_PX = 24.0  # in pixels: the space above a row for its title
SUM_LINE_ROOM_PX = 8.0  # in pixels: the space above a sum's row for the line between summands and sum

RowPlace = tuple[float, float, float, float]  # left, top, width and height of the cells' area in a row


def column_of(
    title: str, trace: Trace, step: str, at: Sequence[int], column: int, run: str = "", hidden: bool = False
) -> Row:
    """Return one column of a matrix as a row of cells: the component with index `column` of each token's vector.

    at: the index on all axes before the last two, such as (batch, head).

    >>> import torch
    >>> from attention_core import attend_qkv
    >>> column_of("first", attend_qkv(*[torch.eye(2)] * 3), "v", (0, 0), 0).values
    [1.0, 0.0]
    """
    tokens = trace.step(step).shape[-2]
    refs = []
    for token in range(tokens):
        index = (*at, token, column)
        refs.append(Ref(step, index))
    return Row(title, trace, refs, run, hidden)


def cell_rows(
    rows: Sequence[Row],
    names: Sequence[str],
    words: PictureTexts,
    palette: Palette,
    chosen: tuple[str, Ref] | None = None,
    sums: int = 0,
    corner: str = "",
    room: float = PAGE_WIDTH_PX,
    titles_above: bool = False,
) -> Picture:
    """Draw rows of cells, one below the other, each beside its title.

    Shares have the colours of weights; all other rows share one signed colour scale. A hidden row shows a question mark
    in each cell.

    names: the names of the columns. chosen: the name of a run and the Ref of its open cell. sums: how many of the last
    rows are sums, drawn below a line. corner: the text above the titles. room: the largest width of the picture.
    titles_above: whether each title is above its row, which leaves more room for the cells.
    """
    left = 0.0 if titles_above else title_width(rows, corner)
    column = column_width(names, room - left)
    right = left + len(names) * column
    size = row_number_size(rows, column)
    reaches = [colour_reach(row.trace, row.refs[0].step) for row in rows if not row.shares]
    reach = max(
        reaches, default=1.0
    )  # the magnitude with the strongest colour, for rows of numbers that are not shares
    drawn = place_column_names(names, left, column, palette)
    if corner:
        drawn.append(place_row_title(corner, ROW_TEXT_PX / 2, left - 8, palette))
    y = ROW_TEXT_PX + 12
    for number, row in enumerate(rows):
        if sums and number == len(rows) - sums:
            middle = y + SUM_LINE_ROOM_PX / 2
            line = box(0.0, right, middle - 1, middle)
            drawn.append(place_bar(line, palette.ink))
            y += SUM_LINE_ROOM_PX
        if titles_above:
            drawn.append(place_row_title(row.title, y + ROW_TITLE_ROOM_PX / 2, room, palette))
            y += ROW_TITLE_ROOM_PX
        else:
            drawn.append(place_row_title(row.title, y + NUMBER_ROW_HEIGHT_PX / 2, left - 8, palette))
        place = (left, y, column, NUMBER_ROW_HEIGHT_PX)
        shading = shade_cells(np.array(row.values), 1.0 if row.shares else reach, row.shares, palette)
        drawn += place_row_cells(
            row,
            place,
            shading,
            size,
            words,
            palette,
            chosen,
            number,
        )
        y += NUMBER_ROW_HEIGHT_PX
    return Picture(cell_table(drawn), sized_specification(right + 4, y + 4))


def colour_rows(
    rows: Sequence[Row],
    names: Sequence[str],
    words: PictureTexts,
    palette: Palette,
    chosen: tuple[str, Ref] | None = None,
    looked: int | None = None,
) -> Picture:
    """Draw rows of cells without numbers, in grey levels: black for 1, grey for 0, white for -1.

    Each row's title is above the row, so that the picture fits a phone. names: the names of the columns. chosen: the
    name of a run and the Ref of its open cell.
    """
    column = column_width(names, PAGE_WIDTH_PX)
    size = row_number_size(rows, column)
    drawn = place_column_names(names, 0.0, column, palette)
    y = ROW_TEXT_PX + 6
    for number, row in enumerate(rows):
        title_middle = y + ROW_TITLE_ROOM_PX / 2
        drawn.append(place_row_title(row.title, title_middle, PAGE_WIDTH_PX, palette))
        y += ROW_TITLE_ROOM_PX
        place = (0.0, y, column, COLOUR_ROW_HEIGHT_PX)
        shading = tint_cells(np.array(row.values))
        drawn += place_row_cells(
            row,
            place,
            shading,
            size,
            words,
            palette,
            chosen,
            number,
        )
        if looked is not None:
            left = looked * column
            frame = box(left, (looked + 1) * column, y, y + COLOUR_ROW_HEIGHT_PX)
            drawn.append(place_outline(frame, palette))
        y += COLOUR_ROW_HEIGHT_PX
    longest = max(text_width(row.title, ROW_TEXT_PX) for row in rows)
    titles = min(longest, PAGE_WIDTH_PX)
    width = max(len(names) * column, titles)
    return Picture(cell_table(drawn), sized_specification(width + 4, y + 4))


# ---- titles and columns ----------------------------------------------------------------------------------------------
def title_width(rows: Sequence[Row], corner: str) -> float:
    """Return the width in pixels that the titles beside the rows need."""
    longest = text_width(corner, ROW_TEXT_PX)
    for row in rows:
        longest = max(longest, text_width(row.title, ROW_TEXT_PX))
    return min(MAX_ROW_TITLE_PX, longest + 14)


def place_row_title(text: str, y: float, room: float, palette: Palette) -> dict:
    """Return the label of a row title at the left edge of the picture."""
    return place_fitted_label(text, 0, y, room, ROW_TEXT_PX, palette)


def column_width(names: Sequence[str], room: float) -> float:
    """Return the width of a column: enough for the longest name and a number, but at most what makes all columns
    fit.
    """
    longest = max(text_width(name, ROW_TEXT_PX) for name in names) + 10
    return min(MAX_CELL_COLUMN_PX, max(MIN_CELL_COLUMN_PX, longest), room / len(names))


def row_number_size(rows: Sequence[Row], column: float) -> float:
    """Return the letter size at which every number of the rows fits a column of this width."""
    widest = max(widest_number(np.array(row.values), row.write) for row in rows)
    return min(MAX_ROW_NUMBER_PX, (column - 6) / widest)


def place_column_names(names: Sequence[str], left: float, column: float, palette: Palette) -> list[dict]:
    """Return the labels of the column names above the columns; long names in small letters have two lines."""
    size = fitting_size(names, column - 4, ROW_TEXT_PX)
    has_two_lines = size * 2 <= NAMES_HEIGHT_PX
    drawn = []
    for at, name in enumerate(names):
        middle = left + (at + 0.5) * column
        first = wrap_text(name, column - 4, size)[0]
        lines = [first, name.removeprefix(first)] if has_two_lines and 1 < len(first) < len(name) else [name]
        for line, text in enumerate(lines):
            y = ROW_TEXT_PX / 2 + size * (line - (len(lines) - 1) / 2)
            drawn.append(place_fitted_label(text, middle, y, column - 4, size, palette, align="center"))
    return drawn


# ---- cells -----------------------------------------------------------------------------------------------------------
def place_row_cells(
    row: Row,
    place: RowPlace,
    shading: tuple[list[str], list[str]],
    size: float,
    words: PictureTexts,
    palette: Palette,
    chosen: tuple[str, Ref] | None,
    number: int,
) -> list[dict]:
    """Return the marks of a row's cells.

    shading: the fill colours and text colours of the cells. size: the text size of the numbers. number: the index of
    the row.
    """
    if row.hidden:
        return place_unknown_cells(row, place, palette)
    left, top, column, height = place
    fills, inks = shading
    steps = {ref.step for ref in row.refs}
    free = {step: unblocked_cells(row.trace, step) for step in steps}
    drawn = []
    cells = zip(row.refs, row.values, fills, inks, strict=True)
    for at, (ref, value, fill, ink) in enumerate(cells):
        x = left + at * column
        x2 = left + (at + 1) * column
        is_blocked = not free[ref.step][ref.index]
        if is_blocked:
            fill, ink = palette.ground, palette.ink
        cell = {
            "kind": "blocked" if is_blocked else "cell",
            **box(x, x2, top, top + height),
            "fill": fill,
            "ink": ink,
            "edge": palette.x,
            "text": write_number(value, is_blocked, row.write) if size >= MIN_NUMBER_PX else "",
            "size": size,
            "what": words.describe(ref),
            "value": format_exact(value),
            **name_cell(ref, row.run),
            "panel": f"row{number}",
            "row": number,
            "column": at,
        }
        drawn.append(cell)
        if (row.run, ref) == chosen:
            drawn.append(outline_cell(cell, palette))
    return drawn


def place_unknown_cells(row: Row, place: RowPlace, palette: Palette) -> list[dict]:
    """Return question marks in place of a row's cells, because the visitor has to guess the numbers first."""
    left, top, column, height = place
    drawn = []
    for at in range(len(row.refs)):
        x = left + at * column + 1
        x2 = left + (at + 1) * column - 1
        inside = box(x, x2, top + 1, top + height - 1)
        drawn += place_question(inside, palette)
    return drawn
