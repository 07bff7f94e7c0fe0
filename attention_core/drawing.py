"""What a picture is made of: rows of one table, each a rectangle, a text or an outline placed in pixels.

Masked cells carry a hatch of their own, never a colour of a scale. Texts come ready-made from the caller, as data:
nothing in them is interpreted.
"""

import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from attention_core.cells import Ref
from attention_core.layout import Panel
from attention_core.numerals import exact, fixed
from attention_core.palette import Palette, shades
from attention_core.tokens import clusters
from attention_core.trace import Trace


@dataclass(frozen=True)
class Words:
    """How a picture speaks: what a cell is called, and the labels along an axis."""

    describe: Callable[[Ref], str]
    labels: Callable[[str, int], str]  # (axis, position) -> the text beside a row or above a column


MASKED = {"masked_scores", "weights", "softmax_weights", "dropped_weights"}  # where a blocked pair is hatched
SHARES = {"weights", "softmax_weights", "replacement"}  # steps on the purple ramp; all others are signed


def span(trace: Trace, step: str) -> float:
    """The largest finite magnitude of a whole step, so that all its heads share one range of colours."""
    values = trace.step(step).window()
    return float(np.abs(values[np.isfinite(values)]).max(initial=0.0))


# ---- text ------------------------------------------------------------------------------------------------------------
def wide(character: str) -> bool:
    """Whether a character is as wide as it is high: Chinese, Japanese, Korean, full-width signs."""
    return unicodedata.east_asian_width(character) in "WF"


def text_width(text: str, size: float) -> float:
    """About how many pixels a text takes, rather too many than too few."""
    return sum(
        size * (1.0 if wide(letter) else 0.92 if letter in "MWmw@%—…" else 0.68 if letter.isupper() else 0.58)
        for letter in text
    )


def cut(text: str, room: float, size: float) -> str:
    """A text that fits, its end replaced by an ellipsis where it does not."""
    if text_width(text, size) <= room:
        return text
    while text and text_width(text, size) > room - size:
        text = text[:-1]
    return text + "…"


def stacked(text: str, most: int) -> list[str]:
    """The characters of a text that is written downwards, an ellipsis in the place of those that do not fit."""
    letters = [text[start:end] for start, end in clusters(text)]
    return letters if len(letters) <= most else [*letters[: most - 1], "…"]


# ---- the table of cells ----------------------------------------------------------------------------------------------
COLUMNS = {
    "kind": "cell",  # cell, blocked, chosen, label, tilted or bar
    "x": 0.0,
    "x2": 0.0,
    "y": 0.0,
    "y2": 0.0,
    "fill": "",
    "ink": "",
    "edge": "",
    "text": "",
    "align": "center",
    "size": 13.0,
    "what": "",
    "value": "",
    "step": "",
    "index": "",
    "panel": "",
    "row": -1,
    "column": -1,
}


def table(rows: Sequence[dict]) -> pd.DataFrame:
    """The rows of a picture with every column filled."""
    return pd.DataFrame([{**COLUMNS, **row} for row in rows], columns=list(COLUMNS))


def label(text: str, x: float, y: float, palette: Palette, **more) -> dict:
    """A text at a point, vertically centred there."""
    return {"kind": "label", "x": x, "x2": x, "y": y, "y2": y, "text": text, "ink": palette.ink, **more}


def matrix(
    drawn: Panel,
    trace: Trace,
    words: Words,
    palette: Palette,
    origin: tuple[float, float],
    size: float,
    chosen: Ref | None = None,
    name: str = "result",
) -> list[dict]:
    """The cells of a panel, from its upper left corner on; numbers stand in them where they fit."""
    x0, y0 = origin
    is_share = drawn.step in SHARES
    fills, inks = shades(drawn.values.reshape(-1), span(trace, drawn.step), is_share, palette)
    is_bool = trace[drawn.step].dtype.is_floating_point is False
    text_size = number_size(drawn.values, size)
    barred = blocked_cells(drawn, trace)
    rows = []
    for r, refs in enumerate(drawn.refs):
        for c, ref in enumerate(refs):
            n, value = r * len(refs) + c, float(drawn.values[r, c])
            blocked = bool(barred[r, c])
            text = ("✓" if value else "") if is_bool else fixed(value)
            rows.append(
                {
                    "kind": "blocked" if blocked else "cell",
                    "x": x0 + c * size,
                    "x2": x0 + (c + 1) * size,
                    "y": y0 + r * size,
                    "y2": y0 + (r + 1) * size,
                    "fill": palette.ground if blocked or is_bool else fills[n],
                    "ink": palette.ink if blocked or is_bool else inks[n],
                    "text": text if text_size else "",
                    "size": text_size,
                    "edge": palette.faint,
                    "what": words.describe(ref),
                    "value": exact(value),
                    "step": ref.step,
                    "index": ",".join(map(str, ref.index)),
                    "panel": name,
                    "row": r,
                    "column": c,
                }
            )
            if ref == chosen:
                rows.append({**rows[-1], "kind": "chosen", "fill": palette.outline, "text": ""})
    return rows


def blocked_cells(drawn: Panel, trace: Trace) -> np.ndarray:
    """Which cells a mask blocks: scores and weights where it does not allow the pair, and a mask's own False.

    A score that is infinite without a mask's doing overflowed: that is no blocked cell.
    """
    if not trace[drawn.step].dtype.is_floating_point:
        return drawn.values == 0
    if drawn.step not in MASKED or "allowed" not in trace:
        return np.zeros(drawn.values.shape, dtype=bool)
    allowed = trace["allowed"].expand_as(trace["scores"])
    return np.array([[not allowed[ref.index] for ref in refs] for refs in drawn.refs])


def number_size(values: np.ndarray, cell: float) -> float:
    """The size of the numbers in a map's cells, all alike; 0 where they would be too small to read."""
    size = min(15.0, (cell - 5) / longest_number(values))
    return size if size >= 9.4 else 0.0


def longest_number(values: np.ndarray) -> float:
    """The width of the widest number of a map, at size 1."""
    return max((text_width(fixed(value), 1.0) for value in values.reshape(-1).tolist()), default=1.0)


def comfortable(panels: Sequence[Panel], most: float) -> float:
    """The largest cell that is wanted: `most`, or what the widest number needs to be read."""
    return max([most, *(5 + 11.0 * longest_number(drawn.values) for drawn in panels)])


def row_labels(drawn: Panel, words: Words, palette: Palette, x: float, y0: float, size: float, room: float) -> list:
    """Texts at the left of the rows."""
    height = min(15.0, max(size * 0.8, 9.0))
    texts = [cut(words.labels(drawn.rows, r), room, height) for r in range(len(drawn.refs))]
    return [
        label(text, x - 6, y0 + (r + 0.5) * size, palette, align="right", size=height) for r, text in enumerate(texts)
    ]


def column_labels(drawn: Panel, words: Words, palette: Palette, x0: float, y: float, size: float, room: float) -> list:
    """Texts above the columns: level where they fit, Chinese top to bottom and Latin tilted where they do not."""
    height = min(15.0, max(size * 0.8, 9.0))
    texts = [words.labels(drawn.columns, c) for c in range(len(drawn.refs[0]))]
    level = all(text_width(text, height) <= size - 2 for text in texts)
    rows = []
    for c, text in enumerate(texts):
        x = x0 + (c + 0.5) * size
        if level:
            rows.append(label(text, x, y - 0.75 * height, palette, size=height))
        elif any(map(wide, text)):
            letters = stacked(text, int(room // height))
            for place, letter in enumerate(reversed(letters)):
                rows.append(label(letter, x, y - (place + 0.6) * height, palette, size=height))
        else:
            rows.append(label(cut(text, room * 1.3, height), x - 2, y - 5, palette, kind="tilted", size=height))
    return rows


def label_room(texts: Sequence[str], size: float, cell: float, most: float = 110.0) -> float:
    """How much room texts need above columns of this width."""
    widths = [text_width(text, size) for text in texts]
    if max(widths, default=0.0) <= cell - 2:
        return 1.6 * size
    downwards = [len(stacked(text, len(text))) * size if any(map(wide, text)) else 0.0 for text in texts]
    return min(most, max(*downwards, *(0.78 * width for width in widths)) + 14)


def cell_size(rows: int, columns: int, width: float = 340.0, most: float = 40.0, least: float = 16.0) -> float:
    """A cell's side in pixels so that a map of this many cells fits; never under what a projector can show."""
    return float(max(least, min(most, width // max(rows, columns))))


def ramp(palette: Palette, x: float, y: float, width: float, keys: int) -> list[dict]:
    """The scale of the weights from 0 to 1, with the even share 1/S marked on it."""
    steps = 32
    fills, _ = shades(np.linspace(0, 1, steps), 1.0, True, palette)
    rows = [
        {
            "kind": "bar",
            "x": x + i * width / steps,
            "x2": x + (i + 1) * width / steps + 0.6,
            "y": y,
            "y2": y + 7,
            "fill": fill,
        }
        for i, fill in enumerate(fills)
    ]
    even = x + width / keys
    rows.append({"kind": "bar", "x": even - 1, "x2": even + 1, "y": y - 3, "y2": y + 10, "fill": palette.outline})
    rows.append(label("0", x, y + 18, palette, size=11.0, align="left"))
    rows.append(label("1", x + width, y + 18, palette, size=11.0, align="right"))
    if keys > 1:
        rows.append(label(f"1/{keys}", max(even, x + 26), y + 18, palette, size=11.0))
    return rows


# ---- small maps ------------------------------------------------------------------------------------------------------
def thumbnail(
    trace: Trace,
    step: str,
    at: dict[str, int],
    palette: Palette,
    origin: tuple[float, float],
    side: float,
    what: str = "",
    index: str = "",
) -> list[dict]:
    """A step in a small square, one rectangle a number; at most 32 x 32 of them, evenly picked."""
    value = trace.step(step)
    leading = {dim: min(at.get(dim, 0), size - 1) for dim, size in zip(value.dims, value.value.shape, strict=True)}
    plane = np.atleast_2d(value.window(**{dim: leading[dim] for dim in value.dims[:-2]}))
    barred = blocked_plane(trace, step, leading, plane)
    strides = [-(-length // 32) for length in plane.shape]
    skipped = "" if strides == [1, 1] else f" (1 : {strides[0]}, 1 : {strides[1]})"
    plane, barred = (array[:: strides[0], :: strides[1]] for array in (plane, barred))
    size = side / max(plane.shape)
    fills, _ = shades(plane.reshape(-1), span(trace, step), step in SHARES, palette)
    x0 = origin[0] + (side - size * plane.shape[1]) / 2
    y0 = origin[1] + (side - size * plane.shape[0]) / 2
    shape = " × ".join(map(str, value.value.shape)) + skipped
    rows = []
    for n, (r, c) in enumerate(np.ndindex(*plane.shape)):
        corner = {"x": x0 + c * size, "x2": x0 + (c + 1) * size, "y": y0 + r * size, "y2": y0 + (r + 1) * size}
        look = {"kind": "blocked", "fill": palette.ground} if barred[r, c] else {"kind": "cell", "fill": fills[n]}
        says = {"what": what or step, "value": shape, "step": step, "index": index}
        rows.append({**corner, **look, **says, "ink": palette.faint})
    return rows


def blocked_plane(trace: Trace, step: str, leading: dict[str, int], plane: np.ndarray) -> np.ndarray:
    """Which cells of a plane a mask blocks."""
    if not trace[step].dtype.is_floating_point:
        return plane == 0
    if step not in MASKED or "allowed" not in trace:
        return np.zeros(plane.shape, dtype=bool)
    return ~trace["allowed"].expand_as(trace["scores"])[leading["B"], leading["H"]].cpu().numpy()
