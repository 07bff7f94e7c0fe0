"""Recorded parts in a stack: what they add, that the sums close, that changes before them leave them as they are."""

from dataclasses import replace

import pytest
import torch

from attention_core import AttentionConfig, AttentionError, Weights, with_residual_sum
from attention_core.analysis.interventions import Intervention, intervene
from attention_core.transformer.feed_forward import FeedForwardConfig
from attention_core.transformer.recorded_part import RecordedConfig, RecordedWeights, recorded_part
from attention_core.transformer.stack import LayerConfig, LayerWeights, Stack, StackConfig, StackWeights, run_stack
from attention_core.verification.proof import prove, prove_stack
from tests.faces import assert_five_faces
from tests.transformer.parts import draws

B, T, D = 2, 3, 5
CONFIG = RecordedConfig("model.layers.0.mlp")


def test_what_is_recorded_is_added_by_hand():
    x, output = torch.tensor([[1.0, 2.0]]).double(), torch.tensor([[10.0, -20.0]]).double()
    trace = recorded_part(x, RecordedWeights(output), CONFIG)
    assert trace["residual"].tolist() == [[[11.0, -18.0]]]
    assert list(trace.steps) == ["x", "recorded", "output", "residual"]
    assert_five_faces(trace, "output", "residual")
    assert prove(trace).passed


def experts_stack() -> Stack:
    """Two layers of attention with a recorded part each."""
    draw = draws(3)
    layers = [LayerWeights(Weights(w_v=draw(D, D)), RecordedWeights(draw(B, T, D))) for _ in range(2)]
    layer = LayerConfig(AttentionConfig(masks=["causal"], residual=True), CONFIG)
    return run_stack(draw(B, T, D), StackWeights(layers), StackConfig([layer] * 2))


def test_a_stack_with_recorded_parts_is_proven_and_a_sum():
    stack = experts_stack()
    assert list(stack.parts) == ["1.attention", "1.recorded", "2.attention", "2.recorded"]
    assert stack.sources["2.attention"] == {"x": ("1.recorded", "residual")}
    assert prove_stack(stack).passed
    total = with_residual_sum(stack)["residual_sum"]
    assert total.labels["part"] == ("x", "1.attention.head_1", "1.recorded", "2.attention.head_1", "2.recorded")
    torch.testing.assert_close(total["parts"].sum(0), stack.end, rtol=0, atol=1e-12)
    assert torch.equal(total["parts"][2], stack["1.recorded"]["recorded"])


def test_another_residual_of_a_recorded_part_is_found():
    stack = experts_stack()
    trace = stack["1.recorded"]
    step = trace.step("residual")
    wrong = replace(trace, steps={**trace.steps, "residual": replace(step, value=step.value + 1e-3)})
    assert not prove(wrong).passed


def test_a_change_before_a_recorded_part_leaves_what_it_adds_and_it_can_be_off():
    stack = experts_stack()
    changed = intervene(stack, [Intervention("1.attention", 0)])
    assert torch.equal(changed["1.recorded"]["output"], stack["1.recorded"]["output"])
    assert not torch.equal(changed["1.recorded"]["residual"], stack["1.recorded"]["residual"])
    off = intervene(stack, [Intervention("1.recorded")])
    assert torch.equal(off["1.recorded"]["residual"], stack["1.attention"]["residual"])
    assert torch.equal(off["2.recorded"]["output"], stack["2.recorded"]["output"])


def test_bad_input_is_refused():
    x = torch.zeros(T, D).double()
    with pytest.raises(
        AttentionError, match=r"^what is recorded must have the shape of the vectors x, \(1, 3, 5\): got"
    ):
        recorded_part(x, RecordedWeights(torch.zeros(T, D + 2).double()), CONFIG)
    with pytest.raises(AttentionError, match=r"^recorded must be finite"):
        recorded_part(x, RecordedWeights(x / 0), CONFIG)
    with pytest.raises(AttentionError, match=r"^a parallel layer needs"):
        LayerConfig(AttentionConfig(residual=True), CONFIG, parallel=True)
    with pytest.raises(AttentionError):
        layer = LayerConfig(AttentionConfig(residual=True), FeedForwardConfig(residual=True))
        run_stack(x, StackWeights([LayerWeights(Weights(), RecordedWeights(x))]), StackConfig([layer]))
