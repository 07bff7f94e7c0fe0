"""How a step is laid out on a plane: one matrix of cells, or the matrix product that it is.

Nothing here knows a formula: which operand stands at the left and which above is read off the cells' own terms.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import torch

from attention_core.record.expressions import Cell, Constant, Ref
from attention_core.record.trace import Trace

TOKEN_AXES = ("T", "S", "S'")  # the axes that stand for tokens; S' the keys once more, in a Jacobian
MAX_PANEL_SIDE = 64  # rows or columns of cells that are drawn; what lies beyond is counted, never hidden silently


@dataclass(frozen=True, eq=False)
class Panel:
    """A matrix of cells of one step: `refs[row][column]` says where each number stands. `hidden` counts the rows and
    columns that there was no room for, `first` is the row and the column that the part begins with."""

    step: str
    rows: str  # the axis that runs down, such as "T"
    columns: str
    refs: tuple[tuple[Ref, ...], ...]
    values: np.ndarray  # float64, one number a cell
    hidden: tuple[int, int] = (0, 0)
    first: tuple[int, int] = (0, 0)


@dataclass(frozen=True, eq=False)
class Product:
    """left x above = result, their cells aligned: row r of left and column c of above make result's cell (r, c)."""

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
    """The last two axes of a step as a panel; `at` picks a position on each axis before them (0 where it is silent).
    Of tokens that there is no room for, those around the position in `at` are drawn.

    largest: the most rows or columns that stand for tokens; widest: the most of any other axis (None: as many).

    >>> import torch
    >>> from attention_core import attend_qkv
    >>> trace = attend_qkv(torch.eye(2), torch.eye(3)[:, :2], torch.eye(3))
    >>> panel(trace, "weights").values.shape, panel(trace, "v").refs[2][0]
    ((2, 3), Ref(step='v', index=(0, 0, 2, 0)))
    """
    widest = largest if widest is None else widest
    dims, shape = trace.step(step).dims, tuple(trace[step].shape)
    leading = tuple(trace.step(step).leading(at).values())
    rows, columns = shape[-2:] if len(shape) > 1 else (1, shape[0])
    row_dim = dims[-2] if len(dims) > 1 and not is_broadcast_axis(trace, step, -2) else ""
    tall, wide = (
        min(size, largest if dim in TOKEN_AXES else widest) for dim, size in ((row_dim, rows), (dims[-1], columns))
    )
    top, left = (
        window_around((at or {}).get(dim, 0), size, drawn)
        for dim, size, drawn in ((row_dim, rows, tall), (dims[-1], columns, wide))
    )
    indices = [
        [(*leading, r, c) if len(shape) > 1 else (c,) for c in range(left, left + wide)] for r in range(top, top + tall)
    ]
    refs = [[Ref(step, index) for index in row] for row in indices]
    return gather_panel(trace, step, refs, (row_dim, dims[-1]), (rows - tall, columns - wide))


def transpose_panel(part: Panel) -> Panel:
    """A panel as its transpose.

    >>> import torch
    >>> from attention_core import attend_qkv
    >>> k = panel(attend_qkv(torch.eye(2), torch.eye(3)[:, :2], torch.eye(3)), "k")
    >>> transpose_panel(k).values.shape, transpose_panel(k).refs[1][2]
    ((2, 3), Ref(step='k', index=(0, 0, 2, 1)))
    """
    refs = tuple(zip(*part.refs, strict=True))
    return Panel(part.step, part.columns, part.rows, refs, part.values.T, part.hidden[::-1], part.first[::-1])


def window_around(position: int, size: int, drawn: int) -> int:
    """Where a part of `drawn` positions begins that has a position in its middle, as far as the size allows.

    >>> window_around(5, 10, 4), window_around(0, 10, 4), window_around(9, 10, 4), window_around(3, 4, 4)
    (3, 0, 6, 0)
    """
    return max(0, min(position - drawn // 2, size - drawn))


def is_broadcast_axis(trace: Trace, step: str, axis: int) -> bool:
    """Whether the one entry of an axis stands for all of its positions: a mask that is the same for every query. Of
    what belongs to tokens alone, such as the one key of a cache, it is the only one."""
    dims = trace.step(step).dims
    return {"T", "S"} <= {*dims} and trace[step].shape[axis] == 1 and trace.sizes()[dims[axis]] > 1


def gather_panel(
    trace: Trace, step: str, refs: list[list[Ref]], dims: tuple[str, str], hidden: tuple[int, int] = (0, 0)
) -> Panel:
    """A panel from the places of its cells."""
    places = np.array([[ref.index for ref in row] for row in refs])  # (rows, columns, axes)
    values = trace[step].detach().cpu()[tuple(torch.from_numpy(np.moveaxis(places, -1, 0)))]
    corner = dict(zip(trace.step(step).dims, refs[0][0].index, strict=True))
    first = (corner.get(dims[0], 0), corner.get(dims[1], 0))
    return Panel(step, *dims, tuple(map(tuple, refs)), values.double().numpy(), hidden, first)


def product(
    trace: Trace,
    step: str,
    at: Mapping[str, int] | None = None,
    largest: int = MAX_PANEL_SIDE,
    widest: int | None = None,
) -> Product | None:
    """The step as left x above = result, or None where its cells are no product of a row with a column.

    >>> import torch
    >>> from attention_core import attend_qkv
    >>> scores = product(attend_qkv(torch.eye(2), torch.eye(2), torch.eye(2)), "scores")
    >>> scores.left.step, scores.above.step, product(attend_qkv(*[torch.eye(2)] * 3), "weights")
    ('q', 'k', None)
    """
    operation = trace.step(step).operation
    if operation is None:
        return None
    result, shapes = panel(trace, step, at, largest, widest), trace.shapes()
    if not factor_refs(
        operation.cell(result.refs[0][0].index, shapes), 0
    ):  # before all others are written, which are many
        return None
    lefts = [factor_refs(operation.cell(row[0].index, shapes), 0) for row in result.refs]
    aboves = [factor_refs(operation.cell(ref.index, shapes), -1) for ref in result.refs[0]]
    corner = operation.cell(result.refs[-1][-1].index, shapes)
    is_product = lefts[0] and aboves[0] and (factor_refs(corner, 0), factor_refs(corner, -1)) == (lefts[-1], aboves[-1])
    if not is_product:
        return None
    rows, columns = result.hidden
    left_dims = (result.rows, inner_axis(trace, lefts[0]))
    above_dims = (inner_axis(trace, aboves[0]), result.columns)
    inner = largest if widest is None or left_dims[1] in TOKEN_AXES else widest
    inner_left, inner_above = (max(len(refs[0]) - inner, 0) for refs in (lefts, aboves))
    turned = [list(row) for row in zip(*(refs[:inner] for refs in aboves), strict=True)]
    return Product(
        gather_panel(trace, lefts[0][0].step, [refs[:inner] for refs in lefts], left_dims, (rows, inner_left)),
        gather_panel(trace, aboves[0][0].step, turned, above_dims, (inner_above, columns)),
        result,
    )


def factor_refs(cell: Cell, which: int) -> list[Ref]:
    """The first (0) or last (-1) operand of every term that multiplies two of them, each once, in order.

    A sum of plain numbers has none; neither has a cell whose terms read more than one step at that place, or multiply
    by a number of the operation's own.
    """
    own = any(isinstance(factor, Constant) for term in cell.terms for factor in term)
    if own or cell.outer not in ("sum", "cosine"):
        return []
    pairs = [[factor for factor in term if isinstance(factor, Ref)] for term in cell.terms]
    if any(len(pair) > 2 for pair in pairs):  # q W_a k: a row times a matrix times a column
        return []
    refs = list(dict.fromkeys(pair[which] for pair in pairs if len(pair) > 1))
    return refs if len({ref.step for ref in refs}) == 1 else []


def inner_axis(trace: Trace, refs: list[Ref]) -> str:
    """The axis that the sum runs over: the one along which the operand's index changes."""
    dims = trace.step(refs[0].step).dims
    moving = [dim for axis, dim in enumerate(dims) if refs[0].index[axis] != refs[-1].index[axis]]
    return moving[-1] if moving else dims[-1]


def cut_panel(part: Panel, row: int | None = None, column: int | None = None) -> Panel:
    """One row or one column of a panel, or both.

    >>> import torch
    >>> from attention_core import attend_qkv
    >>> from attention_core.explanation.layout import panel
    >>> weights = panel(attend_qkv(torch.eye(2), torch.eye(2), torch.eye(2)), "weights")
    >>> one = cut_panel(weights, row=1)
    >>> one.values.shape, one.first, one.refs[0][1]
    ((1, 2), (1, 0), Ref(step='weights', index=(0, 0, 1, 1)))
    """
    rows = slice(None) if row is None else slice(row, row + 1)
    columns = slice(None) if column is None else slice(column, column + 1)
    refs = tuple(line[columns] for line in part.refs[rows])
    first = (part.first[0] + (row or 0), part.first[1] + (column or 0))
    return replace(part, refs=refs, values=part.values[rows, columns], first=first)


def find_in_panel(part: Panel, cell: Ref) -> tuple[int, int]:
    """The row and the column of a panel where a cell stands.

    >>> import torch
    >>> from attention_core import attend_qkv
    >>> from attention_core.explanation.layout import panel
    >>> find_in_panel(panel(attend_qkv(torch.eye(2), torch.eye(2), torch.eye(2)), "v"), Ref("v", (0, 0, 1, 0)))
    (1, 0)
    """
    return next((r, line.index(cell)) for r, line in enumerate(part.refs) if cell in line)


def crossing(whole: Product, cell: Ref) -> Product:
    """The row of the left operand and the column of the right one that meet in a cell of the result, and the cell.

    >>> import torch
    >>> from attention_core import attend_qkv
    >>> from attention_core.explanation.layout import product
    >>> scores = product(attend_qkv(torch.eye(2), torch.eye(2), torch.eye(2)), "scores")
    >>> crossing(scores, Ref("scores", (0, 0, 1, 0))).left.values
    array([[0., 1.]])
    """
    row, column = find_in_panel(whole.result, cell)
    return Product(
        cut_panel(whole.left, row=row), cut_panel(whole.above, column=column), cut_panel(whole.result, row, column)
    )
