"""Exercises: small whole numbers, the same from the same seed, and such that no two mistakes look alike."""

from itertools import combinations

import pytest
import torch

from attention_core import AttentionConfig, AttentionError, Weights, attend
from attention_core.exercises.generator import LEVELS, can_tell_mistakes_apart, make_exercise
from attention_core.exercises.stages import stages_of

SHAPES = {
    "from_qkv": {"q": (3, 2), "scores": (1, 1, 3, 3), "head_outputs": (1, 1, 3, 2)},
    "one_head": {"x": (1, 4, 6), "w_q": (6, 3), "scores": (1, 1, 4, 4), "head_outputs": (1, 1, 4, 3)},
    "two_heads": {"x": (1, 4, 6), "w_q": (6, 6), "scores": (1, 2, 4, 4), "output": (1, 4, 3)},
}


@pytest.mark.parametrize("level", LEVELS)
def test_an_exercise_is_small_and_whole(level):
    for seed in range(20):
        trace = make_exercise(level, seed).run()
        for name, shape in SHAPES[level].items():
            assert tuple(trace[name].shape)[-len(shape) :] == shape
        given = torch.cat([step.value.flatten() for step in trace.inputs().values() if step.value.is_floating_point()])
        assert set(given.tolist()) <= set(range(-LEVELS[level].largest, LEVELS[level].largest + 1))
        causal = trace["masked_scores"].isneginf().any().item()
        assert causal == (level != "from_qkv")


@pytest.mark.parametrize("level", LEVELS)
def test_the_same_seed_is_the_same_exercise_and_another_another(level):
    assert make_exercise(level, 5) == make_exercise(level, 5)
    assert len({str(make_exercise(level, seed)) for seed in range(30)}) == 30


def test_an_unknown_level_is_refused():
    with pytest.raises(AttentionError, match="level must be one of"):
        make_exercise("four_heads", 1)


def wrong_weights(trace, d_k, widths):
    """The weights with other scales, and with the softmax over the queries."""
    scores, blocked = trace["scores"], trace["masked_scores"].isneginf()
    found = [torch.softmax((scores / by).masked_fill(blocked, -torch.inf), -1) for by in (1, d_k, *widths)]
    masked = (scores / d_k**0.5).masked_fill(blocked, -torch.inf)
    return [*found, torch.softmax(masked, -2)]


@pytest.mark.parametrize(
    "level, d_k, widths", [("from_qkv", 2, ()), ("one_head", 3, (6**0.5,)), ("two_heads", 3, (6**0.5,))]
)
def test_wrong_scales_and_a_wrong_axis_give_scores_that_can_be_told_apart(level, d_k, widths):
    for seed in range(20):
        trace = make_exercise(level, seed).run()
        scaled = [trace["scores"] / by for by in (1, d_k, *widths, d_k**0.5)]
        assert all((one - other).abs().max() > 0.01 for one, other in combinations(scaled, 2))
        assert all((each - trace["weights"]).abs().max() > 0.01 for each in wrong_weights(trace, d_k, widths))


def run(x, w_q, w_k, w_v, heads):
    return attend(x, weights=Weights(w_q, w_k, w_v), config=AttentionConfig(heads=heads))


def test_an_exercise_on_which_two_mistakes_collide_is_rejected():
    """√d_model = 2 = d_k: nobody could tell which was taken."""
    generator = torch.Generator().manual_seed(0)
    for _ in range(20):
        x, *w = (torch.randint(-2, 3, shape, generator=generator).double() for shape in [(3, 4), *[(4, 4)] * 3])
        assert not can_tell_mistakes_apart(run(x, *w, heads=2))


def test_an_exercise_that_hides_a_mistake_is_rejected():
    """Scores of 0 in every cell but one: a scale moves one number alone, which is a wrong sum as well."""
    q, zero = torch.zeros(3, 6).double(), torch.eye(6).double()
    q[0, 0] = 2.0
    assert not can_tell_mistakes_apart(run(q, zero, zero, zero, heads=2))


def test_there_is_a_number_to_write_in_every_step():
    assert [*stages_of(make_exercise("from_qkv", 1).run())] == ["scores", "scaled_scores", "weights", "head_outputs"]
    assert [*stages_of(make_exercise("two_heads", 1).run())][-2:] == ["head_outputs", "output"]
