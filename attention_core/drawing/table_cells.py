"""Writes the cells of a matrix for a table: each cell's text, and its colours in the light and in the dark theme."""

from itertools import chain

from attention_core.drawing.cells import colour_reach, is_share, write_number
from attention_core.drawing.palette import DARK_PALETTE, LIGHT_PALETTE, shade_cells
from attention_core.explanation.layout import Panel
from attention_core.record.expressions import Ref
from attention_core.record.trace import Trace

CellColours = tuple[str, str, str, str]  # background and text colour, in the light, then in the dark theme


def cell_colours(drawn: Panel, trace: Trace) -> dict[Ref, CellColours]:
    """Return the background and text colours of each cell of a matrix, by cell."""
    values = drawn.values.reshape(-1)
    shares = is_share(trace, drawn.step)
    batch = drawn.refs[0][0].index[0]
    reach = colour_reach(trace, drawn.step, batch)
    light = shade_cells(values, reach, shares, LIGHT_PALETTE)
    dark = shade_cells(values, reach, shares, DARK_PALETTE)
    refs = chain.from_iterable(drawn.refs)
    colours = zip(*light, *dark, strict=True)
    return dict(zip(refs, colours, strict=True))


def table_cell_text(trace: Trace, ref: Ref, value: float, is_blocked: bool) -> str:
    """Return the text of a cell: a number with two decimals, a truth value as 1 or 0, and a blocked weight as 0."""
    if not trace.step(ref.step).dtype.is_floating_point:
        return str(int(value))
    return write_number(value, is_blocked)
