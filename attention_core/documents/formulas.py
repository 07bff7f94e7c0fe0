"""Draws LaTeX formulas as SVG, with letters as outlines, so that the reader needs no font; also writes formulas as one
line of text.

Only this module imports ziamath, which includes its font (STIX Two Math).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from xml.etree import ElementTree

from attention_core.explanation.formula_tree import FUNCTIONS, Tree, formula_tree

OTHER_LETTERS = re.compile(r"[\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef]")  # Chinese characters, which the font lacks
STAND_IN = "⬜"  # placeholder for a Chinese character while ziamath typesets; no formula contains it
OTHER_FONTS = "Noto Sans CJK SC, PingFang SC, Microsoft YaHei, sans-serif"
OUTLINE_SIZE = 12.0  # in pixels: the letter size for which the outlines are defined
STEM_HEIGHT, STEM_DEPTH = 0.9, 0.15  # in ems: height of a Chinese character above and below the baseline
LINE_SPACE_PATTERN = re.compile(r"\\\\\[[^\]]*\]")  # extra space between lines, which ziamath would print as text
SVG_NAMESPACE = "http://www.w3.org/2000/svg"  # an XML namespace, which is never requested as an address
OPERATOR = "{http://www.w3.org/1998/Math/MathML}mo"  # tag of a symbol such as "+" in MathML
WIDE_SIGNS = "=+·×≤≥≠∈→−-<>⊕⊙±∧"  # symbols that have a blank on both sides
TIGHT_SIGNS = "∧⊙"  # symbols around which ziamath sets hardly any blank
OPENING_SIGNS = "([{⌊,;"
UNARY_SIGNS = "+−-"  # symbols that may be unary: at the beginning of a formula, or after an opening bracket
PLAIN_SIGNS = {"-": "−", "⊤": "T"}  # symbol -> replacement, because office programs lack the transpose symbol
BROAD_SPACE_EMS = 0.9  # in ems: wider spaces become two blanks, narrower ones one


# ---- SVG -------------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class FormulaPicture:
    """A formula as an SVG element, the outlines of letters that it uses, and its size in pixels."""

    svg: str
    outlines: tuple[str, ...]
    width: float
    height: float


@dataclass(frozen=True)
class FormulaShapes:
    """A formula as one SVG element whose shapes refer to nothing, and the rectangle that they fill, in pixels.

    The formula begins at x = 0; its baseline is at y = 0, so `top` is negative.
    """

    svg: str
    left: float
    top: float
    width: float
    height: float

    def place(self, x: float, y: float) -> str:
        """Return the formula as an SVG element whose rectangle has its upper left corner at (x, y).

        >>> FormulaShapes("<path/>", 1, -8, 20, 10).place(16, 30)
        '<g transform="translate(15 38)"><path/></g>'
        """
        return f'<g transform="translate({x - self.left:g} {y - self.top:g})">{self.svg}</g>'


@lru_cache(maxsize=512)  # typesetting takes 8 ms; a cached formula takes 20 kB
def typeset_formula(latex: str, ink: str = "#000000", size: float = 20.0) -> FormulaPicture:
    r"""Typeset a formula as SVG for a document, and store its LaTeX in the SVG as the text for screen readers.

    Chinese characters become SVG text in a font of the device; everything else becomes outlines.

    latex: the formula without $ signs, from explanation.formula. ink: the colour of letters without a colour, such as
    #1f2328. size: the letter size in pixels. All formulas of a document need the same size, because they share the
    outlines of letters. The document must contain the outlines, too; they are drawn only where a formula uses them.

    >>> drawn = typeset_formula(r"\mathrm{scores} = Q\,K^{\top}")
    >>> drawn.svg.startswith("<svg"), drawn.height < 40 < drawn.width
    (True, True)
    """
    picture = draw_formula(latex, ink, size)
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


@lru_cache(maxsize=512)
def formula_shapes(latex: str, ink: str = "#000000", size: float = 20.0) -> FormulaShapes:
    r"""Typeset a formula as SVG shapes for a picture that people put into other programs, many of which draw neither an
    SVG in an SVG nor what an SVG refers to.

    The arguments are those of typeset_formula.

    >>> drawn = formula_shapes(r"\mathrm{scores} = Q\,K^{\top}")
    >>> drawn.svg.count("<path"), -20 < drawn.top < -10
    (10, True)
    """
    picture = draw_formula(latex, ink, size)
    outlines = {f"#{outline.get('id')}": outline for outline in picture.iter("symbol")}
    group = ElementTree.Element("g", {"role": "img", "aria-label": latex})
    for shape in picture:
        if shape.tag == "use":
            group.append(outline_path(shape, outlines[shape.get("href")]))
        elif shape.tag != "symbol":
            group.append(shape)
    return FormulaShapes(svg_of(group), *map(float, picture.get("viewBox").split()))


def outline_path(use: ElementTree.Element, outline: ElementTree.Element) -> ElementTree.Element:
    """Return the outline of a letter as a path, at the place and in the size at which a `use` element draws it.

    A high brace is made of several outlines, a blank of none.
    """
    left, top, _, height = map(float, outline.get("viewBox").split())
    scale = float(use.get("height")) / height
    x = float(use.get("x")) - scale * left
    y = float(use.get("y")) - scale * top
    place = f"translate({x:g} {y:g}) scale({scale:g})"
    points = " ".join(path.get("d") for path in outline.iter("path"))
    return ElementTree.Element("path", {"d": points, "transform": place, "fill": use.get("fill")})


def draw_formula(latex: str, ink: str, size: float) -> ElementTree.Element:
    """Return a formula as ziamath draws it, with its Chinese characters as text."""
    import ziamath  # imported late, because the import takes 0.1 s

    written = LINE_SPACE_PATTERN.sub(r"\\\\", latex)
    others = OTHER_LETTERS.findall(written)
    picture = ziamath.Math(write_mathml(OTHER_LETTERS.sub(STAND_IN, written), ink), size=size).svgxml()
    if others:
        write_letters(picture, others)
    return picture


def write_mathml(latex: str, ink: str) -> ElementTree.Element:
    """Convert a LaTeX formula to MathML whose letters have the colour `ink`, without the outermost row element.

    Without this row, typesetting takes half the time, because ziamath lays out the content of a row twice.
    """
    from ziamath.tex import tex2mml

    formula = ElementTree.fromstring(tex2mml(latex))
    formula.set("mathcolor", ink)
    (row,) = formula
    formula[:] = list(row)
    space_signs(formula)
    return formula


def space_signs(formula: ElementTree.Element) -> None:
    """Set the blanks that ziamath lacks: none after the sign of a number, as in (−0.5), and some around ∧ and ⊙."""
    for row in formula.iter():
        for before, sign in pairwise(row):
            if sign.tag != OPERATOR:
                continue
            if sign.text in UNARY_SIGNS and before.tag == OPERATOR and before.text in WIDE_SIGNS + OPENING_SIGNS:
                sign.set("form", "prefix")
            elif sign.text in TIGHT_SIGNS:
                sign.attrib.update({"lspace": "mediummathspace", "rspace": "mediummathspace"})


@lru_cache(maxsize=1)
def stand_in_name() -> str:
    """Return the id that ziamath gives to the outline of the placeholder STAND_IN in every formula."""
    import ziamath

    return ziamath.Latex(STAND_IN).svgxml().find("symbol").get("id")


def write_letters(picture: ElementTree.Element, letters: list[str]) -> None:
    """Replace the placeholders in a formula's picture by Chinese characters as SVG text, and enlarge the picture so
    that they fit.

    ziamath draws a glyph as an outline, whose `viewBox` begins above the baseline, and as one `use` element for each
    occurrence, with its position and size.
    """
    name = stand_in_name()
    (outline,) = [each for each in picture.iter("symbol") if each.get("id") == name]
    _, top, _, height = map(float, outline.get("viewBox").split())
    uses = [use for use in picture.iter("use") if use.get("href") == f"#{name}"]
    left, highest, width, tall = map(float, picture.get("viewBox").split())
    lowest = highest + tall
    for use, letter in zip(uses, letters, strict=True):
        scale = float(use.get("height")) / height
        x, colour = use.get("x"), use.get("fill")
        y = float(use.get("y")) - top * scale
        use.clear()
        use.tag, use.text = "text", letter
        size = OUTLINE_SIZE * scale
        use.attrib.update({"x": x, "y": f"{y:g}", "fill": colour, "font-family": OTHER_FONTS, "font-size": f"{size:g}"})
        highest = min(highest, y - STEM_HEIGHT * size)
        lowest = max(lowest, y + STEM_DEPTH * size)
    picture.remove(outline)
    picture.set("viewBox", f"{left:g} {highest:g} {width:g} {lowest - highest:g}")
    picture.set("height", f"{lowest - highest:g}")


def svg_of(element: ElementTree.Element) -> str:
    """Return an XML element serialized as a string."""
    return ElementTree.tostring(element, encoding="unicode")


# ---- one line of text ------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class FormulaRun:
    """A part of a formula's text that has one level and one colour.

    level: 1 for a superscript, -1 for a subscript, else 0. colour: "" for the colour of the surrounding text.
    """

    text: str
    level: int = 0
    colour: str = ""


def formula_runs(latex: str) -> tuple[FormulaRun, ...]:
    r"""Split a formula into runs of text, each with its level and colour.

    latex: a formula as explanation.formula writes it.

    >>> [(run.text, run.level) for run in formula_runs(r"\textcolor{#0067A5}{Q}\,K^{\top} \cdot \tfrac{1}{\sqrt{2}}")]
    [('Q', 0), (' K', 0), ('T', 1), (' · 1/√2', 0)]
    """
    runs: list[FormulaRun] = []
    for run in element_runs(formula_tree(latex)):
        text = spaced(run, runs)
        last = runs[-1] if runs else None
        if last and (last.level, last.colour) == (run.level, run.colour):
            runs[-1] = replace(last, text=last.text + text)
        else:
            runs.append(replace(run, text=text))
    return tuple(runs)


def spaced(run: FormulaRun, before: list[FormulaRun]) -> str:
    """Return the text of a run, with one blank on each side of operators, and one after a function or a sum.

    before: the runs that precede `run` in the formula.
    """
    text = PLAIN_SIGNS.get(run.text, run.text)
    on_this_level = "".join(each.text for each in before if each.level == run.level).rstrip()
    is_new_level = not before or before[-1].level != run.level != 0
    is_first = is_new_level or not on_this_level or on_this_level[-1] in OPENING_SIGNS + "="
    is_ended = not before or before[-1].text.endswith(" ")
    if text in WIDE_SIGNS and not (text in UNARY_SIGNS and is_first):
        return f"{text} " if is_ended else f" {text} "
    if is_ended:
        return text.lstrip()
    is_argument = text[:1].isalnum() and on_this_level.endswith((*FUNCTIONS, "∑"))
    return f" {text}" if is_argument and not is_new_level else text


def element_runs(tree: Tree, level: int = 0, colour: str = "") -> Iterator[FormulaRun]:
    """Yield the FormulaRuns of a MathML element, in order."""
    name, attributes, children = tree
    colour = attributes.get("class", colour)
    match name:
        case "mfrac":
            yield from fraction_runs(children, level, colour)
        case "msqrt":
            yield FormulaRun("√", level, colour)
            yield from bracketed_runs(children[0], level, colour)
        case "msub":
            yield from script_runs(children, (-1,), level, colour)
        case "msup":
            yield from script_runs(children, (1,), level, colour)
        case "msubsup":
            yield from script_runs(children, (-1, 1), level, colour)
        case "mspace":
            is_broad = float(attributes["width"].removesuffix("em")) > BROAD_SPACE_EMS
            yield FormulaRun("  " if is_broad else " ", level, colour)
        case "mover":
            yield FormulaRun("mean(", level, colour)  # a bar above a name is a mean in the app's formulas
            yield from element_runs(children[0], level, colour)
            yield FormulaRun(")", level, colour)
        case "mtable":
            yield from table_runs(children, level, colour)
        case _:
            for child in children:
                if isinstance(child, str):
                    yield FormulaRun(child, level, colour)
                else:
                    yield from element_runs(child, level, colour)


def fraction_runs(children: tuple[Tree, ...], level: int, colour: str) -> Iterator[FormulaRun]:
    """Yield the FormulaRuns of a fraction: the numerator, a slash and the denominator."""
    above, below = children
    yield from bracketed_runs(above, level, colour)
    yield FormulaRun("/", level, colour)
    yield from bracketed_runs(below, level, colour)


def bracketed_runs(tree: Tree, level: int, colour: str) -> Iterator[FormulaRun]:
    """Yield the FormulaRuns of an element, in brackets if the element has several children."""
    _, _, children = tree
    if len(children) == 1:
        yield from element_runs(tree, level, colour)
        return
    yield FormulaRun("(", level, colour)
    yield from element_runs(tree, level, colour)
    yield FormulaRun(")", level, colour)


def script_runs(children: tuple[Tree, ...], places: tuple[int, ...], level: int, colour: str) -> Iterator[FormulaRun]:
    """Yield the FormulaRuns of a base, followed by its subscripts and superscripts.

    places: for each script, -1 for a subscript or 1 for a superscript.
    """
    base, *scripts = children
    yield from element_runs(base, level, colour)
    for place, script in zip(places, scripts, strict=True):
        yield from element_runs(script, place, colour)


def table_runs(rows: tuple[Tree, ...], level: int, colour: str) -> Iterator[FormulaRun]:
    """Yield the FormulaRuns of the rows of a case distinction, on one line and separated by semicolons, then a closing
    brace.
    """
    for number, (_, _, cells) in enumerate(rows):
        for place, cell in enumerate(cells):
            if place:
                yield FormulaRun(", ", level, colour)
            elif number:
                yield FormulaRun("; ", level, colour)
            yield from element_runs(cell, level, colour)
    yield FormulaRun(" }", level, colour)
