"""A handout on paper, A4 or Letter: one HTML page that a browser prints, black on white whatever the screen's theme.

HTML and not PDF, because the reader's browser has the letters of every language and prints on the paper that is there.
`handout` lays out whatever it is given: a run, an exercise with blank grids, or its solutions.
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
from attention_core.exercises.worked_example import is_whole, stage_formula, stages_of
from attention_core.explanation.formula import formula
from attention_core.mechanism.config import require_one_of
from attention_core.record.errors import AttentionError
from attention_core.record.trace import Trace

PAPERS = {"A4": "A4 portrait", "Letter": "letter portrait"}  # as CSS calls them
PAPER_MARGINS = "15mm 14mm 16mm"
MAX_PAPER_SIDE, MAX_PAPER_HEADS = (
    12,
    4,
)  # rows and columns of a matrix, and heads of a step, at most: what is as wide as the paper


@dataclass(frozen=True)
class Paragraph:
    """A paragraph."""

    text: str
    kind: ClassVar[str] = "text"


@dataclass(frozen=True)
class Heading:
    """A heading."""

    text: str
    kind: ClassVar[str] = "heading"


@dataclass(frozen=True)
class Grid:
    """A matrix, or one to fill in (blank), under the equation in LaTeX that it is computed by."""

    table: Table
    latex: str = ""
    kind: ClassVar[str] = "grid"


HandoutPart = Paragraph | Heading | Grid


def handout(
    parts: Sequence[HandoutPart], imprint: Provenance, paper: str, language: str, looks: CellStyles | None = None
) -> str:
    """A document of these parts, in their order, with its title above and where it is from below.

    paper: one of PAPERS. language: as HTML names it. looks: the colours of the grids' cells, where they have any.
    Grids stand side by side where there is room, and none is broken across pages.

    Raises AttentionError: unknown_choice; at_most for a grid of more than SIDE columns, which paper would cut.

    >>> grid = Grid(blank_grid("q", ("a", "b"), ("1", "2")))
    >>> text = handout([Paragraph("Fill in <q>."), grid], Provenance("Practise", "?ex=en_it"), "A4", "en")
    >>> text.count('<td class="blank">'), "&lt;q&gt;" in text, "size: A4 portrait" in text
    (4, True, True)
    """
    require_one_of("paper", paper, tuple(PAPERS))
    widest = max((len(part.table.columns) for part in parts if isinstance(part, Grid)), default=0)
    if widest > MAX_PAPER_SIDE:
        raise AttentionError("at_most", name="columns", limit=MAX_PAPER_SIDE, given=widest)
    outlines, drawn = typeset_formulas([part.latex for part in parts if isinstance(part, Grid) and part.latex])
    style = f"@page {{ size: {PAPERS[paper]}; margin: {PAPER_MARGINS} }}\n" + read_template_part("handout.css")
    style += looks.style(dark=False) if looks else ""
    shown = {"imprint": imprint, "parts": parts, "language": language, "outlines": outlines, "drawn": drawn}
    return render_page("handout.html", style, **shown)


def blank_grid(title: str, rows: Sequence[str], columns: Sequence[str]) -> Table:
    """A grid to fill in, its rows and columns named."""
    cells = (TableCell("", "blank"),) * len(columns)
    return Table(title, tuple(columns), tuple((row, cells) for row in rows))


def run_handout(
    trace: Trace,
    at: Mapping[str, int],
    imprint: Provenance,
    telling: DocumentTexts,
    paper: str,
    headings: tuple[str, str],
) -> str:
    """A run on paper: sentence, settings, the heads' maps, then every step with its formula and its numbers.

    at: as in excerpt.matrices. headings: over the maps, and over the steps. Of a matrix at most SIDE rows and columns
    are printed, of a step at most HEADS heads, and what is left out is said.
    """
    looks = CellStyles()
    parts = list(run_parts(trace, at, telling, headings, looks))
    return handout(parts, imprint, paper, telling.language, looks)


def run_parts(
    trace: Trace, at: Mapping[str, int], telling: DocumentTexts, headings: tuple[str, str], looks: CellStyles
) -> Iterator[HandoutPart]:
    """The parts of a run's handout."""
    yield Paragraph(telling.sentence)
    yield from map(Paragraph, telling.settings)
    yield Heading(headings[0])
    maps, more = excerpt_matrices(trace, "weights", at, MAX_PAPER_SIDE, MAX_PAPER_HEADS)
    yield from (Grid(coloured_table(drawn, trace, telling, looks)) for drawn in maps)
    if more:
        yield Paragraph(telling.more(more))
    yield Heading(headings[1])
    for step in trace.steps:
        shown, more = excerpt_matrices(trace, step, at, MAX_PAPER_SIDE, MAX_PAPER_HEADS)
        for place, drawn in enumerate(shown):
            yield Grid(plain_table(drawn, trace, telling), "" if place else formula(trace, step))
        if more:
            yield Paragraph(telling.more(more))


def exercise_paper(
    trace: Trace, imprint: Provenance, telling: DocumentTexts, paper: str, headings: tuple[str, str], solved: bool
) -> str:
    """The page of an exercise, for A4 or Letter: the task (telling's sentence and settings), the given matrices as
    numbers, and every step that there is to calculate under its formula, as a grid to fill in or with its numbers.

    headings: over what is given, and over what is asked. solved: with the numbers. Raises AttentionError:
    exercise_paper where a matrix is larger than a sheet has room for.
    """
    check_paper_size(trace)
    return handout([*exercise_parts(trace, telling, headings, solved)], imprint, paper, telling.language)


def check_paper_size(trace: Trace) -> None:
    """Raises AttentionError where a matrix is larger than what stands on paper."""
    for name, step in trace.steps.items():
        rows, columns = (1, *step.value.shape)[-2:]
        heads = trace.sizes()["H"]
        if max(rows, columns) > MAX_PAPER_SIDE or heads > MAX_PAPER_HEADS:
            given = f"{rows} x {columns}"
            raise AttentionError(
                "exercise_paper", name=name, limit=MAX_PAPER_SIDE, most=MAX_PAPER_HEADS, given=given, heads=heads
            )


def exercise_parts(
    trace: Trace, telling: DocumentTexts, headings: tuple[str, str], solved: bool
) -> Iterator[HandoutPart]:
    """The parts of the page in their order."""
    yield Paragraph(telling.sentence)
    yield from map(Paragraph, telling.settings)
    yield Heading(headings[0])
    for name in trace.inputs():
        yield from map(Grid, step_tables(trace, name, telling))
    yield Heading(headings[1])
    for step in stages_of(trace):
        equation = stage_formula(trace, step)
        for place, table in enumerate(step_tables(trace, step, telling)):
            shown = table if solved else blank_grid(table.title, [row for row, _ in table.rows], table.columns)
            yield Grid(shown, "" if place else equation)


def step_tables(trace: Trace, step: str, telling: DocumentTexts) -> list[Table]:
    """A step as tables, one a head, whole numbers without decimals."""
    found = [
        plain_table(drawn, trace, telling)
        for drawn in excerpt_matrices(trace, step, {}, MAX_PAPER_SIDE, MAX_PAPER_HEADS)[0]
    ]
    whole = trace[step].is_floating_point() and is_whole(trace[step])
    return [without_decimals(table) for table in found] if whole else found


def without_decimals(table: Table) -> Table:
    """The same without the decimals that say nothing.

    >>> from attention_core.documents.html import TableCell
    >>> without_decimals(Table("q", ("1",), (("a", (TableCell("−2.00"),)),))).rows
    (('a', (TableCell(text='−2', look='', what='', number='', arithmetic=''),)),)
    """
    rows = [(row, [replace(cell, text=cell.text.partition(".")[0]) for cell in cells]) for row, cells in table.rows]
    return replace(table, rows=tuple((row, tuple(cells)) for row, cells in rows))
