"""Numbers written with a few decimals: what they become, and how far what is made of them moves."""

import pytest
import torch

from attention_core import AttentionConfig, attend_qkv
from attention_core.examples.examples import EXAMPLES
from attention_core.exercises.rounding import (
    find_farthest_from,
    half_a_unit,
    rounding_reach,
    with_rounded_weights,
    write_down,
)
from tests.faces import assert_five_faces

B, H, KV, T, S, D_K, D_V = 2, 6, 3, 5, 7, 11, 13


@pytest.fixture
def run(generator):
    shapes = ((B, H, T, D_K), (B, KV, S, D_K), (B, KV, S, D_V))
    tensors = [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes]
    return attend_qkv(*tensors, config=AttentionConfig(masks=["causal"]))


@pytest.mark.parametrize("digits", [0, 1, 2])
def test_the_faces(run, digits):
    assert_five_faces(with_rounded_weights(run, digits), "rounded_weights", "rounded_outputs")


def test_a_half_goes_away_from_zero():
    numbers = torch.tensor([0.5, -0.5, 1.4, -1.6, 2.5, 0.0]).double()
    assert write_down(numbers, digits=0).tolist() == [1.0, -1.0, 1.0, -2.0, 3.0, 0.0]
    assert write_down(torch.tensor([0.125, -0.375]).double(), digits=2).tolist() == [0.13, -0.38]


def test_the_right_weights_of_source_004_with_one_decimal():
    """.08 .46 .46 becomes .1 .5 .5, 1.1 together; of V 011/422/222 they make 3.0 2.1 2.1 for 2.77 1.92 1.92."""
    trace = with_rounded_weights(EXAMPLES["source_004"].run(), 1)
    torch.testing.assert_close(trace["rounded_weights"][0, 0, 0], torch.tensor([0.1, 0.5, 0.5]).double())
    torch.testing.assert_close(trace["rounded_outputs"][0, 0, 0], torch.tensor([3.0, 2.1, 2.1]).double())
    assert find_farthest_from(trace["rounded_weights"].sum(-1), 1.0) == pytest.approx(1.1)


def test_how_far_rounding_moves_a_cell_at_most():
    """Half a unit of each weight times the sizes of a column of V, 0 4 2, 1 2 2 and 1 2 2."""
    reach = rounding_reach(EXAMPLES["source_004"].run(), "head_outputs", "weights", 2)
    torch.testing.assert_close(reach[0, 0], torch.tensor([[0.03, 0.025, 0.025]]).double().expand(3, 3))


@pytest.mark.parametrize("digits", [0, 1, 2, 3])
def test_no_rounding_moves_a_cell_further(run, digits):
    reach = rounding_reach(run, "head_outputs", "weights", digits)
    trace = with_rounded_weights(run, digits)
    moved = (trace["rounded_outputs"] - trace["head_outputs"]).abs()
    assert (moved <= reach + 1e-12).all() and moved.max() > 0
    sizes = run["v"].abs().sum(-2).repeat_interleave(H // KV, 1)[:, :, None]  # (B, H, 1, d_v)
    torch.testing.assert_close(reach, (half_a_unit(digits) * sizes).expand_as(reach))
