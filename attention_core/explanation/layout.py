"""Lays out a step as cells of a picture: one matrix, or a matrix product with both operands.

The terms of the cells determine which operand is at the left of the result, and which above it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property

import numpy as np
import torch
from torch import Tensor

from attention_core.record.expressions import Cell, Constant, Ref
from attention_core.record.trace import Operation, Trace

TOKEN_AXES = ("T", "S", "S'")  # axes of tokens; S' is the second key axis of a Jacobian
MAX_PANEL_SIDE = 64  # most rows or columns that are drawn; Panel.hidden counts the rest


@dataclass(frozen=True, eq=False)
class Panel:
    """A matrix of cells of one step, of which only a part may be drawn.

    refs: refs[row][column] is the reference of a cell. hidden: how many rows and columns are not drawn. first: the
    positions of the first drawn row and column on their axes.
    """

    step: str
    rows: str  # name of the axis along the rows, such as "T"
    columns: str
    refs: tuple[tuple[Ref, ...], ...]
    whole: Tensor  # all numbers of the step
    hidden: tuple[int, int] = (0, 0)
    first: tuple[int, int] = (0, 0)

    @cached_property
    def values(self) -> np.ndarray:
        """Return the cells' float64 numbers; they are computed at the first access, because many callers need only the
        refs.
        """
        return gather_values(self.whole, self.refs)


@dataclass(frozen=True, eq=False)
class Product:
    """A matrix product left x above = result: row r of left and column c of above give the cell (r, c) of result."""

    left: Panel
    above: Panel
    result: Panel


def panel(
    trace: Trace,
    step: str,
    at: Mapping[str, int] | None = None,
    largest: int = MAX_PANEL_SIDE,
    widest: int | None = None,
) -> Panel:
    """Lay out the last two axes of a step as a panel.

    at: the index on each axis before the last two (by default 0). If not all tokens fit, those around the position in
    `at` are drawn. largest: the most positions that are drawn on an axis of tokens. widest: the most on any other axis;
    None means `largest`.

    >>> import torch
    >>> from attention_core import attend_qkv
    >>> trace = attend_qkv(torch.eye(2), torch.eye(3)[:, :2], torch.eye(3))
    >>> panel(trace, "weights").values.shape, panel(trace, "v").refs[2][0]
    ((2, 3), Ref(step='v', index=(0, 0, 2, 0)))
    """
    at = at or {}
    laid_out = trace.steps[step]
    shape = laid_out.shape
    is_matrix = len(shape) > 1
    row_dim, column_dim = panel_dims(trace, step)
    row_count = shape[-2] if is_matrix else 1
    column_count = shape[-1]
    most_rows = axis_limit(row_dim, largest, widest)
    most_columns = axis_limit(column_dim, largest, widest)
    rows = drawn_positions(row_count, most_rows, at.get(row_dim, 0))
    columns = drawn_positions(column_count, most_columns, at.get(column_dim, 0))
    leading = laid_out.leading(at).values()
    refs = []
    for row in rows:
        place = (*leading, row) if is_matrix else ()
        refs.append([Ref(step, (*place, column)) for column in columns])
    hidden_rows = row_count - len(rows)
    hidden_columns = column_count - len(columns)
    return gather_panel(
        trace,
        step,
        refs,
        dims=(row_dim, column_dim),
        hidden=(hidden_rows, hidden_columns),
    )


def panel_dims(trace: Trace, step: str) -> tuple[str, str]:
    """Return the axes of a panel's rows and columns; the row axis is "" if a single or broadcast row is drawn."""
    dims = trace.steps[step].dims
    if len(dims) == 1 or is_broadcast_axis(trace, step, -2):
        return "", dims[-1]
    return dims[-2:]


def axis_limit(dim: str, largest: int, widest: int | None) -> int:
    """Return how many positions are drawn at most on an axis: `largest` for a token axis, else `widest` if it is
    set.
    """
    if widest is None or dim in TOKEN_AXES:
        return largest
    return widest


def drawn_positions(size: int, most: int, position: int) -> range:
    """Return the drawn positions of an axis: at most `most`, with `position` in the middle if possible.

    >>> drawn_positions(10, 4, 5), drawn_positions(10, 4, 0), drawn_positions(10, 4, 9), drawn_positions(3, 4, 2)
    (range(3, 7), range(0, 4), range(6, 10), range(0, 3))
    """
    drawn = min(size, most)
    first = position - drawn // 2
    first = max(0, min(first, size - drawn))
    return range(first, first + drawn)


def is_broadcast_axis(trace: Trace, step: str, axis: int) -> bool:
    """Return whether the single entry of an axis holds for all positions (is broadcast), as in a mask equal for all
    queries.

    Only steps with an axis of queries and one of keys broadcast in this way, and not the single key of a cache.
    """
    broadcast = trace.steps[step]
    dims = broadcast.dims
    if "T" not in dims or "S" not in dims:
        return False
    whole_size = trace.sizes()[dims[axis]]
    return broadcast.shape[axis] == 1 and whole_size > 1


def gather_panel(
    trace: Trace,
    step: str,
    refs: list[list[Ref]],
    dims: tuple[str, str],
    hidden: tuple[int, int] = (0, 0),
) -> Panel:
    """Make a Panel, a drawable matrix, of the given cells of one step.

    dims: the axes of the panel's rows and columns.
    """
    first_cell = refs[0][0]
    source = trace.steps[step]
    starts = dict(zip(source.dims, first_cell.index, strict=True))
    row_dim, column_dim = dims
    return Panel(
        step,
        rows=row_dim,
        columns=column_dim,
        refs=tuple(tuple(row) for row in refs),
        whole=source.value,
        hidden=hidden,
        first=(starts.get(row_dim, 0), starts.get(column_dim, 0)),
    )


def gather_values(value: Tensor, refs: Sequence[Sequence[Ref]]) -> np.ndarray:
    """Read the numbers of the given cells of a step."""
    places = []
    for row in refs:
        places.append([ref.index for ref in row])
    indices = torch.from_numpy(np.array(places))  # (rows, columns, axes)
    drawn = value.detach().cpu()[indices.unbind(-1)]  # (rows, columns), by one index array per axis
    return drawn.double().numpy()


def transpose_panel(part: Panel) -> Panel:
    """Transpose a panel.

    >>> import torch
    >>> from attention_core import attend_qkv
    >>> k = panel(attend_qkv(torch.eye(2), torch.eye(3)[:, :2], torch.eye(3)), "k")
    >>> transpose_panel(k).values.shape, transpose_panel(k).refs[1][2]
    ((2, 3), Ref(step='k', index=(0, 0, 2, 1)))
    """
    return Panel(
        part.step,
        rows=part.columns,
        columns=part.rows,
        refs=tuple(zip(*part.refs, strict=True)),
        whole=part.whole,
        hidden=part.hidden[::-1],
        first=part.first[::-1],
    )


# ---- products --------------------------------------------------------------------------------------------------------
def product(
    trace: Trace,
    step: str,
    at: Mapping[str, int] | None = None,
    largest: int = MAX_PANEL_SIDE,
    widest: int | None = None,
) -> Product | None:
    """Lay out the step as left x above = result; return None if its cells are no products of a row with a column.

    >>> import torch
    >>> from attention_core import attend_qkv
    >>> scores = product(attend_qkv(torch.eye(2), torch.eye(2), torch.eye(2)), "scores")
    >>> scores.left.step, scores.above.step, product(attend_qkv(*[torch.eye(2)] * 3), "weights")
    ('q', 'k', None)
    """
    operation = trace.steps[step].operation
    if operation is None:
        return None
    result = panel(trace, step, at, largest, widest)
    factors = find_factors(operation, result, trace.shapes())
    if factors is None:
        return None
    left_refs, above_refs = factors
    inner = inner_axis(trace, left_refs[0])
    most = axis_limit(inner, largest, widest)
    hidden_rows, hidden_columns = result.hidden
    left = operand_panel(trace, left_refs, result.rows, hidden_rows, most)
    above = operand_panel(trace, above_refs, result.columns, hidden_columns, most)
    return Product(left, transpose_panel(above), result)


LEFT, ABOVE = 0, -1  # index of the factor in a term that comes from the left operand, and from the one above
Factors = list[list[Ref]]  # per row or column of a result: its operand cells


def find_factors(
    operation: Operation, result: Panel, shapes: Mapping[str, tuple[int, ...]]
) -> tuple[Factors, Factors] | None:
    """Find the operand cells of a product: the cells of `left` for each row, and of `above` for each column.

    The first row and the first column of the result determine them, and its last cell is checked. Returns None if the
    step is no product.
    """

    @cache  # cached, because a corner cell is needed for its row and for its column
    def cell_of(ref: Ref) -> Cell:
        return operation.cell(ref.index, shapes)

    first_row = result.refs[0]
    last_row = result.refs[-1]
    first_cell = cell_of(first_row[0])
    if not factor_refs(first_cell, LEFT):  # true for most steps, which are no products
        return None
    first_column = [row[0] for row in result.refs]
    lefts = [factor_refs(cell_of(ref), LEFT) for ref in first_column]
    aboves = [factor_refs(cell_of(ref), ABOVE) for ref in first_row]
    last_cell = cell_of(last_row[-1])
    if factor_refs(last_cell, LEFT) != lefts[-1]:
        return None
    if factor_refs(last_cell, ABOVE) != aboves[-1]:
        return None
    if not aboves[0]:
        return None
    return lefts, aboves


def factor_refs(cell: Cell, which: int) -> list[Ref]:
    """Return the left factors (LEFT) or the right factors (ABOVE) of a cell's terms, such as the q or the k of a score.

    The list is empty for a sum of single numbers, and for terms with a constant or more than two factors. It is also
    empty if these factors come from more than one step.
    """
    if cell.function not in ("sum", "cosine"):
        return []
    refs = []
    for term in cell.terms:
        if any(isinstance(factor, Constant) for factor in term):
            return []
        if len(term) > 2:  # q W_a k has three factors, so it is no row times column
            return []
        if len(term) == 2:
            refs.append(term[which])
    if len({ref.step for ref in refs}) != 1:
        return []
    return list(dict.fromkeys(refs))


def inner_axis(trace: Trace, refs: list[Ref]) -> str:
    """Return the axis over which a product sums: the last axis along which the operand's index changes."""
    dims = trace.steps[refs[0].step].dims
    inner = dims[-1]
    for dim, first, last in zip(dims, refs[0].index, refs[-1].index, strict=True):
        if first != last:
            inner = dim
    return inner


def operand_panel(trace: Trace, factors: Factors, dim: str, hidden: int, most: int) -> Panel:
    """Lay out an operand of a product as a panel: its rows are the axis that it shares with the result, its columns the
    summed axis.

    hidden: how many rows of the result are not drawn. most: how many positions of the summed axis are drawn at most.
    """
    every_ref = factors[0]
    step = every_ref[0].step
    inner = inner_axis(trace, every_ref)
    hidden_inner = max(len(every_ref) - most, 0)
    refs = [row[:most] for row in factors]
    return gather_panel(trace, step, refs, (dim, inner), (hidden, hidden_inner))


# ---- parts of panels -------------------------------------------------------------------------------------------------
def cut_panel(part: Panel, row: int | None = None, column: int | None = None) -> Panel:
    """Return one row or one column of a panel as a panel; if both are given, the cell where they meet.

    >>> import torch
    >>> from attention_core import attend_qkv
    >>> from attention_core.explanation.layout import panel
    >>> weights = panel(attend_qkv(torch.eye(2), torch.eye(2), torch.eye(2)), "weights")
    >>> one = cut_panel(weights, row=1)
    >>> one.values.shape, one.first, one.refs[0][1]
    ((1, 2), (1, 0), Ref(step='weights', index=(0, 0, 1, 1)))
    """
    rows = columns = slice(None)
    first_row, first_column = part.first
    if row is not None:
        rows = slice(row, row + 1)
        first_row += row
    if column is not None:
        columns = slice(column, column + 1)
        first_column += column
    return replace(
        part,
        refs=tuple(line[columns] for line in part.refs[rows]),
        first=(first_row, first_column),
    )


def find_in_panel(part: Panel, cell: Ref) -> tuple[int, int]:
    """Find the row and the column of a cell in a panel.

    >>> import torch
    >>> from attention_core import attend_qkv
    >>> from attention_core.explanation.layout import panel
    >>> find_in_panel(panel(attend_qkv(torch.eye(2), torch.eye(2), torch.eye(2)), "v"), Ref("v", (0, 0, 1, 0)))
    (1, 0)
    """
    for row, line in enumerate(part.refs):
        if cell in line:
            return row, line.index(cell)
    raise ValueError(f"the panel does not show this cell: got {cell}")


def crossing(whole: Product, cell: Ref) -> Product:
    """Return the part of a product for one cell of the result: this cell, its row of left, and its column of above.

    >>> import torch
    >>> from attention_core import attend_qkv
    >>> from attention_core.explanation.layout import product
    >>> scores = product(attend_qkv(torch.eye(2), torch.eye(2), torch.eye(2)), "scores")
    >>> crossing(scores, Ref("scores", (0, 0, 1, 0))).left.values
    array([[0., 1.]])
    """
    row, column = find_in_panel(whole.result, cell)
    return Product(
        left=cut_panel(whole.left, row=row),
        above=cut_panel(whole.above, column=column),
        result=cut_panel(whole.result, row, column),
    )
