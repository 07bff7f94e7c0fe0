"""A formula as one line of text, for programs without LaTeX: fractions with a slash, superscripts and subscripts."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from attention_core.explanation.formula_tree import FUNCTIONS, Tree, formula_tree

WIDE_SIGNS = "=+·×≤≥≠∈→−-<>⊕⊙±∧"  # signs with a blank on both sides
OPENING_SIGNS = "([{⌊,;"
UNARY_SIGNS = "+−-"  # unary at the beginning of a formula or after an opening bracket
PLAIN_SIGNS = {"-": "−", "⊤": "T"}  # office programs lack the sign of a transpose
BROAD_SPACE_EMS = 0.9  # ems: a gap of this width becomes two blanks, a smaller gap one blank


@dataclass(frozen=True)
class FormulaRun:
    """Letters of one kind. level: 1 for a superscript, -1 for a subscript, else 0. colour: "" for that of the other
    text.
    """

    text: str
    level: int = 0
    colour: str = ""


def formula_runs(latex: str) -> tuple[FormulaRun, ...]:
    r"""A formula as runs of text, each symbol in its colour.

    latex: from explanation.formula.

    >>> [(run.text, run.level) for run in formula_runs(r"\textcolor{#0067A5}{Q}\,K^{\top} \cdot \tfrac{1}{\sqrt{2}}")]
    [('Q', 0), (' K', 0), ('T', 1), (' · 1/√2', 0)]
    """
    runs: list[FormulaRun] = []
    for run in element_runs(formula_tree(latex)):
        text = spaced(run, runs)
        last = runs[-1] if runs else None
        if last and (last.level, last.colour) == (run.level, run.colour):
            runs[-1] = replace(last, text=last.text + text)
        else:
            runs.append(replace(run, text=text))
    return tuple(runs)


def spaced(run: FormulaRun, before: list[FormulaRun]) -> str:
    """Letters with blanks: around a sign, and after a function or a sum; never two blanks in a row."""
    text = PLAIN_SIGNS.get(run.text, run.text)
    on_this_level = "".join(each.text for each in before if each.level == run.level).rstrip()
    is_new_level = not before or before[-1].level != run.level != 0
    is_first = is_new_level or not on_this_level or on_this_level[-1] in OPENING_SIGNS + "="
    is_ended = not before or before[-1].text.endswith(" ")
    if text in WIDE_SIGNS and not (text in UNARY_SIGNS and is_first):
        return f"{text} " if is_ended else f" {text} "
    if is_ended:
        return text.lstrip()
    is_argument = text[:1].isalnum() and on_this_level.endswith((*FUNCTIONS, "∑"))
    return f" {text}" if is_argument and not is_new_level else text


def element_runs(tree: Tree, level: int = 0, colour: str = "") -> Iterator[FormulaRun]:
    """The runs of an element, in order."""
    name, attributes, children = tree
    colour = attributes.get("class", colour)
    match name:
        case "mfrac":
            yield from fraction_runs(children, level, colour)
        case "msqrt":
            yield FormulaRun("√", level, colour)
            yield from bracketed_runs(children[0], level, colour)
        case "msub":
            yield from script_runs(children, (-1,), level, colour)
        case "msup":
            yield from script_runs(children, (1,), level, colour)
        case "msubsup":
            yield from script_runs(children, (-1, 1), level, colour)
        case "mspace":
            is_broad = float(attributes["width"].removesuffix("em")) > BROAD_SPACE_EMS
            yield FormulaRun("  " if is_broad else " ", level, colour)
        case "mover":
            yield FormulaRun("mean(", level, colour)  # in every formula of the app a line above a name is a mean
            yield from element_runs(children[0], level, colour)
            yield FormulaRun(")", level, colour)
        case "mtable":
            yield from table_runs(children, level, colour)
        case _:
            for child in children:
                if isinstance(child, str):
                    yield FormulaRun(child, level, colour)
                else:
                    yield from element_runs(child, level, colour)


def fraction_runs(children: tuple[Tree, ...], level: int, colour: str) -> Iterator[FormulaRun]:
    """The runs of the numerator, a slash and the denominator."""
    above, below = children
    yield from bracketed_runs(above, level, colour)
    yield FormulaRun("/", level, colour)
    yield from bracketed_runs(below, level, colour)


def bracketed_runs(tree: Tree, level: int, colour: str) -> Iterator[FormulaRun]:
    """The runs of an element, in brackets if it has more than one."""
    _, _, children = tree
    if len(children) == 1:
        yield from element_runs(tree, level, colour)
        return
    yield FormulaRun("(", level, colour)
    yield from element_runs(tree, level, colour)
    yield FormulaRun(")", level, colour)


def script_runs(children: tuple[Tree, ...], places: tuple[int, ...], level: int, colour: str) -> Iterator[FormulaRun]:
    """The runs of a base, with its subscript or superscript."""
    base, *scripts = children
    yield from element_runs(base, level, colour)
    for place, script in zip(places, scripts, strict=True):
        yield from element_runs(script, place, colour)


def table_runs(rows: tuple[Tree, ...], level: int, colour: str) -> Iterator[FormulaRun]:
    """The runs of the cases after a brace, in one line."""
    for number, (_, _, cells) in enumerate(rows):
        for place, cell in enumerate(cells):
            if place:
                yield FormulaRun(", ", level, colour)
            elif number:
                yield FormulaRun("; ", level, colour)
            yield from element_runs(cell, level, colour)
    yield FormulaRun(" }", level, colour)
