"""Draws an exercise: the visitor's numbers beside the right ones, or operands beside an empty space for input cells.

Right and wrong are marked by a symbol and an outline, not by colour alone. Each cell is in one row with its operands.
On the empty space, a page places cells for typing numbers.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from math import isnan

import numpy as np
from torch import Tensor

from attention_core.drawing.cells import box, cell_table, grid_box, name_cell, symbol_colour
from attention_core.drawing.palette import Palette, blend_colours, to_hex_colours
from attention_core.drawing.specifications import PAGE_WIDTH_PX, Picture, sized_specification
from attention_core.drawing.text_layout import (
    PictureTexts,
    column_labels,
    label_margin,
    place_fitted_label,
    place_label,
    place_row_labels,
    text_width,
)
from attention_core.exercises.answer_text import cell_text
from attention_core.exercises.marking import Mark, MarkedStep
from attention_core.explanation.layout import Panel
from attention_core.record.expressions import Ref
from attention_core.record.number_text import format_exact

MAX_SHEET_CELL_PX, MIN_SHEET_CELL_PX = 48.0, 34.0  # largest and smallest side of a cell in pixels
SHEET_NUMBER_PX, SHEET_NUMBER_SHARE = 18.0, 0.36  # letter size of a number: pixels, or a share of a large cell's side
MAX_MARK_PX = 15.0  # pixels: the largest text size of a mark's symbol
SHEET_TITLE_PX, SHEET_LEGEND_PX = 16.0, 15.0  # pixels: text sizes of titles and of the legend
SHEET_TITLE_SHARE = 0.28  # letter size of a title above large cells, as a share of a cell's side
LEGEND_SIGN_PX, LEGEND_GAP_PX = 20, 16  # pixels: width of a legend's symbol, gap after its text
SHEET_COLUMN_GAP_PX = 30.0  # pixels between two matrices, for the sign between them
SHEET_ROW_GAP_PX = 18.0  # pixels between two rows of matrices, one below the other
SHEET_EDGE_PX = 8  # free pixels at the right edge of the picture
MARK_SIGNS = {Mark.RIGHT: "✓", Mark.FOLLOWED: "→", Mark.SLIP: "×"}
SLIP_TINT_SHARE = 0.13  # share of the colour for "wrong" in a wrong cell's background
WORDLESS = {"text": "", "what": "", "value": ""}  # table columns of an outline, which has neither text nor tooltip
MAX_FREE_CELL_PX, MIN_FREE_CELL_PX = 84.0, 48.0  # largest and smallest side of an input cell in pixels
FRAME_HEIGHT_PX = 340.0  # pixels: the largest height of the picture
BESIDE_WIDTH_PX, FRAME_WIDTH_PX = 740.0, 1080.0  # pixels: width with content beside it, full width
SIGN_PX = 30.0  # pixels: size of a symbol such as × between two matrices


@dataclass(frozen=True, eq=False)
class SheetPart:
    """A matrix of an exercise's picture: a step of the run, or the visitor's numbers for it.

    panel: its cells. run: the name of the cells' run. place: its place in a product, "result", "left" or "above";
    hovering over a result highlights its operands. sign: the text before the matrix, such as "×". digits: decimals of
    its numbers, None for exact ones. marked: the visitor's numbers with their marks, shown instead of the run's. known:
    the cells whose marks may be shown, None for all. spare: whether the matrix is left out if there is no room.
    """

    title: str
    panel: Panel
    run: str
    place: str
    digits: int | None
    sign: str = ""
    marked: MarkedStep | None = None
    known: Collection[Ref] | None = None
    spare: bool = False

    @property
    def values(self) -> np.ndarray:
        """Return the numbers in the cells; NaN for an empty cell."""
        if self.marked is None:
            return self.panel.values
        answers = self.marked.theirs
        numbers = np.empty(self.panel.values.shape)
        for place in np.ndindex(numbers.shape):
            row, column = place
            ref = self.panel.refs[row][column]
            numbers[place] = answers[ref.index].item()
        return numbers

    def mark(self, ref: Ref) -> Mark:
        """Return whether the visitor's number in a cell is right, as a Mark; UNANSWERED if this may not be shown."""
        if self.marked is None:
            return Mark.UNANSWERED
        if self.known is not None and ref not in self.known:
            return Mark.UNANSWERED
        mark = self.marks[ref.index].item()
        return Mark(mark)

    @cached_property
    def marks(self) -> Tensor:
        """The marks of all cells: right, wrong, right given an earlier error, or unanswered; also those that may not be
        shown yet.
        """
        return self.marked.marks

    @property
    def shown_marks(self) -> set[Mark]:
        """The marks that the cells of the matrix show; UNANSWERED if at least one shows none."""
        return {self.mark(ref) for ref in chain.from_iterable(self.panel.refs)}

    @property
    def columns(self) -> int:
        """The number of columns of the matrix."""
        return self.panel.values.shape[1]

    def width(self, size: float) -> float:
        """Return the width of the matrix or its title, whichever is wider. size: the side of its cells."""
        return max(self.columns * size, text_width(self.title, sheet_title_size(size)))


@dataclass(frozen=True, eq=False)
class SheetView:
    """What all matrices of a picture share: functions for texts, colours, names of marks, the chosen cell and the
    outlined cells."""

    words: PictureTexts
    palette: Palette
    called: Mapping[Mark, str]
    chosen: tuple[str, Ref] | None
    reached: Collection[Ref]


def worked_sheet(
    rows: Sequence[Sequence[SheetPart]],
    words: PictureTexts,
    palette: Palette,
    called: Mapping[Mark, str],
    chosen: tuple[str, Ref] | None = None,
    reached: Collection[Ref] = (),
) -> Picture:
    """Draw an exercise's matrices in rows, one below the other, and below them a legend of the symbols that are drawn
    for right and wrong.

    called: {mark for right or wrong: its text in the legend}. chosen: the name of a run and the Ref of its open cell,
    which is outlined. reached: the Refs of further cells to outline.
    """
    view = SheetView(words, palette, called, chosen, reached)
    fitted = [fit_sheet_row(parts, words) for parts in rows]
    size = min(side for _, side in fitted)
    drawn = []
    y = 0.0
    width = 0.0
    for parts, _ in fitted:
        drawn += place_sheet_row(parts, y, size, view)
        width = max(width, sheet_row_width(parts, words, size))
        tallest = max(part.panel.values.shape[0] for part in parts)
        y += sheet_heading_height(parts, words, size) + tallest * size + SHEET_ROW_GAP_PX
    shown = set().union(*(part.shown_marks for parts, _ in fitted for part in parts))
    explained = {mark: called[mark] for mark in MARK_SIGNS if mark in shown}
    if explained:
        first_parts, _ = fitted[0]
        left = label_margin(first_parts[0].panel, words, MAX_SHEET_CELL_PX)
        signs = place_sheet_legend(left, y, palette, explained)
        right = max(sign["x"] + text_width(sign["text"], SHEET_LEGEND_PX) for sign in signs)
        width = max(width, right + SHEET_EDGE_PX)
        drawn += signs
        y += 14
    return Picture(cell_table(drawn), sized_specification(width, y))


# ---- a row of matrices -----------------------------------------------------------------------------------------------
def fit_sheet_row(parts: Sequence[SheetPart], words: PictureTexts) -> tuple[list[SheetPart], float]:
    """Return the matrices of a row that fit the picture's width, and the side of their cells.

    Matrices that may be left out are dropped if the row would be too wide even with the smallest cells.
    """
    needed = [part for part in parts if not part.spare]
    for wanted in (list(parts), needed):
        size = MAX_SHEET_CELL_PX
        width = sheet_row_width(wanted, words, size)
        while size > MIN_SHEET_CELL_PX and width > PAGE_WIDTH_PX:
            size -= 1
            width = sheet_row_width(wanted, words, size)
        if width <= PAGE_WIDTH_PX:
            break
    return wanted, size


def sheet_row_width(parts: Sequence[SheetPart], words: PictureTexts, size: float) -> float:
    """Return the width of a row of matrices with cells of this side."""
    margin = label_margin(parts[0].panel, words, size)
    widths = [part.width(size) for part in parts]
    gaps = len(parts) - 1
    return margin + sum(widths) + SHEET_COLUMN_GAP_PX * gaps + SHEET_EDGE_PX


def sheet_heading_height(parts: Sequence[SheetPart], words: PictureTexts, size: float) -> float:
    """Return the height of a row's titles and column labels together."""
    labels = [column_labels(part.panel, words, size) for part in parts]
    return sheet_title_size(size) + 10 + max(above.room for above in labels)


def place_sheet_row(parts: Sequence[SheetPart], y: float, size: float, view: SheetView) -> list[dict]:
    """Return the marks of a row of matrices below y, with titles, labels and the symbols between matrices."""
    palette = view.palette
    first = parts[0].panel
    top = y + sheet_heading_height(parts, view.words, size)
    left = label_margin(first, view.words, size)
    drawn = place_row_labels(first, view.words, palette, left, top, size)
    for part in parts:
        if part.sign:
            gap_middle = left - SHEET_COLUMN_GAP_PX / 2
            middle = top + len(part.panel.refs) * size / 2
            drawn.append(place_label(part.sign, gap_middle, middle, palette, size=22.0))
        drawn.append(place_sheet_title(part, left, y, size, palette))
        labels = column_labels(part.panel, view.words, size)
        drawn += labels.drawn(palette, left, top)
        drawn += place_sheet_cells(part, (left, top), size, view)
        left += part.width(size) + SHEET_COLUMN_GAP_PX
    return drawn


def sheet_title_size(cell: float) -> float:
    """Return the text size of titles above matrices with cells of this side."""
    return max(SHEET_TITLE_PX, SHEET_TITLE_SHARE * cell)


def place_sheet_title(part: SheetPart, x: float, y: float, cell: float, palette: Palette) -> dict:
    """Return the title of a matrix as a mark, in the colour of its symbol.

    y: the upper edge of the row. cell: the side of a cell.
    """
    size = sheet_title_size(cell)
    title = place_fitted_label(
        part.title,
        x,
        y + size / 2,
        room=PAGE_WIDTH_PX,
        size=size,
        palette=palette,
    )
    title["ink"] = symbol_colour(part.panel.step, palette)
    return title


# ---- cells and their marks -------------------------------------------------------------------------------------------
def place_sheet_cells(part: SheetPart, origin: tuple[float, float], size: float, view: SheetView) -> list[dict]:
    """Return the marks that draw a matrix's cells: each cell's number, and the symbol for right or wrong if it may be
    shown.

    origin: the upper left corner.
    """
    palette = view.palette
    values = part.values
    number_px = sheet_number_size(part, size)
    drawn = []
    for row, refs in enumerate(part.panel.refs):
        for column, ref in enumerate(refs):
            value = values[row, column].item()
            mark = part.mark(ref)
            told = "–" if isnan(value) else format_exact(value)
            cell = {
                "kind": "cell",
                **grid_box(origin, row, column, size),
                "fill": slip_tint(palette) if mark == Mark.SLIP else palette.ground,
                "ink": palette.ink,
                "edge": palette.x,
                "text": cell_text(value, part.digits),
                "size": number_px,
                "what": view.words.describe(ref),
                "value": f"{told}, {view.called[mark]}" if mark in MARK_SIGNS else told,
                **name_cell(ref, part.run),
                "panel": part.place,
                "row": row,
                "column": column,
            }
            drawn.append(cell)
            drawn += place_mark(cell, mark, size, palette)
            if (part.run, ref) == view.chosen or ref in view.reached:
                outline = {"kind": "chosen", "fill": palette.outline}
                drawn.append(cell | WORDLESS | outline)
    return drawn


def sheet_number_size(part: SheetPart, size: float) -> float:
    """Return the text size that fits all numbers of a matrix. size: the side of its cells."""
    widest = 1.0  # width of the widest number, as a multiple of the letter size
    for value in part.values.flat:
        text = cell_text(value, part.digits)
        widest = max(widest, text_width(text, 1.0))
    largest = max(SHEET_NUMBER_PX, SHEET_NUMBER_SHARE * size)
    return min(largest, (size - 6) / widest)


def place_mark(cell: dict, mark: Mark, size: float, palette: Palette) -> list[dict]:
    """Return the symbol for right or wrong in a cell's corner, and an inner outline unless the number is right."""
    if mark not in MARK_SIGNS:
        return []
    ink = mark_inks(palette)[mark]
    x = cell["x"]
    y = cell["y"]
    sign = place_label(
        MARK_SIGNS[mark],
        x + size - 4,
        y + 9,
        palette,
        align="right",
        size=min(MAX_MARK_PX, size / 3),
    )
    sign["ink"] = ink
    if mark == Mark.RIGHT:
        return [sign]
    inside = box(x + 2, x + size - 2, y + 2, y + size - 2)
    frame = cell | WORDLESS | inside | {"kind": "read", "fill": ink}
    return [sign, frame]


def mark_inks(palette: Palette) -> dict[Mark, str]:
    """Return the colour of the symbol for each mark (right or wrong)."""
    return {Mark.RIGHT: palette.x, Mark.FOLLOWED: palette.ink, Mark.SLIP: palette.minus}


def slip_tint(palette: Palette) -> str:
    """Return the background of a cell with a wrong number: the mark's colour mixed into the page's background."""
    share = np.array([SLIP_TINT_SHARE])
    (colour,) = to_hex_colours(blend_colours(palette.ground, palette.minus, share))
    return colour


def place_sheet_legend(x: float, y: float, palette: Palette, explained: Mapping[Mark, str]) -> list[dict]:
    """Return the legend: the symbol and the name of each explained mark, in one line."""
    inks = mark_inks(palette)
    drawn = []
    for mark, word in explained.items():
        sign = place_label(MARK_SIGNS[mark], x, y, palette, align="left", size=SHEET_LEGEND_PX)
        sign["ink"] = inks[mark]
        drawn.append(sign)
        x += LEGEND_SIGN_PX
        drawn.append(place_label(word, x, y, palette, align="left", size=SHEET_LEGEND_PX))
        x += text_width(word, SHEET_LEGEND_PX) + LEGEND_GAP_PX
    return drawn


# ---- operands beside an empty place ----------------------------------------------------------------------------------
@dataclass(frozen=True, eq=False)
class WorkedFrame:
    """The picture of a step's operands around an empty space, over which a page puts input cells.

    left, top: the upper left corner of that space. cell: the side of its cells. row: the left edge and the width of the
    matrix whose rows are operands of these cells. column: the left edge and the height of the matrix whose columns are
    operands of these cells, or None. seen: the share of the picture's width before the sign of the empty space, for a
    page that has its cells elsewhere; 1 if a matrix is beside that space.
    """

    picture: Picture
    left: float
    top: float
    cell: float
    row: tuple[float, float]
    column: tuple[float, float] | None
    seen: float


def worked_frame(
    parts: Sequence[SheetPart],
    free: SheetPart,
    words: PictureTexts,
    palette: Palette,
    chosen: tuple[str, Ref] | None = None,
) -> WorkedFrame:
    """Draw the operands of a step, "left" and "above", then the empty space, then the matrix "beside" it.

    free: the matrix of the empty space; its cells are not drawn. chosen: the name of a run and the Ref of its open
    cell.
    """
    placed = {part.place: part for part in (*parts, free)}
    row = [placed[place] for place in ("left", "above", "result", "beside") if place in placed]
    size = fitting_cell_size(row, words, BESIDE_WIDTH_PX)
    if size < MIN_FREE_CELL_PX:  # full width, if the cells would be too small beside other content
        size = fitting_cell_size(row, words, FRAME_WIDTH_PX)
    top = sheet_heading_height(row, words, size)
    lefts = place_in_row(row, words, size)
    view = SheetView(words, palette, {}, chosen, ())
    drawn = place_row_labels(row[0].panel, words, palette, lefts["left"], top, size)
    for part in row:
        x = lefts[part.place]
        drawn += column_labels(part.panel, words, size).drawn(palette, x, top)
        if sign := row_sign(part, placed):
            sign_y = top + len(part.panel.refs) * size / 2
            drawn.append(place_label(sign, x - SHEET_COLUMN_GAP_PX / 2, sign_y, palette, size=SIGN_PX))
        if part is not free:
            drawn += [place_sheet_title(part, x, 0.0, size, palette), *place_sheet_cells(part, (x, top), size, view)]
    tallest = max(len(part.panel.refs) for part in row)
    width = row_width(row, words, size)
    specification = sized_specification(width, top + tallest * size + SHEET_EDGE_PX)
    return WorkedFrame(
        Picture(cell_table(drawn), specification),
        lefts["result"],
        top,
        size,
        row=(lefts["left"], placed["left"].columns * size),
        column=(lefts["above"], len(placed["above"].panel.refs) * size) if "above" in placed else None,
        seen=1.0 if "beside" in placed else (lefts["result"] - SHEET_COLUMN_GAP_PX / 2 - SIGN_PX / 4) / width,
    )


def place_in_row(row: Sequence[SheetPart], words: PictureTexts, size: float) -> dict[str, float]:
    """Return {place of a matrix in the picture, such as "left": x coordinate of its left edge}."""
    lefts = {}
    x = label_margin(row[0].panel, words, size)
    for part in row:
        lefts[part.place] = x
        x += part.width(size) + SHEET_COLUMN_GAP_PX
    return lefts


def row_sign(part: SheetPart, placed: dict[str, SheetPart]) -> str:
    """Return the sign before a matrix: its `sign`, such as "×", or "=" or "→" before the result."""
    if part.place != "result":
        return part.sign
    return "=" if "above" in placed else "→"


# ---- the size of cells -----------------------------------------------------------------------------------------------
def fitting_cell_size(row: Sequence[SheetPart], words: PictureTexts, room: float) -> float:
    """Return the largest cell side with which a row of matrices fits the width `room` and the largest height of the
    picture.

    If none fits, the smallest allowed side is returned.
    """
    size = MAX_FREE_CELL_PX
    while size > MIN_SHEET_CELL_PX and not fits(row, words, size, room):
        size -= 1
    return size


def fits(row: Sequence[SheetPart], words: PictureTexts, size: float, room: float) -> bool:
    """Return whether a row of matrices with cells of this side fits the width `room` and the largest height of the
    picture.
    """
    tallest = max(len(part.panel.refs) for part in row)
    height = sheet_heading_height(row, words, size) + tallest * size
    return height <= FRAME_HEIGHT_PX and row_width(row, words, size) <= room


def row_width(row: Sequence[SheetPart], words: PictureTexts, size: float) -> float:
    """Return the width of a row of matrices with cells of this side."""
    last = row[-1]
    return place_in_row(row, words, size)[last.place] + last.width(size) + SHEET_EDGE_PX
