"""Rows of bars over the same tokens: what one query does under several settings, one below the other.

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
    return Picture(cell_table(drawn), sized_specification(widest_row(rows, width) + 4, y + 16))


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


def widest_row(rows: Sequence[Row], width: float) -> float:
    """The width of the picture: of the rows, or of the widest title above them."""
    titles = max(text_width(row.title, BAR_TITLE_PX) for row in rows)
    return max(width, min(titles, PAGE_WIDTH_PX))


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
