"""Large matrices as bytes: one colour number per cell, drawn pixel by pixel on a canvas, and the numbers themselves.

A matrix with more rows or columns than can be drawn is thinned 1 : n, and the page says so. Each block of cells is
drawn as one of them: the cell with the largest share, or with the largest magnitude of a signed number.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np

from attention_core.drawing.cells import colour_reach, darkest_share, is_share, unblocked_cells
from attention_core.drawing.palette import Palette, palette_for, shade_cells
from attention_core.drawing.ramps import place_ramp, place_signed_ramp
from attention_core.drawing.text_layout import PictureTexts
from attention_core.explanation.layout import is_broadcast_axis
from attention_core.record.trace import Trace

COLOUR_LEVELS = 253  # colours of a scale: odd, so that zero has the middle one of a signed scale
NOT_FINITE_CODE, BLOCKED_CODE = 254, 255  # codes of cells without a colour of the scale
MAX_MAP_SIDE, MAX_SMALL_MAP_SIDE = 512, 96  # the most rows or columns that are drawn: of a large map, of a small map
MIN_SQUARE_SIDE = 16  # rows or columns: if so many are left, both axes are thinned alike, so that cells stay square
RAMP_WIDTH_PX = 240.0


@dataclass(frozen=True)
class Raster:
    """One matrix of a step, ready to be drawn. All bytes describe the drawn cells, row by row."""

    step: str
    at: tuple[int, ...]  # the position on each axis before the last two
    axes: int  # axes of the step: a cell's index is the last `axes` numbers of (*at, row, column)
    shape: tuple[int, int]  # rows and columns of the matrix
    drawn: tuple[int, int]  # rows and columns that are drawn
    every: tuple[int, int]  # 1 : n, rows and columns per drawn cell
    cells: bytes  # uint8, the colour number of each drawn cell
    numbers: bytes  # float32, the number of each drawn cell
    places: bytes  # int32, the place of each drawn cell in the matrix, row x columns + column; b"" if all are drawn
    fills: tuple[str, ...]  # the colour of each colour number
    inks: tuple[str, ...]  # the text colour on each of `fills`
    rows: tuple[str, ...]  # the text beside each row of the matrix
    columns: tuple[str, ...]  # the text above each column
    is_bool: bool
    ramp: tuple[dict, ...]  # the colour scale: bars and labels placed in pixels, from place_ramp


@dataclass(frozen=True)
class SmallRaster:
    """One matrix of a step as a small map: colour numbers, uint8, row by row. is_share: coloured as weights."""

    shape: tuple[int, int]
    drawn: tuple[int, int]
    every: tuple[int, int]
    cells: bytes
    is_share: bool


def raster(
    trace: Trace,
    step: str,
    words: PictureTexts,
    palette: Palette,
    at: Mapping[str, int] | None = None,
    times: bool = False,
    even: int | None = None,
    most: int = MAX_MAP_SIDE,
) -> Raster:
    """The last two axes of a step as a Raster. at: the position on each axis before them, by default 0.

    times: shares are coloured as multiples of a uniform share. even: the scale marks the uniform share 1 / even; by
    default the number of columns. most: the largest number of rows or columns that are drawn.

    >>> import torch
    >>> from attention_core import attend_qkv
    >>> from attention_core.drawing.palette import LIGHT_PALETTE
    >>> trace = attend_qkv(torch.eye(2), torch.zeros(3, 2), torch.eye(3))
    >>> drawn = raster(trace, "weights", PictureTexts(str, lambda axis, i: f"{axis}{i}"), LIGHT_PALETTE)
    >>> list(drawn.cells), drawn.rows, drawn.every  # a third of the way up a ramp of 253 colours
    ([84, 84, 84, 84, 84, 84], ('T0', 'T1'), (1, 1))
    """
    palette = palette_for(trace, palette)
    leading = trace.step(step).leading(at)
    shares = is_share(trace, step)
    is_bool = not trace.step(step).dtype.is_floating_point
    plane, free = matrix_planes(trace, step, leading)
    rows, columns = plane.shape
    reach = raster_reach(trace, step, times, at)
    places, every = pick_cells(plane, free, shares, most)
    numbers = plane.flat[places]
    codes = encode_colours(numbers, free.flat[places], reach, shares)
    fills, inks = colour_table(shares, palette)
    dims = trace.step(step).dims
    row_axis = row_axis_of(trace, step)
    if not shares:
        ramp = place_signed_ramp(palette, 0.0, 4.0, RAMP_WIDTH_PX, reach)
    elif times:
        ramp = place_ramp(palette, 0.0, 4.0, RAMP_WIDTH_PX, columns, times)
    else:
        ramp = place_ramp(palette, 0.0, 4.0, RAMP_WIDTH_PX, even or columns)
    return Raster(
        step=step,
        at=tuple(leading.values()),
        axes=len(dims),
        shape=plane.shape,
        drawn=places.shape,
        every=every,
        cells=codes.tobytes(),
        numbers=numbers.astype(np.float32).tobytes(),
        places=b"" if every == (1, 1) else places.astype(np.int32).tobytes(),
        fills=fills,
        inks=inks,
        rows=tuple(words.labels(row_axis, row) for row in range(rows)),
        columns=tuple(words.labels(dims[-1], column) for column in range(columns)),
        is_bool=is_bool,
        ramp=() if is_bool else tuple(ramp),
    )


def small_raster(
    trace: Trace, step: str, at: Mapping[str, int] | None = None, times: bool = False, most: int = MAX_SMALL_MAP_SIDE
) -> SmallRaster:
    """The last two axes of a step as a SmallRaster. at, times, most: as in raster.

    >>> import torch
    >>> from attention_core import attend_qkv
    >>> drawn = small_raster(attend_qkv(torch.eye(5), torch.eye(5), torch.eye(5)), "weights", most=2)
    >>> drawn.shape, drawn.drawn, drawn.every, len(drawn.cells)
    ((5, 5), (2, 2), (3, 3), 4)
    """
    shares = is_share(trace, step)
    reach = raster_reach(trace, step, times, at)
    leading = trace.step(step).leading(at)
    plane, free = matrix_planes(trace, step, leading)
    places, every = pick_cells(plane, free, shares, most)
    numbers = plane.flat[places]
    codes = encode_colours(numbers, free.flat[places], reach, shares)
    return SmallRaster(
        shape=plane.shape,
        drawn=places.shape,
        every=every,
        cells=codes.tobytes(),
        is_share=shares,
    )


def matrix_planes(trace: Trace, step: str, leading: Mapping[str, int]) -> tuple[np.ndarray, np.ndarray]:
    """The numbers of the matrix, and which of them no mask blocks, both (rows, columns); a vector is one row."""
    numbers = trace.step(step).window(**leading)
    place = tuple(leading.values())
    free = unblocked_cells(trace, step)[place]
    return np.atleast_2d(numbers), np.atleast_2d(free)


def row_axis_of(trace: Trace, step: str) -> str:
    """The axis whose positions label the rows of a step; "" if one row stands for all of them."""
    dims = trace.step(step).dims
    if len(dims) == 1 or is_broadcast_axis(trace, step, -2):
        return ""
    return dims[-2]


def raster_reach(trace: Trace, step: str, times: bool, at: Mapping[str, int] | None) -> float:
    """The magnitude that has the strongest colour, common to all heads of a sequence."""
    if is_share(trace, step):
        return darkest_share(trace.step(step).shape[-1], times)
    batch = at.get("B", 0) if at else 0
    return colour_reach(trace, step, batch)


# ---- colour numbers --------------------------------------------------------------------------------------------------
def encode_colours(plane: np.ndarray, free: np.ndarray, reach: float, is_share: bool) -> np.ndarray:
    """The colour number of each cell, uint8: shares on [0, reach], signed numbers on [-reach, reach]."""
    is_finite = np.isfinite(plane)
    known = np.where(is_finite, plane, 0.0)
    least = 0.0 if is_share else -1.0
    share = np.clip(known / (reach or 1.0), least, 1.0)
    height = share if is_share else (share + 1) / 2  # from 0 to 1
    levels = height * (COLOUR_LEVELS - 1)
    codes = np.where(is_finite, levels.round(), NOT_FINITE_CODE)
    codes = np.where(free, codes, BLOCKED_CODE)
    return codes.astype(np.uint8)


@cache
def colour_table(is_share: bool, palette: Palette) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The fill and text colour of all 256 colour numbers; a blocked cell has the background colour, to be hatched."""
    least = 0.0 if is_share else -1.0
    fills, inks = shade_cells(np.linspace(least, 1.0, COLOUR_LEVELS), 1.0, is_share, palette)
    for code in range(COLOUR_LEVELS, 256):
        if code == NOT_FINITE_CODE:
            fills.append(palette.outline)  # a strong colour that is in no scale
            inks.append("#000000")
        else:
            fills.append(palette.ground)
            inks.append(palette.ink)
    return tuple(fills), tuple(inks)


# ---- thinning --------------------------------------------------------------------------------------------------------
def pick_cells(plane: np.ndarray, free: np.ndarray, is_share: bool, most: int) -> tuple[np.ndarray, tuple[int, int]]:
    """The cells that are drawn, as places in the flat matrix (rows, columns), and the rows and columns of each block.

    Each block is drawn as its cell with the largest share or magnitude; a cell that is not finite precedes these, a
    blocked cell follows them.
    """
    height, width = plane.shape
    tall, wide = block_shape(height, width, most)
    if (tall, wide) == (1, 1):
        return np.arange(plane.size).reshape(plane.shape), (1, 1)
    blocks = cut_into_blocks(rank_cells(plane, free, is_share), tall, wide)  # (rows, columns, tall * wide)
    rows, columns, _ = blocks.shape
    best = blocks.argmax(-1)  # (rows, columns); the first of equals, never padding
    down, across = np.divmod(best, wide)  # row and column of the drawn cell in its block
    first_rows = np.arange(rows)[:, None] * tall  # (rows, 1)
    first_columns = np.arange(columns)[None, :] * wide  # (1, columns)
    row = first_rows + down
    column = first_columns + across
    places = row * width + column
    return places, (tall, wide)


def rank_cells(plane: np.ndarray, free: np.ndarray, is_share: bool) -> np.ndarray:
    """A rank for each cell: each block is drawn as its cell with the highest rank."""
    magnitudes = plane if is_share else np.abs(plane)
    is_finite = np.isfinite(plane)
    ranks = np.where(is_finite, magnitudes, np.inf)
    return np.where(free, ranks, -np.inf)


def cut_into_blocks(ranks: np.ndarray, tall: int, wide: int) -> np.ndarray:
    """The ranks of each block of cells: (height, width) -> (rows, columns, tall * wide); padding has -inf."""
    height, width = ranks.shape
    rows = ceil_divide(height, tall)
    columns = ceil_divide(width, wide)
    missing_rows = rows * tall - height
    missing_columns = columns * wide - width
    missing = ((0, missing_rows), (0, missing_columns))
    padded = np.pad(ranks, missing, constant_values=-np.inf)
    blocks = padded.reshape(rows, tall, columns, wide)
    blocks = blocks.swapaxes(1, 2)  # (rows, columns, tall, wide)
    return blocks.reshape(rows, columns, tall * wide)


def block_shape(height: int, width: int, most: int) -> tuple[int, int]:
    """The rows and columns of a block that is drawn as one cell, so that at most `most` rows and columns are drawn.

    Both axes are thinned alike; an axis of which too few cells would be left is thinned as little as possible.

    >>> block_shape(100, 200, 100), block_shape(20, 200, 100)
    ((2, 2), (1, 2))
    """
    longest = max(height, width)
    tall = wide = ceil_divide(longest, most)
    shortest = MIN_SQUARE_SIDE * tall
    if height < shortest:
        tall = ceil_divide(height, most)
    if width < shortest:
        wide = ceil_divide(width, most)
    return tall, wide


def ceil_divide(length: int, parts: int) -> int:
    """length / parts, rounded up."""
    return -(-length // parts)
