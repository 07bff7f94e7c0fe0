"""Finds the head of a table and the names of its rows, and removes them."""

import re

from attention_core.inputs.pasted.commas import is_one_number
from attention_core.inputs.pasted.refusals import Cells, ambiguous_error
from attention_core.record.errors import AttentionError

INDEX_HEADS = ("", "index", "unnamed: 0", '""')
# Words for a missing number: they are no names.
NO_NAMES = frozenset(("nan", "inf", "infinity", "na", "n/a", "none", "null", "nil", "true", "false", "missing"))
COMPUTED = re.compile(r"[()=+*/^\\{}]")
LABELLED_NUMBER = re.compile(r":[ \t]*[+\-−]?[0-9.]")  # in "Row 1: 2", a name and a number in one cell
NUMBER_LIKE = re.compile(r"[+\-−]?[0-9.,][^\s]*|[0-9OolISB.,+\-−]+")


def numbers_alone(cells: Cells, name: str, is_ruled: bool = False, has_index: bool = False) -> Cells:
    """Removes the head of a table, the names of its rows, and a last empty column.

    is_ruled: whether a line is under the first row, as in a Markdown table. has_index: whether the first column is
    known to number the rows. Raises AttentionError: ambiguous_head if a ruled first row of consecutive numbers can
    be the head or a row; ambiguous_index if a first column of numbers can number the rows.

    >>> numbers_alone([["", "it", "dog"], ["it", "1", "2"], ["dog", "3", "4"]], "w")
    [['1', '2'], ['3', '4']]
    """
    cells = without_last_separators(without_quotes(cells))
    heads = 0
    while heads < len(cells) - 1 and is_head(cells[heads]):
        heads += 1
    rows = cells[heads:]
    if not rows:
        return cells
    width = max(map(len, rows))
    head = max(cells[:heads], key=len, default=None)
    if head is not None:
        is_shorter = len(rows[0]) == width == len(head) + 1
        has_corner = len(head) == width > 1 and is_index_head(head[0])
        if has_corner and not any(COMPUTED.search(row[0]) for row in rows if row):
            return first_column_gone(rows)
        if is_shorter:
            return named_column_gone(rows, name, len(head) > 1)
    elif is_counted_head(cells):
        return first_column_gone(cells[1:])
    if has_index and all(len(row) > 1 for row in rows):
        return first_column_gone(rows)
    if len(rows) > 1 and all(map(is_named_row, rows)):
        return first_column_gone(rows)
    if is_ruled and head is None and len(rows) > 1 and counts_from(rows[0]) is not None:
        raise ambiguous_error("ambiguous_head", name, (rows[1:], rows), given="  ".join(rows[0])[:40])
    return rows


def named_column_gone(rows: Cells, name: str, is_index: bool) -> Cells:
    """The rows without their first column, if it contains names, or consecutive numbers in a table with an index.

    Raises AttentionError: ambiguous_index if it contains other numbers.
    """
    column = [row[0] for row in rows if row]
    if all(map(is_name, column)) or (is_index and counts_from(column) is not None):
        return first_column_gone(rows)
    raise ask_index(rows, name)


def refuse_counting_column(rows: Cells, name: str) -> None:
    """Raises AttentionError (ambiguous_index) if the first column has consecutive numbers: it may number the rows."""
    column = [row[0] for row in rows if row]
    start = counts_from(column)
    if start == 0 or (start == 1 and len(column) > 1):
        raise ask_index(rows, name)


def ask_index(rows: Cells, name: str) -> AttentionError:
    """The error that asks whether the first column holds row numbers instead of data."""
    given = "  ".join(row[0] for row in rows if row)[:40]
    return ambiguous_error("ambiguous_index", name, (rows, first_column_gone(rows)), given=given)


def first_column_gone(rows: Cells) -> Cells:
    """The rows without their first column."""
    return [row[1:] for row in rows]


def is_head(row: list[str]) -> bool:
    """Whether a row contains names alone, at least one."""
    named = [cell for cell in row if cell.strip()]
    return bool(named) and all(map(is_name, named))


def is_index_head(cell: str) -> bool:
    """Whether the heading of the first column means that it contains the names of the rows."""
    return cell.strip().lower() in INDEX_HEADS


def is_name(cell: str) -> bool:
    """Whether a cell is a name: it has a letter, and is neither like a number nor a word for a missing one."""
    cell = cell.strip()
    if not cell or NUMBER_LIKE.fullmatch(cell) or cell.lower().lstrip("+-−") in NO_NAMES:
        return False
    if cell.startswith("#") and cell[-1] in "!?":  # an error of a spreadsheet
        return False
    return any(sign.isalpha() for sign in cell)


def is_row_name(cell: str) -> bool:
    """Whether a cell is a name even without a head: it contains nothing that could be computed."""
    return is_name(cell) and not COMPUTED.search(cell) and not LABELLED_NUMBER.search(cell)


def is_named_row(row: list[str]) -> bool:
    """Whether a row begins with a name and contains a number."""
    return bool(row) and is_row_name(row[0]) and any(map(is_one_number, row[1:]))


def is_counted_head(cells: Cells) -> bool:
    """Whether the first row and the first column count from 0 or from 1, like the index of a data frame.

    The corner is missing or empty, and no other row is as short.
    """
    if len(cells) < 2:
        return False
    head, rows = cells[0], cells[1:]
    if head and not head[0].strip():
        head = head[1:]
    width = len(rows[0])
    if len(head) != width - 1 or any(len(row) != width for row in rows):
        return False
    if len(head) == len(cells[0]) and len(cells[0]) != width - 1:
        return False
    start = counts_from(head)
    names = [row[0] for row in rows]
    if start is None:
        return False
    is_counted = counts_from(names) == start and (start == 0 or len(rows) > 1)
    return is_counted or (start == 0 and all(map(is_name, names)))


def counts_from(cells: list[str]) -> int | None:
    """The first number, 0 or 1, if the cells count up from it; else None."""
    texts = [cell.strip() for cell in cells]
    for start in (0, 1):
        if texts == [str(start + place) for place in range(len(texts))]:
            return start
    return None


def without_quotes(cells: Cells) -> Cells:
    """The cells without quotation marks around them."""
    return [[unquoted(cell) for cell in row] for row in cells]


def unquoted(cell: str) -> str:
    """A cell without the quotation marks around it."""
    inner = cell.strip()
    if len(inner) < 2 or inner[0] != inner[-1]:
        return cell
    return inner[1:-1].strip() if inner[0] in "\"'" else cell


def without_last_separators(cells: Cells) -> Cells:
    """The cells without the empty cells at the end of rows that a separator at the end of a line leaves."""
    cells = list(cells)
    while len(cells) > 1 and is_empty_row(cells[-1]):
        cells.pop()
    surplus = min((count_last_empty(row) for row in cells), default=0)
    cells = [row[: len(row) - surplus] for row in cells]
    lengths = {len(row) for row in cells}
    if len(lengths) > 1:  # only some lines end with a separator
        shortest = min(lengths)
        surplus_text = "".join(cell for row in cells for cell in row[shortest:])
        if shortest > 1 and not surplus_text.strip():
            cells = [row[:shortest] for row in cells]
    return cells


def is_empty_row(row: list[str]) -> bool:
    """Whether a row has several cells that are all empty."""
    return len(row) > 1 and not "".join(row).strip()


def count_last_empty(row: list[str]) -> int:
    """Counts the empty cells at the end of a row, without its first cell."""
    for count, cell in enumerate(reversed(row[1:])):
        if cell.strip():
            return count
    return max(len(row) - 1, 0)
