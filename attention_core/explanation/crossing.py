"""What one cell is made of, alone: the row and the column of a matrix product that meet in it."""

from dataclasses import replace

from attention_core.explanation.layout import Panel, Product
from attention_core.record.expressions import Ref


def only(part: Panel, row: int | None = None, column: int | None = None) -> Panel:
    """One row or one column of a panel, or both.

    >>> import torch
    >>> from attention_core import attend_qkv
    >>> from attention_core.explanation.layout import panel
    >>> weights = panel(attend_qkv(torch.eye(2), torch.eye(2), torch.eye(2)), "weights")
    >>> one = only(weights, row=1)
    >>> one.values.shape, one.first, one.refs[0][1]
    ((1, 2), (1, 0), Ref(step='weights', index=(0, 0, 1, 1)))
    """
    rows = slice(None) if row is None else slice(row, row + 1)
    columns = slice(None) if column is None else slice(column, column + 1)
    refs = tuple(line[columns] for line in part.refs[rows])
    first = (part.first[0] + (row or 0), part.first[1] + (column or 0))
    return replace(part, refs=refs, values=part.values[rows, columns], first=first)


def place_in(part: Panel, cell: Ref) -> tuple[int, int]:
    """The row and the column of a panel where a cell stands.

    >>> import torch
    >>> from attention_core import attend_qkv
    >>> from attention_core.explanation.layout import panel
    >>> place_in(panel(attend_qkv(torch.eye(2), torch.eye(2), torch.eye(2)), "v"), Ref("v", (0, 0, 1, 0)))
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
    row, column = place_in(whole.result, cell)
    return Product(only(whole.left, row=row), only(whole.above, column=column), only(whole.result, row, column))
