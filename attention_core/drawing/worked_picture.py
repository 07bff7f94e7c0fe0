"""A worked example as a picture: what somebody wrote beside the right numbers, each of their cells with its mark.

A mark is a sign and an outline, never a colour alone. Cells lie row by row beside what they were made of.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from torch import Tensor

from attention_core.drawing.cells import table
from attention_core.drawing.charts import PAGE, Picture, sized
from attention_core.drawing.palette import Palette, blend, hexes
from attention_core.drawing.text_layout import Words, column_labels, cut, label, label_margin, row_labels, text_width
from attention_core.exercises.marking import Mark, Marked
from attention_core.exercises.worked_example import cell_text
from attention_core.explanation.formula import family
from attention_core.explanation.layout import Panel
from attention_core.record.expressions import Ref
from attention_core.record.number_text import exact

LARGEST, LEAST = 48.0, 34.0  # pixels: a cell; what may be left out is, before cells are smaller
NUMBER = 18.0  # the largest size of a number
TITLE, LEGEND = 16.0, 15.0  # sizes of texts
GAP = 30.0  # between two matrices, with the sign that joins them
BETWEEN = 18.0  # between two rows of matrices
SIGNS = {Mark.RIGHT: "✓", Mark.FOLLOWED: "→", Mark.SLIP: "×"}
TINT = 0.13  # of a slip's colour in its cell


@dataclass(frozen=True, eq=False)
class Part:
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
    marked: Marked | None = None
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


def sheet(
    rows: Sequence[Sequence[Part]],
    words: Words,
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
    rows, sizes = zip(*(fitted(parts, words) for parts in rows), strict=True)
    size = min(sizes)
    for parts in rows:
        heads = [column_labels(part.panel, words, size) for part in parts]
        top = y + TITLE + 10 + max(each.room for each in heads)
        left = label_margin(parts[0].panel, words, size)
        drawn += row_labels(parts[0].panel, words, palette, left, top, size, left - 8)
        for part, head in zip(parts, heads, strict=True):
            if part.sign:
                middle = top + len(part.panel.refs) * size / 2
                drawn.append(label(part.sign, left - GAP / 2, middle, palette, size=22.0))
            symbol = {"ink": palette.families().get(family(part.panel.step), palette.ink)}
            title = cut(part.title, PAGE, TITLE)
            drawn.append(label(title, left, y + TITLE / 2, palette, align="left", size=TITLE) | symbol)
            drawn += head.drawn(palette, left, top)
            drawn += cells(part, (left, top), size, words, palette, called, chosen, reached)
            left += room(part, size) + GAP
        width = max(width, left - GAP + 8)
        y = top + max(part.panel.values.shape[0] for part in parts) * size + BETWEEN
    if any(part.mark(ref) in SIGNS for parts in rows for part in parts for refs in part.panel.refs for ref in refs):
        signs = legend(label_margin(rows[0][0].panel, words, LARGEST), y, palette, called)
        drawn, y = drawn + signs, y + 14
        width = max(width, *(sign["x"] + text_width(sign["text"], LEGEND) + 8 for sign in signs))
    return Picture(table(drawn), sized(width, y))


def legend(x: float, y: float, palette: Palette, called: Mapping[Mark, str]) -> list[dict]:
    """What the signs mean."""
    drawn = []
    for mark, sign in SIGNS.items():
        drawn.append(label(sign, x, y, palette, align="left", size=LEGEND) | {"ink": inks(palette)[mark]})
        drawn.append(label(called[mark], x + 20, y, palette, align="left", size=LEGEND))
        x += 20 + text_width(called[mark], LEGEND) + 16
    return drawn


def inks(palette: Palette) -> dict[Mark, str]:
    """The colours of the signs."""
    return {Mark.RIGHT: palette.x, Mark.FOLLOWED: palette.ink, Mark.SLIP: palette.minus}


def room(part: Part, size: float) -> float:
    """How wide a matrix is, or its title."""
    return max(part.panel.values.shape[1] * size, text_width(part.title, TITLE))


def fitted(parts: Sequence[Part], words: Words) -> tuple[list[Part], float]:
    """The parts that there is room for, and the side of their cells."""
    for wanted in (list(parts), [part for part in parts if not part.spare]):
        size = LARGEST
        while size > LEAST and width_of(wanted, words, size) > PAGE:
            size -= 1
        if width_of(wanted, words, size) <= PAGE:
            break
    return wanted, size


def width_of(parts: Sequence[Part], words: Words, size: float) -> float:
    """How wide a row of matrices is."""
    return label_margin(parts[0].panel, words, size) + sum(room(part, size) + GAP for part in parts) - GAP + 8


def cells(
    part: Part,
    origin: tuple[float, float],
    size: float,
    words: Words,
    palette: Palette,
    called: Mapping[Mark, str],
    chosen: tuple[str, Ref] | None,
    reached: Collection[Ref],
) -> list[dict]:
    """The cells of a matrix from its upper left corner on, each with its number and its mark."""
    texts = [[cell_text(value, part.digits) for value in row] for row in part.values.tolist()]
    longest = max((text_width(text, 1.0) for row in texts for text in row), default=1.0)
    height = min(NUMBER, (size - 6) / max(longest, 1.0))
    (tinted,) = hexes(blend(palette.ground, palette.minus, np.array([TINT])))
    drawn = []
    for r, refs in enumerate(part.panel.refs):
        for c, ref in enumerate(refs):
            x, y, value, mark = origin[0] + c * size, origin[1] + r * size, part.values[r, c], part.mark(ref)
            box = {"x": x, "x2": x + size, "y": y, "y2": y + size}
            told = "–" if value != value else exact(value)
            cell = box | {"kind": "cell", "fill": tinted if mark == Mark.SLIP else palette.ground, "ink": palette.ink}
            cell |= {"edge": palette.x, "text": texts[r][c], "size": height, "panel": part.place, "row": r, "column": c}
            cell |= {"step": f"{part.run}:{ref.step}", "index": ",".join(map(str, ref.index))}
            cell |= {"what": words.describe(ref), "value": f"{told}, {called[mark]}" if mark in SIGNS else told}
            drawn.append(cell)
            plain = cell | {"text": "", "what": "", "value": ""}
            if mark in SIGNS:
                corner = {"align": "right", "size": min(15.0, size / 3)}
                drawn.append(label(SIGNS[mark], x + size - 4, y + 9, palette, **corner) | {"ink": inks(palette)[mark]})
            if mark in (Mark.FOLLOWED, Mark.SLIP):
                inside = {"x": x + 2, "x2": x + size - 2, "y": y + 2, "y2": y + size - 2}
                drawn.append(plain | inside | {"kind": "read", "fill": inks(palette)[mark]})
            if (part.run, ref) == chosen or ref in reached:
                drawn.append(plain | {"kind": "chosen", "fill": palette.outline})
    return drawn
