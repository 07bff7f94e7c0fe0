"""Parses matrices that R, MATLAB, Octave and pandas printed, with row numbers, blocks of columns, or a common
factor.
"""

import re
from collections.abc import Callable

from attention_core.inputs.pasted.refusals import Cells, not_understood
from attention_core.record.errors import AttentionError

# ---- R ---------------------------------------------------------------------------------------------------------------
R_HEAD = re.compile(r"(?m)^[ \t]*(?:\[,[0-9]+\][ \t]*)+$")
R_ROW = re.compile(r"(?m)^[ \t]*\[[0-9]+,\](?=[ \t])")
R_VECTOR_LINE = re.compile(r"[ \t]*\[[0-9]+\][ \t]+[^\[\]\n]+")
R_CALL = re.compile(r"\A\s*(matrix|rbind|cbind|structure|array)\s*\(", re.IGNORECASE)
R_VALUES = re.compile(r"\bc\s*\(([^()]*)\)")
R_SIZE = re.compile(r"\b(nrow|ncol|byrow|dim|Dim)\s*=\s*(TRUE|FALSE|T|F|[0-9]{1,4}L?|c\([0-9L, ]{1,20}\))")


def r_cells(text: str, name: str) -> Cells | None:
    """Split a matrix or vector that R printed, or a call of matrix, rbind, cbind or structure, into cells.

    Returns None for any other text. name: the name of the matrix, for errors. Raises AttentionError: not_understood.
    """
    if R_ROW.search(text) or R_HEAD.search(text):
        return join_blocks(r_blocks(text), name)
    lines = [line for line in text.splitlines() if line.strip()]
    if lines and all(R_VECTOR_LINE.fullmatch(line) for line in lines):
        return r_vector(lines)
    vector = R_VALUES.fullmatch(text.strip())
    if vector is not None:
        return [[cell.strip().removesuffix("L") for cell in vector[1].split(",")]]
    called = R_CALL.match(text)
    if called is None or R_VALUES.search(text) is None:
        return None
    return r_call_cells(called[1].lower(), text[called.end() :], name)


def r_vector(lines: list[str]) -> Cells:
    """Return the cells of lines that begin with [n], the number of the line's first cell or of its row.

    If n is always 1 more than the number of cells on the lines before, the lines are one vector; otherwise they are the
    rows of a matrix.
    """
    rows, is_vector = [], True
    for line in lines:
        number, _, cells = line.partition("]")
        is_vector &= int(number.strip()[1:][:9]) == 1 + sum(map(len, rows))
        rows.append(cells.split())
    return [[cell for row in rows for cell in row]] if is_vector else rows


def r_blocks(text: str) -> list[Cells]:
    """Return the cells of each block of columns that R printed one below the other; the names of rows are left out."""
    blocks: list[Cells] = [[]]
    for line in text.splitlines():
        if R_HEAD.fullmatch(line):
            if blocks[-1]:
                blocks.append([])
        elif line.strip():
            blocks[-1].append(R_ROW.sub("", line).split())
    return blocks


def r_call_cells(call: str, arguments: str, name: str) -> Cells:
    """Return the cells of a call such as matrix(c(1, 2, 3, 4), nrow = 2), which R fills column by column.

    call: the function: matrix, structure, rbind or cbind. arguments: the text after its opening bracket.
    """
    lists = [[cell.strip().removesuffix("L") for cell in found.split(",")] for found in R_VALUES.findall(arguments)]
    sizes = {key.lower(): size for key, size in R_SIZE.findall(arguments)}
    if "dim" in sizes:
        lists = [
            cells
            for cells, text in zip(lists, R_VALUES.findall(arguments), strict=True)
            if f"c({text})" != sizes["dim"]
        ]
    rest = R_VALUES.sub("", R_SIZE.sub("", arguments))
    positional = re.findall(r"(?<![\w.])[0-9]{1,4}L?(?![\w.])", rest)
    rest = re.sub(
        r"(?<![\w.])[0-9]{1,4}L?(?![\w.])|\bdata\s*=|\bdimnames\s*=\s*NULL|[\s,;.)]|\b\w+\s*=\s*(?=,|\)|$)", "", rest
    )
    if rest:
        raise not_understood(arguments, 0, name)
    if call in ("rbind", "cbind"):
        return lists if call == "rbind" else [list(column) for column in zip(*lists, strict=False)]
    if len(lists) != 1:
        raise not_understood(arguments, 0, name)
    (values,) = lists
    rows, columns = r_sizes(sizes, positional, len(values))
    if rows * columns != len(values):
        raise AttentionError("cells_count", name=name, expected=f"{rows} × {columns}", given=len(values))
    if sizes.get("byrow") in ("TRUE", "T"):
        return [values[row * columns : (row + 1) * columns] for row in range(rows)]
    return [values[row::rows] for row in range(rows)]


def r_sizes(sizes: dict[str, str], positional: list[str], count: int) -> tuple[int, int]:
    """Return the count of rows and of columns that a call of R implies.

    sizes: the named arguments of the call. positional: its numbers without a name. count: the number of cells.
    """
    if "dim" in sizes:
        given = [int(number) for number in re.findall(r"[0-9]+", sizes["dim"])]
        rows, columns = [*given, 1, 1][:2]
        return rows, columns
    first, second = [*positional, "0", "0"][:2]
    rows = int(sizes.get("nrow", first).removesuffix("L"))
    columns = int(sizes.get("ncol", second).removesuffix("L"))
    if not rows and not columns:
        return count, 1
    rows = rows or max(count // columns, 1)
    return rows, columns or max(count // rows, 1)


# ---- blocks of columns -----------------------------------------------------------------------------------------------
COLUMNS_LINE = re.compile(
    r"[ \t]*Columns?[ \t]+[0-9]+(?:[ \t]*(?:through|and|to|thru|-|:)[ \t]*[0-9]+)?[ \t]*:?[ \t]*", re.IGNORECASE
)
FACTOR_LINE = re.compile(r"[ \t]*1(?:\.0*)?[eE]([+\-−]?[0-9]{1,3})[ \t]*(?:[*×][ \t]*)?")


def take_factor(text: str) -> tuple[str, int]:
    """Return a text without the line of the common factor that MATLAB prints, such as "1.0e+03 *", and the factor's
    power of ten.

    Without such a line, return the text and 0.
    """
    lines = text.splitlines()
    for number, line in enumerate(lines):
        if line.strip() and FACTOR_LINE.fullmatch(line) and "*" in line:
            power = int(FACTOR_LINE.fullmatch(line)[1].replace("−", "-"))
            return "\n".join(lines[:number] + lines[number + 1 :]), power
    return text, 0


def multiply_cells(cells: Cells, power: int) -> Cells:
    """Return cells multiplied by a power of ten, which is appended to each number as an exponent."""
    if not power:
        return cells
    return [[f"{cell}e{power}" if re.fullmatch(r"[+\-−]?[0-9.]+", cell) else cell for cell in row] for row in cells]


def block_cells(text: str, split: Callable[[str], Cells], name: str) -> Cells | None:
    """Split into cells a wide matrix that MATLAB, Octave or pandas printed in blocks of columns; return None for any
    other text.

    split: a function that returns the cells of a block, without its headings and the names of its rows.
    """
    lines = text.splitlines()
    if any(COLUMNS_LINE.fullmatch(line) for line in lines):
        blocks = [[]]
        for line in lines:
            if COLUMNS_LINE.fullmatch(line):
                blocks.append([])
            else:
                blocks[-1].append(line)
        texts = ["\n".join(block) for block in blocks if any(line.strip() for line in block)]
    elif any(line.rstrip().endswith(" \\") for line in lines):
        texts = re.split(r"\n[ \t]*\n", text.replace("\\\n", "\n"))
        texts = [block for block in texts if block.strip()]
        return join_blocks([pandas_block(block) or split(block) for block in texts], name)
    else:
        return None
    return join_blocks([split(block) for block in texts], name)


def pandas_block(text: str) -> Cells | None:
    """Return the cells of a block that pandas printed under a heading, without the index in front of each row.

    The index is recognised because each row has one word more than the heading. Returns None for any other block.
    """
    head, *rows = [line.split() for line in text.splitlines() if line.strip()]
    if not rows or any(len(row) != len(head) + 1 for row in rows):
        return None
    return [row[1:] for row in rows]


def join_blocks(blocks: list[Cells], name: str) -> Cells:
    """Join blocks of columns side by side.

    Raises AttentionError: blocks_differ, if the blocks differ in their number of rows.
    """
    heights = [len(block) for block in blocks]
    if min(heights) != max(heights):
        raise AttentionError("blocks_differ", name=name, lengths=", ".join(map(str, heights)))
    return [[cell for part in parts for cell in part] for parts in zip(*blocks, strict=True)]
