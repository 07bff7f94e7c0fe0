"""HTML documents that stand alone: one file, no request, and a policy that allows none.

Every text goes through a template that escapes it. What is drawn and run stands in the file, and its policy names both
by their digest: nothing else in it is a style or a script, whatever somebody wrote.
"""

from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from attention_core.documents.excerpt import DocumentTexts
from attention_core.documents.formula_svg import SVG_NAMESPACE, typeset_formula
from attention_core.drawing.cells import colour_reach, is_share, unblocked_cells
from attention_core.drawing.palette import DARK_PALETTE, LIGHT_PALETTE, shade_cells
from attention_core.explanation.formula import SYMBOL_COLOURS
from attention_core.explanation.layout import Panel
from attention_core.record.expressions import Ref
from attention_core.record.number_text import format_exact, format_fixed
from attention_core.record.trace import Trace

TEMPLATES = Path(__file__).parent / "templates"


@cache
def template_environment() -> Environment:
    """The templates; what they are given is text unless it says that it is markup."""
    loader = FileSystemLoader(TEMPLATES)
    return Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)


def render_page(template: str, style: str, script: str = "", **values: object) -> str:
    """A document made by a template of ours. style, script: their whole text, the only ones that the policy allows."""
    policy = (
        f"default-src 'none'; style-src {policy_digest(style)}; script-src {policy_digest(script)}; base-uri 'none'"
    )
    shown = {"policy": f"{policy}; form-action 'none'", "style": Markup(style), "script": Markup(script)}
    return template_environment().get_template(template).render(**shown, **values)


def policy_digest(text: str) -> str:
    """What a policy says of an inline text that it allows; of none, that it allows none.

    >>> policy_digest("")
    "'none'"
    """
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'" if text else "'none'"


def read_template_part(name: str) -> str:
    """A style or a script of ours, as it stands in its file."""
    return (TEMPLATES / name).read_text(encoding="utf-8")


def dark_symbol_style() -> str:
    """The style that gives the symbols of formulas the colours of the dark theme, on a dark screen."""
    lit = DARK_PALETTE.families()
    rules = "".join(f'[fill="{colour}"]{{fill:{lit[family]}}}' for family, colour in SYMBOL_COLOURS.items())
    return f"@media screen and (prefers-color-scheme:dark){{{rules}}}\n"


def typeset_formulas(texts: Sequence[str], size: float = 18.0) -> tuple[Markup, Mapping[str, Markup]]:
    """LaTeX as pictures: the outlines of all letters, each once, and every formula, which refers to them."""
    drawn = {text: typeset_formula(text, "currentColor", size) for text in texts}
    outlines = dict.fromkeys(outline for each in drawn.values() for outline in each.outlines)
    shared = f'<svg xmlns="{SVG_NAMESPACE}" width="0" height="0" aria-hidden="true">{"".join(outlines)}</svg>'
    return Markup(shared), {text: Markup(each.svg) for text, each in drawn.items()}


LONG_TEXT_CHARACTERS, LONGEST_TEXT_CHARACTERS = 6, 8  # characters


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
        """How large its numbers are on paper, where twelve of them stand beside each other: "", "long" or "longest"."""
        most = max(len(cell.text) for _, cells in self.rows for cell in cells)
        return "longest" if most > LONGEST_TEXT_CHARACTERS else "long" if most > LONG_TEXT_CHARACTERS else ""


@dataclass
class CellStyles:
    """The colours of all cells of a document, each combination a class of its style: a policy allows no others."""

    names: dict[CellColours, str] = field(default_factory=dict)

    def name(self, colours: CellColours) -> str:
        """The class of these colours."""
        return self.names.setdefault(colours, f"c{len(self.names)}")

    def style(self, dark: bool = True) -> str:
        """The classes; on paper those of the light theme. dark: whether there are those of a dark screen."""
        light = "".join(f".{name}{{background:{c[0]};color:{c[1]}}}" for c, name in self.names.items())
        night = "".join(f".{name}{{background:{c[2]};color:{c[3]}}}" for c, name in self.names.items())
        return f"{light}\n" + (f"@media screen and (prefers-color-scheme:dark){{{night}}}\n" if dark else "")


def plain_table(drawn: Panel, trace: Trace, telling: DocumentTexts) -> Table:
    """A matrix as numbers alone."""
    return build_table(
        drawn, trace, telling, lambda ref, value, blocked: TableCell(table_cell_text(trace, ref, value, blocked))
    )


def coloured_table(
    drawn: Panel,
    trace: Trace,
    telling: DocumentTexts,
    looks: CellStyles,
    arithmetic: Callable[[Ref], str] = lambda ref: "",
) -> Table:
    """A matrix in the colours of its numbers, each cell told in words."""
    values, share = drawn.values.reshape(-1), is_share(trace, drawn.step)
    reach = colour_reach(trace, drawn.step, drawn.refs[0][0].index[0])
    pairs = [shade_cells(values, reach, share, palette) for palette in (LIGHT_PALETTE, DARK_PALETTE)]
    refs = [ref for row in drawn.refs for ref in row]
    of = {ref: tuple(part[n] for pair in pairs for part in pair) for n, ref in enumerate(refs)}

    def cell(ref: Ref, value: float, blocked: bool) -> TableCell:
        is_bool = not trace[ref.step].dtype.is_floating_point
        look = "blocked" if blocked else "" if is_bool else looks.name(of[ref])
        text, what = table_cell_text(trace, ref, value, blocked), telling.words.describe(ref)
        return TableCell(text, look, what, format_exact(value), arithmetic(ref))

    return build_table(drawn, trace, telling, cell)


def table_cell_text(trace: Trace, ref: Ref, value: float, blocked: bool) -> str:
    """What stands in a cell: two decimals, a truth value as 1 or 0, a blocked weight as 0."""
    if not trace[ref.step].dtype.is_floating_point:
        return str(int(value))
    return "0" if blocked and value == 0 else format_fixed(value)


def build_table(
    drawn: Panel, trace: Trace, telling: DocumentTexts, cell: Callable[[Ref, float, bool], TableCell]
) -> Table:
    """A matrix whose cells are made by a function of their place, their number, and whether a mask blocks them."""
    (top, left), labels, free = drawn.first, telling.words.labels, unblocked_cells(trace, drawn.step)
    columns = tuple(labels(drawn.columns, left + c) for c in range(len(drawn.refs[0])))
    rows = []
    for r, refs in enumerate(drawn.refs):
        cells = tuple(cell(ref, float(drawn.values[r, c]), not free[ref.index]) for c, ref in enumerate(refs))
        rows.append((labels(drawn.rows, top + r), cells))
    return Table(telling.title(drawn), columns, tuple(rows))
