"""Draws direct logit attribution: what each part of a model (embedding, head, MLP) adds to a word's vector and to a
logit.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from attention_core.drawing.cells import box, place_bar
from attention_core.drawing.palette import Palette
from attention_core.drawing.specifications import Picture
from attention_core.drawing.stills import WORD_LINE_PX, place_stripes, place_word_bars, still_picture
from attention_core.drawing.text_layout import place_fitted_label, place_label
from attention_core.drawing.tiles import Tile, place_tiles
from attention_core.record.number_text import format_fixed

PART_TEXT_PX, HEADING_PX = 15.0, 13.0  # letter sizes in pixels: of the rows, of the column titles
PART_LINE_PX = 32.0  # pixels per row, so few that a short sentence's picture fits a slide
COLUMNS_PX = {"name": 168.0, "vector": 186.0, "push": 166.0, "words": 236.0}
COLUMN_GAP_PX = 12.0  # pixels between two columns
PART_SUM_WIDTH_PX = sum(COLUMNS_PX.values())
PUSH_NUMBER_PX = 48.0  # pixels reserved for the number after the longest bar
PART_GAP_PX = 8.0  # pixels below the sentence, and at the bottom of the picture


@dataclass(frozen=True, eq=False)
class PartRow:
    """A row of the picture: what one part of the model adds, the sum of all parts, or the sum after the final norm.

    kind: "part", "sum" or "norm". push: what the part adds to the logit ("push"); None if the row has no bar.
    """

    kind: str
    name: str
    vector: Float[np.ndarray, " D"]
    push: float | None


@dataclass(frozen=True)
class WordSum:
    """A word of a sentence whose vector the picture splits into parts.

    at: the word's index. titles: those of the three columns, for vectors, logit changes and candidates. shares: the
    candidates for the next word with their probabilities, the likeliest first. write: a function that formats a
    probability.
    """

    words: Sequence[str]
    at: int
    titles: tuple[str, str, str]
    shares: Sequence[tuple[str, float]]
    write: Callable[[float], str]


def part_sum(word: WordSum, parts: Sequence[PartRow], palette: Palette) -> Picture:
    """Draw a sentence with one word framed, and below it what each part of the model adds to that word's vector, row by
    row.

    Beside the rows are the likeliest next words.
    """
    tiles = [Tile(text, palette.x) for text in word.words]
    tiles[word.at] = Tile(word.words[word.at], edge=palette.outline)
    drawn, y = place_tiles(tiles, 2.0, PART_SUM_WIDTH_PX, palette)
    y += PART_GAP_PX
    columns = [title for title in COLUMNS_PX if title != "name"]
    for column, title in zip(columns, word.titles, strict=True):
        left, right = column_edges(column)
        drawn.append(place_fitted_label(title, left, y + PART_LINE_PX / 2, right - left, HEADING_PX, palette))
    y += PART_LINE_PX
    left, right = column_edges("words")
    drawn += place_word_bars(word.shares, (left, y), right - left, word.write, palette)
    foot = y + len(word.shares) * WORD_LINE_PX
    pushes = PushScale.of(parts)
    for row in parts:
        drawn += place_part(row, parts, pushes, y, palette)
        y += PART_LINE_PX
    return still_picture(drawn, PART_SUM_WIDTH_PX, max(y, foot) + PART_GAP_PX)


def column_edges(column: str) -> tuple[float, float]:
    """Return the left and the right edge of a column.

    >>> column_edges("vector")
    (168.0, 342.0)
    """
    names = list(COLUMNS_PX)
    left = sum(COLUMNS_PX[name] for name in names[: names.index(column)])
    return left, left + COLUMNS_PX[column] - COLUMN_GAP_PX


def place_part(
    row: PartRow, parts: Sequence[PartRow], pushes: "PushScale", top: float, palette: Palette
) -> Iterator[dict]:
    """Yield the marks of a table row: the name of a part of the model, its vector as stripes, and a bar of what it adds
    to the logit.

    The row of the sum has a line above it.
    """
    middle = top + PART_LINE_PX / 2
    left, right = column_edges("name")
    if row.kind == "sum":
        yield place_bar(box(left, column_edges("push")[1], top - 0.5, top + 0.5), palette.ink)
    yield place_fitted_label(row.name, left, middle, right - left, PART_TEXT_PX, palette)
    left, right = column_edges("vector")
    place = box(left, right, top + 4, top + PART_LINE_PX - 4)
    colours = [palette.minus if number < 0 else palette.plus for number in row.vector]
    compared = [row] if row.kind == "norm" else [each for each in parts if each.kind == "part"]
    reach = max(np.abs(each.vector).max() for each in compared) or 1.0  # all parts and their sum share one scale
    yield from place_stripes(np.abs(row.vector) / reach, colours, place, palette, is_lying=True)
    if row.push is not None:
        yield from pushes.place(row.push, top, palette)


@dataclass(frozen=True)
class PushScale:
    """The horizontal scale of the changes of a logit.

    low: the least change, or 0 if none is negative. high: the largest change, or 0 if none is positive.
    """

    low: float
    high: float

    @classmethod
    def of(cls, parts: Sequence[PartRow]) -> "PushScale":
        """Return the scale that covers the logit changes of all parts."""
        pushes = [row.push for row in parts if row.push is not None]
        return cls(min(0.0, *pushes), max(0.0, *pushes))

    def locate(self, push: float) -> float:
        """Return the x coordinate at which the bar of a logit change ends."""
        left, right = column_edges("push")
        return left + (right - left - PUSH_NUMBER_PX) * (push - self.low) / ((self.high - self.low) or 1.0)

    def place(self, push: float, top: float, palette: Palette) -> Iterator[dict]:
        """Yield the bar of a logit change, from zero to `push`, and the change as a number after it."""
        start, end = sorted((self.locate(0.0), self.locate(push)))
        bar = box(start, end, top + 9, top + PART_LINE_PX - 9)
        yield place_bar(bar, palette.minus if push < 0 else palette.plus)
        number = format_fixed(push)
        yield place_label(number, end + 6, top + PART_LINE_PX / 2, palette, align="left", size=PART_TEXT_PX)
