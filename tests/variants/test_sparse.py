"""Sparse attention: the numbers of the masked run, without the pairs that the pattern leaves out."""

import pytest
import torch
from torch import Tensor

from attention_core import AttentionConfig, AttentionError, attend_qkv
from attention_core.variants.sparse import (
    IN_VAIN_SHADE,
    KEPT_SHADE,
    SKIPPED_SHADE,
    LocalPattern,
    StridedPattern,
    attend_sparse,
    count_computed_pairs,
    count_multiply_adds,
    make_local_qkv,
    measure_savings,
    pattern_pairs,
    relative_error,
    work_map,
)
from tests.variants.test_blockwise_softmax import Largest

B, H, H_KV, D_K, D_V = 2, 6, 3, 5, 7
LENGTHS = [(11, 11), (13, 17), (17, 13), (2, 5), (5, 2), (3, 19), (19, 3)]  # T, S

PATTERNS = [
    *(LocalPattern(window, block, causal) for window in (0, 2, 19) for block in (1, 3, 64) for causal in (False, True)),
    *(StridedPattern(stride, causal) for stride in (1, 3, 23) for causal in (False, True)),
]


def numbers(*shape: int, seed: int) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def qkv(T: int, S: int) -> tuple[Tensor, Tensor, Tensor]:
    return numbers(B, H, T, D_K, seed=1), numbers(B, H_KV, S, D_K, seed=2), numbers(B, H_KV, S, D_V, seed=3)


def by_loops(pattern: LocalPattern | StridedPattern, T: int, S: int) -> Tensor:
    """The pattern pair by pair; query i stands at i + (S - T) where it is causal: the last one sees all keys."""
    allowed = torch.zeros(T, S, dtype=torch.bool)
    for i in range(T):
        place = i + S - T if pattern.causal else i
        for j in range(S):
            back = place - j
            near = abs(back) <= pattern.window if isinstance(pattern, LocalPattern) else back % pattern.stride == 0
            allowed[i, j] = near and (j <= place or not pattern.causal)
    return allowed


@pytest.mark.parametrize("pattern", PATTERNS, ids=str)
@pytest.mark.parametrize(("T", "S"), LENGTHS)
def test_the_numbers_are_those_of_the_masked_run(pattern, T, S):
    q, k, v = qkv(T, S)
    allowed = by_loops(pattern, T, S)
    assert torch.equal(pattern_pairs(pattern, T, S), allowed)
    found = attend_sparse(q, k, v, pattern)
    full = attend_qkv(q, k, v, allowed=allowed)
    torch.testing.assert_close(found.output, full["head_outputs"], rtol=0, atol=1e-12)
    assert found.kept == int(allowed.sum()) <= found.computed <= T * S
    assert found.multiply_adds == B * H * found.computed * (D_K + D_V)
    assert count_computed_pairs(pattern, T, S) == found.computed


@pytest.mark.parametrize(("T", "S"), LENGTHS)
@pytest.mark.parametrize("window", [0, 2, 19])
def test_local_is_the_mask_of_that_name(window, T, S):
    q, k, v = qkv(T, S)
    local, sliding = ("local", {"window": window}), ("sliding", {"window": window + 1})
    for masks, causal in (([local], False), (["causal", local], True), ([sliding], True)):
        named = attend_qkv(q, k, v, config=AttentionConfig(masks=masks))
        found = attend_sparse(q, k, v, LocalPattern(window, block=3, causal=causal))
        torch.testing.assert_close(found.output, named["head_outputs"], rtol=0, atol=1e-12)


def test_pairs_computed_by_hand():
    """Of 12 tokens. Strided by 4: four parts of 3 x 3. Local by 2: queries 0-3, 4-7 and 8-11 with keys 0-5, 2-9 and
    6-11."""
    q, k, v = qkv(12, 12)
    strided = attend_sparse(q, k, v, StridedPattern(4))
    assert (strided.computed, strided.kept) == (36, 36)
    local = attend_sparse(q, k, v, LocalPattern(2, block=4))
    assert (local.computed, local.kept) == (4 * 6 + 4 * 8 + 4 * 6, 12 * 5 - 2 * 3)
    one = attend_sparse(q, k, v, LocalPattern(2, block=1))
    assert one.computed == one.kept == local.kept
    causal = attend_sparse(q, k, v, LocalPattern(2, block=4, causal=True))
    assert (causal.computed, causal.kept) == (4 * 4 + 4 * 6 + 4 * 6, 12 * 3 - 3)
    assert local.multiply_adds == 80 * B * H * (D_K + D_V)
    assert count_multiply_adds(B * H * 144, D_K, D_V) == 144 * B * H * (D_K + D_V)  # all pairs


@pytest.mark.parametrize(
    ("pattern", "most"),
    [
        (LocalPattern(3, block=8), 8 * 14),
        (LocalPattern(3, block=8, causal=True), 8 * 11),
        (StridedPattern(10), 11 * 11),
    ],
    ids=str,
)
def test_no_tensor_has_all_pairs(pattern, most):
    q = numbers(1, 1, 101, 1, seed=1)
    with Largest() as largest:
        attend_sparse(q, q, q, pattern)
    assert largest.numbers == max(most, 101)  # the output itself has 101 numbers


def test_the_work_grows_with_the_length_and_not_with_its_square():
    computed = []
    for tokens in (256, 512, 1024):
        q = torch.zeros(tokens, 1)
        computed.append(attend_sparse(q, q, q, LocalPattern(16, block=32)).computed)
    assert computed[2] - computed[1] == 2 * (computed[1] - computed[0]) == 512 * (32 + 2 * 16)


def test_the_error_against_full_attention():
    """One query far from a heavy key misses it: the local output is the near value, the full one half of each."""
    q, k = torch.ones(3, 1, dtype=torch.float64), torch.zeros(3, 1, dtype=torch.float64)
    v = torch.tensor([[6.0], [0.0], [0.0]], dtype=torch.float64)
    full = attend_qkv(q, k, v)["head_outputs"]  # 2, 2, 2
    found = attend_sparse(q, k, v, LocalPattern(1))  # 3, 2, 0
    assert found.output.flatten().tolist() == pytest.approx([3, 2, 0])
    assert relative_error(found.output, full) == pytest.approx((5 / 12) ** 0.5)
    assert relative_error(full, full) == 0
    assert relative_error(torch.ones(4), torch.zeros(4)) == 2
    assert relative_error(attend_sparse(q, k, v, LocalPattern(2)).output, full) < 1e-15


@pytest.mark.parametrize("pattern", PATTERNS, ids=str)
def test_the_map_of_the_work_is_what_is_computed(pattern):
    drawn = work_map(pattern, 13, 17)
    assert torch.equal(drawn == KEPT_SHADE, by_loops(pattern, 13, 17))
    assert int((drawn != SKIPPED_SHADE).sum()) == count_computed_pairs(pattern, 13, 17)
    assert int((drawn == IN_VAIN_SHADE).sum()) == int(((drawn != KEPT_SHADE) & (drawn != SKIPPED_SHADE)).sum())


def test_what_skipping_saves_and_costs():
    q, k, v = qkv(12, 12)
    found = measure_savings(q, k, v, LocalPattern(2, block=4))
    full, sparse = attend_qkv(q, k, v)["head_outputs"], attend_sparse(q, k, v, LocalPattern(2, block=4)).output
    assert (found.kept, found.computed, found.pairs) == (54, 80, 144)
    assert found.multiply_adds == 80 * B * H * (D_K + D_V)
    assert found.all_multiply_adds == 144 * B * H * (D_K + D_V)
    assert found.error == pytest.approx(((sparse - full).norm() / full.norm()).item())


def test_where_near_pairs_match_a_window_loses_little_and_random_ones_much():
    near = make_local_qkv(256, 64)
    scores = attend_qkv(*near)["scores"][0, 0]
    distance = (torch.arange(256)[:, None] - torch.arange(256)).abs()
    assert scores[distance <= 2].min() > scores[distance > 2].max()
    assert scores[distance <= 8].min() > scores[distance > 32].max()
    q = numbers(256, 64, seed=1).float()
    random = q, numbers(256, 64, seed=2).float(), numbers(256, 64, seed=3).float()
    assert measure_savings(*near, LocalPattern(32)).error < 0.05 < 1 < measure_savings(*random, LocalPattern(32)).error


def test_two_axes_do_as_well():
    q, k, v = (numbers(5, 3, seed=seed) for seed in (1, 2, 3))
    found = attend_sparse(q, k, v, StridedPattern(2))
    assert found.output.shape == (1, 1, 5, 3)
    allowed = by_loops(StridedPattern(2), 5, 5)
    torch.testing.assert_close(found.output, attend_qkv(q, k, v, allowed=allowed)["head_outputs"], rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("error", "call"),
    [
        ("not_negative", lambda: LocalPattern(-1)),
        ("positive_integer", lambda: LocalPattern(1, block=0)),
        ("positive_integer", lambda: StridedPattern(0)),
        (
            "widths_differ",
            lambda: attend_sparse(torch.ones(2, 3), torch.ones(2, 5), torch.ones(2, 5), StridedPattern(2)),
        ),
    ],
)
def test_what_is_refused(error, call):
    with pytest.raises(AttentionError) as caught:
        call()
    assert caught.value.code == error
