"""Draws bars, horizontal or vertical, for numbers of the same tokens: one query's numbers under several settings.

Each bar is a cell of a run. A click on it shows how its number is computed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, isfinite, isnan

from attention_core.drawing.cells import (
    box,
    cell_table,
    darkest_share,
    is_share,
    name_cell,
    outline_cell,
    place_bar,
    place_outline,
    unblocked_cells,
    write_number,
)
from attention_core.drawing.palette import Palette
from attention_core.drawing.specifications import PAGE_WIDTH_PX, Picture, sized_specification
from attention_core.drawing.text_layout import (
    PictureTexts,
    fitting_size,
    place_fitted_label,
    place_label,
    text_width,
    wrap_text,
)
from attention_core.record.expressions import Ref
from attention_core.record.number_text import format_exact, format_fixed
from attention_core.record.trace import Trace

BAR_TITLE_PX = 16.0  # in pixels: the letter size of the title above a row
BAR_LABEL_PX = 16.0  # in pixels: the letter size of the words under the bars
BAR_GAP_SHARE = 0.07  # share of a column's width that is left free on each side of a bar
BAR_NUMBER_ROOM_PX = 20.0  # in pixels: the space above a bar for its number
MAX_BAR_NUMBER_PX, MIN_BAR_NUMBER_PX = 15.0, 9.0  # pixels: letter size of a bar's number; smaller ones are not drawn
MANY_SHARES = 20  # a row of more shares is drawn on a larger scale, because its shares are small
MAX_BAR_COLUMN_PX, MIN_BAR_COLUMN_PX = 112.0, 84.0  # in pixels: a column's largest and least width
LYING_NUMBER_ROOM_PX = 46.0  # in pixels: the space after a horizontal bar for its number
MAX_FIELD_HEIGHT_PX, MIN_FIELD_HEIGHT_PX = 32.0, 22.0  # in pixels: height of the area for one horizontal bar
FIELDS_HEIGHT_PX = 290.0  # in pixels: height of a column of bars, or more if its bars would be too low
TITLE_LINE_PX = 20.0  # in pixels: height of a line in a title
SMALLER_LINES_PX = 2.0  # pixels by which later lines of a title have smaller letters


@dataclass(frozen=True, eq=False)
class Row:
    """A row of bars: cells of one step of a run, one per column.

    run: the name of the run if a picture shows several runs; it precedes the step's name, as in "bare:weights". hidden:
    whether question marks replace the numbers, because the visitor has to guess them first. digits: the decimals of the
    numbers.
    """

    title: str
    trace: Trace
    refs: Sequence[Ref]
    run: str = ""
    hidden: bool = False
    digits: int = 2

    @property
    def shares(self) -> bool:
        """Whether the row's numbers are shares of 1, such as attention weights."""
        return is_share(self.trace, self.refs[0].step)

    @property
    def values(self) -> list[float]:
        """The numbers of the row's cells."""
        return [float(self.trace[ref.step][ref.index]) for ref in self.refs]

    def write(self, value: float) -> str:
        """Return a number as text with the decimals of the row."""
        return format_fixed(value, self.digits)


@dataclass(frozen=True)
class Scale:
    """The scale of a chart's bars.

    reach: the magnitude that has the longest bar. signed: whether bars of numbers below 0 point in the opposite
    direction.
    """

    reach: float
    signed: bool = False

    def longest(self, field: float, number_room: float) -> float:
        """Return the length of the longest bar in pixels, in each direction.

        field: the length in which bars are drawn. number_room: the space for a number after a bar.
        """
        directions = 2 if self.signed else 1
        return (field - number_room * directions) / directions

    def length(self, value: float, longest: float) -> float:
        """Return the length of a number's bar in pixels; 0 for NaN.

        longest: the length of the longest bar.
        """
        if isnan(value):
            return 0.0
        return longest * min(abs(value) / self.reach, 1.0)


def row_of(
    title: str, trace: Trace, step: str, at: Sequence[int], run: str = "", hidden: bool = False, digits: int = 2
) -> Row:
    """Return the last axis of a step, at one index on all other axes, as a Row.

    at: the index on the axes before the last.

    >>> import torch
    >>> from attention_core import attend_qkv
    >>> row_of("even", attend_qkv(*[torch.zeros(2, 3)] * 3), "weights", (0, 0, 1)).values
    [0.5, 0.5]
    """
    refs = [Ref(step, (*at, place)) for place in range(trace.step(step).shape[-1])]
    return Row(title, trace, refs, run, hidden, digits)


def bar_rows(
    rows: Sequence[Row],
    names: Sequence[str],
    words: PictureTexts,
    palette: Palette,
    chosen: tuple[str, Ref] | None = None,
    height: float = 84.0,
    reach: float | None = None,
    whole: bool = False,
    room: float = PAGE_WIDTH_PX,
    fills: bool = False,
) -> Picture:
    """Draw rows of vertical bars, one row below the other.

    The bar of a share of 1 is as high as its row. In rows of more than MANY_SHARES shares, so is the bar of a few times
    the uniform share, or of the largest share if that is larger, and the picture states this scale. All other numbers
    have a common scale. A hidden row shows a question mark in each column.

    names: the texts under the columns. chosen: the name of a run, and the cell of it whose arithmetic is open. height:
    the height of a row in pixels. reach: the number that fills the height, for numbers that are not shares; None for
    the largest of them. whole: whether 1 fills the height even in rows of many shares, because one of the shares may be
    almost 1. room: the largest width of all columns, and of the titles, in
    pixels. fills: whether the columns always fill `room`.
    """
    longest = max(text_width(name, BAR_LABEL_PX) for name in names) + 10
    wanted = max(MIN_BAR_COLUMN_PX, longest)
    column = room / len(names)
    if not fills:
        column = min(MAX_BAR_COLUMN_PX, wanted, column)
    width = len(names) * column
    is_magnified = len(names) > MANY_SHARES and not whole
    share = share_scale(rows) if is_magnified else Scale(1.0)
    other = common_scale(rows, reach)
    title_room = min(room, PAGE_WIDTH_PX)
    drawn = []
    y = 0.0
    for number, row in enumerate(rows):
        lines = wrap_text(row.title, title_room, BAR_TITLE_PX)
        for line, text in enumerate(lines):
            title_y = y + 10 + TITLE_LINE_PX * line
            drawn.append(place_fitted_label(text, 0, title_y, title_room, BAR_TITLE_PX, palette))
        top = y + 4 + TITLE_LINE_PX * len(lines)
        field = (top, top + height)
        if row.hidden:
            drawn += place_hidden_bars(row, field, column, palette)
        else:
            scale = share if row.shares else other
            drawn += place_bars(
                row,
                number,
                field,
                column,
                words,
                palette,
                chosen,
                scale,
            )
        if row.shares and not row.hidden and share.reach < 1:
            text = f"↑ {format_fixed(share.reach)}"
            drawn.append(place_label(text, width, y + 12, palette, align="right", size=13.0))
        y = top + height + 10
    drawn += place_bar_names(names, y + 4, column, palette)
    titles = max(text_width(row.title, BAR_TITLE_PX) for row in rows)
    widest = max(width, min(titles, title_room))
    return Picture(cell_table(drawn), sized_specification(widest + 4, y + 16))


def place_bar_names(names: Sequence[str], y: float, column: float, palette: Palette) -> list[dict]:
    """Return the table rows that draw the names below the columns of vertical bars."""
    size = fitting_size(names, column - 4, BAR_LABEL_PX)
    drawn = []
    for at, name in enumerate(names):
        middle = (at + 0.5) * column
        drawn.append(
            place_fitted_label(
                name,
                middle,
                y,
                room=column - 4,
                size=size,
                palette=palette,
                align="center",
            )
        )
    return drawn


def share_scale(rows: Sequence[Row]) -> Scale:
    """Return the scale for rows of many shares: it ends at a few times the uniform share, or at the largest share if
    that is larger.
    """
    shares = [darkest_share(len(rows[0].refs), times=True)]
    for row in rows:
        if row.shares and not row.hidden:
            shares += filter(isfinite, row.values)
    return Scale(max(shares))


def common_scale(rows: Sequence[Row], reach: float | None = None) -> Scale:
    """Return the common scale of all rows whose numbers are not shares.

    reach: the largest number of the scale; None means the largest number in the rows.
    """
    values = []
    for row in rows:
        if not row.shares:
            values += row.values
    largest = max((abs(value) for value in values if isfinite(value)), default=0.0)
    is_signed = any(value < 0 for value in values)
    return Scale(reach or largest or 1.0, is_signed)


def place_bars(
    row: Row,
    number: int,
    field: tuple[float, float],
    column: float,
    words: PictureTexts,
    palette: Palette,
    chosen: tuple[str, Ref] | None,
    scale: Scale,
) -> list[dict]:
    """Return the table rows that draw a row of vertical bars, each with its number.

    number: the index of the row. field: the top and the bottom edge of the row. column: the width of a column.
    """
    top, bottom = field
    longest = scale.longest(bottom - top, BAR_NUMBER_ROOM_PX)
    zero = bottom - (longest + BAR_NUMBER_ROOM_PX) if scale.signed else bottom
    gap = column * BAR_GAP_SHARE
    size = min(MAX_BAR_NUMBER_PX, column / 3)
    free = unblocked_cells(row.trace, row.refs[0].step)
    drawn = []
    cells = zip(row.refs, row.values, strict=True)
    for at, (ref, value) in enumerate(cells):
        left = at * column
        right = (at + 1) * column
        cell = place_bar_field(row, ref, value, free[ref.index], words, palette)
        cell |= box(left, right, top, bottom)
        place = {"panel": f"row{number}", "row": number, "column": at}
        drawn.append(cell | place)
        downwards = 1 if value < 0 else -1
        end = zero + downwards * scale.length(value, longest)
        upper, lower = sorted((zero, end))
        bar = box(left + gap, right - gap, upper, lower)
        drawn.append(place_bar(bar, bar_colour(row, value, palette)))
        text = bar_number_text(row, value, cell) if size >= MIN_BAR_NUMBER_PX else ""
        middle = (left + right) / 2
        beyond = end + downwards * BAR_NUMBER_ROOM_PX / 2
        drawn.append(place_label(text, middle, beyond, palette, size=size))
        if (row.run, ref) == chosen:
            drawn.append(outline_cell(cell, palette))
    return drawn


def place_bar_field(row: Row, ref: Ref, value: float, is_free: bool, words: PictureTexts, palette: Palette) -> dict:
    """Return the table row of the rectangle around a bar; a click on the rectangle opens the bar's cell.

    is_free: whether no mask blocks the cell.
    """
    return {
        "kind": "cell" if is_free else "blocked",
        "fill": palette.ground,
        "ink": palette.ink,
        "edge": palette.faint,
        "what": words.describe(ref),
        "value": format_exact(value),
        **name_cell(ref, row.run),
    }


def bar_colour(row: Row, value: float, palette: Palette) -> str:
    """Return the colour of a bar: the same for all shares; for other numbers, one if positive, another if negative."""
    if row.shares:
        return palette.share
    return palette.minus if value < 0 else palette.plus


def bar_number_text(row: Row, value: float, field: dict) -> str:
    """Return the number of a bar as text.

    field: the bar's rectangle, a result of place_bar_field.
    """
    return write_number(value, field["kind"] == "blocked", lambda number: format_fixed(number, row.digits))


def place_hidden_bars(row: Row, field: tuple[float, float], column: float, palette: Palette) -> list[dict]:
    """Return the table rows that draw a row of question marks, because the visitor has to guess the numbers first."""
    drawn = []
    for at in range(len(row.refs)):
        left = at * column + 1
        right = (at + 1) * column - 1
        rectangle = box(left, right, *field)
        drawn += place_question(rectangle, palette)
    return drawn


def place_question(rectangle: dict[str, float], palette: Palette, size: float = 22.0) -> list[dict]:
    """Return the table rows that draw a question mark instead of a number that the visitor has to guess first.

    rectangle: the coordinates that the question mark is centred in. size: the letter size of the question mark.
    """
    x = (rectangle["x"] + rectangle["x2"]) / 2
    y = (rectangle["y"] + rectangle["y2"]) / 2
    return [
        place_bar(rectangle, palette.faint),
        place_label("?", x, y, palette, size=size),
    ]


# ---- columns of lying bars, side by side -----------------------------------------------------------------------------
def bar_columns(
    rows: Sequence[Row],
    names: Sequence[str],
    words: PictureTexts,
    palette: Palette,
    chosen: tuple[str, Ref] | None = None,
    outlined: int | None = None,
    room: float = PAGE_WIDTH_PX,
) -> Picture:
    """Draw each row of numbers as a column of horizontal bars; the columns stand side by side.

    A share of 1 fills the width of its column; all other numbers have a common scale. names: the texts at the left of
    the bars. chosen: the name of a run, and the cell of it whose arithmetic is open. outlined: the index of the
    selected row, which gets a frame; None for none. room: the width of the picture in pixels; columns that would be too
    narrow stand below the others, beside the same names. The lines of a row's title are drawn one below the other.
    """
    longest = max(text_width(name, BAR_LABEL_PX) for name in names)
    left = min(MAX_BAR_COLUMN_PX, longest + 12)
    fitting_columns = max(1, int((room - left) // MIN_BAR_COLUMN_PX))
    in_a_line = ceil(len(rows) / ceil(len(rows) / fitting_columns))
    width = (room - left) / in_a_line
    lines = max(row.title.count("\n") + 1 for row in rows)
    titles = TITLE_LINE_PX * lines + 4
    fitting = max(MIN_FIELD_HEIGHT_PX, FIELDS_HEIGHT_PX / len(names))
    side = min(MAX_FIELD_HEIGHT_PX, fitting)
    share_scale = Scale(1.0)
    other_scale = common_scale(rows)
    drawn = []
    bottom = 0.0
    for number, row in enumerate(rows):
        place_in_line = number % in_a_line
        if place_in_line == 0:
            start = bottom + TITLE_LINE_PX * (number > 0)
            top = start + titles
            bottom = top + len(names) * side
            drawn += place_side_names(names, left, top, side, palette)
        field_left = left + place_in_line * width + 4
        field_right = left + (place_in_line + 1) * width - 4
        field = (field_left, field_right)
        drawn += place_title_lines(row.title, (field_left, start), width - 8, palette)
        if row.hidden:
            drawn += place_hidden_column(row, field, top, side, palette)
        else:
            drawn += place_lying_bars(
                row,
                number,
                field,
                top,
                side,
                words,
                palette,
                chosen,
                scale=share_scale if row.shares else other_scale,
            )
        if number == outlined:
            frame = box(field_left, field_right, top, bottom)
            drawn.append(place_outline(frame, palette))
    return Picture(cell_table(drawn), sized_specification(room, bottom + 4))


def place_side_names(names: Sequence[str], left: float, top: float, side: float, palette: Palette) -> list[dict]:
    """Return the table rows that draw the names at the left of the bars."""
    drawn = []
    for at, name in enumerate(names):
        middle = top + (at + 0.5) * side
        drawn.append(
            place_fitted_label(
                name,
                left - 8,
                middle,
                room=left - 8,
                size=BAR_LABEL_PX,
                palette=palette,
                align="right",
            )
        )
    return drawn


def place_title_lines(title: str, corner: tuple[float, float], room: float, palette: Palette) -> list[dict]:
    """Return the table rows that draw the lines of a title, one below the other.

    corner: the left and the top edge of the title. room: the largest width of a line in pixels.
    """
    x, top = corner
    drawn = []
    size = BAR_TITLE_PX
    for line, text in enumerate(title.split("\n")):
        drawn.append(place_fitted_label(text, x, top + 10 + TITLE_LINE_PX * line, room, size, palette))
        size = BAR_TITLE_PX - SMALLER_LINES_PX
    return drawn


def place_lying_bars(
    row: Row,
    number: int,
    field: tuple[float, float],
    top: float,
    side: float,
    words: PictureTexts,
    palette: Palette,
    chosen: tuple[str, Ref] | None,
    scale: Scale,
) -> list[dict]:
    """Return the table rows that draw a column of horizontal bars, each with its number.

    number: the index of the column. field: the left and the right edge of the column. side: the height of each bar's
    rectangle.
    """
    left, right = field
    longest = scale.longest(right - left, LYING_NUMBER_ROOM_PX)
    zero = left + (longest + LYING_NUMBER_ROOM_PX) if scale.signed else left
    size = min(MAX_BAR_NUMBER_PX, side / 1.5)
    free = unblocked_cells(row.trace, row.refs[0].step)
    drawn = []
    cells = zip(row.refs, row.values, strict=True)
    for at, (ref, value) in enumerate(cells):
        y = top + at * side
        y2 = top + (at + 1) * side
        cell = place_bar_field(row, ref, value, free[ref.index], words, palette)
        cell |= box(left, right, y, y2)
        place = {"panel": f"row{number}", "row": at, "column": number}
        drawn.append(cell | place)
        direction = -1 if value < 0 else 1
        end = zero + direction * scale.length(value, longest)
        start, stop = sorted((zero, end))
        bar = box(start, stop, y + 4, y2 - 4)
        drawn.append(place_bar(bar, bar_colour(row, value, palette)))
        label = place_label(
            bar_number_text(row, value, cell),
            end + 5 * direction,
            (y + y2) / 2,
            palette,
            align="right" if value < 0 else "left",
            size=size,
        )
        drawn.append(label)
        if (row.run, ref) == chosen:
            drawn.append(outline_cell(cell, palette))
    return drawn


def place_hidden_column(row: Row, field: tuple[float, float], top: float, side: float, palette: Palette) -> list[dict]:
    """Return the table rows that draw a column of question marks, because the visitor has to guess its numbers
    first.
    """
    drawn = []
    for at in range(len(row.refs)):
        y = top + at * side + 1
        y2 = top + (at + 1) * side - 1
        rectangle = box(*field, y, y2)
        drawn += place_question(rectangle, palette, size=16.0)
    return drawn
