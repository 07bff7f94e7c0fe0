"""Defines a deep and narrow Transformer that learns to copy sequences, with blocks with or without residuals and
norms.
"""

from dataclasses import dataclass

from jaxtyping import Float, Int
from torch import Generator, Tensor, nn, ones

from attention_core.learned.language.model import draw_normal
from attention_core.learned.models.parameters import draw_embedding
from attention_core.learned.tasks.repeats import SYMBOLS
from attention_core.mechanism.config import AttentionConfig, Weights
from attention_core.transformer.embedding import EmbeddingConfig, EmbeddingWeights
from attention_core.transformer.feed_forward import FeedForwardConfig, FeedForwardWeights
from attention_core.transformer.stack import (
    UNEMBEDDING,
    LayerConfig,
    LayerWeights,
    Stack,
    StackConfig,
    StackWeights,
    run_stack,
)
from attention_core.transformer.unembedding import UnembeddingConfig, UnembeddingWeights

WIDTH, INNER, HEADS = 32, 64, 2
BEFORE, AFTER = "rms_norm_before", "rms_norm_after"


@dataclass(frozen=True)
class BlockKind:
    """A kind of block, with or without residuals and norms.

    residual: whether the input of each sublayer (attention, feed-forward) is added to its output. norm: BEFORE if a
    norm precedes each sublayer, AFTER if it follows the addition, None without norms.
    """

    residual: bool
    norm: str | None

    def stack(self, layers: int) -> StackConfig:
        """Return the config of a network of `layers` such blocks.

        If a norm precedes each sublayer, another norm precedes the logits.
        """
        norms = () if self.norm is None else (self.norm,)
        attention = AttentionConfig(
            heads=HEADS, masks=("causal",), positions=("rope",), modifiers=norms, residual=self.residual
        )
        layer = LayerConfig(attention, FeedForwardConfig("relu", norms=norms, residual=self.residual))
        last = norms if self.norm == BEFORE else ()
        return StackConfig((layer,) * layers, embedding=EmbeddingConfig(), unembedding=UnembeddingConfig(norms=last))


BLOCK_KINDS = {
    "before": BlockKind(residual=True, norm=BEFORE),
    "after": BlockKind(residual=True, norm=AFTER),
    "no_norm": BlockKind(residual=True, norm=None),
    "no_residual": BlockKind(residual=False, norm=BEFORE),
    "bare": BlockKind(residual=False, norm=None),
}


class DeepBlock(nn.Module):
    """The parameters of one block: attention and feed-forward matrices, multiplied as x @ w, and the factors g of its
    norms.
    """

    def __init__(self, norm: str | None, generator: Generator):
        super().__init__()
        for name in ("w_q", "w_k", "w_v", "w_o"):
            self.register_parameter(name, draw_normal(WIDTH, WIDTH, generator))
        self.w_1 = draw_normal(WIDTH, INNER, generator)
        self.w_2 = draw_normal(INNER, WIDTH, generator)
        self.gain = f"g_{norm.replace('_norm', '')}" if norm else None  # gain's name, such as g_rms_before
        if norm:
            self.g_attention = nn.Parameter(ones(WIDTH))
            self.g_feed_forward = nn.Parameter(ones(WIDTH))

    def weights(self) -> LayerWeights:
        """Return the block's parameters as LayerWeights."""
        attention, feed_forward = {}, {}
        if self.gain:
            attention, feed_forward = {self.gain: self.g_attention}, {self.gain: self.g_feed_forward}
        return LayerWeights(
            Weights(w_q=self.w_q, w_k=self.w_k, w_v=self.w_v, w_o=self.w_o, **attention),
            FeedForwardWeights(w_1=self.w_1, w_2=self.w_2, **feed_forward),
        )


class DeepCopier(nn.Module):
    """A causal network over symbols with blocks of one kind; its initial parameters are sampled from a generator."""

    def __init__(self, kind: str, layers: int, generator: Generator):
        super().__init__()
        self.kind = BLOCK_KINDS[kind]
        self.read = draw_embedding(len(SYMBOLS), WIDTH, generator)
        self.layers = nn.ModuleList(DeepBlock(self.kind.norm, generator) for _ in range(layers))
        self.out = nn.Parameter(draw_normal(WIDTH, len(SYMBOLS), generator).T.contiguous())  # (V, D)
        if self.kind.norm == BEFORE:
            self.g_last = nn.Parameter(ones(WIDTH))

    def weights(self) -> StackWeights:
        """Return the network's parameters as StackWeights."""
        last = {"g_rms_before": self.g_last} if self.kind.norm == BEFORE else {}
        return StackWeights(
            tuple(layer.weights() for layer in self.layers),
            embedding=EmbeddingWeights(table=self.read.weight),
            unembedding=UnembeddingWeights(table=self.out, **last),
        )

    def stack(self, symbols: Int[Tensor, "B T"]) -> Stack:
        """Run the network on symbols, and return the Stack with every step recorded."""
        return run_stack(symbols, self.weights(), self.kind.stack(len(self.layers)))

    def loss(self, stack: Stack, symbols: Int[Tensor, "B T"]) -> Float[Tensor, ""]:
        """Return the mean cross-entropy, in nats, of the predictions in the second half of a sequence, which repeats
        the first half.

        The first half is random, so its predictions are not counted. stack: the network's run on all symbols except the
        last. symbols: all symbols.
        """
        half = symbols.shape[1] // 2
        logits = stack[UNEMBEDDING]["logits"][:, half:]  # (B, half - 1, V)
        return nn.functional.cross_entropy(logits.flatten(0, 1), symbols[:, half + 1 :].flatten())
