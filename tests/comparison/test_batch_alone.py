"""Batched equals one by one: over sentences of different lengths, for every score and mask; and a fault is seen."""

import pytest
import torch

from attention_core import AttentionConfig, Weights, attend
from attention_core.comparison.differences import largest_batch_difference
from attention_core.mechanism.scores import SCORES
from tests.entries import score_shapes

LENGTHS = (7, 2, 5)
D, H, A = 6, 2, 3


def sentences():
    generator = torch.Generator().manual_seed(11)
    return [torch.randn(length, D, generator=generator, dtype=torch.float64) for length in LENGTHS]


def weights(score):
    generator = torch.Generator().manual_seed(12)
    sizes = {"w_q": (D, D), "w_k": (D, D), "w_v": (D, 4), "w_o": (4, 5), "b_o": (5,)}
    sizes |= score_shapes(score, 3, 3, own=A)
    drawn = {name: torch.randn(size, generator=generator, dtype=torch.float64) for name, size in sizes.items()}
    return Weights(**drawn)


def padded(filling=0.0):
    x = torch.full((len(LENGTHS), max(LENGTHS), D), filling, dtype=torch.float64)
    for b, sentence in enumerate(sentences()):
        x[b, : len(sentence)] = sentence
    return x


def runs(score="scaled_dot", masks=(), positions=(), lengths=LENGTHS, filling=0.0):
    config = {"score": score, "heads": H, "positions": positions}
    together = AttentionConfig(**config, masks=[*masks, ("padding", {"lengths": lengths})])
    batch = attend(padded(filling), weights=weights(score), config=together)
    alone = [attend(x, weights=weights(score), config=AttentionConfig(**config, masks=masks)) for x in sentences()]
    return batch, alone


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("masks", [(), ("causal",), (("local", {"window": 1}),)], ids=str)
@pytest.mark.parametrize("positions", [(), ("sinusoidal", "alibi")], ids=str)
def test_a_sentence_has_the_numbers_that_it_has_alone(score, masks, positions):
    step, difference = largest_batch_difference(*runs(score, masks, positions))
    assert difference < 1e-14, step


def test_what_fills_up_is_never_seen():
    assert largest_batch_difference(*runs(filling=100.0))[1] < 1e-14


def test_a_padding_that_is_one_too_long_is_found():
    step, difference = largest_batch_difference(*runs(lengths=(7, 3, 5)))
    assert difference > 1e-3
    assert step in ("allowed", "masked_scores", "weights", "head_outputs", "concat", "output")


def test_every_sentence_is_compared():
    batch, alone = runs()
    alone[2] = runs()[1][0]
    assert largest_batch_difference(batch, alone)[1] > 1e-3
