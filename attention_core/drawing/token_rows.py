"""One text split in several ways: a row of tokens for each way, under its title."""

from collections.abc import Sequence
from dataclasses import dataclass

from attention_core.drawing.palette import Palette
from attention_core.drawing.specifications import Picture
from attention_core.drawing.stills import still_picture
from attention_core.drawing.text_layout import place_fitted_label
from attention_core.drawing.tiles import Tile, place_tiles

TOKEN_ROWS_WIDTH_PX = 520.0  # pixels: narrow enough for a slide with the shortest text and its figures
ROW_TITLE_PX, ROW_NOTE_PX = 17.0, 14.0  # pixels: the letter size of a title, and of the note below the tokens
TITLE_LINE_PX, NOTE_LINE_PX, ROW_GAP_PX = 22.0, 20.0, 10.0  # pixels: title, note, gap between rows


@dataclass(frozen=True)
class TokenRow:
    """A text split into tokens. note: the line below them. unknown: indices of tokens outside a model's vocabulary."""

    title: str
    note: str
    tokens: Sequence[str]
    unknown: Sequence[int] = ()


def token_rows(rows: Sequence[TokenRow], palette: Palette) -> Picture:
    """Draws the rows one below the other; neighbouring tokens differ in colour, unknown ones have dashed borders.

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
    """The tokens of a row as tiles, in alternating colours."""
    colours = (palette.q, palette.k, palette.v, palette.share, palette.plus, palette.minus)
    tiles = []
    for place, token in enumerate(row.tokens):
        if place in row.unknown:
            tiles.append(Tile(token, edge=palette.x, is_dashed=True))
        else:
            tiles.append(Tile(token, colours[place % len(colours)]))
    return tiles
