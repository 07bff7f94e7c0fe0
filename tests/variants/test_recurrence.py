"""The states of a recurrence as steps of a run: against torch's own RNN, the encoder, and by hand."""

import math

import numpy as np
import pytest
import torch

from attention_core import AttentionError, attend, explain, prove
from attention_core.record.cell_functions import evaluate
from attention_core.record.expressions import Ref
from attention_core.variants.encoders import Encoder, draw_layers, encode
from attention_core.variants.recurrence import with_states


def run(T=7, D=5, width=3, shown=2, B=2, **choices):
    x = torch.randn(B, T, D, generator=torch.Generator().manual_seed(T * D), dtype=torch.float64)
    return with_states(attend(x), Encoder("rnn", width=width, **choices), shown)


def test_states_are_torchs():
    trace = run()
    module = torch.nn.RNN(5, 3, batch_first=True, dtype=torch.float64)
    with torch.no_grad():
        module.weight_ih_l0.copy_(trace["w_x"].T)
        module.weight_hh_l0.copy_(trace["w_h"].T)
        module.bias_ih_l0.zero_()
        module.bias_hh_l0.zero_()
        expected, _ = module(trace["x"])  # (B, T, d_h)
    for t in range(7):
        assert torch.allclose(trace[f"h_{t + 1}"], expected[:, t], atol=1e-10, rtol=0)
    assert torch.equal(trace["h_0"], torch.zeros(2, 3).double())


def test_states_are_the_encoders():
    for choices in ({}, {"gain": 1.2}, {"gain": 0.5, "seed": 7}):
        trace, encoder = run(**choices), Encoder("rnn", width=3, **choices)
        hidden = encode(encoder, trace["x"], draw_layers(encoder, 5))
        assert torch.allclose(trace["h_7"], hidden[:, -1], atol=1e-10, rtol=0)


def test_states_so_far_stand_beside_each_other():
    trace = run(shown=3)
    assert trace["states"].shape == (2, 3, 3)
    assert trace.step("states").dims == ("B", "d_h", "T")
    for t in range(3):
        assert torch.equal(trace["states"][:, :, t], trace[f"h_{t + 1}"])
    assert run(shown=7)["states"].shape == (2, 3, 7)


def test_every_cell_follows_from_its_operands_and_all_is_proven():
    trace = run()
    for name in ("h_1", "h_5", "states"):
        for index in np.ndindex(*trace[name].shape):
            cell = trace.step(name).operation.cell(index, trace.shapes())
            number = evaluate(cell, lambda ref: trace[ref.step][ref.index].item())
            assert number == pytest.approx(trace[name][index].item(), abs=1e-14)
    proof = prove(trace)
    assert proof.passed, proof.failed


def test_a_number_is_followed_back_word_by_word():
    """From h_4 to the first word: each step names the state before it, and the word of its own place alone."""
    trace, cell = run(), Ref("h_4", (0, 1))
    for t in (4, 3, 2, 1):
        read = trace.read_by(cell)
        assert {ref.index[1] for ref in read if ref.step == "x"} == {t - 1}
        (before,) = {ref.step for ref in read if ref.step.startswith("h_")}
        assert before == f"h_{t - 1}"
        cell = next(ref for ref in read if ref.step == before)
    assert trace.step("h_0").operation is None


def test_by_hand():
    """One number a word and a state: h_1 = tanh(w · 2), h_2 = tanh(w · (-1) + u h_1)."""
    trace = with_states(attend(torch.tensor([[2.0], [-1.0]]).double()), Encoder("rnn", width=1, seed=5))
    w, u = trace["w_x"].item(), trace["w_h"].item()
    first = math.tanh(2 * w)
    assert trace["h_1"].item() == pytest.approx(first, abs=1e-12)
    assert trace["h_2"].item() == pytest.approx(math.tanh(-w + u * first), abs=1e-12)
    assert explain(trace, "h_2", (0, 0)).text.startswith("tanh(")


def test_the_run_before_it_stays():
    x = torch.randn(1, 4, 3, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    before = attend(x)
    after = with_states(before, Encoder("rnn", width=2))
    assert all(after[name] is before[name] for name in before.steps)


@pytest.mark.parametrize("encoder, shown, code", [("gru", 1, "unknown_choice"), ("rnn", 0, "positive_integer")])
def test_refused(encoder, shown, code):
    with pytest.raises(AttentionError) as refused:
        with_states(attend(torch.ones(3, 2)), Encoder(encoder, width=2), shown)
    assert refused.value.code == code
