"""Lays out the texts of a picture: estimates their widths, and places them beside rows and above columns.

Texts are drawn as they are given: no markup is interpreted.
"""

import math
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from attention_core.drawing.palette import Palette
from attention_core.explanation.layout import Panel
from attention_core.inputs.tokenizer import character_spans
from attention_core.record.expressions import Ref

NARROW_LETTERS, BROAD_LETTERS = " .,:;|!il’'", "MWmw@%—…"
MAX_ROW_LABELS_PX, MAX_COLUMN_LABELS_PX = 120.0, 110.0  # in pixels: most space beside rows, and above columns
SMALLEST_LETTERS_PX = 11.0  # in pixels: the least letter size of names in narrow columns
TILT_DEGREES = 40.0  # angle of a label that is wider than its column
LINE_END_SIGNS = " &?/，；"  # a line may be broken after these characters, so that an address fits
TILTED_BESIDE_TILTED = 1.7  # tilted labels are used in columns at least this wide, in letter sizes
TILTED_BESIDE_CHINESE = 2.4  # least such width between a tilted label and a vertical one


@dataclass(frozen=True)
class PictureTexts:
    """How a picture gets its texts: two functions that a page passes.

    describe: returns the description of a cell. labels: returns the label of a position along an axis.
    """

    describe: Callable[[Ref], str]
    labels: Callable[[str, int], str]  # (axis, position) -> label of the row or column


def is_wide(character: str) -> bool:
    """Return whether a character is as wide as it is high: Chinese, Japanese, Korean or full-width."""
    return unicodedata.east_asian_width(character) in "WF"


def has_wide_letters(text: str) -> bool:
    """Return whether a text has at least one Chinese, Japanese or Korean character."""
    return any(map(is_wide, text))


def text_width(text: str, size: float) -> float:
    """Estimate the width of a text in pixels; the estimate is rather too large than too small."""
    return size * sum(map(letter_width, text))


@lru_cache(maxsize=4096)
def letter_width(letter: str) -> float:
    """Estimate the width of a character in the pictures' fonts, in ems."""
    if is_wide(letter):
        return 1.0
    if letter in NARROW_LETTERS:
        return 0.32
    if letter in BROAD_LETTERS:
        return 0.92
    return 0.68 if letter.isupper() else 0.58


def shorten_text(text: str, room: float, size: float) -> str:
    """Return a text that is at most `room` pixels wide; in a longer text, an ellipsis replaces the end."""
    if text_width(text, size) <= room:
        return text
    while text and text_width(text, size) > room - size:
        text = text[:-1]
    return text + "…"


def fitting_size(texts: Sequence[str], room: float, size: float) -> float:
    """Return the size at which the longest of these texts is `room` pixels wide; at most `size`, at least
    SMALLEST_LETTERS_PX.

    >>> fitting_size(["it", "dog"], 17.4, 16.0), fitting_size(["it"], 100.0, 16.0)
    (11.0, 16.0)
    """
    longest = max(text_width(text, 1.0) for text in texts)
    return max(SMALLEST_LETTERS_PX, min(size, room / longest if longest else size))


def wrap_text(text: str, width: float, size: float) -> Sequence[str]:
    """Break a text into lines of at most this width. A line ends after a character of LINE_END_SIGNS if possible.

    >>> wrap_text("who is meant", 60, 10)
    ['who is ', 'meant']
    """
    lines = []
    line = ""
    for letter in text:
        line += letter
        if text_width(line, size) > width and len(line) > 1:
            end = last_line_end(line)
            lines.append(line[:end])
            line = line[end:]
    return [*lines, line]


def last_line_end(line: str) -> int:
    """Return the index at which to break a line that is one character too long.

    The break is after the last character of LINE_END_SIGNS; if there is none, it is before the last character of the
    line.

    >>> last_line_end("who is m"), last_line_end("whoism")
    (7, 5)
    """
    before_last = line[:-1]
    last_sign = max(before_last.rfind(sign) for sign in LINE_END_SIGNS)
    if last_sign < 0:
        return len(before_last)
    return last_sign + 1


def split_letters(text: str) -> list[str]:
    """Split a text into characters, each together with its accents."""
    return [text[start:end] for start, end in character_spans(text)]


def stack_letters(text: str, most: int) -> list[str]:
    """Return the characters of a text that is written from top to bottom; an ellipsis replaces those after `most`."""
    letters = split_letters(text)
    if len(letters) <= most:
        return letters
    return [*letters[: most - 1], "…"]


# ---- beside rows and above columns -----------------------------------------------------------------------------------
def place_label(text: str, x: float, y: float, palette: Palette, **more) -> dict:
    """Return the mark of a text at a point, vertically centred there.

    more: values for other columns of the cell table, such as the text size.
    """
    return {"kind": "label", "x": x, "x2": x, "y": y, "y2": y, "text": text, "ink": palette.ink, **more}


def place_fitted_label(
    text: str, x: float, y: float, room: float, size: float, palette: Palette, align: str = "left"
) -> dict:
    """Return the mark of a text at a point; a text wider than `room` pixels is shortened."""
    return place_label(shorten_text(text, room, size), x, y, palette, align=align, size=size)


def label_size(cell: float) -> float:
    """Return the text size of row and column labels for cells of this side."""
    return min(max(16.0, cell * 0.28), max(cell * 0.8, 9.0))


def row_texts(drawn: Panel, words: PictureTexts) -> list[str]:
    """Return the labels beside the rows of a panel."""
    top, _ = drawn.first
    return [words.labels(drawn.rows, top + row) for row in range(len(drawn.refs))]


def column_texts(drawn: Panel, words: PictureTexts) -> list[str]:
    """Return the labels above the columns of a panel."""
    _, left = drawn.first
    return [words.labels(drawn.columns, left + column) for column in range(len(drawn.refs[0]))]


def place_row_labels(
    drawn: Panel, words: PictureTexts, palette: Palette, x: float, top: float, cell: float
) -> list[dict]:
    """Return the marks of the row labels at the left of a panel; labels that would leave the picture are shortened.

    x, top: the upper left corner of the panel. cell: the side of a cell.
    """
    size = label_size(cell)
    placed = []
    for row, text in enumerate(row_texts(drawn, words)):
        middle = top + (row + 0.5) * cell
        placed.append(
            place_fitted_label(
                text,
                x - 6,
                middle,
                room=x - 8,
                size=size,
                palette=palette,
                align="right",
            )
        )
    return placed


def label_margin(drawn: Panel, words: PictureTexts, cell: float) -> float:
    """Return the width that the labels beside a panel's rows need."""
    size = label_size(cell)
    widths = [text_width(text, size) for text in row_texts(drawn, words)]
    return min(MAX_ROW_LABELS_PX, max(widths) + 12)


@dataclass(frozen=True)
class ColumnLabels:
    """The layout of the labels above a panel's columns.

    Labels that fit their column are horizontal. Wider Chinese labels are written from top to bottom, and wider Latin
    labels are tilted. If one label is tilted, all Latin labels are.

    room: the height of the labels. overhang: how far the labels extend beyond the last column. slant: the angle of
    Latin labels in degrees: 0 if all of them fit, 90 if the columns are too narrow for a tilt.
    """

    texts: tuple[str, ...]
    cell: float
    room: float
    overhang: float
    slant: float

    def drawn(self, palette: Palette, x0: float, y: float) -> list[dict]:
        """Return the marks of these labels above a panel whose upper left corner is (x0, y)."""
        placed = []
        size = label_size(self.cell)
        for column, text in enumerate(self.texts):
            x = x0 + (column + 0.5) * self.cell
            is_chinese = has_wide_letters(text)
            fits = text_width(text, size) <= self.cell - 2
            is_level = fits and (is_chinese or not self.slant)
            if is_level:
                placed.append(place_label(text, x, y - 0.75 * size, palette, size=size))
            elif is_chinese:
                placed += self.place_downwards(text, x, y, palette)
            else:
                placed.append(self.place_tilted(text, x, y, palette))
        return placed

    def place_downwards(self, text: str, x: float, y: float, palette: Palette) -> list[dict]:
        """Return the marks of a vertical text: one character below the other, the last one above (x, y)."""
        size = label_size(self.cell)
        letters = stack_letters(text, int((self.room - 4) // size))
        placed = []
        for letter in reversed(letters):
            above = (len(placed) + 0.75) * size
            placed.append(place_label(letter, x, y - above, palette, size=size))
        return placed

    def place_tilted(self, text: str, x: float, y: float, palette: Palette) -> dict:
        """Return the mark of a text that rises from (x, y) to the right."""
        size = label_size(self.cell)
        rise = math.sin(math.radians(self.slant))
        length = (self.room - 8) / rise
        label = place_fitted_label(text, x, y - 6, length, size, palette)
        label["kind"] = "tilted"
        label["angle"] = -self.slant
        return label


def column_labels(drawn: Panel, words: PictureTexts, cell: float) -> ColumnLabels:
    """Return the layout of the labels above a panel's columns."""
    return labels_above(column_texts(drawn, words), cell)


def labels_above(names: Sequence[str], cell: float) -> ColumnLabels:
    """Return the layout of labels above columns of this width."""
    size = label_size(cell)
    texts = tuple(names)
    too_long = [text for text in texts if text_width(text, size) > cell - 2]
    stacked = [text for text in too_long if has_wide_letters(text)]
    heights = []
    for text in stacked:
        letters = len(split_letters(text))
        heights.append(letters * size + 14)
    if len(stacked) < len(too_long):
        return tilted_labels(texts, cell, heights)
    room = max([1.6 * size, *heights])
    return ColumnLabels(
        texts,
        cell,
        room=min(MAX_COLUMN_LABELS_PX, room),
        overhang=0.0,
        slant=0.0,
    )


def tilted_labels(texts: tuple[str, ...], cell: float, heights: list[float]) -> ColumnLabels:
    """Return a layout in which Latin labels are tilted.

    heights: the heights of the labels that are written from top to bottom.
    """
    size = label_size(cell)
    least = TILTED_BESIDE_CHINESE if any(map(has_wide_letters, texts)) else TILTED_BESIDE_TILTED
    slant = TILT_DEGREES if cell >= least * size else 90.0
    rise = math.sin(math.radians(slant))
    run = math.cos(math.radians(slant))
    widths = {}
    for column, text in enumerate(texts):
        if not has_wide_letters(text):
            widths[column] = text_width(text, size)
    needed = [width * rise + 16 for width in widths.values()]
    room = min(MAX_COLUMN_LABELS_PX, max([*heights, *needed]))
    overhang = 0.0
    for column, width in widths.items():
        foot = (column + 0.5 - len(texts)) * cell  # from the last column's right edge to the beginning of the label
        reach = min(width, room / rise) * run
        overhang = max(overhang, foot + reach)
    return ColumnLabels(texts, cell, room, overhang, slant)
