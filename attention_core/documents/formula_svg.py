"""Formulas as pictures: LaTeX drawn as SVG, each glyph an outline, so that no reader needs a font for it.

The only file that knows ziamath, which brings its own font (STIX Two Math).
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from xml.etree import ElementTree

LINE_SPACE_PATTERN = re.compile(r"\\\\\[[^\]]*\]")  # room between two lines, which ziamath would write down
SVG_NAMESPACE = "http://www.w3.org/2000/svg"  # the name of a language, which nobody opens


@dataclass(frozen=True)
class FormulaPicture:
    """A formula as an SVG element, the outlines of letters that it refers to, and its size in pixels."""

    svg: str
    outlines: tuple[str, ...]
    width: float
    height: float


@lru_cache(maxsize=512)  # 16 ms and 20 kB each
def typeset_formula(latex: str, ink: str = "#000000", size: float = 20.0) -> FormulaPicture:
    r"""A formula as an SVG of its own, said to screen readers as its LaTeX.

    latex: without $ signs, as formula.formula writes it. ink: of what has no colour of its own, such as #1f2328. size:
    of the letters, in pixels; all formulas of one document need the same, because they share the outlines of letters,
    which must stand in the document as well, and show nothing by themselves.

    >>> drawn = typeset_formula(r"\mathrm{scores} = Q\,K^{\top}")
    >>> drawn.svg.startswith("<svg"), drawn.height < 40 < drawn.width
    (True, True)
    """
    import ziamath  # a tenth of a second, which no page needs to begin

    picture = ziamath.Latex(LINE_SPACE_PATTERN.sub(r"\\\\", latex), size=size, color=ink).svgxml()
    picture.set("role", "img")
    picture.set("aria-label", latex)
    outlines = picture.findall("symbol")
    for outline in outlines:
        picture.remove(outline)
    width, height = float(picture.get("width")), float(picture.get("height"))
    return FormulaPicture(svg_of(picture), tuple(dict.fromkeys(map(svg_of, outlines))), width, height)


def svg_of(element: ElementTree.Element) -> str:
    """An element as it is written."""
    return ElementTree.tostring(element, encoding="unicode")
