"""Tables of HTML documents: the matrices of a run, with or without the colours of their numbers."""

from collections.abc import Callable
from dataclasses import dataclass, field

from attention_core.documents.excerpt import DocumentTexts
from attention_core.drawing.cells import colour_reach, is_share, unblocked_cells, write_number
from attention_core.drawing.palette import DARK_PALETTE, LIGHT_PALETTE, shade_cells
from attention_core.drawing.text_layout import column_texts, row_texts
from attention_core.explanation.layout import Panel
from attention_core.record.expressions import Ref
from attention_core.record.number_text import format_exact
from attention_core.record.trace import Trace

LONG_TEXT_CHARACTERS, LONGEST_TEXT_CHARACTERS = 6, 8  # of a cell: longer ones are printed in smaller letters
CellColours = tuple[str, str, str, str]  # ground and ink of a cell, in the light and in the dark theme


@dataclass(frozen=True)
class TableCell:
    """A cell: its text, the class of its colours, and what is told of it: what it is, its number, its arithmetic."""

    text: str
    look: str = ""
    what: str = ""
    number: str = ""
    arithmetic: str = ""


@dataclass(frozen=True)
class Table:
    """A matrix with its title, and the names of its rows and columns."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[TableCell, ...]], ...]

    @property
    def letters(self) -> str:
        """The class of its letters on paper, where twelve numbers stand in a line: "", "long" or "longest"."""
        most = max(len(cell.text) for _, cells in self.rows for cell in cells)
        if most > LONGEST_TEXT_CHARACTERS:
            return "longest"
        return "long" if most > LONG_TEXT_CHARACTERS else ""


@dataclass
class CellStyles:
    """The colours of all cells of a document, each combination a class of its style: a policy allows no others."""

    names: dict[CellColours, str] = field(default_factory=dict)

    def name(self, colours: CellColours) -> str:
        """The class of these colours."""
        return self.names.setdefault(colours, f"c{len(self.names)}")

    def style(self, dark: bool = True) -> str:
        """The classes as CSS; on paper they have the light theme. dark: whether a dark screen has the dark one."""
        light_rules = []
        dark_rules = []
        for (ground, ink, dark_ground, dark_ink), name in self.names.items():
            light_rules.append(f".{name}{{background:{ground};color:{ink}}}")
            dark_rules.append(f".{name}{{background:{dark_ground};color:{dark_ink}}}")
        style = "".join(light_rules) + "\n"
        if dark:
            style += on_dark_screens("".join(dark_rules))
        return style


def on_dark_screens(rules: str) -> str:
    """Rules of CSS that hold on a dark screen alone."""
    return f"@media screen and (prefers-color-scheme:dark){{{rules}}}\n"


def plain_table(drawn: Panel, trace: Trace, telling: DocumentTexts) -> Table:
    """A matrix as numbers alone."""

    def cell(ref: Ref, value: float, is_blocked: bool) -> TableCell:
        return TableCell(table_cell_text(trace, ref, value, is_blocked))

    return build_table(drawn, trace, telling, cell)


def coloured_table(
    drawn: Panel,
    trace: Trace,
    telling: DocumentTexts,
    looks: CellStyles,
    arithmetic: Callable[[Ref], str] = lambda ref: "",
) -> Table:
    """A matrix in the colours of its numbers, each cell told in words. arithmetic: how a number was computed."""
    colours = cell_colours(drawn, trace)
    is_bool = not trace[drawn.step].dtype.is_floating_point

    def cell(ref: Ref, value: float, is_blocked: bool) -> TableCell:
        look = "" if is_bool or is_blocked else looks.name(colours[ref])
        return TableCell(
            text=table_cell_text(trace, ref, value, is_blocked),
            look="blocked" if is_blocked else look,
            what=telling.words.describe(ref),
            number=format_exact(value),
            arithmetic=arithmetic(ref),
        )

    return build_table(drawn, trace, telling, cell)


def cell_colours(drawn: Panel, trace: Trace) -> dict[Ref, CellColours]:
    """The colours of each cell of a matrix."""
    values = drawn.values.reshape(-1)
    shares = is_share(trace, drawn.step)
    batch = drawn.refs[0][0].index[0]
    reach = colour_reach(trace, drawn.step, batch)
    light = shade_cells(values, reach, shares, LIGHT_PALETTE)
    dark = shade_cells(values, reach, shares, DARK_PALETTE)
    refs = [ref for row in drawn.refs for ref in row]
    return dict(zip(refs, zip(*light, *dark, strict=True), strict=True))


def table_cell_text(trace: Trace, ref: Ref, value: float, is_blocked: bool) -> str:
    """What stands in a cell: two decimals, a truth value as 1 or 0, a blocked weight as 0."""
    if not trace[ref.step].dtype.is_floating_point:
        return str(int(value))
    return write_number(value, is_blocked)


def build_table(
    drawn: Panel, trace: Trace, telling: DocumentTexts, cell: Callable[[Ref, float, bool], TableCell]
) -> Table:
    """A matrix as a table. cell: makes a cell from its place, its number, and whether a mask blocks it."""
    free = unblocked_cells(trace, drawn.step)
    rows = []
    names = row_texts(drawn, telling.words)
    for name, refs, values in zip(names, drawn.refs, drawn.values.tolist(), strict=True):
        cells = [cell(ref, value, not free[ref.index]) for ref, value in zip(refs, values, strict=True)]
        rows.append((name, tuple(cells)))
    columns = column_texts(drawn, telling.words)
    return Table(telling.title(drawn), tuple(columns), tuple(rows))
