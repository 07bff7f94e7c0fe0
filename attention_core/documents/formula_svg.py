"""Formulas as pictures: LaTeX drawn as SVG, each letter an outline, so that no reader needs a font for it.

This file alone knows ziamath, which brings its own font (STIX Two Math).
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from xml.etree import ElementTree

LINE_SPACE_PATTERN = re.compile(r"\\\\\[[^\]]*\]")  # room between two lines: ziamath would print it as text
SVG_NAMESPACE = "http://www.w3.org/2000/svg"  # a name, not an address that is opened


@dataclass(frozen=True)
class FormulaPicture:
    """A formula as an SVG element, the outlines of letters that it refers to, and its size in pixels."""

    svg: str
    outlines: tuple[str, ...]
    width: float
    height: float


@lru_cache(maxsize=512)  # 16 ms and 20 kB each
def typeset_formula(latex: str, ink: str = "#000000", size: float = 20.0) -> FormulaPicture:
    r"""A formula as an SVG of its own, which a screen reader tells as LaTeX.

    latex: without $ signs, as explanation.formula writes it. ink: the colour of what has none of its own, such as
    #1f2328. size: of the letters in pixels. All formulas of a document need the same size, because they share the
    outlines of letters; these must stand in the document too, and show nothing by themselves.

    >>> drawn = typeset_formula(r"\mathrm{scores} = Q\,K^{\top}")
    >>> drawn.svg.startswith("<svg"), drawn.height < 40 < drawn.width
    (True, True)
    """
    import ziamath  # a tenth of a second, which no page needs to begin

    written = LINE_SPACE_PATTERN.sub(r"\\\\", latex)
    picture = ziamath.Latex(written, size=size, color=ink).svgxml()
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


def svg_of(element: ElementTree.Element) -> str:
    """An element of XML as text."""
    return ElementTree.tostring(element, encoding="unicode")
