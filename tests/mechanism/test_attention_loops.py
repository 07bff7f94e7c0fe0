"""attend and attend_qkv against loops that share nothing with the plan: everything together with everything else."""

from itertools import combinations

import numpy as np
import pytest

from attention_core.mechanism.modifiers import MODIFIERS
from tests.mechanism.attention_loops import attention_by_loops
from tests.mechanism.drawn_layers import DrawnLayer, all_groups, draw_layers_of

DRAWS, MANY_DRAWS = 300, 3000


def assert_as_by_loops(layer: DrawnLayer) -> None:
    """Every output of a layer, to 1e-10 of its largest number."""
    trace = layer.run()
    *_, last = trace.steps
    for name, theirs in attention_by_loops(layer.inputs, layer.weights, layer.config, layer.pairs).items():
        ours = trace[last if name == "last" else name].numpy()
        assert ours.shape == theirs.shape, f"{layer.name}: {name}"
        off = np.abs(ours - theirs).max() / max(1.0, np.abs(theirs).max())
        assert off <= 1e-10, f"{layer.name}: {name} is off by {off:.3g}: {sorted(layer.features)}"


def test_layers_against_loops():
    """All pairs of choices, and all triples of modifiers, are among the draws."""
    triples = {frozenset(group) for group in combinations(MODIFIERS, 3)}
    for layer in draw_layers_of(all_groups(2) | triples, range(DRAWS)):
        assert_as_by_loops(layer)


@pytest.mark.slow
def test_many_layers_against_loops():
    """All triples of choices are among the draws."""
    for layer in draw_layers_of(all_groups(3), range(DRAWS, DRAWS + MANY_DRAWS)):
        assert_as_by_loops(layer)
