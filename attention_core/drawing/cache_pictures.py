"""Draws the KV cache: which keys each decoding step computes or reads, and how a word attends to the cached keys."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from attention_core.drawing.cells import MIN_NUMBER_PX, box, cell_table, grid_box, place_bar, place_outline
from attention_core.drawing.charts import MAP_TITLE_PX
from attention_core.drawing.palette import Palette, blend_colours, colour_channels, readable_inks, to_hex_colours
from attention_core.drawing.specifications import PAGE_WIDTH_PX, Picture, sized_specification
from attention_core.drawing.stills import place_stripes, place_thread, still_picture
from attention_core.drawing.text_layout import labels_above, place_fitted_label, place_label, text_width
from attention_core.drawing.tiles import Tile, place_tiles
from attention_core.variants.decoding_work import STATE_ABSENT, STATE_AGAIN, STATE_COMPUTED, STATE_KEPT, STATE_UNNEEDED

STATE_MARKS = {
    STATE_COMPUTED: "+",
    STATE_AGAIN: "+",
    STATE_KEPT: "=",
    STATE_UNNEEDED: "",
    STATE_ABSENT: "",
}  # state of a key in a decoding step -> the sign drawn for it
KEPT_SHARE = 0.28  # share of the colour in a cached key's fill; the rest is background
MAX_TRIANGLE_CELL_PX, MIN_TRIANGLE_CELL_PX = 30.0, 18.0
MAX_TRIANGLE_LABEL_PX = 110.0  # in pixels: the largest width of the token names beside the rows
TRIANGLE_ROOM_PX = (PAGE_WIDTH_PX - 34.0) / 2  # in pixels: a triangle's width: two fit side by side on a page
TRIANGLE_LEGEND_PX = 15.0  # in pixels: the size of the legend's texts and of its squares
LEGEND_LINE_PX = 24  # in pixels: the distance between two lines of the legend
LEGEND_TEXT_GAP_PX, LEGEND_ENTRY_GAP_PX = 6, 22  # in pixels: gap before a text, gap between entries
SHELVES_WIDTH_PX, NAMES_WIDTH_PX = 600.0, 72.0  # in pixels: the widths of the picture and of the layer names
SHELF_NAME_PX, SHARE_TEXT_PX = 15.0, 13.0  # in pixels: letter sizes of the names of layers, and of shares
THREADS_HEIGHT_PX, SHARES_HEIGHT_PX, STRIPES_HEIGHT_PX = 36.0, 17.0, 25.0
SHELF_GAP_PX = 10.0
SHELF_HEIGHT_PX = THREADS_HEIGHT_PX + SHARES_HEIGHT_PX + 2 * STRIPES_HEIGHT_PX + SHELF_GAP_PX
QUERY_PX = 18.0  # pixels: the side of the square labelled q, where the lines to the cached words begin
THREAD_BEND_PX = 11.0  # in pixels: from the ends of an attention line to its bends, vertically
LEAST_WRITTEN_SHARE = 0.1  # attention weights of at least this are written as numbers


# ---- a row per step, a column per token ------------------------------------------------------------------------------
@dataclass(frozen=True)
class CacheTriangle:
    """The states of all keys in all decoding steps, as a triangle with a title.

    states: states[t][s] is the state of token s in step t, as cache_states returns it.
    """

    title: str
    states: Sequence[Sequence[str]]


def triangle_picture(
    drawn: CacheTriangle,
    names: Sequence[str],
    step: int,
    said: Callable[[int, int, str], str],
    legend: Mapping[str, str],
    palette: Palette,
) -> Picture:
    """Draw the triangle of key states up to a decoding step, whose row is outlined; the cells of later steps are empty.

    names: the tokens. said: a function that returns a cell's tooltip for (step, token, state). legend: maps each
    explained state to its text. A click on a cell sends the index (step, token) to the app.
    """
    longest = max(text_width(name, TRIANGLE_LEGEND_PX) for name in names)
    left = min(MAX_TRIANGLE_LABEL_PX, longest + 14)
    top = MAP_TITLE_PX + 10
    fitting = (TRIANGLE_ROOM_PX - left) // len(names)
    size = max(MIN_TRIANGLE_CELL_PX, min(MAX_TRIANGLE_CELL_PX, fitting))
    side = len(names) * size
    right = left + max(side, text_width(drawn.title, MAP_TITLE_PX))
    colours = state_fills_and_inks(palette)
    title = place_label(
        drawn.title,
        left,
        MAP_TITLE_PX / 2,
        palette,
        align="left",
        size=MAP_TITLE_PX,
    )
    rows = [title]
    rows += place_step_names(names, left, top, size, palette)
    for t, states in enumerate(drawn.states):
        for s, state in enumerate(states):
            shown = state if t <= step else STATE_ABSENT
            fill, ink = colours[shown]
            rows.append(
                {
                    "kind": "cell",
                    **grid_box((left, top), t, s, size),
                    "fill": fill,
                    "ink": ink,
                    "edge": palette.faint,
                    "text": STATE_MARKS[shown],
                    "size": size * 0.62,
                    "what": said(t, s, shown),
                    "value": legend.get(shown, shown),
                    "step": "states",
                    "index": f"{t},{s}",
                    "panel": "triangle",
                    "row": t,
                    "column": s,
                }
            )
    frame = box(left, left + side, top + step * size, top + (step + 1) * size)
    rows.append(place_outline(frame, palette))
    explained, bottom = place_state_legend(legend, (0.0, top + side + 20), right, palette)
    return Picture(cell_table(rows + explained), sized_specification(right + 4, bottom + 12))


def place_step_names(names: Sequence[str], left: float, top: float, size: float, palette: Palette) -> list[dict]:
    """Return the labels of the rows: a token per decoding step."""
    letters = min(TRIANGLE_LEGEND_PX, size - 2)
    rows = []
    for t, name in enumerate(names):
        middle = top + (t + 0.5) * size
        label = place_fitted_label(
            name,
            left - 8,
            middle,
            room=left - 10,
            size=TRIANGLE_LEGEND_PX,
            palette=palette,
            align="right",
        )
        rows.append(label | {"size": letters})
    return rows


# ---- states ----------------------------------------------------------------------------------------------------------
def state_colours(palette: Palette) -> dict[str, str]:
    """Return the colour of each state of a key: orange if computed, pale if cached, magenta if computed again."""
    share = np.array([KEPT_SHARE])
    (pale,) = to_hex_colours(blend_colours(palette.ground, palette.k, share))
    return {
        STATE_COMPUTED: palette.k,
        STATE_KEPT: pale,
        STATE_AGAIN: palette.minus,
        STATE_UNNEEDED: palette.faint,
        STATE_ABSENT: palette.ground,
    }


def state_fills_and_inks(palette: Palette) -> dict[str, tuple[str, str]]:
    """Return, for each state of a key, the fill colour and a text colour that is readable on it."""
    fills = state_colours(palette)
    channels = np.stack([colour_channels(fill) for fill in fills.values()])  # (states, 3)
    inks = readable_inks(channels)
    colours = zip(fills.values(), inks, strict=True)
    return dict(zip(fills, colours, strict=True))


def place_state_legend(
    legend: Mapping[str, str], at: tuple[float, float], right: float, palette: Palette
) -> tuple[list[dict], float]:
    """Return the legend's marks, with colour, symbol and text of each state, and the y coordinate of its last line.

    at: the left end of the first line. right: the x coordinate at which lines wrap.
    """
    colours = state_fills_and_inks(palette)
    first, y = at
    x = first
    rows = []
    for state, text in legend.items():
        fill, ink = colours[state]
        letters = text_width(text, TRIANGLE_LEGEND_PX)
        width = TRIANGLE_LEGEND_PX + LEGEND_TEXT_GAP_PX + letters
        if x > first and x + width > right:
            x = first
            y += LEGEND_LINE_PX
        middle = x + TRIANGLE_LEGEND_PX / 2
        mark = place_label(STATE_MARKS[state], middle, y, palette, size=TRIANGLE_LEGEND_PX)
        mark["ink"] = ink
        start = x + TRIANGLE_LEGEND_PX + LEGEND_TEXT_GAP_PX
        rows += place_legend_square(x, y, fill, palette)
        rows.append(mark)
        rows.append(place_label(text, start, y, palette, align="left", size=TRIANGLE_LEGEND_PX))
        x += TRIANGLE_LEGEND_PX + letters + LEGEND_ENTRY_GAP_PX
    return rows, y


def place_legend_square(x: float, y: float, fill: str, palette: Palette) -> list[dict]:
    """Return the marks of a square in the legend: its fill, and an edge, visible even on a fill in the background
    colour.

    y: the y coordinate of the square's middle.
    """
    x2 = x + TRIANGLE_LEGEND_PX
    top = y - TRIANGLE_LEGEND_PX / 2
    bottom = y + TRIANGLE_LEGEND_PX / 2
    edge = box(x, x2, top, bottom)
    inside = box(x + 1, x2 - 1, top + 1, bottom - 1)
    return [
        place_bar(edge, palette.faint),
        place_bar(inside, fill),
    ]


# ---- shelves: the keys and values of each layer ----------------------------------------------------------------------
@dataclass(frozen=True, eq=False)
class Shelf:
    """The KV cache of one head in one layer, which the picture shows as a row ("shelf").

    weights: the last word's attention weights on the cached words. keys, values: the vectors of all words, cached or
    not.
    """

    name: str
    weights: Float[np.ndarray, " seen"]
    keys: Float[np.ndarray, "S d"]
    values: Float[np.ndarray, "S d"]


@dataclass(frozen=True)
class ShelvedText:
    """The words of a decoder's text, and how many of them are cached.

    seen: the number of cached words. given: the number of words that the user typed. coming: the text for the next word
    and its probability; "" at the end of the text. head: the name of the head. write: a function that formats a share.
    """

    words: Sequence[str]
    seen: int
    given: int
    coming: str
    head: str
    write: Callable[[float], str]


def cache_shelves(text: ShelvedText, shelves: Sequence[Shelf], palette: Palette) -> Picture:
    """Draw a decoder's text, and below it the KV cache of one head in each layer, with one column per word."""
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
    """The layout of the cache picture's columns: one per word, equally wide, to the right of the names of the
    layers.
    """

    count: int

    @property
    def width(self) -> float:
        """Return the width of a column in pixels."""
        return (SHELVES_WIDTH_PX - NAMES_WIDTH_PX) / self.count

    def left(self, word: float) -> float:
        """Return the x coordinate of the left edge of a word's column; word + 0.5 gives the middle of the column."""
        return NAMES_WIDTH_PX + word * self.width


def tile_words(text: ShelvedText, palette: Palette) -> Iterator[Tile]:
    """Yield a tile for each word: cached words in one colour if typed and another if generated, the next word with a
    frame.
    """
    for place, word in enumerate(text.words[: text.seen]):
        yield Tile(word, palette.x if place < text.given else palette.share)
    if text.coming:
        yield Tile(text.coming, edge=palette.share)


def place_shelf(shelf: Shelf, text: ShelvedText, columns: Columns, top: float, palette: Palette) -> Iterator[dict]:
    """Yield the marks of a layer's row ("shelf"): attention lines, large weights, cached keys and values."""
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
    """Yield the marks of the cached words' keys or values; a word that is not cached yet gets an empty rectangle."""
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
    """Yield the marks of the last word's attention: a square for its query, and a line to each cached word, the
    thickest on top.

    The lines of the largest weights, which are the thickest, are drawn last.
    """
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
    """Yield the labels of the large attention weights, each above its word's column, if the columns are wide enough."""
    for word, weight in enumerate(shelf.weights.tolist()):
        share = text.write(weight)
        size = min(SHARE_TEXT_PX, columns.width / text_width(share, 1.0))
        if weight >= LEAST_WRITTEN_SHARE and size >= MIN_NUMBER_PX:
            middle = columns.left(word + 0.5)
            yield place_label(share, middle, y, palette, ink=palette.q, size=size)
