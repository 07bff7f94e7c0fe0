"""The last vectors of recorded models as sums: which close, what is in them beside the model's own modules, faults."""

from dataclasses import replace

import pytest
import torch

from attention_core import AttentionError
from attention_core.checkpoints import Recording, record
from attention_core.checkpoints.stream_sum import StreamSum
from attention_core.verification.proof import prove
from tests.checkpoints.families import FAMILIES, Family
from tests.checkpoints.tiny_models import text

NO_SUM = {
    "MobileBertForMaskedLM": "stream_no_sum",
    "SqueezeBertForMaskedLM": "stream_no_sum",
    "XLMWithLMHeadModel": "stream_no_sum",
    "Gemma3nForCausalLM": "stream_no_sum",
    "T5ForConditionalGeneration": "stream_no_sum",
    "UMT5ForConditionalGeneration": "stream_no_sum",
    "LongT5ForConditionalGeneration": "stream_no_sum",
    "ProphetNetForConditionalGeneration": "stream_no_sum",
    "CLIPModel": "stack_no_end",
}  # a norm, a factor or a product of masks lies behind the sum
OPEN = {"XLNetLMHeadModel"}
OFTEN = {"LlamaForCausalLM", "BertForMaskedLM", "DeepseekV3ForCausalLM"}
EACH = [
    pytest.param(family, id=family.name, marks=() if family.name in OFTEN else pytest.mark.slow) for family in FAMILIES
]


def find_family(name: str) -> Family:
    """The family of a name."""
    return next(family for family in FAMILIES if family.name == name)


@pytest.mark.parametrize("family", EACH)
def test_the_last_vectors_are_a_sum_or_it_is_said_why_not(family: Family):
    recording = record(family.make(), **family.inputs())
    if family.name in NO_SUM:
        with pytest.raises(AttentionError) as raised:
            recording.residual_sum()
        assert raised.value.code == NO_SUM[family.name]
        return
    assert recording.residual_sum().passed == (family.name not in OPEN)


def test_seventy_four_of_the_families_are_sums():
    assert len(FAMILIES) - len(NO_SUM) - len(OPEN) == 74


def part(found: StreamSum, label: str) -> torch.Tensor:
    """What one part adds."""
    return found.trace["parts"][found.labels.index(label)]


def test_the_parts_are_what_the_modules_of_a_llama_made_through_its_last_norm():
    model, kept = find_family("LlamaForCausalLM").make(), {}

    def keep(name: str) -> None:
        def hook(_, given: tuple, made: object) -> None:
            kept[name] = given[0] if name == "model.norm" else made[0] if isinstance(made, tuple) else made

        model.get_submodule(name).register_forward_hook(hook)

    for name in ("model.norm", "model.embed_tokens", "model.layers.1.mlp", "model.layers.2.self_attn"):
        keep(name)
    found = record(model, **text()).residual_sum()
    kept = {name: tensor.detach().double() for name, tensor in kept.items()}
    divisor = (kept["model.norm"].square().mean(-1, keepdim=True) + model.config.rms_norm_eps).sqrt()
    gain = model.model.norm.weight.detach().double()
    heads = sum(part(found, f"model.layers.2.self_attn.head_{h}") for h in range(1, 5))
    parts = {
        "model.embed_tokens": part(found, "model.embed_tokens"),
        "model.layers.1.mlp": part(found, "model.layers.1.mlp.down_proj"),
        "model.layers.2.self_attn": heads,
    }
    for name, numbers in parts.items():
        torch.testing.assert_close(numbers, kept[name] / divisor * gain, rtol=0, atol=1e-5)


def test_every_step_of_a_sum_is_proven():
    found = record(find_family("BertForMaskedLM").make(), **text()).residual_sum()
    assert prove(found.trace).passed
    assert any(label.endswith(".shift") for label in found.labels)


def test_a_part_that_is_left_out_opens_the_sum():
    found = record(find_family("LlamaForCausalLM").make(), **text()).residual_sum()
    step = found.trace.step("parts_sum")
    for n, label in enumerate(found.labels):
        less = replace(step, value=step.value - found.trace["parts"][n])
        wrong = replace(found, trace=replace(found.trace, steps={**found.trace.steps, "parts_sum": less}))
        assert not wrong.passed, label


def test_a_recording_of_no_run_has_no_sum():
    recording = record(find_family("GPT2LMHeadModel").make(), **text())
    with pytest.raises(AttentionError) as raised:
        Recording(recording.calls, recording.outputs).residual_sum()
    assert raised.value.code == "no_model"


# ---- by layer --------------------------------------------------------------------------------------------------------
AT, WORD = 4, 11


@pytest.mark.parametrize("name", ["LlamaForCausalLM", "DeepseekV3ForCausalLM", "GPTJForCausalLM"])
def test_what_each_layer_adds_to_a_logit_sums_to_the_logit(name: str):
    """DeepSeek V3 is not whole: its experts are one part. GPT-J has a bias of the logits, and parallel layers."""
    recording = record(find_family(name).make(), **text())
    found = recording.residual_sum().by_layer()
    pushes = found.pushes(AT, WORD)
    assert len(pushes) == len(found.labels) + (name == "GPTJForCausalLM")
    logits = recording.logits[0, AT].double()
    assert sum(pushes) == pytest.approx(float(logits[WORD]), abs=2e-6 * float(logits.abs().max()))
    assert found.passed and sum(found.shares(AT)) == pytest.approx(1, abs=1e-9)
    assert sum("self_attn" in label or label.endswith(".attn") for label in found.labels) == 3


def test_a_layer_adds_what_its_module_made_over_the_divisor_of_the_last_norm():
    model, kept = find_family("LlamaForCausalLM").make(), {}
    module, last = model.model.layers[1].self_attn, model.model.norm
    hooks = [
        module.register_forward_hook(lambda _, __, made: kept.update(attention=made[0].double())),
        last.register_forward_hook(lambda _, given, __: kept.update(end=given[0].double())),
    ]
    with torch.no_grad():
        model(**text())
    for hook in hooks:
        hook.remove()
    found = record(model, **text()).residual_sum().by_layer()
    divisor = (kept["end"][0, AT].square().mean() + model.config.rms_norm_eps).sqrt()
    gain = last.weight.detach().double()
    expected = kept["attention"][0, AT] / divisor * gain
    at = found.labels.index("model.layers.1.self_attn")
    torch.testing.assert_close(found.vectors[at, 0, AT], expected, rtol=0, atol=1e-5)
    assert found.lengths(AT)[at] == pytest.approx(float(expected.norm()), abs=1e-5)
    total = kept["end"][0, AT] / divisor * gain
    share = float(expected @ total / total.square().sum())
    assert found.shares(AT)[at] == pytest.approx(share, abs=1e-5)


@pytest.mark.parametrize("name", ["BertForMaskedLM", "Gemma2ForCausalLM"])
def test_logits_that_no_single_map_computes_from_the_vectors_are_not_split(name: str):
    """BERT's head changes the vectors first, Gemma 2 caps the logits."""
    found = record(find_family(name).make(), **text()).residual_sum()
    assert found.words is None and found.by_layer().words is None
