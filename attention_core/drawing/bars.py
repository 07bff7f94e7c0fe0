"""Rows of bars over the same tokens: what one query does under several settings, one below the other.

Every bar stands in a cell of a run, which a click opens as in any other picture.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, isnan

from attention_core.drawing.cells import darkest, is_share, table, unblocked
from attention_core.drawing.charts import PAGE, Picture, sized
from attention_core.drawing.palette import Palette
from attention_core.drawing.text_layout import Words, cut, label, text_width
from attention_core.record.expressions import Ref
from attention_core.record.number_text import exact, fixed
from attention_core.record.trace import Trace

TITLE = 16.0  # the size of the text over a row
WORD = 16.0  # and of the words under the bars
GAP = 0.07  # of a column, at each side of its bar
NUMBER = 20.0  # room over a bar for its number
MANY = 20  # shares: of more each is so small that a few even shares fill the field
WIDEST, NARROWEST = 112.0, 34.0  # pixels: a column


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
    words: Words,
    palette: Palette,
    chosen: tuple[str, Ref] | None = None,
    height: float = 84.0,
    reach: float | None = None,
    whole: bool = False,
    room: float = PAGE,
) -> Picture:
    """The rows one below the other; names: what stands under their columns. Shares fill their field at 1, many of them
    at a few even shares or at the largest, which is said; all other numbers have one scale together. whole: many
    shares, too, fill their field at 1, because one may have almost everything.

    chosen: the cell that is opened, behind the name of its run. height: of the bars' field, in pixels; room: as wide as
    the fields may be together. A row that is hidden shows a question mark in each field. reach: what fills the field of
    numbers that are no shares, where that is not the largest of them.
    """
    longest = max(text_width(name, WORD) for name in names) + 10
    column = min(WIDEST, max(NARROWEST, longest, 84.0), room / len(names))
    width = len(names) * column
    share = share_scale(rows) if len(names) > MANY and not whole else Scale(1.0)
    other = common_scale(rows, reach)
    drawn, y = [], 0.0
    for number, row in enumerate(rows):
        drawn.append(label(cut(row.title, PAGE, TITLE), 0, y + 10, palette, align="left", size=TITLE))
        field = (y + 24, y + 24 + height)
        if row.hidden:
            drawn += hidden(row, field, column, palette)
        else:
            drawn += bars(row, number, field, column, words, palette, chosen, share if row.shares else other)
            if row.shares and share.reach < 1:
                drawn.append(label(f"↑ {fixed(share.reach)}", width, y + 12, palette, align="right", size=13.0))
        y = field[1] + 10
    for at, name in enumerate(names):
        drawn.append(label(cut(name, column - 4, WORD), (at + 0.5) * column, y + 4, palette, size=WORD))
    wide = max(width, *(min(text_width(row.title, TITLE), PAGE) for row in rows))
    return Picture(table(drawn), sized(wide + 4, y + 16))


def share_scale(rows: Sequence[Row]) -> Scale:
    """The scale of all rows of many shares: to a few even ones, or to the largest of them where that is more."""
    values = [value for row in rows if row.shares and not row.hidden for value in row.values if isfinite(value)]
    return Scale(max([darkest(len(rows[0].refs), times=True), *values]))


def common_scale(rows: Sequence[Row], reach: float | None = None) -> Scale:
    """The scale of all rows whose numbers are no shares, to their largest or as it is given."""
    values = [value for row in rows if not row.shares for value in row.values]
    reach = reach or max((abs(value) for value in values if isfinite(value)), default=0.0)
    return Scale(reach or 1.0, any(value < 0 for value in values))


def bars(
    row: Row,
    number: int,
    field: tuple[float, float],
    column: float,
    words: Words,
    palette: Palette,
    chosen: tuple[str, Ref] | None,
    scale: Scale,
) -> list[dict]:
    """The fields of a row, each with its bar and its number."""
    top, bottom = field
    room = (bottom - top - NUMBER * (1 + scale.signed)) / (1 + scale.signed)  # of the longest bar
    zero = bottom - (room + NUMBER) * scale.signed
    size = min(15.0, column / 3)
    free, drawn = unblocked(row.trace, row.refs[0].step), []
    for at, (ref, value) in enumerate(zip(row.refs, row.values, strict=True)):
        left, right = at * column, (at + 1) * column
        cell = field_of(row, ref, value, bool(free[ref.index]), words, palette)
        cell |= {"x": left, "x2": right, "y": top, "y2": bottom}
        drawn.append(cell | {"panel": f"row{number}", "row": number, "column": at})
        length = scale.length(value, room)
        end = zero + length if value < 0 else zero - length
        bar = {"kind": "bar", "x": left + column * GAP, "x2": right - column * GAP}
        bar |= {"y": min(zero, end), "y2": max(zero, end)}
        drawn.append(bar | {"fill": colour_of(row, value, palette)})
        beyond = end + NUMBER / 2 if value < 0 else end - NUMBER / 2
        text = number_of(row, value, cell) if size >= 9 else ""
        drawn.append(label(text, (left + right) / 2, beyond, palette, size=size))
        if (row.run, ref) == chosen:
            drawn.append(cell | {"kind": "chosen", "fill": palette.outline, "text": "", "what": ""})
    return drawn


def field_of(row: Row, ref: Ref, value: float, is_free: bool, words: Words, palette: Palette) -> dict:
    """The field of a bar: the cell that it stands for, which a mask blocks or leaves free."""
    return {
        "kind": "cell" if is_free else "blocked",
        "fill": palette.ground,
        "ink": palette.ink,
        "edge": palette.faint,
        "what": words.describe(ref),
        "value": exact(value),
        "step": f"{row.run}:{ref.step}" if row.run else ref.step,
        "index": ",".join(map(str, ref.index)),
    }


def colour_of(row: Row, value: float, palette: Palette) -> str:
    """The colour of a bar: of shares, or of the number's sign."""
    return palette.share if row.shares else palette.minus if value < 0 else palette.plus


def number_of(row: Row, value: float, field: dict) -> str:
    """A bar's number; of what a mask blocks the 0 that it is."""
    return "0" if field["kind"] == "blocked" and value == 0 else fixed(value, row.digits)


def hidden(row: Row, field: tuple[float, float], column: float, palette: Palette) -> list[dict]:
    """The fields of a row whose numbers are still to be guessed."""
    drawn = []
    for at in range(len(row.refs)):
        box = {"kind": "bar", "x": at * column + 1, "x2": (at + 1) * column - 1, "y": field[0], "y2": field[1]}
        drawn.append(box | {"fill": palette.faint})
        drawn.append(label("?", (at + 0.5) * column, sum(field) / 2, palette, size=22.0))
    return drawn
