"""Facts about rows of weights that were written by hand."""

import math
from dataclasses import replace

import pytest
import torch

from attention_core import AttentionConfig, Trace, attend_qkv
from attention_core.explanation.facts import (
    Accident,
    PairsFact,
    RowFact,
    accident,
    accident_at,
    attends_at_offset,
    count_allowed_pairs,
    count_mask_pairs,
    find_most_alike_heads,
    find_row_beyond_itself,
    find_surest_rows,
    find_telling_row,
    mean_received_share,
    row_fact,
    weight_sums,
)
from attention_core.record.trace import RandomParts, Step

DIMS = ("B", "H", "T", "S")


def written(*heads: list[list[float | None]]) -> Trace:
    """A run of which only the weights are known, one matrix a head; None is a blocked cell."""
    numbers = [[[[0.0 if w is None else w for w in row] for row in head] for head in heads]]
    weights = torch.tensor(numbers, dtype=torch.float64)
    blocked = torch.tensor([[[[w is None for w in row] for row in head] for head in heads]])
    scores = torch.zeros(blocked.shape, dtype=torch.float64).masked_fill(blocked, -math.inf)
    steps = {"masked_scores": scores, "weights": weights, "allowed": ~blocked}
    return Trace({name: Step(name, value, DIMS) for name, value in steps.items()})


# ---- somebody's own weights ------------------------------------------------------------------------------------------
NAN = math.nan
OWN = {  # chosen weights of the second of three causal queries, whose scores are equal; kind, key, share, sum
    "only half of one": ([0.25, 0.25, NAN], "chosen", 0, 0.25, 0.5),
    "more than all": ([NAN, 1.5, NAN], "chosen", 1, 1.5, 2.0),
    "below nothing": ([-0.5, 1.5, NAN], "chosen", 1, 1.5, 1.0),
    "of a blocked key": ([0.0, 0.25, 0.75], "chosen", 2, 0.75, 1.0),
    "nothing, though it may": ([0.0, 0.0, NAN], "chosen", 0, 0.0, 0.0),
    "shares like others": ([0.25, 0.75, NAN], "most", 1, 0.75, 1.0),
    "none": ([NAN, NAN, NAN], "even", 0, 0.5, 1.0),
}


@pytest.mark.parametrize(("chosen", "kind", "key", "share", "total"), OWN.values(), ids=OWN)
def test_chosen_weights_are_not_called_shares_of_the_attention(chosen, kind, key, share, total):
    q = torch.zeros(3, 2, dtype=torch.float64)
    weights = torch.tensor([[0.5, NAN, NAN], chosen, [NAN] * 3], dtype=torch.float64)
    trace = attend_qkv(q, q, q, config=AttentionConfig(masks=["causal"]), what_if={"weights": weights})
    fact = row_fact(trace, 0, 1)
    assert (fact.kind, fact.keys[0], fact.share, fact.total) == (kind, key, share, total)
    assert row_fact(trace, 0, 0).kind == "chosen"  # half of what the only key would get
    assert row_fact(trace, 0, 2).kind == "even"


# ---- one row ---------------------------------------------------------------------------------------------------------
ROWS = {
    "most": ([0.125, 0.625, 0.25, 0.0], "most", (1,), 0.625, 2.5),  # 0.625 / (1/4)
    "most, the first": ([0.75, 0.125, 0.125], "most", (0,), 0.75, 2.25),
    "most, of the allowed": ([0.75, 0.25, None, None], "most", (0,), 0.75, 1.5),
    "most, nearly all": ([0.0, 1.0], "most", (1,), 1.0, 2.0),
    "several": ([0.375, 0.25, 0.375], "several", (0, 2), 0.375, 1.125),
    "several, of the allowed": ([None, 0.4375, 0.4375, 0.125], "several", (1, 2), 0.4375, 1.3125),
    "several, to the ninth digit": ([0.5 - 5e-10, 0.5, 0.0], "several", (0, 1), 0.5, 1.5),
    "most, by the ninth digit": ([0.5 - 2e-9, 0.5, 0.0], "most", (1,), 0.5, 1.5),
    "even": ([0.25, 0.25, 0.25, 0.25], "even", (0, 1, 2, 3), 0.25, 1.0),
    "even, of the allowed": ([0.5, None, 0.5, None], "even", (0, 2), 0.5, 1.0),
    "only": ([None, None, 1.0], "only", (2,), 1.0, 1.0),
    "only one key": ([1.0], "only", (0,), 1.0, 1.0),
    "nothing": ([None, None], "nothing", (), 0.0, 0.0),
    "nothing left": ([0.0, 0.0], "nothing", (), 0.0, 0.0),
}


@pytest.mark.parametrize(("row", "kind", "keys", "share", "ratio"), ROWS.values(), ids=ROWS)
def test_what_a_row_does(row, kind, keys, share, ratio):
    fact = row_fact(written([row]), head=0, query=0)
    assert fact == RowFact(kind, 0, 0, 0, keys, share, sum(weight is not None for weight in row))
    assert fact.ratio == pytest.approx(ratio)


def test_the_row_that_is_asked_for():
    """Head 2, query 1 of sequence 1; all other rows are even."""
    trace = written(*[[[0.5, 0.5], [0.5, 0.5]]] * 3)
    weights = trace["weights"].repeat(2, 1, 1, 1)
    weights[1, 2, 1] = torch.tensor([0.25, 0.75])
    trace = Trace(
        {
            "weights": Step("weights", weights, DIMS),
            "masked_scores": Step("masked_scores", torch.zeros(2, 3, 2, 2), DIMS),
        }
    )
    assert row_fact(trace, 2, 1, 1) == RowFact("most", 1, 2, 1, (1,), 0.75, 2)
    assert row_fact(trace, 2, 1, 0).kind == row_fact(trace, 2, 0, 1).kind == row_fact(trace, 1, 1, 1).kind == "even"


def test_weights_that_a_precision_lost():
    """300 × 300 is more than float16 holds: the row has no numbers, and another row is as it was."""
    column = torch.tensor([[1.0], [300.0]], dtype=torch.float16)
    trace = attend_qkv(column, column, column, config=AttentionConfig("dot"))
    assert row_fact(trace, 0, 1) == RowFact("overflow", 0, 0, 1, (), 0.0, 2)
    assert row_fact(trace, 0, 0).kind == "most"
    assert find_telling_row(trace) == (0, 0)


def test_weights_that_took_the_place_of_lost_ones_are_a_row_like_any_other():
    column = torch.tensor([[1.0], [300.0]], dtype=torch.float16)
    trace = attend_qkv(column, -column, column, config=AttentionConfig("dot", replace="uniform"))
    assert row_fact(trace, 0, 1) == RowFact("even", 0, 0, 1, (0, 1), 0.5, 2)


@pytest.mark.parametrize(("masks", "kind"), [([], "overflow"), ([("local", {"window": 0})], "nothing")])
def test_scores_lost_to_minus_infinity_are_not_blocked(masks, kind):
    """−300 × 300 in every cell that is allowed, or no cell allowed at all."""
    q, k = (torch.tensor([[number]], dtype=torch.float16) for number in (-300.0, 300.0))
    allowed = torch.tensor([[not masks]])
    trace = attend_qkv(q, k, k, config=AttentionConfig("dot", masks=masks), allowed=allowed)
    assert trace["weights"].tolist() == [[[[0.0]]]]
    assert row_fact(trace, 0, 0).kind == kind


def test_a_run_that_learns():
    q = torch.eye(2, requires_grad=True)
    trace = attend_qkv(q, q, q)
    assert row_fact(trace, 0, 1).kind == "most"
    assert find_telling_row(trace) == (0, 1)


# ---- random numbers --------------------------------------------------------------------------------------------------
def drawn(trace: Trace, queries=(), keys=(), matrices=()) -> Trace:
    return replace(trace, chance=RandomParts({"T": frozenset(queries), "S": frozenset(keys)}, matrices))


MOST, TWO, EVEN, ONLY = [0.7, 0.2, 0.1], [0.4, 0.4, 0.2], [0.25, 0.25, 0.25, 0.25], [None, 1.0]


@pytest.mark.parametrize(
    ("row", "of_chance", "found"),
    [
        (MOST, {}, None),
        (MOST, {"queries": {1}, "keys": {1, 2}}, None),  # another query, and keys that have less
        (MOST, {"queries": {0}}, Accident(True, (), ())),
        (MOST, {"keys": {0, 1}}, Accident(False, (0,), ())),
        (MOST, {"matrices": ("w_q",)}, Accident(False, (), ("w_q",))),
        (TWO, {"queries": {0}, "keys": {1}, "matrices": ("w_q",)}, Accident(True, (1,), ("w_q",))),
        (EVEN, {"queries": {0}, "keys": {0}, "matrices": ("w_q",)}, None),  # no score decides
        (ONLY, {"queries": {0}, "keys": {1}}, None),  # the mask does
    ],
)
def test_a_share_that_comes_of_random_numbers(row, of_chance, found):
    trace = drawn(written([row]), **of_chance)
    assert accident(trace, row_fact(trace, 0, 0)) == found
    assert bool(trace.chance) == any(of_chance.values())


def test_what_was_drawn_stays_with_a_run_that_is_labelled_held_or_gone_on_with():
    trace = drawn(attend_qkv(*[torch.eye(2)] * 3), queries={1})
    for other in (trace.labelled(T=("a", "b")), trace.holding({}), trace.on_cpu(), trace.then()):
        assert accident_at(other, 1, [0]) == Accident(True, (), ())
    assert accident_at(trace, 0, [0, 1]) is None


# ---- what is worth looking at first ----------------------------------------------------------------------------------
SHARP, SOFT, FLAT = [0.75, 0.25], [0.375, 0.625], [0.5, 0.5]  # 1.5, 1.25 and 1 times an even share


@pytest.mark.parametrize(
    ("heads", "expected"),
    [
        ([[SHARP, SOFT]], (0, 0)),
        ([[SOFT, SHARP]], (0, 1)),
        ([[SOFT, FLAT], [FLAT, SHARP]], (1, 1)),
        ([[SHARP, SHARP]], (0, 1)),  # of equals, the last query
        ([[FLAT, SHARP], [SHARP, SHARP]], (0, 1)),  # of the first head
        ([[FLAT, FLAT], [FLAT, FLAT]], (0, 1)),
        ([[[0.75 - 5e-10, 0.25], SOFT], [SHARP, SOFT]], (0, 0)),  # equal to the ninth digit
        ([[[1.0, None, None], [0.625, 0.375, None], [0.5, 0.25, 0.25]]], (0, 2)),  # 1, 1.25 and 1.5 times
        ([[[1.0, None, None], [1.0, None, None], [1.0, None, None]]], (0, 2)),
        ([[[None, None], [None, None]]], (0, 1)),  # nothing to tell
        ([[[None, None], SHARP], [[1.0, None], SOFT]], (0, 1)),
    ],
)
def test_the_most_telling_row(heads, expected):
    assert find_telling_row(written(*heads)) == expected


@pytest.mark.parametrize(
    ("query", "head"),
    [(0, 1), (1, 2), (2, 0)],
)
def test_the_most_telling_head_of_a_query(query, head):
    """Query 0: 1, 1.25, 1.25 times an even share; query 1: 1, 1.25, 1.5; query 2: all the same."""
    trace = written([FLAT, FLAT, SOFT], [SOFT, SOFT, SOFT], [SOFT, SHARP, SOFT])
    assert find_telling_row(trace, query) == (head, query)


def test_the_sequence_that_is_asked_for():
    weights = torch.tensor([[[SHARP, SOFT]], [[SOFT, SHARP]]])
    steps = {"weights": weights, "masked_scores": torch.zeros(2, 1, 2, 2)}
    trace = Trace({name: Step(name, value, DIMS) for name, value in steps.items()})
    assert (find_telling_row(trace, batch=0), find_telling_row(trace, batch=1)) == ((0, 0), (0, 1))


# ---- kept pairs ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("masks", "kept"),
    [
        ([], 5 * 7),
        (["causal"], 3 + 4 + 5 + 6 + 7),  # j <= i + 2
        ([("local", {"window": 1})], 2 + 3 + 3 + 3 + 3),
        ([("sliding", {"window": 2})], 2 * 5),
        ([("padding", {"lengths": (7, 4)})], 5 * 7),
    ],
)
def test_kept_pairs_are_counted(masks, kept):
    q, k = torch.zeros(2, 3, 5, 1), torch.zeros(2, 3, 7, 1)
    fact = count_allowed_pairs(attend_qkv(q, k, k, config=AttentionConfig(masks=masks)))
    assert fact == PairsFact(kept, 35)
    assert fact.share == kept / 35


def test_kept_pairs_of_one_head_of_one_sequence():
    q, k = torch.zeros(2, 3, 5, 1), torch.zeros(2, 3, 7, 1)
    allowed = torch.zeros(2, 3, 5, 7).bool()
    allowed[1, 2, :2, :3] = True
    trace = attend_qkv(q, k, k, allowed=allowed)
    assert count_allowed_pairs(trace, head=2, batch=1) == PairsFact(6, 35)
    assert count_allowed_pairs(trace, head=1, batch=1).share == 0


# ---- several rows beside each other ----------------------------------------------------------------------------------
def test_the_surest_of_several_rows_and_all_that_are_as_sure():
    trace = written([[0.5, 0.25, 0.25], [0.1, 0.7, 0.2], [0.2, 0.1, 0.7 - 1e-12]])
    facts = [row_fact(trace, 0, query) for query in range(3)]
    assert find_surest_rows(facts) == {1, 2}
    assert find_surest_rows(facts[:1]) == {0}


def test_rows_of_weights_sum_to_1_and_columns_to_what_a_key_gets():
    trace = written([[0.5, 0.25, 0.25], [0.0, 0.75, 0.25]], [[1.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    assert weight_sums(trace, "S") == [1.0, 1.0]
    assert weight_sums(trace, "T") == [0.5, 1.0, 0.5]
    assert weight_sums(trace, "T", head=1) == [2.0, 0.0, 0.0]


# ---- whom a head looks at --------------------------------------------------------------------------------------------
def test_every_query_looks_at_the_key_before_as_far_as_there_is_one():
    trace = written([[0.5, 0.5, 0.0], [0.75, 0.25, 0.0], [0.25, 0.75, 0.0]])
    assert attends_at_offset(trace, 0, -1)  # the first has none before it
    assert not attends_at_offset(trace, 0, 0)
    assert not attends_at_offset(trace, 0, 1)
    assert not attends_at_offset(trace, 0, 3)  # nobody has one there


def test_a_tie_is_no_look():
    trace = written([[0.0, 1.0], [0.5, 0.5]], [[0.0, 1.0], [0.75, 0.25]])
    assert not attends_at_offset(trace, 0, -1)
    assert attends_at_offset(trace, 1, -1) and attends_at_offset(trace, 1, 1)  # of two words each looks at the other


# ---- heads that are alike --------------------------------------------------------------------------------------------
def test_the_two_heads_that_are_most_alike():
    likeness = torch.tensor(
        [[1.0, 0.5, 0.25, 0.5], [0.5, 1.0, 0.75, 0.0], [0.25, 0.75, 1.0, 0.75], [0.5, 0.0, 0.75, 1]]
    )
    assert find_most_alike_heads(likeness) == (1, 2, 0.75)  # the first of two pairs
    assert find_most_alike_heads(torch.ones(1, 1)) is None


@pytest.mark.parametrize("length", [1, 2, 7, 64])
def test_pairs_at_a_length_are_counted_one_by_one(length):
    places = [(i, j) for i in range(length) for j in range(length)]
    near = [(i, j) for i, j in places if abs(i - j) <= 2]
    back = [(i, j) for i, j in places if j <= i < j + 3]
    wide = [(i, j) for i, j in places if abs(i - j) <= 1 or 0 in (i, j)]
    counted = {
        ("causal", ()): [(i, j) for i, j in places if j <= i],
        ("local", (("window", 2),)): near,
        ("sliding", (("window", 3),)): back,
        ("local_global", (("window", 1), ("global_tokens", (0,)))): wide,
    }
    for (name, params), pairs in counted.items():
        assert count_mask_pairs(length, (name, dict(params))) == PairsFact(len(pairs), length * length), name
    for window in (0, 6, 50):
        kept = sum(abs(i - j) <= window for i, j in places)
        assert count_mask_pairs(length, ("local", {"window": window})).kept == kept
    both = [pair for pair in near if pair in back]
    assert count_mask_pairs(length, ("local", {"window": 2}), ("sliding", {"window": 3})).kept == len(both)
    assert count_mask_pairs(length) == PairsFact(length * length, length * length)
    assert count_mask_pairs(length, ("causal", {})).blocked == length * (length - 1) // 2


def test_what_a_key_receives_on_average():
    trace = written([[0.5, 0.5, None], [0.1, 0.2, 0.7], [0.3, None, 0.7]], [[1, None, None]] * 3)
    assert [mean_received_share(trace, 0, key) for key in range(3)] == pytest.approx([0.3, 0.7 / 3, 1.4 / 3], abs=1e-12)
    assert [mean_received_share(trace, 1, key) for key in range(3)] == [1, 0, 0]


def test_the_row_beyond_itself_is_the_first_heads_that_gives_over_half_to_another_word():
    weights = torch.zeros(1, 3, 5, 5)
    weights[:, 0] = torch.eye(5)  # each looks at itself
    weights[0, 1] = torch.eye(5)
    weights[0, 1, 3] = torch.tensor([0.7, 0.1, 0.1, 0.1, 0.0])
    weights[0, 2, 4, 0] = 0.9
    values = torch.zeros(1, 3, 5, 2)
    trace = attend_qkv(values, values, values, replacement=weights)
    assert find_row_beyond_itself(trace) == (1, 3)
    assert find_row_beyond_itself(trace, query=4) == (2, 4)
    even = attend_qkv(values, values, values)
    assert find_row_beyond_itself(even) == (0, 0)
