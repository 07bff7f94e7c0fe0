"""Formulas in pictures: where each letter, bar and root of every formula of the app stands, from the drawn outlines."""

import logging
import re
from itertools import combinations, pairwise
from typing import NamedTuple
from xml.etree import ElementTree

import pytest
import ziamath

from attention_core.documents.formulas import formula_shapes
from attention_core.drawing.flow import FlowGraph, flow_parts
from attention_core.drawing.palette import DARK_PALETTE
from attention_core.explanation.formula import formula
from pages.panels.flow_formulas import list_formulas
from pages.site.words import LANGUAGES, use_language
from tests.formulas import EVERY_RUN, RUNS

NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")
COMMANDS = set("MLQZ")  # of an outline: each is followed by points, so that its numbers are x and y in turn
ROUNDING = 0.02  # px
SLANT = 0.2  # px: an italic letter reaches beyond its width
OVERHANG = 0.25  # of the smaller of two boxes: an index stands below the slope of its italic letter


class Box(NamedTuple):
    """What a shape fills, in px."""

    kind: str
    left: float
    top: float
    right: float
    bottom: float

    def common(self, other: "Box") -> float:
        """The share of the smaller of two boxes that both fill."""
        wide = min(self.right, other.right) - max(self.left, other.left)
        high = min(self.bottom, other.bottom) - max(self.top, other.top)
        return max(0, wide) * max(0, high) / min(self.size(), other.size())

    def size(self) -> float:
        return (self.right - self.left) * (self.bottom - self.top)


def box_of(shape: ElementTree.Element) -> Box:
    """The box of an outline, of a bar, or of a Chinese letter, which is as wide as its font is high."""
    if shape.tag == "path":
        assert set(re.findall("[A-Za-z]", shape.get("d"))) <= COMMANDS
        x, y, scale = map(float, NUMBER.findall(shape.get("transform")))
        numbers = [scale * float(number) for number in NUMBER.findall(shape.get("d"))]
        across, down = numbers[::2], numbers[1::2]
        return Box("letter", x + min(across), y + min(down), x + max(across), y + max(down))
    x, y = float(shape.get("x")), float(shape.get("y"))
    if shape.tag == "rect":
        return Box("bar", x, y, x + float(shape.get("width")), y + float(shape.get("height")))
    assert shape.tag == "text" and len(shape.text) == 1
    size = float(shape.get("font-size"))
    return Box("letter", x, y - 0.88 * size, x + size, y + 0.12 * size)


def boxes_of(latex: str) -> list[Box]:
    """The boxes of a formula's shapes, all of which stand within its rectangle, in the order of their left edges."""
    drawn = formula_shapes(latex, DARK_PALETTE.ink)
    shapes = [shape for shape in ElementTree.fromstring(drawn.svg) if shape.get("d") != ""]  # which a blank has
    boxes = sorted(map(box_of, shapes), key=lambda box: box.left)
    assert boxes, latex
    assert min(box.left for box in boxes) >= drawn.left - ROUNDING, latex
    assert min(box.top for box in boxes) >= drawn.top - ROUNDING, latex
    assert max(box.right for box in boxes) <= drawn.left + drawn.width + ROUNDING, latex
    assert max(box.bottom for box in boxes) <= drawn.top + drawn.height + ROUNDING, latex
    return boxes


def is_root(box: Box, boxes: list[Box]) -> bool:
    """Whether a bar goes on from the upper right corner of a letter, which then is a root over what stands there."""
    bars = [each for each in boxes if each.kind == "bar"]
    return any(abs(bar.left - box.right) < 1 and abs(bar.top - box.top) < 1 for bar in bars)


def assert_all_apart(texts: list[str]) -> None:
    """Nothing in a formula covers anything else."""
    for latex in dict.fromkeys(texts):
        boxes = boxes_of(latex)
        plain = [box for box in boxes if box.kind == "bar" or not is_root(box, boxes)]
        for one, other in combinations(plain, 2):
            allowed = OVERHANG if one.kind == other.kind == "letter" else 0
            assert one.common(other) <= allowed, (latex, one, other)


def equations(runs) -> list[str]:
    """What steps write, as the page of a step shows it."""
    return [formula(trace, name) for trace in runs for name in trace.steps]


def flow_equations(language: str) -> list[str]:
    """What the flow picture writes of every kind of attention, in a language."""
    texts = []
    with use_language(language):
        for trace in RUNS.values():
            if {"q", "k", "v", "weights", "head_outputs"} <= {*trace.steps}:
                graph = FlowGraph(trace)
                texts += list_formulas(graph, flow_parts(graph), vars(DARK_PALETTE)).values()
    return texts


class UnknownElement(Exception):
    """ziamath only warns of an element that it does not know, and draws what stands in it."""


@pytest.fixture(autouse=True)
def strict(monkeypatch):
    """Makes such a warning an error."""

    def refuse(message, *values):
        raise UnknownElement(message % values)

    monkeypatch.setattr(logging, "warning", refuse)
    formula_shapes.cache_clear()


@pytest.mark.parametrize("name", ["everything", "parts", "numbers"])
def test_formulas_of_many_kinds_are_set_without_a_letter_upon_another(name):
    assert_all_apart(equations([RUNS[name]]))


@pytest.mark.slow
def test_every_formula_is_set_without_a_letter_upon_another():
    assert_all_apart(equations(EVERY_RUN.values()))


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_formula_of_the_flow_picture_is_set_in_both_languages(language):
    texts = flow_equations(language)
    assert len({*texts}) > 50
    assert_all_apart(texts)


def test_an_element_that_is_not_known_is_no_hole_but_an_error():
    with pytest.raises(UnknownElement, match="mblink"):
        ziamath.Math("<math><mi>x</mi><mblink><mi>y</mi></mblink></math>")


# ---- where things stand ----------------------------------------------------------------------------------------------
def test_a_bar_stands_between_what_it_divides():
    above, bar, below = sorted(boxes_of(r"\tfrac{a}{b}"), key=lambda box: box.top)
    assert bar.kind == "bar" and above.bottom < bar.top < bar.bottom < below.top
    assert bar.left <= min(above.left, below.left) and max(above.right, below.right) <= bar.right + SLANT


def test_a_root_covers_what_is_under_it_and_nothing_more():
    root, bar, letter, beside = boxes_of(r"\sqrt{a} b")
    assert is_root(root, [bar]) and not is_root(letter, [bar])
    assert root.right < letter.left + ROUNDING and bar.bottom < letter.top and root.bottom >= letter.bottom
    assert letter.right <= bar.right + ROUNDING < beside.left


def test_indices_stand_lower_and_exponents_higher_and_both_are_smaller():
    base, index, plain = boxes_of("a_a a")
    assert index.bottom > base.bottom and index.right - index.left < base.right - base.left
    assert base.top == pytest.approx(plain.top) and index.right < plain.left
    base, power, plain = boxes_of("a^a a")
    assert power.bottom < base.bottom and power.top < base.top and power.right < plain.left


def test_a_brace_is_as_high_as_its_cases_which_stand_below_each_other():
    (brace, *cells) = boxes_of(r"\begin{cases} a & b \\ c & d \end{cases}")
    a, b, c, d = sorted(cells, key=lambda box: (box.bottom > 0, box.left))
    assert max(a.bottom, b.bottom) < min(c.top, d.top) and a.right < b.left and c.right < d.left
    assert brace.top <= min(a.top, b.top) and brace.bottom >= max(c.bottom, d.bottom) and brace.right < a.left


def gaps(latex: str) -> list[float]:
    """The gaps between what stands beside each other in a formula."""
    boxes = boxes_of(latex)
    return [other.left - one.right for one, other in pairwise(boxes)]


def test_a_sign_of_a_number_stands_closer_to_it_than_one_between_two_numbers():
    before, after = gaps("a - b")
    assert min(before, after) > 5
    assert gaps("a = -b")[2] < after / 2 and gaps("a (-b)")[2] < after / 2 and gaps(r"a \cdot (-b)")[3] < after / 2
    assert gaps(r"a \land b") == pytest.approx([before, after], abs=1)
    assert gaps(r"a \odot b") == pytest.approx([before, after], abs=1)


def test_chinese_letters_stand_on_the_line_in_the_ink_of_the_theme():
    drawn = formula_shapes(r"\text{得分} = Q", DARK_PALETTE.ink)
    letters = ElementTree.fromstring(drawn.svg).findall("text")
    assert [letter.text for letter in letters] == ["得", "分"]
    assert {letter.get("y") for letter in letters} == {"0"}
    assert {letter.get("fill") for letter in letters} == {DARK_PALETTE.ink}
