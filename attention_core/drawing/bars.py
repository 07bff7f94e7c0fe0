"""Bars over the same tokens: what one query does under several settings, in rows or in columns side by side.

Every bar is a cell of a run, which a click opens as in any other picture.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, isnan

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
from attention_core.drawing.text_layout import PictureTexts, place_fitted_label, place_label, text_width
from attention_core.record.expressions import Ref
from attention_core.record.number_text import format_exact, format_fixed
from attention_core.record.trace import Trace

BAR_TITLE_PX = 16.0  # pixels: the size of the title above a row
BAR_LABEL_PX = 16.0  # pixels: the size of the words under the bars
BAR_GAP_SHARE = 0.07  # share of a column's width on each side of its bar
BAR_NUMBER_ROOM_PX = 20.0  # pixels above a bar for its number
MAX_BAR_NUMBER_PX, MIN_BAR_NUMBER_PX = 15.0, 9.0  # pixels: the size of that number: a smaller one is illegible
MANY_SHARES = 20  # with more shares in a row, the scale ends at a few uniform shares, not at 1
MAX_BAR_COLUMN_PX, MIN_BAR_COLUMN_PX = 112.0, 84.0  # pixels: the width of a column if there is room
LYING_NUMBER_ROOM_PX = 46.0  # pixels beside a bar for its number
MAX_FIELD_HEIGHT_PX, MIN_FIELD_HEIGHT_PX = 32.0, 22.0  # pixels: the height of a bar's field
FIELDS_HEIGHT_PX = 290.0  # pixels: the height of all fields together, unless each would be too low
TITLE_LINE_PX = 20.0  # pixels: the height of a line of a title
SMALLER_LINES_PX = 2.0  # pixels by which the letters of a title's later lines are smaller


@dataclass(frozen=True, eq=False)
class Row:
    """Cells of one step of a run, one per column.

    run: the name of the run, if a picture has rows of several: it prefixes the step in a cell's name, "bare:weights".
    hidden: whether its numbers are not shown yet. digits: decimals of its numbers.
    """

    title: str
    trace: Trace
    refs: Sequence[Ref]
    run: str = ""
    hidden: bool = False
    digits: int = 2

    @property
    def shares(self) -> bool:
        """Whether its numbers are shares of 1."""
        return is_share(self.trace, self.refs[0].step)

    @property
    def values(self) -> list[float]:
        """The numbers of its cells."""
        return [float(self.trace[ref.step][ref.index]) for ref in self.refs]

    def write(self, value: float) -> str:
        """A number with as many decimals as the row has."""
        return format_fixed(value, self.digits)


@dataclass(frozen=True)
class Scale:
    """The scale of bars. reach: the number of the longest bar. signed: whether numbers below 0 have bars in the other
    direction.
    """

    reach: float
    signed: bool = False

    def longest(self, field: float, number_room: float) -> float:
        """The length of the longest bar in a field with room for a number after the bar in each direction."""
        directions = 2 if self.signed else 1
        return (field - number_room * directions) / directions

    def length(self, value: float, longest: float) -> float:
        """The length of a number's bar; 0 for NaN."""
        if isnan(value):
            return 0.0
        return longest * min(abs(value) / self.reach, 1.0)


def row_of(
    title: str, trace: Trace, step: str, at: Sequence[int], run: str = "", hidden: bool = False, digits: int = 2
) -> Row:
    """A row of the last axis of a step. at: the index on all axes before it.

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
    """Draws rows of bars, one below the other.

    A share of 1 fills its field. In rows of many shares, a few uniform shares or the largest share fill it, and the
    picture says so. All other numbers have a common scale. A hidden row shows a question mark in each field.

    names: the texts under the columns. chosen: the run and the cell that is open. height: of a row's fields in pixels.
    reach: the number that fills a field, for numbers that are no shares; by default the largest of them. whole: whether
    1 fills the field even in rows of many shares, because one of them may be almost 1. room: the largest width of all
    columns. fills: whether they are always that wide.
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
    drawn = []
    y = 0.0
    for number, row in enumerate(rows):
        title = place_fitted_label(
            row.title,
            0,
            y + 10,
            room=PAGE_WIDTH_PX,
            size=BAR_TITLE_PX,
            palette=palette,
        )
        drawn.append(title)
        top = y + 24
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
    widest = max(width, min(titles, PAGE_WIDTH_PX))
    return Picture(cell_table(drawn), sized_specification(widest + 4, y + 16))


def place_bar_names(names: Sequence[str], y: float, column: float, palette: Palette) -> list[dict]:
    """The names under the columns."""
    drawn = []
    for at, name in enumerate(names):
        middle = (at + 0.5) * column
        drawn.append(
            place_fitted_label(
                name,
                middle,
                y,
                room=column - 4,
                size=BAR_LABEL_PX,
                palette=palette,
                align="center",
            )
        )
    return drawn


def share_scale(rows: Sequence[Row]) -> Scale:
    """The scale of all rows of many shares: up to a few uniform shares, or to the largest share that is shown."""
    shares = [darkest_share(len(rows[0].refs), times=True)]
    for row in rows:
        if row.shares and not row.hidden:
            shares += filter(isfinite, row.values)
    return Scale(max(shares))


def common_scale(rows: Sequence[Row], reach: float | None = None) -> Scale:
    """The common scale of all rows whose numbers are no shares. reach: its end; by default the largest number."""
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
    """The fields of a row, each with its bar and its number. field: the top and bottom edge of the row."""
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
    """The field of a bar, which a click opens as a cell. is_free: whether no mask blocks it."""
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
    """The colour of a bar: the colour of shares or, for other numbers, of the number's sign."""
    if row.shares:
        return palette.share
    return palette.minus if value < 0 else palette.plus


def bar_number_text(row: Row, value: float, field: dict) -> str:
    """The number of a bar as a text. field: a result of place_bar_field."""
    return write_number(value, field["kind"] == "blocked", lambda number: format_fixed(number, row.digits))


def place_hidden_bars(row: Row, field: tuple[float, float], column: float, palette: Palette) -> list[dict]:
    """The fields of a row whose numbers are still to be guessed."""
    drawn = []
    for at in range(len(row.refs)):
        left = at * column + 1
        right = (at + 1) * column - 1
        rectangle = box(left, right, *field)
        drawn += place_question(rectangle, palette)
    return drawn


def place_question(rectangle: dict[str, float], palette: Palette, size: float = 22.0) -> list[dict]:
    """A field whose number is still to be guessed. size: of its question mark."""
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
) -> Picture:
    """Draws rows as columns of horizontal bars. A share of 1 fills its field; all other numbers have a common scale.

    names: the texts at the left of the bars. The lines of a title are drawn one below the other. chosen: as in
    bar_rows. outlined: the index of the selected row.
    """
    longest = max(text_width(name, BAR_LABEL_PX) for name in names)
    left = min(MAX_BAR_COLUMN_PX, longest + 12)
    width = (PAGE_WIDTH_PX - left) / len(rows)
    lines = max(row.title.count("\n") + 1 for row in rows)
    top = TITLE_LINE_PX * lines + 4
    fitting = max(MIN_FIELD_HEIGHT_PX, FIELDS_HEIGHT_PX / len(names))
    side = min(MAX_FIELD_HEIGHT_PX, fitting)
    bottom = top + len(names) * side
    share_scale = Scale(1.0)
    other_scale = common_scale(rows)
    drawn = place_side_names(names, left, top, side, palette)
    for number, row in enumerate(rows):
        field_left = left + number * width + 4
        field_right = left + (number + 1) * width - 4
        field = (field_left, field_right)
        drawn += place_title_lines(row.title, field_left, width - 8, palette)
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
    return Picture(cell_table(drawn), sized_specification(PAGE_WIDTH_PX, bottom + 4))


def place_side_names(names: Sequence[str], left: float, top: float, side: float, palette: Palette) -> list[dict]:
    """The names at the left of the bars."""
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


def place_title_lines(title: str, x: float, room: float, palette: Palette) -> list[dict]:
    """The lines of a title, one below the other."""
    drawn = []
    size = BAR_TITLE_PX
    for line, text in enumerate(title.split("\n")):
        drawn.append(place_fitted_label(text, x, 10 + TITLE_LINE_PX * line, room, size, palette))
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
    """The fields of a column, each with its bar and its number. field: the left and right edge of the column."""
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
    """The fields of a column whose numbers are still to be guessed."""
    drawn = []
    for at in range(len(row.refs)):
        y = top + at * side + 1
        y2 = top + (at + 1) * side - 1
        rectangle = box(*field, y, y2)
        drawn += place_question(rectangle, palette, size=16.0)
    return drawn
