"""How far rows of weights lie apart: by hand, by loops over Python's numbers, and by torch's own kl_div."""

import math

import pytest
import torch

from attention_core import AttentionConfig, attend_qkv
from attention_core.comparison.distances import kl_divergence, total_variation

B, H, T, S = 2, 3, 5, 7


def rows(generator, shape=(B, H, T, S)):
    """Weights of which some are exactly 0."""
    scores = torch.randn(shape, generator=generator, dtype=torch.float64)
    return scores.masked_fill(scores < -1, -torch.inf).softmax(-1)


def loop_tv(p, q):
    return sum(abs(a - b) for a, b in zip(p, q, strict=True)) / 2


def loop_kl(p, q):
    if any(a > 0 and b == 0 for a, b in zip(p, q, strict=True)):
        return math.inf
    return sum(a * math.log(a / b) for a, b in zip(p, q, strict=True) if a > 0) - sum(p) + sum(q)


def test_by_hand():
    p, q = torch.tensor([0.5, 0.25, 0.25]).double(), torch.tensor([0.25, 0.25, 0.5]).double()
    assert total_variation(p, q).item() == 0.25
    # 1/2 ln 2 + 0 + 1/4 ln 1/2 = 1/4 ln 2
    assert kl_divergence(p, q).item() == pytest.approx(math.log(2) / 4, abs=1e-15)
    # 1/4 ln 1/2 + 0 + 1/2 ln 2: of this pair both directions are alike, of the next they are not
    assert kl_divergence(q, p).item() == pytest.approx(math.log(2) / 4, abs=1e-15)
    sure, even = torch.tensor([1.0, 0.0]).double(), torch.tensor([0.5, 0.5]).double()
    assert kl_divergence(sure, even).item() == pytest.approx(math.log(2), abs=1e-15)
    assert kl_divergence(even, sure).item() == math.inf  # even expects nothing where sure has nothing
    assert total_variation(sure, even).item() == total_variation(even, sure).item() == 0.5
    assert total_variation(sure, sure.flip(0)).item() == 1.0


def test_by_loops(generator):
    p, q = rows(generator), rows(generator)
    for place in torch.cartesian_prod(*map(torch.arange, (B, H, T))).tolist():
        mine, theirs = p[tuple(place)].tolist(), q[tuple(place)].tolist()
        assert total_variation(p, q)[tuple(place)].item() == pytest.approx(loop_tv(mine, theirs), abs=1e-14)
        assert kl_divergence(p, q)[tuple(place)].item() == pytest.approx(loop_kl(mine, theirs), abs=1e-13)
    assert kl_divergence(p, q).isinf().any() and kl_divergence(p, q).isfinite().any()


def test_by_torch(generator):
    p, q = (torch.randn(T, S, generator=generator, dtype=torch.float64).softmax(-1) for _ in range(2))
    expected = torch.nn.functional.kl_div(q.log(), p, reduction="none").sum(-1)
    torch.testing.assert_close(kl_divergence(p, q), expected, rtol=0, atol=1e-13)


def test_a_row_with_itself_and_blocked_rows_give_0(generator):
    p = rows(generator)
    assert (total_variation(p, p) == 0).all() and (kl_divergence(p, p) == 0).all()
    blocked = torch.zeros(S, dtype=torch.float64)
    assert total_variation(blocked, blocked).item() == kl_divergence(blocked, blocked).item() == 0


def test_a_row_that_one_run_blocks_alone():
    even, blocked = torch.full((4,), 0.25).double(), torch.zeros(4).double()
    assert kl_divergence(even, blocked).item() == math.inf
    assert kl_divergence(blocked, even).item() == 1.0  # nothing was spent, everything expected
    assert total_variation(even, blocked).item() == 0.5


def test_rows_that_do_not_sum_to_1_are_never_below_0():
    chosen, even = (torch.tensor(row, dtype=torch.float64) for row in ([0.1, 0.1], [0.5, 0.5]))
    assert kl_divergence(chosen, even).item() == pytest.approx(0.2 * math.log(0.2) + 0.8, abs=1e-15)
    assert kl_divergence(even, 2 * even).item() == pytest.approx(1 - math.log(2), abs=1e-15)


def test_a_causal_mask_is_infinitely_surprising_to_who_attends_ahead(generator):
    q, k = (torch.randn(T, 4, generator=generator, dtype=torch.float64) for _ in range(2))
    free, causal = (attend_qkv(q, k, k, config=AttentionConfig(masks=masks))["weights"] for masks in ([], ["causal"]))
    assert kl_divergence(free, causal)[0, 0].isinf().tolist() == [True] * (T - 1) + [False]
    assert kl_divergence(causal, free).isfinite().all()
