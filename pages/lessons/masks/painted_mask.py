"""The mask of a lesson that is drawn on: a map of who may attend to whom, and the text by which a link says it."""

import re
from collections.abc import Callable

import numpy as np

from attention_core import Trace
from attention_core.explanation.facts import allowed_pairs
from attention_core.inputs.matrix_text import to_text
from pages.panels import canvas_map, lesson_choices
from pages.panels.link_controls import MAX_LESSON_TOKENS
from pages.panels.live_choice import LiveChoice, describe_followed

BITS_PATTERN = re.compile(f"[01]{{1,{MAX_LESSON_TOKENS}}}")
Bits = tuple[str, ...]  # a text a query, "1" for each key that it may attend to


def read_bits(text: str) -> Bits:
    """Reads "110,111" as a mask, a row a query."""
    rows = tuple(text.split(","))
    if len(rows) > MAX_LESSON_TOKENS or not all(map(BITS_PATTERN.fullmatch, rows)):
        raise ValueError(text)
    return rows


def get_painted_bits(name: str) -> Bits:
    """The mask that was drawn last, kept as a choice of this name; empty, which blocks nothing, where nobody drew."""
    return lesson_choices.get_choice(name, (), read_bits)


def mask_bits_of(trace: Trace) -> Bits:
    """The mask of a run's first head."""
    return to_bits(allowed_pairs(trace)[0, 0].numpy())


def to_bits(matrix: np.ndarray) -> Bits:
    """Writes a matrix of truth values, or of 0 and 1, as rows of text."""
    return tuple(write_bit_row(row) for row in matrix)


def write_bit_row(row: np.ndarray) -> str:
    """Writes one row of a mask."""
    return "".join("1" if allowed else "0" for allowed in row)


def allowed_text(bits: Bits, trace: Trace) -> str:
    """The mask as a Setup says it, cut or filled up to the tokens of a run. What nobody blocked is allowed."""
    sizes = trace.sizes()
    T = sizes["T"]
    S = sizes["S"]
    matrix = np.ones((T, S))
    for query, row in enumerate(bits[:T]):
        allowed = [int(bit) for bit in row[:S]]
        matrix[query, : len(allowed)] = allowed
    return to_text(matrix)


def find_empty_row(trace: Trace) -> int | None:
    """The first query that may attend to nothing."""
    for query, bits in enumerate(mask_bits_of(trace)):
        if "1" not in bits:
            return query
    return None


def block_query(bits: Bits, query: int) -> Bits:
    """The mask under which one query may attend to nothing."""
    rows = list(bits)
    rows[query] = "0" * len(rows[query])
    return tuple(rows)


def block_key(bits: Bits, key: int) -> Bits:
    """The mask under which no query may attend to one key."""
    return tuple(f"{row[:key]}0{row[key + 1 :]}" for row in bits)


def mask_brush(trace: Trace, take: Callable[[Bits], None], window: LiveChoice | None) -> None:
    """Shows the mask of a run, which can be drawn on. take: is called with the mask that a stroke leaves. window: whose
    slider it waits for."""
    pairs = allowed_pairs(trace)[0, 0].numpy().astype(float)  # (T, S)
    follows = window and describe_followed(window)
    canvas_map.show_paintable_mask(trace, pairs, lambda drawn: take(to_bits(drawn)), follows)


def write_padding_mask(last: int) -> str:
    """The mask that hides all behind the last real word, as a Setup says it."""
    return f"padding:{last + 1}"
