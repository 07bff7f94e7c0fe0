"""The KV cache of a decoder: its text, and in each layer a key and a value per word, read by the last word's query."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from attention_core.drawing.cells import MIN_NUMBER_PX, box, place_bar
from attention_core.drawing.palette import Palette
from attention_core.drawing.specifications import Picture
from attention_core.drawing.stills import place_thread, still_picture
from attention_core.drawing.stripes import place_stripes
from attention_core.drawing.text_layout import labels_above, place_fitted_label, place_label, text_width
from attention_core.drawing.tiles import Tile, place_tiles

SHELVES_WIDTH_PX, NAMES_WIDTH_PX = 600.0, 72.0  # pixels: the picture, and the names of layers at its left
SHELF_NAME_PX, SHARE_TEXT_PX = 15.0, 13.0  # pixels: the size of the names, and of the shares below the threads
THREADS_HEIGHT_PX, SHARES_HEIGHT_PX, STRIPES_HEIGHT_PX = 36.0, 17.0, 25.0
SHELF_GAP_PX = 10.0
SHELF_HEIGHT_PX = THREADS_HEIGHT_PX + SHARES_HEIGHT_PX + 2 * STRIPES_HEIGHT_PX + SHELF_GAP_PX
QUERY_PX = 18.0  # pixels: the side of the square with q
THREAD_BEND_PX = 11.0  # pixels from the ends of a thread to its bends
LEAST_WRITTEN_SHARE = 0.1  # smaller shares are drawn as threads without a number


@dataclass(frozen=True, eq=False)
class Shelf:
    """The cache of a head of a layer. weights: of the last word, for each cached word. keys, values: of all words."""

    name: str
    weights: Float[np.ndarray, " seen"]
    keys: Float[np.ndarray, "S d"]
    values: Float[np.ndarray, "S d"]


@dataclass(frozen=True)
class ShelvedText:
    """The words of a decoder's text. seen: how many of them are cached. given: how many of them were typed. coming: the
    next word with its probability; "" at the end. head: the name of the drawn head. write: formats a share.
    """

    words: Sequence[str]
    seen: int
    given: int
    coming: str
    head: str
    write: Callable[[float], str]


def cache_shelves(text: ShelvedText, shelves: Sequence[Shelf], palette: Palette) -> Picture:
    """Draws the text, and below it the cache of each layer, one column per word."""
    drawn, y = place_tiles(tile_words(text, palette), 2.0, SHELVES_WIDTH_PX, palette)
    columns = Columns(len(text.words))
    labels = labels_above(text.words, columns.width)
    y += labels.room
    drawn += labels.drawn(palette, NAMES_WIDTH_PX, y)
    drawn.append(place_fitted_label(text.head, 0, y - 12, NAMES_WIDTH_PX - 4, SHELF_NAME_PX, palette))
    for shelf in shelves:
        drawn += place_shelf(shelf, text, columns, y, palette)
        y += SHELF_HEIGHT_PX
    return still_picture(drawn, SHELVES_WIDTH_PX + labels.overhang, y)


@dataclass(frozen=True)
class Columns:
    """The columns of the words, which share the width of the picture."""

    count: int

    @property
    def width(self) -> float:
        """The width of a column."""
        return (SHELVES_WIDTH_PX - NAMES_WIDTH_PX) / self.count

    def left(self, word: float) -> float:
        """The left edge of a word's column; word + 0.5 gives its middle."""
        return NAMES_WIDTH_PX + word * self.width


def tile_words(text: ShelvedText, palette: Palette) -> Iterator[Tile]:
    """The cached words, generated ones in another colour than typed ones, and the next word in a frame."""
    for place, word in enumerate(text.words[: text.seen]):
        yield Tile(word, palette.x if place < text.given else palette.share)
    if text.coming:
        yield Tile(text.coming, edge=palette.share)


def place_shelf(shelf: Shelf, text: ShelvedText, columns: Columns, top: float, palette: Palette) -> Iterator[dict]:
    """A layer: threads from the last word to the cached ones, their shares, the keys and the values."""
    foot = top + THREADS_HEIGHT_PX
    yield place_fitted_label(shelf.name, 0, foot - 12, NAMES_WIDTH_PX - 4, SHELF_NAME_PX, palette)
    yield from place_looks(shelf, text.seen, columns, (top, foot), palette)
    yield from place_shares(shelf, text, columns, foot + SHARES_HEIGHT_PX / 2, palette)
    y = foot + SHARES_HEIGHT_PX
    for name, colour, numbers in (("k", palette.k, shelf.keys), ("v", palette.v, shelf.values)):
        middle = y + STRIPES_HEIGHT_PX / 2
        yield place_label(name, NAMES_WIDTH_PX - 12, middle, palette, ink=colour, size=SHELF_NAME_PX)
        yield from place_vectors(numbers, text.seen, columns, y, colour, palette)
        y += STRIPES_HEIGHT_PX


def place_vectors(
    numbers: Float[np.ndarray, "S d"], seen: int, columns: Columns, top: float, colour: str, palette: Palette
) -> Iterator[dict]:
    """The keys or the values of the cached words; words that are not cached yet have empty places."""
    sizes = np.abs(numbers) / (np.abs(numbers).max() or 1.0)  # (S, d)
    foot = top + STRIPES_HEIGHT_PX - 2
    for word, vector in enumerate(sizes):
        place = box(columns.left(word) + 1, columns.left(word + 1) - 1, top, foot)
        if word < seen:
            yield from place_stripes(vector, [colour] * len(vector), place, palette)
        else:
            yield {"kind": "read", **place, "fill": palette.faint}


def place_looks(
    shelf: Shelf, seen: int, columns: Columns, between: tuple[float, float], palette: Palette
) -> Iterator[dict]:
    """The threads of the query, the strongest on top, and the query at their start."""
    top, foot = between
    start = columns.left(seen - 0.5)
    half = QUERY_PX / 2
    for word in np.argsort(shelf.weights).tolist():
        end = columns.left(word + 0.5)
        weight = float(shelf.weights[word])
        bends = ((start, top + half), (start, foot - THREAD_BEND_PX), (end, top + THREAD_BEND_PX), (end, foot))
        yield from place_thread(f"{shelf.name} {word}", bends, weight, palette.q, palette)
    square = box(start - half, start + half, top, top + QUERY_PX)
    yield place_bar(square, palette.q)
    yield place_label("q", start, top + half, palette, ink=palette.ground, size=SHELF_NAME_PX)


def place_shares(shelf: Shelf, text: ShelvedText, columns: Columns, y: float, palette: Palette) -> Iterator[dict]:
    """The large shares, each above its word, if there is room for them."""
    for word, weight in enumerate(shelf.weights.tolist()):
        share = text.write(weight)
        size = min(SHARE_TEXT_PX, columns.width / text_width(share, 1.0))
        if weight >= LEAST_WRITTEN_SHARE and size >= MIN_NUMBER_PX:
            middle = columns.left(word + 0.5)
            yield place_label(share, middle, y, palette, ink=palette.q, size=size)
