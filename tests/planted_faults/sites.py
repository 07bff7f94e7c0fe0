"""Where a small fault can be planted: an exchanged operator, a number that is off by one, a condition turned round."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path


@dataclass(frozen=True)
class Fault:
    """A piece of one file that is replaced by another. The line is kept, so that it is found after lines were added."""

    path: str
    line: str  # the whole line, before the fault
    column: int  # characters before the piece
    piece: str
    wrong: str

    def plant(self, root: Path) -> bool:
        """Writes the fault into the file. Returns False if the line is gone or not the only one."""
        path = root / self.path
        lines = path.read_text(encoding="utf-8").split("\n") if path.exists() else []
        if lines.count(self.line) != 1:
            return False
        at, end = self.column, self.column + len(self.piece)
        lines[lines.index(self.line)] = self.line[:at] + self.wrong + self.line[end:]
        path.write_text("\n".join(lines), encoding="utf-8")
        return True


EXCHANGED = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"),
    ast.Mod: ("%", "//"),
    ast.And: ("and", "or"),
    ast.Or: ("or", "and"),
}


def python_faults(path: str, text: str) -> list[Fault]:
    """Every fault that the syntax tree of a Python file offers inside its functions."""
    found = []
    for function in ast.walk(ast.parse(text)):
        if isinstance(function, ast.FunctionDef):
            for statement in function.body:
                found += [_fault(path, text, *site) for site in _python_sites(statement, text)]
    return [fault for fault in dict.fromkeys(found) if fault is not None]


def _python_sites(statement: ast.stmt, text: str) -> Iterator[tuple[int, int, str, str]]:
    """(start, end, piece, wrong): between start and end, in characters of the text, the piece is looked for."""
    places = _Places(text)
    for node in ast.walk(statement):
        if isinstance(node, ast.Compare):
            operands = [node.left, *node.comparators]
            for left, operator, right in zip(operands, node.ops, operands[1:], strict=False):
                yield places.end(left), places.start(right), *EXCHANGED[type(operator)]
        elif isinstance(node, ast.BinOp) and type(node.op) in EXCHANGED:
            yield places.end(node.left), places.start(node.right), *EXCHANGED[type(node.op)]
        elif isinstance(node, ast.BoolOp):
            yield places.end(node.values[0]), places.start(node.values[1]), *EXCHANGED[type(node.op)]
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            yield places.start(node), places.start(node.operand), "not ", ""
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            yield places.start(node), places.start(node.operand), "-", ""
        elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
            yield places.start(node), places.end(node), str(node.value), str(not node.value)
        elif isinstance(node, ast.Constant) and type(node.value) is int:
            written = text[places.start(node) : places.end(node)]
            yield places.start(node), places.end(node), written, str(node.value + 1)


class _Places:
    """Places of nodes as characters of the text; the syntax tree counts bytes of a line."""

    def __init__(self, text: str) -> None:
        self.lines = text.split("\n")
        self.first = [0, *accumulate(len(line) + 1 for line in self.lines)]

    def _place(self, line: int, column: int) -> int:
        return self.first[line - 1] + len(self.lines[line - 1].encode()[:column].decode())

    def start(self, node: ast.expr) -> int:
        return self._place(node.lineno, node.col_offset)

    def end(self, node: ast.expr) -> int:
        return self._place(node.end_lineno, node.end_col_offset)


def _fault(path: str, text: str, start: int, end: int, piece: str, wrong: str) -> Fault | None:
    """The fault at the first place of the piece, if its line stands once in the file."""
    at = text.find(piece, start, end)
    if at < 0:
        return None
    first = text.rfind("\n", 0, at) + 1
    line = text[first:].partition("\n")[0]
    return Fault(path, line, at - first, piece, wrong) if text.split("\n").count(line) == 1 else None


IN_JAVASCRIPT = {
    "<": "<=",
    "<=": "<",
    ">": ">=",
    ">=": ">",
    "===": "!==",
    "!==": "===",
    "&&": "||",
    "||": "&&",
    "+": "-",
    "-": "+",
    "*": "/",
    "/": "*",
    "true": "false",
    "false": "true",
}
TOKEN = re.compile(
    r" (?P<operator>[<>]=?|[!=]==|&&|\|\||[-+*/]) |\b(?P<word>true|false)\b|(?<![\w.#$-])(?P<number>\d+)\b"
)
TEXT = re.compile(r"""'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\[\s\S]|[^`\\])*`|//.*|/\*[\s\S]*?\*/""")


def javascript_faults(path: str, text: str) -> list[Fault]:
    """Every fault that the signs of a JavaScript file offer outside comments and texts."""
    bare = TEXT.sub(lambda found: re.sub(r"[^\n]", "_", found[0]), text)
    found = []
    for token in TOKEN.finditer(bare):
        piece = token[token.lastgroup]
        wrong = IN_JAVASCRIPT.get(piece) or str(int(piece) + 1)
        found.append(_fault(path, text, token.start(token.lastgroup), token.end(token.lastgroup), piece, wrong))
    return [fault for fault in dict.fromkeys(found) if fault is not None]
