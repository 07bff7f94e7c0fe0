"""An exercise on paper: what is given, and a grid for every step; the same with its solutions."""

from collections.abc import Iterator
from dataclasses import replace

from attention_core.documents.excerpt import Telling, matrices
from attention_core.documents.handout import HEADS, SIDE, Grid, Heading, Part, Text, blank, handout
from attention_core.documents.provenance import Imprint
from attention_core.documents.tables import Table, plain_table
from attention_core.exercises.worked_example import is_whole, stage_formula, stages_of
from attention_core.record.errors import AttentionError
from attention_core.record.trace import Trace


def exercise_paper(
    trace: Trace, imprint: Imprint, telling: Telling, paper: str, headings: tuple[str, str], solved: bool
) -> str:
    """The page of an exercise, for A4 or Letter: the task (telling's sentence and settings), the given matrices as
    numbers, and every step that there is to calculate under its formula, as a grid to fill in or with its numbers.

    headings: over what is given, and over what is asked. solved: with the numbers. Raises AttentionError:
    exercise_paper where a matrix is larger than a sheet has room for.
    """
    check_sheet(trace)
    return handout([*parts_of(trace, telling, headings, solved)], imprint, paper, telling.language)


def check_sheet(trace: Trace) -> None:
    """Raises AttentionError where a matrix is larger than what stands on paper."""
    for name, step in trace.steps.items():
        rows, columns = (1, *step.value.shape)[-2:]
        heads = trace.sizes()["H"]
        if max(rows, columns) > SIDE or heads > HEADS:
            given = f"{rows} x {columns}"
            raise AttentionError("exercise_paper", name=name, limit=SIDE, most=HEADS, given=given, heads=heads)


def parts_of(trace: Trace, telling: Telling, headings: tuple[str, str], solved: bool) -> Iterator[Part]:
    """The parts of the page in their order."""
    yield Text(telling.sentence)
    yield from map(Text, telling.settings)
    yield Heading(headings[0])
    for name in trace.inputs():
        yield from map(Grid, tables(trace, name, telling))
    yield Heading(headings[1])
    for step in stages_of(trace):
        equation = stage_formula(trace, step)
        for place, table in enumerate(tables(trace, step, telling)):
            shown = table if solved else blank(table.title, [row for row, _ in table.rows], table.columns)
            yield Grid(shown, "" if place else equation)


def tables(trace: Trace, step: str, telling: Telling) -> list[Table]:
    """A step as tables, one a head, whole numbers without decimals."""
    found = [plain_table(drawn, trace, telling) for drawn in matrices(trace, step, {}, SIDE, HEADS)[0]]
    whole = trace[step].is_floating_point() and is_whole(trace[step])
    return [in_whole_numbers(table) for table in found] if whole else found


def in_whole_numbers(table: Table) -> Table:
    """The same without the decimals that say nothing.

    >>> from attention_core.documents.tables import TableCell
    >>> in_whole_numbers(Table("q", ("1",), (("a", (TableCell("−2.00"),)),))).rows
    (('a', (TableCell(text='−2', look='', what='', number='', arithmetic=''),)),)
    """
    rows = [(row, [replace(cell, text=cell.text.partition(".")[0]) for cell in cells]) for row, cells in table.rows]
    return replace(table, rows=tuple((row, tuple(cells)) for row, cells in rows))
