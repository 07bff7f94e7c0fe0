"""The example whose vectors have two directions, and what is to be reached in it."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from attention_core.examples.examples import EXAMPLES
from attention_core.exercises.plane_goals import GOAL_EXAMPLES, is_reached, plane_goals
from attention_core.inputs.moved_vectors import least_change

ANNA, DOG, IT = 0, 3, 5


def moved(name, matrix, **rows):
    """The example's run with other vectors: places and the vectors that they are to have, as q5=(0, 4)."""
    example = EXAMPLES[name]
    numbers = np.array(getattr(example, matrix), dtype=float)
    x = np.array(example.x, dtype=float)
    for place, wanted in rows.items():
        row = x[int(place[1:])]
        numbers = least_change(numbers, row, np.array(wanted, dtype=float) - row @ numbers)
    return replace(example, **{matrix: tuple(map(tuple, numbers.tolist()))}).run()


@pytest.mark.parametrize("name", GOAL_EXAMPLES)
def test_the_example_by_hand(name):
    trace = EXAMPLES[name].run()
    assert trace["q"][0, 0, IT].tolist() == [-2, 2]  # animal (-1, 1) and pronoun (-1, 1)
    assert trace["k"][0, 0].tolist() == [[2, 1], [1, -2], [0, -1], [-2, 1], [0, -1], [-1, 0], [-1, -1]]
    scores = [-2, -6, -2, 6, -2, 2, 0]
    assert trace["scores"][0, 0, IT].tolist() == scores
    powers = [math.exp(score / math.sqrt(2)) for score in scores]
    assert trace["weights"][0, 0, IT].tolist() == pytest.approx([power / sum(powers) for power in powers], abs=1e-12)
    values = trace["v"][0, 0]
    assert torch.linalg.matrix_rank(values - values[0]) == 2  # they use both directions


def test_the_goals_are_what_the_run_gives():
    equal, instead = plane_goals("en_plane")
    assert [(bound.key, bound.least, bound.most) for bound in equal.bounds] == [(ANNA, 0.45, 0.55), (DOG, 0.45, 0.55)]
    powers = [math.exp(score / math.sqrt(2)) for score in (-2, -6, -2, 6, -2, 2, 0)]
    assert instead.bounds[0].least == pytest.approx(powers[3] / sum(powers), abs=1e-12)
    assert instead.kept == (-2, 2)
    assert plane_goals("en_it") == ()


@pytest.mark.parametrize("name", GOAL_EXAMPLES)
def test_no_goal_is_reached_at_the_start_and_each_can_be(name):
    equal, instead = plane_goals(name)
    start = EXAMPLES[name].run()
    assert not is_reached(equal, start) and not is_reached(instead, start)
    assert is_reached(equal, moved(name, "w_q", q5=(0, 4)))
    assert not is_reached(equal, moved(name, "w_q", q5=(0, 1)))  # as even, but other words have a part
    assert is_reached(instead, moved(name, "w_k", k3=(-1, -1), k0=(-2.5, 2.5)))
    assert not is_reached(instead, moved(name, "w_q", q5=(3, 3)))  # Anna has it all, but the query has moved
