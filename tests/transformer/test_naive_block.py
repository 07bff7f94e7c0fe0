"""A small block, RMS norms, RoPE-less, gated by SwiGLU: in pure Python, number by number, and the same here."""

import math

from attention_core import (
    AttentionConfig,
    FeedForwardConfig,
    FeedForwardWeights,
    LayerConfig,
    LayerWeights,
    StackConfig,
    StackWeights,
    Weights,
    run_stack,
)
from tests.transformer.parts import draws

T, D, H, D_HEAD, D_HIDDEN, EPS = 3, 5, 2, 3, 7, 1e-6
Vector = list[float]


def rms(x: Vector, gain: Vector) -> Vector:
    root = math.sqrt(sum(number * number for number in x) / len(x) + EPS)
    return [number / root * factor for number, factor in zip(x, gain, strict=True)]


def times(x: Vector, w: list[Vector]) -> Vector:
    return [sum(number * row[n] for number, row in zip(x, w, strict=True)) for n in range(len(w[0]))]


def plus(one: Vector, other: Vector) -> Vector:
    return [a + b for a, b in zip(one, other, strict=True)]


def attention_of(words: list[Vector], w: dict) -> list[Vector]:
    normed = [rms(x, w["g_rms_before"]) for x in words]
    q, k, v = ([times(x, w[name]) for x in normed] for name in ("w_q", "w_k", "w_v"))
    outputs = []
    for i in range(len(words)):
        side_by_side = []
        for h in range(H):
            own = slice(h * D_HEAD, (h + 1) * D_HEAD)
            scores = [sum(a * b for a, b in zip(q[i][own], k[j][own], strict=True)) for j in range(i + 1)]
            powers = [math.exp(score / math.sqrt(D_HEAD)) for score in scores]
            shares = [power / sum(powers) for power in powers]
            side_by_side += [sum(share * v[j][own][m] for j, share in enumerate(shares)) for m in range(D_HEAD)]
        outputs.append(plus(words[i], times(side_by_side, w["w_o"])))
    return outputs


def bent_of(x: Vector, w: dict) -> Vector:
    normed = rms(x, w["g_rms_before"])
    gate = [number / (1 + math.exp(-number)) for number in times(normed, w["w_gate"])]
    hidden = [a * b for a, b in zip(gate, times(normed, w["w_1"]), strict=True)]
    return plus(x, times(hidden, w["w_2"]))


def test_two_blocks_by_loops():
    draw = draws(11)
    norms = ["rms_norm_before"]
    shapes = {**dict.fromkeys(("w_q", "w_k", "w_v"), (D, H * D_HEAD)), "w_o": (H * D_HEAD, D), "g_rms_before": (D,)}
    bent = {"w_1": (D, D_HIDDEN), "w_gate": (D, D_HIDDEN), "w_2": (D_HIDDEN, D), "g_rms_before": (D,)}
    tensors = [[{name: draw(*shape) for name, shape in each.items()} for each in (shapes, bent)] for _ in range(2)]
    weights = [LayerWeights(Weights(**of), FeedForwardWeights(**and_bent)) for of, and_bent in tensors]
    attention = AttentionConfig(heads=H, masks=["causal"], modifiers=norms, residual=True)
    config = LayerConfig(attention, FeedForwardConfig("swiglu", norms, residual=True))
    x = draw(T, D)
    stack = run_stack(x, StackWeights(weights), StackConfig([config] * 2))

    words = x.tolist()
    for layer in tensors:
        of, and_bent = ({name: tensor.tolist() for name, tensor in each.items()} for each in layer)
        words = [bent_of(word, and_bent) for word in attention_of(words, of)]
    for i, word in enumerate(words):
        for m, number in enumerate(word):
            assert math.isclose(stack.end[0, i, m].item(), number, rel_tol=1e-10, abs_tol=1e-10)
