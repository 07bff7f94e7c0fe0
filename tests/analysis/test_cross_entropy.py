"""The cross-entropy and its gradient against torch's own, and by hand."""

import math

import pytest
import torch
from torch.nn.functional import cross_entropy

from attention_core import AttentionConfig, AttentionError, attend_qkv
from attention_core.analysis.softmax_steps import with_cross_entropy


def random(*shape):
    return torch.randn(shape, generator=torch.Generator().manual_seed(3), dtype=torch.float64)


@pytest.mark.parametrize("right", [0, 3, 6])
def test_loss_and_gradient_are_torchs_own(right):
    trace = with_cross_entropy(attend_qkv(random(5, 3), random(7, 3), random(7, 2)), right)
    logits = trace["masked_scores"][0, 0].clone().requires_grad_()  # (5, 7)
    losses = cross_entropy(logits, torch.full((5,), right), reduction="none")
    losses.sum().backward()
    assert torch.allclose(trace["loss"][0, 0], losses.detach(), atol=1e-12)
    assert torch.allclose(trace["loss_gradient"][0, 0], logits.grad, atol=1e-12)


def test_by_hand():
    """Scores 0 and ln 3: shares 1/4 and 3/4."""
    run = attend_qkv(
        *(torch.tensor(rows, dtype=torch.float64) for rows in ([[1.0]], [[0.0], [math.log(3)]], [[1.0], [1.0]]))
    )
    trace = with_cross_entropy(run, 0)
    assert trace["loss"].item() == pytest.approx(math.log(4), abs=1e-12)
    assert trace["loss_gradient"].flatten().tolist() == pytest.approx([-3 / 4, 3 / 4], abs=1e-12)


@pytest.mark.parametrize("right, sentence", [(2, "at most 1"), (-1, "right")])
def test_what_is_right_must_be_one_of_them(right, sentence):
    with pytest.raises(AttentionError, match=sentence):
        with_cross_entropy(attend_qkv(random(5, 3), random(2, 3), random(2, 3)), right)


def test_weights_that_are_no_probabilities_have_none():
    run = attend_qkv(random(5, 3), random(2, 3), random(2, 3), config=AttentionConfig(normaliser="sigmoid"))
    with pytest.raises(AttentionError):
        with_cross_entropy(run, 0)
