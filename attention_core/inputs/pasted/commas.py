"""Decides what commas and points mean in a pasted text: decimal marks, thousands separators, or separators of cells."""

import re

from attention_core.inputs.pasted.plain_text import MINUS
from attention_core.inputs.pasted.refusals import Cells, ambiguous_error, safe_excerpt
from attention_core.record.errors import AttentionError

# Each digit is matched once, so that matching takes linear time.
NUMBER_PATTERN = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
DECIMAL_COMMA = re.compile(r"[+-]?[0-9]*,[0-9]+(?:[eE][+-]?[0-9]+)?%?")
THOUSANDS = re.compile(r"[+-]?[1-9][0-9]{0,2},[0-9]{3}")  # 1,234, where the comma may be a decimal comma
POINT_THOUSANDS = re.compile(r"[+-]?[1-9][0-9]{0,2}\.[0-9]{3}")
COMMA_GROUPS = re.compile(r"[+-]?[1-9][0-9]{0,2}(?:(?:,[0-9]{3})+\.[0-9]*|(?:,[0-9]{3}){2,})")  # 1,234.5 and 1,234,567
POINT_GROUPS = re.compile(r"[+-]?[1-9][0-9]{0,2}(?:(?:\.[0-9]{3})+,[0-9]+|(?:\.[0-9]{3}){2,})")  # 1.234,5
COMMA_MARKS = re.compile(r"[+-]?[1-9][0-9]{0,2},[0-9]{3}\.[0-9]+")
POINT_MARKS = re.compile(r"[+-]?[1-9][0-9]{0,2}\.[0-9]{3},[0-9]+")
SPACE_GROUPS = re.compile(r"[+-]?[1-9][0-9]{0,2}(?:[ '][0-9]{3})+(?:[.,][0-9]*)?")  # 1 234,5 and 1'234.5
MIXED_NUMBER = re.compile(r"[+-]?[0-9]*[.,]?[0-9]+(?:[eEdD][+-]?[0-9]+)?%?|[+-]?[0-9]+[.,]|[+-]?[0-9]+/[0-9]+|\?")
SPACED_COMMA = re.compile(r" , ?|, ")  # a comma next to a space, which separates cells
TIGHT_COMMA = re.compile(r"[0-9],[0-9]")


def with_plain_minus(cell: str) -> str:
    """Returns a cell without spaces around it; every minus sign is a hyphen, as Python expects."""
    return cell.strip().replace(MINUS, "-")


def is_one_number(cell: str) -> bool:
    """Returns whether a cell is one number, with a decimal point or a decimal comma."""
    cell = with_plain_minus(cell)
    if MIXED_NUMBER.fullmatch(cell) or NUMBER_PATTERN.fullmatch(cell) or DECIMAL_COMMA.fullmatch(cell):
        return True
    grouped = (COMMA_GROUPS, POINT_GROUPS, SPACE_GROUPS)  # unambiguous forms of thousands separators
    return any(pattern.fullmatch(cell) for pattern in grouped)


# ---- in cells with other separators ----------------------------------------------------------------------------------
def with_decimal_points(cells: Cells, name: str) -> Cells:
    """Returns the cells with decimal points and without thousands separators, if the commas have only one possible
    meaning.

    Raises AttentionError: ambiguous_comma with both readings, if there are two.
    """
    plain = [[with_plain_minus(cell) for cell in line] for line in cells]
    flat = [cell for line in plain for cell in line]
    groups_points = any(map(POINT_GROUPS.fullmatch, flat))
    groups_commas = any(map(COMMA_GROUPS.fullmatch, flat))
    has_comma = any("," in cell for cell in flat)
    if not has_comma and not groups_points and not any(map(SPACE_GROUPS.fullmatch, flat)):
        return cells
    comma_decides = groups_points or any(
        DECIMAL_COMMA.fullmatch(cell) and not THOUSANDS.fullmatch(cell) for cell in flat
    )
    pointed = [cell for cell in flat if "." in cell and NUMBER_PATTERN.fullmatch(cell)]
    point_decides = groups_commas or any(not POINT_THOUSANDS.fullmatch(cell) for cell in pointed)
    as_decimals = [[read_mark(cell, ",") for cell in line] for line in plain]
    as_thousands = [[read_mark(cell, ".") for cell in line] for line in plain]
    both_decimal = [
        [cell.replace(",", ".") if DECIMAL_COMMA.fullmatch(cell) else cell for cell in line] for line in plain
    ]
    if comma_decides and point_decides:
        decimal = next(filter(DECIMAL_COMMA.fullmatch, flat), None)
        if decimal is None:
            return cells
        raise ask_comma(name, plain, (both_decimal, as_thousands), decimal)
    if comma_decides:
        if pointed:  # as 1.234 beside 0,5
            raise ask_comma(name, plain, (both_decimal, as_decimals), pointed[0])
        return restore_others(cells, as_decimals)
    if point_decides or not any(map(THOUSANDS.fullmatch, flat)):
        return restore_others(cells, as_thousands)
    raise ask_comma(name, plain, (as_decimals, as_thousands), next(filter(THOUSANDS.fullmatch, flat)))


def ask_comma(name: str, plain: Cells, readings: tuple[Cells, Cells], cell: str) -> AttentionError:
    """Returns the error for a comma or point that may be a decimal mark or a thousands separator; it offers both
    readings.

    plain: the cells as pasted. readings: the cells in both readings. cell: an ambiguous cell.
    """
    places = [(row, line.index(cell)) for row, line in enumerate(plain) if cell in line]
    row, column = places[0]
    first, second = (write_reading(reading[row], plain[row], column) for reading in readings)
    return ambiguous_error(
        "ambiguous_comma",
        name,
        readings,
        row=row + 1,
        column=column + 1,
        given=safe_excerpt(cell),
        first=safe_excerpt(first),
        second=safe_excerpt(second),
    )


def write_reading(read: list[str], plain: list[str], column: int) -> str:
    """Returns the text that shows how a reading interprets a cell; the whole row, if the reading splits it differently.

    read, plain: the cells of the row in the reading, and as pasted.
    """
    return read[column] if len(read) == len(plain) else "  ".join(read)


def read_mark(cell: str, decimal: str) -> str:
    """Returns a number's text with a decimal point and without thousands separators.

    decimal: the decimal mark of the given text, "." or ",".
    """
    if SPACE_GROUPS.fullmatch(cell):
        cell = cell.replace(" ", "").replace("'", "")
        return cell.replace(",", ".")
    thousands = "." if decimal == "," else ","
    is_parted = COMMA_GROUPS if decimal == "." else POINT_GROUPS
    can_be_parted = THOUSANDS if decimal == "." else POINT_THOUSANDS
    if is_parted.fullmatch(cell) or can_be_parted.fullmatch(cell):
        return cell.replace(thousands, "").replace(decimal, ".")
    if decimal == "," and DECIMAL_COMMA.fullmatch(cell):
        return cell.replace(",", ".")
    return cell


def restore_others(cells: Cells, read: Cells) -> Cells:
    """Returns the cells with the numbers that `read` recognised in their new form, and all other cells as pasted."""
    taken = []
    for line, numbers in zip(cells, read, strict=True):
        taken.append(
            [number if number != with_plain_minus(cell) else cell for cell, number in zip(line, numbers, strict=True)]
        )
    return taken


# ---- in lines without other separators -------------------------------------------------------------------------------
def comma_cells(rows: list[str], name: str) -> Cells:
    """Splits rows at commas or spaces. If a comma with a space separates cells, a comma without a space is decimal.

    Raises AttentionError: ambiguous_comma, if a row such as 1,234 or "1,5 2.5" has two readings.
    """
    by_comma = [row.split(",") for row in rows]
    decimals = decimal_cells(rows)
    if decimals is not None:
        if any("." in cell for line in decimals for cell in line) and all_numbers(by_comma):
            raise ask_tight_comma(decimals, by_comma, name)
        if not any("." in cell for line in decimals for cell in line):
            return with_decimal_points(decimals, name)
        return [[with_plain_minus(cell).replace(",", ".") for cell in line] for line in decimals]
    whole = [[with_plain_minus(row)] for row in rows]
    for pattern, decimal in ((COMMA_MARKS, "."), (POINT_MARKS, ",")):  # first points as decimal marks, then commas
        if all(pattern.fullmatch(row) for (row,) in whole):
            raise ask_comma(name, whole, ([[read_mark(row, decimal)] for (row,) in whole], by_comma), whole[0][0])
    if all(THOUSANDS.fullmatch(row) for (row,) in whole):
        readings = [by_comma]
        readings.append([[cell.replace(",", ".") for cell in line] for line in whole])
        readings.append([[cell.replace(",", "") for cell in line] for line in whole])
        raise ambiguous_error(
            "ambiguous_comma",
            name,
            readings,
            row=1,
            column=1,
            given=safe_excerpt(whole[0][0]),
            first=f"{whole[0][0].replace(',', '  ')}",
            second=f"{readings[1][0][0]}",
        )
    return by_comma


def decimal_cells(rows: list[str]) -> Cells | None:
    """Splits rows into cells with decimal commas, at spaces or at commas beside spaces; None if a cell is then no
    number.
    """
    if not any(map(TIGHT_COMMA.search, rows)):
        return None
    rows = [" ".join(row.split()) for row in rows]
    if any(map(SPACED_COMMA.search, rows)):
        cells = [SPACED_COMMA.split(row.removesuffix(" ,")) for row in rows]
    else:
        cells = [row.split() for row in rows]
        if max(map(len, cells)) < 2:
            return None
    if cells and all(line and not line[-1] for line in cells):
        cells = [line[:-1] for line in cells]
    return cells if all_numbers(cells) else None


def all_numbers(cells: Cells) -> bool:
    """Returns whether all cells are numbers and all rows have the same length."""
    widths = {len(line) for line in cells}
    return len(widths) == 1 and all(MIXED_NUMBER.fullmatch(with_plain_minus(cell)) for line in cells for cell in line)


def ask_tight_comma(decimals: Cells, by_comma: Cells, name: str) -> AttentionError:
    """Returns the error for a comma without a space that may be decimal, in a text with a number that has a decimal
    point."""
    for row, line in enumerate(decimals, 1):
        for column, cell in enumerate(line, 1):
            if "," in cell:
                given = with_plain_minus(cell)
                first = given.replace(",", ".")
                readings = ([[with_plain_minus(one).replace(",", ".") for one in line] for line in decimals], by_comma)
                return ambiguous_error(
                    "ambiguous_comma",
                    name,
                    readings,
                    row=row,
                    column=column,
                    given=safe_excerpt(given),
                    first=first,
                    second=given.replace(",", "  "),
                )
    raise AssertionError("a tight comma stands in one of the cells")
