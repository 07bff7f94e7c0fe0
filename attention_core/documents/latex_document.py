r"""A run as a LaTeX document that compiles as it is: every step's formula in the project's colours, and its numbers.

pdflatex reads it, or xelatex with ctex where a word needs more letters than Latin ones: its first line says which.
"""

import re
from collections.abc import Iterator, Mapping

from attention_core.documents.excerpt import Telling, matrices
from attention_core.documents.provenance import Imprint
from attention_core.drawing.text_layout import cut
from attention_core.explanation.formula import COLOURS, formula
from attention_core.explanation.layout import Panel
from attention_core.record.number_text import fixed
from attention_core.record.trace import Trace

SIDE, HEADS = 12, 4  # rows and columns of a matrix, and heads of a step, at most
LABEL = 90.0  # pixels of a label at size 10: about as many as five numbers take
NAMES = {family: f"symbol{family}" for family in COLOURS}
LATIN = re.compile(r"[ -~\u00a1-\u00ac\u00ae-\u00ff]*")  # what pdflatex writes without further packages

SIGNS = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "-": "{-}",  # alone: -- would be a dash
    "'": r"\textquotesingle{}",
    "`": r"\textasciigrave{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    ",": "{,}",
    "!": "{!}",
    "?": "{?}",
}
TYPESET = {"−": "$-$", "×": r"$\times$", "·": r"$\cdot$", "∞": r"$\infty$", "→": r"$\to$", "ᵀ": r"$^{\top}$"}
TYPESET |= {
    "…": r"\ldots{}",
    "–": "--",
    "—": "---",
    "“": "``",
    "”": "''",
    "‘": "`",
    "’": "'",
    "≤": r"$\le$",
    "½": r"$\frac12$",
}

PREAMBLE = r"""\usepackage[a4paper,margin=2cm]{geometry}
\usepackage{amsmath,amssymb,graphicx,xcolor}
\usepackage{url}
\setlength{\parindent}{0pt}
\newcommand{\fitted}[1]{\resizebox{\ifdim\width>\linewidth \linewidth\else\width\fi}{!}{$\displaystyle #1$}}
"""


def latex_document(trace: Trace, at: Mapping[str, int], imprint: Imprint, telling: Telling) -> str:
    """The whole document: title, sentence, where it is from, settings, and every step with formula and numbers.

    at: as in excerpt.matrices. Numbers have two decimals; of a matrix at most SIDE rows and columns are written, of a
    step at most HEADS heads, and what is left out is said.
    """
    body = "\n".join(parts(trace, at, imprint, telling))
    latin = LATIN.fullmatch(body.replace("\n", " ")) is not None
    engine, document = ("pdflatex", "article") if latin else ("xelatex", "ctexart")
    fonts = "\\usepackage[T1]{fontenc}\n\\usepackage{lmodern,textcomp}\n" if latin else ""
    colours = "".join(f"\\definecolor{{{NAMES[name]}}}{{HTML}}{{{COLOURS[name][1:].upper()}}}\n" for name in COLOURS)
    comments = "".join(f"% {line}\n" for line in (f"!TEX program = {engine}", *imprint.lines))
    start = f"{comments}\\documentclass[11pt]{{{document}}}\n{fonts}{PREAMBLE}{colours}"
    return f"{start}\\begin{{document}}\n{body}\n\\end{{document}}\n"


def parts(trace: Trace, at: Mapping[str, int], imprint: Imprint, telling: Telling) -> Iterator[str]:
    """The document's paragraphs."""
    yield rf"\section*{{{escaped(imprint.lines[0])}}}"
    yield escaped(telling.sentence) + "\n"
    yield rf"\url{{{imprint.lines[1]}}}" + "\n"
    yield from (escaped(line) + "\n" for line in (*imprint.lines[2:], *telling.settings))
    for step in trace.steps:
        yield rf"\bigskip\pagebreak[1]\fitted{{{formula(trace, step, NAMES)}}}\nopagebreak" + "\n"
        shown, more = matrices(trace, step, at, SIDE, HEADS)
        for drawn in shown:
            yield rf"\smallskip {{\small {escaped(telling.title(drawn))}}}\nopagebreak" + "\n"
            yield matrix(drawn, trace, telling) + "\n"
        if more:
            yield escaped(telling.more(more)) + "\n"


def matrix(drawn: Panel, trace: Trace, telling: Telling) -> str:
    """A matrix with the names of its rows and columns."""
    rows, columns = drawn.values.shape
    top, left = drawn.first
    named = [label(telling, drawn.columns, left + column) for column in range(columns)]
    lines = [" & ".join(["", *named]) + r" \\ \hline"]
    is_bool = not trace[drawn.step].dtype.is_floating_point
    for row in range(rows):
        numbers = [str(int(value)) if is_bool else number(value) for value in drawn.values[row]]
        lines.append(" & ".join([label(telling, drawn.rows, top + row), *numbers]) + r" \\")
    return rf"\fitted{{\begin{{array}}{{r|{'r' * columns}}}" + "\n" + "\n".join(lines) + "\n" + r"\end{array}}"


def label(telling: Telling, axis: str, position: int) -> str:
    """What stands beside a row or above a column."""
    return rf"\text{{{escaped(cut(telling.words.labels(axis, position), LABEL, 10.0))}}}"


def number(value: float) -> str:
    r"""A number in mathematics, as it is printed everywhere.

    >>> number(-0.934), number(float("-inf")), number(12345678.0), number(float("nan"))
    ('-0.93', '-\\infty', '1.23\\cdot 10^{7}', '\\mathrm{NaN}')
    """
    text = fixed(value).replace("−", "-").replace("∞", r"\infty").replace("NaN", r"\mathrm{NaN}")
    digits, _, power = text.partition("e")
    return rf"{digits}\cdot 10^{{{int(power)}}}" if power and digits[-1].isdigit() else text


def escaped(text: str) -> str:
    r"""A text that LaTeX writes as it is: nothing in it is a command.

    >>> escaped(r"50% of $x_1 \input{a}")
    '50\\% of \\$x\\_1 \\textbackslash{}input\\{a\\}'
    """
    return "".join(TYPESET.get(sign, SIGNS.get(sign, sign)) for sign in " ".join(text.split()))
