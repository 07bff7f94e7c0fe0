"""What a head reads of a vector, beside the null space that torch's singular values give."""

import torch

from attention_core import AttentionConfig, Weights, attend
from attention_core.analysis.head_circuits import take_unseen, with_sights


def run_of(kv_heads):
    rng = torch.Generator().manual_seed(3)
    sizes = {"x": (2, 3, 11), "w_q": (11, 8), "w_k": (11, 2 * kv_heads), "w_v": (11, 2 * kv_heads)}
    x, *weights = (torch.randn(*size, generator=rng, dtype=torch.float64) for size in sizes.values())
    layer = Weights(**dict(zip(("w_q", "w_k", "w_v"), weights, strict=True)))
    return with_sights(attend(x, weights=layer, config=AttentionConfig(heads=4, kv_heads=kv_heads)))


def test_what_a_head_reads_is_x_without_its_part_in_the_null_space_of_both_matrices():
    for kv_heads in (4, 2):
        run = run_of(kv_heads)
        for head in range(4):
            group = head * kv_heads // 4
            own = slice(2 * head, 2 * head + 2)
            both = torch.cat([run["w_q"][:, own], run["w_k"][:, 2 * group : 2 * group + 2]], dim=1)
            unseen = torch.linalg.svd(both, full_matrices=True).U[:, 4:]  # D − 2·d_k directions that both send to 0
            expected = run["x"] - run["x"] @ unseen @ unseen.mT
            torch.testing.assert_close(run[f"seen_{head + 1}"], expected, rtol=0, atol=1e-12)
            move = take_unseen(run, head)
            assert move.directions == 4 and move.taken > 0.1 and max(move.q, move.k) < 1e-12


def test_what_a_head_does_read_moves_its_query():
    run = run_of(4)
    seen = run["seen_1"]
    assert (seen @ run["w_q"][:, :2]).abs().max() > 0.1
    torch.testing.assert_close(seen @ run["w_q"][:, :2], run["q"][:, 0], rtol=0, atol=1e-12)
