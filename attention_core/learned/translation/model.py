"""Defines the Transformer that translates: an encoder, and a decoder that attends to the encoder's output."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Generator, Tensor, nn

from attention_core.learned.language.model import draw_normal
from attention_core.learned.language.packing import PackedWords
from attention_core.mechanism.config import AttentionConfig, Weights
from attention_core.mechanism.positions import sinusoidal
from attention_core.transformer.embedding import EmbeddingConfig, EmbeddingWeights, times_root
from attention_core.transformer.feed_forward import FeedForwardConfig, FeedForwardWeights
from attention_core.transformer.stack import LayerConfig, LayerWeights, Stack, StackConfig, StackWeights, run_stack
from attention_core.transformer.unembedding import UnembeddingConfig, UnembeddingWeights

NORM = "layer_norm_after"
POSITIONS = ("sinusoidal", {"base": 10000.0})


@dataclass(frozen=True)
class TranslatorShape:
    """The size of a translator, a small Transformer as in Vaswani et al. 2017, section 3.

    source_words, target_words: the sizes of the vocabularies. width: the width of a word's vector. layers: the number
    of layers of the encoder, and also of the decoder. inner: the inner width of the feed-forward layers.
    """

    source_words: int
    target_words: int
    width: int = 64
    layers: int = 2
    heads: int = 4
    inner: int = 256

    def encoder(self) -> StackConfig:
        """The config of the encoder."""
        return StackConfig((LayerConfig(self.attention(), self.feed_forward()),) * self.layers, embedding=EMBEDDING)

    def decoder(self) -> StackConfig:
        """The config of the decoder."""
        layer = LayerConfig(self.attention("causal"), self.feed_forward(), self.attention())
        return StackConfig((layer,) * self.layers, embedding=EMBEDDING, unembedding=UnembeddingConfig())

    def attention(self, *masks: str) -> AttentionConfig:
        """Return the config of an attention layer with these masks."""
        return AttentionConfig(heads=self.heads, masks=masks, modifiers=(NORM,), residual=True)

    def feed_forward(self) -> FeedForwardConfig:
        """The config of a feed-forward layer."""
        return FeedForwardConfig("relu", norms=(NORM,), residual=True)


EMBEDDING = EmbeddingConfig(times_root=True, positions=(POSITIONS,))


def zeros(size: int) -> nn.Parameter:
    """Return a parameter of zeros, for a bias or for the shift of a norm."""
    return nn.Parameter(torch.zeros(size))


class AttentionPart(nn.Module):
    """The parameters of an attention layer and of the norm after it; matrices are multiplied from the right, x @ w
    + b.
    """

    def __init__(self, width: int, generator: Generator):
        super().__init__()
        for name in "qkvo":
            self.register_parameter(f"w_{name}", draw_normal(width, width, generator))
            self.register_parameter(f"b_{name}", zeros(width))
        self.g_layer_after = nn.Parameter(torch.ones(width))
        self.b_layer_after = zeros(width)

    def weights(self) -> Weights:
        """Return the parameters as Weights of the core."""
        return Weights(**dict(self.named_parameters()))


class FeedForwardPart(nn.Module):
    """The parameters of a feed-forward layer and of the norm after it."""

    def __init__(self, width: int, inner: int, generator: Generator):
        super().__init__()
        self.w_1, self.b_1 = draw_normal(width, inner, generator), zeros(inner)
        self.w_2, self.b_2 = draw_normal(inner, width, generator), zeros(width)
        self.g_layer_after = nn.Parameter(torch.ones(width))
        self.b_layer_after = zeros(width)

    def weights(self) -> FeedForwardWeights:
        """Return the parameters as FeedForwardWeights of the core."""
        return FeedForwardWeights(**dict(self.named_parameters()))


class TranslatorLayer(nn.Module):
    """The parameters of an encoder or decoder layer.

    has_cross: whether the layer has cross-attention, as the layers of the decoder do.
    """

    def __init__(self, shape: TranslatorShape, has_cross: bool, generator: Generator):
        super().__init__()
        self.attention = AttentionPart(shape.width, generator)
        self.cross = AttentionPart(shape.width, generator) if has_cross else None
        self.feed_forward = FeedForwardPart(shape.width, shape.inner, generator)

    def weights(self) -> LayerWeights:
        """Return the parameters of the layer as LayerWeights of the core."""
        cross = None if self.cross is None else self.cross.weights()
        return LayerWeights(self.attention.weights(), self.feed_forward.weights(), cross)


class Translator(nn.Module):
    """A translator of a given shape; its initial parameters are sampled from a generator."""

    def __init__(self, shape: TranslatorShape, generator: Generator):
        super().__init__()
        self.shape = shape
        self.source_table = draw_table(shape.source_words, shape.width, generator)
        self.target_table = draw_table(shape.target_words, shape.width, generator)
        self.encoder = nn.ModuleList(TranslatorLayer(shape, False, generator) for _ in range(shape.layers))
        self.decoder = nn.ModuleList(TranslatorLayer(shape, True, generator) for _ in range(shape.layers))

    # ---- the full run, to be shown -----------------------------------------------------------------------------------
    def weights(self) -> tuple[StackWeights, StackWeights]:
        """Return the parameters of the encoder and of the decoder, as StackWeights of the core."""
        encoder, decoder = (tuple(layer.weights() for layer in part) for part in (self.encoder, self.decoder))
        return (
            StackWeights(encoder, EmbeddingWeights(table=self.source_table)),
            StackWeights(
                decoder,
                EmbeddingWeights(table=self.target_table),
                unembedding=UnembeddingWeights(table=self.target_table),
            ),
        )

    def stack(self, source: object, target: object) -> Stack:
        """Run encoder and decoder on texts and translations, and return a Stack with every step recorded.

        source, target: the vocabulary indices of the words of B texts, as `embed` of the core expects them.
        """
        encoder, decoder = self.weights()
        memory = run_stack(source, encoder, self.shape.encoder())
        return run_stack(target, decoder, self.shape.decoder(), memory)

    # ---- the run in training -----------------------------------------------------------------------------------------
    def run_layers(self, source: PackedWords, target: PackedWords) -> Stack:
        """Run the layers of the encoder and of the decoder in training, on packed texts, without the unembedding."""
        memory = self.encode(source)
        return self.decode(target, memory, target.allowed_to(source))

    def encode(self, source: PackedWords) -> Stack:
        """Run the encoder's layers on sentences."""
        layers, config = StackWeights(self.weights()[0].layers), StackConfig(self.shape.encoder().layers)
        return run_stack(place_words(self.source_table, source), layers, config, allowed=source.allowed)

    def decode(self, target: PackedWords, memory: Stack, memory_allowed: Tensor) -> Stack:
        """Run the decoder's layers on translations, with cross-attention to the encoder's output.

        memory: the encoder's Stack, whose steps come first in the result. memory_allowed: a boolean mask, True where a
        word of the translation may attend to a word of the sentence.
        """
        layers, config = StackWeights(self.weights()[1].layers), StackConfig(self.shape.decoder().layers)
        x = place_words(self.target_table, target)  # (B, T, D)
        return run_stack(x, layers, config, memory, target.allowed, memory_allowed)

    def word_logits(self, x: Float[Tensor, "*N D"]) -> Float[Tensor, "*N V"]:
        """Return the logits of the next word, computed from vectors after the last layer."""
        return x @ self.target_table.T


def draw_table(words: int, width: int, generator: Generator) -> nn.Parameter:
    """Sample an embedding table, one row per word, with the standard deviation 1/√D.

    embed multiplies the rows by √D, which makes their numbers as large as those of position encodings.
    """
    table = torch.empty(words, width)
    nn.init.normal_(table, std=width**-0.5, generator=generator)
    return nn.Parameter(table)


def place_words(table: Float[Tensor, "V D"], packed: PackedWords) -> Float[Tensor, "B T D"]:
    """Return word vectors plus position encodings; positions are counted within each packed text.

    The result is the same as if `embed` computed each text alone.
    """
    embedded = times_root(table[packed.words])  # (B, T, D)
    _, params = POSITIONS
    places = sinusoidal(embedded, first_position=0, **params)  # (T, D)
    return embedded + places[packed.places]  # (T, D) -> (B, T, D)
