"""Records models that a notebook holds; plants faults in what was recorded; runs many threads at once."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
import torch
from torch import nn

from attention_core.checkpoints import Recording, census, record
from attention_core.record.errors import AttentionError
from tests.checkpoints.families import FAMILIES
from tests.checkpoints.tiny_models import text


def llama() -> nn.Module:
    """A tiny Llama with grouped heads."""
    return next(family for family in FAMILIES if family.name == "LlamaForCausalLM").make()


def with_first(recording: Recording, **changes: object) -> Recording:
    """The recording with a change of its first call."""
    first, *others = recording.calls
    return Recording((replace(first, **changes), *others), recording.outputs)


def nudged(tensor: torch.Tensor, by: float = 1e-3) -> torch.Tensor:
    """A copy with one number changed."""
    copy = tensor.clone()
    copy[0, 0, 4, 0] += by
    return copy


# ---- faults ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "plant, word",
    [
        (lambda call: {"q": nudged(call.q)}, "weight"),
        (lambda call: {"v": nudged(call.v)}, "output"),
        (lambda call: {"scale": call.scale * 1.001}, "weight"),
        (lambda call: {"k": call.k.flip(1)}, "weight"),
        (lambda call: {"mask": None}, "weight"),
        (lambda call: {"weights": call.weights.roll(1, dims=1)}, "do not give its output"),
        (lambda call: {"output": call.output.flip(1)}, "output"),
    ],
    ids=["q", "v", "scale", "key_heads", "no_mask", "other_weights", "output"],
)
def test_a_planted_fault_makes_its_layer_red_and_says_by_how_much(plant, word):
    recording = record(llama(), **text())
    assert recording.passed
    changed = with_first(recording, **plant(recording.calls[0]))
    first, *others = changed.proof()
    assert not first.passed and word in first.reason
    assert all(row.passed for row in others) and not changed.passed


def test_a_number_that_is_not_finite_is_said_at_its_layer():
    recording = record(llama(), **text())
    k = recording.calls[0].k.clone()
    k[1, 0, 2, 3] = float("nan")
    row = with_first(recording, k=k).prove_layer(0)
    assert row.reason == "k must be finite everywhere: nan at (1, 0, 2, 3)"
    assert row.apart is None and not row.passed


def test_the_bound_is_two_roundings_of_the_largest_score():
    recording = record(llama(), **text())
    call, row = recording.calls[1], recording.proof()[1]
    q, k = call.q.double(), call.k.double().repeat_interleave(2, 1)
    scores = q @ k.mT / call.q.shape[-1] ** 0.5
    allowed = (call.mask > -1).expand_as(scores)
    assert row.bound == pytest.approx(2 * 2.0**-24 * (1 + float(scores[allowed].abs().max())), rel=1e-12)
    weights = scores.masked_fill(~allowed, -torch.inf).softmax(-1)
    apart = (weights - call.weights.double()).abs().max()
    assert row.apart == pytest.approx(float(apart), rel=1e-6)
    assert (row.layer, row.blocked_rows) == ("model.layers.1.self_attn", 0)


# ---- one run beside others -------------------------------------------------------------------------------------------
def test_six_threads_keep_apart():
    model = llama()
    plain = [model(**text(length=8 + number)).logits.detach() for number in range(6)]

    def run(number: int) -> Recording:
        return record(model, **text(length=8 + number))

    with ThreadPoolExecutor(6) as pool:
        recordings = list(pool.map(run, [*range(6)] * 3))
    for number, recording in zip([*range(6)] * 3, recordings, strict=True):
        assert [call.sizes for call in recording.calls] == [(2, 4, 8 + number, 8 + number)] * 3
        assert torch.equal(recording.logits, plain[number])
        assert recording.passed


def test_a_model_that_raises_leaves_nothing_recording():
    model = llama()
    with pytest.raises(ValueError, match="input_ids"):
        record(model, attention_mask=text()["attention_mask"])
    assert record(model, **text()).passed


def test_a_model_in_training_is_refused():
    with pytest.raises(AttentionError, match="eval mode"):
        record(llama().train(), **text())


def test_a_layer_beside_attention_is_named_as_missing():
    layers = nn.ModuleList([nn.TransformerEncoderLayer(6, 2, 8, batch_first=True), nn.Linear(6, 6)])

    class Mixed(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = layers

        def forward(self, x):
            for layer in self.layers:
                x = layer(x)
            return x

    counted = census(Mixed().eval(), torch.randn(2, 5, 6, generator=torch.Generator().manual_seed(0)))
    assert counted.layers == counted.watched == ("layers.0.self_attn",)
    assert [str(error) for error in counted.missing] == ["layers.1: computes no attention by a softmax"]
