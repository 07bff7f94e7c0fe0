"""Draws small pictures of numbers for gallery tiles: shapes on an area of 160 x 90, in colours of the theme.

A shape is a tuple: its kind, the name of its colour in a Palette, the strength of that colour (0 to 1), then its
coordinates. A text shape has a position, a letter size and a text.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from jaxtyping import Bool, Float

FIELD_WIDTH, FIELD_HEIGHT = 160.0, 90.0
MARGIN = 8.0
AXIS_NAME = 15.0  # letter size of an axis name
CURVE_POINTS = 33  # number of points of a function's curve
WEAKEST_CELL, WEAKEST_THREAD = 0.07, 0.12  # least colour strength, so that small values stay visible
Shape = tuple[str, str, float, *tuple[float | str, ...]]
NumberFunction = Callable[[Float[np.ndarray, " n"]], Float[np.ndarray, " n"]]
Box = tuple[float, float, float, float]  # (left, top, width, height)
WHOLE_FIELD: Box = (MARGIN, MARGIN, FIELD_WIDTH - 2 * MARGIN, FIELD_HEIGHT - 2 * MARGIN)


def rectangle(colour: str, strength: float, box: Box) -> Shape:
    """Return a filled rectangle, given as (left, top, width, height), as a shape."""
    return shape("rect", colour, strength, box)


def shape(kind: str, colour: str, strength: float, numbers: Sequence[float]) -> Shape:
    """Return a shape as a tuple: its kind, colour, strength (two decimals) and numbers (one decimal).

    >>> shape("dot", "q", 1 / 3, (1.0, 2.04, 3.0))
    ('dot', 'q', 0.33, 1.0, 2.0, 3.0)
    """
    return (kind, colour, round(float(strength), 2), *(round(float(number), 1) for number in numbers))


def text_shape(colour: str, x: float, y: float, size: float, text: str) -> Shape:
    """Return a shape that writes a text, centred at the point (x, y).

    >>> text_shape("x", 8.0, 45.0, 16.0, "T")
    ('text', 'x', 1.0, 8.0, 45.0, 16.0, 'T')
    """
    return (*shape("text", colour, 1.0, (x, y, size)), text)


# ---- cells -----------------------------------------------------------------------------------------------------------
def map_shapes(
    values: Float[np.ndarray, "T S"],
    allowed: Bool[np.ndarray, "T S"] | None = None,
    box: Box = WHOLE_FIELD,
    random: bool = False,
) -> list[Shape]:
    """Draw an attention map of square cells, centred in a rectangle (`box`); cells that are not allowed are empty
    frames.

    random: whether random matrices produced the weights. Such weights mean nothing and are drawn grey.
    """
    rows, columns = values.shape
    left, top, width, height = box
    side = min(width / columns, height / rows)
    left += (width - side * columns) / 2
    top += (height - side * rows) / 2
    shapes = []
    for (row, column), value in np.ndenumerate(values):
        cell = (left + column * side, top + row * side, side - 1, side - 1)
        is_blocked = allowed is not None and not allowed[row, column]
        if is_blocked:
            shapes.append(shape("frame", "faint", 1.0, cell))
        else:
            strength = max(WEAKEST_CELL, value)
            shapes.append(rectangle("x" if random else "share", strength, cell))
    return shapes


def shrink_map(values: Float[np.ndarray, "T S"] | Bool[np.ndarray, "T S"], most: int) -> np.ndarray:
    """Shrink a matrix to at most `most` rows and columns; each new cell is the maximum of a block of cells.

    >>> shrink_map(np.array([[1, 2, 3], [4, 5, 6], [7, 8, 9]]), 2).tolist()
    [[1, 3], [7, 9]]
    """
    for axis, count in enumerate(values.shape):
        if count > most:
            starts = np.arange(most) * count // most
            values = np.maximum.reduceat(values, starts, axis=axis)
    return values


def strip_shapes(values: Float[np.ndarray, " D"], colour: str, box: Box) -> list[Shape]:
    """Draw a vector as a strip of cells, framed in `colour`: negative numbers magenta, positive ones charcoal."""
    side = min(box[2] / len(values), box[3])
    largest = max(np.abs(values).max(), 1e-12)
    shapes = []
    for place, value in enumerate(values):
        cell = (box[0] + place * side, box[1], side - 2, side - 2)
        sign = "minus" if value < 0 else "plus"
        shapes.append(rectangle(sign, abs(value) / largest, cell))
        shapes.append(shape("frame", colour, 1.0, cell))
    return shapes


def signed_map_shapes(values: Float[np.ndarray, "T S"], box: Box = WHOLE_FIELD) -> list[Shape]:
    """Draw a matrix of signed numbers as square cells: negative ones magenta, positive ones charcoal, infinite ones
    empty frames.

    >>> [kind for kind, *_ in signed_map_shapes(np.array([[1.0, -np.inf]]))]
    ['rect', 'frame']
    """
    finite = np.isfinite(values)
    largest = max(np.abs(values[finite]).max(initial=0.0), 1e-12)
    shares = np.where(finite, np.abs(values) / largest, 0.0)
    signs = np.where(values < 0, "minus", "plus").ravel()
    cells = map_shapes(shares, finite, box)
    return [
        (kind, sign if kind == "rect" else colour, *rest)
        for sign, (kind, colour, *rest) in zip(signs, cells, strict=True)
    ]


def matrix_shapes(colour: str, rows: int, columns: int, down: str, across: str, box: Box = WHOLE_FIELD) -> list[Shape]:
    """Draw a matrix without numbers in the middle of a rectangle (`box`), with the axis names `down` at its left and
    `across` above it.

    >>> [shape[-1] for shape in matrix_shapes("q", 1, 1, "T", "d") if shape[0] == "text"]
    ['T', 'd']
    """
    left, top, width, height = box
    inner = (left + AXIS_NAME, top + AXIS_NAME, width - AXIS_NAME, height - AXIS_NAME)
    cells = map_shapes(np.ones((rows, columns)), box=inner)
    first, last = cells[0], cells[-1]
    middle_x = (first[3] + last[3] + last[5]) / 2
    middle_y = (first[4] + last[4] + last[6]) / 2
    frames = [("frame", colour, 1.0, *numbers) for _, _, _, *numbers in cells]
    fills = [("rect", colour, 0.3, *numbers) for _, _, _, *numbers in cells]
    names = [
        text_shape("ink", first[3] - AXIS_NAME * 0.3 * (1 + len(down)), middle_y, AXIS_NAME, down),
        text_shape("ink", middle_x, first[4] - AXIS_NAME * 0.6, AXIS_NAME, across),
    ]
    return fills + frames + names


# ---- bars and curves -------------------------------------------------------------------------------------------------
def bar_shapes(
    values: Float[np.ndarray, " S"], colour: str, box: Box = WHOLE_FIELD, largest: float | None = None
) -> list[Shape]:
    """Draw numbers as bars on a horizontal line; bars of negative numbers are below the line.

    largest: the number whose bar reaches the top of the rectangle `box`; None for the largest of the numbers.
    """
    top = max(largest or values.max(), 0.0)
    bottom = min(values.min(), 0.0)
    scale = box[3] / (top - bottom)
    zero = box[1] + top * scale
    step = box[2] / len(values)
    shapes = [shape("line", "faint", 1.0, (box[0], zero, box[0] + box[2], zero, 1.5))]
    for place, value in enumerate(values):
        height = max(abs(value) * scale, 1.0)
        left = box[0] + (place + 0.15) * step
        over_zero = height if value > 0 else 0.0
        shapes.append(rectangle(colour, 1.0, (left, zero - over_zero, 0.7 * step, height)))
    return shapes


def curve_shapes(curves: Sequence[tuple[str, Sequence[float], Sequence[float]]], box: Box = WHOLE_FIELD) -> list[Shape]:
    """Draw curves, given as (colour, x, y), on common axes, above a line at 0."""
    left, top, width, height = box
    foot = top + height
    every_x = np.concatenate([x for _, x, _ in curves])
    every_y = np.concatenate([y for _, _, y in curves])
    first_x = every_x.min()
    lowest = min(every_y.min(), 0.0)
    across = width / (every_x.max() - first_x)
    up = height / (every_y.max() - lowest)
    zero_line = (left, foot, left + width, foot, 1.5)
    shapes = [shape("line", "faint", 1.0, zero_line)]
    for colour, x, y in curves:
        at_x = left + np.subtract(x, first_x) * across
        at_y = foot - np.subtract(y, lowest) * up
        points = np.stack([at_x, at_y], axis=1)
        shapes.append(shape("path", colour, 1.0, points.ravel()))  # flattened to x, y, x, y, ...
    return shapes


def function_shapes(function: NumberFunction, first: float, last: float, colour: str) -> list[Shape]:
    """Draw the curve of a function between the arguments `first` and `last`.

    >>> [kind for kind, *_ in function_shapes(np.tanh, -2, 2, "share")]
    ['line', 'path']
    """
    x = np.linspace(first, last, CURVE_POINTS)
    y = function(x)
    line, curve = curve_shapes([(colour, x, y)])
    if y.min() >= 0:
        return [line, curve]
    share_above = y.max() / (y.max() - y.min())
    zero = MARGIN + share_above * (FIELD_HEIGHT - 2 * MARGIN)
    return [shape("line", "faint", 1.0, (MARGIN, zero, FIELD_WIDTH - MARGIN, zero, 1.5)), curve]


# ---- threads ---------------------------------------------------------------------------------------------------------
def thread_shapes(weights: Float[np.ndarray, "T S"], box: Box = WHOLE_FIELD) -> list[Shape]:
    """Draw queries as dots above, keys as dots below, and lines between them whose thickness is the weight."""
    rows, columns = weights.shape
    query_x = spread_evenly(rows, box)
    key_x = spread_evenly(columns, box)
    _, box_top, _, height = box
    top = box_top + 4
    foot = box_top + height - 4
    shapes = []
    for (row, column), weight in np.ndenumerate(weights):
        if weight > WEAKEST_THREAD / 2:
            line = (query_x[row], top, key_x[column], foot, 7 * weight)
            strength = max(WEAKEST_THREAD, weight)
            shapes.append(shape("line", "share", strength, line))
    shapes += [shape("dot", "q", 1.0, (x, top, 4)) for x in query_x]
    shapes += [shape("dot", "k", 1.0, (x, foot, 4)) for x in key_x]
    return shapes


def spread_evenly(count: int, box: Box) -> Float[np.ndarray, " count"]:
    """Return the x coordinates of the middles of `count` equally wide columns that fill a rectangle."""
    left, _, width, _ = box
    middles = np.arange(count) + 0.5
    return left + middles * width / count


def arc_shapes(weights: Float[np.ndarray, "T T"], box: Box = WHOLE_FIELD) -> list[Shape]:
    """Draw words as dots in a row, and from each word arcs to the words that it attends to; an arc's thickness is the
    weight.
    """
    count = len(weights)
    foot = box[1] + box[3] - 6
    x = spread_evenly(count, box)
    shapes = []
    for (query, key), weight in np.ndenumerate(weights):
        if query != key and weight > 2 * WEAKEST_THREAD:
            share_of_height = min(1.0, 0.35 + abs(query - key) / count)
            height = (box[3] - 12) * share_of_height
            arc = (x[query], x[key], foot - 4, height, 3 * weight)
            shapes.append(shape("arc", "share", weight, arc))
    shapes += [shape("dot", "x", 1.0, (each, foot, 3.4)) for each in x]
    return shapes


# ---- geometry --------------------------------------------------------------------------------------------------------
def arrow_shapes(vectors: Sequence[tuple[str, Float[np.ndarray, " 2"]]], box: Box = WHOLE_FIELD) -> list[Shape]:
    """Draw vectors, given as (colour, two numbers), as arrows from the middle of a rectangle (`box`); the longest fills
    it.
    """
    left, top, width, height = box
    across = left + width / 2
    down = top + height / 2
    parts_of_box = [np.abs(vector / [width, height]).max() for _, vector in vectors]
    reach = 2 * max(parts_of_box)
    shapes = [
        shape("line", "faint", 1.0, (left, down, left + width, down, 1)),
        shape("line", "faint", 1.0, (across, top, across, top + height, 1)),
    ]
    for colour, vector in vectors:
        x, y = vector / reach
        end = (across + x, down - y)
        shapes.append(shape("line", colour, 1.0, (across, down, *end, 3)))
        shapes.append(shape("dot", colour, 1.0, (*end, 4.5)))
    return shapes


def compared_shapes(query: Float[np.ndarray, " 2"], keys: Float[np.ndarray, "S 2"]) -> list[Shape]:
    """Draw a query and the keys to which it is compared as arrows; a key of zeros has no arrow."""
    arrows = [("k", key) for key in keys if key.any()]
    return arrow_shapes([*arrows, ("q", query)])


def growth_shapes(parts: Mapping[str, Sequence[float]], box: Box = WHOLE_FIELD) -> list[Shape]:
    """Draw amounts as squares whose areas are the amounts, all on one scale; squares of one colour share a corner.

    parts: {colour: amounts}. The squares of different colours are side by side.
    """
    box_left, top, box_width, height = box
    largest = max(max(amounts) for amounts in parts.values())
    width = box_width / len(parts)
    room = min(width, height)
    foot = top + height
    shapes = []
    for place, (colour, amounts) in enumerate(parts.items()):
        left = box_left + place * width + (width - room) / 2
        for amount in sorted(amounts, reverse=True):
            side = room * (amount / largest) ** 0.5
            square = (left, foot - side, side, side)
            shapes.append(rectangle(colour, 0.22, square))
    return shapes


# ---- heads and blocks ------------------------------------------------------------------------------------------------
def shared_head_shapes(kv_heads: int, query_heads: int = 4) -> list[Shape]:
    """Draw query heads above, key/value heads below, and lines from each query head to the key/value head that it
    shares.

    >>> [kind for kind, *_ in shared_head_shapes(1, query_heads=1)]
    ['line', 'rect', 'rect', 'rect']
    """
    query_x = spread_evenly(query_heads, WHOLE_FIELD)
    key_x = spread_evenly(kv_heads, WHOLE_FIELD)
    group = query_heads // kv_heads
    lines = []
    for x, shared_x in zip(query_x, key_x.repeat(group), strict=True):
        lines.append(shape("line", "x", 0.6, (x, 24, shared_x, 64, 2.5)))
    queries = [rectangle("q", 1.0, (x - 11, 14, 22, 14)) for x in query_x]
    keys = [rectangle("k", 1.0, (x - 14, 60, 13, 16)) for x in key_x]
    values = [rectangle("v", 1.0, (x + 1, 60, 13, 16)) for x in key_x]
    return lines + queries + keys + values


def block_shapes(blocks: int) -> list[Shape]:
    """Draw an attention map of `blocks` x `blocks` blocks, of which only the middle one is filled: the block in memory.

    >>> [kind for kind, *_ in block_shapes(1)]
    ['rect']
    """
    is_there = np.zeros((blocks, blocks))
    is_there[blocks // 2, blocks // 2] = 1
    return map_shapes(is_there, is_there > 0)
