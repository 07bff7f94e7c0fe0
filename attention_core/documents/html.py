"""Renders HTML documents as single files, with tables of numbers and a content security policy that allows no request.

Templates escape every text that they insert. The styles and the scripts are in the file, and the policy allows them by
their digests, so that no other text, such as a user's, can become a style or a script.
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
from attention_core.documents.formulas import SVG_NAMESPACE, typeset_formula
from attention_core.drawing.cells import unblocked_cells
from attention_core.drawing.palette import DARK_PALETTE
from attention_core.drawing.table_cells import CellColours, cell_colours, table_cell_text
from attention_core.drawing.text_layout import column_texts, row_texts
from attention_core.explanation.formula import SYMBOL_COLOURS
from attention_core.explanation.layout import Panel
from attention_core.record.expressions import Ref
from attention_core.record.number_text import format_exact
from attention_core.record.trace import Trace

TEMPLATES = Path(__file__).parent / "templates"
LONG_TEXT_CHARACTERS, LONGEST_TEXT_CHARACTERS = 6, 8  # a cell's text with more characters has smaller letters


@cache
def template_environment() -> Environment:
    """Return the Jinja environment of the templates, which escapes every value except Markup."""
    return Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def render_page(
    template: str, style: str, script: str = "", pictures: bool = False, connects: bool = False, **values: object
) -> str:
    """Render an HTML document from a template of this package.

    style, script: the texts of the only style and the only script that the policy allows. pictures: whether the
    document may show pictures from data URLs. connects: whether it may send requests to the server that it comes from.
    values: the variables of the template.
    """
    rules = (
        "default-src 'none'",
        *(["img-src data:"] if pictures else []),
        *(["connect-src 'self'"] if connects else []),
        f"style-src {policy_digest(style)}",
        f"script-src {policy_digest(script)}",
        "base-uri 'none'",
        "form-action 'none'",
    )
    page = template_environment().get_template(template)
    return page.render(
        policy="; ".join(rules),
        style=Markup(style),
        script=Markup(script),
        **values,
    )


def policy_digest(text: str) -> str:
    """Return the CSP hash source for an inline style or script; 'none' if its text is empty.

    >>> policy_digest("")
    "'none'"
    """
    if not text:
        return "'none'"
    digest = sha256(text.encode()).digest()
    return f"'sha256-{b64encode(digest).decode()}'"


def read_template_part(name: str) -> str:
    """Return the text of a style or script file of this package."""
    return (TEMPLATES / name).read_text(encoding="utf-8")


def dark_symbol_style() -> str:
    """Return the CSS that gives symbols in formulas the colours of the dark theme if the device prefers a dark
    theme.
    """
    dark_colours = DARK_PALETTE.families()
    rules = []
    for family, colour in SYMBOL_COLOURS.items():
        rules.append(f'[fill="{colour}"]{{fill:{dark_colours[family]}}}')
    return on_dark_screens("".join(rules))


def typeset_formulas(texts: Sequence[str], size: float = 18.0) -> tuple[Markup, Mapping[str, Markup]]:
    """Typeset formulas as SVG; return (the outlines of all letters, each once, {formula: SVG that refers to the
    outlines}).

    A document needs the outlines only once.
    """
    outlines = {}
    pictures = {}
    for text in texts:
        drawn = typeset_formula(text, "currentColor", size)
        outlines |= dict.fromkeys(drawn.outlines)
        pictures[text] = Markup(drawn.svg)
    letters = "".join(outlines)
    shared = f'<svg xmlns="{SVG_NAMESPACE}" width="0" height="0" aria-hidden="true">{letters}</svg>'
    return Markup(shared), pictures


# ---- tables of numbers -----------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class TableCell:
    """A cell of a table.

    style: the CSS class of the cell's colours. what, number, arithmetic: texts that the page shows when the reader
    opens the cell: its name, its number with all digits, and how this number is computed.
    """

    text: str
    style: str = ""
    what: str = ""
    number: str = ""
    arithmetic: str = ""


@dataclass(frozen=True)
class Table:
    """A matrix as a table, with the title of the matrix, the names of its columns, and its rows as (name, cells)."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[TableCell, ...]], ...]

    @property
    def letters(self) -> str:
        """Return the CSS class for the letters, so small that twelve numbers fit a line on paper.

        The class is "longest" if a cell's text has more than LONGEST_TEXT_CHARACTERS, "long" if more than
        LONG_TEXT_CHARACTERS, else "".
        """
        longest = 0
        for _, cells in self.rows:
            longest = max(longest, *(len(cell.text) for cell in cells))
        if longest > LONGEST_TEXT_CHARACTERS:
            return "longest"
        return "long" if longest > LONG_TEXT_CHARACTERS else ""


@dataclass
class CellStyles:
    """Collects the colours of a document's cells, with a CSS class for each combination of colours.

    Classes are needed because the content security policy allows no inline styles.
    """

    names: dict[CellColours, str] = field(default_factory=dict)

    def name(self, colours: CellColours) -> str:
        """Return the CSS class of these colours; at the first use of the colours a class is created."""
        return self.names.setdefault(colours, f"c{len(self.names)}")

    def style(self, dark: bool = True) -> str:
        """Return the CSS rules of the classes. On paper, the classes have the colours of the light theme.

        dark: whether screens in dark mode get the colours of the dark theme.
        """
        light_rules = []
        dark_rules = []
        for (ground, ink, dark_ground, dark_ink), name in self.names.items():
            light_rules.append(colour_rule(name, ground, ink))
            dark_rules.append(colour_rule(name, dark_ground, dark_ink))
        style = "".join(light_rules) + "\n"
        if dark:
            style += on_dark_screens("".join(dark_rules))
        return style


def colour_rule(name: str, ground: str, ink: str) -> str:
    """Return the CSS rule of a class with these background and text colours."""
    return f".{name}{{background:{ground};color:{ink}}}"


def on_dark_screens(rules: str) -> str:
    """Return CSS rules that apply only on screens in dark mode."""
    return f"@media screen and (prefers-color-scheme:dark){{{rules}}}\n"


def plain_table(drawn: Panel, trace: Trace, texts: DocumentTexts) -> Table:
    """Return a matrix as a table of numbers without colours."""

    def make_cell(ref: Ref, value: float, is_blocked: bool) -> TableCell:
        return TableCell(table_cell_text(trace, ref, value, is_blocked))

    return build_table(drawn, trace, texts, make_cell)


def coloured_table(
    drawn: Panel,
    trace: Trace,
    texts: DocumentTexts,
    styles: CellStyles,
    arithmetic: Callable[[Ref], str] = lambda ref: "",
) -> Table:
    """Return a matrix as a table whose cells have the colours of their numbers and a description.

    arithmetic: a function that returns, for the Ref of a cell, a text on how its number is computed.
    """
    colours = cell_colours(drawn, trace)
    is_bool = not trace.step(drawn.step).dtype.is_floating_point

    def make_cell(ref: Ref, value: float, is_blocked: bool) -> TableCell:
        if is_blocked:
            style = "blocked"
        elif is_bool:
            style = ""
        else:
            style = styles.name(colours[ref])
        return TableCell(
            text=table_cell_text(trace, ref, value, is_blocked),
            style=style,
            what=texts.words.describe(ref),
            number=format_exact(value),
            arithmetic=arithmetic(ref),
        )

    return build_table(drawn, trace, texts, make_cell)


def build_table(
    drawn: Panel, trace: Trace, texts: DocumentTexts, make_cell: Callable[[Ref, float, bool], TableCell]
) -> Table:
    """Return a matrix as a table: its title, the names of its columns, and for each row its name and its cells.

    make_cell: a function that takes the Ref of a cell, its number, and whether a mask blocks it, and returns a
    TableCell.
    """
    free = unblocked_cells(trace, drawn.step)
    names = row_texts(drawn, texts.words)
    rows = []
    for name, refs, values in zip(names, drawn.refs, drawn.values.tolist(), strict=True):
        cells = []
        for ref, value in zip(refs, values, strict=True):
            is_blocked = not free[ref.index]
            cells.append(make_cell(ref, value, is_blocked))
        rows.append((name, tuple(cells)))
    return Table(
        title=texts.title(drawn),
        columns=tuple(column_texts(drawn, texts.words)),
        rows=tuple(rows),
    )
