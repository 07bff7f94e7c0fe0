"""An encoder-decoder of recurrences: one context vector for the whole output or, with attention, one per symbol."""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Generator, Tensor, nn

from attention_core.learned.models.parameters import draw_embedding, draw_gru, draw_linear, draw_matrix
from attention_core.learned.symbols import PAD
from attention_core.mechanism.attention import attend_qkv
from attention_core.mechanism.config import AttentionConfig, Weights
from attention_core.record.trace import Trace

EMBEDDING_WIDTH, STATE_WIDTH = 32, 64  # widths of a symbol's vector and of a state


@dataclass(frozen=True, eq=False)
class EncodedText:
    """The encoder's output for a batch of texts.

    states: one vector for each symbol. whole: one vector for each text. there: whether a position has a symbol, not
    padding.
    """

    states: Float[Tensor, "B S N"]
    whole: Float[Tensor, "B N"]
    there: Bool[Tensor, "B S"]


class Seq2Seq(nn.Module):
    """An encoder-decoder for texts; `context` is "one", "dot" or "additive".

    "one": one context vector for the whole text. "dot", "additive": attention over the encoder's states, with this
    score. The encoder reads from both sides (Schuster, Paliwal 1997), each direction with half of the width. The
    decoder's state s_t is the query, the encoder's states h_i are keys and values, and s_t with c_t gives the next
    symbol (Luong et al. 2015, section 3.1; the additive score is that of Bahdanau et al. 2015). width: the N numbers of
    a state.
    """

    def __init__(self, symbols: tuple[int, int], context: str, generator: Generator, width: int = STATE_WIDTH):
        super().__init__()
        source_size, target_size = symbols
        half_width = width // 2  # of each direction of the encoder
        self.context = context
        self.end = target_size  # the number of the end symbol, in no text; as an input, the start symbol
        self.read = draw_embedding(source_size, EMBEDDING_WIDTH, generator)
        self.written = draw_embedding(target_size + 1, EMBEDDING_WIDTH, generator)
        self.onward = draw_gru(EMBEDDING_WIDTH, half_width, generator)
        self.back = draw_gru(EMBEDDING_WIDTH, half_width, generator)
        self.decoder = draw_gru(EMBEDDING_WIDTH, width, generator)
        if context == "additive":
            self.w_aq = draw_matrix(width, half_width, generator)
            self.w_ak = draw_matrix(width, half_width, generator)
            column = draw_matrix(half_width, 1, generator)  # (N/2, 1)
            self.v_a = nn.Parameter(column[:, 0])
        self.joined = draw_linear(2 * width, width, generator)
        self.out = draw_linear(width, target_size + 1, generator)

    # ---- reading -----------------------------------------------------------------------------------------------------
    def encode(self, source: Int[Tensor, "B S"]) -> EncodedText:
        """Compute the states h_i of a batch, padded with PAD."""
        is_symbol = source != PAD  # (B, S)
        lengths = is_symbol.sum(-1, keepdim=True)  # (B, 1)
        symbols = source.clamp(min=0)
        x = self.read(symbols)  # (B, S, 32)
        onward, backward = self.passes(x, source)  # each (B, S, N/2)
        onward_end = take_places(onward, lengths - 1)  # (B, 1, N/2)
        backward_end = backward[:, :1]  # (B, 1, N/2)
        ends = torch.cat((onward_end, backward_end), -1)  # (B, 1, N)
        whole = ends[:, 0]
        states = torch.cat((onward, backward), -1)  # (B, S, N)
        return EncodedText(states, whole, is_symbol)

    def passes(self, x: Float[Tensor, "B S E"], source: Int[Tensor, "B S"]) -> tuple[Tensor, Tensor]:
        """Return the states of both directions over the symbols' vectors x: from the first symbol on, and from the last
        symbol back."""
        is_symbol = source != PAD  # (B, S)
        lengths = is_symbol.sum(-1)
        places = reversed_places(lengths, source.shape[1])  # (B, S)
        onward, _ = self.onward(x)  # (B, S, N/2)
        reversed_x = take_places(x, places)  # (B, S, E), the last symbol first
        backward, _ = self.back(reversed_x)  # (B, S, N/2), the last symbol first
        backward = take_places(backward, places)  # (B, S, N/2), the first symbol first
        return onward, backward

    # ---- writing -----------------------------------------------------------------------------------------------------
    def states(self, encoded: EncodedText, given: Int[Tensor, "B T"], start: Tensor | None = None) -> Tensor:
        """Compute the decoder's states s_t, (B, T, N).

        given: the symbol before each state, `end` for the first state. start: the state before the first state; if
        None, the vector of the whole text.
        """
        if start is None:
            start = encoded.whole
        x = self.written(given)  # (B, T, 32)
        states, _ = self.decoder(x, start[None])
        return states

    def attention(self, encoded: EncodedText, states: Float[Tensor, "B T N"]) -> Trace:
        """Run the attention of the decoder's states to the encoder's states."""
        keys = encoded.states[:, None]  # (B, 1, S, N)
        return attend_qkv(
            states[:, None],  # (B, 1, T, N)
            keys,
            keys,
            config=self.config,
            weights=self.weights(),
            allowed=encoded.there[:, None, None],  # (B, 1, 1, S)
        )

    @property
    def config(self) -> AttentionConfig:
        """The config of the attention."""
        return AttentionConfig(score=self.context)

    def weights(self) -> Weights:
        """Return the weights of the attention's score."""
        if self.context != "additive":
            return Weights()
        return Weights(w_aq=self.w_aq, w_ak=self.w_ak, v_a=self.v_a)

    def contexts(self, encoded: EncodedText, states: Float[Tensor, "B T N"]) -> Float[Tensor, "B T N"]:
        """Compute the context vector c_t of each step; without attention the vector is the same at all steps."""
        if self.context == "one":
            whole = encoded.whole[:, None]  # (B, 1, N)
            return whole.expand_as(states)
        head_outputs = self.attention(encoded, states)["head_outputs"]
        return head_outputs[:, 0]  # (B, 1, T, N) -> (B, T, N)

    def logits(self, encoded: EncodedText, states: Float[Tensor, "B T N"]) -> Float[Tensor, "B T symbols"]:
        """Compute the logit of each symbol as the next symbol."""
        contexts = self.contexts(encoded, states)
        both = torch.cat((states, contexts), -1)  # (B, T, 2 N)
        joined = self.joined(both)  # (B, T, N)
        hidden = torch.tanh(joined)
        return self.out(hidden)

    def loss(self, source: Int[Tensor, "B S"], target: Int[Tensor, "B T"]) -> Tensor:
        """Compute the mean cross-entropy, in nats per symbol, of the target and its end symbol, where each symbol is
        predicted from the earlier symbols.

        target: padded with PAD.
        """
        is_symbol = target != PAD  # (B, T)
        lengths = is_symbol.sum(-1, keepdim=True)  # (B, 1)
        # The symbols to predict: the target, then the end symbol.
        padding = torch.full_like(lengths, PAD)
        wanted = torch.cat((target, padding), -1)  # (B, T + 1)
        wanted = wanted.scatter(1, lengths, self.end)
        # The input symbol of each prediction: the start symbol, then the target.
        start = torch.full_like(lengths, self.end)
        symbols = target.clamp(min=0)
        given = torch.cat((start, symbols), -1)  # (B, T + 1)
        encoded = self.encode(source)
        states = self.states(encoded, given)
        logits = self.logits(encoded, states)
        return nn.functional.cross_entropy(
            logits.flatten(0, 1),  # (B, T + 1, symbols) -> (B * (T + 1), symbols)
            wanted.flatten(),
            ignore_index=PAD,
        )

    def write(self, source: Int[Tensor, "B S"], most: int) -> Int[Tensor, "B T"]:
        """Generate the most probable symbol at each step, until all texts have ended or have `most` symbols."""
        encoded = self.encode(source)
        state = encoded.whole  # (B, N)
        count = len(source)
        symbols = torch.full((count, 1), self.end)  # (B, 1): the input symbols of the next step
        is_ended = torch.zeros(count, dtype=torch.bool)
        columns = []
        for _ in range(most):
            states = self.states(encoded, symbols, state)  # (B, 1, N)
            state = states[:, 0]
            logits = self.logits(encoded, states)  # (B, 1, symbols)
            symbols = logits.argmax(-1)  # (B, 1)
            is_ended |= symbols[:, 0] == self.end
            if is_ended.all():
                break
            column = symbols[:, 0].masked_fill(is_ended, PAD)
            columns.append(column)
            symbols = symbols.masked_fill(is_ended[:, None], self.end)
        if not columns:
            return torch.empty(count, 0, dtype=torch.long)
        return torch.stack(columns, -1)


def reversed_places(lengths: Int[Tensor, " B"], size: int) -> Int[Tensor, "B S"]:
    """Return the position of each symbol after its text is reversed; padding stays at the end.

    >>> reversed_places(torch.tensor([3, 2]), 4)
    tensor([[2, 1, 0, 3],
            [1, 0, 2, 3]])
    """
    places = torch.arange(size, device=lengths.device)  # (S,)
    lengths = lengths[:, None]  # (B, 1)
    is_symbol = places < lengths  # (B, S)
    mirrored = lengths - 1 - places  # (B, S)
    return torch.where(is_symbol, mirrored, places)


def take_places(rows: Float[Tensor, "B S d"], places: Int[Tensor, "B n"]) -> Float[Tensor, "B n d"]:
    """Take the vectors at the given positions, which differ between the rows of a batch."""
    width = rows.shape[-1]
    index = places[..., None]  # (B, n, 1)
    index = index.expand(-1, -1, width)  # (B, n, d)
    return rows.gather(1, index)
