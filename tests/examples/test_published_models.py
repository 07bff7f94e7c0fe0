"""The table of published models against its sources, typed by hand; each kind of layer runs, small, and is proven."""

import pytest
import torch

from attention_core import Weights, attend, prove
from attention_core.examples.published_models import PUBLISHED_MODELS, LayerKind, scale_down
from tests.entries import key_rows, learned_shapes

# name, year, layers, D, heads, key/value heads, head width, longest text, (layers, window) of each kind
TYPED = {
    "transformer": ("Transformer (base)", 2017, 12, 512, 8, 8, 64, None, [(6, None), (6, None)]),
    "bert": ("BERT-Base", 2018, 12, 768, 12, 12, 64, 512, [(12, None)]),
    "gpt_2": ("GPT-2 (small)", 2019, 12, 768, 12, 12, 64, 1024, [(12, None)]),
    "t5": ("T5-Base", 2019, 24, 768, 12, 12, 64, 512, [(12, None), (12, None)]),
    "bloom": ("BLOOM 176B", 2022, 70, 14336, 112, 112, 128, 2048, [(70, None)]),
    "llama_7b": ("LLaMA 7B", 2023, 32, 4096, 32, 32, 128, 2048, [(32, None)]),
    "llama_2_70b": ("Llama 2 70B", 2023, 80, 8192, 64, 8, 128, 4096, [(80, None)]),
    "mistral_7b": ("Mistral 7B", 2023, 32, 4096, 32, 8, 128, 8192, [(32, 4096)]),
    "deepseek_v2": ("DeepSeek-V2", 2024, 60, 5120, 128, 128, 128, 131072, [(60, None)]),
    "gemma_2_9b": ("Gemma 2 9B", 2024, 42, 3584, 16, 8, 256, 8192, [(21, 4096), (21, None)]),
    "llama_3_1_8b": ("Llama 3.1 8B", 2024, 32, 4096, 32, 8, 128, 131072, [(32, None)]),
    "gemma_3_12b": ("Gemma 3 12B", 2025, 48, 3840, 16, 8, 256, 131072, [(40, 1024), (8, None)]),
    "qwen_3_8b": ("Qwen3-8B", 2025, 36, 4096, 32, 8, 128, 40960, [(36, None)]),
    "gpt_oss_120b": ("gpt-oss-120b", 2025, 36, 2880, 64, 8, 64, 131072, [(18, 128), (18, None)]),
}
KINDS = [(key, kind) for key, model in PUBLISHED_MODELS.items() for kind in model.kinds]


@pytest.mark.parametrize("key", PUBLISHED_MODELS)
def test_a_row_has_the_numbers_of_its_source(key):
    model = PUBLISHED_MODELS[key]
    sizes = (model.layers, model.width, model.heads, model.kv_heads, model.head_width, model.context)
    windows = [(kind.count, kind.window) for kind in model.kinds]
    assert (model.name, model.year, *sizes, windows) == TYPED[key]
    assert model.source


def test_the_table_goes_from_old_to_new_and_has_all_typed_rows():
    years = [model.year for model in PUBLISHED_MODELS.values()]
    assert years == sorted(years) and [*PUBLISHED_MODELS] == [*TYPED]


def test_what_each_does_besides():
    """Position of every kind, with base, scaling, factor and trained length; what bounds scores; what makes weights."""
    found = {}
    for key, model in PUBLISHED_MODELS.items():
        rope = []
        for kind in model.kinds:
            for name, given in kind.config.positions:
                said = [given[each] for each in ("base", "scaling", "factor", "trained") if each in given]
                rope.append((name, *said[: 4 if "rope" in name and said[1] != "none" else 1]))
        config = model.shown.config
        found[key] = (rope, [name for name, _ in config.modifiers], config.normaliser[0], config.score)
    plain = ("rope", 10000.0)
    stretched = {
        "llama_3_1_8b": ("rope", 500000.0, "llama3", 8.0, 8192),
        "gpt_oss_120b": ("rope", 150000.0, "yarn_unrounded", 32.0, 4096),
    }
    assert found == {
        "transformer": ([("sinusoidal", 10000.0)] * 2, [], "softmax", "scaled_dot"),
        "bert": ([("learned",)], [], "softmax", "scaled_dot"),
        "gpt_2": ([("learned",)], [], "softmax", "scaled_dot"),
        "t5": ([("t5",)] * 2, [], "softmax", "dot"),
        "bloom": ([("alibi",)], [], "softmax", "scaled_dot"),
        "llama_7b": ([plain], [], "softmax", "scaled_dot"),
        "llama_2_70b": ([plain], [], "softmax", "scaled_dot"),
        "mistral_7b": ([plain], [], "softmax", "scaled_dot"),
        "deepseek_v2": ([("decoupled_rope", 10000.0, "yarn", 40.0, 4096)], ["latent"], "softmax", "scaled_dot"),
        "gemma_2_9b": ([plain] * 2, ["softcap"], "softmax", "scaled_dot"),
        "llama_3_1_8b": ([stretched["llama_3_1_8b"]], [], "softmax", "scaled_dot"),
        "gemma_3_12b": ([plain, ("rope", 1000000.0, "linear", 8.0, 4096)], ["qk_norm"], "softmax", "scaled_dot"),
        "qwen_3_8b": ([("rope", 1000000.0)], ["qk_norm"], "softmax", "scaled_dot"),
        "gpt_oss_120b": ([stretched["gpt_oss_120b"]] * 2, [], "sinks", "scaled_dot"),
    }


@pytest.mark.parametrize("key, kind", KINDS, ids=[f"{key}-{kind.name}" for key, kind in KINDS])
def test_each_kind_of_layer_runs_small_and_is_proven(key, kind, generator):
    config = scale_down(kind.config, heads=8, window=3)
    assert (
        config.heads == 8 and (config.kv_heads or 8) * PUBLISHED_MODELS[key].heads == 8 * PUBLISHED_MODELS[key].kv_heads
    )

    def draw(*shape):
        return torch.randn(*shape, generator=generator, dtype=torch.float64)

    kv_heads = config.kv_heads or 8
    shapes = learned_shapes(config, 4, 4, wide=(16, 4))
    rows = key_rows(config, shapes, 16)
    shapes |= {"w_q": (16, 32), "w_k": (rows, 4 * kv_heads), "w_v": (rows, 4 * kv_heads), "w_o": (32, 16)}
    weights = Weights(**{name: draw(*shape) for name, shape in shapes.items()})
    trace = attend(draw(7, 16), weights=weights, config=config)
    assert prove(trace).passed
    seen = (trace["weights"][0, 0] > 0).sum(-1).tolist()
    assert seen == expected_keys(kind)


def expected_keys(kind: LayerKind) -> list[int]:
    """How many of seven keys each query sees: all, those before it, or three."""
    if not kind.is_cached:
        return [7] * 7
    return [min(t + 1, 3 if kind.window else 7) for t in range(7)]
