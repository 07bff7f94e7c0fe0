"""What moved between two runs: the differences by loops, the largest of them and where it stands."""

import math

import pytest
import torch

from attention_core import AttentionConfig, attend_qkv
from attention_core.comparison.differences import (
    Exchange,
    StepMove,
    count_moved_weights,
    exchange,
    find_moves,
    find_telling_move,
    most_moved_weight,
    rank_moved_weights,
    relative_change,
    subtract_traces,
)
from attention_core.record.errors import AttentionError
from attention_core.record.trace import Step, Trace
from tests.golden import loader

B, H, T, S, D = 2, 3, 5, 7, 11


def tensors(seed):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(B, H, length, D, generator=generator, dtype=torch.float64) for length in (T, S, S)]


def run(seed=0, **config):
    return attend_qkv(*tensors(seed), config=AttentionConfig(**config))


def test_every_difference_is_now_less_before():
    now, before = run(0, scale=0.3), run(1)
    apart = subtract_traces(now, before)
    assert [*apart.steps] == [*now.steps]
    assert apart.difference
    for b, h, i, j in torch.cartesian_prod(*map(torch.arange, (B, H, T, S))).tolist():
        wanted = now["weights"][b, h, i, j].item() - before["weights"][b, h, i, j].item()
        assert apart["weights"][b, h, i, j].item() == wanted


def test_nothing_moves_where_nothing_changed():
    assert find_moves(run(masks=["causal"]), run(masks=["causal"])) == {}


def test_the_largest_move_and_its_place():
    q, k, v = tensors(0)
    other = v.clone()
    other[1, 2, 3, 4] += 5.0
    other[0, 1, 6, 10] -= 7.5
    moved = find_moves(attend_qkv(q, k, other), attend_qkv(q, k, v))
    assert [*moved] == ["v", "head_outputs", "concat", "output"]
    assert moved["v"].index == (0, 1, 6, 10)
    assert moved["v"].size == pytest.approx(7.5)
    assert moved["head_outputs"].index[:2] == (0, 1)


def test_a_mask_that_comes_and_goes():
    """Blocked in both: 0. Blocked in one: an infinity, which no other move exceeds."""
    causal, local = run(masks=["causal"]), run(masks=[("local", {"window": 1})])
    apart = subtract_traces(local, causal)
    one, other = causal["masked_scores"].isneginf(), local["masked_scores"].isneginf()
    assert (apart["masked_scores"][one & other] == 0).all()
    assert apart["masked_scores"][one & ~other].tolist() == [math.inf] * int((one & ~other).sum())
    assert apart["masked_scores"][other & ~one].tolist() == [-math.inf] * int((other & ~one).sum())
    assert find_moves(local, causal)["masked_scores"].size == math.inf
    assert apart["allowed"][0, 0, 0].tolist() == [0, 0, -1, 0, 0, 0, 0]  # j <= 0 + (7 - 5), against |0 - j| <= 1
    assert subtract_traces(causal, local)["allowed"][0, 0, 0, 2] == 1


def test_only_what_has_the_same_shape_is_compared():
    q, k, v = tensors(0)
    apart = subtract_traces(attend_qkv(q, k, v), attend_qkv(q[:, :, :3], k, v))
    assert "weights" not in apart
    assert {"k", "v"} <= set(apart.steps)


def test_numbers_that_are_none_on_both_sides_are_the_same():
    nan = Trace({"x": Step("x", torch.tensor([math.nan, 1.0]), ("T",))})
    one = Trace({"x": Step("x", torch.tensor([2.0, 1.0]), ("T",))})
    assert find_moves(nan, nan) == {}
    assert find_moves(nan, one) == {"x": StepMove("x", math.inf, (0,))}


def test_what_is_told():
    made = {name: StepMove(name, 1.0, (0,)) for name in ("q", "weights", "head_outputs", "output", "residual")}
    assert find_telling_move(made).step == "weights"
    assert find_telling_move({name: made[name] for name in ("q", "output", "head_outputs")}).step == "head_outputs"
    assert find_telling_move({name: made[name] for name in ("q", "residual")}).step == "residual"
    assert find_telling_move({}) is None


# ---- the weight that is told -----------------------------------------------------------------------------------------
def weights_only(values):
    return Trace({"weights": Step("weights", torch.tensor(values), ("B", "H", "T", "S"))})


def test_the_row_that_is_looked_at_is_told_where_it_moved_as_far():
    before = weights_only([[[[0.5, 0.5], [0.5, 0.5]], [[0.5, 0.5], [0.5, 0.5]]]])
    now = weights_only([[[[0.1, 0.8], [0.5, 0.5]], [[0.5, 0.5], [0.905, 0.4]]]])
    assert most_moved_weight(now, before, (0, 0, 1), 2).index == (0, 1, 1, 0)  # that row did not move
    assert most_moved_weight(now, before, (0, 0, 0), 2).index == (0, 0, 0, 0)  # .4 is as good as .405
    assert most_moved_weight(now, before, (0, 1, 1), 1).index == (0, 0, 0, 0)  # query 1 is padding
    assert most_moved_weight(before, before, (0, 0, 0), 2) is None


def test_only_the_sequence_that_is_looked_at_is_told():
    before = weights_only([[[[0.5, 0.5]]], [[[0.5, 0.5]]]])
    now = weights_only([[[[0.5, 0.5]]], [[[0.0, 1.0]]]])
    assert most_moved_weight(now, before, (0, 0, 0), 1) is None
    assert most_moved_weight(now, before, (1, 0, 0), 1).index == (1, 0, 0, 0)


def ranked_by_loops(now, before, left_out=()):
    """Every weight of several layers with how far it moved, the farthest first."""
    moved = []
    for part in now:
        for b in range(B):
            for h in range(H):
                for t in range(T):
                    for s in range(S):
                        was, is_now = (runs[part]["weights"][b, h, t, s].item() for runs in (before, now))
                        if (part, h) not in left_out:
                            moved.append((abs(is_now - was), part, (b, h, t, s), was, is_now))
    return [tuple(rest) for _, *rest in sorted(moved, key=lambda each: -each[0])]


@pytest.mark.parametrize("left_out", [(), [("3.attention", 2), ("1.attention", 0)]])
def test_the_weights_of_several_layers_that_moved_most(left_out):
    parts = ("1.attention", "2.attention", "3.attention")
    now, before = ({part: run(seed + i) for i, part in enumerate(parts)} for seed in (0, 10))
    found = rank_moved_weights(now, before, 60, left_out)
    told = [(move.part, move.index, move.before, move.now) for move in found]
    assert told == ranked_by_loops(now, before, left_out)[:60]
    assert {part for part, *_ in told} == {*parts}
    assert [move.size for move in found] == [abs(is_now - was) for *_, was, is_now in told]


def test_weights_that_moved_as_far_come_in_their_order_and_what_stayed_does_not_come():
    """As far but for rounding: on another processor the last digit may be another one."""

    def layer(*rows):
        return Trace({"weights": Step("weights", torch.tensor([[rows]], dtype=torch.float64), ("B", "H", "T", "S"))})

    before = {part: layer([0.5, 0.5], [0.5, 0.5]) for part in ("b", "a")}
    now = {"b": layer([0.5, 0.5], [0.75 + 1e-15, 0.25]), "a": layer([0.5, 0.5 + 1e-15], [0.25 - 1e-12, 0.75])}
    assert [(move.part, move.index) for move in rank_moved_weights(now, before, 9)] == [
        ("b", (0, 0, 1, 0)),
        ("b", (0, 0, 1, 1)),
        ("a", (0, 0, 1, 0)),
        ("a", (0, 0, 1, 1)),
    ]


def test_parts_without_weights_are_passed_over_and_other_shapes_refused():
    words = Trace({"x": Step("x", torch.ones(1), ("T",))})
    two, one = weights_only([[[[0.5, 0.5]]]]), weights_only([[[[1.0]]]])
    assert rank_moved_weights({"embedding": words, "1.attention": two}, {"1.attention": two}, 1) == []
    with pytest.raises(AttentionError) as error:
        rank_moved_weights({"1.attention": two}, {"1.attention": one}, 1)
    assert error.value.code == "weight_shape"
    with pytest.raises(AttentionError) as error:
        rank_moved_weights({}, {}, 0)
    assert error.value.code == "positive_integer"


# ---- other words -----------------------------------------------------------------------------------------------------
def words_only(queries, keys=None):
    steps = {"weights": Step("weights", torch.zeros(1, 1, len(queries), len(keys or queries)), ("B", "H", "T", "S"))}
    return Trace(steps, {"T": tuple(queries), "S": tuple(keys or queries)})


@pytest.mark.parametrize(
    ("was", "now", "places", "pairs", "compared"),
    [
        ("abc", "abc", (), (), True),
        ("abc", "abd", (2,), (("c", "d"),), True),
        ("aba", "cbc", (0, 2), (("a", "c"),), True),  # one word that stands twice
        ("abc", "bac", (0, 1), (("a", "b"), ("b", "a")), False),
        ("abc", "xyc", (0, 1), (("a", "x"), ("b", "y")), False),
    ],
)
def test_which_words_took_the_place_of_which(was, now, places, pairs, compared):
    found = exchange(words_only(now), words_only(was))
    assert found == Exchange({"T": places, "S": places}, pairs)
    assert found.compared == compared


def test_words_of_two_sequences_and_of_none():
    found = exchange(words_only("ab", "xyz"), words_only("ab", "xyw"))
    assert found == Exchange({"T": (), "S": (2,)}, (("w", "z"),))
    assert exchange(run(0), run(1)) == Exchange({"T": (), "S": ()}, ())


def test_what_is_left_out_is_not_told():
    before = weights_only([[[[0.5, 0.5], [0.5, 0.5]], [[0.5, 0.5], [0.5, 0.5]]]])
    now = weights_only([[[[0.1, 0.8], [0.3, 0.5]], [[0.5, 0.4], [0.5, 0.5]]]])
    told = [most_moved_weight(now, before, (0, 0, 0), 2, left_out) for left_out in ({}, {"T": [0]}, {"S": [0]})]
    assert [move.index for move in told] == [(0, 0, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1)]
    assert most_moved_weight(now, before, (0, 0, 0), 2, {"T": (0, 1, 5), "S": ()}) is None


# ---- how far, of how much --------------------------------------------------------------------------------------------
def test_even_weights_move_the_output_as_the_golden_file_says():
    file = next(loader.read(path) for path in loader.golden_files() if path.stem.startswith("s40"))
    case = loader.load(file)
    learned = case.run(config=case.configured(replace=None))
    assert relative_change(case.run(), learned) == pytest.approx(file["relative_change"], abs=1e-10)


def test_a_change_of_what_was_nothing():
    still, moved = (Trace({"output": Step("output", torch.full((1, 2), value), ("B", "T"))}) for value in (0.0, 3.0))
    assert relative_change(still, still) == 0
    assert relative_change(moved, still) == math.inf
    assert relative_change(still, moved) == 1


def test_weight_that_differs_in_its_last_digit_has_not_moved():
    """Processors add in different orders; 1e-9 is a move, 1e-15 is none."""
    q = torch.zeros(1, 2, dtype=torch.float64)
    even = attend_qkv(q, torch.eye(2, dtype=torch.float64), torch.eye(2, dtype=torch.float64))
    for size, moved in ((1e-15, 0), (1e-9, 2)):
        q = torch.tensor([[size, -size]], dtype=torch.float64)
        nearly = attend_qkv(q, torch.eye(2, dtype=torch.float64), torch.eye(2, dtype=torch.float64))
        assert count_moved_weights(nearly, even, 0) == moved
