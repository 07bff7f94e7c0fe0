"""Rows of bars upright and side by side, their bars lying: what one query does under several settings, at a glance."""

from collections.abc import Sequence

from attention_core.drawing.bars import (
    BAR_LABEL_PX,
    BAR_TITLE_PX,
    MAX_BAR_COLUMN_PX,
    Row,
    Scale,
    bar_colour,
    bar_number_text,
    common_scale,
    place_bar_field,
)
from attention_core.drawing.cells import cell_table, unblocked_cells
from attention_core.drawing.charts import PAGE_WIDTH_PX, Picture, sized_specification
from attention_core.drawing.palette import Palette
from attention_core.drawing.text_layout import PictureTexts, place_label, shorten_text, text_width
from attention_core.record.expressions import Ref

LYING_NUMBER_ROOM_PX = 46.0  # pixels: room beside a bar for its number
MAX_FIELD_HEIGHT_PX, MIN_FIELD_HEIGHT_PX = 32.0, 22.0  # the field of a bar
FIELDS_HEIGHT_PX = 290.0  # all fields, as long as they are not too low


def bar_columns(
    rows: Sequence[Row],
    names: Sequence[str],
    words: PictureTexts,
    palette: Palette,
    chosen: tuple[str, Ref] | None = None,
    outlined: int | None = None,
) -> Picture:
    """The rows side by side; names: what stands at the left of the bars. Shares fill their field at 1, all other
    numbers have one scale together.

    A title's lines stand one below the other. outlined: the number of the row that is looked at; the rest as in
    bar_rows.
    """
    left = min(MAX_BAR_COLUMN_PX, max(text_width(name, BAR_LABEL_PX) for name in names) + 12)
    width = (PAGE_WIDTH_PX - left) / len(rows)
    top = 20.0 * max(row.title.count("\n") + 1 for row in rows) + 4
    side = min(MAX_FIELD_HEIGHT_PX, max(MIN_FIELD_HEIGHT_PX, FIELDS_HEIGHT_PX / len(names)))
    share, other = Scale(1.0), common_scale(rows)
    drawn = [
        place_label(
            shorten_text(name, left - 8, BAR_LABEL_PX),
            left - 8,
            top + (at + 0.5) * side,
            palette,
            align="right",
            size=BAR_LABEL_PX,
        )
        for at, name in enumerate(names)
    ]
    for number, row in enumerate(rows):
        field = (left + number * width + 4, left + (number + 1) * width - 4)
        for line, text in enumerate(row.title.split("\n")):
            size = BAR_TITLE_PX - 2 * bool(line)
            drawn.append(
                place_label(
                    shorten_text(text, width - 8, size), field[0], 10 + 20 * line, palette, align="left", size=size
                )
            )
        drawn += (
            place_hidden_column(row, field, top, side, palette)
            if row.hidden
            else place_lying_bars(row, number, field, top, side, words, palette, chosen, share if row.shares else other)
        )
        if number == outlined:
            frame = {"kind": "chosen", "x": field[0], "x2": field[1], "y": top, "y2": top + len(names) * side}
            drawn.append(frame | {"fill": palette.outline})
    return Picture(cell_table(drawn), sized_specification(PAGE_WIDTH_PX, top + len(names) * side + 4))


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
    """The fields of an upright row, each with its bar and its number."""
    left, right = field
    room = (right - left - LYING_NUMBER_ROOM_PX * (1 + scale.signed)) / (1 + scale.signed)  # of the longest bar
    zero = left + (room + LYING_NUMBER_ROOM_PX) * scale.signed
    size = min(15.0, side / 1.5)
    free, drawn = unblocked_cells(row.trace, row.refs[0].step), []
    for at, (ref, value) in enumerate(zip(row.refs, row.values, strict=True)):
        y, y2 = top + at * side, top + (at + 1) * side
        cell = place_bar_field(row, ref, value, bool(free[ref.index]), words, palette)
        cell |= {"x": left, "x2": right, "y": y, "y2": y2}
        drawn.append(cell | {"panel": f"row{number}", "row": at, "column": number})
        length = scale.length(value, room)
        end = zero - length if value < 0 else zero + length
        box = {"kind": "bar", "x": min(zero, end), "x2": max(zero, end), "y": y + 4, "y2": y2 - 4}
        drawn.append(box | {"fill": bar_colour(row, value, palette)})
        place, align = (end - 5, "right") if value < 0 else (end + 5, "left")
        drawn.append(
            place_label(bar_number_text(row, value, cell), place, (y + y2) / 2, palette, align=align, size=size)
        )
        if (row.run, ref) == chosen:
            drawn.append(cell | {"kind": "chosen", "fill": palette.outline, "text": "", "what": ""})
    return drawn


def place_hidden_column(row: Row, field: tuple[float, float], top: float, side: float, palette: Palette) -> list[dict]:
    """The fields of an upright row whose numbers are still to be guessed."""
    drawn = []
    for at in range(len(row.refs)):
        box = {"kind": "bar", "x": field[0], "x2": field[1], "y": top + at * side + 1, "y2": top + (at + 1) * side - 1}
        drawn.append(box | {"fill": palette.faint})
        drawn.append(place_label("?", sum(field) / 2, top + (at + 0.5) * side, palette, size=16.0))
    return drawn
