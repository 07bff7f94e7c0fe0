"""Defines a small attention-only language model that learns to copy.

Its heads predict the symbol that followed the last occurrence of the current symbol.
"""

from jaxtyping import Float, Int
from torch import Generator, Tensor, nn

from attention_core.learned.models.parameters import draw_embedding, draw_matrix, switch_heads
from attention_core.mechanism.attention import attend
from attention_core.mechanism.config import AttentionConfig, Weights
from attention_core.record.trace import Trace

COPIER_WIDTH, COPIER_HEADS = 32, 2
COPIER_CONFIG = AttentionConfig(heads=COPIER_HEADS, masks=("causal",), positions=("rope",))


class CopierLayer(nn.Module):
    """One attention layer of a Copier; its output is added to its input (residual connection)."""

    def __init__(self, generator: Generator):
        super().__init__()
        self.w_q = draw_matrix(COPIER_WIDTH, COPIER_WIDTH, generator)
        self.w_k = draw_matrix(COPIER_WIDTH, COPIER_WIDTH, generator)
        self.w_v = draw_matrix(COPIER_WIDTH, COPIER_WIDTH, generator)
        self.w_o = draw_matrix(COPIER_WIDTH, COPIER_WIDTH, generator)

    def weights(self, switches: Float[Tensor, "2"] | None = None) -> Weights:
        """Return the layer's matrices.

        switches: for each head, 1 if it is active and 0 if it is ablated; None for all heads active.
        """
        w_o = self.w_o if switches is None else switch_heads(switches, self.w_o)
        return Weights(w_q=self.w_q, w_k=self.w_k, w_v=self.w_v, w_o=w_o)


class Copier(nn.Module):
    """Causal attention layers of two heads each (Vaswani et al. 2017) with RoPE (Su et al. 2021), and no other layers.

    Two such layers are the least that can form an induction head (Elhage et al. 2021; Olsson et al. 2022).
    """

    def __init__(self, symbols: int, layers: int, generator: Generator):
        super().__init__()
        self.read = draw_embedding(symbols, COPIER_WIDTH, generator)
        self.layers = nn.ModuleList()
        for _ in range(layers):
            self.layers.append(CopierLayer(generator))
        self.out = draw_matrix(COPIER_WIDTH, symbols, generator)

    def traces(self, symbols: Int[Tensor, "B T"], switches: Float[Tensor, "layers 2"] | None = None) -> list[Trace]:
        """Run each layer, and return one Trace per layer, with the input `x` and with the `output` that is added to x.

        switches: for each head of each layer, 1 if it is active and 0 if it is ablated; None for all heads active.
        """
        x = self.read(symbols)  # (B, T, 32)
        runs = []
        for number, layer in enumerate(self.layers):
            own_switches = None if switches is None else switches[number]
            weights = layer.weights(own_switches)
            run = attend(x, weights=weights, config=COPIER_CONFIG)
            runs.append(run)
            x = x + run["output"]
        return runs

    def logits(self, symbols: Int[Tensor, "B T"], switches: Float[Tensor, "layers 2"] | None = None) -> Tensor:
        """Compute, at each position of the texts, the logits of all symbols for the next position, (B, T, symbols).

        switches: for each head of each layer, 1 if it is active and 0 if it is ablated; None for all heads active.
        """
        last = self.traces(symbols, switches)[-1]
        x = last["x"] + last["output"]  # (B, T, 32)
        return x @ self.out

    def loss(self, symbols: Int[Tensor, "B T"]) -> Tensor:
        """Compute the mean cross-entropy, in nats, of the symbols in the second half of a text.

        The first half is random, so its predictions are not counted.
        """
        half = symbols.shape[1] // 2
        given = symbols[:, :-1]  # (B, T - 1): without the last symbol
        logits = self.logits(given)  # (B, T - 1, symbols)
        second_half = logits[:, half:]  # (B, half - 1, symbols)
        wanted = symbols[:, half + 1 :]  # (B, half - 1): the right next symbols
        return nn.functional.cross_entropy(
            second_half.flatten(0, 1),  # (B * (half - 1), symbols)
            wanted.flatten(),
        )
