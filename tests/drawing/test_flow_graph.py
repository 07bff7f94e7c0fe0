"""What reads what in a run, as the twin in the browser hears it."""

import pytest

from attention_core.drawing.flow import FlowGraph, twin_steps
from tests.drawing.test_flow import layer


def test_the_twin_hears_how_each_step_is_made():
    steps = twin_steps(FlowGraph(layer(masks=["causal"], positions=["alibi"])))
    assert steps["x"]["operation"] is steps["bias"]["operation"] is None
    assert (steps["allowed"]["operation"]["name"], steps["allowed"]["operation"]["reads"]) == ("causal_mask", ())
    assert steps["scaled_scores"]["operation"]["name"] == "scale"
    assert steps["scaled_scores"]["operation"]["params"] == {"factor": pytest.approx(2**-0.5), "temperature": 1.0}
    assert not steps["x"]["perQuery"] and not steps["k"]["perQuery"]
    assert steps["q"]["perQuery"] and steps["weights"]["perQuery"] and steps["output"]["perQuery"]
