"""The copier against plain loops: each head's attention number by number, RoPE as turns in the complex plane."""

import cmath
import math

import pytest
import torch

from attention_core.learned.models.copier import Copier

SYMBOLS, HEAD = 13, 16
TEXTS = [[3, 7, 11, 1, 0, 3, 7], [12, 5, 2, 9, 8, 12, 5]]
HALVES = [[3, 7, 11, 1, 0, 3, 7, 11, 1, 0], [12, 5, 2, 9, 8, 12, 5, 2, 9, 8]]
TOLERANCE = 1e-10

every_depth = pytest.mark.parametrize("layers", [1, 2])


def network(layers, seed=0):
    return Copier(SYMBOLS, layers, torch.Generator().manual_seed(seed)).double()


# ---- plain loops -----------------------------------------------------------------------------------------------------
def turned(numbers, place):
    """Neighbours as one complex number each, turned by an angle that grows with the place (Su et al. 2021)."""
    pairs = [complex(*numbers[2 * i : 2 * i + 2]) for i in range(HEAD // 2)]
    return [pair * cmath.exp(1j * place / 10000 ** (2 * i / HEAD)) for i, pair in enumerate(pairs)]


def product(q, k):
    """The dot product of two vectors of pairs."""
    return sum((a * b.conjugate()).real for a, b in zip(q, k, strict=True))


def plain_head(q, k, v):
    """One head, each place looking back to itself and before: lists of T rows of 16 numbers."""
    rows = []
    for t in range(len(q)):
        asked = turned(q[t], t)
        powers = [math.exp(product(asked, turned(k[s], s)) / math.sqrt(HEAD)) for s in range(t + 1)]
        rows.append([sum(p / sum(powers) * v[s][m] for s, p in enumerate(powers)) for m in range(HEAD)])
    return rows


def plain_layers(model, text, off=()):
    """x before each layer and behind the last (T, 32). off: pairs of a layer and a head that bring nothing."""
    x = torch.stack([model.read.weight[number] for number in text])
    seen = [x]
    for number, layer in enumerate(model.layers):
        q, k, v = (x @ w for w in (layer.w_q, layer.w_k, layer.w_v))
        for head in range(2):
            if (number, head) in off:
                continue
            columns = slice(HEAD * head, HEAD * (head + 1))
            rows = torch.tensor(plain_head(*(part[:, columns].tolist() for part in (q, k, v))), dtype=torch.float64)
            x = x + rows @ layer.w_o[columns]
        seen.append(x)
    return seen


# ---- against them ----------------------------------------------------------------------------------------------------
@every_depth
def test_logits_are_those_of_plain_loops(layers):
    model = network(layers)
    with torch.no_grad():
        found = model.logits(torch.tensor(TEXTS))
        for b, text in enumerate(TEXTS):
            expected = plain_layers(model, text)[-1] @ model.out
            assert torch.allclose(found[b], expected, atol=TOLERANCE, rtol=0)


def test_each_layer_is_given_the_sum_of_what_came_before_it():
    model = network(2)
    with torch.no_grad():
        runs = model.traces(torch.tensor(TEXTS))
        for b, text in enumerate(TEXTS):
            first, second, last = plain_layers(model, text)
            assert torch.allclose(runs[0]["x"][b], first, atol=TOLERANCE, rtol=0)
            assert torch.allclose(runs[1]["x"][b], second, atol=TOLERANCE, rtol=0)
            assert torch.allclose(runs[1]["x"][b] + runs[1]["output"][b], last, atol=TOLERANCE, rtol=0)


@every_depth
def test_the_loss_counts_the_second_half_alone(layers):
    """From the second repeated symbol on: that the first comes again nobody can know."""
    model = network(layers)
    costs = []
    with torch.no_grad():
        for text in HALVES:
            logits = plain_layers(model, text)[-1] @ model.out
            costs += [torch.log(torch.exp(logits[t]).sum()) - logits[t, text[t + 1]] for t in range(5, 9)]
        assert len(costs) == 2 * 4
        assert model.loss(torch.tensor(HALVES)).item() == pytest.approx(sum(costs).item() / 8, abs=TOLERANCE)


def test_a_symbol_is_not_told_what_comes_later():
    model, text = network(2), torch.tensor(TEXTS)
    other = text.clone()
    other[:, 4:] = 6
    with torch.no_grad():
        one, changed = model.logits(text), model.logits(other)
    assert torch.equal(one[:, :4], changed[:, :4]) and not torch.equal(one[:, 4], changed[:, 4])


# ---- heads that are switched off -------------------------------------------------------------------------------------
@pytest.mark.parametrize("off", [[(0, 0)], [(0, 1)], [(1, 0)], [(1, 1)], [(0, 1), (1, 0)], [(1, 0), (1, 1)]])
def test_a_head_that_is_off_brings_nothing(off):
    model, kept = network(2), torch.ones(2, 2)
    for layer, head in off:
        kept[layer, head] = 0
    with torch.no_grad():
        found = model.logits(torch.tensor(TEXTS), kept)
        for b, text in enumerate(TEXTS):
            expected = plain_layers(model, text, off)[-1] @ model.out
            assert torch.allclose(found[b], expected, atol=TOLERANCE, rtol=0)
        for layer, head in off:
            model.layers[layer].w_o[HEAD * head : HEAD * (head + 1)] = 0
        assert torch.equal(found, model.logits(torch.tensor(TEXTS)))


def test_all_heads_on_is_the_network_itself():
    model = network(2)
    with torch.no_grad():
        assert torch.equal(model.logits(torch.tensor(TEXTS), torch.ones(2, 2)), model.logits(torch.tensor(TEXTS)))
