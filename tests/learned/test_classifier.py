"""The classifier against plain loops: a text at a time, without padding."""

import math

import pytest
import torch

from attention_core.learned.models.classifier import CLASSIFIER_WIDTH, Classifier
from attention_core.learned.symbols import PAD
from attention_core.learned.tasks.texts import pad_rows

SYMBOLS, CLASSES = 11, 5
TEXTS = [[3, 7, 10, 1, 0, 3, 7], [2], [9, 9, 4]]
LABELS = [4, 0, 2]
TOLERANCE = 1e-10

every_number_of_heads = pytest.mark.parametrize("heads", [1, 2, 4])


def network(heads, seed=0):
    model = Classifier(SYMBOLS, CLASSES, heads, torch.Generator().manual_seed(seed)).double()
    with torch.no_grad():  # a bias that shows where it is left out
        model.b_o += torch.linspace(-1, 1, CLASSES).double()
    return model


# ---- plain loops -----------------------------------------------------------------------------------------------------
def plain_vectors(model, text):
    """Each symbol's vector plus that of the one before it; before the first there is one more."""
    before = [len(model.symbol.weight), *text[:-1]]
    return torch.stack(
        [model.symbol.weight[one] + model.before.weight[other] for one, other in zip(text, before, strict=True)]
    )


def plain_logits(model, text, off=(), weights=None):
    """Of one text. off: heads that bring nothing. weights: a list for each head in the place of the softmax's."""
    x, width = plain_vectors(model, text), CLASSIFIER_WIDTH // model.heads
    q, k, v = model.query[0] @ model.w_q, x @ model.w_k, x @ model.w_v
    logits = model.b_o
    for head in set(range(model.heads)) - set(off):
        columns = slice(width * head, width * (head + 1))
        powers = [math.exp((q[columns] @ row[columns]).item() / math.sqrt(width)) for row in k]
        own = weights[head] if weights else [power / sum(powers) for power in powers]
        logits = logits + sum(share * row[columns] for share, row in zip(own, v, strict=True)) @ model.w_o[columns]
    return logits


def gap(found, expected):
    return (found - torch.stack(expected)).abs().max().item()


# ---- against them ----------------------------------------------------------------------------------------------------
def test_a_places_vector_is_that_of_its_symbol_and_of_the_one_before():
    model = network(1)
    with torch.no_grad():
        vectors = model.vectors(pad_rows(TEXTS))
        for b, text in enumerate(TEXTS):
            assert torch.equal(vectors[b, : len(text)], plain_vectors(model, text))


@every_number_of_heads
def test_logits_are_those_of_plain_loops_without_padding(heads):
    model = network(heads)
    with torch.no_grad():
        trace = model.trace(pad_rows(TEXTS))
        assert trace["output"].shape == (3, 1, CLASSES)
        assert gap(trace["output"][:, 0], [plain_logits(model, text) for text in TEXTS]) < TOLERANCE
    for b, text in enumerate(TEXTS):
        assert (trace["weights"][b, ..., len(text) :] == 0).all()
        assert torch.allclose(trace["weights"][b].sum(-1), torch.ones(heads, 1).double())


@every_number_of_heads
def test_further_padding_changes_nothing(heads):
    model, texts = network(heads), pad_rows(TEXTS)
    with torch.no_grad():
        wider = model.trace(torch.nn.functional.pad(texts, (0, 5), value=PAD))["output"]
        assert torch.allclose(wider, model.trace(texts)["output"], atol=1e-14, rtol=0)


@every_number_of_heads
def test_the_loss_is_the_mean_surprise_of_the_right_class(heads):
    model = network(heads)
    with torch.no_grad():
        logits = [plain_logits(model, text) for text in TEXTS]
        costs = [math.log(sum(map(math.exp, row.tolist()))) - row[k] for row, k in zip(logits, LABELS, strict=True)]
        assert model.loss(pad_rows(TEXTS), torch.tensor(LABELS)).item() == pytest.approx(
            sum(costs).item() / 3, abs=TOLERANCE
        )


@every_number_of_heads
def test_every_parameter_moves_the_loss(heads):
    model = network(heads)
    model.loss(pad_rows(TEXTS), torch.tensor(LABELS)).backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad.abs().max() > 1e-5, name


# ---- heads switched off, weights exchanged ---------------------------------------------------------------------------
@pytest.mark.parametrize("off", [(0,), (3,), (1, 2), (0, 1, 2, 3)])
def test_a_head_that_is_off_brings_nothing(off):
    model = network(4)
    kept = torch.tensor([float(head not in off) for head in range(4)])
    with torch.no_grad():
        found = model.trace(pad_rows(TEXTS), switches=kept)["output"][:, 0]
        assert gap(found, [plain_logits(model, text, off) for text in TEXTS]) < TOLERANCE
        for head in off:
            model.w_o[4 * head : 4 * (head + 1)] = 0
        assert torch.equal(found, model.trace(pad_rows(TEXTS))["output"][:, 0])


@every_number_of_heads
def test_other_weights_stand_in_the_place_of_the_computed_ones(heads, generator):
    model = network(heads)
    drawn = [torch.rand(heads, len(text), generator=generator, dtype=torch.float64) for text in TEXTS]
    shares = [rows / rows.sum(-1, keepdim=True) for rows in drawn]
    given = torch.zeros(3, heads, 1, 7, dtype=torch.float64)
    for b, rows in enumerate(shares):
        given[b, :, 0, : rows.shape[1]] = rows
    with torch.no_grad():
        found = model.trace(pad_rows(TEXTS), replacement=given)["output"][:, 0]
        expected = [plain_logits(model, text, weights=own.tolist()) for text, own in zip(TEXTS, shares, strict=True)]
    assert gap(found, expected) < TOLERANCE
