"""A text in, a class out: one learned query attends to the text, and what it takes decides."""

import torch
from jaxtyping import Float, Int
from torch import Generator, Tensor, nn

from attention_core.learned.models.parameters import draw_embedding, draw_matrix, switch_heads
from attention_core.learned.symbols.alphabet import PAD
from attention_core.mechanism.attention import attend
from attention_core.mechanism.config import AttentionConfig, Weights
from attention_core.record.trace import Trace

CLASSIFIER_WIDTH = 16


class Classifier(nn.Module):
    """The vector of a place is that of its symbol plus one of the symbol before it, so that what a place says stands at
    that place alone. The output of the attention is the logit of each class: W_o and b_o are the classifier."""

    def __init__(self, symbols: int, classes: int, heads: int, generator: Generator):
        super().__init__()
        self.heads = heads
        self.symbol = draw_embedding(symbols, CLASSIFIER_WIDTH, generator)
        self.before = draw_embedding(symbols + 1, CLASSIFIER_WIDTH, generator)  # the last: that there is none
        self.query = draw_matrix(1, CLASSIFIER_WIDTH, generator)
        for name in ("w_q", "w_k", "w_v"):
            setattr(self, name, draw_matrix(CLASSIFIER_WIDTH, CLASSIFIER_WIDTH, generator))
        self.w_o = draw_matrix(CLASSIFIER_WIDTH, classes, generator)
        self.b_o = nn.Parameter(torch.zeros(classes))

    def vectors(self, symbols: Int[Tensor, "B S"]) -> Float[Tensor, "B S 16"]:
        """The vector of each place; of padding any."""
        first = symbols.new_full((len(symbols), 1), self.before.num_embeddings - 1)  # (B, 1)
        before = torch.cat((first, symbols[:, :-1].clamp(min=0)), -1)  # (B, S)
        return self.symbol(symbols.clamp(min=0)) + self.before(before)

    def weights(self, kept: Float[Tensor, " H"] | None = None) -> Weights:
        """The attention's matrices, and the classifier's. kept: 1 for a head that counts, 0 for one that does not."""
        own = {name: getattr(self, name) for name in ("w_q", "w_k", "w_v", "w_o", "b_o")}
        return Weights(**own if kept is None else own | {"w_o": switch_heads(kept, self.w_o)})

    def trace(
        self, symbols: Int[Tensor, "B S"], replacement: Tensor | None = None, kept: Float[Tensor, " H"] | None = None
    ) -> Trace:
        """The run of a batch, filled up with PAD; `output` (B, 1, classes) holds the logits. replacement: weights
        (B, H, 1, S) in the place of the computed ones. kept: see weights."""
        asking = self.query[None].expand(len(symbols), 1, CLASSIFIER_WIDTH)  # (1, 16) -> (B, 1, 16)
        config = AttentionConfig(heads=self.heads)
        there = (symbols != PAD)[:, None, None]  # (B, S) -> (B, 1, 1, S)
        given = {"config": config, "allowed": there, "replacement": replacement}
        return attend(asking, self.vectors(symbols), weights=self.weights(kept), **given)

    def loss(self, symbols: Int[Tensor, "B S"], classes: Int[Tensor, " B"]) -> Tensor:
        """The mean surprise, in nats, of the right class."""
        return nn.functional.cross_entropy(self.trace(symbols)["output"][:, 0], classes)
