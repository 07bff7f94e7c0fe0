"""Splits the text of a matrix into cells, as spreadsheets, programs and people write them."""

import re

from attention_core.inputs.tokenizer import printable_token
from attention_core.record.errors import AttentionError

MAX_CHARACTERS = 200_000
MAX_SHOWN_CHARACTERS = 20  # of a cell, in an error

Cells = list[list[str]]
# The pattern reads each digit once, so that a long cell costs no more than its length.
NUMBER_PATTERN = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
DECIMAL_COMMA = re.compile(r"[+-]?[0-9]*,[0-9]+(?:[eE][+-]?[0-9]+)?")
THOUSANDS = re.compile(r"[+-]?[1-9][0-9]{0,2},[0-9]{3}")  # some read 1,234 as a thousand, others as one and a bit
INNERMOST = re.compile(r"\[([^\[\]]*)\]")
WRAPPERS = ("array(", "np.array(", "numpy.array(", "tensor(", "torch.tensor(")  # as NumPy and PyTorch print


def split_cells(text: str, name: str = "matrix") -> Cells:
    """Splits a text into cells, row by row, as parse_matrix does before it reads numbers.

    Raises AttentionError: matrix_text_too_long, brackets, ambiguous_comma.

    >>> split_cells("0.50 ?; 1/3 2")
    [['0.50', '?'], ['1/3', '2']]
    """
    check_length(text, name)
    text = text.removeprefix("\ufeff")  # a file saved by a spreadsheet may begin with this mark
    text = unwrap_array(text)
    if "[" in text or "]" in text:
        return bracketed_cells(text, name)
    return plain_cells(text, name)


def check_length(text: str, name: str) -> None:
    """Refuses a text of more than MAX_CHARACTERS."""
    if len(text) > MAX_CHARACTERS:
        raise AttentionError(
            "matrix_text_too_long",
            name=name,
            given=len(text),
            limit=MAX_CHARACTERS,
        )


# ---- cells between lines, tabs, commas, spaces -----------------------------------------------------------------------
def plain_cells(text: str, name: str) -> Cells:
    """Splits a text without brackets."""
    lines = [line for line in text.splitlines() if line.strip()]
    if semicolons_part_cells(lines):
        cells = [line.split(";") for line in lines]
        return with_decimal_points(cells, name)
    rows = split_rows(lines)
    if "\t" in text:
        cells = [row.split("\t") for row in rows]
        return with_decimal_points(cells, name)
    separator = "," if "," in text else None  # None: any spaces
    return [row.split(separator) for row in rows]


def split_rows(lines: list[str]) -> list[str]:
    """Splits lines into rows, which end with a line or with ";"."""
    rows = ";".join(lines).split(";")
    return [row for row in rows if row.strip()]


def semicolons_part_cells(lines: list[str]) -> bool:
    """Tells whether ";" stands between cells, as spreadsheets save them where the comma is the decimal mark.

    There are several lines then, each with one number on either side of every ";". On a single line ";" ends a row.
    """
    if len(lines) < 2:
        return False
    for line in lines:
        cells = line.split(";")
        if len(cells) == 1 or not all(is_one_number(cell) for cell in cells):
            return False
    return True


def is_one_number(cell: str) -> bool:
    """Tells whether a cell is one number, with a decimal point or a decimal comma."""
    cell = with_plain_minus(cell)
    return bool(NUMBER_PATTERN.fullmatch(cell) or DECIMAL_COMMA.fullmatch(cell))


def with_decimal_points(cells: Cells, name: str) -> Cells:
    """Writes decimal commas as points, if the commas can mean nothing else."""
    has_points = False
    commas = []
    for row, line in enumerate(cells, 1):
        for column, cell in enumerate(line, 1):
            has_points |= "." in cell
            if "," in cell:
                commas.append((row, column, with_plain_minus(cell)))
    if not commas:
        return cells
    if has_points or all(THOUSANDS.fullmatch(cell) for _, _, cell in commas):
        row, column, cell = commas[0]
        raise AttentionError(
            "ambiguous_comma",
            name=name,
            row=row,
            column=column,
            given=safe_excerpt(cell),
        )
    return [[with_decimal_point(cell) for cell in line] for line in cells]


def with_decimal_point(cell: str) -> str:
    """Writes the decimal comma of a cell as a point; any other cell stays as it is."""
    plain = with_plain_minus(cell)
    return plain.replace(",", ".") if DECIMAL_COMMA.fullmatch(plain) else cell


def with_plain_minus(cell: str) -> str:
    """A cell without spaces around it, with the minus that Python reads."""
    return cell.strip().replace("−", "-")


# ---- cells in brackets -----------------------------------------------------------------------------------------------
def unwrap_array(text: str) -> str:
    """Takes the brackets out of array(...) or tensor(..., dtype=...), as NumPy and PyTorch print them.

    Any other text stays as it is.
    """
    head, _, rest = text.partition("[")
    body, _, tail = rest.rpartition("]")
    tail = tail.strip()
    if head.strip() in WRAPPERS and tail.endswith(")") and tail[0] in "),":
        return f"[{body}]"
    return text


def bracketed_cells(text: str, name: str) -> Cells:
    """Splits [[1, 2], [3, 4]], [1 2; 3 4], or rows in brackets one after the other."""
    rows = INNERMOST.findall(text)
    around = INNERMOST.sub(" ", text).strip()
    nested = around.startswith("[") and around.endswith("]")
    between = around[1:-1] if nested else around
    if between.strip(",; \t\r\n"):  # a bracket left over was never closed, or is the third one deep
        raise AttentionError("brackets", name=name, given=safe_excerpt(text.strip()))
    if len(rows) == 1 and not nested:  # [1 2; 3 4], where a row goes on behind a comma at the end of a line
        joined = re.sub(r",[ \t\r]*\n", ", ", rows[0])
        rows = split_rows(joined.splitlines())
    return [bracketed_row(row) for row in rows]


def bracketed_row(row: str) -> list[str]:
    """Splits what stands between two brackets, where a line break is a space and Python allows a last comma."""
    row = row.strip().removesuffix(",")
    separator = "," if "," in row else None  # None: any spaces
    return row.split(separator)


def safe_excerpt(text: str, limit: int = MAX_SHOWN_CHARACTERS) -> str:
    """The beginning of a cell or a name, safe to print in an error."""
    excerpt = printable_token(text[:limit])
    return f"{excerpt}…" if len(text) > limit else excerpt
