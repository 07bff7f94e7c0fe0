"""The operands of a step around the place of its numbers, which is left free for cells to write into.

Where it is low enough it is the picture of a product: each free cell lies where its row and its column meet. Else the
operands stand in a row before the free place.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from attention_core.drawing.cells import cell_table
from attention_core.drawing.palette import Palette
from attention_core.drawing.specifications import Picture, sized_specification
from attention_core.drawing.text_layout import (
    PictureTexts,
    column_labels,
    label_margin,
    place_label,
    place_row_labels,
)
from attention_core.drawing.worked_picture import (
    MIN_SHEET_CELL_PX,
    SHEET_COLUMN_GAP_PX,
    SHEET_EDGE_PX,
    SheetPart,
    SheetView,
    place_sheet_cells,
    place_sheet_title,
    sheet_heading_height,
)
from attention_core.record.expressions import Ref

MAX_FREE_CELL_PX, MIN_FREE_CELL_PX = 52.0, 48.0  # a cell to write into; a product with smaller ones stands in a row
PRODUCT_HEIGHT_PX = 350.0  # the most that a product takes
FRAME_WIDTH_PX = 1080.0  # the most that a row takes
PRODUCT_GAP_PX = 30.0  # between the matrices of a product, with the title of the left one
SIGN_PX = 22.0  # the size of a sign between two matrices


@dataclass(frozen=True, eq=False)
class WorkedFrame:
    """The picture around a free place, and of that place its left and its upper edge and the side of its cells."""

    picture: Picture
    left: float
    top: float
    cell: float


def worked_frame(
    parts: Sequence[SheetPart],
    free: SheetPart,
    words: PictureTexts,
    palette: Palette,
    chosen: tuple[str, Ref] | None = None,
) -> WorkedFrame:
    """Draw the operands of a step, "left" and "above", and what is right, "beside", around the free place.

    free: the matrix that is written into; its cells are not drawn. chosen: the run and the cell that is opened.
    """
    placed = {part.place: part for part in parts}
    view = SheetView(words, palette, {}, chosen, ())
    if "above" in placed:
        size = product_cell_size(placed, words)
        if size >= MIN_FREE_CELL_PX:
            return frame_product(placed, free, size, view)
    return frame_row(placed, free, view)


# ---- a product -------------------------------------------------------------------------------------------------------
def product_cell_size(placed: dict[str, SheetPart], words: PictureTexts) -> float:
    """The side of the largest cells with which a product is low enough."""
    rows = len(placed["above"].panel.refs) + len(placed["left"].panel.refs)
    heading = sheet_heading_height([placed["above"]], words, MAX_FREE_CELL_PX)
    size = (PRODUCT_HEIGHT_PX - heading - PRODUCT_GAP_PX) // rows
    return min(MAX_FREE_CELL_PX, size)


def frame_product(placed: dict[str, SheetPart], free: SheetPart, size: float, view: SheetView) -> WorkedFrame:
    """The left operand beside the free place, the other one above it, and what is right at its other side."""
    left, above = placed["left"], placed["above"]
    margin = label_margin(left.panel, view.words, size)
    top = sheet_heading_height([above], view.words, size)
    x = margin + left.width(size) + PRODUCT_GAP_PX
    y = top + len(above.panel.refs) * size + PRODUCT_GAP_PX
    drawn = [
        *place_part(above, (x, top), 0.0, size, view),
        *column_labels(above.panel, view.words, size).drawn(view.palette, x, top),
        *place_row_labels(above.panel, view.words, view.palette, x, top, size),
        *place_part(left, (margin, y), y - PRODUCT_GAP_PX + 6, size, view),
        *place_row_labels(left.panel, view.words, view.palette, margin, y, size),
    ]
    right = x + above.width(size)
    if "beside" in placed:
        drawn += place_part(placed["beside"], (right + PRODUCT_GAP_PX, y), y - PRODUCT_GAP_PX + 6, size, view)
        right += PRODUCT_GAP_PX + placed["beside"].width(size)
    bottom = y + len(free.panel.refs) * size
    specification = sized_specification(right + SHEET_EDGE_PX, bottom + SHEET_EDGE_PX)
    return WorkedFrame(Picture(cell_table(drawn), specification), x, y, size)


def place_part(
    part: SheetPart, origin: tuple[float, float], title_y: float, size: float, view: SheetView
) -> list[dict]:
    """The cells of a matrix from its upper left corner on, under its title."""
    x, _ = origin
    return [place_sheet_title(part, x, title_y, view.palette), *place_sheet_cells(part, origin, size, view)]


# ---- a row -----------------------------------------------------------------------------------------------------------
def frame_row(placed: dict[str, SheetPart], free: SheetPart, view: SheetView) -> WorkedFrame:
    """The operands, the free place behind them, and then what is right."""
    operands = [placed[place] for place in ("left", "above") if place in placed]
    beside = [placed["beside"]] if "beside" in placed else []
    row = [*operands, free, *beside]
    size = row_cell_size(row, view.words)
    top = sheet_heading_height(row, view.words, size)
    x = label_margin(row[0].panel, view.words, size)
    drawn = place_row_labels(row[0].panel, view.words, view.palette, x, top, size)
    free_left = x
    for part in row:
        if part is free:
            free_left = x
            sign = "=" if len(operands) > 1 else "→"
        else:
            sign = part.sign
            drawn += place_part(part, (x, top), 0.0, size, view)
        drawn += column_labels(part.panel, view.words, size).drawn(view.palette, x, top)
        if sign:
            middle = top + len(part.panel.refs) * size / 2
            drawn.append(place_label(sign, x - SHEET_COLUMN_GAP_PX / 2, middle, view.palette, size=SIGN_PX))
        x += part.width(size) + SHEET_COLUMN_GAP_PX
    right = x - SHEET_COLUMN_GAP_PX + SHEET_EDGE_PX
    tallest = max(len(part.panel.refs) for part in row)
    specification = sized_specification(right, top + tallest * size + SHEET_EDGE_PX)
    return WorkedFrame(Picture(cell_table(drawn), specification), free_left, top, size)


def row_cell_size(row: Sequence[SheetPart], words: PictureTexts) -> float:
    """The side of the largest cells with which a row is narrow enough, or of the smallest that can be read."""
    size = MAX_FREE_CELL_PX
    while size > MIN_SHEET_CELL_PX and row_width(row, words, size) > FRAME_WIDTH_PX:
        size -= 1
    return size


def row_width(row: Sequence[SheetPart], words: PictureTexts, size: float) -> float:
    """How wide a row is with cells of this side."""
    margin = label_margin(row[0].panel, words, size)
    widths = [part.width(size) + SHEET_COLUMN_GAP_PX for part in row]
    return margin + sum(widths) + SHEET_EDGE_PX
