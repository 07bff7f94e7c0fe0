"""An encoder-decoder of recurrences: one context vector for all it writes or, by attention, one for each symbol."""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Generator, Tensor, nn

from attention_core.learned.models.parameters import draw_embedding, draw_gru, draw_linear, draw_matrix
from attention_core.learned.symbols.alphabet import PAD
from attention_core.mechanism.attention import attend_qkv
from attention_core.mechanism.config import AttentionConfig, Weights
from attention_core.record.trace import Trace

EMBEDDING_WIDTH, STATE_WIDTH = 32, 64  # numbers of a symbol, of a state
CONTEXTS = ("one", "dot", "additive")


@dataclass(frozen=True, eq=False)
class EncodedText:
    """What the encoder makes of a text: a state for each symbol, one vector for all of it, and which are padding."""

    states: Float[Tensor, "B S 64"]
    whole: Float[Tensor, "B 64"]
    there: Tensor  # (B, S), True where there is a symbol


class Seq2Seq(nn.Module):
    """context: "one" vector for the whole text; or "dot" or "additive" attention over the encoder's states.

    The encoder reads from both sides (Schuster, Paliwal 1997), each direction with half of the width. The decoder's
    state s_t asks, the encoder's states h_i are keys and values, and c_t beside s_t gives the next symbol (Luong et al.
    2015, section 3.1; the additive score is that of Bahdanau et al. 2015).
    """

    def __init__(self, symbols: tuple[int, int], context: str, generator: Generator):
        super().__init__()
        source, target = symbols
        self.context = context
        self.end = target  # which no text has; as an input it is the start
        self.read = draw_embedding(source, EMBEDDING_WIDTH, generator)
        self.written = draw_embedding(target + 1, EMBEDDING_WIDTH, generator)
        self.onward = draw_gru(EMBEDDING_WIDTH, STATE_WIDTH // 2, generator)
        self.back = draw_gru(EMBEDDING_WIDTH, STATE_WIDTH // 2, generator)
        self.decoder = draw_gru(EMBEDDING_WIDTH, STATE_WIDTH, generator)
        if context == "additive":
            self.w_aq, self.w_ak = (draw_matrix(STATE_WIDTH, STATE_WIDTH // 2, generator) for _ in range(2))
            self.v_a = nn.Parameter(draw_matrix(STATE_WIDTH // 2, 1, generator)[:, 0])
        self.joined = draw_linear(2 * STATE_WIDTH, STATE_WIDTH, generator)
        self.out = draw_linear(STATE_WIDTH, target + 1, generator)

    # ---- reading -----------------------------------------------------------------------------------------------------
    def encode(self, source: Int[Tensor, "B S"]) -> EncodedText:
        """The states h_i of a batch, filled up with PAD."""
        onward, backward = self.passes(self.read(source.clamp(min=0)), source)
        last = (source != PAD).sum(-1)[:, None] - 1  # (B, 1)
        whole = torch.cat((take_places(onward, last), backward[:, :1]), -1)[:, 0]  # where each pass ends: (B, 64)
        return EncodedText(torch.cat((onward, backward), -1), whole, source != PAD)

    def passes(self, x: Float[Tensor, "B S E"], source: Int[Tensor, "B S"]) -> tuple[Tensor, Tensor]:
        """Both passes over the symbols' vectors x: from the first symbol on, and from the last one back."""
        back = reversed_places((source != PAD).sum(-1), source.shape[1])  # (B, S)
        onward, _ = self.onward(x)  # (B, S, 32)
        backward, _ = self.back(take_places(x, back))  # (B, S, 32), the last symbol first
        return onward, take_places(backward, back)

    # ---- writing -----------------------------------------------------------------------------------------------------
    def states(self, encoded: EncodedText, given: Int[Tensor, "B T"], start: Tensor | None = None) -> Tensor:
        """The states s_t (B, T, 64) where these symbols were written so far, the first of them being the start."""
        start = encoded.whole if start is None else start
        states, _ = self.decoder(self.written(given), start[None])
        return states

    def attention(self, encoded: EncodedText, states: Float[Tensor, "B T 64"]) -> Trace:
        """The attention of the decoder's states to the encoder's, as everywhere here."""
        keys, there = encoded.states[:, None], encoded.there[:, None, None]  # (B, 1, S, 64), (B, 1, 1, S)
        return attend_qkv(states[:, None], keys, keys, config=self.config, weights=self.weights(), allowed=there)

    @property
    def config(self) -> AttentionConfig:
        """Which attention it is."""
        return AttentionConfig(score=self.context)

    def weights(self) -> Weights:
        """The attention's own numbers."""
        names = ("w_aq", "w_ak", "v_a") if self.context == "additive" else ()
        return Weights(**{name: getattr(self, name) for name in names})

    def contexts(self, encoded: EncodedText, states: Float[Tensor, "B T 64"]) -> Float[Tensor, "B T 64"]:
        """The context vector c_t of each step, or the one of all."""
        if self.context == "one":
            return encoded.whole[:, None].expand_as(states)
        return self.attention(encoded, states)["head_outputs"][:, 0]  # (B, 1, T, 64) -> (B, T, 64)

    def logits(self, encoded: EncodedText, states: Float[Tensor, "B T 64"]) -> Float[Tensor, "B T symbols"]:
        """How strongly each symbol is meant to come next."""
        joined = torch.cat((states, self.contexts(encoded, states)), -1)  # (B, T, 128)
        return self.out(torch.tanh(self.joined(joined)))

    def loss(self, source: Int[Tensor, "B S"], target: Int[Tensor, "B T"]) -> Tensor:
        """The mean surprise, in nats a symbol, of what is to be written, each symbol given those before it.

        target: the texts and one more column, where the longest ends; filled up with PAD."""
        ends = (target != PAD).sum(-1, keepdim=True)  # (B, 1)
        wanted = torch.cat((target, torch.full_like(ends, PAD)), -1).scatter(1, ends, self.end)  # (B, T + 1)
        given = torch.cat((torch.full_like(ends, self.end), target.clamp(min=0)), -1)  # (B, T + 1)
        encoded = self.encode(source)
        logits = self.logits(encoded, self.states(encoded, given))
        return nn.functional.cross_entropy(logits.flatten(0, 1), wanted.flatten(), ignore_index=PAD)

    def write(self, source: Int[Tensor, "B S"], most: int) -> Int[Tensor, "B T"]:
        """What it writes: at each step the symbol that is meant most, until all have ended, or `most` symbols."""
        encoded = self.encode(source)
        symbol = torch.full((len(source), 1), self.end)
        state, written = encoded.whole, []
        ended = torch.zeros(len(source), dtype=torch.bool)
        for _ in range(most):
            state = self.states(encoded, symbol, state)[:, 0]  # (B, 64)
            symbol = self.logits(encoded, state[:, None]).argmax(-1)  # (B, 1)
            ended |= symbol[:, 0] == self.end
            if ended.all():
                break
            written.append(symbol[:, 0].masked_fill(ended, PAD))
            symbol = symbol.masked_fill(ended[:, None], self.end)
        return torch.stack(written, -1) if written else torch.empty(len(source), 0, dtype=torch.long)


def reversed_places(lengths: Int[Tensor, " B"], size: int) -> Int[Tensor, "B S"]:
    """Where each symbol of a row stands once the row is turned round; what fills it up stays.

    >>> reversed_places(torch.tensor([3, 2]), 4)
    tensor([[2, 1, 0, 3],
            [1, 0, 2, 3]])
    """
    places = torch.arange(size, device=lengths.device)
    return torch.where(places < lengths[:, None], lengths[:, None] - 1 - places, places)


def take_places(rows: Float[Tensor, "B S d"], places: Int[Tensor, "B n"]) -> Float[Tensor, "B n d"]:
    """The vectors that stand at these places, in each row of a batch its own."""
    return rows.gather(1, places[..., None].expand(-1, -1, rows.shape[-1]))
