"""Encodes large matrices as bytes for a canvas: a palette index per cell, drawn pixel by pixel, and the cells' values.

A matrix with too many rows or columns is cut into blocks, and each block is drawn as the cell in it with the largest
share or magnitude; the page then says how many cells a drawn cell represents.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np

from attention_core.drawing.cells import TIMES_STEP, colour_reach, darkest_share, is_share, unblocked_cells
from attention_core.drawing.palette import Palette, palette_for, shade_cells
from attention_core.drawing.ramps import place_ramp, place_signed_ramp
from attention_core.drawing.text_layout import PictureTexts
from attention_core.explanation.layout import is_broadcast_axis
from attention_core.record.trace import Trace

COLOUR_LEVELS = 253  # number of colours in a scale; odd, so that a signed scale has a middle
NOT_FINITE_CODE, BLOCKED_CODE = 254, 255  # palette indices of cells that are not finite, and of blocked cells
MAX_MAP_SIDE, MAX_SMALL_MAP_SIDE = 512, 96  # the most rows or columns that are drawn, in a large map and in a small map
MIN_SQUARE_SIDE = 16  # blocks are square if each axis then has at least this many of them
RAMP_WIDTH_PX = 240.0


@dataclass(frozen=True)
class Raster:
    """One matrix of a step, encoded for a canvas; the bytes describe the drawn cells, row by row."""

    step: str
    at: tuple[int, ...]  # the index on each axis before the last two
    axes: int  # number of axes of the step; a cell's index is the end of (*at, row, column)
    shape: tuple[int, int]  # (rows, columns) of the whole matrix
    drawn: tuple[int, int]  # (rows, columns) that are drawn
    every: tuple[int, int]  # (rows, columns) of a block, which is drawn as one cell
    cells: bytes  # uint8, the palette index of each drawn cell
    numbers: bytes  # float32, the value of each drawn cell
    places: bytes  # int32, each drawn cell's index in the flattened matrix; b"" if all cells are drawn
    fills: tuple[str, ...]  # hex colour for each palette index
    inks: tuple[str, ...]  # text colour on each fill
    rows: tuple[str, ...]  # label beside each row of the matrix
    columns: tuple[str, ...]  # label above each column of the matrix
    is_bool: bool
    ramp: tuple[dict, ...]  # marks of the colour scale below the map, from place_ramp


@dataclass(frozen=True)
class SmallRaster:
    """One matrix of a step, encoded as a small map: one palette index (uint8) per drawn cell, row by row.

    is_share: whether the numbers are shares, which are coloured as weights.
    """

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
    """Encode the matrix of a step's last two axes for a canvas: palette indices, values, labels and colour scale.

    at: {axis: index} for the axes before the last two; an axis that is not given has index 0. times: True if shares are
    coloured as multiples of a uniform share. even: the colour scale marks the uniform share 1 / even; None for the
    number of columns. most: the most rows or columns that are drawn.

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
    elif times or step == TIMES_STEP:
        ramp = place_ramp(palette, 0.0, 4.0, RAMP_WIDTH_PX, columns, times=True)
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
    """Encode the matrix of a step's last two axes as a small map of palette indices.

    at: {axis: index} for the axes before the last two; an axis that is not given has index 0. times: True if shares are
    coloured as multiples of a uniform share. most: the most rows or columns that are drawn.

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
    """Return a step's matrix as two arrays (rows, columns): its numbers, and booleans that are True where no mask
    blocks the cell.

    A vector becomes a matrix of one row. leading: the index on each axis before the last two.
    """
    numbers = trace.step(step).window(**leading)
    place = tuple(leading.values())
    free = unblocked_cells(trace, step)[place]
    return np.atleast_2d(numbers), np.atleast_2d(free)


def row_axis_of(trace: Trace, step: str) -> str:
    """Return the axis whose positions label the rows of a step; "" if there is a single row for all positions."""
    dims = trace.step(step).dims
    if len(dims) == 1 or is_broadcast_axis(trace, step, -2):
        return ""
    return dims[-2]


def raster_reach(trace: Trace, step: str, times: bool, at: Mapping[str, int] | None) -> float:
    """Return the magnitude that gets the strongest colour; it is common to all heads, so that their maps can be
    compared.

    times: whether shares are coloured as multiples of the uniform share. at: the matrix's index on its leading axes.
    """
    if is_share(trace, step) and step != TIMES_STEP:
        return darkest_share(trace.step(step).shape[-1], times)
    batch = at.get("B", 0) if at else 0
    return colour_reach(trace, step, batch)


# ---- colour numbers --------------------------------------------------------------------------------------------------
def encode_colours(plane: np.ndarray, free: np.ndarray, reach: float, is_share: bool) -> np.ndarray:
    """Return each cell's palette index as uint8: for shares on a scale from 0 to `reach`, for signed numbers from
    -reach to reach.

    free: True for cells that no mask blocks. Blocked cells and numbers that are not finite have separate indices.
    """
    is_finite = np.isfinite(plane)
    known = np.where(is_finite, plane, 0.0)
    least = 0.0 if is_share else -1.0
    share = np.clip(known / (reach or 1.0), least, 1.0)
    height = share if is_share else (share + 1) / 2  # position on the scale: 0 for the least number, 1 for the largest
    levels = height * (COLOUR_LEVELS - 1)
    codes = np.where(is_finite, levels.round(), NOT_FINITE_CODE)
    codes = np.where(free, codes, BLOCKED_CODE)
    return codes.astype(np.uint8)


@cache
def colour_table(is_share: bool, palette: Palette) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the fill and the text colour of all 256 palette indices.

    The index of blocked cells has the background colour, because the page hatches these cells.
    """
    least = 0.0 if is_share else -1.0
    fills, inks = shade_cells(np.linspace(least, 1.0, COLOUR_LEVELS), 1.0, is_share, palette)
    for code in range(COLOUR_LEVELS, 256):
        if code == NOT_FINITE_CODE:
            fills.append(palette.outline)  # for infinite numbers and NaN: a colour that the scales lack
            inks.append("#000000")
        else:
            fills.append(palette.ground)
            inks.append(palette.ink)
    return tuple(fills), tuple(inks)


# ---- thinning --------------------------------------------------------------------------------------------------------
def pick_cells(plane: np.ndarray, free: np.ndarray, is_share: bool, most: int) -> tuple[np.ndarray, tuple[int, int]]:
    """Choose one cell per block to draw; return the cells' flat indices as a (rows, columns) array, and the size of a
    block.

    The chosen cell has the block's largest share or magnitude. A number that is not finite is preferred to all others,
    and a blocked cell is drawn only if all cells of its block are blocked.
    """
    height, width = plane.shape
    tall, wide = block_shape(height, width, most)
    if (tall, wide) == (1, 1):
        return np.arange(plane.size).reshape(plane.shape), (1, 1)
    blocks = cut_into_blocks(rank_cells(plane, free, is_share), tall, wide)  # (rows, columns, tall * wide)
    rows, columns, _ = blocks.shape
    best = blocks.argmax(-1)  # index of the highest rank within each block: (rows, columns)
    down, across = np.divmod(best, wide)  # row and column of that cell within its block
    first_rows = np.arange(rows)[:, None] * tall  # (rows, 1)
    first_columns = np.arange(columns)[None, :] * wide  # (1, columns): the first column of each block
    row = first_rows + down
    column = first_columns + across
    places = row * width + column
    return places, (tall, wide)


def rank_cells(plane: np.ndarray, free: np.ndarray, is_share: bool) -> np.ndarray:
    """Return each cell's rank: its share or magnitude, inf if it is not finite, -inf if a mask blocks it.

    The cell of the highest rank in each block is drawn.
    """
    magnitudes = plane if is_share else np.abs(plane)
    is_finite = np.isfinite(plane)
    ranks = np.where(is_finite, magnitudes, np.inf)
    return np.where(free, ranks, -np.inf)


def cut_into_blocks(ranks: np.ndarray, tall: int, wide: int) -> np.ndarray:
    """Cut a matrix of ranks into blocks of `tall` x `wide` cells, padded with -inf: (height, width) -> (rows, columns,
    tall * wide).
    """
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
    """Return how many rows and columns of cells are drawn as one, so that at most `most` rows and `most` columns
    result.

    Both lengths are equal, unless an axis would then have fewer than MIN_SQUARE_SIDE blocks: its blocks are as short as
    possible.

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
    """Return length / parts, rounded up."""
    return -(-length // parts)
