"""Composition scores of heads, against naive loops."""

import math

import pytest
import torch

from attention_core import AttentionConfig, AttentionError, Weights
from attention_core.analysis.head_composition import compose, composition_scores
from attention_core.verification.proof import prove

H, WIDTH = 3, 5
D = H * WIDTH


def drawn(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def layer(seed):
    return Weights(**{name: drawn(D, D, seed=seed + n) for n, name in enumerate(("w_q", "w_k", "w_v", "w_o"))})


def product(left, right):
    inner = range(len(right))
    return [[sum(row[k] * right[k][j] for k in inner) for j in range(len(right[0]))] for row in left]


def norm(matrix):
    return math.sqrt(sum(number**2 for row in matrix for number in row))


def turned(matrix):
    return [list(column) for column in zip(*matrix, strict=True)]


def own(matrix, h):
    return matrix[:, h * WIDTH : (h + 1) * WIDTH].tolist()


def test_each_score_is_what_a_naive_loop_gives():
    first, second = layer(1), layer(11)
    scores = composition_scores(first, second, heads=H)
    for later in range(H):
        asks = product(own(second.w_q, later), turned(own(second.w_k, later)))
        passes_on = product(own(second.w_v, later), second.w_o[later * WIDTH : (later + 1) * WIDTH].tolist())
        for earlier in range(H):
            writes = product(own(first.w_v, earlier), first.w_o[earlier * WIDTH : (earlier + 1) * WIDTH].tolist())
            for name, reads in (("q", asks), ("k", turned(asks)), ("v", passes_on)):
                expected = norm(product(writes, reads)) / (norm(writes) * norm(reads))
                assert float(scores[name][later, earlier]) == pytest.approx(expected, abs=1e-10), name


def test_heads_that_share_keys_and_values_are_as_if_each_had_its_own():
    """Narrower than D, too: D is 15, the heads together are 6 wide, two of them share keys and values of width 3."""
    heads, d_k, d_v = 2, 3, 5
    shapes = {"w_q": (D, heads * d_k), "w_k": (D, d_k), "w_v": (D, d_v), "w_o": (heads * d_v, D)}
    layers = [
        Weights(**{name: drawn(*shape, seed=seed + n) for n, (name, shape) in enumerate(shapes.items())})
        for seed in (1, 11)
    ]
    scores = composition_scores(*layers, heads=heads, kv_heads=1)
    first, second = layers
    passes_on = [product(second.w_v.tolist(), second.w_o[h * d_v : (h + 1) * d_v].tolist()) for h in range(heads)]
    writes = [product(first.w_v.tolist(), first.w_o[h * d_v : (h + 1) * d_v].tolist()) for h in range(heads)]
    for later in range(heads):
        asks = product(second.w_q[:, later * d_k : (later + 1) * d_k].tolist(), turned(second.w_k.tolist()))
        for earlier in range(heads):
            for name, reads in (("q", asks), ("k", turned(asks)), ("v", passes_on[later])):
                expected = norm(product(writes[earlier], reads)) / (norm(writes[earlier]) * norm(reads))
                assert float(scores[name][later, earlier]) == pytest.approx(expected, abs=1e-10), name


def test_each_head_of_every_earlier_layer_has_a_score_with_a_later_head():
    """D is 11; layers of 2 and 3 heads, each with keys of width 3 and values of width 5, none shared."""
    sizes, D = (2, 3), 11

    def of(heads: int, seed: int) -> tuple[Weights, AttentionConfig]:
        shapes = {"w_q": (D, heads * 3), "w_k": (D, heads * 3), "w_v": (D, heads * 5), "w_o": (heads * 5, D)}
        drawn_ones = {name: drawn(*shape, seed=seed + n) for n, (name, shape) in enumerate(shapes.items())}
        return Weights(**drawn_ones), AttentionConfig(heads=heads)

    earlier, (later, config) = [of(heads, 20 * heads) for heads in sizes], of(2, 90)
    traces = compose(earlier, (later, config), head=1)
    asks = product(later.w_q[:, 3:].tolist(), turned(later.w_k[:, 3:].tolist()))
    passes_on = product(later.w_v[:, 5:].tolist(), later.w_o[5:].tolist())
    writes = [
        product(weights.w_v[:, 5 * h : 5 * h + 5].tolist(), weights.w_o[5 * h : 5 * h + 5].tolist())
        for weights, own in earlier
        for h in range(own.heads)
    ]
    for name, reads in (("q", asks), ("k", turned(asks)), ("v", passes_on)):
        expected = [norm(product(written, reads)) / (norm(written) * norm(reads)) for written in writes]
        assert traces[name]["composition"].tolist() == pytest.approx(expected, abs=1e-10), name
        assert traces[name]["written_size"].tolist() == pytest.approx([norm(each) for each in writes], abs=1e-9)
        assert prove(traces[name]).passed


def test_what_a_head_never_reads_has_no_score():
    first, second = layer(1), layer(11)
    reads = torch.diag(torch.arange(D) >= WIDTH).double()  # its keys see all but the first numbers
    writes = torch.diag(torch.arange(D) < WIDTH).double()
    first = Weights(w_q=first.w_q, w_k=first.w_k, w_v=first.w_v, w_o=first.w_o @ writes)
    second = Weights(w_q=second.w_q, w_k=reads @ second.w_k, w_v=second.w_v, w_o=second.w_o)
    scores = composition_scores(first, second, heads=H)
    assert scores["k"].abs().max() < 1e-15 and scores["q"].min() > 0.1


def test_a_matrix_that_is_missing_or_does_not_fit_is_refused():
    whole = layer(1)
    with pytest.raises(AttentionError, match="w_o"):
        composition_scores(Weights(w_q=whole.w_q, w_k=whole.w_k, w_v=whole.w_v), whole, heads=H)
    with pytest.raises(AttentionError, match="w_v"):
        composition_scores(whole, Weights(**{**whole.given(), "w_v": drawn(D, D + 1)}), heads=H)
    with pytest.raises(AttentionError, match="w_q"):
        composition_scores(whole, whole, heads=4)
