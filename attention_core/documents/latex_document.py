r"""A run as a LaTeX document that compiles as it is: every step's formula in the project's colours, and its numbers.

pdflatex reads it, or xelatex with ctex where a word needs more letters than Latin ones: its first line says which.
"""

import re
from collections.abc import Iterator, Mapping

from attention_core.documents.excerpt import DocumentTexts, excerpt_matrices
from attention_core.documents.provenance import Provenance
from attention_core.drawing.text_layout import shorten_text
from attention_core.explanation.formula import SYMBOL_COLOURS, formula
from attention_core.explanation.layout import Panel
from attention_core.record.number_text import format_fixed
from attention_core.record.trace import Trace

MAX_LATEX_SIDE, MAX_LATEX_HEADS = 12, 4  # rows and columns of a matrix, and heads of a step, at most
MAX_LATEX_LABEL_PX = 90.0  # pixels of a label at size 10: about as many as five numbers take
LATEX_COLOUR_NAMES = {family: f"symbol{family}" for family in SYMBOL_COLOURS}
LATIN_PATTERN = re.compile(r"[ -~\u00a1-\u00ac\u00ae-\u00ff]*")  # what pdflatex writes without further packages

ESCAPED_SIGNS = {
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
TYPESET_SIGNS = {"−": "$-$", "×": r"$\times$", "·": r"$\cdot$", "∞": r"$\infty$", "→": r"$\to$", "ᵀ": r"$^{\top}$"}
TYPESET_SIGNS |= {
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


def latex_document(trace: Trace, at: Mapping[str, int], imprint: Provenance, telling: DocumentTexts) -> str:
    """The whole document: title, sentence, where it is from, settings, and every step with formula and numbers.

    at: as in excerpt.matrices. Numbers have two decimals; of a matrix at most SIDE rows and columns are written, of a
    step at most HEADS heads, and what is left out is said.
    """
    body = "\n".join(document_paragraphs(trace, at, imprint, telling))
    latin = LATIN_PATTERN.fullmatch(body.replace("\n", " ")) is not None
    engine, document = ("pdflatex", "article") if latin else ("xelatex", "ctexart")
    fonts = "\\usepackage[T1]{fontenc}\n\\usepackage{lmodern,textcomp}\n" if latin else ""
    colours = "".join(
        f"\\definecolor{{{LATEX_COLOUR_NAMES[name]}}}{{HTML}}{{{SYMBOL_COLOURS[name][1:].upper()}}}\n"
        for name in SYMBOL_COLOURS
    )
    comments = "".join(f"% {line}\n" for line in (f"!TEX program = {engine}", *imprint.lines))
    start = f"{comments}\\documentclass[11pt]{{{document}}}\n{fonts}{PREAMBLE}{colours}"
    return f"{start}\\begin{{document}}\n{body}\n\\end{{document}}\n"


def document_paragraphs(
    trace: Trace, at: Mapping[str, int], imprint: Provenance, telling: DocumentTexts
) -> Iterator[str]:
    """The document's paragraphs."""
    yield rf"\section*{{{escape_latex(imprint.lines[0])}}}"
    yield escape_latex(telling.sentence) + "\n"
    yield rf"\url{{{imprint.lines[1]}}}" + "\n"
    yield from (escape_latex(line) + "\n" for line in (*imprint.lines[2:], *telling.settings))
    for step in trace.steps:
        yield rf"\bigskip\pagebreak[1]\fitted{{{formula(trace, step, LATEX_COLOUR_NAMES)}}}\nopagebreak" + "\n"
        shown, more = excerpt_matrices(trace, step, at, MAX_LATEX_SIDE, MAX_LATEX_HEADS)
        for drawn in shown:
            yield rf"\smallskip {{\small {escape_latex(telling.title(drawn))}}}\nopagebreak" + "\n"
            yield matrix_latex(drawn, trace, telling) + "\n"
        if more:
            yield escape_latex(telling.more(more)) + "\n"


def matrix_latex(drawn: Panel, trace: Trace, telling: DocumentTexts) -> str:
    """A matrix with the names of its rows and columns."""
    rows, columns = drawn.values.shape
    top, left = drawn.first
    named = [label_latex(telling, drawn.columns, left + column) for column in range(columns)]
    lines = [" & ".join(["", *named]) + r" \\ \hline"]
    is_bool = not trace[drawn.step].dtype.is_floating_point
    for row in range(rows):
        numbers = [str(int(value)) if is_bool else number_latex(value) for value in drawn.values[row]]
        lines.append(" & ".join([label_latex(telling, drawn.rows, top + row), *numbers]) + r" \\")
    return rf"\fitted{{\begin{{array}}{{r|{'r' * columns}}}" + "\n" + "\n".join(lines) + "\n" + r"\end{array}}"


def label_latex(telling: DocumentTexts, axis: str, position: int) -> str:
    """What stands beside a row or above a column."""
    return rf"\text{{{escape_latex(shorten_text(telling.words.labels(axis, position), MAX_LATEX_LABEL_PX, 10.0))}}}"


def number_latex(value: float) -> str:
    r"""A number in mathematics, as it is printed everywhere.

    >>> number_latex(-0.934), number_latex(float("-inf")), number_latex(12345678.0), number_latex(float("nan"))
    ('-0.93', '-\\infty', '1.23\\cdot 10^{7}', '\\mathrm{NaN}')
    """
    text = format_fixed(value).replace("−", "-").replace("∞", r"\infty").replace("NaN", r"\mathrm{NaN}")
    digits, _, power = text.partition("e")
    return rf"{digits}\cdot 10^{{{int(power)}}}" if power and digits[-1].isdigit() else text


def escape_latex(text: str) -> str:
    r"""A text that LaTeX writes as it is: nothing in it is a command.

    >>> escape_latex(r"50% of $x_1 \input{a}")
    '50\\% of \\$x\\_1 \\textbackslash{}input\\{a\\}'
    """
    return "".join(TYPESET_SIGNS.get(sign, ESCAPED_SIGNS.get(sign, sign)) for sign in " ".join(text.split()))
