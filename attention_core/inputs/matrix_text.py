"""Parses matrices that a user pasted or typed, and writes and parses their one-line text in a link."""

import math
import re
from collections.abc import Callable

import numpy as np
from jaxtyping import Float

from attention_core.inputs.matrix_cells import check_length, split_cells
from attention_core.inputs.pasted.commas import DECIMAL_COMMA, NUMBER_PATTERN, THOUSANDS, with_plain_minus
from attention_core.inputs.pasted.plain_text import plain_signs
from attention_core.inputs.pasted.refusals import Cells, safe_excerpt
from attention_core.record.errors import AttentionError

MAX_ROWS, MAX_COLUMNS = 512, 512
MAX_MAGNITUDE = 1e6  # largest magnitude of a cell; float16 ends at 65504

NOT_FINITE_WORDS = ("nan", "inf", "infinity")
TRUTH_WORDS = {"true": "1", "false": "0"}
FORTRAN_POWER = re.compile(r"(?<=[0-9.])[dD](?=[+-]?[0-9])")


def parse_matrix(text: str, name: str = "matrix") -> Float[np.ndarray, "rows columns"]:
    r"""Parses a matrix that was pasted from a spreadsheet, printed by a program, or typed.

    text: one of these forms. Rows separated by lines or ";", cells by tabs, commas or spaces. Brackets as in Python,
    NumPy, PyTorch, JAX, TensorFlow, JSON, MATLAB, Julia, Mathematica and C, with or without a name before them. Output
    of R, MATLAB, Octave and pandas. A LaTeX environment, or a table of HTML, Markdown or CSV, of which header and row
    names are ignored.

    Numbers: 1, -1.5, 1e-3, 1.5D+03, 1.5 × 10^3, 1/3, 12 %, with dashes as minus signs; True and False if all are. A
    decimal comma is recognised if tabs separate the cells, or ";" on each of several lines, or a comma with a space;
    "1,2" is two cells. name: the name of the matrix in errors.

    Returns float64, at most 512 x 512, with no number beyond a million. Raises AttentionError, with row and column
    counted from 1: matrix_empty, matrix_text_too_long, too_many_rows, too_many_columns, not_a_number, cell_not_finite,
    too_large, ragged, and those of split_cells. A text with two readings raises an error whose value `readings` has
    both as texts.

    >>> parse_matrix("1 2; 3 1/2")
    array([[1. , 2. ],
           [3. , 0.5]])
    >>> parse_matrix("[[1, 2], [3, 4]]").tolist(), parse_matrix("1,5\t2,0").tolist(), parse_matrix("1,2").tolist()
    ([[1.0, 2.0], [3.0, 4.0]], [[1.5, 2.0]], [[1.0, 2.0]])
    """
    cells = split_cells(text, name)
    return cells_to_array(with_truth_values_as_numbers(cells), parse_number, name)


def to_text(array: Float[np.ndarray, "rows columns"], name: str = "matrix") -> str:
    """Writes a matrix on one line for a link: "," between cells, ";" between rows. `from_text` parses it exactly.

    array: two axes, within the limits of from_text, so that each link can be opened again. Raises AttentionError: rank,
    empty, and the errors of from_text.

    >>> to_text(np.array([[1.0, 0.5], [-2.0, 0.0]]))
    '1,0.5;-2,0'
    """
    text = format_matrix(array, name)
    from_text(text, name)
    return text


def from_text(text: str, name: str = "matrix") -> Float[np.ndarray, "rows columns"]:
    """Parses the text of a matrix in the form that `to_text` writes; other forms are not parsed: "1,5" is two cells.

    text: numbers with a decimal point, "," between cells, ";" between rows, no spaces. Returns float64 numbers within
    the limits of parse_matrix. Raises AttentionError: the errors of parse_matrix.

    >>> from_text("1,0.5;-2,0")
    array([[ 1. ,  0.5],
           [-2. ,  0. ]])
    """
    check_length(text, name)
    rows = text.split(";") if text else []
    cells = [row.split(",") for row in rows]
    return cells_to_array(cells, parse_plain_number, name)


# ---- from cells to numbers -------------------------------------------------------------------------------------------
def cells_to_array(cells: Cells, read: Callable[[str], float | None], name: str) -> Float[np.ndarray, "rows columns"]:
    """Converts the texts of cells to an array of numbers.

    read: a function that returns the number of a cell, or None if the cell is no number. Raises AttentionError if there
    is no cell, if there are too many, if a cell is no number, or if rows differ in length.
    """
    lengths = [len(line) for line in cells]
    widest = max(lengths, default=0)
    if not widest:
        raise AttentionError("matrix_empty", name=name)
    if len(cells) > MAX_ROWS:
        raise AttentionError(
            "too_many_rows",
            name=name,
            given=len(cells),
            limit=MAX_ROWS,
        )
    if widest > MAX_COLUMNS:
        raise AttentionError(
            "too_many_columns",
            name=name,
            given=widest,
            limit=MAX_COLUMNS,
        )
    numbers = []
    for row, line in enumerate(cells, 1):
        for column, cell in enumerate(line, 1):
            numbers.append(check_number(read(cell), name, row, column, cell))
    if min(lengths) < widest:
        raise AttentionError("ragged", name=name, lengths=", ".join(map(str, lengths)))
    return np.array(numbers, dtype=np.float64).reshape(-1, widest)


def with_truth_values_as_numbers(cells: Cells) -> Cells:
    """Returns the cells with 1 for True and 0 for False, if every cell is True or False, as in a printed mask."""
    if not cells or not all(cell.strip().lower() in TRUTH_WORDS for row in cells for cell in row):
        return cells
    return [[TRUTH_WORDS[cell.strip().lower()] for cell in row] for row in cells]


def check_number(value: float | None, name: str, row: int, column: int, cell: str) -> float:
    """Returns a cell's number if it is finite and not too large, else raises AttentionError; None counts as no
    number."""
    if value is not None and abs(value) <= MAX_MAGNITUDE:
        return value
    place = {
        "name": name,
        "row": row,
        "column": column,
        "given": safe_excerpt(cell.strip()),
    }
    if value is None:
        raise AttentionError("not_a_number", **place)
    if not math.isfinite(value):
        raise AttentionError("cell_not_finite", **place)
    raise AttentionError("too_large", limit=int(MAX_MAGNITUDE), **place)


def read_cell(text: str, name: str, row: int, column: int) -> float:
    """Parses a number that was typed into a cell, such as 1e3, 1/3, −2 or 0,5.

    row, column: the position of the cell, counted from 1, for errors. Raises AttentionError: not_a_number,
    cell_not_finite, too_large, ambiguous_comma.

    >>> read_cell("1/4", "w_q", 1, 1), read_cell("０，５", "w_q", 1, 1)
    (0.25, 0.5)
    """
    plain = with_plain_minus(plain_signs(text))
    if THOUSANDS.fullmatch(plain):
        first, second = plain.replace(",", "."), plain.replace(",", "")
        place = {"name": name, "row": row, "column": column, "given": safe_excerpt(plain)}
        raise AttentionError("ambiguous_comma", first=first, second=second, **place)
    if DECIMAL_COMMA.fullmatch(plain):
        plain = plain.replace(",", ".")
    return check_number(parse_number(plain), name, row, column, text)


def parse_plain_number(cell: str) -> float | None:
    """Parses a decimal number; returns None for any other text."""
    return float(cell) if NUMBER_PATTERN.fullmatch(cell) else None


def parse_number(cell: str) -> float | None:
    """Parses a number with any minus sign; also a fraction, a percentage, or a number that is not finite.

    Returns None for other texts.
    """
    number = parse_plain_number(cell)
    if number is not None:
        return number
    cell = with_plain_minus(cell)
    if cell.lower().lstrip("+-") in NOT_FINITE_WORDS:
        return math.nan
    if cell.endswith("%"):
        share = parse_plain_number(cell[:-1].rstrip())
        return None if share is None else share / 100
    cell = FORTRAN_POWER.sub("e", cell)
    top, slash, bottom = cell.partition("/")
    if not slash:
        return parse_plain_number(cell)
    numerator = parse_plain_number(top.strip())
    denominator = parse_plain_number(bottom.strip())
    if numerator is None or denominator is None:
        return None
    if denominator == 0 or math.isinf(denominator):
        return math.nan
    return numerator / denominator


# ---- from numbers to text --------------------------------------------------------------------------------------------
def format_matrix(array: Float[np.ndarray, "rows columns"], name: str) -> str:
    """Writes a matrix with as few digits as identify its numbers, "," between cells, ";" between rows."""
    array = np.asarray(array, dtype=np.float64)
    if array.ndim != 2:
        raise AttentionError(
            "rank",
            name=name,
            axes=("rows", "columns"),
            shape=array.shape,
        )
    if not array.size:
        raise AttentionError("empty", name=name, shape=array.shape)
    rows = []
    for row in array.tolist():
        rows.append(",".join(map(shortest_decimal, row)))
    return ";".join(rows)


def shortest_decimal(value: float) -> str:
    """Writes the shortest decimal that identifies a float64; a whole number is written without ".0"."""
    return repr(value).removesuffix(".0")
