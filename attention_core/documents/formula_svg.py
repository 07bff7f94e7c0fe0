"""Formulas as pictures: LaTeX drawn as SVG, each letter an outline, so that no reader needs a font for it.

Only this module knows ziamath, which includes its font (STIX Two Math).
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from xml.etree import ElementTree

OTHER_LETTERS = re.compile(r"[\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef]")  # Chinese, which STIX Two Math lacks
STAND_IN = "⬜"  # typeset instead of a Chinese character, about as wide and tall; no formula contains it
OTHER_FONTS = "Noto Sans CJK SC, PingFang SC, Microsoft YaHei, sans-serif"
OUTLINE_SIZE = 12.0  # pixels: the letter size in which outlines are measured
STEM_HEIGHT, STEM_DEPTH = 0.9, 0.15  # ems of a Chinese character above and below the baseline
LINE_SPACE_PATTERN = re.compile(r"\\\\\[[^\]]*\]")  # space between two lines: ziamath would print it as text
SVG_NAMESPACE = "http://www.w3.org/2000/svg"  # a name, not an address that is requested


@dataclass(frozen=True)
class FormulaPicture:
    """A formula as an SVG element, the outlines of letters that it uses, and its size in pixels."""

    svg: str
    outlines: tuple[str, ...]
    width: float
    height: float


@lru_cache(maxsize=512)  # a formula takes 8 ms and 20 kB
def typeset_formula(latex: str, ink: str = "#000000", size: float = 20.0) -> FormulaPicture:
    r"""A formula as an SVG, whose LaTeX a screen reader reads out.

    Chinese characters are text in it, in a font of the device; all else is outlines.

    latex: without $ signs, from explanation.formula. ink: the colour of letters without a colour, such as
    #1f2328. size: of the letters in pixels. All formulas of a document need the same size, because they share the
    outlines of letters; these must be in the document too, and show nothing by themselves.

    >>> drawn = typeset_formula(r"\mathrm{scores} = Q\,K^{\top}")
    >>> drawn.svg.startswith("<svg"), drawn.height < 40 < drawn.width
    (True, True)
    """
    import ziamath  # takes a tenth of a second to import: not at startup

    written = LINE_SPACE_PATTERN.sub(r"\\\\", latex)
    others = OTHER_LETTERS.findall(written)
    picture = ziamath.Math(write_mathml(OTHER_LETTERS.sub(STAND_IN, written), ink), size=size).svgxml()
    if others:
        write_letters(picture, others, size)
    picture.set("role", "img")
    picture.set("aria-label", latex)
    outlines = picture.findall("symbol")
    for outline in outlines:
        picture.remove(outline)
    unique = dict.fromkeys(map(svg_of, outlines))
    return FormulaPicture(
        svg_of(picture),
        outlines=tuple(unique),
        width=float(picture.get("width")),
        height=float(picture.get("height")),
    )


def write_mathml(latex: str, ink: str) -> ElementTree.Element:
    """A formula as MathML in a colour, without the row that surrounds all of it: ziamath lays out what stands in a row
    twice, so that the outermost row doubles the time."""
    from ziamath.tex import tex2mml

    formula = ElementTree.fromstring(tex2mml(latex))
    formula.set("mathcolor", ink)
    (row,) = formula
    formula[:] = list(row)
    return formula


@lru_cache(maxsize=1)
def stand_in_name() -> str:
    """The id of the stand-in's outline in every formula."""
    import ziamath

    return ziamath.Latex(STAND_IN).svgxml().find("symbol").get("id")


def write_letters(picture: ElementTree.Element, letters: list[str], size: float) -> None:
    """Replace the stand-ins by the letters as text, in order, and make room for them.

    A glyph is an outline, whose `viewBox` begins above the baseline, and `use` elements with its places and sizes.
    """
    name = stand_in_name()
    (outline,) = [each for each in picture.iter("symbol") if each.get("id") == name]
    _, top, _, height = map(float, outline.get("viewBox").split())
    uses = [use for use in picture.iter("use") if use.get("href") == f"#{name}"]
    for use, letter in zip(uses, letters, strict=True):
        scale = float(use.get("height")) / height
        x, colour = use.get("x"), use.get("fill")
        y = float(use.get("y")) - top * scale
        use.clear()
        use.tag, use.text = "text", letter
        font = {"font-family": OTHER_FONTS, "font-size": f"{OUTLINE_SIZE * scale:g}"}
        use.attrib.update({"x": x, "y": f"{y:g}", "fill": colour, **font})
    picture.remove(outline)
    left, above, width, tall = map(float, picture.get("viewBox").split())
    bottom = max(above + tall, STEM_DEPTH * size)
    above = min(above, -STEM_HEIGHT * size)
    picture.set("viewBox", f"{left:g} {above:g} {width:g} {bottom - above:g}")
    picture.set("height", f"{bottom - above:g}")


def svg_of(element: ElementTree.Element) -> str:
    """An XML element as text."""
    return ElementTree.tostring(element, encoding="unicode")
