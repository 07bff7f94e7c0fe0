"""Writes a scene of a lecture (a run with its note) as one HTML file for phones, with its sentence, attention maps and
every step.

A tap on a number shows its arithmetic. An audience can open the file on their phones without a server or a network. The
page has tables instead of Vega charts, because Vega's scripts take 0.9 MB; tables appear at once, scroll, can be
searched, and work with screen readers.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

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
from attention_core.documents.lecture_page import PartDrawing, mark_html, write_drawings, write_parts
from attention_core.documents.provenance import Provenance
from attention_core.documents.slides import MovingPart
from attention_core.drawing.palette import DARK_PALETTE
from attention_core.explanation.formula import formula
from attention_core.explanation.layout import Panel
from attention_core.explanation.shown_steps import computed_cell, explain_shown, is_computed, shown_steps
from attention_core.record.expressions import Ref
from attention_core.record.trace import Trace

MATRIX_SIDES = (24, 16, 12, 8, 6, 4)  # allowed rows or columns of a matrix; the largest that fits is chosen
MAX_PAGE_CELLS = 8_000  # most cells of all matrices of a page together
MAX_PAGE_HEADS = 8  # most heads of a step on a page
MAX_PAGE_TERMS = 60_000  # most terms in the arithmetic of all cells together; they take half a second to write

ShownMatrices = dict[str, tuple[list[Panel], int]]  # step -> its matrices on the page, and how many heads are left out


@dataclass(frozen=True)
class SceneTexts:
    """The texts of a phone page that do not depend on the run.

    hint: a sentence that says how to see a number's arithmetic. steps: the heading above the steps. open: the text of
    the link to the app. untold: the text before the names of the steps without arithmetic.
    """

    hint: str
    steps: str
    open: str
    untold: str


@dataclass(frozen=True)
class ShownStep:
    """A step on the page: its name, its formula, its matrices, and the number of heads that are left out."""

    name: str
    formula: Markup
    tables: list[Table]
    more: int


def scene_page(
    trace: Trace,
    at: Mapping[str, int],
    provenance: Provenance,
    texts: DocumentTexts,
    page_texts: SceneTexts,
    note: str = "",
    moving: Sequence[MovingPart] = (),
    drawings: Mapping[str, PartDrawing] = MappingProxyType({}),
) -> str:
    """Return a scene of a lecture (a run with the lecturer's note) as the text of an HTML page for phones.

    at: {axis: index}, which selects the shown matrices. note: the lecturer's note, "" for none. moving: the animated
    picture of the query, in the colours of the light theme. drawings: the code that draws it, by its name.

    At most MAX_PAGE_CELLS cells and MAX_PAGE_HEADS heads of a step are shown; larger matrices are cut, and the page
    says so. Arithmetic is included for the first steps that have at most MAX_PAGE_TERMS terms together; the page names
    the steps without arithmetic.
    """
    shown = shown_matrices(trace, at)
    explained = explained_steps(trace, shown)
    styles = CellStyles()
    formulas = {step: formula(trace, step, names=texts.names) for step in shown}
    outlines, drawn = typeset_formulas([*formulas.values()])
    steps = []
    for step, (panels, more) in shown.items():
        tables = scene_tables(trace, panels, texts, styles, is_explained=step in explained)
        steps.append(ShownStep(step, drawn[formulas[step]], tables, more))
    maps = next(step for step in steps if step.name == "weights")
    style = read_template_part("scene.css") + styles.style() + dark_symbol_style()
    return render_page(
        "scene.html",
        style,
        write_drawings(drawings) + read_template_part("part.js") + read_template_part("scene.js"),
        moving=moving,
        write_parts=write_parts,
        drawings=mark_html(drawings),
        dark=json.dumps(vars(DARK_PALETTE)),
        provenance=provenance,
        texts=texts,
        page_texts=page_texts,
        note=note,
        outlines=outlines,
        maps=maps.tables,
        maps_more=maps.more,
        steps=steps,
        untold=[step for step in shown if is_computed(trace, step) and step not in explained],
    )


def scene_tables(
    trace: Trace, panels: Collection[Panel], texts: DocumentTexts, styles: CellStyles, is_explained: bool
) -> list[Table]:
    """Return the matrices of a step as tables.

    is_explained: whether each number is shown with its arithmetic.
    """

    def arithmetic(ref: Ref) -> str:
        return explain_shown(trace, ref.step, ref.index).text if is_explained else ""

    return [coloured_table(part, trace, texts, styles, arithmetic) for part in panels]


def shown_matrices(trace: Trace, at: Mapping[str, int]) -> ShownMatrices:
    """Return the matrices of every step, cut to the largest size of MATRIX_SIDES with which the page has at most
    MAX_PAGE_CELLS.
    """
    for side in MATRIX_SIDES:
        shown = {}
        cells = 0
        for step in shown_steps(trace):
            shown[step] = excerpt_matrices(trace, step, at, side, MAX_PAGE_HEADS)
            panels, _ = shown[step]
            cells += count_cells(panels)
        if cells <= MAX_PAGE_CELLS:
            break
    return shown


def count_cells(panels: Collection[Panel]) -> int:
    """Return the number of cells in all these matrices together."""
    return sum(part.values.size for part in panels)


def explained_steps(trace: Trace, shown: ShownMatrices) -> set[str]:
    """Return the names of the steps, from the first on, whose arithmetic together has at most MAX_PAGE_TERMS terms."""
    explained = set()
    terms_left = MAX_PAGE_TERMS
    for step, (panels, _) in shown.items():
        if trace.step(step).operation is None:
            continue
        last = computed_cell(trace, panels[0].refs[-1][-1])  # the last cell of a matrix has the most terms
        operation = trace.step(last.step).operation
        if operation is None:  # an input, or a copy of one, has no arithmetic
            continue
        cell = operation.cell(last.index, trace.shapes())
        terms = len(cell.terms) * count_cells(panels)
        if terms <= terms_left:
            terms_left -= terms
            explained.add(step)
    return explained
