"""Names recorded masks and biases; the tensors are made by naive loops."""

import pytest
import torch

from attention_core.checkpoints.named_biases import BucketTable, name_bias
from attention_core.checkpoints.named_masks import name_masks

T, S = 5, 7
ENDS = ("padding", {"lengths": (5, 6)})


def looped(allows, T: int = S, S: int = S, B: int = 1) -> torch.Tensor:
    """(B, 1, T, S), True where `allows(b, i, j)`."""
    rows = [[[allows(b, i, j) for j in range(S)] for i in range(T)] for b in range(B)]
    return torch.tensor(rows)[:, None]


@pytest.mark.parametrize(
    "allows, window, expected",
    [
        (lambda b, i, j: j <= i, None, [("causal", {})]),
        (lambda b, i, j: i - 3 < j <= i, None, [("sliding", {"window": 3})]),
        (lambda b, i, j: i - 3 < j <= i, 3, [("sliding", {"window": 3})]),
        (lambda b, i, j: abs(i - j) <= 2, None, [("local", {"window": 2})]),
        (lambda b, i, j: abs(i - j) <= 2, 4, [("local", {"window": 2})]),
        (lambda b, i, j: j < (7, 4)[b], None, [("padding", {"lengths": (7, 4)})]),
        (lambda b, i, j: j <= i and j < (5, 6)[b], None, [("causal", {}), ENDS]),
        (
            lambda b, i, j: i - 2 < j <= i and j < (5, 6)[b],
            2,
            [("sliding", {"window": 2}), ("padding", {"lengths": (5, 6)})],
        ),
        (lambda b, i, j: j <= i and j >= 2, None, None),  # padding on the left
        (lambda b, i, j: i // 3 == j // 3, None, None),  # chunks
        (lambda b, i, j: j <= i and (i, j) != (4, 1), None, None),
        (lambda b, i, j: (i - 2 < j < i + 2 and j != i + 1) or j < 2, None, None),
    ],
)
def test_a_mask_is_named_only_if_each_pair_is_the_same(allows, window, expected):
    B = 2 if expected and "padding" in dict(expected) else 1
    assert name_masks(looped(allows, B=B), (B, 2, S, S), window) == expected


def test_the_last_query_stands_at_the_last_key():
    later = looped(lambda b, i, j: j <= i + S - T, T=T)
    assert name_masks(later, (1, 1, T, S), None) == [("causal", {})]
    assert name_masks(looped(lambda b, i, j: j <= i, T=T), (1, 1, T, S), None) is None


def bias_of(value, H: int = 2) -> torch.Tensor:
    """(1, H, S, S), float64, of `value(h, i, j)`."""
    rows = [[[float(value(h, i, j)) for j in range(S)] for i in range(S)] for h in range(H)]
    return torch.tensor(rows, dtype=torch.float64)[None]


EVERYWHERE = torch.ones(1, 2, S, S, dtype=torch.bool)
PAST = EVERYWHERE.tril()


@pytest.mark.parametrize(
    "value, allowed, kind",
    [
        (lambda h, i, j: -(0.5, 0.25)[h] * abs(i - j), EVERYWHERE, "alibi"),
        (lambda h, i, j: (0.5, 0.25)[h] * j, PAST, "alibi"),  # as BLOOM adds it
        (lambda h, i, j: (0.5, 0.25)[h] * j, EVERYWHERE, None),
        (lambda h, i, j: (1 + h) * (3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9)[j - i + S - 1], EVERYWHERE, "clipped"),
        (lambda h, i, j: (3 * i + 5 * j * j + h) % 11, EVERYWHERE, None),
    ],
)
def test_a_bias_is_named_where_it_adds_the_same(value, allowed, kind):
    named = name_bias(bias_of(value), allowed)
    assert (named and named.position[0]) == kind
    if kind == "alibi":
        assert named.position[1]["slopes"] == (0.5, 0.25)
    if kind == "clipped":
        assert named.learned["w_clipped"][:, 1].tolist() == [2.0 * n for n in (3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9)]


def test_a_table_of_buckets_is_found_in_the_model():
    table = torch.randn(8, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(2))

    def bucket(distance: int) -> int:  # T5's, both directions, 4 a side, all from 2 on share up to 6
        side, away = (4 if distance > 0 else 0), abs(distance)
        return side + (away if away < 2 else min(3, 2 + int((away / 2) >= 3**0.5)))

    named = name_bias(bias_of(lambda h, i, j: table[bucket(j - i), h]), EVERYWHERE, [BucketTable(table, 6)])
    assert named.position == ("t5", {"direction": "both", "farthest": 6})
    assert torch.equal(named.learned["w_buckets"], table)


@pytest.mark.parametrize(("rows", "farthest"), [(32, 1), (8, 2), (2, 6), (7, 6)])
def test_a_table_of_buckets_that_the_core_has_not_is_left_alone(rows: int, farthest: int):
    table = torch.randn(rows, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(2))
    bias = bias_of(lambda h, i, j: table[i * j % rows, h])
    assert name_bias(bias, EVERYWHERE, [BucketTable(table, farthest)]) is None
