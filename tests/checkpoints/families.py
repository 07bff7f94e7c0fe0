"""The architectures of transformers whose attention is recorded in the tests, each with a tiny configuration."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import torch
import transformers
from transformers import PreTrainedModel

from tests.checkpoints.tiny_models import (
    make_model,
    picture,
    small_config,
    sound,
    text,
    text_and_picture,
    two_texts,
)


@dataclass(frozen=True)
class Family:
    """A class of models with what its configuration needs beside small sizes, and what its run shows.

    calls: the number of attention calls of a run. missing: how many layers compute no attention that is recorded.
    """

    model: str
    calls: int = 3
    own: Mapping[str, object] = field(default_factory=dict)
    inputs: Callable[[], dict[str, torch.Tensor]] = text
    config: str = ""
    missing: int = 0
    label: str = ""

    @property
    def name(self) -> str:
        """A name for the test."""
        return self.label or self.model

    def make(self, dtype: torch.dtype = torch.float32) -> PreTrainedModel:
        """Return a tiny random model."""
        kind = getattr(transformers, self.model).config_class
        if self.config:
            kind = getattr(transformers, self.config)
        return make_model(self.model, small_config(kind, **self.own), dtype=dtype)


TWO_SIDED = {"relative_attention": True, "pos_att_type": ["c2p", "p2c"]}
LLAMA_3 = {"rope_type": "llama3", "rope_theta": 500000.0, "factor": 8.0, "low_freq_factor": 1.0}
LLAMA_3 |= {"high_freq_factor": 4.0, "original_max_position_embeddings": 32}
MIXED_LAYERS = ["sliding_attention", "full_attention", "full_attention"]
DEEPSEEK = {"head_dim": 8, "num_key_value_heads": 4}
LINEAR = {f"linear_{name}": size for name, size in (("num_value_heads", 4), ("num_key_heads", 2))}
LINEAR |= {"linear_key_head_dim": 16, "linear_value_head_dim": 16}
ESM = {"position_embedding_type": "rotary", "vocab_size": 97, "mask_token_id": 3, "pad_token_id": 0}
SWIN = {"patch_size": 2, "embed_dim": 16, "depths": [2, 2], "num_heads": [2, 4], "window_size": 4}

FAMILIES = (
    # encoders
    Family("BertForMaskedLM"),
    Family("RobertaForMaskedLM"),
    Family("ModernBertForMaskedLM", own={"local_attention": 6}),
    Family("DistilBertForMaskedLM"),
    Family("AlbertForMaskedLM"),
    Family("ElectraForMaskedLM"),
    Family("ErnieForMaskedLM"),
    Family("EsmForMaskedLM", own=ESM),
    Family("EuroBertForMaskedLM"),
    Family("NomicBertForMaskedLM"),
    Family("MobileBertForMaskedLM", own={"embedding_size": 32}),
    Family("MPNetForMaskedLM"),
    Family("RoFormerForMaskedLM"),
    Family("ConvBertForMaskedLM"),
    Family("SqueezeBertForMaskedLM"),
    Family("XLMWithLMHeadModel"),
    Family("XLNetLMHeadModel"),
    Family("DebertaForMaskedLM", own=TWO_SIDED),
    Family("DebertaV2ForMaskedLM", own={**TWO_SIDED, "position_buckets": 8}),
    Family("BigBirdForMaskedLM", own={"attention_type": "original_full"}),
    # decoders
    Family("OpenAIGPTLMHeadModel"),
    Family("GPT2LMHeadModel"),
    Family("GPTNeoForCausalLM", 4, {"attention_types": [[["global", "local"], 2]], "num_layers": 4, "window_size": 4}),
    Family("GPTNeoXForCausalLM"),
    Family("GPTJForCausalLM", own={"rotary_dim": 8}),
    Family("CodeGenForCausalLM", own={"rotary_dim": 8}),
    Family("OPTForCausalLM"),
    Family("BloomForCausalLM"),
    Family("FalconForCausalLM"),
    Family("FalconForCausalLM", own={"alibi": True}, label="Falcon with ALiBi"),
    Family("GPTBigCodeForCausalLM"),
    Family("XGLMForCausalLM"),
    Family("BioGptForCausalLM"),
    Family("CTRLLMHeadModel"),
    Family("PersimmonForCausalLM"),
    Family("Phi3ForCausalLM"),
    Family("LlamaForCausalLM"),
    Family("LlamaForCausalLM", own={"rope_parameters": LLAMA_3}, label="Llama 3"),
    Family("Llama4ForCausalLM", own={"attention_chunk_size": 5}, config="Llama4TextConfig"),
    Family("MistralForCausalLM"),
    Family("Qwen2ForCausalLM"),
    Family("Qwen2MoeForCausalLM"),
    Family("Qwen3ForCausalLM"),
    Family("Qwen3MoeForCausalLM"),
    Family(
        "Qwen3NextForCausalLM",
        2,
        {**LINEAR, "num_hidden_layers": 4, "layer_types": ["linear_attention", "full_attention"] * 2},
        missing=2,
    ),
    Family("GemmaForCausalLM"),
    Family("Gemma2ForCausalLM"),
    Family("Gemma3ForCausalLM", config="Gemma3TextConfig"),
    Family(
        "Gemma3nForCausalLM",
        own={"num_kv_shared_layers": 1, "activation_sparsity_pattern": [0.0] * 3, "layer_types": MIXED_LAYERS},
        config="Gemma3nTextConfig",
    ),
    Family("OlmoForCausalLM"),
    Family("Olmo2ForCausalLM"),
    Family("OlmoeForCausalLM"),
    Family("GptOssForCausalLM"),
    Family("DeepseekV2ForCausalLM", own={**DEEPSEEK, "topk_method": "greedy", "num_experts_per_tok": 2}),
    Family("DeepseekV3ForCausalLM", own=DEEPSEEK),
    Family("CohereForCausalLM"),
    Family("Cohere2ForCausalLM"),
    Family("SmolLM3ForCausalLM"),
    Family("GlmForCausalLM"),
    Family("HeliumForCausalLM"),
    Family("ApertusForCausalLM"),
    Family("ArceeForCausalLM"),
    Family("BitNetForCausalLM"),
    Family("DiffLlamaForCausalLM", 6),
    Family("NanoChatForCausalLM"),
    Family("Lfm2ForCausalLM"),
    Family(
        "JambaForCausalLM",
        1,
        {"attn_layer_period": 2, "attn_layer_offset": 1, "mamba_d_state": 4, "mamba_dt_rank": 4}
        | {"use_mamba_kernels": False},
        missing=2,
    ),
    Family("ModernBertDecoderForCausalLM", own={"local_attention": 6}),
    Family("MiMoV2FlashForCausalLM", own={"head_dim": 18}),  # 0.334 of it are 6 columns, of its 192 are 64
    # encoders with decoders
    Family("T5ForConditionalGeneration", 9, inputs=two_texts),
    Family("UMT5ForConditionalGeneration", 9, inputs=two_texts),
    Family("LongT5ForConditionalGeneration", 9, {"local_radius": 3}, two_texts),
    Family("BartForConditionalGeneration", 9, inputs=two_texts),
    Family("MarianMTModel", 9, inputs=two_texts),
    Family("M2M100ForConditionalGeneration", 9, inputs=two_texts),
    Family("LEDForConditionalGeneration", 6, {"attention_window": 4}, two_texts, missing=3),
    Family(
        "ProphetNetForConditionalGeneration",
        12,
        {"num_encoder_attention_heads": 4, "num_decoder_attention_heads": 4},
        two_texts,
    ),
    Family(
        "WhisperForConditionalGeneration",
        9,
        {"max_source_positions": 50, "max_target_positions": 64, "num_mel_bins": 80},
        sound,
    ),
    # pictures
    Family("ViTModel", inputs=picture),
    Family("DeiTModel", inputs=picture),
    Family("BeitModel", own={"use_relative_position_bias": True}, inputs=picture),
    Family("Dinov2Model", inputs=picture),
    Family("SwinModel", 4, SWIN, picture),
    Family("CLIPModel", 6, {"projection_dim": 32}, text_and_picture),
)
