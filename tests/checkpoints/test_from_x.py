"""Begins recorded layers at their input: what is found by value, beside the model's own parameters and numbers."""

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from torch import nn

from attention_core.checkpoints import Recording, record
from attention_core.checkpoints.layer_maps import LayerMaps, Projection
from attention_core.checkpoints.linear_maps import find_columns
from attention_core.mechanism.positions import rope_frequency
from attention_core.record.errors import AttentionError
from attention_core.verification.proof import prove
from tests.checkpoints.families import DEEPSEEK, FAMILIES, Family
from tests.checkpoints.tiny_models import text

# What is not found, and of how many layers; all other families begin at x in every layer
NO_MAP, NORMED = "heads_of_no_map", "heads_normed"
NOT_FOUND = {
    "SqueezeBertForMaskedLM": (NO_MAP, 3),  # convolutions
    "XLNetLMHeadModel": (NO_MAP, 3),  # q + r, two biases for one q
    "LongT5ForConditionalGeneration": (NO_MAP, 3),  # blocks
    "ProphetNetForConditionalGeneration": (NO_MAP, 6),
    "Gemma3nForCausalLM": (NORMED, 3),
}
NO_OUTPUT = {
    "ConvBertForMaskedLM",
    "BitNetForCausalLM",
    "DiffLlamaForCausalLM",
    "Qwen3NextForCausalLM",
}  # something lies before W_o
OFTEN = {"GPT2LMHeadModel", "Qwen3ForCausalLM", "GPTNeoXForCausalLM"}
EACH = [
    pytest.param(family, id=family.name, marks=() if family.name in OFTEN else pytest.mark.slow) for family in FAMILIES
]


def find_family(name: str) -> Family:
    """The family of a name."""
    return next(family for family in FAMILIES if family.name == name)


def recorded(name: str) -> Recording:
    """A recording of a tiny model of a family."""
    family = find_family(name)
    return record(family.make(), **family.inputs())


# ---- families --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("family", EACH)
def test_every_layer_begins_at_x_or_says_what_was_not_found(family: Family):
    recording = record(family.make(), **family.inputs())
    reasons = [maps.code for maps in recording.maps if isinstance(maps, AttentionError)]
    reason, count = NOT_FOUND.get(family.name, ("", 0))
    assert reasons == [reason] * count
    for layer, maps in enumerate(recording.maps):
        if isinstance(maps, LayerMaps):
            row = recording.prove_from_x(layer)
            assert row.passed, row.reason
            assert (maps.output is None) == (family.name in NO_OUTPUT)


def test_seventy_nine_of_the_families_begin_at_x_in_every_layer():
    assert len(FAMILIES) - len(NOT_FOUND) == 79


# ---- what is found, beside the model's own parameters ----------------------------------------------------------------
def test_the_matrices_of_a_llama_are_its_own():
    model, inputs = find_family("LlamaForCausalLM").make(), text()
    recording = record(model, **inputs)
    run, own = recording.from_x(1), model.model.layers[1].self_attn
    for name in "qkvo":
        matrix = getattr(own, f"{name}_proj").weight.T.double()
        assert torch.equal(getattr(run.weights, f"w_{name}"), matrix), name
    assert (run.config.heads, run.config.kv_heads, run.config.scale) == (4, 2, None)
    [(name, params)] = run.config.positions
    assert (name, params["style"], params["base"]) == ("rope", "half", 10000.0)
    with torch.no_grad():
        before = model(**inputs, output_hidden_states=True).hidden_states[1]
        x = model.model.layers[1].input_layernorm(before)
    assert torch.equal(run.trace["x"], x.double())
    assert prove(run.trace).passed


def test_the_biases_of_a_gpt2_and_its_output_are_its_own():
    model, inputs = find_family("GPT2LMHeadModel").make(), text()
    outputs = []
    attention = model.transformer.h[2].attn
    with torch.no_grad():
        hook = attention.c_proj.register_forward_hook(lambda _, __, made: outputs.append(made))
        model(**inputs)
        hook.remove()
    run = record(model, **inputs).from_x(2)
    matrix, bias = attention.c_attn.weight.double(), attention.c_attn.bias.double()
    for place, name in enumerate("qkv"):
        assert torch.equal(getattr(run.weights, f"w_{name}"), matrix[:, 64 * place : 64 * (place + 1)])
        assert torch.equal(getattr(run.weights, f"b_{name}"), bias[64 * place : 64 * (place + 1)])
    assert torch.equal(run.weights.b_o, attention.c_proj.bias.double())
    assert torch.allclose(run.trace["output"], outputs[0].double(), atol=1e-5, rtol=0)


def test_the_norms_of_a_qwen3_and_a_gemma3_are_their_own():
    for name, one in (("Qwen3ForCausalLM", 0), ("Gemma3ForCausalLM", 1)):
        model = find_family(name).make()
        run, own = record(model, **text()).from_x(0), model.model.layers[0].self_attn
        assert torch.equal(run.weights.g_q, one + own.q_norm.weight.double())
        assert torch.equal(run.weights.g_k, one + own.k_norm.weight.double())
        assert dict(run.config.modifiers)["qk_norm"]["eps"] == model.config.rms_norm_eps


def test_norms_over_all_heads_and_layer_norms_of_heads_are_their_own():
    """Olmo 2 norms all heads of a token as one vector, Persimmon each head by a LayerNorm, before RoPE."""
    model = find_family("Olmo2ForCausalLM").make()
    recording = record(model, **text())
    run, own = recording.from_x(1), model.model.layers[1].self_attn
    for role, norm in (("q", own.q_norm), ("k", own.k_norm)):
        assert torch.equal(getattr(run.weights, f"g_{role}_all"), norm.weight.double())
        with torch.no_grad():
            normed = norm.double()(run.trace[f"{role}_projected"])
        heads = normed.unflatten(-1, (-1, 16)).transpose(1, 2)
        torch.testing.assert_close(run.trace[f"{role}_normed_all"], heads, rtol=0, atol=1e-6)
    assert dict(run.config.modifiers)["qk_norm_all"]["eps"] == model.config.rms_norm_eps
    assert prove(run.trace).passed and recording.prove_from_x(1).passed

    model = find_family("PersimmonForCausalLM").make()
    recording = record(model, **text())
    run, own = recording.from_x(1), model.model.layers[1].self_attn
    for role, norm in (("q", own.q_layernorm), ("k", own.k_layernorm)):
        assert torch.equal(getattr(run.weights, f"g_{role}_layer"), norm.weight.double())
        assert torch.equal(getattr(run.weights, f"b_{role}_layer"), norm.bias.double())
        with torch.no_grad():
            normed = norm.double()(run.trace[f"{role}_heads"])
        torch.testing.assert_close(run.trace[f"{role}_layer_normed"], normed, rtol=0, atol=1e-6)
    assert prove(run.trace).passed and recording.prove_from_x(1).passed


@pytest.mark.parametrize("name, change", [("GPT2LMHeadModel", "bias"), ("Olmo2ForCausalLM", "column")])
def test_a_planted_fault_is_red_in_half_precision_too(name: str, change: str):
    changes = {"bias": drop_bias, "column": swap_columns}
    recording = record(find_family(name).make(torch.bfloat16), **text())
    assert recording.prove_from_x(0).passed
    assert not change_layer(recording, changes[change]).prove_from_x(0).passed


HALVES = ("CohereForCausalLM", "GPTNeoXForCausalLM", "Llama4ForCausalLM", "Llama 3")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name == "CohereForCausalLM" else pytest.mark.slow) for name in HALVES]
)
def test_in_half_precision_the_rope_is_that_of_single_precision(name: str):
    """Rounding to bfloat16 hides so much that pairs of the other style fit, too: the nearest is taken."""
    family = find_family(name)
    single, half = (record(family.make(dtype), **text()) for dtype in (torch.float32, torch.bfloat16))
    for layer in range(3):
        assert half.from_x(layer).config.positions == single.from_x(layer).config.positions
        assert half.prove_from_x(layer).passed
    changed = change_layer(half, other_style)
    assert not changed.prove_from_x(0).passed


def test_a_factor_on_q_becomes_part_of_the_scale():
    model = find_family("OPTForCausalLM").make()
    recording = record(model, **text())
    assert recording.calls[0].scale == 1.0
    run, own = recording.from_x(0), model.model.decoder.layers[0].self_attn
    assert run.config.scale is None  # 1/√d_k
    assert torch.equal(run.weights.w_q, own.q_proj.weight.T.double())


def test_a_factor_on_v_becomes_part_of_its_matrix():
    model = find_family("MiMoV2FlashForCausalLM").make()
    recording = record(model, **text())
    own = model.model.layers[1].self_attn
    expected = model.config.attention_value_scale * own.v_proj.weight.T.double()
    torch.testing.assert_close(recording.from_x(1).weights.w_v, expected, rtol=1e-6, atol=0)
    assert recording.prove_from_x(1).passed


def test_yarn_makes_heads_longer_and_is_found():
    run = recorded("GptOssForCausalLM").from_x(0)
    [(_, params)] = run.config.positions
    assert (params["scaling"], params["factor"]) == ("yarn_unrounded", 32.0)
    assert run.config.scale is None


def test_the_biases_of_a_deberta_are_those_that_it_adds_to_the_heads():
    """Its one linear map computes q, k and v head by head; b_q and b_v are added later, then q is divided."""
    model = find_family("DebertaForMaskedLM").make()
    run, own = recorded("DebertaForMaskedLM").from_x(1), model.deberta.encoder.layer[1].attention.self
    by_head = own.in_proj.weight.T.double().unflatten(1, (4, 3, 16))  # (D, H, q k v, d)
    for place, name in enumerate("qkv"):
        assert torch.equal(getattr(run.weights, f"w_{name}"), by_head[:, :, place].flatten(1))
    assert torch.equal(run.weights.b_q, own.q_bias.double()) and torch.equal(run.weights.b_v, own.v_bias.double())
    assert run.weights.b_k is None
    assert run.config.scale == pytest.approx((3 * 16) ** -0.5, rel=1e-6)


@pytest.mark.parametrize("name", ["DeepseekV2ForCausalLM", "DeepseekV3ForCausalLM"])
def test_the_compressed_keys_of_a_deepseek_are_its_own(name: str):
    """Version 2 rotates neighbouring columns, version 3 the even ones with the odd ones, which it puts behind them."""
    model = find_family(name).make()
    run, own = record(model, **text()).from_x(1), model.model.layers[1].self_attn
    down = own.kv_a_proj_with_mqa.weight.T.double()  # (D, d_c + d_r)
    up = own.kv_b_proj.weight.T.double().unflatten(1, (4, 16 + 12))  # (d_c, H, d_k + d_v)
    queries = own.q_b_proj.weight.T.double().unflatten(1, (4, 16 + 8))  # (compressed queries, H, d_k + d_r)
    order = torch.tensor([0, 2, 4, 6, 1, 3, 5, 7]) if name == "DeepseekV3ForCausalLM" else torch.arange(8)
    expected = {
        "w_dkv": down[:, :16],
        "w_kr": down[:, 16:][:, order],
        "g_latent": own.kv_a_layernorm.weight.double(),
        "w_k": up[..., :16].flatten(1),
        "w_v": up[..., 16:].flatten(1),
        "w_q": queries[..., :16].flatten(1),
        "w_qr": queries[..., 16:][..., order].flatten(1),
    }
    for each, numbers in expected.items():
        assert torch.equal(getattr(run.weights, each), numbers), each
    [(position, params)] = run.config.positions
    assert position == "decoupled_rope" and run.config.scale is None  # 1 / √(d_k + d_r)
    assert params["style"] == ("half" if name == "DeepseekV3ForCausalLM" else "interleaved")
    assert dict(run.config.modifiers)["latent"]["eps"] == model.config.rms_norm_eps
    assert run.trace["query"].shape[-1] == 24 and run.trace["key"].shape[-1] == 64
    assert prove(run.trace).passed


def test_a_deepseek_whose_queries_are_not_compressed_is_whole():
    own = {**DEEPSEEK, "q_lora_rank": None, "topk_method": "greedy", "num_experts_per_tok": 2}
    recording = record(Family("DeepseekV2ForCausalLM", own=own).make(), **text())
    assert [row.passed for row in map(recording.prove_from_x, range(3))] == [True] * 3
    assert "x" in recording.from_x(0).trace.steps and recording.whole().passed


def test_compressed_keys_with_a_bias_are_refused_with_the_reason():
    own = {**DEEPSEEK, "attention_bias": True}
    recording = record(Family("DeepseekV3ForCausalLM", own=own).make(), **text())
    assert [maps.code for maps in recording.maps] == ["latent_bias"] * 3


def test_a_nanochat_rotates_in_the_other_direction():
    [(name, params)] = recorded("NanoChatForCausalLM").from_x(0).config.positions
    assert (name, params["style"], params["pair_factors"]) == ("rope", "half", (-1.0,) * 8)


# ---- every scaling of RoPE that transformers has ---------------------------------------------------------------------
SHORT, LONG = [1.0, 1.1, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0], [1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0]
SCALED = {
    "linear": {"factor": 4.0},
    "dynamic": {"factor": 4.0},
    "yarn": {"factor": 4.0, "original_max_position_embeddings": 16},
    "longrope": {
        "factor": 4.0,
        "original_max_position_embeddings": 16,
        "short_factor": SHORT,
        "long_factor": LONG,
    },
    "longrope_long": {
        "factor": 4.0,
        "original_max_position_embeddings": 7,
        "short_factor": SHORT,
        "long_factor": LONG,
    },
    "llama3": {
        "factor": 8.0,
        "low_freq_factor": 0.125,
        "high_freq_factor": 0.5,
        "original_max_position_embeddings": 32,
    },
    "proportional": {"partial_rotary_factor": 0.5},
}


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=() if kind == "llama3" else pytest.mark.slow) for kind in SCALED]
)
def test_each_scaling_of_rope_is_found_and_the_model_is_whole(kind: str):
    """The text has 11 places, more than the 7 of the training where the number of places counts."""
    chosen = {"rope_type": kind.removesuffix("_long"), "rope_theta": 100.0, **SCALED[kind]}
    own = {"rope_parameters": chosen, "max_position_embeddings": 7 if kind == "dynamic" else 64}
    model = Family("LlamaForCausalLM", own=own).make()
    recording = record(model, **text())
    [(_, params)] = recording.from_x(0).config.positions
    names = ("base", "scaling", "factor", "trained", "pair_factors")
    found = [rope_frequency(pair, 16, **{name: params[name] for name in names}) for pair in range(8)]
    assert found == pytest.approx(model.model.rotary_emb.inv_freq.tolist(), rel=3e-6, abs=0)
    for layer in range(3):
        row = recording.prove_from_x(layer)
        assert row.passed, row.reason
    assert recording.whole().passed
    changed = change_layer(recording, other_style)
    assert not changed.prove_from_x(0).passed


def test_a_torch_layer_whose_texts_come_second_begins_at_x():
    generator = torch.Generator().manual_seed(0)
    layer = nn.MultiheadAttention(6, 2).eval()
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator))
    x, others = torch.randn(5, 3, 6, generator=generator), torch.randn(4, 3, 6, generator=generator)
    run = record(layer, x, others, others).from_x(0)
    assert torch.equal(run.weights.w_q, layer.in_proj_weight[:6].T.double())
    assert torch.equal(run.weights.b_v, layer.in_proj_bias[12:].double())
    assert torch.equal(run.trace["query"], x.transpose(0, 1).double())
    assert torch.equal(run.trace["key"], others.transpose(0, 1).double())
    assert "value" not in run.trace
    expected = layer(x, others, others)[0].transpose(0, 1).double()
    assert torch.allclose(run.trace["output"], expected, atol=1e-5, rtol=0)


# ---- size ------------------------------------------------------------------------------------------------------------
def test_a_layer_with_too_large_matrices_is_refused_before_one_is_copied(monkeypatch):
    """W_q and W_o have 64 x 64 numbers, W_k and W_v 64 x 32: 98,304 bytes in float64."""
    recording = recorded("LlamaForCausalLM")
    assert not any(isinstance(maps, AttentionError) for maps in recording.with_small_layers(98_304).maps)
    monkeypatch.setattr(Projection, "matrix", property(lambda _: pytest.fail("the matrix was copied")))
    found = recording.with_small_layers(98_303).maps
    assert [maps.code for maps in found] == ["layer_too_large"] * 3
    with pytest.raises(AttentionError, match="may take 0 MB on the workbench"):
        recording.with_small_layers(98_303).from_x(0)


# ---- faults ----------------------------------------------------------------------------------------------------------
def change_layer(recording: Recording, change: Callable[[LayerMaps], LayerMaps]) -> Recording:
    """The recording with other maps of its first layer."""
    first, *others = recording.maps
    return replace(recording, find_maps=lambda _: [change(first), *others], runs={}, proofs_from_x={})


def swap_columns(maps: LayerMaps) -> LayerMaps:
    columns = maps.q.columns.clone()
    columns[0, [1, 2]] = columns[0, [2, 1]]
    return replace(maps, q=replace(maps.q, columns=columns))


def drop_bias(maps: LayerMaps) -> LayerMaps:
    return replace(maps, q=replace(maps.q, source=replace(maps.q.source, bias=None)))


def other_base(maps: LayerMaps) -> LayerMaps:
    return replace(maps, rope={**maps.rope, "base": 10010.0})


def other_style(maps: LayerMaps) -> LayerMaps:
    return replace(maps, rope={**maps.rope, "style": {"half": "interleaved"}.get(maps.rope["style"], "half")})


def fewer_columns(maps: LayerMaps) -> LayerMaps:
    return replace(maps, rope={**maps.rope, "columns": 2})


def other_gain(maps: LayerMaps) -> LayerMaps:
    norm = maps.q.norm.norm
    gain = norm.gain.clone()
    gain[3] *= 1.001
    return replace(maps, q=replace(maps.q, norm=replace(maps.q.norm, norm=replace(norm, gain=gain))))


def other_shared_columns(maps: LayerMaps) -> LayerMaps:
    turned = maps.latent.k_turned
    return replace(maps, latent=replace(maps.latent, k_turned=replace(turned, columns=turned.columns.roll(1, -1))))


def other_latent_gain(maps: LayerMaps) -> LayerMaps:
    gain = maps.latent.norm.gain.clone()
    gain[3] *= 1.001
    return replace(maps, latent=replace(maps.latent, norm=replace(maps.latent.norm, gain=gain)))


def other_direction(maps: LayerMaps) -> LayerMaps:
    return replace(maps, rope={**maps.rope, "pair_factors": None})


def other_value_head(maps: LayerMaps) -> LayerMaps:
    return replace(maps, v=replace(maps.v, columns=maps.v.columns.flip(0)))


@pytest.mark.parametrize(
    "name, change, word",
    [
        ("Qwen3ForCausalLM", swap_columns, "weight"),
        ("Qwen3ForCausalLM", other_base, "weight"),
        ("Qwen3ForCausalLM", other_gain, "weight"),
        ("Qwen3ForCausalLM", other_value_head, "output"),
        ("GPT2LMHeadModel", drop_bias, "weight"),
        ("GPTNeoXForCausalLM", fewer_columns, "weight"),
        ("DeepseekV3ForCausalLM", other_shared_columns, "weight"),
        ("DeepseekV3ForCausalLM", other_latent_gain, "weight"),
        ("NanoChatForCausalLM", other_direction, "weight"),
        ("DebertaForMaskedLM", drop_bias, "weight"),
    ],
    ids=["column", "base", "gain", "value_heads", "bias", "columns", "shared", "latent", "direction", "head_bias"],
)
def test_a_planted_fault_makes_the_layer_red(name: str, change: Callable, word: str):
    recording = recorded(name)
    assert recording.prove_from_x(0).passed
    changed = change_layer(recording, change)
    assert not changed.prove_from_x(0).passed and word in changed.prove_from_x(0).reason
    assert changed.prove_from_x(1).passed


def test_a_base_that_the_config_does_not_name_is_not_guessed():
    model = find_family("LlamaForCausalLM").make()
    model.model.rotary_emb.inv_freq *= torch.linspace(1, 0.9, 8)
    recording = record(model, **text())
    assert [str(maps) for maps in recording.maps] == [
        "q and k are rotated by none of the core's kinds of RoPE with numbers of the config"
    ] * 3
    assert recording.passed  # from q and k on


@pytest.mark.parametrize(
    "name, style, columns", [("GPTJForCausalLM", "interleaved", 8), ("GPTNeoXForCausalLM", "half", 4)]
)
def test_the_rotated_columns_are_those_of_the_config(name: str, style: str, columns: int):
    [(kind, params)] = recorded(name).from_x(0).config.positions
    assert (kind, params["style"], params["columns"]) == ("rope", style, columns)


def test_columns_that_the_config_does_not_count_are_counted_in_the_run():
    model = find_family("GPTJForCausalLM").make()
    model.config.rotary_dim = 4  # its layers keep their own number
    [(_, params)] = record(model, **text()).from_x(0).config.positions
    assert params["columns"] == 8


def test_columns_that_are_rotated_in_another_way_are_counted():
    model = find_family("GPTNeoXForCausalLM").make()
    model.gpt_neox.rotary_emb.inv_freq *= 0.9
    with pytest.raises(AttentionError, match=r"^at least 4 of 16 columns of each head are rotated, but by none"):
        record(model, **text()).from_x(0)


def test_weights_that_changed_since_the_recording_are_not_taken():
    model = find_family("GPT2LMHeadModel").make()
    recording = record(model, **text())
    with torch.no_grad():
        model.transformer.h[0].attn.c_attn.weight[0, 0] += 1
    with pytest.raises(AttentionError, match=r"^q is not made of x by one linear map"):
        recording.from_x(0)


def test_a_recording_without_a_model_says_so():
    recording = recorded("GPT2LMHeadModel")
    with pytest.raises(AttentionError, match=r"^the recording must come from record\(model, \.\.\.\)"):
        Recording(recording.calls, recording.outputs).from_x(0)


# ---- columns ---------------------------------------------------------------------------------------------------------
def test_numbers_that_are_equal_by_chance_do_not_lead_astray():
    numbers = torch.tensor([[5.0, 1.0, 2.0, 5.0, 3.0, 1.0]])
    assert find_columns(torch.tensor([[[5.0, 3.0]]]), numbers).tolist() == [[3, 4]]
    assert find_columns(torch.tensor([[[5.0, 4.0]]]), numbers) is None


def test_of_equal_numbers_those_that_are_equal_in_every_text_are_found():
    numbers = torch.tensor([[5.0, 3.0, 5.0], [2.0, 3.0, 7.0]])
    assert find_columns(torch.tensor([[[5.0, 3.0]], [[7.0, 3.0]]]), numbers).tolist() == [[2, 1]]


# ---- other ways to compute the same ----------------------------------------------------------------------------------
class TokensFirst(nn.Module):
    """Attention whose first axis is that of the tokens, so that torch adds the biases of q, k, v by themselves."""

    def __init__(self):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(6, 6) for _ in "qkv")

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rows = x.transpose(0, 1)  # (T, B, 6)
        T, B, _ = rows.shape
        q, k, v = (part(rows).reshape(T, B * 2, 3).transpose(0, 1) for part in (self.q, self.k, self.v))
        return (q @ k.mT * 3**-0.5).softmax(-1) @ v


class JoinedMaps(nn.Module):
    """Attention in which one map computes k, v and q, and q is multiplied by a factor."""

    def __init__(self):
        super().__init__()
        self.joined = nn.Linear(6, 18)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        k, v, q = self.joined(x).unflatten(-1, (3, 2, 3)).permute(2, 0, 3, 1, 4).flatten(1, 2)
        return ((q * 0.7) @ k.mT).softmax(-1) @ v


@pytest.mark.parametrize("kind", [TokensFirst, JoinedMaps])
def test_maps_are_found_where_torch_computes_them_in_another_way(kind: type[nn.Module]):
    torch.manual_seed(0)
    model, x = kind().eval(), torch.randn(2, 5, 6, generator=torch.Generator().manual_seed(1))
    recording = record(model, x)
    run = recording.from_x(0)
    assert recording.prove_from_x(0).passed
    assert torch.equal(run.trace["x"], x.double())
    if kind is JoinedMaps:
        assert torch.equal(run.weights.w_q, model.joined.weight[12:].T.double())
        assert run.config.scale == pytest.approx(0.7, rel=1e-6)
    else:
        assert torch.equal(run.weights.b_k, model.k.bias.double())
