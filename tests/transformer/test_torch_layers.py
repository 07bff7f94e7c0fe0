"""Layers and stacks against torch's own: TransformerEncoderLayer, TransformerDecoderLayer, TransformerEncoder."""

import pytest
import torch
import torch.nn.functional as F

from attention_core.transformer.part_norms import NormWeights
from attention_core.transformer.stack import StackConfig, StackWeights, run_stack
from attention_core.transformer.unembedding import UnembeddingConfig, UnembeddingWeights
from attention_core.verification.proof import prove_stack
from tests.transformer.parts import draws, layer_of, norm_weights, shaken

B, T, S, D, H, D_HIDDEN, V = 2, 5, 7, 33, 3, 13, 11
MASKS = {"none": [], "causal": ["causal"], "padding": [("padding", {"lengths": (5, 2)})]}
pytestmark = pytest.mark.filterwarnings("ignore:enable_nested_tensor is True")


def close(found: torch.Tensor, expected: torch.Tensor) -> None:
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-10)


def their_mask(name: str) -> dict:
    """The same mask in torch's words: True = may not."""
    if name == "causal":
        return {"src_mask": torch.ones(T, T, dtype=torch.bool).triu(1)}
    if name == "padding":
        return {"src_key_padding_mask": torch.arange(T) >= torch.tensor([[5], [2]])}
    return {}


def encoder_layer(activation: str, norm_first: bool) -> torch.nn.TransformerEncoderLayer:
    return torch.nn.TransformerEncoderLayer(
        D, H, D_HIDDEN, dropout=0.0, activation=activation, batch_first=True, norm_first=norm_first
    )


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("norm_first", [True, False], ids=["norm before", "norm after"])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
def test_an_encoder_layer_is_torchs(activation, norm_first, mask):
    draw = draws()
    theirs = shaken(encoder_layer(activation, norm_first), draw)
    x = draw(B, T, D)
    weights, config = layer_of(theirs, activation, MASKS[mask])
    stack = run_stack(x, StackWeights([weights]), StackConfig([config]))
    with torch.no_grad():
        close(stack.end, theirs(x, **their_mask(mask)))
    assert prove_stack(stack).passed


@pytest.mark.parametrize("norm_first", [True, False], ids=["norm before", "norm after"])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
def test_a_decoder_layer_is_torchs(activation, norm_first):
    draw = draws()
    theirs = torch.nn.TransformerDecoderLayer(
        D, H, D_HIDDEN, dropout=0.0, activation=activation, batch_first=True, norm_first=norm_first
    )
    shaken(theirs, draw)
    x, memory = draw(B, T, D), draw(B, S, D)
    weights, config = layer_of(theirs, activation, ["causal"])
    stack = run_stack(x, StackWeights([weights]), StackConfig([config]), memory)
    with torch.no_grad():
        close(stack.end, theirs(x, memory, tgt_mask=torch.ones(T, T, dtype=torch.bool).triu(1)))
    assert list(stack.parts) == ["1.attention", "1.cross", "1.feed_forward"]
    assert prove_stack(stack).passed


@pytest.mark.parametrize("norm_first", [True, False], ids=["norm before", "norm after"])
def test_what_may_be_read_of_the_memory_is_torchs_memory_mask(norm_first):
    draw = draws()
    theirs = torch.nn.TransformerDecoderLayer(D, H, D_HIDDEN, dropout=0.0, batch_first=True, norm_first=norm_first)
    shaken(theirs, draw)
    x, memory = draw(B, T, D), draw(B, S, D)
    may_read = draw(T, S) > 0
    may_read[:, 3] = True  # torch has no number for a word that may read nothing
    weights, config = layer_of(theirs, "relu", ["causal"])
    stack = run_stack(x, StackWeights([weights]), StackConfig([config]), memory, memory_allowed=may_read)
    with torch.no_grad():
        ahead = torch.ones(T, T, dtype=torch.bool).triu(1)
        close(stack.end, theirs(x, memory, tgt_mask=ahead, memory_mask=~may_read))
    assert not stack["1.cross"]["weights"][:, :, ~may_read].any()
    assert stack["1.attention"]["weights"][0, 0, 1, :2].all()  # the words look at each other as before
    assert prove_stack(stack).passed


@pytest.mark.parametrize("norm_first", [True, False], ids=["norm before", "norm after"])
def test_three_layers_and_a_last_norm_are_torchs_encoder(norm_first):
    draw = draws()
    layers = torch.nn.TransformerEncoder(encoder_layer("gelu", norm_first), 3, torch.nn.LayerNorm(D))
    theirs = shaken(layers, draw)
    x, table = draw(B, T, D), draw(V, D)
    weights, configs = zip(*(layer_of(layer, "gelu", ["causal"]) for layer in theirs.layers), strict=True)
    stack = run_stack(
        x,
        StackWeights(weights, unembedding=UnembeddingWeights(table=table, **norm_weights(theirs.norm, "before"))),
        StackConfig(configs, unembedding=UnembeddingConfig(["layer_norm_before"])),
    )
    last_norm = NormWeights(**norm_weights(theirs.norm, "before"))
    ended = run_stack(x, StackWeights(weights, norms=last_norm), StackConfig(configs, norms=["layer_norm_before"]))
    with torch.no_grad():
        expected = theirs(x, mask=torch.ones(T, T, dtype=torch.bool).triu(1))
    close(ended.end, expected)
    close(stack["unembedding"]["layer_normed_x"], expected)
    close(stack["unembedding"]["logits"], F.linear(expected, table))
    assert prove_stack(stack).passed and prove_stack(ended).passed
