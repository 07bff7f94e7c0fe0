"""A small language model of attention alone, in which heads learn to copy: what came after this symbol last time?"""

from jaxtyping import Float, Int
from torch import Generator, Tensor, nn

from attention_core.learned.models.parameters import draw_embedding, draw_matrix, switch_heads
from attention_core.mechanism.attention import attend
from attention_core.mechanism.config import AttentionConfig, Weights
from attention_core.record.trace import Trace

COPIER_WIDTH, COPIER_HEADS = 32, 2
COPIER_CONFIG = AttentionConfig(heads=COPIER_HEADS, masks=("causal",), positions=("rope",))
LAYER_MATRICES = ("w_q", "w_k", "w_v", "w_o")


class CopierLayer(nn.Module):
    """One layer of attention, and nothing else: its output is added to what it was given."""

    def __init__(self, generator: Generator):
        super().__init__()
        for name in LAYER_MATRICES:
            setattr(self, name, draw_matrix(COPIER_WIDTH, COPIER_WIDTH, generator))

    def weights(self, kept: Float[Tensor, "2"] | None = None) -> Weights:
        """Its matrices. kept: 1 for a head whose output counts, 0 for one that is switched off."""
        own = {name: getattr(self, name) for name in LAYER_MATRICES}
        return Weights(**own if kept is None else own | {"w_o": switch_heads(kept, self.w_o)})


class Copier(nn.Module):
    """Layers of two heads (Vaswani et al. 2017, with RoPE of Su et al. 2021), causal, without anything between them.

    Two such layers are the least that can form an induction head (Elhage et al. 2021; Olsson et al. 2022)."""

    def __init__(self, symbols: int, layers: int, generator: Generator):
        super().__init__()
        self.read = draw_embedding(symbols, COPIER_WIDTH, generator)
        self.layers = nn.ModuleList(CopierLayer(generator) for _ in range(layers))
        self.out = draw_matrix(COPIER_WIDTH, symbols, generator)

    def traces(self, symbols: Int[Tensor, "B T"], kept: Float[Tensor, "layers 2"] | None = None) -> list[Trace]:
        """The run of each layer; the last holds x, and the output that is added to it."""
        x, runs = self.read(symbols), []  # (B, T, 32)
        for number, layer in enumerate(self.layers):
            runs.append(attend(x, weights=layer.weights(None if kept is None else kept[number]), config=COPIER_CONFIG))
            x = x + runs[-1]["output"]
        return runs

    def logits(self, symbols: Int[Tensor, "B T"], kept: Float[Tensor, "layers 2"] | None = None) -> Tensor:
        """How strongly each symbol is meant to come next, (B, T, symbols)."""
        last = self.traces(symbols, kept)[-1]
        return (last["x"] + last["output"]) @ self.out

    def loss(self, symbols: Int[Tensor, "B T"]) -> Tensor:
        """The mean surprise, in nats, of each symbol in the second half: those of the first nobody can know."""
        half = symbols.shape[1] // 2
        logits = self.logits(symbols[:, :-1])[:, half:]  # (B, half - 1, symbols)
        return nn.functional.cross_entropy(logits.flatten(0, 1), symbols[:, half + 1 :].flatten())
