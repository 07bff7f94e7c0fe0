"""Draws words as tiles, wrapped into lines; also a text's tokens by several tokenizers, one row of tiles each."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from attention_core.drawing.cells import box, place_bar
from attention_core.drawing.palette import Palette
from attention_core.drawing.specifications import Picture
from attention_core.drawing.stills import blend_colour, still_picture
from attention_core.drawing.text_layout import place_fitted_label, text_width

TILE_TEXT_PX = 18.0  # pixels: text size of the words
TILE_PADDING_PX, TILE_GAP_PX = 6.0, 3.0  # pixels: inside a tile beside its word, and between two tiles
TILE_HEIGHT_PX, TILE_LINE_PX = 28.0, 33.0  # pixels: height of a tile, distance between lines of tiles
TINT_SHARE = 0.22  # share of a tile's colour in its background
DASH_PX, DASH_THICKNESS_PX = 5.0, 1.5  # pixels: length and thickness of a dash; gaps are as long as dashes
TOKEN_ROWS_WIDTH_PX = 520.0  # pixels: width of the picture, so that it fits beside sentences on a slide
ROW_TITLE_PX, ROW_NOTE_PX = 17.0, 14.0  # pixels: text sizes of a title, and of the note below the tokens
TITLE_LINE_PX, NOTE_LINE_PX, ROW_GAP_PX = 22.0, 20.0, 10.0  # pixels: heights of title and note, gap between rows


@dataclass(frozen=True)
class Tile:
    """A word drawn as a tile.

    colour: tints its background; "" for none. edge: colour of its border; "" for none. is_dashed: whether the border is
    dashed.
    """

    text: str
    colour: str = ""
    edge: str = ""
    is_dashed: bool = False


def place_tiles(tiles: Iterable[Tile], top: float, room: float, palette: Palette) -> tuple[list[dict], float]:
    """Wrap tiles into lines of at most `room` pixels; return their marks and the y of the last line's bottom.

    >>> from attention_core.drawing.palette import LIGHT_PALETTE
    >>> one, two = (place_tiles([Tile("word")] * count, 0.0, 130.0, LIGHT_PALETTE)[1] for count in (2, 3))
    >>> one == TILE_LINE_PX, two == 2 * TILE_LINE_PX
    (True, True)
    """
    rows = []
    x, y = 0.0, top
    for tile in tiles:
        width = min(room, text_width(tile.text, TILE_TEXT_PX) + 2 * TILE_PADDING_PX)
        if x > 0 and x + width > room:
            x = 0.0
            y += TILE_LINE_PX
        rows += place_tile(tile, box(x, x + width, y, y + TILE_HEIGHT_PX), palette)
        x += width + TILE_GAP_PX
    return rows, y + TILE_LINE_PX


def place_tile(tile: Tile, rectangle: dict[str, float], palette: Palette) -> Iterator[dict]:
    """Yield the marks of a tile: its background, its border and its word, which is shortened if wider than a line."""
    if tile.colour:
        yield place_bar(rectangle, blend_colour(tile.colour, TINT_SHARE, palette))
    if tile.edge and tile.is_dashed:
        yield from place_dashes(rectangle, tile.edge)
    elif tile.edge:
        yield {"kind": "read", **rectangle, "fill": tile.edge}
    middle_x = (rectangle["x"] + rectangle["x2"]) / 2
    middle_y = (rectangle["y"] + rectangle["y2"]) / 2
    room = rectangle["x2"] - rectangle["x"] - TILE_PADDING_PX
    yield place_fitted_label(tile.text, middle_x, middle_y, room, TILE_TEXT_PX, palette, align="center")


def place_dashes(rectangle: dict[str, float], colour: str) -> Iterator[dict]:
    """Yield the marks of a dashed line along the edges of a rectangle."""
    left, right, top, bottom = (rectangle[edge] for edge in ("x", "x2", "y", "y2"))
    for start, end in dashes_between(left, right):
        for y in (top, bottom - DASH_THICKNESS_PX):
            yield place_bar(box(start, end, y, y + DASH_THICKNESS_PX), colour)
    for start, end in dashes_between(top, bottom):
        for x in (left, right - DASH_THICKNESS_PX):
            yield place_bar(box(x, x + DASH_THICKNESS_PX, start, end), colour)


def dashes_between(first: float, last: float) -> Iterator[tuple[float, float]]:
    """Yield the start and end coordinate of each dash between two ends, with a dash at both ends.

    >>> [dash for dash in dashes_between(0.0, 25.0)]
    [(0.0, 5.0), (10.0, 15.0), (20.0, 25.0)]
    """
    gaps = max(1, round((last - first - DASH_PX) / (2 * DASH_PX)))
    for start in np.linspace(first, last - DASH_PX, gaps + 1).tolist():
        yield start, start + DASH_PX


@dataclass(frozen=True)
class TokenRow:
    """A text split into tokens.

    note: the line of text below the tokens. unknown: indices of tokens outside a model's vocabulary.
    """

    title: str
    note: str
    tokens: Sequence[str]
    unknown: Sequence[int] = ()


def token_rows(rows: Sequence[TokenRow], palette: Palette) -> Picture:
    """Draw several tokenizations of a text, one row of tiles below the other.

    Neighbouring tokens differ in colour, and unknown tokens have dashed borders.

    >>> from attention_core.drawing.palette import LIGHT_PALETTE
    >>> picture = token_rows([TokenRow("Words", "two", ["the", "dog"])], LIGHT_PALETTE)
    >>> [text for text in picture.table["text"] if text]
    ['Words', 'two', 'the', 'dog']
    """
    drawn = []
    y = 0.0
    for row in rows:
        lines = ((row.title, ROW_TITLE_PX, TITLE_LINE_PX), (row.note, ROW_NOTE_PX, NOTE_LINE_PX))
        for text, size, height in lines:
            drawn.append(place_fitted_label(text, 0, y + height / 2, TOKEN_ROWS_WIDTH_PX, size, palette))
            y += height
        tiles, y = place_tiles(tint_tokens(row, palette), y, TOKEN_ROWS_WIDTH_PX, palette)
        drawn += tiles
        y += ROW_GAP_PX
    return still_picture(drawn, TOKEN_ROWS_WIDTH_PX, y - ROW_GAP_PX)


def tint_tokens(row: TokenRow, palette: Palette) -> list[Tile]:
    """Return the tokens of a row as tiles, in alternating colours."""
    colours = (palette.q, palette.k, palette.v, palette.share, palette.plus, palette.minus)
    tiles = []
    for place, token in enumerate(row.tokens):
        if place in row.unknown:
            tiles.append(Tile(token, edge=palette.x, is_dashed=True))
        else:
            tiles.append(Tile(token, colours[place % len(colours)]))
    return tiles
