"""Formulas as pictures: LaTeX drawn as SVG, each glyph an outline, so that no reader needs a font for it.

The only file that knows ziamath, which brings its own font (STIX Two Math).
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from xml.etree import ElementTree

LINE_SPACE = re.compile(r"\\\\\[[^\]]*\]")  # room between two lines, which ziamath would write down
SVG = "http://www.w3.org/2000/svg"  # the name of a language, which nobody opens


@dataclass(frozen=True)
class Drawn:
    """A formula as an SVG element, and its size in pixels."""

    svg: str
    width: float
    height: float


@lru_cache(maxsize=512)  # 16 ms and 20 kB each
def drawn_formula(latex: str, ink: str = "#000000", size: float = 20.0) -> Drawn:
    r"""A formula as an SVG of its own, said to screen readers as its LaTeX.

    latex: without $ signs, as formula.formula writes it. ink: #rrggbb of what has no colour of its own. size: of the
    letters, in pixels; all formulas of one document need the same, because they share the outlines of letters.

    >>> drawn = drawn_formula(r"\mathrm{scores} = Q\,K^{\top}")
    >>> drawn.svg.startswith("<svg"), drawn.height < 40 < drawn.width
    (True, True)
    """
    import ziamath  # a tenth of a second, which no page needs to begin

    picture = ziamath.Latex(LINE_SPACE.sub(r"\\\\", latex), size=size, color=ink).svgxml()
    picture.set("role", "img")
    picture.set("aria-label", latex)
    text = ElementTree.tostring(picture, encoding="unicode")
    return Drawn(text, float(picture.get("width")), float(picture.get("height")))
