"""What a picture is made of: rows of one table, each a rectangle, a text or an outline placed in pixels.

Masked cells carry a hatch of their own, never a colour of a scale.
"""

import math
from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np

from attention_core.drawing.palette import Palette, shade_cells
from attention_core.drawing.text_layout import PictureTexts, place_label, text_width
from attention_core.explanation.formula import colour_family
from attention_core.explanation.layout import Panel
from attention_core.record.expressions import Ref
from attention_core.record.number_text import (
    format_exact,
    format_fixed,
    format_signed,
    format_signed_brief,
    format_signed_rough,
)
from attention_core.record.trace import Trace

MASKED_STEPS = {"masked_scores", "weights", "softmax_weights", "dropped_weights"}  # where a blocked pair is hatched
SHARE_STEPS = {
    "weights",
    "softmax_weights",
    "replacement",
    "chosen_weights",
    "naive_weights",
    "stable_weights",
    "rounded_weights",
    "heard",
    "foretold",
}  # steps on the purple ramp; all others are signed
MIN_TWO_DECIMAL_DIFFERENCE = 0.005  # the smallest difference that two decimals show
DARKEST_EVEN_SHARES = 5  # the darkest colour of the "x S" view: so many times an even share, or more


def is_share(trace: Trace, step: str) -> bool:
    """Whether a step is drawn on the purple ramp from 0 to 1; a difference of shares is a signed number."""
    return step in SHARE_STEPS and not trace.difference


def darkest_share(keys: int, times: bool) -> float:
    """The share that has the ramp's darkest colour: 1, or in the "x S" view a few times an even one."""
    return min(1.0, DARKEST_EVEN_SHARES / keys) if times else 1.0


def colour_reach(trace: Trace, step: str, batch: int = 0) -> float:
    """What the colours of a step reach to: 1 for shares, else the largest finite magnitude in a sequence's heads."""
    if is_share(trace, step):
        return 1.0
    value = trace[step].detach()
    own = value[min(batch, len(value) - 1)] if trace.step(step).dims[0] == "B" else value
    sizes = own.double().abs()
    largest = sizes.max().item()
    return largest if math.isfinite(largest) else sizes.masked_fill(~sizes.isfinite(), 0.0).max().item()


# ---- the table of cells ----------------------------------------------------------------------------------------------
CELL_COLUMNS = {
    "kind": "cell",  # cell, blocked, chosen, read, label, tilted or bar
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
    "angle": 0.0,
    "what": "",
    "value": "",
    "step": "",
    "index": "",
    "panel": "",
    "row": -1,
    "column": -1,
}


def cell_table(rows: Sequence[dict]) -> dict[str, list]:
    """The rows of a picture as a table, every column filled."""
    return {column: [row.get(column, usual) for row in rows] for column, usual in CELL_COLUMNS.items()}


def place_matrix(
    drawn: Panel,
    trace: Trace,
    words: PictureTexts,
    palette: Palette,
    origin: tuple[float, float],
    size: float,
    chosen: Ref | None = None,
    name: str = "result",
    reach: float | None = None,
) -> list[dict]:
    """The cells of a panel, from its upper left corner on; numbers stand in them where they fit.

    The chosen cell is outlined, and the cells that it was computed from in the colours of their symbols.
    reach: the magnitude that has the strongest colour, where that is not the step's own.
    """
    x0, y0 = origin
    reach = colour_reach(trace, drawn.step, drawn.refs[0][0].index[0]) if reach is None else reach
    fills, inks = shade_cells(drawn.values.reshape(-1), reach, is_share(trace, drawn.step), palette)
    is_bool = trace[drawn.step].dtype.is_floating_point is False
    number = choose_number_format(trace, reach)
    text_size = map_number_size(drawn.values, size, (lambda _: "✓") if is_bool else number)
    free = unblocked_cells(trace, drawn.step)
    operation = None if chosen is None else trace.step(chosen.step).operation
    read = trace.read_by(chosen) if operation is not None and drawn.step in operation.reads else set()
    rows = []
    for r, refs in enumerate(drawn.refs):
        for c, ref in enumerate(refs):
            n, value = r * len(refs) + c, float(drawn.values[r, c])
            is_blocked = not free[ref.index]
            text = ("✓" if value else "") if is_bool else "0" if is_blocked and value == 0 else number(value)
            rows.append(
                {
                    "kind": "blocked" if is_blocked else "cell",
                    "x": x0 + c * size,
                    "x2": x0 + (c + 1) * size,
                    "y": y0 + r * size,
                    "y2": y0 + (r + 1) * size,
                    "fill": palette.ground if is_blocked or is_bool else fills[n],
                    "ink": palette.ink if is_blocked or is_bool else inks[n],
                    "text": text if text_size else "",
                    "size": text_size,
                    "edge": palette.faint,
                    "what": words.describe(ref),
                    "value": format_exact(value),
                    "step": ref.step,
                    "index": ",".join(map(str, ref.index)),
                    "panel": name,
                    "row": r,
                    "column": c,
                }
            )
            if ref == chosen:
                rows.append({**rows[-1], "kind": "chosen", "fill": palette.outline, "text": ""})
            elif ref in read:
                stroke = palette.families().get(colour_family(ref.step), palette.ink)
                rows.append({**rows[-1], "kind": "read", "fill": stroke, "text": ""})
    return rows


def unblocked_cells(trace: Trace, step: str) -> np.ndarray:
    """Which cells of a step no mask blocks: scores and weights where it allows the pair, and a mask's own True; a view.

    A score that is infinite without a mask's doing overflowed: that is no blocked cell. Neither is a weight that was
    chosen in spite of the mask.
    """
    value = trace[step]
    if trace.difference:
        return value.isfinite().numpy()  # an infinity: one of the two runs blocks the pair
    if not value.dtype.is_floating_point:
        return value.cpu().numpy()
    if step not in MASKED_STEPS or "allowed" not in trace:
        return np.broadcast_to(True, value.shape)
    allowed = trace["allowed"].cpu().expand_as(value)
    if "chosen_weights" in trace and step == "weights":
        allowed = allowed | (value.detach().cpu() != 0)
    return allowed.numpy()


def choose_number_format(trace: Trace, reach: float) -> Callable[[float], str]:
    """How the numbers of a step are written whose largest magnitude is `reach`: a difference has its sign, as in +.25,
    and one that two decimals would make 0 a power of ten."""
    if not trace.difference:
        return format_fixed
    return format_signed_brief if reach >= MIN_TWO_DECIMAL_DIFFERENCE else format_signed_rough


def map_number_size(values: np.ndarray, cell: float, number: Callable[[float], str] = format_fixed) -> float:
    """The size of the numbers in a map's cells, all alike; 0 where they would be too small to read. number: how they
    are written."""
    size = min(16.0, (cell - 4) / widest_number(values, number))
    return size if size >= 9.0 else 0.0


def widest_number(values: np.ndarray, number: Callable[[float], str] = format_fixed) -> float:
    """The width of the widest number of a map, at size 1."""
    return max((text_width(number(value), 1.0) for value in values.reshape(-1).tolist()), default=1.0)


def comfortable_cell_size(panels: Sequence[Panel], most: float, number: Callable[[float], str] = format_fixed) -> float:
    """The largest cell that is wanted: `most`, or what the widest number needs to be read, written by `number`."""
    return max([most, *(5 + 14.0 * widest_number(drawn.values, number) for drawn in panels)])


def cell_size(rows: int, columns: int, width: float, most: float = 40.0, least: float = 10.0) -> float:
    """A cell's side in pixels so that so many columns fit, and the rows too where they stay large enough to read."""
    return float(min(most, max(least, width // columns), max(16.0, width // rows)))


@lru_cache(maxsize=64)
def place_ramp(palette: Palette, x: float, y: float, width: float, keys: int, times: bool = False) -> tuple[dict, ...]:
    """The scale of the weights with the even share 1/S marked on it: from 0 to 1, or in multiples of that share."""
    steps, reach = 32, darkest_share(keys, times)
    fills, _ = shade_cells(np.linspace(0, 1, steps), 1.0, True, palette)
    bar = {"kind": "bar", "y": y, "y2": y + 7}
    rows = [
        {**bar, "x": x + i * width / steps, "x2": x + (i + 1) * width / steps + 0.6, "fill": fill}
        for i, fill in enumerate(fills)
    ]
    even = x + width / (keys * reach)
    rows.append({**bar, "x": even - 1, "x2": even + 1, "y": y - 3, "y2": y + 10, "fill": palette.outline})
    first, last = (
        ("1×", f"≥ {DARKEST_EVEN_SHARES}×" if keys > DARKEST_EVEN_SHARES else f"{keys}×")
        if times
        else (f"1/{keys}", "1")
    )
    texts = [("0", x, "left"), (last, x + width, "right")]
    texts += [(first, min(max(even, x + 26), x + width - 40), "center")] if keys > 1 else []
    return (*rows, *(place_label(text, at, y + 19, palette, size=13.0, align=align) for text, at, align in texts))


def place_signed_ramp(palette: Palette, x: float, y: float, width: float, reach: float) -> list[dict]:
    """The scale of a difference: from what was lost to what was gained, nothing in the middle.

    Where nothing differs, its ends have signs and no numbers.
    """
    steps = 33
    fills, _ = shade_cells(np.linspace(-1, 1, steps), 1.0, False, palette)
    bar = {"kind": "bar", "y": y, "y2": y + 7}
    rows = [
        {**bar, "x": x + i * width / steps, "x2": x + (i + 1) * width / steps + 0.6, "fill": fill}
        for i, fill in enumerate(fills)
    ]
    least, most = (format_signed(-reach), format_signed(reach)) if reach else ("−", "+")
    texts = [(least, x, "left"), ("0", x + width / 2, "center"), (most, x + width, "right")]
    return rows + [place_label(text, at, y + 19, palette, size=13.0, align=align) for text, at, align in texts]
