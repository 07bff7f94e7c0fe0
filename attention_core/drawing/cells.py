"""Builds the table rows ("marks") of each picture made of cells: rectangles, texts and outlines, with coordinates in
pixels.

A blocked cell is hatched; no colour scale applies to it.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np

from attention_core.drawing.palette import Palette, shade_cells
from attention_core.drawing.text_layout import PictureTexts, text_width
from attention_core.explanation.formula import colour_family
from attention_core.explanation.layout import Panel
from attention_core.explanation.shown_steps import cell_in, shown_name
from attention_core.mechanism.normalisers import has_two_maps, maps_of
from attention_core.record.expressions import Ref
from attention_core.record.number_text import choose_signed_format, format_exact, format_fixed
from attention_core.record.trace import Trace

MASKED_STEPS = {
    "masked_scores",
    "masked_scores_2",
    "weights_1",
    "weights_2",
    "weights",
    "computed_weights",
    "dropped_weights",
}  # steps for pairs of query and key; their blocked cells are hatched
SHARE_STEPS = {
    "weights_1",
    "weights_2",
    "weights",
    "computed_weights",
    "replacement",
    "chosen_weights",
    "naive_weights",
    "stable_weights",
    "rounded_weights",
    "heard",
    "foretold",
    "even_shares",
}  # steps drawn in purple, the colour of weights; other steps have one colour for positive, one for negative numbers
TIMES_STEP = "even_shares"  # step with the weights divided by the uniform weight, also drawn in purple
DARKEST_EVEN_SHARES = 5  # multiple of the uniform weight 1/S from which the colour is strongest
MIN_NUMBER_PX, MAX_NUMBER_PX = 9.0, 16.0  # in pixels: letter sizes of a number in a cell; smaller ones are not drawn
NUMBER_SHARE = 0.4  # the text size of a number, as a share of the side of a large cell


def is_share(trace: Trace, step: str) -> bool:
    """Return whether a step is coloured as shares, in purple from 0 to 1.

    A difference of shares has signed colours instead.
    """
    is_difference = trace.difference or (has_two_maps(trace) and step not in maps_of(trace))
    return step in SHARE_STEPS and not is_difference


def darkest_share(keys: int, times: bool) -> float:
    """Return the share that has the strongest colour: 1, or a few times the uniform share 1/S if colours show multiples
    of it.
    """
    return min(1.0, DARKEST_EVEN_SHARES / keys) if times else 1.0


def colour_reach(trace: Trace, step: str, batch: int = 0) -> float:
    """Return the magnitude that has a step's strongest colour: 1 for shares, else the largest finite magnitude.

    For weights as multiples of the uniform weight 1/S it is 5, or S if S is less. batch: the index of the sequence; all
    of its heads share one scale.
    """
    if step == TIMES_STEP and is_share(trace, step):
        return float(min(trace.step(step).shape[-1], DARKEST_EVEN_SHARES))
    if is_share(trace, step):
        return 1.0
    value = trace[step].detach()
    if trace.step(step).dims[0] == "B":
        last = len(value) - 1
        value = value[min(batch, last)]
    magnitudes = value.double().abs()
    largest = magnitudes.max().item()
    if math.isfinite(largest):
        return largest
    finite = magnitudes.masked_fill(~magnitudes.isfinite(), 0.0)
    return finite.max().item()


# ---- the table of cells ----------------------------------------------------------------------------------------------
CELL_COLUMNS = {
    "kind": "cell",  # what the row draws: a cell (default), blocked, chosen, read, label, tilted or bar
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
    """Turn the table rows of a picture into columns: a mapping from column name to values."""
    return fill_columns(rows, CELL_COLUMNS)


def fill_columns(rows: Sequence[dict], usual: dict[str, object]) -> dict[str, list]:
    """Turn table rows into columns: a mapping from column name to values.

    usual: {column name: the value for rows that lack this column}.
    """
    return {column: [row.get(column, value) for row in rows] for column, value in usual.items()}


def box(x: float, x2: float, y: float, y2: float) -> dict[str, float]:
    """Return the coordinates of a rectangle: left x, right x2, top y, bottom y2."""
    return {"x": x, "x2": x2, "y": y, "y2": y2}


def grid_box(origin: tuple[float, float], row: int, column: int, side: float) -> dict[str, float]:
    """Return the coordinates of a square cell in a matrix.

    origin: the upper left corner of the matrix.
    """
    left, top = origin
    return {
        "x": left + column * side,
        "x2": left + (column + 1) * side,
        "y": top + row * side,
        "y2": top + (row + 1) * side,
    }


def place_bar(rectangle: dict[str, float], fill: str) -> dict:
    """Return the mark of a coloured rectangle that is no cell, such as a bar."""
    return {"kind": "bar", **rectangle, "fill": fill}


def place_outline(rectangle: dict[str, float], palette: Palette) -> dict:
    """Return the mark that outlines a selected rectangle."""
    return {"kind": "chosen", **rectangle, "fill": palette.outline}


def outline_cell(cell: dict, palette: Palette) -> dict:
    """Return the mark that outlines the open cell."""
    return cell | {"kind": "chosen", "fill": palette.outline, "text": "", "what": ""}


def name_cell(ref: Ref, run: str = "") -> dict[str, str]:
    """Return the step and the index that identify a cell; the browser sends both after a click on the cell.

    run: the name of the cell's run, if a picture shows several runs.
    """
    return {
        "step": f"{run}:{ref.step}" if run else ref.step,
        "index": ",".join(map(str, ref.index)),
    }


# ---- a matrix --------------------------------------------------------------------------------------------------------
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
    """Return the cells of a panel as marks, with their numbers if these are legible at this cell size.

    The chosen cell is outlined; so are its operands, each in the colour of its symbol. origin: the upper left corner.
    size: the side of a cell. reach: the magnitude with the strongest colour; by default the step's reach.
    """
    if reach is None:
        batch = drawn.refs[0][0].index[0]
        reach = colour_reach(trace, drawn.step, batch)
    is_bool = not trace.step(drawn.step).dtype.is_floating_point
    number = choose_number_format(trace, reach)
    widest = text_width("✓", 1.0) if is_bool else widest_number(drawn.values, number)
    text_size = min(max(MAX_NUMBER_PX, NUMBER_SHARE * size), (size - 4) / widest)
    if text_size < MIN_NUMBER_PX:  # illegible
        text_size = 0.0
    shares = is_share(trace, drawn.step)
    fills, inks = shade_cells(drawn.values.reshape(-1), reach, shares, palette)
    colours = zip(fills, inks, strict=True)  # (fill colour, text colour) of each cell, row by row
    free = unblocked_cells(trace, drawn.step)
    operands = operands_of(chosen, trace, drawn.step)
    rows = []
    for row, refs in enumerate(drawn.refs):
        for column, ref in enumerate(refs):
            value = float(drawn.values[row, column])
            is_blocked = not free[ref.index]
            fill, ink = next(colours)
            if is_blocked or is_bool:
                fill, ink = palette.ground, palette.ink
            tick = "✓" if value else ""
            text = tick if is_bool else write_number(value, is_blocked, number)
            cell = {
                "kind": "blocked" if is_blocked else "cell",
                **grid_box(origin, row, column, size),
                "fill": fill,
                "ink": ink,
                "text": text if text_size else "",
                "size": text_size,
                "edge": palette.faint,
                **name_cell(ref),
                "what": words.describe(ref),
                "value": format_exact(value),
                "panel": name,
                "row": row,
                "column": column,
            }
            rows.append(cell)
            if ref == chosen:
                outline = {"kind": "chosen", "fill": palette.outline, "text": ""}
                rows.append(cell | outline)
            elif ref in operands:
                outline = {"kind": "read", "fill": symbol_colour(ref.step, palette), "text": ""}
                rows.append(cell | outline)
    return rows


def symbol_colour(step: str, palette: Palette) -> str:
    """Return the colour of a step's symbol, such as the colour of q; the text colour for a step without a symbol."""
    return palette.families().get(colour_family(step), palette.ink)


def operands_of(chosen: Ref | None, trace: Trace, step: str) -> set[Ref]:
    """Return the cells of a step from which the chosen cell was computed, directly or through copies.

    Returns None if the run has not the chosen cell's step, as a difference of two runs if only one of them has the
    step.
    """
    if chosen is None or chosen.step not in trace:
        return set()
    operation = trace.step(chosen.step).operation
    if operation is None:
        return set()
    if step in operation.reads:
        return trace.read_by(chosen)
    copies = [name for name in operation.reads if shown_name(trace, name) == step]
    return {Ref(step, cell_in(trace, ref, step)) for ref in trace.read_by(chosen) if ref.step in copies}


def unblocked_cells(trace: Trace, step: str) -> np.ndarray:
    """Return a boolean array in the shape of a step: True for a cell that no mask blocks.

    In scores and weights these are the allowed pairs; in a mask, its True cells. An infinite score without a mask has
    overflowed and is not blocked. A weight that the visitor typed for a blocked pair is not blocked either.
    """
    value = trace[step]
    if trace.difference:
        return value.isfinite().numpy()  # not finite where only one of two compared runs blocks the pair
    if not value.dtype.is_floating_point:
        return value.cpu().numpy()
    if step not in MASKED_STEPS or "allowed" not in trace:
        return np.broadcast_to(True, value.shape)
    allowed = trace["allowed"].cpu().expand_as(value)
    if "chosen_weights" in trace and step == "weights":
        is_chosen = value.detach().cpu() != 0
        allowed = allowed | is_chosen
    return allowed.numpy()


# ---- numbers in cells ------------------------------------------------------------------------------------------------
def choose_number_format(trace: Trace, reach: float) -> Callable[[float], str]:
    """Return the function that formats a step's numbers.

    reach: the step's largest magnitude.

    A difference has its sign, as in +0.25. If all differences would be rounded to 0 at two decimals, they are formatted
    as powers of ten.
    """
    return choose_signed_format(reach) if trace.difference else format_fixed


def write_number(value: float, is_blocked: bool, number: Callable[[float], str] = format_fixed) -> str:
    """Return the text of a cell: its formatted number, or "0" for a blocked weight."""
    return "0" if is_blocked and value == 0 else number(value)


def widest_number(values: np.ndarray, number: Callable[[float], str] = format_fixed) -> float:
    """Return the width of a matrix's widest number, as a multiple of the letter size.

    number: a function that formats a number.
    """
    widths = [text_width(number(value), 1.0) for value in values.reshape(-1).tolist()]
    return max(widths, default=1.0)


# ---- sizes of cells --------------------------------------------------------------------------------------------------
def comfortable_cell_size(panels: Sequence[Panel], most: float, number: Callable[[float], str] = format_fixed) -> float:
    """Return the preferred cell size: `most`, or more if the widest number would be illegible at that size."""
    needed = [5 + 14.0 * widest_number(drawn.values, number) for drawn in panels]
    return max([most, *needed])


def cell_size(rows: int, columns: int, width: float, most: float = 40.0, least: float = 10.0) -> float:
    """Return the cell side in pixels with which all columns fit the width, but at least `least`.

    The rows also fit a height equal to that width, unless the cells would then be smaller than 16 pixels.
    """
    for_columns = max(least, width // columns)
    for_rows = max(16.0, width // rows)
    return float(min(most, for_columns, for_rows))
