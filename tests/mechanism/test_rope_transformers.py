"""RoPE's frequencies and lengths against transformers' rotary code: drawn settings, and each of today's models."""

import random

import pytest
import torch

from attention_core import AttentionConfig, attend_qkv
from attention_core.examples.published_models import PUBLISHED_MODELS
from attention_core.mechanism.positions import POSITIONS, rope_frequency, rope_length

# What transformers 5.24 gives, by pair: its inverse frequencies, and the attention factor (the slow tests ask it).
GPT_OSS = (
    {0: 1.0, 8: 0.050813273, 10: 0.019335, 14: 0.0020937927, 17: 0.00012931869, 31: 3.0235114e-07},
    1.3465735902799727,
)
DEEPSEEK = ({0: 1.0, 10: 0.056234129, 12: 0.026879361, 16: 0.0055000004, 22: 0.00017782794, 31: 3.3338035e-06}, 1.0)


def frequencies(width: int, params: dict) -> list[float]:
    said = {name: params[name] for name in ("base", "scaling", "factor", "trained")}
    return [rope_frequency(pair, width, **said) for pair in range(width // 2)]


def length(params: dict) -> float:
    return rope_length(*(params[name] for name in ("scaling", "factor", "mscale", "mscale_all_dim")))


def rope_of(name: str, kind: int = 0) -> dict:
    ((_, params),) = PUBLISHED_MODELS[name].kinds[kind].config.positions
    return dict(params)


@pytest.mark.parametrize(("name", "golden"), [("gpt_oss_120b", GPT_OSS), ("deepseek_v2", DEEPSEEK)])
def test_models_that_stretch_by_yarn_turn_as_transformers_has_them(name, golden):
    expected, attention_factor = golden
    found = frequencies(64, rope_of(name))
    assert {pair: found[pair] for pair in expected} == pytest.approx(expected, rel=2e-6)
    assert length(rope_of(name)) == pytest.approx(attention_factor)


def test_deepseek_has_its_growth_on_the_scores_scale(generator):
    """0.1147 of transformers' DeepseekV2Attention: (0.0707 ln 40 + 1)² over the root of 128 + 64."""
    q = torch.randn(1, 1, 2, 192, generator=generator, dtype=torch.float64)
    trace = attend_qkv(q, q, q, config=AttentionConfig(positions=[("rope", rope_of("deepseek_v2"))]))
    scale = trace.step("scaled_scores").operation.params
    assert scale["factor"] / scale["temperature"] == pytest.approx(0.1147213867929261, rel=1e-12)
    torch.testing.assert_close(trace["q"].norm(dim=-1), q.norm(dim=-1))


# ---- transformers itself ---------------------------------------------------------------------------------------------
KINDS = {
    "linear": ("linear", {}),
    "yarn": ("yarn", {}),
    "yarn_unrounded": ("yarn", {"truncate": False}),
    "llama3": ("llama3", {"low_freq_factor": 1.0, "high_freq_factor": 4.0}),
}


def rope_parameters(params: dict) -> dict:
    """Our parameters as transformers says them."""
    if params["scaling"] == "none":
        return {"rope_type": "default", "rope_theta": params["base"]}
    kind, others = KINDS[params["scaling"]]
    said = {"rope_type": kind, "rope_theta": params["base"], "factor": params["factor"], **others}
    if kind != "linear":
        said["original_max_position_embeddings"] = params["trained"]
    if kind == "yarn":
        said |= {"mscale": params["mscale"], "mscale_all_dim": params["mscale_all_dim"]}
    return said


@pytest.mark.slow
def test_drawn_settings_turn_as_transformers_has_them():
    from transformers import LlamaConfig
    from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

    chance = random.Random(0)
    for _ in range(400):
        params = {
            "scaling": chance.choice([*KINDS]),
            "base": chance.choice([10.0, 500.0, 10000.0, 150000.0, 1e6]),
            "factor": chance.choice([1.0, 1.5, 4.0, 40.0]),
            "trained": chance.choice([7, 50, 512, 2048, 4096, 32768]),
            "mscale": chance.choice([1.0, 0.707, 0.5]),
            "mscale_all_dim": chance.choice([0.0, 0.707, 1.0]),
        }
        width = 2 * chance.randint(1, 64)
        config = LlamaConfig(
            hidden_size=width, num_attention_heads=1, head_dim=width, max_position_embeddings=params["trained"],
            rope_parameters=rope_parameters(params),
        )  # fmt: skip
        inverse, factor = ROPE_INIT_FUNCTIONS[KINDS[params["scaling"]][0]](config, "cpu")
        assert frequencies(width, params) == pytest.approx(inverse.tolist(), rel=3e-5, abs=1e-12), (params, width)
        if params["scaling"].startswith("yarn") and not params["mscale_all_dim"]:
            params["mscale"] = 1.0  # transformers reads mscale beside mscale_all_dim alone
        assert length(params) == pytest.approx(factor), params


@pytest.mark.slow
def test_dynamic_ntk_is_ntk_of_a_larger_factor():
    """What the docstring of rope_frequency says: f L / trained - (f - 1)."""
    from transformers import LlamaConfig
    from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

    for width, f, trained, L in ((22, 2.0, 512, 900), (64, 4.0, 2048, 8192), (128, 1.5, 100, 333)):
        config = LlamaConfig(
            hidden_size=width, num_attention_heads=1, head_dim=width, max_position_embeddings=trained,
            rope_parameters={"rope_type": "dynamic", "rope_theta": 10000.0, "factor": f},
        )  # fmt: skip
        inverse, _ = ROPE_INIT_FUNCTIONS["dynamic"](config, "cpu", seq_len=L)
        ours = {"base": 10000.0, "scaling": "ntk", "factor": f * L / trained - (f - 1), "trained": trained}
        assert frequencies(width, ours) == pytest.approx(inverse.tolist(), rel=3e-6)


def rotary_of(name: str) -> list[tuple[torch.Tensor, float, float | None]]:
    """What transformers' own class of a model makes of its published configuration, for each kind of layers: inverse
    frequencies, the attention factor, and the scale of the scores where the class has one of its own."""
    import transformers
    from transformers.models.deepseek_v2 import modeling_deepseek_v2 as deepseek
    from transformers.models.gemma2 import modeling_gemma2 as gemma2
    from transformers.models.gemma3 import modeling_gemma3 as gemma3
    from transformers.models.gpt_oss import modeling_gpt_oss as gpt_oss
    from transformers.models.llama import modeling_llama as llama
    from transformers.models.mistral import modeling_mistral as mistral
    from transformers.models.qwen3 import modeling_qwen3 as qwen3

    def plain(rotary, config) -> list[tuple[torch.Tensor, float, None]]:
        made = rotary(config)
        return [(made.inv_freq, made.attention_scaling, None)]

    def llama_like(config_class, rotary, theta: float, **said):
        given = {"rope_type": "default", "rope_theta": theta, **said.pop("scaled", {})}
        return plain(rotary, config_class(**said, rope_parameters=given))

    sizes = {"hidden_size": 4096, "num_attention_heads": 32}
    match name:
        case "llama_7b":
            return llama_like(transformers.LlamaConfig, llama.LlamaRotaryEmbedding, 10000.0, **sizes)
        case "llama_2_70b":
            wide = {"hidden_size": 8192, "num_attention_heads": 64}
            return llama_like(transformers.LlamaConfig, llama.LlamaRotaryEmbedding, 10000.0, **wide)
        case "mistral_7b":
            return llama_like(transformers.MistralConfig, mistral.MistralRotaryEmbedding, 10000.0, **sizes)
        case "llama_3_1_8b":
            scaled = {
                "rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                "original_max_position_embeddings": 8192,
            }  # fmt: skip
            return llama_like(
                transformers.LlamaConfig, llama.LlamaRotaryEmbedding, 500000.0, scaled=scaled,
                max_position_embeddings=131072, **sizes,
            )  # fmt: skip
        case "qwen_3_8b":
            return llama_like(transformers.Qwen3Config, qwen3.Qwen3RotaryEmbedding, 1000000.0, head_dim=128, **sizes)
        case "gemma_2_9b":
            return 2 * plain(gemma2.Gemma2RotaryEmbedding, transformers.Gemma2Config())  # its defaults are the 9B's
        case "gemma_3_12b":
            config = transformers.Gemma3TextConfig(
                hidden_size=3840, num_attention_heads=16, head_dim=256,
                rope_parameters={
                    "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0},
                    "full_attention": {"rope_type": "linear", "rope_theta": 1000000.0, "factor": 8.0},
                },
            )  # fmt: skip
            made = gemma3.Gemma3RotaryEmbedding(config)
            return [
                (made.sliding_attention_inv_freq, made.sliding_attention_attention_scaling, None),
                (made.full_attention_inv_freq, made.full_attention_attention_scaling, None),
            ]
        case "gpt_oss_120b":
            return 2 * plain(gpt_oss.GptOssRotaryEmbedding, transformers.GptOssConfig())  # its defaults are the 120b's
        case "deepseek_v2":
            said = {
                "rope_type": "yarn", "rope_theta": 10000.0, "factor": 40.0, "original_max_position_embeddings": 4096,
                "mscale": 0.707, "mscale_all_dim": 0.707, "beta_fast": 32, "beta_slow": 1,
            }  # fmt: skip
            config = transformers.DeepseekV2Config(max_position_embeddings=163840, rope_parameters=said)
            ((inverse, factor, _),) = plain(deepseek.DeepseekV2RotaryEmbedding, config)
            with torch.device("meta"):
                scale = deepseek.DeepseekV2Attention(config, 0).scaling
            return [(inverse, factor, scale)]
    raise AssertionError(f"transformers' rotary code for {name} must stand here")


ROTARY = [
    name
    for name, model in PUBLISHED_MODELS.items()
    if any("scaling" in params for kind in model.kinds for _, params in kind.config.positions)
]


@pytest.mark.slow
@pytest.mark.parametrize("name", ROTARY)
def test_each_of_todays_models_turns_as_its_class_in_transformers(name):
    model = PUBLISHED_MODELS[name]
    theirs = rotary_of(name)
    assert len(theirs) == len(model.kinds)
    for kind, (inverse, factor, scale) in zip(model.kinds, theirs, strict=True):
        ((position, params),) = kind.config.positions
        width = model.latent[1] if model.latent else model.head_width
        assert frequencies(width, params) == pytest.approx(inverse.tolist(), rel=3e-6)
        assert length(params) == pytest.approx(factor)
        if scale is not None:
            sharper = POSITIONS[position].sharpens(params)
            assert sharper / (model.head_width + model.latent[1]) ** 0.5 == pytest.approx(scale)
