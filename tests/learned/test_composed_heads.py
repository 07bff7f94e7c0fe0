"""The previous-word head and the induction head composed, beside the network's own matrices."""

import pytest
import torch

from attention_core.learned.insight.copying_heads import compose_heads, composition_trace, finds_itself
from attention_core.learned.training.shipped_networks import load_network

WIDTH = 16  # of a head


@pytest.fixture
def network():
    return load_network("copy_two", 500)


def own_scores(network, first, second, distance=0):
    """What each symbol asks through what a head of layer 1 wrote, the key so far behind, by plain torch."""
    model = network.exact_model
    one, two = slice(first * WIDTH, (first + 1) * WIDTH), slice(second * WIDTH, (second + 1) * WIDTH)
    x = model.read.weight if hasattr(model.read, "weight") else model.read(torch.arange(62))
    layer, last = model.layers
    written = x @ layer.w_v[:, one] @ layer.w_o[one]
    q, k = x @ last.w_q[:, two], written @ last.w_k[:, two]
    return (turned(q, distance) @ k.T / 4).detach()


def turned(x, places):
    """RoPE: neighbours turn together, by places / 10000^(2m/d)."""
    angles = places / 10000 ** (torch.arange(0, WIDTH, 2, dtype=torch.float64) / WIDTH)
    one, other = x[..., ::2], x[..., 1::2]
    pairs = (one * angles.cos() - other * angles.sin(), one * angles.sin() + other * angles.cos())
    return torch.stack(pairs, -1).flatten(-2)


@pytest.mark.parametrize(("name", "head"), [("L1H1", 0), ("L1H2", 1)])
def test_the_composed_scores_are_products_of_the_matrices(network, name, head):
    trace = compose_heads(network, "cab7c", name)
    assert trace.labels["T"] == tuple("cab7")
    places = [2, 0, 1, 59]
    for second in range(2):
        expected = own_scores(network, head, second)[places][:, places]
        assert trace["scaled_scores"][0, second] == pytest.approx(expected, abs=1e-10)


def test_most_symbols_ask_for_the_place_that_comes_after_themselves(network):
    for second, most in ((0, 57), (1, 54)):
        found = finds_itself(network, "L1H1", f"L2H{second + 1}")
        scores = own_scores(network, 0, second)
        expected = [int(scores[n].argmax()) == n for n in range(62)]
        assert found.tolist() == expected and sum(expected) == most
        assert not finds_itself(network, "itself", f"L2H{second + 1}").any()


def test_the_turns_of_rope_do_not_hide_it(network):
    """The map leaves positions out: at the distances of a repetition it is clearer still."""
    for distance in (10, 15, 23):
        scores = own_scores(network, 0, 0, distance)
        assert (scores.argmax(-1) == torch.arange(62)).sum() >= 59


def test_before_the_first_step_nothing_is_found():
    assert finds_itself(load_network("copy_two", 0), "L1H1", "L2H1").sum() <= 4


def test_only_keys_read_more_than_matrices_drawn_at_random(network):
    trained, drawn = composition_trace(network), composition_trace(load_network("copy_two", 0))
    assert trained["k_composition"].min() > drawn["k_composition"].max() + 0.05
    for name in ("q_composition", "v_composition"):
        assert trained[name].max() < drawn[name].min()
    assert trained.labels == {"later": ("L2H1", "L2H2"), "earlier": ("L1H1", "L1H2")}
