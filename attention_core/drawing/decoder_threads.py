"""Draws how a decoder generates one word: its self-attention, its cross-attention, and the candidates for the next
word.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from attention_core.drawing.cells import box, place_bar
from attention_core.drawing.palette import Palette
from attention_core.drawing.specifications import Picture
from attention_core.drawing.stills import WORD_LINE_PX, blend_colour, place_thread, place_word_bars, still_picture
from attention_core.drawing.text_layout import place_fitted_label, text_width
from attention_core.drawing.tiles import TINT_SHARE

DECODER_WIDTH_PX = 560.0
WRITTEN_WORD_PX, WORD_TITLE_PX = 17.0, 14.0  # pixels: letter sizes of the generated words, and of the titles above them
LINE_PX, FIRST_LINE_PX = 26.0, 36.0  # pixels: from line to line, and from the top to the middle of the first
ARCS_PX, ARC_REACH_PX = 110.0, 94.0  # pixels: left edge of the generated words, width of the widest arc
MAX_WORD_PX = 130.0  # in pixels: the largest width of a word
SOURCE_PX = DECODER_WIDTH_PX - MAX_WORD_PX  # in pixels: the left edge of the source words
THREAD_GAP_PX, THREAD_BEND_PX = 9.0, 80.0  # pixels: from a word to its line, from a line's end to its bend
LATER_SHARE = 0.3  # share of the text colour in words after the selected one


@dataclass(frozen=True, eq=False)
class DecoderRow:
    """The words and weights that decoder_threads draws.

    titles: the titles above the generated words, above the source sentence, and above the candidates. target, source:
    the generated words and the source sentence. row: the index of the selected word in `target`. own, cross: the
    attention weights of the selected word on `target` and on `source`. shares: the candidates with their probabilities,
    the likeliest first. write: a function that formats a probability.
    """

    titles: tuple[str, str, str]
    target: Sequence[str]
    source: Sequence[str]
    row: int
    own: Float[np.ndarray, " T"]
    cross: Float[np.ndarray, " S"]
    shares: Sequence[tuple[str, float]]
    write: Callable[[float], str]


def decoder_threads(drawn: DecoderRow, palette: Palette) -> Picture:
    """Draw generated words at the left, the source words at the right, attention lines to both, candidates below."""
    longest = max(text_width(word, WRITTEN_WORD_PX) for word in drawn.target)
    edge = ARCS_PX + 8 + min(MAX_WORD_PX, longest)
    written, source, coming = drawn.titles
    rows = [
        place_title(written, edge, WORD_TITLE_PX, palette, "right"),
        place_title(source, SOURCE_PX, WORD_TITLE_PX, palette),
        *place_arcs(drawn, palette),
        *place_cross_threads(drawn, edge, palette),
        *place_written_words(drawn, edge, palette),
    ]
    for place, word in enumerate(drawn.source):
        rows.append(place_word(word, SOURCE_PX, place, palette))
    y = middle_of_line(max(len(drawn.source), len(drawn.target) + 1)) + LINE_PX / 2
    rows.append(place_title(coming, 0, y, palette))
    y += LINE_PX / 2
    rows += place_word_bars(drawn.shares, (0, y), DECODER_WIDTH_PX, drawn.write, palette)
    return still_picture(rows, DECODER_WIDTH_PX, y + len(drawn.shares) * WORD_LINE_PX)


def middle_of_line(place: int) -> float:
    """Return the y coordinate of the middle of a line of words.

    place: the index of the line.
    """
    return FIRST_LINE_PX + LINE_PX * place


def place_title(text: str, x: float, y: float, palette: Palette, align: str = "left") -> dict:
    """Return the label of a title above words."""
    return place_fitted_label(text, x, y, DECODER_WIDTH_PX, WORD_TITLE_PX, palette, align) | {"ink": palette.x}


def place_word(text: str, x: float, place: int, palette: Palette, align: str = "left") -> dict:
    """Return the label of a word on its line.

    place: the index of the line.
    """
    return place_fitted_label(text, x, middle_of_line(place), MAX_WORD_PX, WRITTEN_WORD_PX, palette, align)


def place_written_words(drawn: DecoderRow, edge: float, palette: Palette) -> Iterator[dict]:
    """Yield the generated words: the selected word highlighted, then the word that it predicts, then pale later
    words.
    """
    middle = middle_of_line(drawn.row)
    line = box(ARCS_PX + 2, edge + 5, middle - LINE_PX / 2, middle + LINE_PX / 2)
    yield place_bar(line, blend_colour(palette.q, TINT_SHARE, palette))
    pale = blend_colour(palette.ink, LATER_SHARE, palette)
    for place, word in enumerate(drawn.target):
        if place != drawn.row + 1:
            ink = pale if place > drawn.row else palette.ink
            yield place_word(word, edge, place, palette, "right") | {"ink": ink}
    word, _ = drawn.shares[0]
    yield place_word(word, edge, drawn.row + 1, palette, "right") | {"ink": palette.share}


def place_arcs(drawn: DecoderRow, palette: Palette) -> Iterator[dict]:
    """Yield arcs from the selected word to itself and earlier words, one per attention weight, the strongest on top."""
    own = drawn.own[: drawn.row + 1]
    start = middle_of_line(drawn.row)
    for place in np.argsort(own).tolist():
        end = middle_of_line(place)
        far = ARCS_PX - ARC_REACH_PX * (1 + drawn.row - place) / (1 + drawn.row)
        bends = ((ARCS_PX, start), (far, start), (far, end), (ARCS_PX, end))
        yield from place_thread(f"own {place}", bends, float(own[place]), palette.q, palette)


def place_cross_threads(drawn: DecoderRow, edge: float, palette: Palette) -> Iterator[dict]:
    """Yield the cross-attention lines from the selected word to the source words, with the strongest weight on top."""
    first, last = edge + THREAD_GAP_PX, SOURCE_PX - THREAD_GAP_PX
    start = middle_of_line(drawn.row)
    for place in np.argsort(drawn.cross).tolist():
        end = middle_of_line(place)
        bends = ((first, start), (first + THREAD_BEND_PX, start), (last - THREAD_BEND_PX, end), (last, end))
        yield from place_thread(f"cross {place}", bends, float(drawn.cross[place]), palette.k, palette)
