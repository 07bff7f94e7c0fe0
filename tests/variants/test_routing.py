"""A router chooses the heads of each token: what is skipped is never computed, and the rest is attention's own."""

import pytest
import torch

from attention_core import AttentionConfig, AttentionError, Weights, attend
from attention_core.variants.cost import ProductCounter
from attention_core.variants.sparse import route_heads

HEADS, WIDTH = 3, 5


def run(tokens=7):
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(tokens, 11, generator=generator, dtype=torch.float64)
    drawn = [torch.randn(11, HEADS * WIDTH, generator=generator, dtype=torch.float64) for _ in range(3)]
    w_o = torch.randn(HEADS * WIDTH, 13, generator=generator, dtype=torch.float64)
    return attend(x, weights=Weights(*drawn, w_o), config=AttentionConfig(heads=HEADS))


def test_with_all_heads_it_is_the_layer_itself():
    trace = run()
    routed = route_heads(trace, HEADS)
    assert routed.chosen.all() and routed.computed == routed.pairs == HEADS * 49
    torch.testing.assert_close(routed.output, trace["output"][0])


@pytest.mark.parametrize("top", (1, 2))
def test_each_token_gets_its_largest_gates_by_loops(top):
    trace = run()
    routed = route_heads(trace, top)
    x, w_q, w_o = trace["x"][0], trace["w_q"], trace["w_o"]
    for t in range(7):
        gates = []
        for head in range(HEADS):
            lengths = [w_q[d, head * WIDTH : (head + 1) * WIDTH].square().sum().sqrt() for d in range(11)]
            gates.append(sum((abs(x[t, d]) * lengths[d]).item() for d in range(11)))
        best = sorted(range(HEADS), key=lambda head: -gates[head])[:top]
        assert routed.gates[t].tolist() == pytest.approx(gates)
        assert routed.chosen[t].nonzero().flatten().tolist() == sorted(best)
        expected = sum(trace["head_outputs"][0, head, t] @ w_o[head * WIDTH : (head + 1) * WIDTH] for head in best)
        torch.testing.assert_close(routed.output[t], expected)
    assert routed.computed == top * 49


def test_what_is_not_chosen_is_not_multiplied():
    trace = run(tokens=29)
    counts = []
    for top in (1, 2, 3):
        with ProductCounter() as products:
            route_heads(trace, top)
        counts.append(products.count)
    row = 29 * 29 * 2 * WIDTH + 29 * (11 + 13) * WIDTH  # scores, sums, and the query and the output of each token
    keys = 29 * 11 * 2 * WIDTH * HEADS  # keys and values of each head
    router = 29 * 11 * HEADS
    assert counts == [top * row + keys + router for top in (1, 2, 3)]


def test_a_token_that_no_head_wants_gets_none():
    x = torch.tensor([[1.0, 0.0], [0.0, 0.0]])
    square = torch.eye(2)
    trace = attend(x, weights=Weights(square, square, square, square), config=AttentionConfig(heads=2))
    routed = route_heads(trace, 1)
    assert routed.chosen.tolist() == [[True, False], [False, False]]
    assert routed.output[1].tolist() == [0, 0] and routed.computed == 2


def test_a_router_by_hand():
    w_q = torch.tensor([[3.0, 4.0, 0.0, 0.0], [0.0, 0.0, 5.0, 12.0]])
    trace = attend(torch.eye(2), weights=Weights(w_q, w_q, w_q), config=AttentionConfig(heads=2))
    assert route_heads(trace, 1).router.tolist() == [[5, 0], [0, 13]]


@pytest.mark.parametrize("top", (0, 4, 1.5))
def test_as_many_heads_as_there_are(top):
    with pytest.raises(AttentionError):
        route_heads(run(), top)
