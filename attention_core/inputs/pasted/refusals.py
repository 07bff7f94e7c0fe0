"""Makes the errors for pasted texts that cannot be parsed, or that have several readings."""

from collections.abc import Sequence

from attention_core.inputs.tokenizer import printable_token
from attention_core.record.errors import AttentionError

MAX_CHOICES = 8  # most matrices among which an error lets the user choose
MAX_SHOWN_CHARACTERS = 20  # most characters of a cell that an error quotes
Cells = list[list[str]]  # the text of each cell, row by row


def safe_excerpt(text: str, limit: int = MAX_SHOWN_CHARACTERS) -> str:
    """Return the beginning of a cell or a name, without characters that are unsafe to print in an error."""
    beginning = printable_token(text[:limit])
    return f"{beginning}…" if len(text) > limit else beginning


def brackets_error(text: str, name: str) -> AttentionError:
    """Return the error for brackets that are not closed, or that have other text between them."""
    return AttentionError("brackets", name=name, given=safe_excerpt(text.strip()))


def not_understood(text: str, position: int, name: str) -> AttentionError:
    """Return the error for a part of a text that could not be parsed, and that may change the numbers.

    position: the index in the text at which the piece begins.
    """
    line = text.count("\n", 0, position) + 1
    piece = " ".join(text[position : position + 2 * MAX_SHOWN_CHARACTERS].split())
    return AttentionError("not_understood", name=name, line=line, given=safe_excerpt(piece))


def ambiguous_error(code: str, name: str, readings: Sequence[Cells], **values) -> AttentionError:
    """Return an error that offers several readings of a text, among which the visitor chooses.

    readings: the cells of each reading; the error has each as a text with only one reading.
    """
    texts = tuple(write_cells(cells) for cells in readings)
    return AttentionError(code, name=name, readings=texts, **values)


def join_rows(matrices: Sequence[Cells]) -> Cells | None:
    """Put the rows of several matrices one below the other; return None if the rows differ in length.

    >>> join_rows([[["1", "2"]], [["3", "4"]]]), join_rows([[["1", "2"]], [["3"]]])
    ([['1', '2'], ['3', '4']], None)
    """
    rows = [row for cells in matrices for row in cells]
    return rows if len(set(map(len, rows))) == 1 else None


def write_cells(cells: Cells) -> str:
    """Write cells as text, with spaces between them and one row per line.

    >>> write_cells([["1", " 2 "], ["1 / 3", "4"]])
    '1  2\\n1/3  4'
    """
    return "\n".join("  ".join("".join(cell.split()) for cell in row) for row in cells)
