"""The errors of a pasted text: for what is not understood, and for texts with several readings."""

from collections.abc import Sequence

from attention_core.inputs.tokenizer import printable_token
from attention_core.record.errors import AttentionError

MAX_CHOICES = 8  # the most matrices of a text that an error offers
MAX_SHOWN_CHARACTERS = 20  # the most characters of a cell in an error
Cells = list[list[str]]  # the texts of a matrix, row by row


def safe_excerpt(text: str, limit: int = MAX_SHOWN_CHARACTERS) -> str:
    """The beginning of a cell or a name, safe to print in an error."""
    beginning = printable_token(text[:limit])
    return f"{beginning}…" if len(text) > limit else beginning


def brackets_error(text: str, name: str) -> AttentionError:
    """The error of brackets that are not closed, or have something between them."""
    return AttentionError("brackets", name=name, given=safe_excerpt(text.strip()))


def not_understood(text: str, position: int, name: str) -> AttentionError:
    """The error of a part of a text that is not understood and could change the numbers."""
    line = text.count("\n", 0, position) + 1
    piece = " ".join(text[position : position + 2 * MAX_SHOWN_CHARACTERS].split())
    return AttentionError("not_understood", name=name, line=line, given=safe_excerpt(piece))


def ambiguous_error(code: str, name: str, readings: Sequence[Cells], **values) -> AttentionError:
    """The error that offers several readings. readings: cells, each written so that it has one reading."""
    texts = tuple(write_cells(cells) for cells in readings)
    return AttentionError(code, name=name, readings=texts, **values)


def join_rows(matrices: Sequence[Cells]) -> Cells | None:
    """The rows of several matrices, one below the other; None if their lengths differ.

    >>> join_rows([[["1", "2"]], [["3", "4"]]]), join_rows([[["1", "2"]], [["3"]]])
    ([['1', '2'], ['3', '4']], None)
    """
    rows = [row for cells in matrices for row in cells]
    return rows if len(set(map(len, rows))) == 1 else None


def write_cells(cells: Cells) -> str:
    """Writes cells with spaces between them, one row per line.

    >>> write_cells([["1", " 2 "], ["1 / 3", "4"]])
    '1  2\\n1/3  4'
    """
    return "\n".join("  ".join("".join(cell.split()) for cell in row) for row in cells)
