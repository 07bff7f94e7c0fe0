"""Numbers before anything is learned: how wide they are drawn, and that nothing but the given generator is asked."""

import math

import pytest
import torch

from attention_core.learned.models.parameters import draw_embedding, draw_gru, draw_linear, draw_matrix, switch_heads
from attention_core.learned.training.courses import COURSES

MADE = {
    "embedding": (lambda g: draw_embedding(101, 31, g).weight, 1.0, (101, 31)),
    "gru, from the input": (lambda g: draw_gru(53, 31, g).weight_ih_l0, 1 / math.sqrt(31), (3 * 31, 53)),
    "gru, from the state": (lambda g: draw_gru(53, 31, g).weight_hh_l0, 1 / math.sqrt(31), (3 * 31, 31)),
    "linear": (lambda g: draw_linear(53, 31, g).weight, 1 / math.sqrt(53), (31, 53)),
    "matrix": (lambda g: draw_matrix(53, 31, g), 1 / math.sqrt(53), (53, 31)),
}


@pytest.mark.parametrize("name", MADE)
def test_numbers_are_uniform_within_their_limit(name, generator):
    make, limit, shape = MADE[name]
    drawn = make(generator)
    assert drawn.shape == shape and drawn.requires_grad
    assert 0.98 * limit < drawn.abs().max().item() <= limit
    assert drawn.mean().item() == pytest.approx(0, abs=0.1 * limit)
    assert drawn.square().mean().item() == pytest.approx(limit**2 / 3, rel=0.1)  # the variance of a uniform number


def test_biases_are_drawn_as_well(generator):
    for bias in (draw_gru(53, 101, generator).bias_ih_l0, draw_gru(53, 101, generator).bias_hh_l0):
        assert 0.9 / math.sqrt(101) < bias.abs().max() <= 1 / math.sqrt(101)
    assert 0 < draw_linear(53, 31, generator).bias.abs().max() <= 1 / math.sqrt(53)


@pytest.mark.parametrize("course", COURSES)
def test_a_network_is_drawn_from_its_generator_alone(course):
    before = torch.get_rng_state()
    one, same, other = (COURSES[course].make(torch.Generator().manual_seed(seed)).state_dict() for seed in (3, 3, 4))
    assert torch.equal(torch.get_rng_state(), before)
    assert all(torch.equal(one[name], same[name]) for name in one)
    assert not any(torch.equal(one[name], other[name]) for name in one if name != "b_o")  # which begins with zeros


def test_only_keeps_the_rows_of_the_heads_that_are_on():
    w_o = torch.arange(2.0 * 3 * 5).view(6, 5) + 1
    assert switch_heads(torch.tensor([1.0, 0.0, 1.0]), w_o).tolist() == [
        row if number // 2 != 1 else [0.0] * 5 for number, row in enumerate(w_o.tolist())
    ]
