"""What lessons compute in the browser while a hand drags, against torch and the core."""

import pytest
import torch

from attention_core import AttentionConfig, Weights, attend_qkv
from tests.components.in_node import call_in_node

MATCH = "(score, q, k, learned) => MATCHES[score](q, k, learned)"
SHARES = "(logits, temperature) => Array.from(sharesOf(logits, { temperature }))"


def test_the_twin_shares_as_torch_does(generator):
    for temperature in (0.1, 1.0, 3.0):
        numbers = 4 * torch.randn(9, generator=generator, dtype=torch.float64)
        made = call_in_node("model/controls", SHARES, numbers.tolist(), temperature)
        torch.testing.assert_close(torch.tensor(made).double(), (numbers / temperature).softmax(0), rtol=0, atol=1e-7)


def test_the_twin_scores_arrows_as_torch_does(generator):
    made = {name: torch.randn(2, 2, generator=generator, dtype=torch.float64) for name in ("w_a", "w_aq", "w_ak")}
    made["v_a"] = torch.randn(2, generator=generator, dtype=torch.float64)
    sent = {name: matrix.tolist() for name, matrix in made.items()}
    learned = {
        "general": Weights(w_a=made["w_a"]),
        "additive": Weights(**{n: made[n] for n in ("w_aq", "w_ak", "v_a")}),
    }
    for q, k in [*torch.randn(5, 2, 2, generator=generator, dtype=torch.float64), torch.zeros(2, 2).double()]:
        for score in ("cosine", "scaled_dot", "dot", "general", "additive"):
            trace = attend_qkv(
                q[None], k[None], k[None], weights=learned.get(score), config=AttentionConfig(score=score)
            )
            own = call_in_node("lessons/match_twin", MATCH, score, q.tolist(), k.tolist(), sent)
            assert own == pytest.approx(trace["scaled_scores"].item(), abs=1e-12), score
