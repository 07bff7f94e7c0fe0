"""Parses matrices in brackets, in the syntax of Python, NumPy, PyTorch, JAX, JSON, MATLAB, Mathematica and C."""

import re
from collections.abc import Iterator

from attention_core.inputs.pasted.refusals import (
    MAX_CHOICES,
    Cells,
    ambiguous_error,
    brackets_error,
    join_rows,
    not_understood,
    safe_excerpt,
)
from attention_core.record.errors import AttentionError

MAX_SHOWN_AXES = 8
WRAPPED_LINE_CHARACTERS = 60  # a row may continue on the next line only if its line is at least this long

# Names, without module, of functions that return the numbers of their argument unchanged.
WRAPPERS = frozenset(
    (
        *("array", "asarray", "ndarray", "masked_array", "matrix", "mat", "stack", "vstack", "from_numpy"),
        *("arrayimpl", "devicearray", "eagertensor"),
        *("tensor", "as_tensor", "parameter", "constant", "convert_to_tensor", "variable", "dataframe", "series"),
        *("floattensor", "doubletensor", "halftensor", "inttensor", "longtensor", "shorttensor", "booltensor"),
        *("list", "tuple", "float", "double", "int", "bool", "bool_", "longlong", "intc", "decimal", "print"),
        *("float16", "float32", "float64", "bfloat16", "int8", "int16", "int32", "int64", "uint8"),
        *("float32array", "float64array", "int32array", "arr1", "arr2", "dmatrix", "device_put"),
        *("matrixform", "immutablematrix", "immutabledensematrix", "mutabledensematrix"),
    )
)
NOTHING = re.compile(r"[,; \t\r\n]+|\bNone\b")  # what may be between two matrices: separators, or None
FRACTION_CALLS = ("fraction", "rational")
# Keyword arguments without numbers of the matrix (the arguments HOLDING_KEYWORDS contain them).
SILENT_KEYWORDS = frozenset(
    (
        *("dtype", "device", "requires_grad", "grad_fn", "shape", "layout", "size", "names", "name", "weak_type"),
        *("place", "stop_gradient"),  # keyword arguments of PaddlePaddle's tensors
        *("copy", "order", "ndmin", "sharding", "fill_value", "is_leaf", "subok", "like", "trainable", "committed"),
    )
)
HOLDING_KEYWORDS = ("data", "numpy", "object", "value", "initial_value", "values")
# Methods that return the numbers of a matrix unchanged.
METHODS = re.compile(
    r"(?<=[)\]])(?:\.(?:cuda|cpu|detach|numpy|tolist|clone|copy|contiguous|float|double|requires_grad_)\([0-9]{0,2}\)"
    r"|\.to\((?:device[ \t]*=[ \t]*)?(?:[\"'](?:cuda|cpu|mps)[:0-9]{0,4}[\"']|device)\))+"
)
NUMBER_KEY = re.compile(r"([{,]\s{0,20})(-?[0-9]{1,6})(?=:[ \t])")  # a whole number as a key, as in {0: 1, 1: 3}
TYPE_ARGUMENT = re.compile(r"[,\s]*(?:[\w.]*(?:float|int|double|bool|half|long)[\w.]*|'[\w.]*'|\"[\w.]*\")?[,\s]*")
TENSORFLOW = re.compile(r"\A\s*<[A-Za-z][\w.]*\b[^<>\[\]]{0,300}?\b(?:numpy|value)=")
MACRO = re.compile(r"\b(?:vec|array)!\s*(?=[\[(])|&(?=\[)|\bnew\s+(?=[A-Z][\w]*Array\()")
TYPE_BEFORE = re.compile(
    r"\A\s*(?:new\s+)?(?:\[[0-9]*\])*[A-Za-z_][\w<>:,. ]{0,80}(?:\[[0-9]*\])*\s*(?=\{)|\A\s*[A-Z]\w*(?=\[)"
)
LIST_MARK = re.compile(r"(?m)^[ \t]*-[ \t]+(?=\[)")
SPECIAL_TOKEN = re.compile(r"\[[A-Z]{2,8}[0-9]{0,3}\]")
TOKEN = re.compile(
    r"(?P<call>[A-Za-z_][\w.]*)[ \t]*\("
    r"|(?P<keyword>[A-Za-z_]\w*)\s*=(?!=)"
    r"|(?P<label>\"[^\"\n]{0,80}\"|'[^'\n]{0,80}')\s*:"
    r"|(?P<open>[\[{(])|(?P<close>[\])}])"
    r"|(?P<text>\"[^\"\n]*\"|[A-Za-z_][\w.]*|[^\[\](){}\"'A-Za-z_]+|.)",
    re.DOTALL,
)
CLOSING = {"[": "]", "(": ")", "{": "}"}
SUFFIXED_NUMBER = re.compile(r"([0-9]\.?)[fFlL]\b")


class Group:
    """The content between two brackets, or the arguments of a call, as nested groups or as text.

    opened: the opening bracket; "" for the whole text. call: the name of the called function; "" if there is no call.
    """

    __slots__ = ("call", "groups", "labels", "opened", "text")

    def __init__(self, opened: str, call: str = "", text: str = ""):
        self.opened, self.call = opened, call
        self.text: list[str] = [text] if text else []
        self.groups: list[Group] = []
        self.labels: list[str] = []


def has_brackets(text: str) -> bool:
    """Returns whether a text is a matrix in brackets; a token in brackets, such as [CLS], is not a matrix."""
    plain = SPECIAL_TOKEN.sub("", text)
    if "[" in plain or "]" in plain:
        return True
    plain = plain.lstrip()
    if plain.startswith(("(", "{")) or TYPE_BEFORE.match(plain):
        return True
    begun = TOKEN.match(plain)
    return begun is not None and begun["call"] is not None and is_wrapper(begun["call"])


def is_wrapper(call: str) -> bool:
    """Returns whether a function of this name leaves the numbers in its arguments unchanged."""
    last = call.rpartition(".")[2].lower()
    return last in WRAPPERS or last in FRACTION_CALLS


def bracketed_cells(text: str, name: str) -> Cells:
    """Splits a matrix in brackets into cells: [[1, 2], [3, 4]], [1 2; 3 4], {{1, 2}, {3, 4}}, or [1, 2] [3, 4].

    Leading axes of length 1 are removed. Raises AttentionError: brackets, not_understood, rank, ambiguous_rows,
    several_matrices.
    """
    text = TENSORFLOW.sub("", text, count=1)
    text = MACRO.sub("", text)
    text = TYPE_BEFORE.sub("", text, count=1)
    text = METHODS.sub("", LIST_MARK.sub("", text))
    if "{" in text:
        text = NUMBER_KEY.sub(r'\1"\2"', text)
    whole = group_brackets(text, name)
    rest = "".join(whole.text).strip(",;> \t\r\n")
    if rest and whole.groups and any(sign.isalpha() for sign in rest):
        raise not_understood(text, max(text.find(rest[:8]), 0), name)
    if rest or not whole.groups:
        raise brackets_error(text, name)
    if len(whole.groups) > 1:
        is_parted = not set(",;\n").isdisjoint("".join(whole.text))
        if not is_parted and any(row.groups for row in whole.groups):
            raise brackets_error(text, name)
        return rows_of(whole, text, name)
    group = whole.groups[0]
    is_nested = bool(group.groups)
    while len(group.groups) == 1:
        group = group.groups[0]
    if group.groups:
        return rows_of(group, text, name)
    leaf = SUFFIXED_NUMBER.sub(r"\1", "".join(group.text))
    return [split_row(leaf)] if is_nested else leaf_rows(leaf, name)


def rows_of(group: Group, text: str, name: str) -> Cells:
    """Splits a matrix, given as a group of rows in brackets, into its rows and cells.

    Raises AttentionError: brackets, or several_matrices or rank if the group has more than two axes.
    """
    if any(row.groups for row in group.groups):
        shape = shape_of(group)
        if shape is None:
            raise brackets_error(text, name)
        matrices = dict(find_matrices(group))
        if len(matrices) > MAX_CHOICES:
            raise AttentionError("rank", name=name, axes="(rows, columns)", shape=shape)
        readings = [rows_of(matrix, text, name) for matrix in matrices.values()]
        raise ambiguous_error("several_matrices", name, readings, given=", ".join(matrices))
    if len({tuple(row.labels) for row in group.groups}) > 1:
        raise brackets_error(text, name)
    return [split_row(SUFFIXED_NUMBER.sub(r"\1", "".join(row.text))) for row in group.groups]


def find_matrices(group: Group, place: str = "") -> Iterator[tuple[str, Group]]:
    """Yields each matrix in nested brackets, with its index among them, such as "[0]" or "[1]"."""
    if not any(inner.groups for inner in group.groups):
        yield place, group
        return
    for number, inner in enumerate(group.groups):
        yield from find_matrices(inner, f"{place}[{number}]")


def shape_of(group: Group) -> tuple[int, ...] | None:
    """Returns the shape of nested brackets, taken from the first item on each level; None if the brackets are
    irregular.

    Irregular brackets have numbers beside brackets, unequal depths, or too many axes.
    """
    shape = []
    while group.groups:
        if NOTHING.sub("", "".join(group.text)):
            return None
        if len({bool(inner.groups) for inner in group.groups}) > 1 or len(shape) == MAX_SHOWN_AXES:
            return None
        shape.append(len(group.groups))
        group = group.groups[0]
    shape.append(len(split_row("".join(group.text))))
    return tuple(shape)


def split_row(row: str) -> list[str]:
    """Splits the text between two brackets into cells; a line break counts as a space, a comma at the end is
    ignored.
    """
    row = row.strip().removesuffix(",")
    separator = "," if "," in row else None  # no comma: split(None) splits at any white space
    return [cell.strip().strip("\"'") if '"' in cell or "'" in cell else cell for cell in row.split(separator)]


def leaf_rows(leaf: str, name: str) -> Cells:
    """Splits the text between the innermost brackets into rows, as in [1 2; 3 4]; a comma at the end of a line
    continues the row."""
    leaf = leaf.strip("\"'")
    joined = re.sub(r",[ \t\r]*\n", ", ", leaf)
    lines = [line for line in joined.splitlines() if line.strip()]
    rows = [row for row in ";".join(lines).split(";") if row.strip()]
    cells = [split_row(row) for row in rows]
    if len(lines) < 2 or ";" in leaf or len(lines[0]) < WRAPPED_LINE_CHARACTERS:
        return cells
    # a long row may be printed on several lines
    one_row = [[cell for row in cells for cell in row]]
    lengths = [len(row) for row in cells]
    if min(lengths) == max(lengths):
        raise ambiguous_error("ambiguous_rows", name, (cells, one_row), rows=len(cells), given=len(one_row[0]))
    return one_row


# ---- groups ----------------------------------------------------------------------------------------------------------
def group_brackets(text: str, name: str) -> Group:
    """Parses a text into nested Groups by its brackets; function names and type arguments are dropped."""
    whole = Group("")
    stack = [whole]
    position = 0
    while position < len(text):
        found = TOKEN.match(text, position)
        position = found.end()
        top = stack[-1]
        if found["call"] is not None:
            if not is_wrapper(found["call"]):
                raise not_understood(text, found.start(), name)
            stack.append(Group("(", found["call"].rpartition(".")[2].lower()))
        elif found["keyword"] is not None and (top.call or (top is whole and whole.groups)):
            position = skip_keyword(text, found, name)
        elif found["label"] is not None:
            top.labels.append(found["label"].strip("\"'"))
        elif found["open"] is not None:
            stack.append(Group(found["open"]))
        elif found["close"] is not None:
            if len(stack) == 1 or CLOSING[top.opened] != found["close"]:
                raise brackets_error(text, name)
            stack.pop()
            close_group(top, stack[-1], text, found.start(), name)
        else:
            top.text.append(found[0])
    if len(stack) > 1:
        raise brackets_error(text, name)
    return whole


def close_group(group: Group, outer: Group, text: str, position: int, name: str) -> None:
    """Ends a group at its closing bracket, and adds it to the group around it; of a call, only the arguments are
    added."""
    if group.labels:
        take_labelled(group, text, name)
    inside = "".join(group.text)
    if not group.call:
        if group.groups and NOTHING.sub("", inside):
            raise brackets_error(text, name)
        outer.groups.append(group)
        return
    if group.groups:
        if not any(sign.isalpha() for sign in inside) and inside.strip(", \t\r\n"):
            raise brackets_error(text, name)
        if not TYPE_ARGUMENT.fullmatch(inside):
            raise not_understood(text, position, name)
        outer.groups += group.groups
        return
    inside = inside.strip().removesuffix(",")
    if group.call in FRACTION_CALLS:
        inside = inside.replace(",", "/").replace(" ", "")
    if outer.opened == "" and any(sign in inside for sign in ",; \n"):  # no inner brackets, as in mat(1, 2; 3, 4)
        outer.groups.append(Group("[", text=inside))
        return
    if "," in inside:
        first, _, kind = inside.partition(",")
        if not TYPE_ARGUMENT.fullmatch(kind):
            raise not_understood(text, position, name)
        inside = first
    if outer.opened == "":
        outer.groups.append(Group("[", text=inside))
    else:
        outer.text.append(inside)


def take_labelled(group: Group, text: str, name: str) -> None:
    """Removes the label in a group such as {"q": [[1, 2]]}; a row such as {"a": 1, "b": 2} is left unchanged.

    Raises AttentionError: several_matrices, if several labels have brackets, because they may name matrices, or the
    rows or columns of one matrix.
    """
    if not group.groups and len(split_row("".join(group.text))) == len(group.labels):
        return
    if len(group.labels) != len(group.groups):
        raise brackets_error(text, name)
    if len(group.labels) > 1:
        readings = [
            rows_of(value, text, name) if value.groups else [split_row("".join(value.text))] for value in group.groups
        ]
        rows = join_rows(readings)
        if rows and len(rows) == len(readings):
            readings = [rows, [list(column) for column in zip(*rows, strict=True)], *readings]
        labels = ", ".join(map(safe_excerpt, group.labels[:MAX_CHOICES]))
        raise ambiguous_error("several_matrices", name, readings[: MAX_CHOICES + 2], given=labels)
    group.groups = group.groups[0].groups or group.groups
    group.text = []


def skip_keyword(text: str, found: re.Match, name: str) -> int:
    """Returns the position after a keyword argument, or before its value if the value contains the matrix."""
    keyword = found["keyword"].lower()
    if keyword in HOLDING_KEYWORDS:
        return found.end()
    is_silent = keyword in SILENT_KEYWORDS or (keyword == "mask" and text.startswith("False", found.end()))
    if not is_silent:
        raise not_understood(text, found.start(), name)
    depth = 0
    position = found.end()
    quote = ""
    while position < len(text):
        sign = text[position]
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "\"'":
            quote = sign
        elif sign in "([{<":
            depth += 1
        elif sign in ")]}>":
            if depth == 0:
                return position
            depth -= 1
        elif sign == "," and depth == 0:
            return position
        position += 1
    return position
