"""Describes the attention of published models by the numbers in their configurations, so that the app can run it.

A model is one PublishedModel and its line in PUBLISHED_MODELS; each of its kinds of layer has an AttentionConfig.
`source` says where the numbers are from: the checkpoint's file, if a library's class has other defaults. RoPE rotates
neighbouring columns here, because another pairing would only reorder the learned columns.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from attention_core.mechanism.config import AttentionConfig, Choice
from attention_core.mechanism.masks import MASKS


@dataclass(frozen=True)
class LayerKind:
    """The layers of a model that have the same attention.

    name: "every", "encoder", "decoder", "local" or "global". count: the number of these layers. config: the attention
    of each, with the number of heads of the model.
    """

    name: str
    count: int
    config: AttentionConfig

    @property
    def is_cached(self) -> bool:
        """Whether these layers can generate text word by word with a KV cache, which needs a mask that blocks later
        words."""
        return any(MASKS[mask].is_causal for mask, _ in self.config.masks)

    @property
    def window(self) -> int | None:
        """The largest number of keys that a query may attend to, including the query's own key; None without a
        limit.
        """
        return dict(self.config.masks).get("sliding", {}).get("window")


@dataclass(frozen=True)
class PublishedModel:
    """A published model.

    width: D, the width of the vectors that a layer reads. head_width: the width of each head's keys and values.
    context: the length in tokens for which the model was made, None if unpublished. kinds: the model's kinds of layer,
    first the kind that the workbench shows. source: where its numbers are from. latent: the width of the latent and the
    number of a key's rotated components, None for a model without a latent.
    """

    name: str
    year: int
    width: int
    head_width: int
    context: int | None
    kinds: tuple[LayerKind, ...]
    source: str
    latent: tuple[int, int] | None = None

    @property
    def shown(self) -> LayerKind:
        """The kind of layer with which the workbench opens this model."""
        return self.kinds[0]

    @property
    def heads(self) -> int:
        """The number of query heads in each layer."""
        return self.shown.config.heads

    @property
    def kv_heads(self) -> int:
        """The number of key/value heads in each layer."""
        return self.shown.config.kv_heads or self.heads

    @property
    def layers(self) -> int:
        """The number of layers of all kinds together."""
        return sum(kind.count for kind in self.kinds)


CAUSAL: Choice = ("causal", {})


def sliding(window: int) -> Choice:
    """Return the choice of a sliding mask for AttentionConfig, which allows the query's own key and the keys just
    before it.

    window: the number of keys, including the query's own.
    """
    return "sliding", {"window": window}


def rope(base: float, **stretched: object) -> Choice:
    """Return the choice of RoPE for AttentionConfig.

    base: the base of the frequencies. stretched: parameters for longer contexts: the kind of scaling, its factor, and
    the length in training.
    """
    return "rope", {"base": base, **stretched}


def t5(direction: str) -> Choice:
    """Return the choice of T5's learned bias for AttentionConfig, one number per bucket of distances; the last bucket
    begins at 128.
    """
    return "t5", {"direction": direction, "farthest": 128}


def decoupled_rope(base: float, **stretched: object) -> Choice:
    """Return the choice of decoupled RoPE for AttentionConfig: rotated components that are appended to queries and
    keys.

    base: the base of the frequencies. stretched: parameters for longer contexts: the kind of scaling, its factor, and
    the length in training.
    """
    return "decoupled_rope", {"base": base, **stretched}


LATENT: Choice = ("latent", {"eps": 1e-6})
QK_NORM: Choice = ("qk_norm", {"eps": 1e-6})
SOFTCAP_50: Choice = ("softcap", {"cap": 50.0})

TRANSFORMER = PublishedModel(
    name="Transformer (base)",
    year=2017,
    width=512,
    head_width=64,
    context=None,
    kinds=(
        LayerKind("decoder", 6, AttentionConfig(heads=8, masks=[CAUSAL], positions=["sinusoidal"])),
        LayerKind("encoder", 6, AttentionConfig(heads=8, positions=["sinusoidal"])),
    ),
    source="Vaswani et al. 2017, table 3",
)
BERT = PublishedModel(
    name="BERT-Base",
    year=2018,
    width=768,
    head_width=64,
    context=512,
    kinds=(LayerKind("every", 12, AttentionConfig(heads=12, positions=["learned"])),),
    source="google-research/bert, modeling.py",
)
GPT_2 = PublishedModel(
    name="GPT-2 (small)",
    year=2019,
    width=768,
    head_width=64,
    context=1024,
    kinds=(LayerKind("every", 12, AttentionConfig(heads=12, masks=[CAUSAL], positions=["learned"])),),
    source="openai/gpt-2, src/model.py",
)
T5_BASE = PublishedModel(
    name="T5-Base",
    year=2019,
    width=768,
    head_width=64,
    context=512,
    kinds=(
        LayerKind("decoder", 12, AttentionConfig(score="dot", heads=12, masks=[CAUSAL], positions=[t5("past")])),
        LayerKind("encoder", 12, AttentionConfig(score="dot", heads=12, positions=[t5("both")])),
    ),
    source="Raffel et al. 2020, sections 2.1 and 3.1",
)
BLOOM = PublishedModel(
    name="BLOOM 176B",
    year=2022,
    width=14336,
    head_width=128,
    context=2048,
    kinds=(LayerKind("every", 70, AttentionConfig(heads=112, masks=[CAUSAL], positions=["alibi"])),),
    source="bigscience-workshop/bigscience, tr11-176B-ml.slurm",
)
LLAMA_7B = PublishedModel(
    name="LLaMA 7B",
    year=2023,
    width=4096,
    head_width=128,
    context=2048,
    kinds=(LayerKind("every", 32, AttentionConfig(heads=32, masks=[CAUSAL], positions=[rope(10000.0)])),),
    source="Touvron et al. 2023, LLaMA, table 2",
)
LLAMA_2_70B = PublishedModel(
    name="Llama 2 70B",
    year=2023,
    width=8192,
    head_width=128,
    context=4096,
    kinds=(LayerKind("every", 80, AttentionConfig(heads=64, kv_heads=8, masks=[CAUSAL], positions=[rope(10000.0)])),),
    source="meta-llama/Llama-2-70b-hf, config.json",
)
MISTRAL_7B = PublishedModel(
    name="Mistral 7B",
    year=2023,
    width=4096,
    head_width=128,
    context=8192,
    kinds=(
        LayerKind("every", 32, AttentionConfig(heads=32, kv_heads=8, masks=[sliding(4096)], positions=[rope(10000.0)])),
    ),
    source="Jiang et al. 2023, table 1",
)
DEEPSEEK_ROPE = decoupled_rope(10000.0, scaling="yarn", factor=40.0, trained=4096, mscale=0.707, mscale_all_dim=0.707)
DEEPSEEK_V2 = PublishedModel(
    name="DeepSeek-V2",
    year=2024,
    width=5120,
    head_width=128,
    context=131072,
    kinds=(
        LayerKind(
            "every",
            60,
            AttentionConfig(
                heads=128,
                masks=[CAUSAL],
                positions=[DEEPSEEK_ROPE],
                modifiers=[LATENT],
            ),
        ),
    ),
    source="DeepSeek-AI 2024, DeepSeek-V2, section 3.1",
    latent=(512, 64),
)
GEMMA_2_9B = PublishedModel(
    name="Gemma 2 9B",
    year=2024,
    width=3584,
    head_width=256,
    context=8192,
    kinds=(
        LayerKind(
            "local",
            21,
            AttentionConfig(
                heads=16,
                kv_heads=8,
                masks=[sliding(4096)],
                positions=[rope(10000.0)],
                modifiers=[SOFTCAP_50],
            ),
        ),
        LayerKind(
            "global",
            21,
            AttentionConfig(
                heads=16,
                kv_heads=8,
                masks=[CAUSAL],
                positions=[rope(10000.0)],
                modifiers=[SOFTCAP_50],
            ),
        ),
    ),
    source="google/gemma_pytorch, gemma/config.py",
)
LLAMA_3_1_8B = PublishedModel(
    name="Llama 3.1 8B",
    year=2024,
    width=4096,
    head_width=128,
    context=131072,
    kinds=(
        LayerKind(
            "every",
            32,
            AttentionConfig(
                heads=32,
                kv_heads=8,
                masks=[CAUSAL],
                positions=[rope(500000.0, scaling="llama3", factor=8.0, trained=8192)],
            ),
        ),
    ),
    source="meta-llama/llama-models, models/sku_list.py",
)
GEMMA_3_12B = PublishedModel(
    name="Gemma 3 12B",
    year=2025,
    width=3840,
    head_width=256,
    context=131072,
    kinds=(
        LayerKind(
            "local",
            40,
            AttentionConfig(
                heads=16,
                kv_heads=8,
                masks=[sliding(1024)],
                positions=[rope(10000.0)],
                modifiers=[QK_NORM],
            ),
        ),
        LayerKind(
            "global",
            8,
            AttentionConfig(
                heads=16,
                kv_heads=8,
                masks=[CAUSAL],
                positions=[rope(1000000.0, scaling="linear", factor=8.0)],
                modifiers=[QK_NORM],
            ),
        ),
    ),
    source="google/gemma_pytorch, gemma/config.py",
)
QWEN_3_8B = PublishedModel(
    name="Qwen3-8B",
    year=2025,
    width=4096,
    head_width=128,
    context=40960,
    kinds=(
        LayerKind(
            "every",
            36,
            AttentionConfig(
                heads=32,
                kv_heads=8,
                masks=[CAUSAL],
                positions=[rope(1000000.0)],
                modifiers=[QK_NORM],
            ),
        ),
    ),
    source="Qwen/Qwen3-8B, config.json",
)
GPT_OSS_ROPE = rope(150000.0, scaling="yarn_unrounded", factor=32.0, trained=4096)
GPT_OSS_120B = PublishedModel(
    name="gpt-oss-120b",
    year=2025,
    width=2880,
    head_width=64,
    context=131072,
    kinds=(
        LayerKind(
            "local",
            18,
            AttentionConfig(
                heads=64,
                kv_heads=8,
                masks=[sliding(128)],
                positions=[GPT_OSS_ROPE],
                normaliser="sinks",
            ),
        ),
        LayerKind(
            "global",
            18,
            AttentionConfig(
                heads=64,
                kv_heads=8,
                masks=[CAUSAL],
                positions=[GPT_OSS_ROPE],
                normaliser="sinks",
            ),
        ),
    ),
    source="openai/gpt-oss, gpt_oss/torch/model.py",
)

# ---- the table, from old to new --------------------------------------------------------------------------------------
PUBLISHED_MODELS: Mapping[str, PublishedModel] = MappingProxyType(
    {
        "transformer": TRANSFORMER,
        "bert": BERT,
        "gpt_2": GPT_2,
        "t5": T5_BASE,
        "bloom": BLOOM,
        "llama_7b": LLAMA_7B,
        "llama_2_70b": LLAMA_2_70B,
        "mistral_7b": MISTRAL_7B,
        "deepseek_v2": DEEPSEEK_V2,
        "gemma_2_9b": GEMMA_2_9B,
        "llama_3_1_8b": LLAMA_3_1_8B,
        "gemma_3_12b": GEMMA_3_12B,
        "qwen_3_8b": QWEN_3_8B,
        "gpt_oss_120b": GPT_OSS_120B,
    }
)


# ---- a scaled-down config --------------------------------------------------------------------------------------------
def scale_down(config: AttentionConfig, heads: int, window: int) -> AttentionConfig:
    """Return a config small enough to show, with fewer query heads, key/value heads in proportion, and a short window.

    heads: the number of query heads, a multiple of the number that shares a key/value head. window: the number of keys,
    including the query's own; it replaces a longer window.

    >>> small = scale_down(GPT_OSS_120B.shown.config, heads=8, window=4)
    >>> small.heads, small.kv_heads, small.masks
    (8, 1, (('sliding', {'window': 4}),))
    """
    masks = []
    for name, params in config.masks:
        shorter = {"window": window} if "window" in params else {}
        masks.append((name, {**params, **shorter}))
    kv_heads = None
    if config.kv_heads is not None:
        kv_heads = heads * config.kv_heads // config.heads
    return replace(config, heads=heads, kv_heads=kv_heads, masks=tuple(masks))
