"""Rows of bars over the same tokens: what one query does under several settings, one below the other.

Every bar stands in a cell of a run, which a click opens as in any other picture.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, isnan

from attention_core.drawing.cells import cell_table, darkest_share, is_share, unblocked_cells
from attention_core.drawing.charts import PAGE_WIDTH_PX, Picture, sized_specification
from attention_core.drawing.palette import Palette
from attention_core.drawing.text_layout import PictureTexts, place_label, shorten_text, text_width
from attention_core.record.expressions import Ref
from attention_core.record.number_text import format_exact, format_fixed
from attention_core.record.trace import Trace

BAR_TITLE_PX = 16.0  # the size of the text over a row
BAR_LABEL_PX = 16.0  # and of the words under the bars
BAR_GAP_SHARE = 0.07  # of a column, at each side of its bar
BAR_NUMBER_ROOM_PX = 20.0  # room over a bar for its number
MANY_SHARES = 20  # shares: of more each is so small that a few even shares fill the field
MAX_BAR_COLUMN_PX, MIN_BAR_COLUMN_PX = 112.0, 34.0  # pixels: a column


@dataclass(frozen=True, eq=False)
class Row:
    """Cells of one step of a run, one a column.

    run: the name of the run, where a picture has rows of several; a cell says it before its step, "bare:weights".
    hidden: its numbers are not shown yet. digits: decimals of its numbers.
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


@dataclass(frozen=True)
class Scale:
    """How numbers become lengths: the magnitude of the longest bar, and whether bars hang down too."""

    reach: float
    signed: bool = False

    def length(self, value: float, room: float) -> float:
        """How long a bar is where the longest has this room; NaN has no length."""
        return 0.0 if isnan(value) else room * min(abs(value) / self.reach, 1.0)


def row_of(
    title: str, trace: Trace, step: str, at: Sequence[int], run: str = "", hidden: bool = False, digits: int = 2
) -> Row:
    """The last axis of a step at a position on all axes before it.

    >>> import torch
    >>> from attention_core import attend_qkv
    >>> row_of("even", attend_qkv(*[torch.zeros(2, 3)] * 3), "weights", (0, 0, 1)).values
    [0.5, 0.5]
    """
    refs = [Ref(step, (*at, s)) for s in range(trace[step].shape[-1])]
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
) -> Picture:
    """The rows one below the other; names: what stands under their columns. Shares fill their field at 1, many of them
    at a few even shares or at the largest, which is said; all other numbers have one scale together. whole: many
    shares, too, fill their field at 1, because one may have almost everything.

    chosen: the cell that is opened, behind the name of its run. height: of the bars' field, in pixels; room: as wide as
    the fields may be together. A row that is hidden shows a question mark in each field. reach: what fills the field of
    numbers that are no shares, where that is not the largest of them.
    """
    longest = max(text_width(name, BAR_LABEL_PX) for name in names) + 10
    column = min(MAX_BAR_COLUMN_PX, max(MIN_BAR_COLUMN_PX, longest, 84.0), room / len(names))
    width = len(names) * column
    share = share_scale(rows) if len(names) > MANY_SHARES and not whole else Scale(1.0)
    other = common_scale(rows, reach)
    drawn, y = [], 0.0
    for number, row in enumerate(rows):
        drawn.append(
            place_label(
                shorten_text(row.title, PAGE_WIDTH_PX, BAR_TITLE_PX),
                0,
                y + 10,
                palette,
                align="left",
                size=BAR_TITLE_PX,
            )
        )
        field = (y + 24, y + 24 + height)
        if row.hidden:
            drawn += place_hidden_bars(row, field, column, palette)
        else:
            drawn += place_bars(row, number, field, column, words, palette, chosen, share if row.shares else other)
            if row.shares and share.reach < 1:
                drawn.append(
                    place_label(f"↑ {format_fixed(share.reach)}", width, y + 12, palette, align="right", size=13.0)
                )
        y = field[1] + 10
    for at, name in enumerate(names):
        drawn.append(
            place_label(
                shorten_text(name, column - 4, BAR_LABEL_PX), (at + 0.5) * column, y + 4, palette, size=BAR_LABEL_PX
            )
        )
    wide = max(width, *(min(text_width(row.title, BAR_TITLE_PX), PAGE_WIDTH_PX) for row in rows))
    return Picture(cell_table(drawn), sized_specification(wide + 4, y + 16))


def share_scale(rows: Sequence[Row]) -> Scale:
    """The scale of all rows of many shares: to a few even ones, or to the largest of them where that is more."""
    values = [value for row in rows if row.shares and not row.hidden for value in row.values if isfinite(value)]
    return Scale(max([darkest_share(len(rows[0].refs), times=True), *values]))


def common_scale(rows: Sequence[Row], reach: float | None = None) -> Scale:
    """The scale of all rows whose numbers are no shares, to their largest or as it is given."""
    values = [value for row in rows if not row.shares for value in row.values]
    reach = reach or max((abs(value) for value in values if isfinite(value)), default=0.0)
    return Scale(reach or 1.0, any(value < 0 for value in values))


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
    """The fields of a row, each with its bar and its number."""
    top, bottom = field
    room = (bottom - top - BAR_NUMBER_ROOM_PX * (1 + scale.signed)) / (1 + scale.signed)  # of the longest bar
    zero = bottom - (room + BAR_NUMBER_ROOM_PX) * scale.signed
    size = min(15.0, column / 3)
    free, drawn = unblocked_cells(row.trace, row.refs[0].step), []
    for at, (ref, value) in enumerate(zip(row.refs, row.values, strict=True)):
        left, right = at * column, (at + 1) * column
        cell = place_bar_field(row, ref, value, bool(free[ref.index]), words, palette)
        cell |= {"x": left, "x2": right, "y": top, "y2": bottom}
        drawn.append(cell | {"panel": f"row{number}", "row": number, "column": at})
        length = scale.length(value, room)
        end = zero + length if value < 0 else zero - length
        bar = {"kind": "bar", "x": left + column * BAR_GAP_SHARE, "x2": right - column * BAR_GAP_SHARE}
        bar |= {"y": min(zero, end), "y2": max(zero, end)}
        drawn.append(bar | {"fill": bar_colour(row, value, palette)})
        beyond = end + BAR_NUMBER_ROOM_PX / 2 if value < 0 else end - BAR_NUMBER_ROOM_PX / 2
        text = bar_number_text(row, value, cell) if size >= 9 else ""
        drawn.append(place_label(text, (left + right) / 2, beyond, palette, size=size))
        if (row.run, ref) == chosen:
            drawn.append(cell | {"kind": "chosen", "fill": palette.outline, "text": "", "what": ""})
    return drawn


def place_bar_field(row: Row, ref: Ref, value: float, is_free: bool, words: PictureTexts, palette: Palette) -> dict:
    """The field of a bar: the cell that it stands for, which a mask blocks or leaves free."""
    return {
        "kind": "cell" if is_free else "blocked",
        "fill": palette.ground,
        "ink": palette.ink,
        "edge": palette.faint,
        "what": words.describe(ref),
        "value": format_exact(value),
        "step": f"{row.run}:{ref.step}" if row.run else ref.step,
        "index": ",".join(map(str, ref.index)),
    }


def bar_colour(row: Row, value: float, palette: Palette) -> str:
    """The colour of a bar: of shares, or of the number's sign."""
    return palette.share if row.shares else palette.minus if value < 0 else palette.plus


def bar_number_text(row: Row, value: float, field: dict) -> str:
    """A bar's number; of what a mask blocks the 0 that it is."""
    return "0" if field["kind"] == "blocked" and value == 0 else format_fixed(value, row.digits)


def place_hidden_bars(row: Row, field: tuple[float, float], column: float, palette: Palette) -> list[dict]:
    """The fields of a row whose numbers are still to be guessed."""
    drawn = []
    for at in range(len(row.refs)):
        box = {"kind": "bar", "x": at * column + 1, "x2": (at + 1) * column - 1, "y": field[0], "y2": field[1]}
        drawn.append(box | {"fill": palette.faint})
        drawn.append(place_label("?", (at + 0.5) * column, sum(field) / 2, palette, size=22.0))
    return drawn
