"""What is told of deep networks without residuals and norms: parts of it are measured again, another way."""

import math

import pytest
import torch
from torch import nn

from attention_core.learned.depth.block_figures import (
    BLOCK_FIGURES,
    DEPTHS,
    EVERY,
    LAYERS,
    SEEDS,
    STEPS,
    draw_untrained,
    train_blocks,
)
from attention_core.learned.depth.deep_copier import BLOCK_KINDS, DeepCopier

CHANCE = math.log(62)  # nats: to guess among the symbols


def run_by_loop(model: DeepCopier, symbols: torch.Tensor) -> list[torch.Tensor]:
    """The vectors that each block begins with, and the last, by torch's own functions: RoPE by complex numbers."""

    def norm(x, gain):
        return x if gain is None else nn.functional.rms_norm(x, (x.shape[-1],), gain, eps=1e-6)

    def turned(x):  # (B, H, T, d_k)
        d_k = x.shape[-1]
        rates = 10000.0 ** (-torch.arange(0, d_k, 2) / d_k)
        turns = torch.polar(torch.ones(()), torch.arange(x.shape[2])[:, None] * rates)
        pairs = torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous())
        return torch.view_as_real(pairs * turns).flatten(-2)

    kind, x = model.kind, model.read.weight[symbols]
    found = [x]
    before, after = kind.norm == "rms_norm_before", kind.norm == "rms_norm_after"
    for block in model.layers:
        for part in ("attention", "feed_forward"):
            gain = getattr(block, f"g_{part}", None)
            normed = norm(x, gain if before else None)
            if part == "attention":
                q, k, v = (
                    (normed @ w).unflatten(-1, (2, -1)).transpose(1, 2) for w in (block.w_q, block.w_k, block.w_v)
                )
                mixed = nn.functional.scaled_dot_product_attention(turned(q), turned(k), v, is_causal=True)
                output = mixed.transpose(1, 2).flatten(-2) @ block.w_o
            else:
                output = torch.relu(normed @ block.w_1) @ block.w_2
            x = x + output if kind.residual else output
            x = norm(x, gain if after else None)
        found.append(x)
    return found


@pytest.mark.parametrize("kind", BLOCK_KINDS)
def test_sizes_and_likeness_of_vectors_are_those_of_a_loop(kind):
    figures = BLOCK_FIGURES.rows[kind]
    layers = len(figures.sizes) - 1
    sizes, alike = [], []
    for seed in SEEDS:
        model, symbols = draw_untrained(kind, layers, seed)
        with torch.no_grad():
            vectors = run_by_loop(model, symbols)
        sizes.append([float(x.pow(2).mean().sqrt()) for x in vectors])
        likeness = []
        for x in vectors:
            pairs = [
                float(torch.cosine_similarity(x[:, i], x[:, j]).mean()) for i in range(8) for j in range(8) if i < j
            ]
            likeness.append(sum(pairs) / len(pairs))
        alike.append(likeness)
    assert figures.sizes == pytest.approx([sum(each) / len(each) for each in zip(*sizes, strict=True)], rel=2e-3)
    if kind != "bare":  # there vectors are too short for the cosine that torch gives
        assert figures.alike == pytest.approx([sum(each) / len(each) for each in zip(*alike, strict=True)], abs=2e-3)


@pytest.mark.parametrize("kind", BLOCK_KINDS)
def test_the_gradient_is_that_of_small_steps(kind):
    """At the depth of two blocks: the loss a little further along the gradient, in float64."""
    lengths = []
    for seed in SEEDS:
        model, symbols = draw_untrained(kind, 2, seed)
        model.double()
        numbers = list(model.layers[0].parameters())
        gradients = torch.autograd.grad(model.loss(model.stack(symbols[:, :-1]), symbols), numbers)
        length = math.sqrt(sum(float(each.square().sum()) for each in gradients))
        ends = []
        for side in (1, -1):
            with torch.no_grad():
                for number, each in zip(numbers, gradients, strict=True):
                    number += side * 1e-5 * each / length
                ends.append(float(model.loss(model.stack(symbols[:, :-1]), symbols)))
                for number, each in zip(numbers, gradients, strict=True):
                    number -= side * 1e-5 * each / length
        lengths.append((ends[0] - ends[1]) / 2e-5)
    assert BLOCK_FIGURES.rows[kind].gradients["2"] == pytest.approx(sum(lengths) / len(lengths), rel=2e-3)


@pytest.mark.parametrize("kind", BLOCK_KINDS)
def test_what_reaches_the_last_word_is_measured_through_the_loop(kind):
    ratios = []
    for seed in SEEDS:
        model, symbols = draw_untrained(kind, LAYERS, seed)
        _, first, *_, x = run_by_loop(model, symbols[:, :-1])
        if kind in ("before", "no_residual"):
            x = nn.functional.rms_norm(x, (x.shape[-1],), model.g_last, eps=1e-6)
        half = symbols.shape[1] // 2
        chances = (x[:, half:] @ model.out.T).log_softmax(-1)
        loss = -chances.gather(-1, symbols[:, half + 1 :, None]).mean()
        lengths = torch.autograd.grad(loss, first)[0].square().sum(-1).sqrt().mean(0)
        ratios.append(float(lengths[-1] / lengths[0]))
    assert BLOCK_FIGURES.rows[kind].last_word == pytest.approx(sum(ratios) / len(ratios), rel=2e-2)


def test_the_first_steps_of_a_training_are_those_of_the_file():
    figures = BLOCK_FIGURES.rows["no_residual"]
    again = train_blocks("no_residual", figures.rate, SEEDS[0], steps=EVERY)
    assert again == pytest.approx(figures.losses[0][:1], rel=1e-2)


def test_what_the_lesson_says_holds():
    figures = BLOCK_FIGURES.rows
    last = {kind: each.tried[str(each.rate)] for kind, each in figures.items()}
    assert all(each.tried[str(each.rate)] == min(each.tried.values()) for each in figures.values())
    assert max(last["before"], last["after"], last["no_norm"]) < 0.01  # each of the three learns
    assert last["no_norm"] == min(last.values())  # and that without norms the most
    assert (
        min(min(figures[kind].tried.values()) for kind in ("no_residual", "bare")) > CHANCE - 0.02
    )  # nothing is learned
    assert figures["no_residual"].alike[4] > 0.95 and figures["before"].alike[4] < 0.4
    assert figures["bare"].gradients["16"] < 1e-15 < 0.1 < figures["before"].gradients["16"]
    assert figures["no_residual"].gradients["16"] > figures["before"].gradients["16"]
    assert figures["no_residual"].last_word < 1e-5 < 1 < figures["before"].last_word
    assert all(len(each.losses) == len(SEEDS) and len(each.losses[0]) * EVERY == STEPS for each in figures.values())
    assert [int(depth) for depth in figures["bare"].gradients] == list(DEPTHS)
