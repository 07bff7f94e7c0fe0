"""Whether heads overfit less: the kept figures, some of them trained again."""

import pytest

from attention_core.learned.tasks import evidence
from attention_core.learned.training.head_counts import (
    HEAD_COUNTS,
    OVERFITTING,
    SEEDS,
    TEXT_COUNTS,
    chance_that_heads_are_alike,
    train_on_few,
)

ROWS = OVERFITTING.rows


@pytest.mark.slow
@pytest.mark.parametrize("heads, count, seed", [(1, 32, 0), (8, 64, 3)])
def test_a_kept_run_is_trained_again(heads, count, seed):
    seen, unseen = train_on_few(heads, count, seed)
    assert seen == pytest.approx(ROWS[heads, count].seen[seed], abs=0.02)
    assert unseen == pytest.approx(ROWS[heads, count].unseen[seed], abs=0.05)


def test_a_run_sees_its_few_texts_alone_and_is_asked_about_others():
    seen, unseen = train_on_few(1, 4, seed=0, steps=30)
    assert seen == 1.0 and unseen < 0.6
    texts, _ = evidence.held_out("lookup")
    assert len(texts) == evidence.MEASURED_TEXT_COUNT


def test_every_number_of_heads_was_tried_on_every_number_of_texts_with_every_seed():
    assert [*ROWS] == [(heads, count) for heads in HEAD_COUNTS for count in TEXT_COUNTS]
    assert {len(row.seen) for row in ROWS.values()} == {len(row.unseen) for row in ROWS.values()} == {len(SEEDS)}


def test_the_sentence_holds_all_overfit_on_few_texts_and_more_heads_do_not_overfit_less():
    for heads in HEAD_COUNTS:
        gaps = [ROWS[heads, count].gap for count in TEXT_COUNTS]
        assert gaps == sorted(gaps, reverse=True) and gaps[0] > 0.3 and gaps[-1] < 0.05
    for count in TEXT_COUNTS:
        one, most = ROWS[1, count], ROWS[HEAD_COUNTS[-1], count]
        assert chance_that_heads_are_alike(one.unseen, most.unseen) > 0.05
    assert ROWS[HEAD_COUNTS[-1], 64].gap > ROWS[1, 64].gap


def test_the_sign_test_by_hand():
    # of 5 seeds that differ 4 are better with many: (1 + 5) of 32 ways, on both sides
    assert chance_that_heads_are_alike((1, 1, 1, 1, 5, 3), (2, 2, 2, 2, 4, 3)) == pytest.approx(2 * 6 / 32)
