"""Candidates for the next word, the likeliest first, each with a bar as long as its probability."""

from collections.abc import Callable, Iterator, Sequence

from attention_core.drawing.cells import box, place_bar
from attention_core.drawing.palette import Palette
from attention_core.drawing.text_layout import place_fitted_label, place_label, text_width

WORD_BAR_PX = 15.0  # pixels: the size of the words and of the probabilities
WORD_LINE_PX = 25.0  # pixels between two words
WORD_BAR_HEIGHT_PX = 13.0
LONGEST_WORD_SHARE = 0.45  # share of the room: a longer word is shortened
SHARE_ROOM_PX = 50.0  # pixels for a probability after its bar


def place_word_bars(
    shares: Sequence[tuple[str, float]],
    corner: tuple[float, float],
    room: float,
    write: Callable[[float], str],
    palette: Palette,
) -> Iterator[dict]:
    """The words one below the other. shares: words, probabilities. corner: the upper left one. room: the total width.
    write: formats a probability.

    >>> from attention_core.drawing.palette import LIGHT_PALETTE
    >>> bars = [*place_word_bars([("can", 1.0), ("did", 0.0)], (0, 0), 200.0, str, LIGHT_PALETTE)]
    >>> [bar["text"] for bar in bars if bar["kind"] == "label"]
    ['can', '1.0', 'did', '0.0']
    """
    left, top = corner
    longest = max(text_width(word, WORD_BAR_PX) for word, _ in shares)
    names = min(longest, LONGEST_WORD_SHARE * room)
    start = left + names + 8
    field = room - names - 8 - SHARE_ROOM_PX
    for number, (word, share) in enumerate(shares):
        y = top + (number + 0.5) * WORD_LINE_PX
        end = start + field * share
        half = WORD_BAR_HEIGHT_PX / 2
        yield place_fitted_label(word, left, y, names, WORD_BAR_PX, palette)
        yield place_bar(box(start, end, y - half, y + half), palette.share)
        yield place_label(write(share), end + 6, y, palette, align="left", size=WORD_BAR_PX)
