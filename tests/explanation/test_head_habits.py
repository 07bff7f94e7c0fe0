"""What a head does, from its map: each map here was made so that one rule holds."""

import pytest
import torch

from attention_core import AttentionConfig, Trace, Weights, attend, attend_qkv
from attention_core.explanation.head_habits import HeadHabit, head_habit, list_row_facts
from attention_core.record.trace import RandomParts
from tests.explanation.test_facts import written


def looking(*keys: int | None, masks=()) -> Trace:
    """One head over as many words as keys are given; each query looks at its key, or evenly where that is None."""
    length = len(keys)
    words = torch.eye(length, dtype=torch.float64)
    wanted = torch.zeros(length, length, dtype=torch.float64)
    for query, key in enumerate(keys):
        if key is not None:
            wanted[query, key] = 20.0
    config = AttentionConfig(score="dot", masks=list(masks))
    return attend(words, weights=Weights(w_q=wanted), config=config)


def habit_of(trace: Trace) -> HeadHabit:
    """What the first head does."""
    return head_habit(trace, list_row_facts(trace, head=0))


@pytest.mark.parametrize(
    ("keys", "habit"),
    [
        ((None, 0, 1, 2, 3), HeadHabit("offset", offset=-1)),
        ((1, 2, 3, 4, None), HeadHabit("offset", offset=1)),
        ((0, 1, 2, 3, 4), HeadHabit("offset", offset=0)),
        ((None, None, 0, 1, 2), HeadHabit("offset", offset=-2)),
        ((2, 2, 2, 2, 2), HeadHabit("key", key=2)),
        ((None, None, None, None, None), HeadHabit("even")),
        ((None, 0, None, None, 2), HeadHabit("pairs", pairs=((1, 0), (4, 2)))),
        ((None, 0, None, 1, None, 2, None), HeadHabit("pairs", pairs=((1, 0), (3, 1), (5, 2)))),  # three at most
        ((3, 0, 4, 1, 0), HeadHabit("mixed", pairs=((0, 3),))),
    ],
)
def test_what_the_queries_have_in_common(keys, habit):
    assert habit_of(looking(*keys)) == habit


def test_one_query_in_five_may_do_something_else():
    assert habit_of(looking(None, 0, 1, 2, 3, 0)) == HeadHabit("offset", offset=-1)
    assert habit_of(looking(None, 0, 1, 2, 0, 0)).kind == "mixed"


def test_a_mask_that_leaves_one_key_leaves_no_habit():
    trace = looking(0, 1, 2, masks=[("sliding", {"window": 1})])
    assert habit_of(trace) == HeadHabit("forced")


def test_a_tie_is_called_a_tie_and_no_one_of_its_words_is_named():
    even, most = [1 / 8] * 8, [0.3] + [0.1] * 7
    tied = [1 / 7] * 7 + [0.0]
    nearly = [[0.14] + [0.86 / 7] * 7]
    assert habit_of(written([even, even, tied, *nearly])) == HeadHabit("tied", pairs=((2, 0),), count=7)
    assert habit_of(written([even, most, tied, *nearly])).kind == "mixed"


def test_weights_of_zero_without_a_mask_are_not_told_as_the_work_of_a_mask():
    assert habit_of(written([[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])) == HeadHabit("nothing")
    assert habit_of(written([[None, None, None], [None, 1.0, None]])) == HeadHabit("forced")


def test_one_word_is_not_a_matter_of_a_mask():
    one = torch.ones(1, 2)
    assert habit_of(attend_qkv(one, one, one)) == HeadHabit("single")


def test_scores_that_the_precision_cannot_hold_have_no_habit():
    q = torch.full((3, 2), 300.0, dtype=torch.float16)
    trace = attend_qkv(q, q, q, config=AttentionConfig(score="dot"))
    assert trace["scores"].isinf().all()
    assert habit_of(trace) == HeadHabit("overflow")


def test_random_numbers_have_no_habit():
    trace = looking(None, 0, 1, 2, 3)
    random = Trace(trace.steps, trace.labels, chance=RandomParts(matrices=("w_q",)))
    assert habit_of(random) == HeadHabit("random")


def test_few_queries_that_all_attend_clearly_leave_no_rest():
    assert habit_of(looking(2, 2, 0)) == HeadHabit("named", pairs=((0, 2), (1, 2), (2, 0)))


def test_without_a_rule_the_query_is_named_whose_largest_weight_is_the_highest_multiple_of_its_even_share():
    # 0.7 of two keys is 1.4 times the even share, 0.5 of six 3 times, although it is the smaller weight
    short, long = [0.7, 0.3, None, None, None, None], [0.1, 0.1, 0.5, 0.1, 0.1, 0.1]
    other = [0.3, 0.2, 0.1, 0.1, 0.1, 0.2]
    assert habit_of(written([short, other, long])) == HeadHabit("mixed", pairs=((2, 2),))
    # two keys of six that share all have 3 times the even share: more than the 2.4 times of one clear key
    tied, clear = [0.5, 0.5, 0.0, 0.0, 0.0, 0.0], [0.4, 0.12, 0.12, 0.12, 0.12, 0.12]
    assert habit_of(written([clear, tied, other])) == HeadHabit("tied", pairs=((1, 0),), count=2)


@pytest.mark.parametrize("seed", range(5))
def test_no_weight_of_a_mixed_head_is_farther_above_its_even_share_than_the_named_one(seed):
    scores = torch.randn(6, 6, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    rows = [[*scores[i, : i + 1].softmax(-1).tolist(), *[None] * (5 - i)] for i in range(6)]
    habit = habit_of(written(rows))
    times = {(i, j): rows[i][j] * (i + 1) for i in range(1, 6) for j in range(i + 1)}
    assert habit.kind == "mixed" and times[habit.pairs[0]] == max(times.values())
