"""Whole recorded models as stacks of the core: which families become one, what the others lack, and planted faults."""

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
import transformers
from torch import Tensor

from attention_core import AttentionError, run_stack, with_logit_sum, with_residual_sum
from attention_core.analysis.interventions import Intervention, intervene
from attention_core.checkpoints import model_run, record
from attention_core.checkpoints.model_run import make_recording
from attention_core.checkpoints.vector_norms import VectorNorm
from attention_core.checkpoints.whole_run import WholeRun
from attention_core.transformer.stack import StackWeights
from attention_core.verification.proof import prove_stack
from tests.checkpoints.families import FAMILIES, Family
from tests.checkpoints.tiny_models import make_model, small_config, text

RECORDED = {
    "Qwen2MoeForCausalLM",
    "Qwen3MoeForCausalLM",
    "GptOssForCausalLM",
    "MiMoV2FlashForCausalLM",
    "ApertusForCausalLM",
    "OlmoeForCausalLM",
}  # with recorded parts in the place of experts, or of an activation that the core lacks
IN_WORDS = {
    "EuroBertForMaskedLM",
    "OpenAIGPTLMHeadModel",
    "GPT2LMHeadModel",
    "GPTNeoForCausalLM",
    "OPTForCausalLM",
    "BloomForCausalLM",
    "GPTBigCodeForCausalLM",
    "XGLMForCausalLM",
    "BioGptForCausalLM",
    "CTRLLMHeadModel",
    "Phi3ForCausalLM",
    "LlamaForCausalLM",
    "Llama 3",
    "MistralForCausalLM",
    "Qwen2ForCausalLM",
    "Qwen3ForCausalLM",
    "GemmaForCausalLM",
    "OlmoForCausalLM",
    "Olmo2ForCausalLM",
    "PersimmonForCausalLM",
    "SmolLM3ForCausalLM",
    "GlmForCausalLM",
    "Gemma3ForCausalLM",
    "GPTNeoXForCausalLM",
    "GPTJForCausalLM",
    "CodeGenForCausalLM",
    "FalconForCausalLM",
    "Falcon with ALiBi",
    "HeliumForCausalLM",
    "ArceeForCausalLM",
    "Lfm2ForCausalLM",
} | RECORDED  # whole up to the logits
IN_VECTORS = {
    "BertForMaskedLM",
    "RobertaForMaskedLM",
    "ModernBertForMaskedLM",
    "DistilBertForMaskedLM",
    "ElectraForMaskedLM",
    "ErnieForMaskedLM",
    "EsmForMaskedLM",
    "NomicBertForMaskedLM",
    "MPNetForMaskedLM",
    "RoFormerForMaskedLM",
    "BigBirdForMaskedLM",
    "ModernBertDecoderForCausalLM",
    "Gemma2ForCausalLM",
    "CohereForCausalLM",
    "Cohere2ForCausalLM",
    "NanoChatForCausalLM",
    "ViTModel",
    "DeiTModel",
}  # whole up to the vectors: their heads change these before words are read, or they have none
OFTEN = {"LlamaForCausalLM", "OPTForCausalLM", "BertForMaskedLM", "GPT2LMHeadModel"}
EACH = [
    pytest.param(family, id=family.name, marks=() if family.name in OFTEN else pytest.mark.slow) for family in FAMILIES
]
LACKS = {
    "BitNetForCausalLM": "stack_feed_forward",
    "Llama4ForCausalLM": "stack_given",
    "BeitModel": "stack_changed",
    "Dinov2Model": "stack_changed",  # times a gain
    "DebertaV2ForMaskedLM": "stack_given",
    "SwinModel": "stack_given",
    "BartForConditionalGeneration": "stack_reads",  # cross-attention
    "Qwen3NextForCausalLM": "stack_layers",  # a gate before W_o
    "DeepseekV3ForCausalLM": "stack_reads",  # compressed queries
    "CLIPModel": "stack_no_end",
}
CHAIN = 5e-6  # of the largest number: what a run from the first vectors to the end differs by; measured: 1e-6


def whole(name: str) -> WholeRun:
    """A tiny model of a family as a stack of the core."""
    family = next(family for family in FAMILIES if family.name == name)
    return record(family.make(), **family.inputs()).whole()


def apart(one: Tensor, other: Tensor) -> float:
    """The largest difference, in units of the largest number."""
    return float((one - other).abs().max()) / max(1.0, float(other.abs().max()))


# ---- families --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("family", EACH)
def test_a_model_is_whole_or_says_what_the_core_lacks(family: Family):
    recording = record(family.make(), **family.inputs())
    if family.name not in IN_WORDS | IN_VECTORS:
        with pytest.raises(AttentionError) as raised:
            recording.whole()
        assert raised.value.code == LACKS.get(family.name, raised.value.code)
        return
    run = recording.whole()
    assert [row.fault for row in run.proof() if not row.passed] == []
    assert len(run.config.layers) == len(recording.calls)
    assert any(row.recorded for row in run.proof()) == (family.name in RECORDED)
    assert (run.config.unembedding is not None) == (family.name in IN_WORDS)
    chained = run_stack(run.x, run.weights, run.config)
    end = chained["unembedding"]["logits"] if family.name in IN_WORDS else chained.end
    assert apart(end, run.model.end) < CHAIN
    expected = recording.logits if family.name in IN_WORDS else recording.outputs.get("last_hidden_state")
    if expected is not None:
        assert torch.equal(run.model.end, expected.double())


def test_the_maps_that_a_recording_has_found_are_not_searched_again(monkeypatch):
    family = next(family for family in FAMILIES if family.name == "LlamaForCausalLM")
    recording = record(family.make(), **family.inputs())
    assert len(recording.maps) == len(recording.calls)
    monkeypatch.setattr(model_run, "find_layer_maps", lambda *given: pytest.fail("searched again"))
    assert recording.whole().passed


def test_fifty_five_of_the_families_are_whole():
    assert len(IN_WORDS) == 37 and len(RECORDED) == 6 and len(IN_VECTORS) == 18
    assert {family.name for family in FAMILIES} >= IN_WORDS | IN_VECTORS


def test_a_sum_of_the_embedding_is_no_part():
    """MarkupLM adds a linear map of paths to its embedding, before the first layer."""
    config = small_config(transformers.MarkupLMConfig, max_depth=4, xpath_unit_hidden_size=4)
    recording = record(make_model("MarkupLMModel", config), **text())
    run = recording.whole()
    assert run.passed
    assert torch.equal(run.x, recording.maps[0].q.x)
    assert apart(run_stack(run.x, run.weights, run.config).end, recording.outputs.last_hidden_state.double()) < CHAIN


# ---- what the stack is good for --------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["LlamaForCausalLM", pytest.param("OPTForCausalLM", marks=pytest.mark.slow)])
def test_vectors_and_logits_are_sums_of_heads_and_layers(name: str):
    run = whole(name)
    stack = with_logit_sum(with_residual_sum(run.stack), words=(5, 9))
    last = run.model.beginnings[-1]
    assert apart(stack["residual_sum"]["parts"].sum(0), last) < CHAIN
    assert apart(stack["logit_sum"]["pushes"].sum(0), run.model.end[..., [5, 9]]) < CHAIN
    heads = [label for label in stack["logit_sum"].labels["part"] if ".head_" in label]
    assert len(heads) == 3 * 4  # layers, heads of each


def test_every_step_of_both_runs_is_proven():
    run = whole("LlamaForCausalLM")
    assert prove_stack(run.stack).passed
    chained = run_stack(run.x, run.weights, run.config)
    assert prove_stack(chained).passed
    assert list(chained.parts) == list(run.stack.parts)


def test_a_head_that_is_switched_off_changes_what_it_changes_in_the_model():
    """Its columns of W_o are 0 in the model, too."""
    family = next(family for family in FAMILIES if family.name == "LlamaForCausalLM")
    model, run = family.make(), whole("LlamaForCausalLM")
    changed = intervene(run_stack(run.x, run.weights, run.config), [Intervention("2.attention", 1)])
    with torch.no_grad():
        model.model.layers[1].self_attn.o_proj.weight[:, 16:32] = 0
        logits = model(**family.inputs()).logits
    assert apart(logits.double(), run.model.end) > 0.01
    assert apart(changed["unembedding"]["logits"], logits.double()) < CHAIN


class OwnModel(torch.nn.Module):
    """A model that somebody wrote, which returns its logits as they are."""

    def __init__(self):
        super().__init__()
        self.words = torch.nn.Embedding(11, 8)
        self.layer = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, norm_first=True)
        self.to_words = torch.nn.Linear(8, 11)

    def forward(self, ids: Tensor) -> Tensor:
        """The logits of each word."""
        return self.to_words(self.layer(self.words(ids)))


def test_a_model_of_torch_is_whole_up_to_what_it_returns():
    torch.manual_seed(0)
    model, ids = OwnModel().eval(), torch.tensor([[1, 2, 3]])
    recording = record(model, ids)
    run = recording.whole()
    assert list(run.stack.parts) == ["1.attention", "1.feed_forward", "unembedding"]
    assert run.passed
    assert torch.equal(run.model.end, recording.outputs.double())
    vectors = record(model.layer, model.words(ids).detach()).whole()
    assert list(vectors.stack.parts) == ["1.attention", "1.feed_forward"]
    assert vectors.passed


def test_a_recording_of_no_run_has_no_whole_model():
    call = record(torch.nn.MultiheadAttention(4, 2, batch_first=True).eval(), *[torch.eye(4)[None]] * 3).calls[0]
    with pytest.raises(AttentionError) as raised:
        make_recording(torch.nn.Identity(), [call], None).whole()
    assert raised.value.code == "no_model"


# ---- planted faults --------------------------------------------------------------------------------------------------
def with_layer(run: WholeRun, part: str, change: Callable) -> WholeRun:
    """A run with other weights of one part of its second layer."""
    layers = list(run.weights.layers)
    layers[1] = replace(layers[1], **{part: change(getattr(layers[1], part))})
    weights = StackWeights(tuple(layers), norms=run.weights.norms, unembedding=run.weights.unembedding)
    return WholeRun(replace(run.model, weights=weights), run.rounding)


FAULTS = {
    "a gain left out": ("attention", lambda own: replace(own, g_rms_before=torch.ones_like(own.g_rms_before))),
    "W_o transposed": ("attention", lambda own: replace(own, w_o=own.w_o.T)),
    "heads of W_o swapped": ("attention", lambda own: replace(own, w_o=own.w_o.roll(16, 0))),
    "gate and hidden swapped": ("feed_forward", lambda own: replace(own, w_1=own.w_gate, w_gate=own.w_1)),
    "one number of W_2": ("feed_forward", lambda own: replace(own, w_2=own.w_2 + 1e-3 * torch.eye(*own.w_2.shape))),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_found_in_its_part_alone(name: str):
    part, change = FAULTS[name]
    run = with_layer(whole("LlamaForCausalLM"), part, change)
    assert [row.part for row in run.proof() if not row.passed] == [f"2.{part}"]
    assert not run.passed


def test_a_feed_forward_layer_of_the_size_of_the_keys_does_not_stand_beside_attention():
    """2 key heads of width 16 and 32 hidden numbers: W_k and W_v read x, as the maps of a parallel layer do."""
    config = small_config(transformers.LlamaConfig, intermediate_size=32)
    whole = record(make_model("LlamaForCausalLM", config), **text()).whole()
    assert whole.passed
    assert [layer.parallel for layer in whole.config.layers] == [False] * 3


def test_a_parallel_layer_that_is_run_as_a_sequence_is_red():
    run = whole("GPTNeoXForCausalLM")
    assert [layer.parallel for layer in run.config.layers] == [True] * 3
    first, *others = run.config.layers
    config = replace(run.config, layers=(replace(first, parallel=False), *others))
    wrong = WholeRun(replace(run.model, config=config), run.rounding)
    assert [row.part for row in wrong.proof() if not row.passed] == ["1.feed_forward"]


def test_the_norm_of_what_a_layer_adds_is_the_models_own_and_without_it_the_part_is_red():
    family = next(family for family in FAMILIES if family.name == "Gemma3ForCausalLM")
    model, run = family.make(), whole("Gemma3ForCausalLM")
    own = model.model.layers[1].post_feedforward_layernorm
    assert torch.equal(run.weights.layers[1].feed_forward.g_rms_output, 1 + own.weight.double())
    wrong = with_layer(run, "feed_forward", lambda fed: replace(fed, g_rms_output=torch.ones_like(fed.g_rms_output)))
    assert [row.part for row in wrong.proof() if not row.passed] == ["2.feed_forward"]
    stack = with_residual_sum(run.stack)
    assert apart(stack["residual_sum"]["parts"].sum(0), run.model.beginnings[-1]) < CHAIN


def test_the_experts_of_a_qwen3_are_recorded_and_the_sum_closes():
    family = next(family for family in FAMILIES if family.name == "Qwen3MoeForCausalLM")
    model, kept = family.make(), []
    hook = model.model.layers[1].mlp.register_forward_hook(lambda _, __, made: kept.append(made))
    with torch.no_grad():
        model(**family.inputs())
    hook.remove()
    run = whole("Qwen3MoeForCausalLM")
    [made] = [made if isinstance(made, Tensor) else made[0] for made in kept]
    assert torch.equal(run.stack["2.recorded"]["output"], made.double().reshape(run.x.shape))
    assert [row.part for row in run.proof() if row.recorded] == ["1.recorded", "2.recorded", "3.recorded"]
    stack = with_logit_sum(with_residual_sum(run.stack), words=(5, 9))
    assert apart(stack["logit_sum"]["pushes"].sum(0), run.model.end[..., [5, 9]]) < CHAIN
    wrong = with_layer(run, "feed_forward", lambda own: replace(own, output=own.output + 1e-3))
    assert [row.part for row in wrong.proof() if not row.passed] == ["2.recorded"]


def test_another_table_of_words_is_found_at_the_end():
    run = whole("LlamaForCausalLM")
    words = replace(run.weights.unembedding, table=run.weights.unembedding.table.roll(1, 0))
    wrong = WholeRun(replace(run.model, weights=replace(run.weights, unembedding=words)), run.rounding)
    assert [row.part for row in wrong.proof() if not row.passed] == ["unembedding"]


def test_the_norms_of_a_llama_are_its_own():
    family = next(family for family in FAMILIES if family.name == "LlamaForCausalLM")
    model = family.make()
    layer = record(model, **text()).whole().weights.layers[1]
    assert torch.equal(layer.attention.g_rms_before, model.model.layers[1].input_layernorm.weight.double())
    assert torch.equal(layer.feed_forward.g_rms_before, model.model.layers[1].post_attention_layernorm.weight.double())


def test_a_norm_is_that_of_torch():
    x, gain, shift = (
        torch.randn(3, 2, 5, generator=torch.Generator().manual_seed(0)).double(),
        *torch.eye(5)[:2].double(),
    )
    expected = torch.nn.functional.layer_norm(x, (5,), gain, shift, eps=1e-5)
    torch.testing.assert_close(VectorNorm(gain, 1e-5, shift).norm(x), expected)
    expected = torch.nn.functional.rms_norm(x, (5,), gain, eps=1e-6)
    torch.testing.assert_close(VectorNorm(gain, 1e-6).norm(x), expected)
