"""Large matrices as plain bytes: one colour number a cell, drawn pixel by pixel on a canvas, and the numbers beside it.

A matrix with more rows or columns than are drawn is drawn 1 : n, and says so: of each block of cells the one with the
largest share, or the largest magnitude of a signed number, stands for all of them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np

from attention_core.drawing.cells import colour_reach, darkest_share, is_share, unblocked_cells
from attention_core.drawing.palette import Palette, shade_cells
from attention_core.drawing.ramps import place_ramp, place_signed_ramp
from attention_core.drawing.text_layout import PictureTexts
from attention_core.explanation.layout import is_broadcast_axis
from attention_core.record.trace import Trace

COLOUR_LEVELS = 253  # colours of a scale: an odd number, so that zero has the one in the middle of a signed scale
NOT_FINITE_CODE, BLOCKED_CODE = 254, 255  # no colours of a scale
MAX_MAP_SIDE, MAX_SMALL_MAP_SIDE = 512, 96  # rows or columns that are drawn: of a large map, of a small one
MIN_SQUARE_SIDE = 16  # rows or columns: where so many are left, both axes are drawn 1 : n alike, and cells stay square
RAMP_WIDTH_PX = 240.0  # pixels


@dataclass(frozen=True)
class Raster:
    """One matrix of a step, ready to be drawn. All bytes are (rows, columns) of what is drawn, row by row."""

    step: str
    at: tuple[int, ...]  # the position on each axis before the last two
    axes: int  # of the step: a cell's index is the last so many of (*at, row, column)
    shape: tuple[int, int]  # rows and columns that the matrix has
    drawn: tuple[int, int]  # rows and columns that are drawn
    every: tuple[int, int]  # 1 : n, how many rows and columns a drawn cell stands for
    cells: bytes  # uint8, colour numbers
    numbers: bytes  # float32
    places: bytes  # int32, where in the matrix a number stands: row x columns + column; empty where all are drawn
    fills: tuple[str, ...]  # the colour of each colour number, and the ink that is read on it
    inks: tuple[str, ...]
    rows: tuple[str, ...]  # what stands beside each row of the matrix, and above each column
    columns: tuple[str, ...]
    is_bool: bool
    ramp: tuple[dict, ...]  # the scale: bars and labels placed in pixels, as in drawing.ramp


@dataclass(frozen=True)
class SmallRaster:
    """One matrix of a step as a small map: colour numbers, uint8, row by row. is_share: on the ramp of the weights."""

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
    """The last two axes of a step as a Raster; `at` picks a position on each axis before them (0 where it is silent).

    times: shares are coloured in multiples of an even one; even: what an even share is divided by on the scale (None:
    all columns); most: rows or columns that are drawn at the most.

    >>> import torch
    >>> from attention_core import attend_qkv
    >>> from attention_core.drawing.palette import LIGHT_PALETTE
    >>> trace = attend_qkv(torch.eye(2), torch.zeros(3, 2), torch.eye(3))
    >>> drawn = raster(trace, "weights", PictureTexts(str, lambda axis, i: f"{axis}{i}"), LIGHT_PALETTE)
    >>> list(drawn.cells), drawn.rows, drawn.every  # a third of the way up a place_ramp of 253 colours
    ([84, 84, 84, 84, 84, 84], ('T0', 'T1'), (1, 1))
    """
    value = trace.step(step)
    shares, is_bool = is_share(trace, step), not value.value.dtype.is_floating_point
    leading = value.leading(at)
    plane, free = matrix_planes(trace, step, leading)
    reach = raster_reach(trace, step, times, (at or {}).get("B", 0))
    places, every = pick_cells(plane, free, shares, most)
    row_axis = value.dims[-2] if len(value.dims) > 1 and not is_broadcast_axis(trace, step, -2) else ""
    keys = plane.shape[1]
    place = (palette, 0.0, 4.0, RAMP_WIDTH_PX)
    scale = place_ramp(*place, keys if times else even or keys, times) if shares else place_signed_ramp(*place, reach)
    return Raster(
        step,
        tuple(leading.values()),
        len(value.dims),
        plane.shape,
        places.shape,
        every,
        encode_colours(plane.flat[places], free.flat[places], reach, shares).tobytes(),
        plane.flat[places].astype(np.float32).tobytes(),
        b"" if every == (1, 1) else places.astype(np.int32).tobytes(),
        *colour_table(shares, palette),
        tuple(words.labels(row_axis, r) for r in range(plane.shape[0])),
        tuple(words.labels(value.dims[-1], c) for c in range(keys)),
        is_bool,
        () if is_bool else tuple(scale),
    )


def small_raster(
    trace: Trace, step: str, at: Mapping[str, int] | None = None, times: bool = False, most: int = MAX_SMALL_MAP_SIDE
) -> SmallRaster:
    """The same as a Small.

    >>> import torch
    >>> from attention_core import attend_qkv
    >>> drawn = small_raster(attend_qkv(torch.eye(5), torch.eye(5), torch.eye(5)), "weights", most=2)
    >>> drawn.shape, drawn.drawn, drawn.every, len(drawn.cells)
    ((5, 5), (2, 2), (3, 3), 4)
    """
    shares, reach = is_share(trace, step), raster_reach(trace, step, times, (at or {}).get("B", 0))
    plane, free = matrix_planes(trace, step, trace.step(step).leading(at))
    places, every = pick_cells(plane, free, shares, most)
    cells = encode_colours(plane.flat[places], free.flat[places], reach, shares).tobytes()
    return SmallRaster(plane.shape, places.shape, every, cells, shares)


def matrix_planes(trace: Trace, step: str, leading: Mapping[str, int]) -> tuple[np.ndarray, np.ndarray]:
    """The numbers there and which of them no mask blocks, both (rows, columns); a vector is one row."""
    return (
        np.atleast_2d(trace.step(step).window(**leading)),
        np.atleast_2d(unblocked_cells(trace, step)[tuple(leading.values())]),
    )


def raster_reach(trace: Trace, step: str, times: bool, batch: int) -> float:
    """The number that has the strongest colour, the same in all heads."""
    return darkest_share(trace[step].shape[-1], times) if is_share(trace, step) else colour_reach(trace, step, batch)


def encode_colours(plane: np.ndarray, free: np.ndarray, reach: float, is_share: bool) -> np.ndarray:
    """The colour number of each cell, uint8: shares on [0, reach], signed numbers on [-reach, reach]."""
    finite = np.isfinite(plane)
    share = np.clip(np.where(finite, plane, 0.0) / (reach or 1.0), 0.0 if is_share else -1.0, 1.0)
    level = share * (COLOUR_LEVELS - 1) if is_share else (share + 1) / 2 * (COLOUR_LEVELS - 1)
    return np.where(free, np.where(finite, level.round(), NOT_FINITE_CODE), BLOCKED_CODE).astype(np.uint8)


@cache
def colour_table(is_share: bool, palette: Palette) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Fill and ink of all 256 colour numbers; a blocked cell has the ground, to be hatched."""
    fills, inks = shade_cells(np.linspace(0.0 if is_share else -1.0, 1.0, COLOUR_LEVELS), 1.0, is_share, palette)
    others = {NOT_FINITE_CODE: (palette.outline, "#000000")}  # stands out, and is no colour of a scale
    rest = [others.get(number, (palette.ground, palette.ink)) for number in range(COLOUR_LEVELS, 256)]
    return (*fills, *(fill for fill, _ in rest)), (*inks, *(ink for _, ink in rest))


def pick_cells(plane: np.ndarray, free: np.ndarray, is_share: bool, most: int) -> tuple[np.ndarray, tuple[int, int]]:
    """Which cells are drawn, as positions in the flat matrix (rows, columns), and of how many rows and columns each.

    Of a block the cell with the largest share or magnitude; one that is not finite comes first, a blocked one last.
    """
    n = -(-max(plane.shape) // most)
    tall, wide = (n if length >= MIN_SQUARE_SIDE * n else -(-length // most) for length in plane.shape)
    if (tall, wide) == (1, 1):
        return np.arange(plane.size).reshape(plane.shape), (1, 1)
    rows, columns = -(-plane.shape[0] // tall), -(-plane.shape[1] // wide)
    size = plane if is_share else np.abs(plane)
    rank = np.where(free, np.where(np.isfinite(plane), size, np.inf), -np.inf)
    missing = ((0, rows * tall - plane.shape[0]), (0, columns * wide - plane.shape[1]))
    blocks = np.pad(rank, missing, constant_values=-np.inf).reshape(rows, tall, columns, wide).swapaxes(1, 2)
    best = blocks.reshape(rows, columns, tall * wide).argmax(-1)  # (rows, columns); the first of equals, never padding
    row = np.arange(rows)[:, None] * tall + best // wide
    column = np.arange(columns)[None, :] * wide + best % wide
    return row * plane.shape[1] + column, (tall, wide)
