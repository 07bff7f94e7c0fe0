"""Makes tiny random models of any architecture of transformers, from its configuration class, without a download."""

import torch
import transformers
from transformers import PreTrainedConfig, PreTrainedModel

SIZES = {
    97: "vocab_size n_vocab vocab_size_per_layer_input",
    64: "hidden_size d_model n_embd dim embed_dim embedding_size max_position_embeddings n_positions n_ctx",
    3: "num_hidden_layers n_layer n_layers num_layers encoder_layers decoder_layers num_decoder_layers"
    " num_encoder_layers num_channels",
    4: "num_attention_heads n_head n_heads num_heads encoder_attention_heads decoder_attention_heads num_local_experts"
    " num_experts n_routed_experts patch_size",
    16: "head_dim d_kv d_head attention_head_size image_size kv_lora_rank qk_nope_head_dim",
    80: "intermediate_size ffn_dim d_ff encoder_ffn_dim decoder_ffn_dim d_inner feed_forward_size"
    " moe_intermediate_size shared_expert_intermediate_size intermediate_size_mlp hidden_dim",
    2: "num_key_value_heads num_experts_per_tok eos_token_id",
    1: "bos_token_id decoder_start_token_id n_group topk_group first_k_dense_replace",
    0: "pad_token_id",
    5: "sliding_window",
    8: "qk_rope_head_dim hidden_size_per_layer_input",
    12: "v_head_dim",
    24: "q_lora_rank qk_head_dim",
}
SMALL = {name: size for size, names in SIZES.items() for name in names.split()}
FIXED = {"dropout": 0.0, "attention_dropout": 0.0, "use_cache": False, "tie_word_embeddings": True}
SPREAD = 4.0  # with the usual small weights all attention is even, and no fault shows


def small_config(kind: type[PreTrainedConfig], **own: object) -> PreTrainedConfig:
    """Return a small configuration: each size that the class knows by a usual name made small, then `own`."""
    usual = kind()
    known = usual.to_dict()
    given = {name: size for name, size in SMALL.items() if known.get(name) is not None}
    given |= {name: value for name, value in FIXED.items() if known.get(name) is not None}
    if isinstance(known.get("layer_types"), list):
        kinds = list(dict.fromkeys(known["layer_types"]))
        given["layer_types"] = [kinds[layer % len(kinds)] for layer in range(given.get("num_hidden_layers", 3))]
    for part in getattr(kind, "sub_configs", {}):
        inner = getattr(usual, part, None)
        if inner is not None:
            given[part] = small_config(type(inner)).to_dict()
    return kind(**{**given, **own})


def make_model(
    name: str, config: PreTrainedConfig, seed: int = 0, dtype: torch.dtype = torch.float32
) -> PreTrainedModel:
    """Return a random model in eval mode whose matrices are wide enough for attention to be uneven."""
    torch.manual_seed(seed)  # transformers takes no generator
    model = getattr(transformers, name)._from_config(config, attn_implementation="eager")
    with torch.no_grad():
        for key, parameter in model.named_parameters():
            if parameter.dim() >= 2 and parameter.any():
                parameter.mul_(SPREAD)
            elif parameter.dim() >= 2:
                parameter.normal_(std=0.3)  # a table of positions that begins at 0
            elif key.endswith("bias") or "sinks" in key or "norm" in key.lower():
                parameter.add_(0.1 * torch.randn_like(parameter))
    return model.to(dtype).eval()


# ---- inputs ----------------------------------------------------------------------------------------------------------
def text(batch: int = 2, length: int = 11) -> dict[str, torch.Tensor]:
    """Return two texts, of which the second is padded."""
    ids = torch.randint(3, 97, (batch, length), generator=torch.Generator().manual_seed(1))
    mask = torch.ones_like(ids)
    mask[1:, length - 3 :] = 0
    return {"input_ids": ids, "attention_mask": mask}


def two_texts() -> dict[str, torch.Tensor]:
    """Return texts and the beginnings of their translations."""
    given = text()
    return {**given, "decoder_input_ids": given["input_ids"][:, :7]}


def picture() -> dict[str, torch.Tensor]:
    """Return a picture of 16 x 16 pixels."""
    return {"pixel_values": torch.randn(1, 3, 16, 16, generator=torch.Generator().manual_seed(1))}


def text_and_picture() -> dict[str, torch.Tensor]:
    """Return a text with each of two pictures."""
    return {**text(), "pixel_values": picture()["pixel_values"].expand(2, -1, -1, -1)}


def sound() -> dict[str, torch.Tensor]:
    """Return the features of a sound and the beginning of its text."""
    generator = torch.Generator().manual_seed(1)
    words = torch.randint(3, 97, (1, 7), generator=generator)
    return {"input_features": torch.randn(1, 80, 100, generator=generator), "decoder_input_ids": words}
