"""What mechanisms learn, as data: its axes, its sizes, what is refused, and that nothing is declared without effect."""

from dataclasses import fields, replace

import pytest

from attention_core import AttentionError, Weights
from attention_core.explanation.formula import symbol
from attention_core.mechanism.config import LEARNED_TENSORS
from attention_core.mechanism.learned_tensors import LearnedTensor, add_own_sizes, check_learned
from attention_core.mechanism.scores import SCORES
from pages.setup.codec import LINK_KEYS
from pages.setup.setup import RunSetup

TABLE = LearnedTensor("w_r", ("R", "d_k"), "W_r")
VECTOR = LearnedTensor("v_r", ("R",), "v_r", by_head=True)
SIZES = {"H": 3, "d_k": 5}


def refusal(shapes) -> str:
    declared = (TABLE, VECTOR)
    with pytest.raises(AttentionError) as refused:
        check_learned(declared, shapes, add_own_sizes(declared, shapes, SIZES))
    return str(refused.value)


@pytest.mark.parametrize("vector", [(7,), (3, 7)])
def test_a_letter_of_its_own_is_as_large_as_the_smallest_tensor_says(vector):
    shapes = {"w_r": (7, 5), "v_r": vector}
    sizes = add_own_sizes((TABLE, VECTOR), shapes, SIZES)
    assert sizes == {"H": 3, "d_k": 5, "R": 7}
    check_learned((TABLE, VECTOR), shapes, sizes)


@pytest.mark.parametrize(
    ("shapes", "says"),
    [
        ({"w_r": (6, 5), "v_r": (7,)}, "w_r must be (7, 5): its shape is (6, 5)"),
        ({"w_r": (7, 4), "v_r": (7,)}, "w_r must be (7, 5): its shape is (7, 4)"),
        ({"w_r": (3, 7, 5), "v_r": (7,)}, "w_r must be (7, 5): its shape is (3, 7, 5)"),  # no head has its own
        ({"w_r": (7, 5), "v_r": (2, 7)}, "v_r must be (7,) or (3, 7): its shape is (2, 7)"),
        ({"w_r": (7, 5), "v_r": ()}, "v_r must be (R,) or (3, R): its shape is ()"),
    ],
)
def test_what_has_another_shape_is_refused(shapes, says):
    assert refusal(shapes) == says


def test_an_axis_that_comes_twice_has_two_names():
    square = LearnedTensor("w_r", ("d_q", "d_k"), "W_r")
    assert square.axes({"d_q": "d_k"}) == ("d_k", "d_k'")
    assert square.axes({}) == ("d_q", "d_k")


def test_a_score_that_reads_what_nobody_gives_is_none():
    with pytest.raises(ValueError, match="scores reads w_a, which nothing gives"):
        replace(SCORES["general"], weights=())


def test_a_score_with_a_weight_that_nothing_reads_is_none():
    with pytest.raises(ValueError, match="nothing reads w_r"):
        replace(SCORES["dot"], weights=(TABLE,))


@pytest.mark.parametrize("name", LEARNED_TENSORS)
def test_each_has_its_place_in_weights_in_a_setup_and_in_a_link_and_its_letter(name):
    assert name in {field.name for field in fields(Weights)}
    assert name in {field.name for field in fields(RunSetup)} and name in LINK_KEYS
    assert symbol(name) == LEARNED_TENSORS[name].symbol
