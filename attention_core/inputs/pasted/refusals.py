"""The refusals of a pasted text: what is not understood is named, and what has two readings is asked."""

from collections.abc import Sequence

from attention_core.inputs.tokenizer import printable_token
from attention_core.record.errors import AttentionError

MAX_CHOICES = 8  # matrices of one text, of which one is chosen
MAX_SHOWN_CHARACTERS = 20  # of a cell, in an error
Cells = list[list[str]]  # the texts of a matrix, row by row


def safe_excerpt(text: str, limit: int = MAX_SHOWN_CHARACTERS) -> str:
    """The beginning of a cell or a name, safe to print in an error."""
    beginning = printable_token(text[:limit])
    return f"{beginning}…" if len(text) > limit else beginning


def brackets_error(text: str, name: str) -> AttentionError:
    """The refusal of brackets that are not closed, or have something between them."""
    return AttentionError("brackets", name=name, given=safe_excerpt(text.strip()))


def not_understood(text: str, position: int, name: str) -> AttentionError:
    """The refusal of a piece of a text that is not understood, and could change the numbers."""
    line = text.count("\n", 0, position) + 1
    piece = " ".join(text[position : position + 2 * MAX_SHOWN_CHARACTERS].split())
    return AttentionError("not_understood", name=name, line=line, given=safe_excerpt(piece))


def ambiguous_error(code: str, name: str, readings: Sequence[Cells], **values) -> AttentionError:
    """The question which of several readings is meant. readings: cells, each written so that it is read in one way."""
    texts = tuple(write_cells(cells) for cells in readings)
    return AttentionError(code, name=name, readings=texts, **values)


def join_rows(matrices: Sequence[Cells]) -> Cells | None:
    """The rows of several matrices below each other; None where they are not equally long.

    >>> join_rows([[["1", "2"]], [["3", "4"]]]), join_rows([[["1", "2"]], [["3"]]])
    ([['1', '2'], ['3', '4']], None)
    """
    rows = [row for cells in matrices for row in cells]
    return rows if len(set(map(len, rows))) == 1 else None


def write_cells(cells: Cells) -> str:
    """Writes cells with spaces between them, a row a line.

    >>> write_cells([["1", " 2 "], ["1 / 3", "4"]])
    '1  2\\n1/3  4'
    """
    return "\n".join("  ".join("".join(cell.split()) for cell in row) for row in cells)
