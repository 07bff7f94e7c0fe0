"""Splits the text of a pasted or typed matrix into cells, for all programs and documents from which people copy."""

import re

from attention_core.inputs.pasted.brackets import bracketed_cells, has_brackets
from attention_core.inputs.pasted.commas import comma_cells, is_one_number, with_decimal_points
from attention_core.inputs.pasted.markup import html_cells, latex_cells, piped_cells, split_ruled_lines
from attention_core.inputs.pasted.plain_text import (
    join_continued_lines,
    plain_signs,
    refuse_left_out,
    split_named,
    strip_name,
    strip_surroundings,
)
from attention_core.inputs.pasted.printouts import block_cells, multiply_cells, r_cells, take_factor
from attention_core.inputs.pasted.refusals import MAX_CHOICES, Cells, ambiguous_error, join_rows, safe_excerpt
from attention_core.record.errors import AttentionError

MAX_CHARACTERS = 200_000
QUOTED = re.compile(r'"([^"\n]*)"')
COMMA_IN_QUOTES, SPACE_IN_QUOTES, TAB_IN_QUOTES, SEMICOLON_IN_QUOTES = "\ue000\ue001\ue002\ue003"
HIDDEN = str.maketrans(", \t;", COMMA_IN_QUOTES + SPACE_IN_QUOTES + TAB_IN_QUOTES + SEMICOLON_IN_QUOTES)
SHOWN = {hidden: plain for plain, hidden in HIDDEN.items()}
TITLE_ENDS = re.compile(r"[\s,;|]")  # a title ends at such a character
ROW_LABEL = re.compile(r"[ \t]*[\w(\[][\w ()\[\].-]{0,40}:[ \t]+(?=\S)")
EMPTY_LINES = re.compile(r"\n(?:[ \t]*\n)+")
SERIES_FOOTER = re.compile(r"(?m)^(?:Name: [^\n]{1,80}, )?(?:Length: [0-9]+, )?dtype: \w+[ \t]*$")


def split_cells(text: str, name: str = "matrix") -> Cells:
    """Splits a text into cells, row by row, from which parse_matrix then reads the numbers.

    Raises AttentionError: matrix_text_too_long, numbers_left_out, brackets, not_understood, rank, cells_count,
    blocks_differ. If the text has several readings, the code is ambiguous_comma, ambiguous_head, ambiguous_rows or
    several_matrices, and the error's value `readings` has a text for each.

    >>> split_cells("0.50 ?; 1/3 2")
    [['0.50', '?'], ['1/3', '2']]
    """
    check_length(text, name)
    text = join_continued_lines(plain_signs(text))
    refuse_left_out(text, name)
    has_index = SERIES_FOOTER.search(text) is not None
    for read in (html_cells, latex_cells):
        cells = read(text, name)
        if cells is not None:
            return numbers_alone(cells, name)
    text = strip_surroundings(text)
    parts = split_named(text)
    if parts:
        return choose_part(parts, name)
    text = strip_name(text)
    cells = r_cells(text, name)
    if cells is not None:
        return cells
    if has_brackets(text):
        return bracketed_cells(text, name)
    text, power = take_factor(text)
    cells = block_cells(text, lambda block: line_cells(block, name), name)
    if not cells:
        refuse_several_blocks(text, name)
        cells = line_cells(text, name, has_index)
    return multiply_cells(cells, power)


def check_length(text: str, name: str) -> None:
    """Raises AttentionError if a text has more than MAX_CHARACTERS."""
    if len(text) > MAX_CHARACTERS:
        raise AttentionError(
            "matrix_text_too_long",
            name=name,
            given=len(text),
            limit=MAX_CHARACTERS,
        )


def choose_part(parts: list[tuple[str, str]], name: str) -> Cells:
    """Returns the cells of the only matrix in a text that was split into named matrices and numbers.

    Raises AttentionError (several_matrices) if there are several matrices. The error's `readings` are each matrix and,
    if all are single rows of equal length, these rows as one matrix.
    """
    read = []
    for label, part in parts[:MAX_CHOICES]:
        cells = split_cells(part, name)
        if cells:
            read.append((label, cells))
    larger = [each for each in read if each[1] != [each[1][0][:1]]]
    if len(larger or read) == 1:
        return (larger or read)[0][1]
    labels = [safe_excerpt(label) for label, _ in read]
    readings = [cells for _, cells in read]
    rows = join_rows(readings)
    if rows and len(rows) == len(parts):
        readings.insert(0, rows)
    raise ambiguous_error("several_matrices", name, readings, given=", ".join(labels))


def refuse_several_blocks(text: str, name: str) -> None:
    """Raises AttentionError (several_matrices) if empty lines separate blocks of at least two rows.

    The error's `readings` are each block, and all rows as one matrix.
    """
    blocks = [block for block in EMPTY_LINES.split(text) if block.strip()]
    if len(blocks) < 2 or any("\n" not in block.strip() for block in blocks):
        return
    readings = [line_cells(block, name) for block in blocks]
    rows = join_rows(readings)
    together = [rows] if rows else []
    raise ambiguous_error("several_matrices", name, together + readings[:MAX_CHOICES], given=len(blocks))


# ---- cells separated by lines, tabs, commas, spaces ------------------------------------------------------------------
def line_cells(text: str, name: str, has_index: bool = False) -> Cells:
    """Splits a text without brackets into cells, without the header and without the names of the rows."""
    text = QUOTED.sub(lambda found: found[0].translate(HIDDEN), text)
    lines, is_ruled = split_ruled_lines([line for line in text.splitlines() if line.strip()])
    indents = [line[0].isspace() for line in lines]
    table = without_title(lines)
    lines, has_title = without_labels(table), len(table) < len(lines)
    cells = piped_cells(lines)
    if cells is None:
        cells, can_be_decimal = plain_cells(lines, name)
    else:
        can_be_decimal = True
    if '"' in text:
        cells = [[cell.translate(SHOWN) for cell in row] for row in cells]
    if has_title and cells and len(cells[0]) == 2:  # the removed title may be a column's name
        refuse_counting_column(cells, name)
    if indents[:1] == [True] and not any(indents[1:]):
        cells = with_corner(cells)
    cells = numbers_alone(cells, name, is_ruled, has_index)
    return with_decimal_points(cells, name) if can_be_decimal else cells


def without_title(lines: list[str]) -> list[str]:
    """Returns the lines without the first one if it is a single name above rows of several cells.

    Such a name is the title of the matrix and not the header of a column.
    """
    if len(lines) < 2 or not is_name(lines[0]) or TITLE_ENDS.search(lines[0].rstrip()):
        return lines
    return lines[1:] if TITLE_ENDS.search(lines[1].strip()) else lines


def with_corner(cells: Cells) -> Cells:
    """Returns the cells with an empty cell before the header, if the header is one cell shorter than all other rows."""
    head, *rows = cells
    is_shorter = bool(rows) and len(head) == len(rows[0]) - 1
    return [["", *head], *rows] if is_shorter and is_head(head) else cells


def without_labels(lines: list[str]) -> list[str]:
    """Returns the rows without names that end with a colon, as in "Row 1: 1 2"; a single row keeps its name."""
    labelled = [ROW_LABEL.match(line) for line in lines]
    if len(lines) < 2 or not all(labelled):
        return lines
    return [line[label.end() :] for line, label in zip(lines, labelled, strict=True)]


def plain_cells(lines: list[str], name: str) -> tuple[Cells, bool]:
    """Splits lines into cells; also returns whether a comma inside a cell may be a decimal comma."""
    if semicolons_part_cells(lines):
        return [line.rstrip().removesuffix(";").split(";") for line in lines], True
    signs = set("".join(lines))
    if '"' in signs and ";" in signs and "\t" not in signs:
        quoted = [line.rstrip().removesuffix(";").split(";") for line in lines]
        if all(cell.strip().startswith('"') for row in quoted for cell in row):
            return quoted, True
    rows = [row for row in ";".join(lines).split(";") if row.strip()]  # rows end at line breaks or ";"
    if any("\t" in line for line in lines):
        return [row.split("\t") for row in rows], True
    if not any("," in row.rstrip().removesuffix(",") for row in rows):
        rows = [row.rstrip().removesuffix(",") for row in rows]  # a comma at the end of all lines is ignored
    if any("," in row for row in rows):
        has_head = len(rows) > 1 and "," in rows[0] and is_head(rows[0].split(","))
        body = rows[1:] if has_head else rows
        quoted = any(COMMA_IN_QUOTES in row for row in rows)
        heads = [row.split(",") for row in rows[: len(rows) - len(body)]]
        if any("," in row for row in body) or quoted:
            return heads + comma_cells(body, name), quoted
        return heads + [row.split() for row in body], False
    return [row.split() for row in rows], True


def semicolons_part_cells(lines: list[str]) -> bool:
    """Returns whether ";" separates cells and not rows, as in spreadsheets that use a decimal comma.

    The text must have several lines, with one number or one name on each side of every ";".
    """
    if len(lines) < 2:
        return False
    has_number = False
    for line in lines:
        cells = [cell.translate(SHOWN).strip().strip('"') for cell in line.rstrip().removesuffix(";").split(";")]
        if len(cells) == 1:
            return False
        for cell in cells:
            has_number |= is_one_number(cell)
            if cell and not is_one_number(cell) and not is_name(cell):
                return False
    return has_number


# ---- the head of a table and the names of its rows, which are removed ------------------------------------------------
INDEX_HEADS = ("", "index", "unnamed: 0", '""')  # possible headers of a column of row names
# Words that tables write instead of a number, such as "nan"; these are never names of rows or columns.
NO_NAMES = frozenset(("nan", "inf", "infinity", "na", "n/a", "none", "null", "nil", "true", "false", "missing"))
COMPUTED = re.compile(r"[()=+*/^\\{}]")  # characters that only formulas have, such as =
LABELLED_NUMBER = re.compile(r":[ \t]*[+\-−]?[0-9.]")  # a number after a colon, as in "Row 1: 2"
NUMBER_LIKE = re.compile(r"[+\-−]?[0-9.,][^\s]*|[0-9OolISB.,+\-−]+")


def numbers_alone(cells: Cells, name: str, is_ruled: bool = False, has_index: bool = False) -> Cells:
    """Returns the cells of a table without its header, its row names and an empty last column.

    is_ruled: whether a line is drawn under the first row, as in a Markdown table. has_index: whether the first column
    certainly numbers the rows. Raises AttentionError: ambiguous_head if a ruled first row of consecutive numbers can be
    the header or a row of numbers; ambiguous_index if a first column of numbers may number the rows.

    >>> numbers_alone([["", "it", "dog"], ["it", "1", "2"], ["dog", "3", "4"]], "w")
    [['1', '2'], ['3', '4']]
    """
    cells = without_last_separators([[unquoted(cell) for cell in row] for row in cells])
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
        has_corner = len(head) == width > 1 and head[0].strip().lower() in INDEX_HEADS
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
    """Returns the rows without their first column, which must contain names.

    is_index: whether the column may hold row numbers instead. Raises AttentionError: ambiguous_index if the column
    contains other cells.
    """
    column = [row[0] for row in rows if row]
    if all(map(is_name, column)) or (is_index and counts_from(column) is not None):
        return first_column_gone(rows)
    raise ask_index(rows, name)


def refuse_counting_column(rows: Cells, name: str) -> None:
    """Raises AttentionError (ambiguous_index) if the first column counts up from 0 or 1, and so may be row numbers or
    data.
    """
    column = [row[0] for row in rows if row]
    start = counts_from(column)
    if start == 0 or (start == 1 and len(column) > 1):
        raise ask_index(rows, name)


def ask_index(rows: Cells, name: str) -> AttentionError:
    """Returns the error that lets the user decide whether the first column is row numbers or data."""
    given = "  ".join(row[0] for row in rows if row)[:40]
    return ambiguous_error("ambiguous_index", name, (rows, first_column_gone(rows)), given=given)


def first_column_gone(rows: Cells) -> Cells:
    """Returns the rows without their first cells."""
    return [row[1:] for row in rows]


def is_head(row: list[str]) -> bool:
    """Returns whether a row is a header: it has at least one name, and every cell is a name or empty."""
    named = [cell for cell in row if cell.strip()]
    return bool(named) and all(map(is_name, named))


def is_name(cell: str) -> bool:
    """Returns whether a cell is a name: it has a letter, does not look like a number, and is no word such as "nan"."""
    cell = cell.strip()
    if not cell or NUMBER_LIKE.fullmatch(cell) or cell.lower().lstrip("+-−") in NO_NAMES:
        return False
    if cell.startswith("#") and cell[-1] in "!?":  # an error value of a spreadsheet, such as #REF!
        return False
    return any(sign.isalpha() for sign in cell)


def is_named_row(row: list[str]) -> bool:
    """Returns whether a row begins with a name and contains a number.

    A formula, or a name that is followed by a colon and a number, does not count as a name here.
    """
    if not row or not is_name(row[0]) or COMPUTED.search(row[0]) or LABELLED_NUMBER.search(row[0]):
        return False
    return any(map(is_one_number, row[1:]))


def is_counted_head(cells: Cells) -> bool:
    """Returns whether a table's header numbers the columns from 0 or 1, as pandas does.

    The first column must count from the same number; if the header counts from 0, the first column may hold names
    instead. The corner is missing or empty, and all other rows are equally long.
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
    """Returns the number, 0 or 1, from which the numbers in the cells count up one by one; None if they do not."""
    texts = [cell.strip() for cell in cells]
    for start in (0, 1):
        if texts == [str(start + place) for place in range(len(texts))]:
            return start
    return None


def unquoted(cell: str) -> str:
    """Returns a cell without surrounding quotation marks."""
    inner = cell.strip()
    if len(inner) < 2 or inner[0] != inner[-1]:
        return cell
    return inner[1:-1].strip() if inner[0] in "\"'" else cell


def without_last_separators(cells: Cells) -> Cells:
    """Returns the rows without empty rows and without empty last cells, which come from separators at the ends of
    lines."""
    cells = list(cells)
    while len(cells) > 1 and is_empty_row(cells[-1]):
        cells.pop()
    surplus = min((count_last_empty(row) for row in cells), default=0)
    cells = [row[: len(row) - surplus] for row in cells]
    lengths = {len(row) for row in cells}
    if len(lengths) > 1:  # some lines end with a separator, others do not
        shortest = min(lengths)
        surplus_text = "".join(cell for row in cells for cell in row[shortest:])
        if shortest > 1 and not surplus_text.strip():
            cells = [row[:shortest] for row in cells]
    return cells


def is_empty_row(row: list[str]) -> bool:
    """Returns whether a row has several cells, all of them empty."""
    return len(row) > 1 and not "".join(row).strip()


def count_last_empty(row: list[str]) -> int:
    """Counts the empty cells at the end of a row, except the first cell."""
    for count, cell in enumerate(reversed(row[1:])):
        if cell.strip():
            return count
    return max(len(row) - 1, 0)
