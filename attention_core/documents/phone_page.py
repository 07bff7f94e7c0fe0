"""A scene as one HTML file: title, sentence, the heads' maps, every step; pointing at a number tells its arithmetic.

200 people open it on their phones without a server or a network. It draws tables and not Vega, whose scripts alone
take 0.9 MB: a table is there at once, scrolls under a thumb, is read aloud, and its numbers can be searched.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from markupsafe import Markup

from attention_core.documents.excerpt import DocumentTexts, excerpt_matrices
from attention_core.documents.html import (
    CellStyles,
    Table,
    coloured_table,
    dark_symbol_style,
    read_template_part,
    render_page,
    typeset_formulas,
)
from attention_core.documents.provenance import Provenance
from attention_core.explanation.arithmetic import explain
from attention_core.explanation.formula import formula
from attention_core.explanation.layout import Panel
from attention_core.record.expressions import Ref
from attention_core.record.trace import Trace

MATRIX_SIDES = (
    24,
    16,
    12,
    8,
    6,
    4,
)  # rows and columns of a matrix, at most: the largest with which all of it are at most
MAX_PAGE_CELLS = 8_000  # cells
MAX_PAGE_HEADS = 8  # of a step, at most
MAX_PAGE_TERMS = 60_000  # terms of all arithmetic, which take about half a second to be written


@dataclass(frozen=True)
class SceneTexts:
    """The page's own words. hint: how numbers are asked; steps: over them; open: the link to the app; untold: before
    the steps whose arithmetic is left out."""

    hint: str
    steps: str
    open: str
    untold: str


@dataclass(frozen=True)
class ShownStep:
    """A step as it is shown: its formula, its matrices, and how many heads are left out."""

    name: str
    formula: Markup
    tables: list[Table]
    more: int


def scene_page(
    trace: Trace, at: Mapping[str, int], imprint: Provenance, telling: DocumentTexts, texts: SceneTexts, note: str = ""
) -> str:
    """The whole page. at: as in excerpt.matrices. note: what a lecturer wrote to the scene.

    At most MOST_CELLS cells are shown, of HEADS heads; matrices are cut to what allows that, and say so. Arithmetic is
    there for the steps, in order, that stay below MOST_TERMS terms together; the others are named.
    """
    shown = shown_matrices(trace, at)
    told, looks = explained_steps(trace, shown), CellStyles()
    outlines, drawn = typeset_formulas([formula(trace, step) for step in trace.steps])
    steps = []
    for step, (panels, more) in shown.items():
        arithmetic = partial(arithmetic_of, trace) if step in told else (lambda ref: "")
        tables = [coloured_table(part, trace, telling, looks, arithmetic) for part in panels]
        steps.append(ShownStep(step, drawn[formula(trace, step)], tables, more))
    maps = next(step for step in steps if step.name == "weights")
    return render_page(
        "scene.html",
        read_template_part("scene.css") + looks.style() + dark_symbol_style(),
        read_template_part("scene.js"),
        imprint=imprint,
        telling=telling,
        texts=texts,
        note=note,
        outlines=outlines,
        maps=maps.tables,
        maps_more=maps.more,
        steps=steps,
        untold=[step for step in trace.computed() if step not in told],
    )


def shown_matrices(trace: Trace, at: Mapping[str, int]) -> dict[str, tuple[list[Panel], int]]:
    """The matrices of every step, as large as all of them together may be."""
    for side in MATRIX_SIDES:
        shown = {step: excerpt_matrices(trace, step, at, side, MAX_PAGE_HEADS) for step in trace.steps}
        if sum(part.values.size for panels, _ in shown.values() for part in panels) <= MAX_PAGE_CELLS:
            break
    return shown


def explained_steps(trace: Trace, shown: Mapping[str, tuple[list[Panel], int]]) -> set[str]:
    """The steps whose arithmetic is written, in order, as long as there are not too many terms."""
    left, told = MAX_PAGE_TERMS, set()
    for step, (panels, _) in shown.items():
        operation = trace.step(step).operation
        if operation is None:
            continue
        terms = len(operation.cell(panels[0].refs[-1][-1].index, trace.shapes()).terms)
        needed = terms * sum(part.values.size for part in panels)
        if needed <= left:
            left -= needed
            told.add(step)
    return told


def arithmetic_of(trace: Trace, ref: Ref) -> str:
    """How a number was computed, in one line."""
    return explain(trace, ref.step, ref.index).text
