"""attend and attend_qkv against loops that share nothing with the plan: everything together with everything else."""

from itertools import combinations

import numpy as np
import pytest

from attention_core.mechanism.modifiers import MODIFIERS
from tests.mechanism.attention_loops import attention_by_loops
from tests.mechanism.drawn_layers import all_groups, draw_layer

DRAWS, MANY_DRAWS = 300, 3000


def assert_as_by_loops(seed: int) -> frozenset[str]:
    """Every output of the layer of a seed, to 1e-10 of its largest number. Returns what the layer has."""
    layer = draw_layer(seed)
    trace = layer.run()
    *_, last = trace.steps
    for name, theirs in attention_by_loops(layer.inputs, layer.weights, layer.config, layer.pairs).items():
        ours = trace[last if name == "last" else name].numpy()
        assert ours.shape == theirs.shape, (seed, name)
        off = np.abs(ours - theirs).max() / max(1.0, np.abs(theirs).max())
        assert off <= 1e-10, f"seed {seed}: {name} is off by {off:.3g}: {sorted(layer.features)}"
    return layer.features


def groups_of(features: frozenset[str], count: int) -> set[frozenset[str]]:
    return {frozenset(group) for group in combinations(sorted(features), count)}


def test_layers_against_loops():
    """All pairs of choices, and all triples of modifiers, are among the draws."""
    found = [assert_as_by_loops(seed) for seed in range(DRAWS)]
    pairs = set().union(*(groups_of(features, 2) for features in found))
    assert all_groups(2) <= pairs, sorted(map(sorted, all_groups(2) - pairs))
    triples = set().union(*(groups_of(features & {*MODIFIERS}, 3) for features in found))
    assert {frozenset(group) for group in combinations(MODIFIERS, 3)} <= triples


@pytest.mark.slow
def test_many_layers_against_loops():
    """All triples of choices are among the draws."""
    found = [assert_as_by_loops(seed) for seed in range(DRAWS, DRAWS + MANY_DRAWS)]
    triples = set().union(*(groups_of(features, 3) for features in found))
    assert all_groups(3) <= triples, sorted(map(sorted, all_groups(3) - triples))[:20]
