"""Whether heads make training more stable: the kept figures, some of them trained again."""

import pytest

from attention_core.learned.training.head_counts import (
    HEAD_COUNTS,
    RATES,
    SEEDS,
    STABILITY,
    StabilityRow,
    chance_of_difference,
    train_once,
)


def test_a_kept_run_is_trained_again():
    for heads, rate, seed in ((1, 0.03, 1), (8, 0.3, 1), (2, 0.003, 7), (4, 0.03, 3)):
        assert train_once(heads, rate, seed) == pytest.approx(STABILITY.rows[heads, rate].right[seed], abs=0.02)


def test_every_number_of_heads_was_tried_at_every_rate_with_every_seed():
    rows = STABILITY.rows
    assert [*rows] == [(heads, rate) for heads in HEAD_COUNTS for rate in RATES]
    assert {len(row.right) for row in rows.values()} == {len(SEEDS)}


def test_the_sentence_holds_no_run_fails_at_the_lower_rates_and_fewer_with_8_heads_at_the_highest():
    failed = {key: sum(right < 0.9 for right in row.right) for key, row in STABILITY.rows.items()}
    assert all(count == 0 for (_, rate), count in failed.items() if rate < RATES[-1])
    assert failed[8, RATES[-1]] < failed[1, RATES[-1]]


def test_the_chance_of_a_difference_by_hand():
    # 5 seeds failed only with one head, 1 only with many: (1 + 6) of 64 ways on each side; that all fail tells nothing
    one, other = (1, 1, 1, 1, 1, 0, 1), (0, 0, 0, 0, 0, 1, 1)
    assert chance_of_difference(one, other) == chance_of_difference(other, one) == pytest.approx(2 * 7 / 64)
    assert chance_of_difference((1, 0), (0, 1)) == 1


def test_mean_and_spread_by_hand():
    row = StabilityRow(1, 0.3, (0.5, 1.0, 0.9))
    assert (row.mean, row.spread) == (pytest.approx(0.8), pytest.approx(0.07**0.5))
    assert row.failed == (True, False, False)
