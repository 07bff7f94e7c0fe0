"""The texts of a picture: how wide they are, and how they stand beside rows and above columns.

Texts come ready-made from the caller, as data: nothing in them is interpreted.
"""

import math
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from attention_core.drawing.palette import Palette
from attention_core.explanation.layout import Panel
from attention_core.inputs.tokenizer import character_spans
from attention_core.record.expressions import Ref


@dataclass(frozen=True)
class PictureTexts:
    """How a picture speaks: what a cell is called, and the labels along an axis."""

    describe: Callable[[Ref], str]
    labels: Callable[[str, int], str]  # (axis, position) -> the text beside a row or above a column


def is_wide(character: str) -> bool:
    """Whether a character is as wide as it is high: Chinese, Japanese, Korean, full-width signs."""
    return unicodedata.east_asian_width(character) in "WF"


def text_width(text: str, size: float) -> float:
    """About how many pixels a text takes, rather too many than too few."""
    return size * sum(map(letter_width, text))


@lru_cache(maxsize=4096)
def letter_width(letter: str) -> float:
    """About how wide a character is, in ems of the fonts that the pictures use."""
    if is_wide(letter):
        return 1.0
    if letter in " .,:;|!il’'":
        return 0.32
    return 0.92 if letter in "MWmw@%—…" else 0.68 if letter.isupper() else 0.58


def shorten_text(text: str, room: float, size: float) -> str:
    """A text that fits, its end replaced by an ellipsis where it does not."""
    if text_width(text, size) <= room:
        return text
    while text and text_width(text, size) > room - size:
        text = text[:-1]
    return text + "…"


def stack_letters(text: str, most: int) -> list[str]:
    """The characters of a text that is written downwards, an ellipsis in the place of those that do not fit."""
    letters = [text[start:end] for start, end in character_spans(text)]
    return letters if len(letters) <= most else [*letters[: most - 1], "…"]


# ---- beside rows and above columns -----------------------------------------------------------------------------------
def place_label(text: str, x: float, y: float, palette: Palette, **more) -> dict:
    """A text at a point, vertically centred there."""
    return {"kind": "label", "x": x, "x2": x, "y": y, "y2": y, "text": text, "ink": palette.ink, **more}


def label_size(cell: float) -> float:
    """The size of the texts beside rows and above columns of cells of this side."""
    return min(16.0, max(cell * 0.8, 9.0))


def place_row_labels(
    drawn: Panel, words: PictureTexts, palette: Palette, x: float, y0: float, size: float, room: float
) -> list:
    """Texts at the left of the rows."""
    height = label_size(size)
    texts = [shorten_text(words.labels(drawn.rows, drawn.first[0] + r), room, height) for r in range(len(drawn.refs))]
    return [
        place_label(text, x - 6, y0 + (r + 0.5) * size, palette, align="right", size=height)
        for r, text in enumerate(texts)
    ]


def label_margin(drawn: Panel, words: PictureTexts, cell: float, most: float = 120.0) -> float:
    """How much room the texts beside a panel's rows need."""
    texts = [words.labels(drawn.rows, drawn.first[0] + r) for r in range(len(drawn.refs))]
    return min(most, max(text_width(text, label_size(cell)) for text in texts) + 12)


@dataclass(frozen=True)
class ColumnLabels:
    """The texts above a panel's columns: level where they fit, else Chinese top to bottom and all Latin ones tilted.

    room: the height that they need; overhang: how far they reach beyond the last column; slant: degrees, 0 where no
    Latin text is too long, 90 where the columns are too narrow for less.
    """

    texts: tuple[str, ...]
    cell: float
    room: float
    overhang: float
    slant: float

    def drawn(self, palette: Palette, x0: float, y: float) -> list[dict]:
        """Their rows of the table; x0, y: the upper left corner of the panel."""
        rows, height = [], label_size(self.cell)
        for c, text in enumerate(self.texts):
            x = x0 + (c + 0.5) * self.cell
            chinese, fits = any(map(is_wide, text)), text_width(text, height) <= self.cell - 2
            if fits and (chinese or not self.slant):
                rows.append(place_label(text, x, y - 0.75 * height, palette, size=height))
            elif chinese:
                letters = stack_letters(text, int((self.room - 4) // height))
                for place, letter in enumerate(reversed(letters)):
                    rows.append(place_label(letter, x, y - (place + 0.75) * height, palette, size=height))
            else:
                short = shorten_text(text, (self.room - 8) / math.sin(math.radians(self.slant)), height)
                rows.append(
                    place_label(short, x, y - 6, palette, kind="tilted", align="left", size=height, angle=-self.slant)
                )
        return rows


def column_labels(drawn: Panel, words: PictureTexts, cell: float, most: float = 110.0) -> ColumnLabels:
    """How the texts above a panel's columns are written, and the room that this takes."""
    height = label_size(cell)
    texts = tuple(words.labels(drawn.columns, drawn.first[1] + c) for c in range(len(drawn.refs[0])))
    long = [text for text in texts if text_width(text, height) > cell - 2]
    downwards = [len(stack_letters(text, len(text))) * height for text in long if any(map(is_wide, text))]
    if all(any(map(is_wide, text)) for text in long):
        return ColumnLabels(texts, cell, min(most, max([1.6 * height, *(reach + 14 for reach in downwards)])), 0.0, 0.0)
    tilted = {c: text_width(text, height) for c, text in enumerate(texts) if not any(map(is_wide, text))}
    slant = 40.0 if cell >= 1.7 * height else 90.0  # tilted lines of text lie cell x sin(slant) apart
    run, rise = math.cos(math.radians(slant)), math.sin(math.radians(slant))
    room = min(most, max([*(reach + 14 for reach in downwards), *(width * rise + 16 for width in tilted.values())]))
    ends = [(c - len(texts) + 0.5) * cell + min(width, room / rise) * run for c, width in tilted.items()]
    return ColumnLabels(texts, cell, room, max([0.0, *ends]), slant)
