"""Rows of bars over the same tokens: what one query does under several settings, one below the other.

Every bar stands in a cell of a run, which a click opens as in any other picture.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from attention_core.cells import Ref
from attention_core.charts import PAGE, Picture, sized
from attention_core.drawing import is_share, span, table, unblocked
from attention_core.lettering import Words, cut, label, text_width
from attention_core.numerals import exact, fixed
from attention_core.palette import Palette
from attention_core.trace import Trace

TITLE = 16.0  # the size of the text over a row
WORD = 16.0  # and of the words under the bars
NUMBER = 20.0  # room over a bar for its number
WIDEST, NARROWEST = 112.0, 34.0  # pixels: a column


@dataclass(frozen=True, eq=False)
class Row:
    """Cells of one step of a run, one a column. run: the name of the run, where a picture has rows of several; a cell
    says it before its step, "bare:weights". hidden: its numbers are not shown yet."""

    title: str
    trace: Trace
    refs: Sequence[Ref]
    run: str = ""
    hidden: bool = False

    @property
    def values(self) -> list[float]:
        """The numbers of its cells."""
        return [float(self.trace[ref.step][ref.index]) for ref in self.refs]


def row_of(title: str, trace: Trace, step: str, at: Sequence[int], run: str = "", hidden: bool = False) -> Row:
    """The last axis of a step at a position on all axes before it.

    >>> import torch
    >>> from attention_core import attend_qkv
    >>> row_of("even", attend_qkv(*[torch.zeros(2, 3)] * 3), "weights", (0, 0, 1)).values
    [0.5, 0.5]
    """
    return Row(title, trace, [Ref(step, (*at, s)) for s in range(trace[step].shape[-1])], run, hidden)


def bar_rows(
    rows: Sequence[Row],
    names: Sequence[str],
    words: Words,
    palette: Palette,
    chosen: tuple[str, Ref] | None = None,
    height: float = 84.0,
    reach: float | None = None,
) -> Picture:
    """The rows one below the other, all to one scale; names: what stands under their columns.

    chosen: the cell that is opened, behind the name of its run. height: of the bars' field, in pixels. reach: the
    magnitude that fills a field, where that is not 1 for shares and the largest number of all rows for others.
    A row that is hidden shows a question mark in each field.
    """
    longest = max(text_width(name, WORD) for name in names) + 10
    column = min(WIDEST, max(NARROWEST, longest, 84.0), PAGE / len(names))
    reach = reach or max(span(row.trace, row.refs[0].step) for row in rows)
    signed = any(value < 0 for row in rows if not row.hidden for value in row.values)
    drawn, y = [], 0.0
    for number, row in enumerate(rows):
        drawn.append(label(cut(row.title, PAGE, TITLE), 0, y + 10, palette, align="left", size=TITLE))
        field = (y + 24, y + 24 + height)
        drawn += (
            hidden(row, field, column, palette)
            if row.hidden
            else bars(row, field, column, words, palette, chosen, reach, signed, number)
        )
        y = field[1] + 10
    for at, name in enumerate(names):
        drawn.append(label(cut(name, column - 4, WORD), (at + 0.5) * column, y + 4, palette, size=WORD))
    wide = max(len(names) * column, *(min(text_width(row.title, TITLE), PAGE) for row in rows))
    return Picture(table(drawn), sized(wide + 2, y + 16))


def bars(
    row: Row,
    field: tuple[float, float],
    column: float,
    words: Words,
    palette: Palette,
    chosen: tuple[str, Ref] | None,
    reach: float,
    signed: bool,
    number: int,
) -> list[dict]:
    """The fields of a row, each with its bar and its number."""
    top, bottom = field
    room = (bottom - top - NUMBER * (1 + signed)) / (1 + signed)  # of the longest bar
    zero = bottom - (room + NUMBER) * signed
    free, drawn = unblocked(row.trace, row.refs[0].step), []
    for at, (ref, value) in enumerate(zip(row.refs, row.values, strict=True)):
        left, right = at * column, (at + 1) * column
        is_blocked = not free[ref.index]
        cell = {"kind": "blocked" if is_blocked else "cell", "x": left, "x2": right, "y": top, "y2": bottom}
        cell |= {"fill": palette.ground, "ink": palette.ink, "edge": palette.faint, "panel": f"row{number}"}
        cell |= {"what": words.describe(ref), "value": exact(value), "row": number, "column": at}
        step = f"{row.run}:{ref.step}" if row.run else ref.step
        drawn.append(cell | {"step": step, "index": ",".join(map(str, ref.index))})
        length = room * min(abs(value) / reach, 1.0) if value == value else 0.0  # NaN has no length
        end = zero - length if value >= 0 else zero + length
        colour = palette.share if is_share(row.trace, ref.step) else palette.plus if value >= 0 else palette.minus
        drawn.append(
            {"kind": "bar", "x": left + 5, "x2": right - 5, "y": min(zero, end), "y2": max(zero, end), "fill": colour}
        )
        above = end - NUMBER / 2 if value >= 0 or value != value else end + NUMBER / 2
        text = "0" if is_blocked and value == 0 else fixed(value)
        drawn.append(label(text, (left + right) / 2, above, palette, size=min(15.0, column / 3)))
        if (row.run, ref) == chosen:
            drawn.append(cell | {"kind": "chosen", "fill": palette.outline, "text": "", "what": ""})
    return drawn


def hidden(row: Row, field: tuple[float, float], column: float, palette: Palette) -> list[dict]:
    """The fields of a row whose numbers are still to be guessed."""
    drawn = []
    for at in range(len(row.refs)):
        box = {"kind": "bar", "x": at * column + 1, "x2": (at + 1) * column - 1, "y": field[0], "y2": field[1]}
        drawn.append(box | {"fill": palette.faint})
        drawn.append(label("?", (at + 0.5) * column, sum(field) / 2, palette, size=22.0))
    return drawn
