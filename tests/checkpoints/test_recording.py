"""Records models that a notebook holds; plants faults in what was recorded; runs many threads at once."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Thread

import pytest
import torch
import transformers
from torch import nn

from attention_core.checkpoints import AttentionCall, Recording, census, record
from attention_core.checkpoints import recording as recording_module
from attention_core.checkpoints.interface import record_into
from attention_core.checkpoints.layer_proof import find_largest_terms
from attention_core.record.errors import AttentionError
from tests.checkpoints.families import FAMILIES
from tests.checkpoints.tiny_models import make_model, picture, small_config, text


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
    expected = "model.layers.0.self_attn: every number that the model computes must be finite: its k is nan"
    assert row.reason == f"{expected} at (1, 0, 2, 3)"
    assert row.apart is None and not row.passed


def test_the_bound_is_two_roundings_of_the_terms_of_the_largest_score():
    recording = record(llama(), **text())
    call, row = recording.calls[1], recording.proof()[1]
    q, k = call.q.double(), call.k.double().repeat_interleave(2, 1)
    scores = q @ k.mT / call.q.shape[-1] ** 0.5
    allowed = (call.mask > -1).expand_as(scores)
    terms = q.abs() @ k.abs().mT / call.q.shape[-1] ** 0.5
    assert row.bound == pytest.approx(2 * 2.0**-24 * (1 + float(terms[allowed].max())), rel=1e-12)
    weights = scores.masked_fill(~allowed, -torch.inf).softmax(-1)
    apart = (weights - call.weights.double()).abs().max()
    assert row.apart == pytest.approx(float(apart), rel=1e-6)
    assert (row.layer, row.blocked_rows) == ("model.layers.1.self_attn", 0)


def test_wide_heads_whose_terms_cancel_are_proven():
    """As Gemma's, of 256 numbers: beyond a bound of the scores alone, which are smaller than their terms."""
    generator = torch.Generator().manual_seed(0)
    q, k, v = torch.randn(3, 1, 4, 11, 256, generator=generator)
    q, k = q + 8, k + torch.tensor([8.0, -8.0]).repeat_interleave(128)
    weights = (q @ k.mT / 16).softmax(-1)
    call = AttentionCall("layer", q, k, v, (weights @ v).transpose(1, 2), weights)
    row = Recording((call,), None).prove_layer(0)
    assert row.passed
    largest = float((q @ k.mT / 16).abs().max())
    assert row.apart > 2 * 2.0**-24 * (1 + largest)


def test_a_bias_is_a_term_of_the_score():
    q = torch.ones(1, 1, 2, 1)
    bias = torch.tensor([[-900.0, 5.0], [0.0, -7.0]])
    call = AttentionCall("layer", q, -2 * q, q, q, bias=bias, scale=-3.0)
    assert find_largest_terms(call) == 6 + 900
    assert find_largest_terms(replace(call, mask=torch.tensor([[False, True], [True, True]]))) == 6 + 7


def test_a_model_whose_own_weights_are_no_numbers_is_said_to_be_so():
    recording = record(llama(), **text())
    changed = with_first(recording, weights=recording.calls[0].weights * torch.nan)
    row, *_ = changed.proof()
    assert (row.passed, row.apart, row.output_apart) == (False, None, None)
    assert row.reason.startswith("every weight and output of a model must be finite")


def test_a_model_that_draws_numbers_is_recorded_once_and_not_run_again():
    """Its second run would hide other patches of the picture. Torch's one generator is shared, so nobody sets it."""
    config = small_config(transformers.ViTMAEConfig, decoder_num_hidden_layers=1, decoder_intermediate_size=24)
    model = make_model("ViTMAEModel", config)
    for _ in range(2):  # watched, then by the interface
        recording = record(model, **picture())
        assert all(row.passed for row in recording.proof())
        for ask, given in ((recording.from_x, [0]), (recording.whole, []), (recording.without, [[(0, 0)]])):
            with pytest.raises(AttentionError, match="draws random numbers") as refused:
                ask(*given)
            assert refused.value.code == "model_draws_numbers"


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


def test_a_run_in_which_nothing_was_found_teaches_nothing():
    class Mixed(nn.Module):
        def __init__(self):
            super().__init__()
            self.attention = nn.MultiheadAttention(6, 2, batch_first=True)

        def forward(self, x):
            return x if x.shape[1] == 1 else self.attention(x, x, x)[0]

    model, x = Mixed().eval(), torch.randn(2, 5, 6, generator=torch.Generator().manual_seed(0))
    with pytest.raises(AttentionError, match="no softmax was computed"):
        record(model, x=x[:, :1])
    assert record(model, x=x).layers == ("attention",)


def test_what_is_missing_is_named_in_every_run():
    class Beside(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = llama()

        def forward(self, input_ids):
            logits = self.inner(input_ids=input_ids).logits
            return torch.einsum("bts,bts->bts", (logits @ logits.mT).softmax(-1).sin(), logits[..., :11])

    model, ids = Beside().eval(), text()["input_ids"]
    for _ in range(2):
        [reason] = record(model, input_ids=ids).missing
        assert str(reason) == "Beside: a softmax over (2, 11, 11) meets no values"


def test_a_model_that_records_another_is_recorded():
    inner = llama()

    class Outer(nn.Module):
        def __init__(self):
            super().__init__()
            self.attention = nn.MultiheadAttention(6, 2, batch_first=True)

        def forward(self, x):
            self.recording = record(inner, **text())
            return self.attention(x, x, x)[0]

    model, recordings = Outer().eval(), []
    x = torch.randn(2, 5, 6, generator=torch.Generator().manual_seed(0))
    runner = Thread(target=lambda: recordings.append(record(model, x)), daemon=True)
    runner.start()
    runner.join(timeout=60)  # else it waits for itself
    [recording] = recordings
    assert "attention" in recording.layers and recording.passed
    assert len(model.recording.calls) == 3 and model.recording.passed


@pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")
def test_a_scripted_part_is_run_without_its_names():
    part = torch.jit.script(nn.Linear(6, 6))

    class Scripted(nn.Module):
        def __init__(self):
            super().__init__()
            self.part, self.attention = part, nn.MultiheadAttention(6, 2, batch_first=True)

        def forward(self, x):
            return self.attention(*[self.part(x)] * 3)[0]

    recording = record(Scripted().eval(), torch.randn(2, 5, 6, generator=torch.Generator().manual_seed(0)))
    assert recording.layers == ("attention",) and recording.passed


# ---- sinks -----------------------------------------------------------------------------------------------------------
def with_sink(module, query, key, value, attention_mask, scaling, s_aux):
    """Eager attention with one further score, the sink."""
    scores = torch.cat([query @ key.mT * scaling, s_aux.expand(*query.shape[:-1], 1)], -1)
    weights = scores.softmax(-1)[..., :-1]
    return (weights @ value).transpose(1, 2), weights


def with_sink_behind(module, query, key, value, attention_mask, scaling, s_aux):
    """The same, where the sink takes its share from the output, and the weights are those from before."""
    scores = query @ key.mT * scaling
    output = scores.softmax(-1) @ value * (scores.logsumexp(-1, keepdim=True) - s_aux).sigmoid()
    return output.transpose(1, 2), scores.softmax(-1)


@pytest.mark.parametrize("eager, hands_out", [(with_sink, True), (with_sink_behind, False)])
@pytest.mark.parametrize("shape", [(1, 3, 1, 1), (2, 3, 5, 1)], ids=["a_head", "a_query"])
def test_sinks_are_read_wherever_they_take_their_share(eager, hands_out, shape):
    generator = torch.Generator().manual_seed(0)
    q, k, v = torch.randn(3, 2, 3, 5, 4, generator=generator)
    sinks = torch.randn(shape, generator=generator)
    calls = []
    record_into(calls, eager)(None, q, k, v, None, scaling=0.5, s_aux=sinks)
    [(_, call)] = calls
    recording = Recording((call,), None)
    [row] = recording.proof()
    assert row.passed, row.reason
    assert (row.apart is not None) is hands_out
    expected = with_sink(None, q.double(), k.double(), v.double(), None, 0.5, sinks.double())[1]
    assert torch.allclose(recording.traces[0]["weights"], expected, atol=1e-12)
    assert not with_first(Recording((call, call), None), sinks=call.sinks + 0.1).prove_layer(0).passed


def test_what_is_no_module_is_refused():
    with pytest.raises(AttentionError, match=r"must be a torch\.nn\.Module: it is of the type function"):
        record(lambda x: x, torch.ones(1))


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


# ---- what layers share -----------------------------------------------------------------------------------------------
def test_a_mask_that_layers_share_is_read_once(monkeypatch):
    """Of a Gemma 3 with sliding and full layers two masks, of a GPT-2 one; each layer still has its own."""
    count = []
    read = recording_module.read_mechanism
    monkeypatch.setattr(recording_module, "read_mechanism", lambda *given: count.append(1) or read(*given))
    for name, masks in (("GPT2LMHeadModel", 1), ("Gemma3ForCausalLM", 2)):
        count.clear()
        family = next(family for family in FAMILIES if family.name == name)
        recording = record(family.make(), **family.inputs())
        assert recording.passed and len(recording.traces) == 3
        assert len(count) == masks
        assert len({str(run.config.masks) for run in recording.runs.values()}) == masks
