r"""Writes a run as a complete LaTeX document: the formula of each step, in the app's colours, and its numbers.

The first line of the document names the compiler: xelatex, with the package ctex, if the text has letters that are not
Latin, else pdflatex.
"""

import re
from collections.abc import Iterator, Mapping
from math import isfinite

from attention_core.documents.excerpt import DocumentTexts, excerpt_matrices
from attention_core.documents.provenance import Provenance
from attention_core.drawing.text_layout import column_texts, row_texts, shorten_text
from attention_core.explanation.formula import SYMBOL_COLOURS, formula
from attention_core.explanation.layout import Panel
from attention_core.explanation.shown_steps import shown_steps
from attention_core.record.number_text import format_fixed
from attention_core.record.trace import Trace

MAX_LATEX_SIDE, MAX_LATEX_HEADS = 12, 4  # a matrix has at most this many rows or columns, and a step this many heads
MAX_LATEX_LABEL_PX = 90.0  # in pixels at font size 10: labels are shortened to this width, about that of five numbers
LATEX_COLOUR_NAMES = {family: f"symbol{family}" for family in SYMBOL_COLOURS}
LATIN_PATTERN = re.compile(r"[ -~\u00a1-\u00ac\u00ae-\u00ff]*")  # characters that pdflatex can print without a package

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
    "-": "{-}",  # in braces, because LaTeX prints two minus signs as a dash
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
TYPESET_SIGNS = {
    "−": "$-$",
    "×": r"$\times$",
    "·": r"$\cdot$",
    "∞": r"$\infty$",
    "→": r"$\to$",
    "ᵀ": r"$^{\top}$",
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
LATIN_CLASS_LINES = (
    r"\documentclass[11pt]{article}",
    r"\usepackage[T1]{fontenc}",
    r"\usepackage{lmodern,textcomp}",
)
CHINESE_CLASS_LINES = (r"\documentclass[11pt]{ctexart}",)


def latex_document(trace: Trace, at: Mapping[str, int], provenance: Provenance, texts: DocumentTexts) -> str:
    """Return a run as a LaTeX document: title, sentence, provenance, settings, and every step.

    Each step is shown by its formula and its numbers, with two decimals. at: {axis: index}, which selects the shown
    matrices. At most MAX_LATEX_SIDE rows and columns of a matrix and MAX_LATEX_HEADS heads of a step are written; the
    document says what is left out.
    """
    body = "\n".join(document_paragraphs(trace, at, provenance, texts))
    is_latin = LATIN_PATTERN.fullmatch(body.replace("\n", " ")) is not None
    engine = "pdflatex" if is_latin else "xelatex"
    lines = [
        f"% !TEX program = {engine}",
        *(f"% {line}" for line in provenance.lines),
        *(LATIN_CLASS_LINES if is_latin else CHINESE_CLASS_LINES),
        PREAMBLE + colour_definitions(),
        r"\begin{document}",
        body,
        r"\end{document}",
    ]
    return "\n".join(lines) + "\n"


def colour_definitions() -> str:
    """Return the definitions of the colours of symbols, as lines of LaTeX."""
    lines = []
    for family, colour in SYMBOL_COLOURS.items():
        digits = colour.removeprefix("#").upper()
        lines.append(rf"\definecolor{{{LATEX_COLOUR_NAMES[family]}}}{{HTML}}{{{digits}}}")
    return "\n".join(lines)


def document_paragraphs(
    trace: Trace, at: Mapping[str, int], provenance: Provenance, texts: DocumentTexts
) -> Iterator[str]:
    """Yield the paragraphs of the LaTeX document: title, sentence, link, notes, settings, then each step's formula and
    matrices.
    """
    title, link, *notes = provenance.lines
    yield rf"\section*{{{escape_latex(title)}}}"
    yield escape_latex(texts.sentence) + "\n"
    yield rf"\url{{{link}}}" + "\n"
    for line in (*notes, *texts.settings):
        yield escape_latex(line) + "\n"
    for step in shown_steps(trace):
        equation = formula(trace, step, LATEX_COLOUR_NAMES, texts.names)
        yield rf"\bigskip\pagebreak[1]\fitted{{{equation}}}\nopagebreak" + "\n"
        shown, more = excerpt_matrices(trace, step, at, MAX_LATEX_SIDE, MAX_LATEX_HEADS)
        for drawn in shown:
            caption = escape_latex(texts.title(drawn))
            yield rf"\smallskip {{\small {caption}}}\nopagebreak" + "\n"
            yield matrix_latex(drawn, trace, texts) + "\n"
        if more:
            yield escape_latex(texts.more(more)) + "\n"


def matrix_latex(drawn: Panel, trace: Trace, texts: DocumentTexts) -> str:
    """Return a matrix in LaTeX, with the names of its rows and columns."""
    is_bool = not trace.step(drawn.step).dtype.is_floating_point
    format_number = truth_latex if is_bool else number_latex
    alignment = "r" * drawn.values.shape[1]
    heads = map(label_latex, column_texts(drawn, texts.words))
    head_line = " & ".join(["", *heads])
    lines = [
        rf"\fitted{{\begin{{array}}{{r|{alignment}}}",
        rf"{head_line} \\ \hline",
    ]
    names = row_texts(drawn, texts.words)
    for name, values in zip(names, drawn.values.tolist(), strict=True):
        numbers = map(format_number, values)
        line = " & ".join([label_latex(name), *numbers])
        lines.append(rf"{line} \\")
    lines.append(r"\end{array}}")
    return "\n".join(lines)


def label_latex(text: str) -> str:
    """Return the label of a row or a column in LaTeX, shortened if it is wider than MAX_LATEX_LABEL_PX."""
    short = shorten_text(text, MAX_LATEX_LABEL_PX, 10.0)
    return rf"\text{{{escape_latex(short)}}}"


def truth_latex(value: float) -> str:
    """Return a truth value in LaTeX: 1 for true, 0 for false."""
    return str(int(value))


def number_latex(value: float) -> str:
    r"""Return a number in LaTeX's math mode, with two decimals or as a power of ten.

    >>> number_latex(-0.934), number_latex(float("-inf")), number_latex(12345678.0), number_latex(float("nan"))
    ('-0.93', '-\\infty', '1.23\\cdot 10^{7}', '\\mathrm{NaN}')
    """
    text = format_fixed(value).replace("−", "-")
    if not isfinite(value):
        return text.replace("∞", r"\infty").replace("NaN", r"\mathrm{NaN}")
    digits, _, power = text.partition("e")
    if not power:
        return text
    return rf"{digits}\cdot 10^{{{int(power)}}}"


def escape_latex(text: str) -> str:
    r"""Escape a text for LaTeX, so that no part of the text is a command.

    >>> escape_latex(r"50% of $x_1 \input{a}")
    '50\\% of \\$x\\_1 \\textbackslash{}input\\{a\\}'
    """
    replacements = ESCAPED_SIGNS | TYPESET_SIGNS
    line = " ".join(text.split())
    signs = [replacements.get(sign, sign) for sign in line]
    return "".join(signs)
