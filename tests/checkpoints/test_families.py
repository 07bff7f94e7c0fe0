"""Records tiny models of many architectures, and proves every layer; the numbers beside ours are the model's own."""

import pytest
import torch
import transformers

from attention_core.checkpoints import AttentionCall, record
from attention_core.record.errors import AttentionError
from tests.checkpoints.families import FAMILIES, Family
from tests.checkpoints.tiny_models import make_model, small_config, text

transformers.logging.set_verbosity_error()
# in each run; the others in the slow one
OFTEN = {"BertForMaskedLM", "GptOssForCausalLM", "T5ForConditionalGeneration", "Falcon with ALiBi"}
EACH = [
    pytest.param(family, id=family.name, marks=() if family.name in OFTEN else pytest.mark.slow) for family in FAMILIES
]


def first_numbers(outputs: transformers.utils.ModelOutput) -> torch.Tensor:
    """The first tensor of numbers that a model returned."""
    return next(value for value in outputs.values() if isinstance(value, torch.Tensor) and value.is_floating_point())


@pytest.mark.parametrize("family", EACH)
def test_every_layer_is_recorded_and_proven(family: Family):
    model, inputs = family.make(), family.inputs()
    with torch.no_grad():
        plain = first_numbers(model(**inputs))
    for _ in range(2):  # watched, then as the first time taught
        recording = record(model, **inputs)
        assert torch.equal(first_numbers(recording.outputs), plain)
        assert [row.reason for row in recording.proof() if not row.passed] == []
        assert len(recording.traces) == family.calls
    first = record(family.make(), **inputs)
    assert len(first.missing) == family.missing
    for trace, call in zip(first.traces, first.calls, strict=True):
        assert trace["weights"].shape == call.weights.shape


IN_HALVES = {*OFTEN, "GPT2LMHeadModel", "Qwen3ForCausalLM", "SwinModel", "Gemma2ForCausalLM", "DeepseekV3ForCausalLM"}
HALVES = [family for family in FAMILIES if family.name in IN_HALVES]


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("family", HALVES, ids=lambda family: family.name)
def test_a_model_of_half_precision_keeps_to_its_own_bound(family: Family, dtype: torch.dtype):
    inputs = family.inputs()
    given = {name: value.to(dtype) if value.is_floating_point() else value for name, value in inputs.items()}
    rows = record(family.make(dtype), **given).proof()
    assert [row.reason for row in rows if not row.passed] == []
    assert max(row.apart for row in rows) > 1e-5  # so that the bound of float32 would not do


# ---- what the mechanism is -------------------------------------------------------------------------------------------
def mechanisms(name: str) -> list:
    """The choices of each layer of a family: masks, positions, modifiers, normaliser, scale, what is given."""
    family = next(family for family in FAMILIES if family.name == name)
    recording = record(family.make(), **family.inputs())
    runs = [recording.run(layer) for layer in range(len(recording.calls))]
    return [
        (
            [(kind, dict(params)) for kind, params in run.config.masks],
            [kind for kind, _ in (*run.config.positions, *run.config.modifiers, run.config.normaliser)],
            run.config.scale,
            run.given,
        )
        for run in runs
    ]


PADDED = ("padding", {"lengths": (11, 8)})
CAUSAL = ("causal", {})


@pytest.mark.slow
@pytest.mark.parametrize(
    "name, layer, expected",
    [
        ("BertForMaskedLM", 0, ([PADDED], ["softmax"], None, ())),
        ("ModernBertForMaskedLM", 1, ([("local", {"window": 3}), PADDED], ["softmax"], None, ())),
        ("OPTForCausalLM", 0, ([CAUSAL, PADDED], ["softmax"], 1.0, ())),  # q is scaled before
        ("MistralForCausalLM", 0, ([("sliding", {"window": 5}), PADDED], ["softmax"], None, ())),
        ("Gemma2ForCausalLM", 1, ([CAUSAL, PADDED], ["softcap", "softmax"], 256**-0.5, ())),
        ("GptOssForCausalLM", 1, ([CAUSAL, PADDED], ["sinks"], None, ())),
        ("Falcon with ALiBi", 0, ([CAUSAL, PADDED], ["alibi", "softmax"], None, ())),
        ("BloomForCausalLM", 0, ([CAUSAL, PADDED], ["alibi", "softmax"], None, ())),
        ("T5ForConditionalGeneration", 0, ([PADDED], ["t5", "softmax"], 1.0, ())),
        ("T5ForConditionalGeneration", 3, ([CAUSAL], ["t5", "softmax"], 1.0, ())),
        ("SwinModel", 0, ([], ["softmax"], None, ("bias",))),
        ("DebertaForMaskedLM", 0, ([], ["softmax"], 1.0, ("mask", "bias"))),
        ("Llama4ForCausalLM", 0, ([], ["softmax"], None, ("mask",))),
        ("LlamaForCausalLM", 0, ([CAUSAL, PADDED], ["softmax"], None, ())),
    ],
)
def test_masks_and_positions_have_their_names(name: str, layer: int, expected: tuple):
    found = mechanisms(name)
    assert expected in found
    assert name == "Gemma2ForCausalLM" or found[layer] == expected


MAMBA = {"num_heads": 8, "head_dim": 16, "state_size": 8, "n_groups": 1, "chunk_size": 4}


# ---- what computes no attention --------------------------------------------------------------------------------------
@pytest.mark.slow
@pytest.mark.parametrize(
    "name, own, reason",
    [
        ("LongformerForMaskedLM", {"attention_window": 4}, "meets no values"),
        ("FNetForMaskedLM", {}, "no softmax was computed"),
        ("RwkvForCausalLM", {}, "no softmax was computed"),
        (
            "Mamba2ForCausalLM",
            MAMBA,
            "no softmax",
        ),
    ],
)
def test_a_model_without_attention_is_refused_with_the_reason(name: str, own: dict, reason: str):
    kind = getattr(transformers, name).config_class
    model = make_model(name, small_config(kind, **own))
    inputs = {"input_ids": text()["input_ids"]} if "FNet" in name else text()
    with pytest.raises(AttentionError, match=f"must compute attention, .*{reason}"):
        record(model, **inputs)


def test_the_calls_are_those_of_the_model_on_sdpa_too():
    config = small_config(transformers.LlamaConfig)
    model = make_model("LlamaForCausalLM", config)
    inputs = text()
    eager = record(model, **inputs)
    model.set_attn_implementation("sdpa")
    fused = record(model, **inputs)
    assert model.config._attn_implementation == "sdpa"
    assert torch.equal(fused.logits, eager.logits)
    assert [call.mask is None for call in fused.calls] == [False] * 3  # the future stays blocked
    assert isinstance(fused.calls[0], AttentionCall)
