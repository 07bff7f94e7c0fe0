r"""Matrices as text: pasted from a spreadsheet or a program, copied into one, and on one line for a link."""

import math
import re
from collections.abc import Callable

import numpy as np
from jaxtyping import Float

from attention_core.inputs.tokenizer import printable_token
from attention_core.record.errors import AttentionError

MAX_ROWS, MAX_COLUMNS = 512, 512
MAX_CHARACTERS = 200_000
MAX_MAGNITUDE = 1e6  # float16 ends at 65504; beyond this neither it nor exp is readable
MAX_SHOWN_CHARACTERS = 20  # characters of a cell that an error repeats

Cells = list[list[str]]
# One reading of every digit, so that a long cell costs no more than its length.
NUMBER_PATTERN = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
DECIMAL_COMMA = re.compile(r"[+-]?[0-9]*,[0-9]+(?:[eE][+-]?[0-9]+)?")
THOUSANDS = re.compile(r"[+-]?[1-9][0-9]{0,2},[0-9]{3}")  # 1,234 is one thousand to some and one to others
INNERMOST = re.compile(r"\[([^\[\]]*)\]")
NOT_FINITE_WORDS = ("nan", "inf", "infinity")
WRAPPERS = ("array(", "np.array(", "numpy.array(", "tensor(", "torch.tensor(")  # as NumPy and PyTorch print


def parse_matrix(text: str, name: str = "matrix") -> Float[np.ndarray, "rows columns"]:
    r"""A matrix as people have it: pasted from a spreadsheet, printed by a program, or typed.

    text: rows by line or ";", cells by tab, comma or spaces; or in square brackets as Python, NumPy, PyTorch, JSON and
    MATLAB write them. Numbers: 1, -1.5, 1e-3, 1/3, and − for the minus. A decimal comma is read where tabs part the
    cells, or ";" on each of several lines; "1,2" is two cells. name: how errors call the matrix.

    Returns float64, at most 512 x 512, no number beyond a million.
    Raises AttentionError, with row and column counted from 1: matrix_empty, matrix_text_too_long, too_many_rows,
    too_many_columns, brackets, not_a_number, ambiguous_comma, cell_not_finite, too_large, ragged.

    >>> parse_matrix("1 2; 3 1/2")
    array([[1. , 2. ],
           [3. , 0.5]])
    >>> parse_matrix("[[1, 2], [3, 4]]").tolist(), parse_matrix("1,5\t2,0").tolist(), parse_matrix("1,2").tolist()
    ([[1.0, 2.0], [3.0, 4.0]], [[1.5, 2.0]], [[1.0, 2.0]])
    """
    return cells_to_array(split_cells(text, name), parse_number, name)


def split_cells(text: str, name: str = "matrix") -> Cells:
    """The cells of a text as they are written, row by row; what parse_matrix reads as numbers.

    Raises AttentionError: matrix_text_too_long, brackets, ambiguous_comma.

    >>> split_cells("0.50 ?; 1/3 2")
    [['0.50', '?'], ['1/3', '2']]
    """
    check_length(text, name)
    text = unwrap_array(text.removeprefix("\ufeff"))  # a file saved by a spreadsheet may begin with this mark
    return bracketed_cells(text, name) if "[" in text or "]" in text else plain_cells(text, name)


def to_text(array: Float[np.ndarray, "rows columns"], name: str = "matrix") -> str:
    """A matrix on one line for a link: cells by comma, rows by ";". `from_text` reads it back exactly.

    array: two axes, within the limits of from_text, so that no link is made that cannot be opened.

    Raises AttentionError: rank, empty, and what from_text refuses.

    >>> to_text(np.array([[1.0, 0.5], [-2.0, 0.0]]))
    '1,0.5;-2,0'
    """
    text = format_matrix(array, ",", ";", name)
    from_text(text, name)
    return text


def from_text(text: str, name: str = "matrix") -> Float[np.ndarray, "rows columns"]:
    """The matrix that `to_text` wrote, and nothing looser: "1,5" is two cells.

    text: numbers with a point, "," between cells, ";" between rows, no spaces. Returns float64, limits as parse_matrix.

    Raises AttentionError as parse_matrix.

    >>> from_text("1,0.5;-2,0")
    array([[ 1. ,  0.5],
           [-2. ,  0. ]])
    """
    check_length(text, name)
    cells = [row.split(",") for row in text.split(";")] if text else []
    return cells_to_array(cells, parse_plain_number, name)


# ---- from text to cells ----------------------------------------------------------------------------------------------
def check_length(text: str, name: str) -> None:
    """Refuses a text that is too long to be read at once."""
    if len(text) > MAX_CHARACTERS:
        raise AttentionError("matrix_text_too_long", name=name, given=len(text), limit=MAX_CHARACTERS)


def plain_cells(text: str, name: str) -> Cells:
    """The cells of a text without brackets."""
    lines = [line for line in text.splitlines() if line.strip()]
    if semicolons_part_cells(lines):
        return with_decimal_points([line.split(";") for line in lines], name)
    rows = split_rows(lines)
    if "\t" in text:
        return with_decimal_points([row.split("\t") for row in rows], name)
    return [row.split(",") if "," in text else row.split() for row in rows]


def split_rows(lines: list[str]) -> list[str]:
    """Rows end with a line or with ";"."""
    return [row for line in lines for row in line.split(";") if row.strip()]


def semicolons_part_cells(lines: list[str]) -> bool:
    """Whether ";" stands between cells, as spreadsheets save it where the comma is the decimal mark: several lines,
    each with one number on either side of every ";". On a single line ";" ends a row.
    """
    return len(lines) > 1 and all(
        ";" in line and all(is_one_number(cell.strip()) for cell in line.split(";")) for line in lines
    )


def is_one_number(cell: str) -> bool:
    cell = cell.replace("−", "-")
    return bool(NUMBER_PATTERN.fullmatch(cell) or DECIMAL_COMMA.fullmatch(cell))


def with_decimal_points(cells: Cells, name: str) -> Cells:
    """The cells with decimal points for decimal commas, if their commas can mean nothing else."""
    at = {(row, column): cell for row, line in enumerate(cells, 1) for column, cell in enumerate(line, 1)}
    commas = {place: cell.strip().replace("−", "-") for place, cell in at.items() if "," in cell}
    if not commas:
        return cells
    points = any("." in cell for cell in at.values())
    if points or all(THOUSANDS.fullmatch(cell) for cell in commas.values()):
        (row, column), cell = next(iter(commas.items()))
        raise AttentionError("ambiguous_comma", name=name, row=row, column=column, given=safe_excerpt(cell))
    return [[with_decimal_point(cell) for cell in line] for line in cells]


def with_decimal_point(cell: str) -> str:
    plain = cell.strip().replace("−", "-")
    return plain.replace(",", ".") if DECIMAL_COMMA.fullmatch(plain) else cell


def unwrap_array(text: str) -> str:
    """The brackets inside array(...) or tensor(..., dtype=...), as NumPy and PyTorch print; any other text as it is."""
    head, _, rest = text.partition("[")
    body, _, tail = rest.rpartition("]")
    tail = tail.strip()
    if head.strip() in WRAPPERS and tail.endswith(")") and tail[0] in "),":
        return f"[{body}]"
    return text


def bracketed_cells(text: str, name: str) -> Cells:
    """The cells of [[1, 2], [3, 4]], [1 2; 3 4], or rows in brackets one after the other."""
    rows, around = INNERMOST.findall(text), INNERMOST.sub(" ", text).strip()
    nested = around[:1] == "[" and around[-1:] == "]"
    between = around[1:-1] if nested else around
    if between.strip(",; \t\r\n"):  # a bracket left over was never closed, or is the third one deep
        raise AttentionError("brackets", name=name, given=safe_excerpt(text.strip()))
    if len(rows) == 1 and not nested:  # [1 2; 3 4], where a comma at a line's end goes on with the row
        rows = split_rows(re.sub(r",[ \t\r]*\n", ", ", rows[0]).splitlines())
    return [bracketed_row(row) for row in rows]


def bracketed_row(row: str) -> list[str]:
    """The cells between two brackets, where a line break is a space and Python allows a last comma."""
    row = row.strip().removesuffix(",")
    return row.split(",") if "," in row else row.split()


# ---- from cells to numbers -------------------------------------------------------------------------------------------
def cells_to_array(cells: Cells, read: Callable[[str], float | None], name: str) -> Float[np.ndarray, "rows columns"]:
    """The cells as numbers, if they are numbers and make a rectangle."""
    widest = max(map(len, cells), default=0)
    if not widest:
        raise AttentionError("matrix_empty", name=name)
    if len(cells) > MAX_ROWS:
        raise AttentionError("too_many_rows", name=name, given=len(cells), limit=MAX_ROWS)
    if widest > MAX_COLUMNS:
        raise AttentionError("too_many_columns", name=name, given=widest, limit=MAX_COLUMNS)
    numbers = [
        [check_number(read(cell), name, row, column, cell) for column, cell in enumerate(line, 1)]
        for row, line in enumerate(cells, 1)
    ]
    if any(len(line) != widest for line in cells):
        raise AttentionError("ragged", name=name, lengths=", ".join(str(len(line)) for line in cells))
    return np.array(numbers, dtype=np.float64)


def check_number(value: float | None, name: str, row: int, column: int, cell: str) -> float:
    """The number that was read, if it is one, finite, and not too large."""
    place = {"name": name, "row": row, "column": column, "given": safe_excerpt(cell.strip())}
    if value is None:
        raise AttentionError("not_a_number", **place)
    if not math.isfinite(value):
        raise AttentionError("cell_not_finite", **place)
    if abs(value) > MAX_MAGNITUDE:
        raise AttentionError("too_large", limit=int(MAX_MAGNITUDE), **place)
    return value


def read_cell(text: str, name: str, row: int, column: int) -> float:
    """One number as a person typed it into a cell: 1e3, 1/3 and −2 are fine.

    row, column: where it stands, counted from 1, for the refusal. Raises AttentionError: not_a_number,
    cell_not_finite, too_large.

    >>> read_cell("1/4", "w_q", 1, 1)
    0.25
    """
    return check_number(parse_number(text), name, row, column, text)


def parse_plain_number(cell: str) -> float | None:
    """A decimal number, or None where the cell is none."""
    return float(cell) if NUMBER_PATTERN.fullmatch(cell) else None


def parse_number(cell: str) -> float | None:
    """A number as people write it: also with −, as a fraction, or not finite; None where the cell is none."""
    cell = cell.strip().replace("−", "-")
    if cell.lower().lstrip("+-") in NOT_FINITE_WORDS:
        return math.nan
    top, slash, bottom = cell.partition("/")
    numerator, denominator = parse_plain_number(top.strip()), parse_plain_number(bottom.strip()) if slash else 1.0
    if numerator is None or denominator is None:
        return None
    if denominator == 0 or math.isinf(denominator):
        return math.nan
    return numerator / denominator


def safe_excerpt(text: str, limit: int = MAX_SHOWN_CHARACTERS) -> str:
    """The beginning of a cell or a name, safe to print in an error."""
    return printable_token(text[:limit]) + ("…" if len(text) > limit else "")


# ---- from numbers to text --------------------------------------------------------------------------------------------
def format_matrix(array: Float[np.ndarray, "rows columns"], between_cells: str, between_rows: str, name: str) -> str:
    """The numbers with as few digits as give them back."""
    array = np.asarray(array, dtype=np.float64)
    if array.ndim != 2:
        raise AttentionError("rank", name=name, axes=("rows", "columns"), shape=array.shape)
    if not array.size:
        raise AttentionError("empty", name=name, shape=array.shape)
    return between_rows.join(between_cells.join(map(shortest_decimal, row)) for row in array.tolist())


def shortest_decimal(value: float) -> str:
    """The shortest decimal that is this float64, a whole number without its ".0"."""
    return repr(value).removesuffix(".0")
