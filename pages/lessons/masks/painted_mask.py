"""The mask of a lesson that is drawn on: a map of who may attend to whom, and the text by which a link says it."""

import re
from collections.abc import Callable

import numpy as np

from attention_core import Trace
from attention_core.explanation.facts import allowed_pairs
from attention_core.inputs.matrix_text import to_text
from pages.panels import canvas_map, link_controls
from pages.panels.link_controls import MAX_LESSON_TOKENS

BITS_PATTERN = re.compile(f"[01]{{1,{MAX_LESSON_TOKENS}}}")
Bits = tuple[str, ...]  # a text a query, "1" for each key that it may attend to


def read_bits(text: str) -> Bits:
    """ "110,111" as its rows."""
    rows = tuple(text.split(","))
    if len(rows) > MAX_LESSON_TOKENS or not all(map(BITS_PATTERN.fullmatch, rows)):
        raise ValueError(text)
    return rows


def get_painted_bits(name: str) -> Bits:
    """What was drawn last, kept as a choice of this name; nothing blocked where nobody drew."""
    return link_controls.get_choice(name, (), read_bits)


def mask_bits_of(trace: Trace) -> Bits:
    """The mask of a run's first head."""
    return to_bits(allowed_pairs(trace)[0, 0].numpy())


def to_bits(matrix: np.ndarray) -> Bits:
    """A matrix of truth values, or of 0 and 1, as rows of text."""
    return tuple("".join("1" if allowed else "0" for allowed in row) for row in matrix)


def allowed_text(bits: Bits, trace: Trace) -> str:
    """The mask as a Setup says it, cut or filled up to a run's tokens: what nobody blocked is allowed."""
    sizes = trace.sizes()
    matrix = np.ones((sizes["T"], sizes["S"]))
    for matrix_row, row in zip(matrix, bits, strict=False):
        for at, bit in enumerate(row[: len(matrix_row)]):
            matrix_row[at] = int(bit)
    return to_text(matrix)


def find_empty_row(trace: Trace) -> int | None:
    """The first query that may attend to nothing."""
    return next((row for row, bits in enumerate(mask_bits_of(trace)) if "1" not in bits), None)


def block_query(bits: Bits, row: int) -> Bits:
    """The mask under which one query may attend to nothing."""
    return tuple("0" * len(text) if at == row else text for at, text in enumerate(bits))


def block_key(bits: Bits, column: int) -> Bits:
    """The mask under which no query may attend to one key."""
    return tuple(f"{text[:column]}0{text[column + 1 :]}" for text in bits)


def mask_brush(trace: Trace, take: Callable[[Bits], None]) -> None:
    """The mask of a run, to be drawn on. take: what is done with the one that a stroke makes of it."""
    canvas_map.show_paintable_mask(
        trace, allowed_pairs(trace)[0, 0].numpy().astype(float), lambda drawn: take(to_bits(drawn))
    )


def write_padding_mask(last: int) -> str:
    """The mask that hides all behind the last real word, as a Setup says it."""
    return f"padding:{last + 1}"
