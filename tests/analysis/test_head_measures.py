"""What the heads of a sentence do, as numbers, beside naive loops."""

import math

import pytest
import torch

from attention_core.analysis.head_measures import MEASURES, measure_head_maps
from attention_core.record.errors import AttentionError

IDS = (3, 5, 3, 7, 3, 5, 2)


def draw_weights(causal, *heads):
    rng = torch.Generator().manual_seed(11)
    scores = torch.randn(*heads, 7, 7, generator=rng, dtype=torch.float64)
    allowed = torch.ones(7, 7).tril() > 0 if causal else torch.ones(7, 7) > 0
    return scores.masked_fill(~allowed, -math.inf).softmax(-1), allowed


def measure_by_loop(weights, allowed, name):
    """One measure of one head, query by query."""
    found = []
    for t, row in enumerate(weights.tolist()):
        keys = [s for s in range(7) if allowed[t, s]]
        meant = {
            "previous": [t - 1] if t > 0 else [],
            "same": [t],
            "first": [0] if t > 0 else [],
            "earlier": [s for s in range(t) if IDS[s] == IDS[t]],
        }.get(name)
        if len(keys) == 1 or meant == []:
            continue
        if meant:
            found.append(sum(row[s] for s in meant))
            continue
        bits = -sum(row[s] * math.log2(row[s]) for s in keys)
        found.append(bits / math.log2(len(keys)) if name == "evenness" else bits)
    return sum(found) / len(found)


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("name", MEASURES)
def test_each_measure_is_that_of_a_loop(name, causal):
    weights, allowed = draw_weights(causal, 2, 3)
    found = measure_head_maps(weights, IDS)[name]
    expected = [[measure_by_loop(head, allowed, name) for head in layer] for layer in weights]
    assert found.tolist() == [pytest.approx(row) for row in expected]


def test_weights_of_one_layer_are_measured_as_those_of_all():
    weights, allowed = draw_weights(True, 3)
    found = measure_head_maps(weights, IDS, allowed)
    for name, each in measure_head_maps(weights[None], IDS, allowed).items():
        assert torch.equal(found[name], each[0])


def test_an_even_head_is_even_and_a_sure_one_has_no_entropy():
    heads = torch.stack([torch.full((5, 5), 0.2), torch.eye(5)])
    found = measure_head_maps(heads)
    assert found["evenness"].tolist() == pytest.approx([1, 0])
    assert found["entropy"].tolist() == pytest.approx([math.log2(5), 0])
    assert found["same"].tolist() == pytest.approx([0.2, 1])


def test_a_measure_that_no_query_counts_for_is_no_number():
    assert math.isnan(measure_head_maps(torch.full((3, 3), 1 / 3), (1, 2, 3))["earlier"])
    assert all(math.isnan(each) for each in measure_head_maps(torch.eye(1)).values())


@pytest.mark.parametrize(
    ("weights", "more", "told"),
    [
        (torch.ones(2, 3), {}, "weights must be"),
        (torch.eye(3), {"token_ids": (1, 2)}, "token_ids must be"),
        (torch.eye(3), {"allowed": torch.ones(2, 2) > 0}, "allowed must be"),
    ],
)
def test_what_does_not_fit_is_refused(weights, more, told):
    with pytest.raises(AttentionError, match=told):
        measure_head_maps(weights, **more)
