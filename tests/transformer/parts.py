"""Layers of torch with random numbers, the same layers here, and one small run of every kind of part."""

from collections.abc import Callable

import torch
from torch import Tensor

from attention_core import AttentionConfig, Trace, Weights
from attention_core.mechanism.config import Choice
from attention_core.transformer.activations import ACTIVATIONS
from attention_core.transformer.embedding import EmbeddingConfig, EmbeddingWeights, embed
from attention_core.transformer.feed_forward import FeedForwardConfig, FeedForwardWeights, feed_forward
from attention_core.transformer.part_norms import NORMS
from attention_core.transformer.stack import LayerConfig, LayerWeights
from attention_core.transformer.unembedding import UnembeddingConfig, UnembeddingWeights, unembed

Draw = Callable[..., Tensor]


def draws(seed: int = 0) -> Draw:
    """Random numbers in float64 from a seed."""
    generator = torch.Generator().manual_seed(seed)
    return lambda *shape: torch.randn(*shape, generator=generator, dtype=torch.float64)


# ---- layers of torch -------------------------------------------------------------------------------------------------
def shaken(module: torch.nn.Module, draw: Draw) -> torch.nn.Module:
    """A module of torch in float64, every parameter drawn: gains and shifts too, which torch begins with 1 and 0."""
    module = module.double().eval()
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(draw(*parameter.shape) / 2)
    return module


def attention_weights(theirs: torch.nn.MultiheadAttention, norm: torch.nn.LayerNorm, place: str) -> Weights:
    """The tensors of torch's attention and its norm. place: "before" or "after"."""
    w_q, w_k, w_v = (w.T for w in theirs.in_proj_weight.detach().chunk(3))  # (3 D, D) -> three of (D, D)
    b_q, b_k, b_v = theirs.in_proj_bias.detach().chunk(3)
    w_o, b_o = theirs.out_proj.weight.detach().T, theirs.out_proj.bias.detach()
    projections = {"w_q": w_q, "w_k": w_k, "w_v": w_v, "w_o": w_o, "b_q": b_q, "b_k": b_k, "b_v": b_v, "b_o": b_o}
    return Weights(**projections, **norm_weights(norm, place))


def norm_weights(norm: torch.nn.LayerNorm, place: str) -> dict[str, Tensor]:
    """The tensors of torch's LayerNorm."""
    return {f"g_layer_{place}": norm.weight.detach(), f"b_layer_{place}": norm.bias.detach()}


def layer_of(
    theirs: torch.nn.TransformerEncoderLayer | torch.nn.TransformerDecoderLayer,
    activation: str,
    masks: tuple[Choice, ...] | list = (),
) -> tuple[LayerWeights, LayerConfig]:
    """The same layer here. masks: of the attention of words to each other."""
    place = "before" if theirs.norm_first else "after"
    norms = [(f"layer_norm_{place}", {"eps": theirs.norm1.eps})]
    choices = {"heads": theirs.self_attn.num_heads, "modifiers": norms, "residual": True}
    has_cross = isinstance(theirs, torch.nn.TransformerDecoderLayer)
    last_norm = theirs.norm3 if has_cross else theirs.norm2
    bent = FeedForwardWeights(
        w_1=theirs.linear1.weight.detach().T,
        b_1=theirs.linear1.bias.detach(),
        w_2=theirs.linear2.weight.detach().T,
        b_2=theirs.linear2.bias.detach(),
        **norm_weights(last_norm, place),
    )
    weights = LayerWeights(
        attention_weights(theirs.self_attn, theirs.norm1, place),
        bent,
        attention_weights(theirs.multihead_attn, theirs.norm2, place) if has_cross else None,
    )
    config = LayerConfig(
        AttentionConfig(masks=masks, **choices),
        FeedForwardConfig(activation, norms, residual=True),
        AttentionConfig(**choices) if has_cross else None,
    )
    return weights, config


# ---- one run of every kind of part -----------------------------------------------------------------------------------
B, T, D, D_HIDDEN, V, PLACES = 2, 3, 5, 7, 11, 13


def norm_tensors(draw: Draw, *names: str) -> dict[str, Tensor]:
    """What norms learn, as wide as D."""
    return {tensor.name: draw(D) for name in names for tensor in NORMS[name].weights}


def small_feed_forward(activation: str = "relu", norms: tuple[str, ...] = (), **choices) -> Trace:
    """A feed-forward layer with biases."""
    draw = draws(1)
    gate = {"w_gate": draw(D, D_HIDDEN)} if ACTIVATIONS[activation].is_gated else {}
    weights = FeedForwardWeights(
        w_1=draw(D, D_HIDDEN),
        b_1=draw(D_HIDDEN),
        w_2=draw(D_HIDDEN, D),
        b_2=draw(D),
        **gate,
        **norm_tensors(draw, *norms),
    )
    return feed_forward(draw(B, T, D), weights, FeedForwardConfig(activation, norms, **choices))


def small_embedding(positions: tuple[str, ...] = (), norms: tuple[str, ...] = (), **choices) -> Trace:
    """Two texts of three words."""
    draw = draws(2)
    places = {"w_places": draw(PLACES, D)} if "learned" in positions else {}
    weights = EmbeddingWeights(table=draw(V, D), **places, **norm_tensors(draw, *norms))
    config = EmbeddingConfig(positions=positions, norms=norms, **choices)
    return embed([[1, 0, 10], [4, 4, 2]], weights, config)


def small_unembedding(norms: tuple[str, ...] = (), bias: bool = False, **choices) -> Trace:
    """Logits of eleven words."""
    draw = draws(3)
    more = {"b_words": draw(V)} if bias else {}
    weights = UnembeddingWeights(table=draw(V, D), **more, **norm_tensors(draw, *norms))
    return unembed(draw(B, T, D), weights, UnembeddingConfig(norms, **choices))


def small_parts() -> dict[str, Trace]:
    """Every activation, norm and choice of a part in one run at least."""
    return {
        **{f"feed-forward, {name}": small_feed_forward(name) for name in ACTIVATIONS},
        **{f"feed-forward, {name}": small_feed_forward("gelu", (name,), residual=True) for name in NORMS},
        "feed-forward, all norms": small_feed_forward("swiglu", tuple(NORMS), residual=True),
        "embedding": small_embedding(),
        "embedding with places": small_embedding(("sinusoidal", "learned"), ("layer_norm_after",), times_root=True),
        "unembedding": small_unembedding(),
        "unembedding, cut": small_unembedding(bias=True, temperature=0.7, top_k=7, top_p=0.8),
        "unembedding, normed": small_unembedding(("rms_norm_before",), bias=True, temperature=0.7),
    }
