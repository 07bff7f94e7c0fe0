"""Writes the parts of a picture for a notebook as HTML: the frame, paragraphs, tables of words, tables of cells.

A picture has no script and loads nothing. Colours stand at each cell, so that a viewer which removes the style sheet of
a saved notebook still shows them. Every text is escaped.
"""

from collections.abc import Sequence
from functools import cache
from html import escape

import numpy as np

from attention_core.drawing.cells import unblocked_cells
from attention_core.drawing.palette import DARK_PALETTE, LIGHT_PALETTE
from attention_core.drawing.table_cells import CellColours, cell_colours, table_cell_text
from attention_core.drawing.text_layout import shorten_text
from attention_core.explanation.arithmetic import Explanation
from attention_core.explanation.formula import colour_family
from attention_core.explanation.layout import Panel
from attention_core.inputs.tokenizer import printable_token
from attention_core.record.expressions import Ref
from attention_core.record.trace import Trace

NAME_WIDTH_PX, NAME_SIZE_PX = 90.0, 13.0  # pixels: the most room for a row's or a column's name, and its text size

# The colours around the cells are those of the notebook's theme. `color-scheme` chooses between the two colours of a
# cell: JupyterLab, VS Code and Colab say which theme they show, and elsewhere the reader's system does. The names in
# capitals stand for a colour of the palettes.
STYLE = """
.attention-picture { color-scheme: light dark; font: 13px/1.45 system-ui, sans-serif; padding: 8px 10px;
  background: var(--jp-layout-color0, var(--vscode-editor-background, GROUND));
  color: var(--jp-content-font-color1, var(--vscode-editor-foreground, INK)); }
:is([data-jp-theme-light="true"], .vscode-light, .vscode-high-contrast-light, [theme="light"]) .attention-picture {
  color-scheme: light; }
:is([data-jp-theme-light="false"], .vscode-dark, .vscode-high-contrast:not(.vscode-high-contrast-light),
  [theme="dark"]) .attention-picture { color-scheme: dark; }
.attention-picture p { margin: 4px 0; }
.attention-picture .side { display: flex; flex-wrap: wrap; gap: 10px 24px; margin: 8px 0; }
.attention-picture .scroll { overflow-x: auto; }
.attention-picture table { border-collapse: collapse; margin: 2px 0; font: inherit; color: inherit; }
.attention-picture caption { text-align: left; caption-side: top; font-weight: 600; color: inherit; padding: 2px 0; }
.attention-picture th { font-weight: 400; padding: 2px 6px; text-align: right; color: inherit; }
.attention-picture td { padding: 2px 6px; text-align: right; font-variant-numeric: tabular-nums; }
.attention-picture :is(th, td).text { text-align: left; }
.attention-picture td.blocked { background: repeating-linear-gradient(135deg, transparent 0 4px,
  FAINT 4px 5px); }
.attention-picture td.marked { outline: 2px solid OUTLINE; outline-offset: -2px; }
"""


def write_frame(parts: Sequence[str]) -> str:
    """Return a whole picture: the style sheet and the parts in a frame.

    >>> write_frame(["<p>one</p>"]).endswith("<p>one</p></div>")
    True
    """
    return f'<div class="attention-picture"><style>{picture_style()}</style>{"".join(parts)}</div>'


@cache
def picture_style() -> str:
    """Return the style sheet of a picture, with the colours of both palettes."""
    style = STYLE
    for name in ("ground", "ink", "faint", "outline"):
        style = style.replace(name.upper(), themed(getattr(LIGHT_PALETTE, name), getattr(DARK_PALETTE, name)))
    return style


def themed(light: str, dark: str) -> str:
    """Return a colour in CSS that depends on the theme.

    >>> themed("#ffffff", "#000000")
    'light-dark(#ffffff,#000000)'
    """
    return f"light-dark({light},{dark})"


def write_paragraph(text: str, title: str = "") -> str:
    """Return a paragraph, with a title in bold letters in front.

    >>> write_paragraph("2 < 3", title="Size")
    '<p><b>Size</b> 2 &lt; 3</p>'
    """
    bold = f"<b>{escape(title)}</b> " if title else ""
    return f"<p>{bold}{escape(text)}</p>"


def write_words(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table of texts with a heading above each column.

    >>> write_words(["step"], [["q"]]).count("<td")
    1
    """
    heading = "".join(f'<th class="text">{escape(column)}</th>' for column in columns)
    lines = [f"<tr>{heading}</tr>"]
    for row in rows:
        cells = "".join(f'<td class="text">{escape(text)}</td>' for text in row)
        lines.append(f"<tr>{cells}</tr>")
    return f'<div class="scroll"><table>{"".join(lines)}</table></div>'


def write_matrix(drawn: Panel, trace: Trace, title: str, marked: Ref | None = None) -> str:
    """Return a matrix as a table of coloured cells with their numbers, and the names of its rows and columns.

    marked: the cell with an outline.
    """
    colours = cell_colours(drawn, trace)
    free = unblocked_cells(trace, drawn.step)
    top, left = drawn.first
    heading = "<th></th>"
    for column in range(len(drawn.refs[0])):
        heading += write_name(trace, drawn.columns, left + column)
    lines = [f"<caption>{escape(title)}</caption><tr>{heading}</tr>"]
    for row, (refs, values) in enumerate(zip(drawn.refs, drawn.values.tolist(), strict=True)):
        cells = write_name(trace, drawn.rows, top + row)
        for ref, value in zip(refs, values, strict=True):
            is_blocked = not free[ref.index]
            text = table_cell_text(trace, ref, value, is_blocked)
            cells += write_cell(text, None if is_blocked else colours[ref], ref == marked)
        lines.append(f"<tr>{cells}</tr>")
    return f'<div class="scroll"><table>{"".join(lines)}</table></div>'


def write_name(trace: Trace, dim: str, position: int) -> str:
    """Return the heading of a row or a column: the word at this position of the axis, else the position."""
    if not dim:
        return "<th></th>"
    labels = trace.labels.get(dim, ())
    word = printable_token(labels[position]) if position < len(labels) else str(position)
    shown = shorten_text(word, NAME_WIDTH_PX, NAME_SIZE_PX)
    return f'<th title="{escape(f"{dim} {position}: {word}")}">{escape(shown)}</th>'


def write_cell(text: str, colours: CellColours | None, is_marked: bool) -> str:
    """Return a cell of a matrix. colours: None for a cell that a mask blocks, which is hatched.

    The light colours stand in front for viewers that do not know light-dark().
    """
    names = [*(["blocked"] if colours is None else []), *(["marked"] if is_marked else [])]
    attributes = f' class="{" ".join(names)}"' if names else ""
    if colours is not None:
        ground, ink, dark_ground, dark_ink = colours
        plain = f"background-color:{ground};color:{ink}"
        by_theme = f"background-color:{themed(ground, dark_ground)};color:{themed(ink, dark_ink)}"
        attributes += f' style="{plain};{by_theme}"'
    return f"<td{attributes}>{escape(text)}</td>"


def write_arithmetic(explained: Explanation) -> str:
    """Return the arithmetic of one cell as a paragraph; the operands q, k and v have their colours."""
    index = ", ".join(map(str, explained.index))
    written = []
    for piece in explained.pieces:
        text = escape(piece.text)
        family = colour_family(piece.ref.step) if piece.ref else None
        if family:
            light, dark = LIGHT_PALETTE.families()[family], DARK_PALETTE.families()[family]
            text = f'<span style="color:{light};color:{themed(light, dark)}">{text}</span>'
        written.append(text)
    return f"<p><b>{escape(explained.step)}[{index}]</b> {''.join(written)}</p>"


def largest_place(numbers: np.ndarray) -> int:
    """Return the position of the largest number; numbers that are not finite do not count.

    >>> largest_place(np.array([0.25, np.nan, 0.5]))
    2
    """
    return int(np.where(np.isfinite(numbers), numbers, -np.inf).argmax())
