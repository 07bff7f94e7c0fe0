"""Writes pictures with their title and formula as SVG or PNG files, from Vega-Lite specifications and without a
browser.

Only this module imports vl-convert, which contains Vega and a renderer of SVG, and needs no network. While it draws, no
other thread of its process can run, so a server lets it draw in another process: draw_by.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from html import escape
from typing import TypeVar

import vl_convert

from attention_core.documents.formulas import SVG_NAMESPACE, formula_shapes
from attention_core.documents.provenance import Provenance
from attention_core.drawing.palette import Palette
from attention_core.drawing.specifications import FONT, Picture
from attention_core.drawing.text_layout import text_width, wrap_text

VEGA_LITE = "6.4"  # Altair's version of Vega-Lite, by vl-convert's name for it
FILE_MARGIN_PX = 16.0  # in pixels: the margin around the picture
FILE_TITLE_PX, FILE_NOTE_PX = 20.0, 11.0  # in pixels: the letter size of the title, and of the notes
LINE_HEIGHT = 1.4  # distance between two lines of text, in multiples of the letter size
MIN_FILE_TEXT_WIDTH_PX = 420.0  # in pixels: least width of the texts, so that a title has few lines
LEAST_ASPECT = 4 / 3  # least width / height of a file whose texts are above the picture
MAX_NOTE_LINES = 12  # most lines of a note; the rest is only in the SVG's description
PNG_SCALE = 3.0  # how many pixels the PNG has per pixel of the SVG
SVG_SIZE_PATTERN = re.compile(r'<svg [^>]*?width="([0-9.]+)" height="([0-9.]+)"')
TRANSPOSE_SIGN, RAISED_T = "ᵀ", '<tspan baseline-shift="super" font-size="70%">T</tspan>'
TRANSPOSED_TEXT_PATTERN = re.compile(f"(?<=>)[^<]*{TRANSPOSE_SIGN}[^<]*(?=</text>)")
# Lines with letters such as Ġ and ẋ, split by font, because a Chinese font would separate the marks.
MARKED_LINE_PATTERN = re.compile("<text([^>]*)>([^<]*[\u0100-\u024f\u1e00-\u1eff][^<]*)</text>")
PIECE_PATTERN = re.compile("[\u2e80-\U0003ffff]+ *|[^\u2e80-\U0003ffff]+")
FIRST_CHINESE = "\u2e80"
MARKED_LINE_FONT = "'Source Sans 3', 'DejaVu Sans', 'Liberation Sans', sans-serif"
FONT_PATTERN = re.compile(r' font-family="[^"]*"')
ANCHOR_PATTERN = re.compile(r' text-anchor="([^"]*)"')
PLACE_PATTERN = re.compile(r' (?:transform|x|y|dx|opacity)="[^"]*"')
STARTS = {"start": 0.0, "middle": -0.5, "end": -1.0}  # text-anchor -> a line's left end, in widths of the line
MEASURING_SCALE = 8.0  # factor by which a text is enlarged while its width is measured
UNASSIGNED_LETTER = "\U0010fffd"  # private-use character that no font has; its picture shows how a missing letter looks

Drawn = TypeVar("Drawn", str, bytes)


class Drawing:
    """Holds the function through which vl-convert is called: it takes a function, and returns the result of calling
    this."""

    call: Callable[[Callable[[], Drawn]], Drawn] = staticmethod(lambda draw: draw())


def draw_by(call: Callable[[Callable[[], Drawn]], Drawn]) -> None:
    """Let vl-convert be called by another function, for the rest of this process.

    call: gets a function of vl-convert with all its arguments, which can be sent to another process, and returns the
    function's result.

    >>> draw_by(lambda draw: draw())
    """
    Drawing.call = staticmethod(call)


def draw_png(svg: str, scale: float = 1.0) -> bytes:
    """Render an SVG as the bytes of a PNG, by vl-convert."""
    return Drawing.call(partial(vl_convert.svg_to_png, svg, scale=scale))


def svg_text(
    picture: Picture,
    provenance: Provenance,
    palette: Palette,
    formula: str = "",
    is_titled: bool = True,
    is_transparent: bool = False,
) -> str:
    """Return a picture as SVG, with the title, the step's formula, and the notes of its provenance.

    The texts are above a wide picture, and beside any other, so that the file is wider than high and fits a slide. The
    address of the provenance is not drawn.

    palette: the colours of the texts and the background. formula: LaTeX, "" for none. is_titled: whether the texts are
    drawn; False if the slide shows them. is_transparent: whether the background is left out.

    >>> from attention_core.drawing.specifications import sized_specification
    >>> from attention_core.drawing.cells import cell_table
    >>> from attention_core.drawing.palette import LIGHT_PALETTE
    >>> picture = Picture(cell_table([]), sized_specification(100, 50))
    >>> text = svg_text(picture, Provenance("Two & three", "?ex=en_it"), LIGHT_PALETTE)
    >>> "<title>Two &amp; three</title>" in text, "?ex=en_it" in text
    (True, False)
    """
    chart = vega_svg(picture)
    chart_width, chart_height = svg_size(chart)
    texts = write_texts(provenance, palette, formula, chart_width) if is_titled else TextColumn((), 0, 0)
    is_above = texts.height + chart_height <= max(texts.width, chart_width) / LEAST_ASPECT
    if texts.height and not is_above:
        texts = write_texts(provenance, palette, formula, MIN_FILE_TEXT_WIDTH_PX)
    if not texts.height:
        width, height, chart_left, chart_top = chart_width, chart_height, 0, 0
    elif is_above:
        width = max(texts.width, chart_width)
        height, chart_left, chart_top = texts.height + chart_height, 0, texts.height
    else:
        chart_left, chart_top = texts.width + 2 * FILE_MARGIN_PX, 0
        width, height = chart_left + chart_width, max(texts.height, chart_height)
    parts = [*texts.parts, place_svg(chart, FILE_MARGIN_PX + chart_left, FILE_MARGIN_PX + chart_top)]
    edge = 2 * FILE_MARGIN_PX
    return whole_svg(parts, width + edge, height + edge, provenance, palette, is_transparent)


def whole_svg(
    parts: Sequence[str],
    width: float,
    height: float,
    provenance: Provenance,
    palette: Palette,
    is_transparent: bool = False,
) -> str:
    """Return SVG elements as one SVG on the theme's background; the provenance, without its address, is the SVG's
    description.

    parts: the elements, already placed. is_transparent: whether the background is left out.
    """
    width, height = round(width), round(height)
    size = f'width="{width}" height="{height}"'
    title = escape(provenance.lines[0])
    description = escape(" ".join((provenance.lines[0], *provenance.lines[2:])))
    elements = [
        f'<svg xmlns="{SVG_NAMESPACE}" {size} viewBox="0 0 {width} {height}" role="img">',
        f"<title>{title}</title><desc>{description}</desc>",
        "" if is_transparent else f'<rect {size} fill="{palette.ground}"/>',
        *parts,
        "</svg>\n",
    ]
    return "".join(elements)


def png_bytes(svg: str, scale: float = PNG_SCALE) -> bytes:
    """Render an SVG as the bytes of a PNG.

    scale: how many pixels the PNG has per pixel of the SVG.

    >>> png_bytes(f'<svg xmlns="{SVG_NAMESPACE}" width="10" height="10"/>')[:4]
    b'\\x89PNG'
    """
    return draw_png(set_transposes(set_marked_letters(svg)), scale)


def set_transposes(svg: str) -> str:
    """Replace the transpose sign ᵀ in an SVG's texts by a raised T.

    Few fonts have the sign ᵀ; the renderer would draw its whole line in another font.

    >>> set_transposes("<title>q kᵀ</title><text>q kᵀ</text>")
    '<title>q kᵀ</title><text>q k<tspan baseline-shift="super" font-size="70%">T</tspan></text>'
    """
    return TRANSPOSED_TEXT_PATTERN.sub(lambda text: text[0].replace(TRANSPOSE_SIGN, RAISED_T), svg)


def set_marked_letters(svg: str) -> str:
    """Give lines of an SVG that have letters with marks, such as Ġ, a font that contains these letters.

    Chinese characters in such a line keep their font.

    >>> set_marked_letters('<text font-family="A">Ġcat</text>').count("Source Sans 3")
    1
    >>> set_marked_letters('<text font-family="A">猫 Ġcat</text>').count("<text")
    2
    """
    return MARKED_LINE_PATTERN.sub(lambda line: draw_in_pieces(line[1], line[2]), svg)


def draw_in_pieces(style: str, text: str) -> str:
    """Return a line of an SVG as Chinese and other pieces side by side, each in one font.

    style: the attributes of the line.
    """
    plain_style = FONT_PATTERN.sub("", style)
    marked_style = f'{plain_style} font-family="{MARKED_LINE_FONT}"'
    pieces = PIECE_PATTERN.findall(text)
    styles = [style if piece[0] >= FIRST_CHINESE else marked_style for piece in pieces]
    if len(pieces) == 1:
        return f"<text{styles[0]}>{text}</text>"
    widths = [measure_width(style, piece) for style, piece in zip(styles, pieces, strict=True)]
    anchor = ANCHOR_PATTERN.search(style)
    name = anchor[1] if anchor else "start"
    start = STARTS[name] * sum(widths)
    drawn = []
    for style, piece, width in zip(styles, pieces, widths, strict=True):
        drawn.append(f'<text{ANCHOR_PATTERN.sub("", style)} dx="{start:.2f}">{piece}</text>')
        start += width
    return "".join(drawn)


def measure_width(style: str, text: str) -> float:
    """Measure the width of a text in pixels by rendering the text.

    The text is rendered as a picture without a size, which becomes as wide as the text.
    """
    still = PLACE_PATTERN.sub("", ANCHOR_PATTERN.sub("", style))
    line = f'<text xml:space="preserve"{still}>{text}</text>'
    png = draw_png(f'<svg xmlns="{SVG_NAMESPACE}">{line}</svg>', MEASURING_SCALE)
    return int.from_bytes(png[16:20], "big") / MEASURING_SCALE  # bytes of the PNG header with the width


def vega_svg(picture: Picture) -> str:
    """Return the SVG that Vega draws for a picture, which looks as in the browser."""
    columns = list(picture.table)
    rows = []
    for values in zip(*picture.table.values(), strict=True):
        rows.append(dict(zip(columns, values, strict=True)))
    spec = {**picture.spec, "data": {"values": rows}}
    return Drawing.call(partial(vl_convert.vegalite_to_svg, spec, vl_version=VEGA_LITE, allowed_base_urls=[]))


def svg_size(svg: str) -> tuple[float, float]:
    """Return the width and the height of an SVG in pixels."""
    width, height = SVG_SIZE_PATTERN.search(svg).groups()
    return float(width), float(height)


def place_svg(svg: str, x: float, y: float) -> str:
    """Return an SVG as an element of another SVG, x pixels right of its left edge and y pixels below its top."""
    return svg.replace("<svg", f'<svg x="{x:g}" y="{y:.2f}"', 1)


# ---- texts beside the picture ----------------------------------------------------------------------------------------
@dataclass(frozen=True)
class TextColumn:
    """The texts of a file as SVG elements at its upper left corner, and their width and height in pixels."""

    parts: Sequence[str]
    width: float
    height: float


def write_texts(provenance: Provenance, palette: Palette, formula: str, width: float) -> TextColumn:
    """Return the title, the formula, the warning and the notes of a picture, one below the other.

    width: the width of a line in pixels; MIN_FILE_TEXT_WIDTH_PX or the formula's width replaces it if larger. The
    column is as wide as its widest line.
    """
    equation = formula_shapes(formula, palette.ink) if formula else None
    equation_width = equation.width if equation else 0
    wrapped = max(MIN_FILE_TEXT_WIDTH_PX, equation_width, width)
    title = wrap_text(provenance.lines[0], wrapped, FILE_TITLE_PX)
    notes = [*note_lines(provenance, wrapped)]
    parts, y = text_lines_svg(title, FILE_MARGIN_PX, FILE_TITLE_PX, palette.ink)
    if equation:
        parts.append(equation.place(FILE_MARGIN_PX, y + 4))
        y += equation.height + 16
    small, y = text_lines_svg(notes, y + 4, FILE_NOTE_PX, palette.ink)
    widths = [text_width(line, FILE_TITLE_PX) for line in title] + [text_width(line, FILE_NOTE_PX) for line in notes]
    return TextColumn((*parts, *small), max(equation_width, *widths), y + 12 - FILE_MARGIN_PX)


def text_lines_svg(lines: Iterable[str], y: float, size: float, ink: str) -> tuple[list[str], float]:
    """Return lines of text as SVG elements, the first line below the height y, and the y of the last line's lower
    edge.
    """
    style = f'font-family="{escape(FONT)}" font-size="{size:g}" fill="{ink}"'
    parts = []
    for line in lines:
        parts.append(f'<text x="{FILE_MARGIN_PX:g}" y="{y + size:.1f}" {style}>{escape(line)}</text>')
        y += LINE_HEIGHT * size
    return parts, y


def note_lines(provenance: Provenance, width: float) -> Iterator[str]:
    """Yield the warning and the notes of the provenance, wrapped to this width; "…" replaces lines beyond
    MAX_NOTE_LINES.
    """
    for text in provenance.lines[2:]:
        lines = wrap_text(text, width, FILE_NOTE_PX)
        yield from lines[:MAX_NOTE_LINES]
        if len(lines) > MAX_NOTE_LINES:
            yield "…"


# ---- letters that the fonts have -------------------------------------------------------------------------------------
def missing_letters(text: str) -> str:
    """Return the different characters of a text that no font of this machine has; a PNG would show boxes instead.

    Each character is rendered: a missing one looks like UNASSIGNED_LETTER.

    >>> missing_letters("it\\u0378 \\u0378")
    '\\u0378'
    """
    missing = []
    for letter in dict.fromkeys(text):
        if not letter.isspace() and not has_letter(letter):
            missing.append(letter)
    return "".join(missing)


@lru_cache(maxsize=4096)
def has_letter(letter: str) -> bool:
    """Return whether a character, once rendered, looks different from a character that no font has."""
    return render_letter(letter) != render_unassigned_letter()


@lru_cache(maxsize=1)
def render_unassigned_letter() -> bytes:
    """Return the rendering of a character that no font has, as PNG."""
    return render_letter(UNASSIGNED_LETTER)


def render_letter(letter: str) -> bytes:
    """Return the rendering of a single character, as PNG."""
    text = f'<text x="4" y="24" font-size="20" font-family="{escape(FONT)}">{escape(letter)}</text>'
    svg = f'<svg xmlns="{SVG_NAMESPACE}" width="32" height="32">{text}</svg>'
    return draw_png(set_marked_letters(svg))
