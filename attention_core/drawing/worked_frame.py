"""The operands of a step in a row, followed by an empty place, over which a page puts cells to type numbers into."""

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

MAX_FREE_CELL_PX, MIN_FREE_CELL_PX = 84.0, 48.0  # pixels: the side of a cell; smaller ones use the width of the page
FRAME_HEIGHT_PX = 340.0  # pixels: the largest height of the picture
BESIDE_WIDTH_PX, FRAME_WIDTH_PX = 740.0, 1080.0  # pixels: the width of a picture with room beside it, and of the page
SIGN_PX = 30.0  # pixels: the size of a sign between two matrices


@dataclass(frozen=True, eq=False)
class WorkedFrame:
    """The picture around an empty place; left, top, cell: the edges of that place, and the side of its cells.

    row: the left edge and the width of the matrix whose rows its numbers are computed from. column: the left edge and
    the height of the matrix whose columns they are computed from, or None.
    """

    picture: Picture
    left: float
    top: float
    cell: float
    row: tuple[float, float]
    column: tuple[float, float] | None


def worked_frame(
    parts: Sequence[SheetPart],
    free: SheetPart,
    words: PictureTexts,
    palette: Palette,
    chosen: tuple[str, Ref] | None = None,
) -> WorkedFrame:
    """Draws the operands of a step, "left" and "above", then the empty place, then the matrix "beside" it.

    free: the matrix of the empty place; its cells are not drawn. chosen: the run and the cell that is open.
    """
    placed = {part.place: part for part in (*parts, free)}
    row = [placed[place] for place in ("left", "above", "result", "beside") if place in placed]
    size = row_cell_size(row, words)
    top = sheet_heading_height(row, words, size)
    lefts = place_in_row(row, words, size)
    view = SheetView(words, palette, {}, chosen, ())
    drawn = place_row_labels(row[0].panel, words, palette, lefts["left"], top, size)
    for part in row:
        x = lefts[part.place]
        drawn += column_labels(part.panel, words, size).drawn(palette, x, top)
        drawn += place_sign(row_sign(part, placed), x, top + len(part.panel.refs) * size / 2, palette)
        if part is not free:
            drawn += [place_sheet_title(part, x, 0.0, size, palette), *place_sheet_cells(part, (x, top), size, view)]
    tallest = max(len(part.panel.refs) for part in row)
    specification = sized_specification(row_width(row, words, size), top + tallest * size + SHEET_EDGE_PX)
    return WorkedFrame(
        Picture(cell_table(drawn), specification),
        lefts["result"],
        top,
        size,
        row=(lefts["left"], placed["left"].columns * size),
        column=(lefts["above"], len(placed["above"].panel.refs) * size) if "above" in placed else None,
    )


def place_in_row(row: Sequence[SheetPart], words: PictureTexts, size: float) -> dict[str, float]:
    """The left edge of each matrix, by its place."""
    lefts = {}
    x = label_margin(row[0].panel, words, size)
    for part in row:
        lefts[part.place] = x
        x += part.width(size) + SHEET_COLUMN_GAP_PX
    return lefts


def row_sign(part: SheetPart, placed: dict[str, SheetPart]) -> str:
    """The sign before a matrix."""
    if part.place != "result":
        return part.sign
    return "=" if "above" in placed else "→"


def place_sign(sign: str, x: float, y: float, palette: Palette) -> list[dict]:
    """A sign before the matrix whose left edge is at x."""
    return [place_label(sign, x - SHEET_COLUMN_GAP_PX / 2, y, palette, size=SIGN_PX)] if sign else []


# ---- the size of cells -----------------------------------------------------------------------------------------------
def row_cell_size(row: Sequence[SheetPart], words: PictureTexts) -> float:
    """The side of the largest cells that leave room beside the picture; if these would be too small, of those that fit
    the page; at least the smallest legible ones.
    """
    beside = fitting_cell_size(row, words, BESIDE_WIDTH_PX)
    return beside if beside >= MIN_FREE_CELL_PX else fitting_cell_size(row, words, FRAME_WIDTH_PX)


def fitting_cell_size(row: Sequence[SheetPart], words: PictureTexts, room: float) -> float:
    """The side of the largest cells with which a row is low and narrow enough, or of the smallest."""
    size = MAX_FREE_CELL_PX
    while size > MIN_SHEET_CELL_PX and not fits(row, words, size, room):
        size -= 1
    return size


def fits(row: Sequence[SheetPart], words: PictureTexts, size: float, room: float) -> bool:
    """Whether a row with cells of this side is low and narrow enough."""
    tallest = max(len(part.panel.refs) for part in row)
    height = sheet_heading_height(row, words, size) + tallest * size
    return height <= FRAME_HEIGHT_PX and row_width(row, words, size) <= room


def row_width(row: Sequence[SheetPart], words: PictureTexts, size: float) -> float:
    """The width of a row with cells of this side."""
    last = row[-1]
    return place_in_row(row, words, size)[last.place] + last.width(size) + SHEET_EDGE_PX
