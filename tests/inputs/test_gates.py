"""The additive score's layer that is built by hand: what opens which unit, worked out for each pair of numbers."""

import math

import pytest
import torch

from attention_core import AttentionConfig, Weights, attend
from attention_core.inputs.handmade_heads import build_gates

WIDTH = 3


def scores_of(x, h):
    """The score of a state and a source word of WIDTH numbers each, and its hidden layer."""
    built = {name: torch.from_numpy(matrix) for name, matrix in build_gates(WIDTH).items()}
    built |= {name: built[name][0] for name in ("b_q", "v_a")}
    x, h = (torch.tensor([numbers], dtype=torch.float64) for numbers in (x, h))
    trace = attend(x, h, weights=Weights(**built), config=AttentionConfig("additive"))
    return trace["scores"].item(), trace["hidden"][0, 0, 0, 0].tolist()


@pytest.mark.parametrize("asks", [-2, -1, 0, 1, 2])
@pytest.mark.parametrize("has", [-1, 0, 1])
def test_a_unit_opens_only_where_the_query_asks_for_what_the_key_has(asks, has):
    score, hidden = scores_of((0, asks, 0), (0, has, 0))
    wanted = [math.tanh(4 * (sign * asks - 3.5) + 12 * sign * has) for sign in (1, -1)]
    assert [hidden[1], hidden[1 + WIDTH]] == pytest.approx(wanted, abs=1e-14)
    match = asks * has > 0
    assert [unit > 0 for unit in hidden] == [match and at == (1 if has > 0 else 1 + WIDTH) for at in range(6)]
    assert all(abs(unit) > 0.96 for unit in hidden)  # open or closed, never between
    assert score == pytest.approx(2 * sum(hidden), abs=1e-12)


def test_what_is_asked_for_lifts_one_score_above_all_others():
    found, other = scores_of((1, 0, 0), (1, 0, 0))[0], scores_of((1, 0, 0), (0, 1, 0))[0]
    assert found == pytest.approx(2 * sum(map(math.tanh, (2, -14, -14, -30, -14, -14))), abs=1e-12)
    assert other == pytest.approx(2 * sum(map(math.tanh, (-10, -2, -14, -18, -26, -14))), abs=1e-12)
    assert found - other > 3.85
    opposite = scores_of((-1, 0, 0), (-1, 0, 0))[0]
    assert opposite == pytest.approx(found, abs=1e-12)  # which no layer without a bias could give
