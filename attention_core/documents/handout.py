"""Lays out a handout to print on A4 or Letter: one HTML page, black on white in any theme.

The handout is HTML and not PDF, because browsers have fonts for every language, and print on the printer's paper.
`handout` lays out any parts: those of a run, of an exercise with blank grids, or of its solutions.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from attention_core.documents.excerpt import DocumentTexts, excerpt_matrices
from attention_core.documents.html import (
    CellStyles,
    Table,
    TableCell,
    coloured_table,
    plain_table,
    read_template_part,
    render_page,
    typeset_formulas,
)
from attention_core.documents.provenance import Provenance
from attention_core.exercises.answer_text import are_all_whole
from attention_core.exercises.stages import stage_formula, stages_of
from attention_core.explanation.formula import formula
from attention_core.explanation.shown_steps import shown_steps
from attention_core.mechanism.plain_checks import require_one_of
from attention_core.record.errors import AttentionError
from attention_core.record.trace import Trace

PAPERS = {"A4": "A4 portrait", "Letter": "letter portrait"}  # paper -> its size and orientation in CSS
PAPER_MARGINS = "15mm 14mm 16mm"
MAX_PAPER_SIDE, MAX_PAPER_HEADS = 12, 4  # most rows or columns of a printed matrix, and heads of a printed step


@dataclass(frozen=True)
class Paragraph:
    """A paragraph of text in a handout."""

    text: str
    kind: ClassVar[str] = "text"


@dataclass(frozen=True)
class Heading:
    """A heading of a handout, printed above the parts that follow."""

    text: str
    kind: ClassVar[str] = "heading"


@dataclass(frozen=True)
class Grid:
    """A matrix in a handout, with its numbers or as a blank grid to fill in.

    latex: the equation that computes the matrix, shown above the grid.
    """

    table: Table
    latex: str = ""
    kind: ClassVar[str] = "grid"


@dataclass(frozen=True)
class NewPage:
    """A page break in a handout: the following parts start a new page."""

    kind: ClassVar[str] = "page"


@dataclass(frozen=True)
class Together:
    """Parts of a handout that are printed on one page, without a page break between them."""

    parts: tuple[Paragraph | Heading | Grid, ...]
    kind: ClassVar[str] = "together"


HandoutPart = Paragraph | Heading | Grid | NewPage | Together


def handout(
    parts: Sequence[HandoutPart], provenance: Provenance, paper: str, language: str, styles: CellStyles | None = None
) -> str:
    """Return a handout as HTML: the title, these parts in their order, and the provenance.

    paper: one of PAPERS. language: the code for HTML's lang attribute. styles: the colours of the grids' cells, None
    for no colours. Grids are side by side if they fit, and none is split by a page break.

    Raises AttentionError: unknown_choice, for another paper; at_most, for a grid of more than MAX_PAPER_SIDE columns,
    which would be cut off.

    >>> grid = Grid(blank_grid("q", ("a", "b"), ("1", "2")))
    >>> text = handout([Paragraph("Fill in <q>."), grid], Provenance("Practise", "?ex=en_it"), "A4", "en")
    >>> text.count('<td class="blank">'), "&lt;q&gt;" in text, "size: A4 portrait" in text
    (4, True, True)
    """
    require_one_of("paper", paper, tuple(PAPERS))
    grids = list_grids(parts)
    widest = max((len(grid.table.columns) for grid in grids), default=0)
    if widest > MAX_PAPER_SIDE:
        raise AttentionError("at_most", name="columns", limit=MAX_PAPER_SIDE, given=widest)
    outlines, drawn = typeset_formulas([grid.latex for grid in grids if grid.latex])
    style = f"@page {{ size: {PAPERS[paper]}; margin: {PAPER_MARGINS} }}\n"
    style += read_template_part("handout.css")
    if styles:
        style += styles.style(dark=False)
    return render_page(
        "handout.html",
        style,
        provenance=provenance,
        parts=parts,
        language=language,
        outlines=outlines,
        drawn=drawn,
    )


def list_grids(parts: Sequence[HandoutPart]) -> list[Grid]:
    """Return the grids among the parts; grids inside a Together are included."""
    grids = []
    for part in parts:
        inside = part.parts if isinstance(part, Together) else (part,)
        grids += [each for each in inside if isinstance(each, Grid)]
    return grids


def blank_grid(title: str, rows: Sequence[str], columns: Sequence[str]) -> Table:
    """Return a table of empty cells to fill in, with names of its rows and columns."""
    blank_cells = (TableCell("", "blank"),) * len(columns)
    blank_rows = [(row, blank_cells) for row in rows]
    return Table(title, tuple(columns), tuple(blank_rows))


def run_handout(
    trace: Trace,
    at: Mapping[str, int],
    provenance: Provenance,
    texts: DocumentTexts,
    paper: str,
    headings: tuple[str, str],
) -> str:
    """Return a run as a handout: the sentence, the settings, the heads' attention maps, and every step.

    Each step is shown by its formula and its numbers. at: {axis: index}, which selects the shown matrices. headings:
    the heading of the attention maps, and the heading of the steps. At most MAX_PAPER_SIDE rows and columns of a matrix
    and MAX_PAPER_HEADS heads of a step are printed; the handout says what is left out.
    """
    styles = CellStyles()
    parts = list(run_parts(trace, at, texts, headings, styles))
    if provenance.warning:
        parts.insert(1, Paragraph(provenance.warning))  # after the sentence, which is at index 0
    return handout(parts, provenance, paper, texts.language, styles)


def run_parts(
    trace: Trace, at: Mapping[str, int], texts: DocumentTexts, headings: tuple[str, str], styles: CellStyles
) -> Iterator[HandoutPart]:
    """Yield the parts of a run's handout: sentence and settings, a heading, the attention maps, a heading, the
    steps.
    """
    over_maps, over_steps = headings
    yield from task_parts(texts)
    yield Heading(over_maps)
    maps, more = excerpt_matrices(trace, "weights", at, MAX_PAPER_SIDE, MAX_PAPER_HEADS)
    for drawn in maps:
        yield Grid(coloured_table(drawn, trace, texts, styles))
    if more:
        yield Paragraph(texts.more(more))
    yield Heading(over_steps)
    for step in shown_steps(trace):
        shown, more = excerpt_matrices(trace, step, at, MAX_PAPER_SIDE, MAX_PAPER_HEADS)
        tables = [plain_table(drawn, trace, texts) for drawn in shown]
        yield from grids_under(formula(trace, step, names=texts.names), tables)
        if more:
            yield Paragraph(texts.more(more))


def task_parts(texts: DocumentTexts) -> Iterator[HandoutPart]:
    """Yield the first parts of a handout: two paragraphs, the sentence and the settings."""
    yield Paragraph(texts.sentence)
    for setting in texts.settings:
        yield Paragraph(setting)


def grids_under(latex: str, tables: Sequence[Table]) -> Iterator[Grid]:
    """Yield the tables of a step as grids, with the step's formula above the first grid."""
    for place, table in enumerate(tables):
        yield Grid(table, "" if place else latex)


def exercise_paper(
    trace: Trace, provenance: Provenance, texts: DocumentTexts, paper: str, headings: tuple[str, str], solved: bool
) -> str:
    """Return an exercise as a handout: the task, the given matrices, and every step to calculate, with its formula.

    The task is the sentence and the settings of `texts`. A step to calculate is a grid: blank if `solved` is False,
    else filled with its numbers.

    headings: the heading of the given matrices, and that of the steps to calculate. paper: one of PAPERS. Raises
    AttentionError: exercise_paper, if a matrix is too large for the paper.
    """
    check_paper_size(trace)
    parts = list(exercise_parts(trace, texts, headings, solved))
    return handout(parts, provenance, paper, texts.language)


def check_paper_size(trace: Trace) -> None:
    """Raise AttentionError (exercise_paper) if a matrix has more than MAX_PAPER_SIDE rows or columns, or if the run has
    more than MAX_PAPER_HEADS heads.
    """
    heads = trace.sizes()["H"]
    for name, step in trace.steps.items():
        rows, columns = (1, *step.shape)[-2:]
        if max(rows, columns) > MAX_PAPER_SIDE or heads > MAX_PAPER_HEADS:
            raise AttentionError(
                "exercise_paper",
                name=name,
                limit=MAX_PAPER_SIDE,
                most=MAX_PAPER_HEADS,
                given=f"{rows} x {columns}",
                heads=heads,
            )


def exercise_parts(
    trace: Trace, texts: DocumentTexts, headings: tuple[str, str], solved: bool
) -> Iterator[HandoutPart]:
    """Yield the parts of an exercise's handout: the task, a heading, the given matrices, a heading, the steps to
    calculate.
    """
    over_given, over_asked = headings
    yield from task_parts(texts)
    yield Heading(over_given)
    for name in trace.inputs():
        for table in step_tables(trace, name, texts):
            yield Grid(table)
    yield Heading(over_asked)
    for step in stages_of(trace):
        tables = step_tables(trace, step, texts)
        if not solved:
            tables = [blank_copy(table) for table in tables]
        yield from grids_under(stage_formula(trace, step, names=texts.names), tables)


def step_tables(trace: Trace, step: str, texts: DocumentTexts) -> list[Table]:
    """Return the numbers of a step as tables, one per head; if all numbers of the step are whole, they have no
    decimals.
    """
    shown, _ = excerpt_matrices(trace, step, {}, MAX_PAPER_SIDE, MAX_PAPER_HEADS)
    tables = [plain_table(drawn, trace, texts) for drawn in shown]
    value = trace[step]
    if value.is_floating_point() and are_all_whole(value):
        return [without_decimals(table) for table in tables]
    return tables


def blank_copy(table: Table) -> Table:
    """Return a table of empty cells that has the title and the names of rows and columns of a given table."""
    names = [name for name, _ in table.rows]
    return blank_grid(table.title, names, table.columns)


def without_decimals(table: Table) -> Table:
    """Return a copy of a table whose numbers have no decimals.

    >>> from attention_core.documents.html import TableCell
    >>> without_decimals(Table("q", ("1",), (("a", (TableCell("−2.00"),)),))).rows
    (('a', (TableCell(text='−2', style='', what='', number='', arithmetic=''),)),)
    """
    rows = []
    for name, cells in table.rows:
        shortened = []
        for cell in cells:
            whole, _, _ = cell.text.partition(".")
            shortened.append(replace(cell, text=whole))
        rows.append((name, tuple(shortened)))
    return replace(table, rows=tuple(rows))
