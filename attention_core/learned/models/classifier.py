"""Defines a text classifier with a single attention layer, in which one learned query attends to the text."""

import torch
from jaxtyping import Float, Int
from torch import Generator, Tensor, nn

from attention_core.learned.models.parameters import draw_embedding, draw_matrix, switch_heads
from attention_core.learned.symbols import PAD
from attention_core.mechanism.attention import attend
from attention_core.mechanism.config import AttentionConfig, Weights
from attention_core.record.trace import Trace

CLASSIFIER_WIDTH = 16


class Classifier(nn.Module):
    """A classifier of texts whose output projection, W_o and b_o, gives the logit of each class.

    The vector at a position is the sum of two embeddings, one of the symbol there and one of the symbol before, so that
    it represents a symbol in its context, such as a value after a marker.
    """

    def __init__(self, symbols: int, classes: int, heads: int, generator: Generator):
        super().__init__()
        width = CLASSIFIER_WIDTH
        self.heads = heads
        self.symbol = draw_embedding(symbols, width, generator)
        self.before = draw_embedding(symbols + 1, width, generator)  # last row: before the first symbol
        self.query = draw_matrix(1, width, generator)
        self.w_q = draw_matrix(width, width, generator)
        self.w_k = draw_matrix(width, width, generator)
        self.w_v = draw_matrix(width, width, generator)
        self.w_o = draw_matrix(width, classes, generator)
        self.b_o = nn.Parameter(torch.zeros(classes))

    def vectors(self, symbols: Int[Tensor, "B S"]) -> Float[Tensor, "B S 16"]:
        """Compute the vector at each position; the vectors at padding positions are meaningless."""
        none_before = self.before.num_embeddings - 1
        count = len(symbols)
        own = symbols.clamp(min=0)  # (B, S): indices of symbols, 0 at padding
        first = symbols.new_full((count, 1), none_before)
        others = own[:, :-1]  # (B, S - 1): the symbols before positions 1, 2, ...
        before = torch.cat((first, others), -1)  # (B, S)
        return self.symbol(own) + self.before(before)

    def weights(self, switches: Float[Tensor, " H"] | None = None) -> Weights:
        """Return the weights of the attention and of the output.

        switches: for each head, 1 if it is active and 0 if it is ablated; None for all heads active.
        """
        w_o = self.w_o if switches is None else switch_heads(switches, self.w_o)
        return Weights(
            w_q=self.w_q,
            w_k=self.w_k,
            w_v=self.w_v,
            w_o=w_o,
            b_o=self.b_o,
        )

    def trace(
        self,
        symbols: Int[Tensor, "B S"],
        replacement: Tensor | None = None,
        switches: Float[Tensor, " H"] | None = None,
    ) -> Trace:
        """Run a batch, padded with PAD; `output` (B, 1, classes) holds the logits.

        replacement: attention weights (B, H, 1, S) instead of the computed ones. switches: for each head, 1 if it is
        active and 0 if it is ablated; None for all heads active.
        """
        queries = self.query.expand(len(symbols), 1, CLASSIFIER_WIDTH)  # (1, 16) -> (B, 1, 16): one query for all
        is_symbol = symbols != PAD  # (B, S)
        return attend(
            queries,
            self.vectors(symbols),
            weights=self.weights(switches),
            config=AttentionConfig(heads=self.heads),
            allowed=is_symbol[:, None, None],  # (B, S) -> (B, 1, 1, S): no head attends to padding
            replacement=replacement,
        )

    def classify(self, symbols: Int[Tensor, "B S"], switches: Float[Tensor, " H"] | None = None) -> Int[Tensor, " B"]:
        """Return the index of the most probable class of each text.

        switches: for each head, 1 if it is active and 0 if it is ablated; None for all heads active.
        """
        trace = self.trace(symbols, switches=switches)
        logits = trace["output"]  # (B, 1, classes)
        return logits[:, 0].argmax(-1)

    def loss(self, symbols: Int[Tensor, "B S"], classes: Int[Tensor, " B"]) -> Tensor:
        """Compute the mean cross-entropy, in nats, of the right class."""
        logits = self.trace(symbols)["output"]  # (B, 1, classes)
        return nn.functional.cross_entropy(logits[:, 0], classes)
