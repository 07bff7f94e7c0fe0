"""Columns of horizontal bars, side by side: what one query does under several settings, at a glance."""

from collections.abc import Sequence

from attention_core.drawing.bars import (
    BAR_LABEL_PX,
    BAR_TITLE_PX,
    MAX_BAR_COLUMN_PX,
    MAX_BAR_NUMBER_PX,
    Row,
    Scale,
    bar_colour,
    bar_number_text,
    common_scale,
    place_bar_field,
    place_question,
)
from attention_core.drawing.cells import box, cell_table, outline_cell, place_bar, place_outline, unblocked_cells
from attention_core.drawing.palette import Palette
from attention_core.drawing.specifications import PAGE_WIDTH_PX, Picture, sized_specification
from attention_core.drawing.text_layout import PictureTexts, place_fitted_label, place_label, text_width
from attention_core.record.expressions import Ref

LYING_NUMBER_ROOM_PX = 46.0  # pixels beside a bar for its number
MAX_FIELD_HEIGHT_PX, MIN_FIELD_HEIGHT_PX = 32.0, 22.0  # pixels: the height of a bar's field
FIELDS_HEIGHT_PX = 290.0  # pixels: the height of all fields together, unless each would be too low
TITLE_LINE_PX = 20.0  # pixels: the height of a line of a title
SMALLER_LINES_PX = 2.0  # pixels by which the letters of a title's later lines are smaller


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
