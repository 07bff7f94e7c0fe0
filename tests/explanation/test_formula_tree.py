"""Formulas as trees of elements: what LaTeX says is there, in its order and its colour."""

import pytest
import torch

from attention_core import AttentionConfig, Weights, attend
from attention_core.explanation.formula import formula
from attention_core.explanation.formula_tree import formula_tree
from attention_core.mechanism.positions import POSITIONS
from attention_core.mechanism.scores import SCORES
from tests.entries import learned_shapes


def flat(tree):
    """A tree without its attributes: the name of an element, and what stands in it."""
    name, _, children = tree
    return [name, *(flat(child) if isinstance(child, tuple) else child for child in children)]


def text(tree):
    """All that is read in a tree."""
    return "".join(text(child) if isinstance(child, tuple) else child for child in tree[2])


@pytest.mark.parametrize(
    ("latex", "expected"),
    [
        ("Q K^{\\top}", ["mrow", ["mi", "Q"], ["msup", ["mi", "K"], ["mrow", ["mo", "⊤"]]]]),
        (
            r"\tfrac{1}{\sqrt{2}}",
            ["mrow", ["mfrac", ["mrow", ["mn", "1"]], ["mrow", ["msqrt", ["mrow", ["mn", "2"]]]]]],
        ),
        (r"\mathrm{a\_b}_S", ["mrow", ["msub", ["mtext", "a_b"], ["mi", "S"]]]),
        ("x_i^2", ["mrow", ["msubsup", ["mi", "x"], ["mi", "i"], ["mn", "2"]]]),
    ],
)
def test_what_stands_in_a_formula_stands_in_its_tree(latex, expected):
    assert flat(formula_tree(latex)) == expected


def test_cases_are_a_table_behind_a_brace():
    tree = formula_tree(r"\begin{cases} a & b \\[1em] -\infty & \text{else} \end{cases}")
    brace, table = tree[2][0][2]
    assert brace == ("mo", {"stretchy": "true"}, ("{",))
    assert [[text(cell) for cell in row[2]] for row in table[2]] == [["a", "b"], ["-∞", "else"]]


def test_a_colour_is_a_class():
    _, attributes, children = formula_tree(r"\textcolor{share}{\mathrm{weights}}")[2][0]
    assert (attributes, text(("", {}, children))) == ({"class": "share"}, "weights")


CONFIGS = [
    *(AttentionConfig(score=score) for score in SCORES),
    AttentionConfig(positions=list(POSITIONS), masks=["causal"], heads=2, temperature=2.0),
]


@pytest.mark.parametrize("config", CONFIGS, ids=[*SCORES, "positions"])
def test_no_operation_writes_a_command_that_is_not_known(config, generator):
    x, square = torch.randn(3, 4, generator=generator), torch.randn(4, 4, generator=generator)
    shapes = learned_shapes(config, 4 // config.heads, 4 // config.heads, wide=(4, 4 // config.heads))
    extra = {name: torch.randn(shape, generator=generator) for name, shape in shapes.items()}
    trace = attend(x, weights=Weights(w_q=square, w_k=square, w_v=square, w_o=square, **extra), config=config)
    for step in trace.computed():
        names = [node[2][0] for node in walk(formula_tree(formula(trace, step, {}))) if node[0] == "mi"]
        assert {name for name in names if len(name) > 1} <= {"tanh", "sin", "cos"}, step


def walk(tree):
    yield tree
    for child in tree[2]:
        if isinstance(child, tuple):
            yield from walk(child)
