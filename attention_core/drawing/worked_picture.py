"""A worked example as a picture: what somebody wrote beside the right numbers, each of their cells with its mark.

A mark is a sign and an outline, never a colour alone. Cells lie row by row beside what they were made of.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from torch import Tensor

from attention_core.drawing.cells import cell_table
from attention_core.drawing.palette import Palette, blend_colours, to_hex_colours
from attention_core.drawing.specifications import PAGE_WIDTH_PX, Picture, sized_specification
from attention_core.drawing.text_layout import (
    PictureTexts,
    column_labels,
    label_margin,
    place_label,
    place_row_labels,
    shorten_text,
    text_width,
)
from attention_core.exercises.marking import Mark, MarkedStep
from attention_core.exercises.worked_example import cell_text
from attention_core.explanation.formula import colour_family
from attention_core.explanation.layout import Panel
from attention_core.record.expressions import Ref
from attention_core.record.number_text import format_exact

MAX_SHEET_CELL_PX, MIN_SHEET_CELL_PX = 48.0, 34.0  # pixels: a cell; what may be left out is, before cells are smaller
MAX_SHEET_NUMBER_PX = 18.0  # the largest size of a number
SHEET_TITLE_PX, SHEET_LEGEND_PX = 16.0, 15.0  # sizes of texts
SHEET_COLUMN_GAP_PX = 30.0  # between two matrices, with the sign that joins them
SHEET_ROW_GAP_PX = 18.0  # between two rows of matrices
MARK_SIGNS = {Mark.RIGHT: "✓", Mark.FOLLOWED: "→", Mark.SLIP: "×"}
SLIP_TINT_SHARE = 0.13  # of a slip's colour in its cell


@dataclass(frozen=True, eq=False)
class SheetPart:
    """A matrix of the picture.

    panel: its cells. run: the name of the run in which they stand. place: "result", "left" and "above" as in a product,
    so that pointing at a result lights what it is made of. sign: what stands before it, such as "×". digits: decimals
    of its numbers, None for exact ones. marked: somebody's numbers in the place of the run's, with their marks; known:
    the cells whose marks may be seen, None for all. spare: left out where there is no room.
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
        """The numbers that stand in the cells; NaN where nothing is written."""
        if self.marked is None:
            return self.panel.values
        return np.array([[self.marked.theirs[ref.index].item() for ref in row] for row in self.panel.refs])

    def mark(self, ref: Ref) -> Mark:
        """The mark of a cell that may be seen, else UNANSWERED."""
        seen = self.marked is not None and (self.known is None or ref in self.known)
        return Mark(self.marks[ref.index].item()) if seen else Mark.UNANSWERED

    @cached_property
    def marks(self) -> Tensor:
        """All marks of the step, known or not."""
        return self.marked.marks


def worked_sheet(
    rows: Sequence[Sequence[SheetPart]],
    words: PictureTexts,
    palette: Palette,
    called: Mapping[Mark, str],
    chosen: tuple[str, Ref] | None = None,
    reached: Collection[Ref] = (),
) -> Picture:
    """Rows of matrices, one below the other; what the signs of marks mean stands below them.

    called: the words of the marks. chosen: the cell that is opened, behind the name of its run. reached: cells that are
    outlined besides.
    """
    drawn, y, width = [], 0.0, 0.0
    rows, sizes = zip(*(fit_sheet_row(parts, words) for parts in rows), strict=True)
    size = min(sizes)
    for parts in rows:
        heads = [column_labels(part.panel, words, size) for part in parts]
        top = y + SHEET_TITLE_PX + 10 + max(each.room for each in heads)
        left = label_margin(parts[0].panel, words, size)
        drawn += place_row_labels(parts[0].panel, words, palette, left, top, size, left - 8)
        for part, head in zip(parts, heads, strict=True):
            if part.sign:
                middle = top + len(part.panel.refs) * size / 2
                drawn.append(place_label(part.sign, left - SHEET_COLUMN_GAP_PX / 2, middle, palette, size=22.0))
            symbol = {"ink": palette.families().get(colour_family(part.panel.step), palette.ink)}
            title = shorten_text(part.title, PAGE_WIDTH_PX, SHEET_TITLE_PX)
            drawn.append(
                place_label(title, left, y + SHEET_TITLE_PX / 2, palette, align="left", size=SHEET_TITLE_PX) | symbol
            )
            drawn += head.drawn(palette, left, top)
            drawn += place_sheet_cells(part, (left, top), size, words, palette, called, chosen, reached)
            left += sheet_part_width(part, size) + SHEET_COLUMN_GAP_PX
        width = max(width, left - SHEET_COLUMN_GAP_PX + 8)
        y = top + max(part.panel.values.shape[0] for part in parts) * size + SHEET_ROW_GAP_PX
    if any(
        part.mark(ref) in MARK_SIGNS for parts in rows for part in parts for refs in part.panel.refs for ref in refs
    ):
        signs = place_sheet_legend(label_margin(rows[0][0].panel, words, MAX_SHEET_CELL_PX), y, palette, called)
        drawn, y = drawn + signs, y + 14
        width = max(width, *(sign["x"] + text_width(sign["text"], SHEET_LEGEND_PX) + 8 for sign in signs))
    return Picture(cell_table(drawn), sized_specification(width, y))


def place_sheet_legend(x: float, y: float, palette: Palette, called: Mapping[Mark, str]) -> list[dict]:
    """What the signs mean."""
    drawn = []
    for mark, sign in MARK_SIGNS.items():
        drawn.append(
            place_label(sign, x, y, palette, align="left", size=SHEET_LEGEND_PX) | {"ink": mark_inks(palette)[mark]}
        )
        drawn.append(place_label(called[mark], x + 20, y, palette, align="left", size=SHEET_LEGEND_PX))
        x += 20 + text_width(called[mark], SHEET_LEGEND_PX) + 16
    return drawn


def mark_inks(palette: Palette) -> dict[Mark, str]:
    """The colours of the signs."""
    return {Mark.RIGHT: palette.x, Mark.FOLLOWED: palette.ink, Mark.SLIP: palette.minus}


def sheet_part_width(part: SheetPart, size: float) -> float:
    """How wide a matrix is, or its title."""
    return max(part.panel.values.shape[1] * size, text_width(part.title, SHEET_TITLE_PX))


def fit_sheet_row(parts: Sequence[SheetPart], words: PictureTexts) -> tuple[list[SheetPart], float]:
    """The parts that there is room for, and the side of their cells."""
    for wanted in (list(parts), [part for part in parts if not part.spare]):
        size = MAX_SHEET_CELL_PX
        while size > MIN_SHEET_CELL_PX and sheet_row_width(wanted, words, size) > PAGE_WIDTH_PX:
            size -= 1
        if sheet_row_width(wanted, words, size) <= PAGE_WIDTH_PX:
            break
    return wanted, size


def sheet_row_width(parts: Sequence[SheetPart], words: PictureTexts, size: float) -> float:
    """How wide a row of matrices is."""
    return (
        label_margin(parts[0].panel, words, size)
        + sum(sheet_part_width(part, size) + SHEET_COLUMN_GAP_PX for part in parts)
        - SHEET_COLUMN_GAP_PX
        + 8
    )


def place_sheet_cells(
    part: SheetPart,
    origin: tuple[float, float],
    size: float,
    words: PictureTexts,
    palette: Palette,
    called: Mapping[Mark, str],
    chosen: tuple[str, Ref] | None,
    reached: Collection[Ref],
) -> list[dict]:
    """The cells of a matrix from its upper left corner on, each with its number and its mark."""
    texts = [[cell_text(value, part.digits) for value in row] for row in part.values.tolist()]
    longest = max((text_width(text, 1.0) for row in texts for text in row), default=1.0)
    height = min(MAX_SHEET_NUMBER_PX, (size - 6) / max(longest, 1.0))
    (tinted,) = to_hex_colours(blend_colours(palette.ground, palette.minus, np.array([SLIP_TINT_SHARE])))
    drawn = []
    for r, refs in enumerate(part.panel.refs):
        for c, ref in enumerate(refs):
            x, y, value, mark = origin[0] + c * size, origin[1] + r * size, part.values[r, c], part.mark(ref)
            box = {"x": x, "x2": x + size, "y": y, "y2": y + size}
            told = "–" if value != value else format_exact(value)
            cell = box | {"kind": "cell", "fill": tinted if mark == Mark.SLIP else palette.ground, "ink": palette.ink}
            cell |= {"edge": palette.x, "text": texts[r][c], "size": height, "panel": part.place, "row": r, "column": c}
            cell |= {"step": f"{part.run}:{ref.step}", "index": ",".join(map(str, ref.index))}
            cell |= {"what": words.describe(ref), "value": f"{told}, {called[mark]}" if mark in MARK_SIGNS else told}
            drawn.append(cell)
            plain = cell | {"text": "", "what": "", "value": ""}
            if mark in MARK_SIGNS:
                corner = {"align": "right", "size": min(15.0, size / 3)}
                drawn.append(
                    place_label(MARK_SIGNS[mark], x + size - 4, y + 9, palette, **corner)
                    | {"ink": mark_inks(palette)[mark]}
                )
            if mark in (Mark.FOLLOWED, Mark.SLIP):
                inside = {"x": x + 2, "x2": x + size - 2, "y": y + 2, "y2": y + size - 2}
                drawn.append(plain | inside | {"kind": "read", "fill": mark_inks(palette)[mark]})
            if (part.run, ref) == chosen or ref in reached:
                drawn.append(plain | {"kind": "chosen", "fill": palette.outline})
    return drawn
