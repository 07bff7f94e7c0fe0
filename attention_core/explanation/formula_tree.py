r"""Parses LaTeX formulas into trees of MathML elements, which browsers draw.

The parser knows the commands in the operations' formulas: letters, groups, \mathrm and \text, \textcolor, fractions,
roots, scripts, cases.
"""

import re
from functools import lru_cache

TOKEN = re.compile(r"\\[A-Za-z]+|\\.|[0-9]+(?:\.[0-9]+)?|[A-Za-z]|\s+|.", re.DOTALL)  # one token of LaTeX
SIGNS = {
    **{"cdot": "·", "times": "×", "top": "⊤", "infty": "∞", "oplus": "⊕", "le": "≤", "ge": "≥", "lVert": "‖"},
    **{"rVert": "‖", "theta": "θ", "lambda": "λ", "alpha": "α", "beta": "β", "sum": "∑", "odot": "⊙", "in": "∈"},
    **{"ne": "≠", "lfloor": "⌊", "rfloor": "⌋", "pm": "±", "to": "→", "ldots": "…", "{": "{", "}": "}"},
    **{"sigma": "σ", "phi": "φ", "land": "∧", "lor": "∨", "gamma": "γ"},
}
FUNCTIONS = ("tanh", "sin", "cos", "exp", "log", "ln", "max", "min")
SPACES = {",": "0.17em", ";": "0.28em", " ": "0.3em", "quad": "1em"}  # LaTeX command -> width of its space
FRACTIONS = ("frac", "tfrac", "dfrac")

Tree = tuple  # (element, attributes, children) of MathML


@lru_cache(maxsize=1024)
def formula_tree(latex: str) -> Tree:
    r"""Parse a LaTeX formula into (element, attributes, children), in which a child is such a tree or a text.

    The result is cached, so callers must not change it. \textcolor{q}{Q} becomes an element with the class q. An
    unknown command is shown as its name.

    >>> formula_tree(r"\textcolor{q}{Q}_2 = \tfrac{1}{S}")[2][0]
    ('msub', {}, (('mrow', {'class': 'q'}, (('mi', {}, ('Q',)),)), ('mn', {}, ('2',))))
    """
    reader = FormulaReader(latex)
    return make("mrow", reader.read_row())


def make(element: str, children: list | tuple, **attributes: str) -> Tree:
    """Return an element with its children and attributes as a tree."""
    return (element, attributes, tuple(children))


class FormulaReader:
    """A recursive-descent parser that reads a LaTeX formula from left to right."""

    def __init__(self, latex: str):
        self.tokens = TOKEN.findall(latex)
        self.place = 0

    def peek(self) -> str:
        """Return the next token without consuming it; return "" after the last token."""
        return self.tokens[self.place] if self.place < len(self.tokens) else ""

    def take(self) -> str:
        """Consume and return the next token."""
        token = self.peek()
        self.place += 1
        return token

    def read_row(self, ends: tuple[str, ...] = ("",)) -> list[Tree]:
        """Parse elements until a token in `ends` follows, which is not consumed; return them."""
        row: list[Tree] = []
        while self.peek() not in (*ends, ""):
            if self.peek() in ("_", "^"):
                row.append(self.read_script(row.pop()))
                continue
            atom = self.read_atom()
            if atom is not None:
                row.append(atom)
        return row

    def read_script(self, base: Tree) -> Tree:
        """Parse a subscript or superscript, and return its base with it; a superscript after a subscript joins the same
        element."""
        sign = self.take()
        script = self.read_atom()
        if base[0] == "msub" and sign == "^":
            return make("msubsup", [*base[2], script])
        return make("msub" if sign == "_" else "msup", [base, script])

    def read_group(self) -> Tree:
        """Parse a group in braces, and return its content."""
        self.take()
        row = self.read_row(("}",))
        self.take()
        return make("mrow", row)

    def read_text(self) -> str:
        """Return the text in braces."""
        self.take()
        letters = []
        while self.peek() not in ("}", ""):
            token = self.take()
            letters.append(token[1:] if token.startswith("\\") else token)
        self.take()
        return "".join(letters)

    def read_atom(self) -> Tree | None:
        """Parse one element, such as a letter or a command, and return it; return None for a space."""
        token = self.peek()
        if token == "{":
            return self.read_group()
        self.take()
        if token.isspace():
            return None
        if token.startswith("\\"):
            return self.read_command(token[1:])
        if token[0].isdigit():
            return make("mn", [token])
        return make("mi" if token.isalpha() else "mo", [token])

    def read_command(self, name: str) -> Tree | None:
        """Parse the arguments of a command, and return its element; return None for a command that draws nothing."""
        if name in ("mathrm", "text"):
            return make("mtext", [self.read_text()])
        if name == "textcolor":
            colour = self.read_text()
            return make("mrow", self.read_group()[2], **{"class": colour})
        if name in FRACTIONS:
            return make("mfrac", [self.read_group(), self.read_group()])
        if name == "sqrt":
            return make("msqrt", [self.read_group()])
        if name == "overline":
            return make("mover", [self.read_group(), make("mo", ["‾"])])
        if name == "textstyle":
            return None
        if name == "begin":
            return self.read_cases()
        if name in SPACES:
            return make("mspace", [], width=SPACES[name])
        if name in FUNCTIONS:
            return make("mi", [name], mathvariant="normal")
        if name in SIGNS:
            return make("mi" if SIGNS[name].isalpha() else "mo", [SIGNS[name]])
        return make("mi", [name])

    def read_cases(self) -> Tree:
        """Parse the rows of a cases environment; return them as a table after a brace."""
        self.read_text()
        rows, cells = [], []
        while self.peek() != "\\end":
            cell = make("mtd", self.read_row(("&", "\\\\", "\\end")))
            cells.append(cell)
            if self.peek() != "&":
                rows.append(make("mtr", cells))
                cells = []
            if self.peek() != "\\end":
                self.skip_break()
        self.take()
        self.read_text()
        return make("mrow", [make("mo", ["{"], stretchy="true"), make("mtable", rows, columnalign="left")])

    def skip_break(self) -> None:
        r"""Skip the separator between two cells or rows, and the height of a gap after it, as in \\[1em]."""
        if self.take() == "\\\\" and self.peek() == "[":
            while self.take() != "]":
                continue
