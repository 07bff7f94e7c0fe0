"""Rows of bars upright and side by side, their bars lying: what one query does under several settings, at a glance."""

from collections.abc import Sequence

from attention_core.drawing.bars import TITLE, WIDEST, WORD, Row, Scale, colour_of, common_scale, field_of, number_of
from attention_core.drawing.cells import table, unblocked
from attention_core.drawing.charts import PAGE, Picture, sized
from attention_core.drawing.palette import Palette
from attention_core.drawing.text_layout import Words, cut, label, text_width
from attention_core.record.expressions import Ref

BESIDE = 46.0  # pixels: room beside a bar for its number
TALLEST, LOWEST = 32.0, 22.0  # the field of a bar
TOGETHER = 290.0  # all fields, as long as they are not too low


def bar_columns(
    rows: Sequence[Row],
    names: Sequence[str],
    words: Words,
    palette: Palette,
    chosen: tuple[str, Ref] | None = None,
    outlined: int | None = None,
) -> Picture:
    """The rows side by side; names: what stands at the left of the bars. Shares fill their field at 1, all other
    numbers have one scale together.

    A title's lines stand one below the other. outlined: the number of the row that is looked at; the rest as in
    bar_rows.
    """
    left = min(WIDEST, max(text_width(name, WORD) for name in names) + 12)
    width = (PAGE - left) / len(rows)
    top = 20.0 * max(row.title.count("\n") + 1 for row in rows) + 4
    side = min(TALLEST, max(LOWEST, TOGETHER / len(names)))
    share, other = Scale(1.0), common_scale(rows)
    drawn = [
        label(cut(name, left - 8, WORD), left - 8, top + (at + 0.5) * side, palette, align="right", size=WORD)
        for at, name in enumerate(names)
    ]
    for number, row in enumerate(rows):
        field = (left + number * width + 4, left + (number + 1) * width - 4)
        for line, text in enumerate(row.title.split("\n")):
            size = TITLE - 2 * bool(line)
            drawn.append(label(cut(text, width - 8, size), field[0], 10 + 20 * line, palette, align="left", size=size))
        drawn += (
            hidden_column(row, field, top, side, palette)
            if row.hidden
            else lying_bars(row, number, field, top, side, words, palette, chosen, share if row.shares else other)
        )
        if number == outlined:
            frame = {"kind": "chosen", "x": field[0], "x2": field[1], "y": top, "y2": top + len(names) * side}
            drawn.append(frame | {"fill": palette.outline})
    return Picture(table(drawn), sized(PAGE, top + len(names) * side + 4))


def lying_bars(
    row: Row,
    number: int,
    field: tuple[float, float],
    top: float,
    side: float,
    words: Words,
    palette: Palette,
    chosen: tuple[str, Ref] | None,
    scale: Scale,
) -> list[dict]:
    """The fields of an upright row, each with its bar and its number."""
    left, right = field
    room = (right - left - BESIDE * (1 + scale.signed)) / (1 + scale.signed)  # of the longest bar
    zero = left + (room + BESIDE) * scale.signed
    size = min(15.0, side / 1.5)
    free, drawn = unblocked(row.trace, row.refs[0].step), []
    for at, (ref, value) in enumerate(zip(row.refs, row.values, strict=True)):
        y, y2 = top + at * side, top + (at + 1) * side
        cell = field_of(row, ref, value, bool(free[ref.index]), words, palette)
        cell |= {"x": left, "x2": right, "y": y, "y2": y2}
        drawn.append(cell | {"panel": f"row{number}", "row": at, "column": number})
        length = scale.length(value, room)
        end = zero - length if value < 0 else zero + length
        box = {"kind": "bar", "x": min(zero, end), "x2": max(zero, end), "y": y + 4, "y2": y2 - 4}
        drawn.append(box | {"fill": colour_of(row, value, palette)})
        place, align = (end - 5, "right") if value < 0 else (end + 5, "left")
        drawn.append(label(number_of(row, value, cell), place, (y + y2) / 2, palette, align=align, size=size))
        if (row.run, ref) == chosen:
            drawn.append(cell | {"kind": "chosen", "fill": palette.outline, "text": "", "what": ""})
    return drawn


def hidden_column(row: Row, field: tuple[float, float], top: float, side: float, palette: Palette) -> list[dict]:
    """The fields of an upright row whose numbers are still to be guessed."""
    drawn = []
    for at in range(len(row.refs)):
        box = {"kind": "bar", "x": field[0], "x2": field[1], "y": top + at * side + 1, "y2": top + (at + 1) * side - 1}
        drawn.append(box | {"fill": palette.faint})
        drawn.append(label("?", sum(field) / 2, top + (at + 0.5) * side, palette, size=16.0))
    return drawn
