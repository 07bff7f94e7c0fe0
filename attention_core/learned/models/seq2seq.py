"""Defines an encoder-decoder of recurrent networks (GRUs), with or without attention.

The decoder gets one context vector for the whole output or, with attention, one for each output symbol.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Generator, Tensor, nn

from attention_core.learned.models.parameters import draw_embedding, draw_gru, draw_linear, draw_matrix
from attention_core.learned.symbols import PAD
from attention_core.mechanism.attention import attend_qkv
from attention_core.mechanism.config import AttentionConfig, Weights
from attention_core.record.trace import Trace

EMBEDDING_WIDTH, STATE_WIDTH = 32, 64  # width of a symbol's embedding, width of a state


@dataclass(frozen=True, eq=False)
class EncodedText:
    """The encoder's output for a batch of texts.

    states: one vector for each symbol. whole: one vector for each text. there: a boolean mask, False at padding.
    """

    states: Float[Tensor, "B S N"]
    whole: Float[Tensor, "B N"]
    there: Bool[Tensor, "B S"]


class Seq2Seq(nn.Module):
    """An encoder-decoder for texts, with or without attention.

    `context` is "one" for one context vector of the whole text, or "dot" or "additive" for attention to the encoder's
    states with this score. The encoder reads a text in both directions (Schuster, Paliwal 1997), each with half of the
    width. The decoder's state s_t is the query, and the encoder's states h_i are keys and values. The next symbol is
    computed from s_t and the context vector c_t (Luong et al. 2015, section 3.1; the additive score: Bahdanau et al.
    2015). width: N, the number of components of a state.
    """

    def __init__(self, symbols: tuple[int, int], context: str, generator: Generator, width: int = STATE_WIDTH):
        super().__init__()
        source_size, target_size = symbols
        half_width = width // 2  # width per direction of the encoder
        self.context = context
        self.end = target_size  # index of the end symbol, with which the decoder also starts
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
        onward_end = take_places(onward, lengths - 1)  # (B, 1, N/2): the forward state after the last symbol
        backward_end = backward[:, :1]  # (B, 1, N/2): the backward state after the first symbol
        ends = torch.cat((onward_end, backward_end), -1)  # (B, 1, N)
        whole = ends[:, 0]
        states = torch.cat((onward, backward), -1)  # (B, S, N)
        return EncodedText(states, whole, is_symbol)

    def passes(self, x: Float[Tensor, "B S E"], source: Int[Tensor, "B S"]) -> tuple[Tensor, Tensor]:
        """Return the states of both directions over the symbols' vectors x.

        The first direction runs from the first symbol on, the second from the last symbol back.
        """
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

        given: for each state, the symbol before it; `end` for the first state. start: the state before the first one;
        None for the vector of the whole text, which the encoder computes.
        """
        if start is None:
            start = encoded.whole
        x = self.written(given)  # (B, T, 32)
        states, _ = self.decoder(x, start[None])
        return states

    def attention(self, encoded: EncodedText, states: Float[Tensor, "B T N"]) -> Trace:
        """Run the attention from the decoder's states (queries) to the encoder's states (keys and values), and return
        the Trace.
        """
        keys = encoded.states[:, None]  # (B, 1, S, N): the encoder's states as the keys of one head
        return attend_qkv(
            states[:, None],  # (B, 1, T, N): the decoder's states as the queries of one head
            keys,
            keys,
            config=self.config,
            weights=self.weights(),
            allowed=encoded.there[:, None, None],  # (B, 1, 1, S): padding is blocked
        )

    @property
    def config(self) -> AttentionConfig:
        """The AttentionConfig of the decoder's attention over the input symbols."""
        return AttentionConfig(score=self.context)

    def weights(self) -> Weights:
        """Return the learned matrices of additive attention; empty Weights for another score."""
        if self.context != "additive":
            return Weights()
        return Weights(w_aq=self.w_aq, w_ak=self.w_ak, v_a=self.v_a)

    def contexts(self, encoded: EncodedText, states: Float[Tensor, "B T N"]) -> Float[Tensor, "B T N"]:
        """Compute the context vector c_t of each step. Without attention, all steps have the same vector."""
        if self.context == "one":
            whole = encoded.whole[:, None]  # (B, 1, N)
            return whole.expand_as(states)
        head_outputs = self.attention(encoded, states)["head_outputs"]
        return head_outputs[:, 0]  # (B, 1, T, N) -> (B, T, N): the only head's axis is removed

    def logits(self, encoded: EncodedText, states: Float[Tensor, "B T N"]) -> Float[Tensor, "B T symbols"]:
        """Compute the logits over the next symbol, for each decoder step."""
        contexts = self.contexts(encoded, states)
        both = torch.cat((states, contexts), -1)  # (B, T, 2 N)
        joined = self.joined(both)  # (B, T, N)
        hidden = torch.tanh(joined)
        return self.out(hidden)

    def loss(self, source: Int[Tensor, "B S"], target: Int[Tensor, "B T"]) -> Tensor:
        """Compute the mean cross-entropy, in nats per symbol, of the target and its end symbol.

        Each symbol is predicted from the earlier symbols of the target and from the source. target: padded with PAD.
        """
        is_symbol = target != PAD  # (B, T)
        lengths = is_symbol.sum(-1, keepdim=True)  # (B, 1)
        # the right outputs: the target's symbols, then the end symbol
        padding = torch.full_like(lengths, PAD)
        wanted = torch.cat((target, padding), -1)  # (B, T + 1)
        wanted = wanted.scatter(1, lengths, self.end)
        # the decoder's inputs: the start symbol, then the target's symbols
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
        """Generate the most probable symbol at each step, until all texts have ended or have `most` symbols.

        source: the texts that the encoder reads, padded with PAD.
        """
        encoded = self.encode(source)
        state = encoded.whole  # (B, N)
        count = len(source)
        symbols = torch.full((count, 1), self.end)  # (B, 1): the last symbol of each output
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
    """Return the indices that reverse the symbols of each text in a batch; padding stays at the end.

    lengths: the number of symbols of each text. size: S, the length of the padded texts.

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
    """Take from each row of a batch the vectors at this row's positions."""
    width = rows.shape[-1]
    index = places[..., None]  # (B, n, 1)
    index = index.expand(-1, -1, width)  # (B, n, d)
    return rows.gather(1, index)
