"""A chart as a file: the same specification drawn without a browser, as SVG or PNG, with its title and its formula.

The only file that knows vl-convert, which has Vega and a renderer of SVG in it and asks no network.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from html import escape

import vl_convert

from attention_core.documents.formula_svg import SVG_NAMESPACE, typeset_formula
from attention_core.documents.provenance import Provenance
from attention_core.drawing.palette import Palette
from attention_core.drawing.specifications import FONT, Picture
from attention_core.drawing.text_layout import text_width

VEGA_LITE = "6.4"  # the one of the versions in vl-convert that Altair writes for
FILE_MARGIN_PX = 16.0  # pixels around
FILE_TITLE_PX, FILE_NOTE_PX = 20.0, 11.0  # the size of the title, and of where it is from
MIN_FILE_TEXT_WIDTH_PX = (
    420.0  # pixels: a narrower picture has room at its right, so that the texts around it stay lines
)
MAX_FOOTER_LINES = 12  # of an address under a picture: a longer one is cut, and whole in the description of the SVG
PNG_SCALE = 3.0  # pixels of a PNG for each of the screen's
SVG_SIZE_PATTERN = re.compile(r'<svg [^>]*?width="([0-9.]+)" height="([0-9.]+)"')
UNASSIGNED_LETTER = "\U0010fffd"  # private, so that no font has it


def svg_text(picture: Picture, imprint: Provenance, palette: Palette, formula: str = "") -> str:
    """A picture as SVG: the title and the step's formula above it, where it is from below.

    picture: as charts draws it. palette: the one that it is drawn in. formula: LaTeX; none where there is none.

    >>> from attention_core.drawing.specifications import sized_specification
    >>> from attention_core.drawing.cells import cell_table
    >>> from attention_core.drawing.palette import LIGHT_PALETTE
    >>> picture = Picture(cell_table([]), sized_specification(100, 50))
    >>> text = svg_text(picture, Provenance("Two & three", "?ex=en_it"), LIGHT_PALETTE)
    >>> "<title>Two &amp; three</title>" in text
    True
    """
    chart = vega_svg(picture)
    chart_width, chart_height = map(float, SVG_SIZE_PATTERN.search(chart).groups())
    drawn = typeset_formula(formula, palette.ink) if formula else None
    inside = max(MIN_FILE_TEXT_WIDTH_PX, chart_width, drawn.width if drawn else 0.0)
    parts, y = [], FILE_MARGIN_PX
    for line in wrap_text(imprint.lines[0], inside, FILE_TITLE_PX):
        parts.append(text_line_svg(line, y, FILE_TITLE_PX, palette.ink))
        y += 1.4 * FILE_TITLE_PX
    if drawn:
        parts += [*drawn.outlines, place_svg(drawn.svg, y + 4)]
        y += drawn.height + 16
    parts.append(place_svg(chart, y))
    y += chart_height + 12
    for line in footer_lines(imprint, inside):
        parts.append(text_line_svg(line, y, FILE_NOTE_PX, palette.ink))
        y += 1.4 * FILE_NOTE_PX
    width, height = round(inside + 2 * FILE_MARGIN_PX), round(y + FILE_MARGIN_PX)
    told = f"<title>{escape(imprint.lines[0])}</title><desc>{escape(' '.join(imprint.lines))}</desc>"
    ground = f'<rect width="{width}" height="{height}" fill="{palette.ground}"/>'
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    return f'<svg xmlns="{SVG_NAMESPACE}" {size} role="img">{told}{ground}{"".join(parts)}</svg>\n'


def png_bytes(svg: str) -> bytes:
    """An SVG as PNG, SCALE times as large.

    >>> png_bytes(f'<svg xmlns="{SVG_NAMESPACE}" width="10" height="10"/>')[:4]
    b'\\x89PNG'
    """
    return vl_convert.svg_to_png(svg, scale=PNG_SCALE)


def vega_svg(picture: Picture) -> str:
    """What the browser draws of a picture."""
    rows = [dict(zip(picture.table, row, strict=True)) for row in zip(*picture.table.values(), strict=True)]
    spec = {**picture.spec, "data": {"values": rows}}
    return vl_convert.vegalite_to_svg(spec, vl_version=VEGA_LITE, allowed_base_urls=[])


# ---- texts around it -------------------------------------------------------------------------------------------------
def place_svg(svg: str, y: float) -> str:
    """An SVG as a part of another."""
    return svg.replace("<svg", f'<svg x="{FILE_MARGIN_PX:g}" y="{y:.2f}"', 1)


def text_line_svg(text: str, y: float, size: float, ink: str) -> str:
    """A line of text whose upper edge is at y."""
    how = f'font-family="{escape(FONT)}" font-size="{size:g}" fill="{ink}"'
    return f'<text x="{FILE_MARGIN_PX:g}" y="{y + size:.1f}" {how}>{escape(text)}</text>'


def footer_lines(imprint: Provenance, width: float) -> Iterator[str]:
    """Address and notes, as lines of this width."""
    for text in imprint.lines[1:]:
        lines = wrap_text(text, width, FILE_NOTE_PX)
        yield from lines[:MAX_FOOTER_LINES]
        if len(lines) > MAX_FOOTER_LINES:
            yield "…"


def wrap_text(text: str, width: float, size: float) -> Sequence[str]:
    """A text broken into lines of this width: after a blank or a sign of an address where there is one, else anywhere.

    >>> wrap_text("who is meant", 60, 10)
    ['who is ', 'meant']
    """
    lines = [""]
    for letter in text:
        lines[-1] += letter
        if text_width(lines[-1], size) > width and len(lines[-1]) > 1:
            cut = max((lines[-1][:-1].rfind(sign) for sign in " &?/"), default=-1) + 1 or len(lines[-1]) - 1
            lines[-1:] = [lines[-1][:cut], lines[-1][cut:]]
    return lines


# ---- letters that there are ------------------------------------------------------------------------------------------
def missing_letters(text: str) -> str:
    """The characters of a text, each once, that none of this machine's fonts has: a PNG would show boxes.

    Found by drawing: what has no letter looks like a character that no font has, whatever language the machine speaks.

    >>> missing_letters("it\\u0378 \\u0378")
    '\\u0378'
    """
    return "".join(dict.fromkeys(letter for letter in text if not letter.isspace() and not has_letter(letter)))


@lru_cache(maxsize=4096)
def has_letter(letter: str) -> bool:
    """Whether a character looks different from one that no font has."""
    return render_letter(letter) != render_letter(UNASSIGNED_LETTER)


def render_letter(letter: str) -> bytes:
    """A character alone."""
    text = f'<text x="4" y="24" font-size="20" font-family="{escape(FONT)}">{escape(letter)}</text>'
    return vl_convert.svg_to_png(f'<svg xmlns="{SVG_NAMESPACE}" width="32" height="32">{text}</svg>')
