"""Gradient x input: by small steps in both directions, and by hand."""

import pytest
import torch

from attention_core import AttentionConfig, AttentionError, Weights, attend, attend_qkv
from attention_core.analysis.gradient_times_input import gradient_times_input
from attention_core.examples.examples import EXAMPLES
from attention_core.record.expressions import Ref
from tests.faces import assert_five_faces

B, T, S, D, H, D_K, D_OUT = 2, 3, 5, 7, 2, 11, 13
STEP = 1e-5


def numbers(generator, *shape):
    return torch.randn(shape, generator=generator, dtype=torch.float64)


def layer(generator, cross=False, **choices):
    """A run, and how it is run again from another x or key."""
    shapes = {"w_q": (D, H * D_K), "w_k": (D, H * D_K), "w_v": (D, H * D_K), "w_o": (H * D_K, D_OUT)}
    weights = Weights(**{name: numbers(generator, *shape) / 3 for name, shape in shapes.items()})
    inputs = [numbers(generator, B, T, D)] + ([numbers(generator, B, S, D)] if cross else [])
    config = AttentionConfig(heads=H, **choices)
    return inputs, lambda *given: attend(*given, weights=weights, config=config)


@pytest.mark.parametrize("cross", [False, True])
@pytest.mark.parametrize("choices", [{}, {"masks": ["causal"], "temperature": 0.5}], ids=["plain", "causal"])
def test_the_gradient_is_what_small_steps_show(generator, cross, choices):
    inputs, again = layer(generator, cross, **choices)
    cell = Ref("output", (1, 2, 3))
    trace = gradient_times_input(again(*inputs), cell)
    words = inputs[-1]
    assert trace["gradient"].shape == words.shape
    for b, s, d in torch.cartesian_prod(*map(torch.arange, words.shape)).tolist()[::3]:
        there, back = words.clone(), words.clone()
        there[b, s, d] += STEP
        back[b, s, d] -= STEP
        up, down = (again(*inputs[:-1], moved)["output"][cell.index].item() for moved in (there, back))
        assert trace["gradient"][b, s, d].item() == pytest.approx((up - down) / (2 * STEP), abs=1e-7)
    assert (trace["gradient"][0] == 0).all()  # another sentence of the batch
    assert trace["gradient"].abs().max() > 0.01


def test_what_may_not_be_attended_to_moves_nothing(generator):
    inputs, again = layer(generator, masks=["causal"])
    trace = gradient_times_input(again(*inputs), Ref("output", (0, 1, 5)))
    assert (trace["gradient_x_input"][0, 2:] == 0).all()
    assert (trace["gradient_x_input"][0, :2] != 0).all()


def test_five_faces(generator):
    inputs, again = layer(generator)
    trace = gradient_times_input(again(*inputs), Ref("output", (1, 2, 3)))
    assert trace.step("gradient").operation is None
    assert trace.step("gradient_x_input").dims == ("B", "T")
    assert_five_faces(trace, "gradient_x_input")


def test_a_word_with_a_large_weight_and_nothing_to_say():
    """Head 2 gives "chased" .89 of what "dog" attends with, and "chased" has no colour to give."""
    trace = EXAMPLES["en_colour"].run()
    colour = gradient_times_input(trace, Ref("output", (0, 4, 0)))["gradient_x_input"][0]
    assert trace["weights"][0, 1, 4, 2].item() == pytest.approx(0.889, abs=5e-4)
    assert colour[2].item() == pytest.approx(0.0, abs=1e-9)
    assert colour.abs().argmax() == 3  # white


def test_the_run_stays_as_it_is(generator):
    inputs, again = layer(generator)
    before = again(*inputs)
    after = gradient_times_input(before, Ref("output", (0, 0, 0)))
    assert [name for name in after.steps if name not in before] == ["gradient", "gradient_x_input"]
    assert all(after[name] is before[name] for name in before.steps)
    assert not any(step.value.requires_grad for step in after.steps.values())


def test_where_no_word_is_known():
    q = torch.ones(2, 3)
    with pytest.raises(AttentionError):
        gradient_times_input(attend_qkv(q, q, q), Ref("output", (0, 0, 0)))
    with pytest.raises(KeyError):
        gradient_times_input(attend(q), Ref("nowhere", (0,)))
