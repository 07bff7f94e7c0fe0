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

from attention_core.documents.excerpt import Telling
from attention_core.documents.formula_svg import SVG, drawn_formula
from attention_core.drawing.cells import is_share, span, unblocked
from attention_core.drawing.palette import DARK, LIGHT, shades
from attention_core.explanation.formula import COLOURS
from attention_core.explanation.layout import Panel
from attention_core.record.expressions import Ref
from attention_core.record.number_text import exact, fixed
from attention_core.record.trace import Trace

TEMPLATES = Path(__file__).parent / "templates"


@cache
def environment() -> Environment:
    """The templates; what they are given is text unless it says that it is markup."""
    loader = FileSystemLoader(TEMPLATES)
    return Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)


def page(template: str, style: str, script: str = "", **values: object) -> str:
    """A document made by a template of ours. style, script: their whole text, the only ones that the policy allows."""
    policy = f"default-src 'none'; style-src {digest(style)}; script-src {digest(script)}; base-uri 'none'"
    shown = {"policy": f"{policy}; form-action 'none'", "style": Markup(style), "script": Markup(script)}
    return environment().get_template(template).render(**shown, **values)


def digest(text: str) -> str:
    """What a policy says of an inline text that it allows; of none, that it allows none.

    >>> digest("")
    "'none'"
    """
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'" if text else "'none'"


def part_of(name: str) -> str:
    """A style or a script of ours, as it stands in its file."""
    return (TEMPLATES / name).read_text(encoding="utf-8")


def symbols_on_dark() -> str:
    """The style that gives the symbols of formulas the colours of the dark theme, on a dark screen."""
    lit = DARK.families()
    rules = "".join(f'[fill="{colour}"]{{fill:{lit[family]}}}' for family, colour in COLOURS.items())
    return f"@media screen and (prefers-color-scheme:dark){{{rules}}}\n"


def formulas(texts: Sequence[str], size: float = 18.0) -> tuple[Markup, Mapping[str, Markup]]:
    """LaTeX as pictures: the outlines of all letters, each once, and every formula, which refers to them."""
    drawn = {text: drawn_formula(text, "currentColor", size) for text in texts}
    outlines = dict.fromkeys(outline for each in drawn.values() for outline in each.outlines)
    shared = f'<svg xmlns="{SVG}" width="0" height="0" aria-hidden="true">{"".join(outlines)}</svg>'
    return Markup(shared), {text: Markup(each.svg) for text, each in drawn.items()}


LONG, LONGEST = 6, 8  # characters


Colours = tuple[str, str, str, str]  # ground and ink of a cell, in the light and in the dark theme


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
        return "longest" if most > LONGEST else "long" if most > LONG else ""


@dataclass
class Looks:
    """The colours of all cells of a document, each combination a class of its style: a policy allows no others."""

    names: dict[Colours, str] = field(default_factory=dict)

    def name(self, colours: Colours) -> str:
        """The class of these colours."""
        return self.names.setdefault(colours, f"c{len(self.names)}")

    def style(self, dark: bool = True) -> str:
        """The classes; on paper those of the light theme. dark: whether there are those of a dark screen."""
        light = "".join(f".{name}{{background:{c[0]};color:{c[1]}}}" for c, name in self.names.items())
        night = "".join(f".{name}{{background:{c[2]};color:{c[3]}}}" for c, name in self.names.items())
        return f"{light}\n" + (f"@media screen and (prefers-color-scheme:dark){{{night}}}\n" if dark else "")


def plain_table(drawn: Panel, trace: Trace, telling: Telling) -> Table:
    """A matrix as numbers alone."""
    return table(drawn, trace, telling, lambda ref, value, blocked: TableCell(text_of(trace, ref, value, blocked)))


def coloured_table(
    drawn: Panel, trace: Trace, telling: Telling, looks: Looks, arithmetic: Callable[[Ref], str] = lambda ref: ""
) -> Table:
    """A matrix in the colours of its numbers, each cell told in words."""
    values, share = drawn.values.reshape(-1), is_share(trace, drawn.step)
    reach = span(trace, drawn.step, drawn.refs[0][0].index[0])
    pairs = [shades(values, reach, share, palette) for palette in (LIGHT, DARK)]
    refs = [ref for row in drawn.refs for ref in row]
    of = {ref: tuple(part[n] for pair in pairs for part in pair) for n, ref in enumerate(refs)}

    def cell(ref: Ref, value: float, blocked: bool) -> TableCell:
        is_bool = not trace[ref.step].dtype.is_floating_point
        look = "blocked" if blocked else "" if is_bool else looks.name(of[ref])
        text, what = text_of(trace, ref, value, blocked), telling.words.describe(ref)
        return TableCell(text, look, what, exact(value), arithmetic(ref))

    return table(drawn, trace, telling, cell)


def text_of(trace: Trace, ref: Ref, value: float, blocked: bool) -> str:
    """What stands in a cell: two decimals, a truth value as 1 or 0, a blocked weight as 0."""
    if not trace[ref.step].dtype.is_floating_point:
        return str(int(value))
    return "0" if blocked and value == 0 else fixed(value)


def table(drawn: Panel, trace: Trace, telling: Telling, cell: Callable[[Ref, float, bool], TableCell]) -> Table:
    """A matrix whose cells are made by a function of their place, their number, and whether a mask blocks them."""
    (top, left), labels, free = drawn.first, telling.words.labels, unblocked(trace, drawn.step)
    columns = tuple(labels(drawn.columns, left + c) for c in range(len(drawn.refs[0])))
    rows = []
    for r, refs in enumerate(drawn.refs):
        cells = tuple(cell(ref, float(drawn.values[r, c]), not free[ref.index]) for c, ref in enumerate(refs))
        rows.append((labels(drawn.rows, top + r), cells))
    return Table(telling.title(drawn), columns, tuple(rows))
