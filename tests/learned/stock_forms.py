"""The networks under the names of transformers, the library, and opened by it: each in its stock form.

Nothing is loaded from another host: a form is written into a folder and opened from there. Its import takes seconds.
"""

from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import Tensor
from transformers import (
    EuroBertConfig,
    EuroBertForMaskedLM,
    LlamaConfig,
    LlamaForCausalLM,
    MarianConfig,
    MarianMTModel,
    PreTrainedConfig,
    PreTrainedModel,
)
from transformers.models.eurobert import modeling_eurobert
from transformers.models.llama import modeling_llama
from transformers.models.marian import modeling_marian

from attention_core.checkpoints.stock_folder import stock_config, stock_numbers
from attention_core.learned.language.batches import ROW_LENGTH, START, word_numbers
from attention_core.learned.language.model import LanguageModel
from attention_core.learned.models.copier import Copier
from attention_core.learned.translation.model import AttentionPart, FeedForwardPart, Translator, TranslatorLayer

MODULES = (modeling_eurobert, modeling_llama, modeling_marian)
NO_MARKS = {"pad_token_id": None, "bos_token_id": None, "eos_token_id": None}


class WideTorch:
    """torch, but 64 bits where a form asks for 32."""

    float = float32 = torch.float64
    FloatTensor = torch.DoubleTensor

    def __getattr__(self, name: str) -> object:
        return getattr(torch, name)


# ---- opening ---------------------------------------------------------------------------------------------------------
def open_form(
    form: type[PreTrainedModel], config: PreTrainedConfig, numbers: dict[str, Tensor], folder: Path
) -> PreTrainedModel:
    """Write a form's folder and open it: every number of the form is given, and every number given has a place."""
    config.save_pretrained(folder)
    copies = {name: each.detach().clone(memory_format=torch.contiguous_format) for name, each in numbers.items()}
    save_file(copies, folder / "model.safetensors", metadata={"format": "pt"})
    choices = {"dtype": torch.float64, "attn_implementation": "eager", "local_files_only": True}
    stock, found = form.from_pretrained(folder, output_loading_info=True, **choices)
    assert not any(found.values()), found
    return stock.eval()


# ---- language models -------------------------------------------------------------------------------------------------
def open_language_model(model: LanguageModel, folder: Path) -> PreTrainedModel:
    """A language model in its stock form: Llama for a decoder, EuroBERT for an encoder."""
    form, kind = (LlamaForCausalLM, LlamaConfig) if model.shape.causal else (EuroBertForMaskedLM, EuroBertConfig)
    return open_form(form, kind.from_dict(stock_config(model)), stock_numbers(model), folder)


# ---- the network that copies -----------------------------------------------------------------------------------------
EPS_BEYOND_ALL = 2.0**120  # √(mean of squares + eps) is then 2⁶⁰ for any vector, and a gain of 2⁶⁰ takes it back


def halves_of_pairs(matrix: Tensor, heads: int) -> Tensor:
    """The columns of W_q or W_k in the order of Llama: RoPE turns number m with m + d/2, not with its neighbour."""
    pairs = matrix.unflatten(1, (heads, -1, 2))  # (D, H * d) -> (D, H, d/2, 2)
    return pairs.transpose(2, 3).flatten(1)  # (D, H, 2, d/2) -> (D, H * d)


def copier_numbers(model: Copier) -> dict[str, Tensor]:
    """The numbers of the copying network as those of a Llama whose norms and feed-forward layers do nothing."""
    gain = torch.full((32,), EPS_BEYOND_ALL**0.5, dtype=torch.float64)
    nothing = torch.zeros(1, 32, dtype=torch.float64)
    numbers = {
        "model.embed_tokens.weight": model.read.weight,
        "lm_head.weight": model.out.T,
        "model.norm.weight": gain,
    }
    for place, layer in enumerate(model.layers):
        matrices = {
            "self_attn.q_proj": halves_of_pairs(layer.w_q, 2).T,
            "self_attn.k_proj": halves_of_pairs(layer.w_k, 2).T,
            "self_attn.v_proj": layer.w_v.T,
            "self_attn.o_proj": layer.w_o.T,
            "mlp.up_proj": nothing,
            "mlp.gate_proj": nothing,
            "mlp.down_proj": nothing.T,
            "input_layernorm": gain,
            "post_attention_layernorm": gain,
        }
        numbers |= {f"model.layers.{place}.{name}.weight": each for name, each in matrices.items()}
    return numbers


def open_copier(model: Copier, folder: Path) -> PreTrainedModel:
    """The copying network as a Llama."""
    config = LlamaConfig(
        vocab_size=62,
        hidden_size=32,
        intermediate_size=1,
        num_hidden_layers=len(model.layers),
        num_attention_heads=2,
        rms_norm_eps=EPS_BEYOND_ALL,
        rope_parameters={"rope_type": "default", "rope_theta": 10000.0},
        tie_word_embeddings=False,
        **NO_MARKS,
    )
    return open_form(LlamaForCausalLM, config, copier_numbers(model), folder)


# ---- the translator --------------------------------------------------------------------------------------------------
def waves_apart(width: int) -> Tensor:
    """The order of a vector's numbers in Marian: all sines of the places, then all cosines; here they alternate."""
    order = torch.arange(width)
    return torch.cat((order[0::2], order[1::2]))


def attention_numbers(part: AttentionPart, order: Tensor) -> dict[str, Tensor]:
    """An attention of Marian, its inputs and its output in another order."""
    numbers = {"out_proj.weight": part.w_o[:, order].T, "out_proj.bias": part.b_o[order]}
    for kind in "qkv":
        matrix, bias = getattr(part, f"w_{kind}"), getattr(part, f"b_{kind}")
        numbers |= {f"{kind}_proj.weight": matrix[order].T, f"{kind}_proj.bias": bias}
    return numbers


def feed_forward_numbers(part: FeedForwardPart, order: Tensor) -> dict[str, Tensor]:
    """A feed-forward layer of Marian, its input and its output in another order."""
    return {
        "fc1.weight": part.w_1[order].T,
        "fc1.bias": part.b_1,
        "fc2.weight": part.w_2[:, order].T,
        "fc2.bias": part.b_2[order],
    }


def translator_layer_numbers(layer: TranslatorLayer, order: Tensor) -> dict[str, Tensor]:
    """A layer of Marian's encoder, or of its decoder."""
    parts = {"self_attn": layer.attention, "encoder_attn": layer.cross}
    numbers = feed_forward_numbers(layer.feed_forward, order)
    norms = {"final_layer_norm": layer.feed_forward}
    for name, part in parts.items():
        if part is not None:
            numbers |= {f"{name}.{key}": each for key, each in attention_numbers(part, order).items()}
            norms[f"{name}_layer_norm"] = part
    for name, part in norms.items():
        numbers |= {f"{name}.weight": part.g_layer_after[order], f"{name}.bias": part.b_layer_after[order]}
    return numbers


def translator_numbers(model: Translator) -> dict[str, Tensor]:
    """All numbers of the translator."""
    order = waves_apart(model.shape.width)
    halves = {"encoder": (model.source_table, model.encoder), "decoder": (model.target_table, model.decoder)}
    numbers = {}
    for half, (table, layers) in halves.items():
        numbers[f"model.{half}.embed_tokens.weight"] = table[:, order]
        for place, layer in enumerate(layers):
            own = translator_layer_numbers(layer, order)
            numbers |= {f"model.{half}.layers.{place}.{name}": each for name, each in own.items()}
    return numbers


def open_translator(model: Translator, folder: Path) -> PreTrainedModel:
    """The translator as a Marian. START begins a translation and ends it."""
    start = word_numbers("zh")[START]
    config = MarianConfig(
        vocab_size=model.shape.source_words,
        decoder_vocab_size=model.shape.target_words,
        share_encoder_decoder_embeddings=False,
        d_model=64,
        encoder_layers=2,
        decoder_layers=2,
        encoder_attention_heads=4,
        decoder_attention_heads=4,
        encoder_ffn_dim=256,
        decoder_ffn_dim=256,
        activation_function="relu",
        scale_embedding=True,
        max_position_embeddings=2 * ROW_LENGTH,
        decoder_start_token_id=start,
        eos_token_id=start,
        pad_token_id=start,
        forced_eos_token_id=None,
    )
    return open_form(MarianMTModel, config, translator_numbers(model), folder)
