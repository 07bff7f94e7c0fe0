"""How long one forward pass takes on this machine, for each way to encode a sequence, at equal width."""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.mechanism.config import positive
from attention_core.record.errors import AttentionError
from attention_core.variants.encoders import CELLS, Encoder, Layer, directions, draw_layers, encode, random_words
from attention_core.variants.stopwatch import Timing, timed

LONGEST_TIMED = 1024  # positions; attention then keeps a million scores
LOOPS = {"rnn": torch.rnn_tanh, "gru": torch.gru, "lstm": torch.lstm}


def encoding_time(encoder: Encoder, length: int) -> Timing:
    """The time of one forward pass over random words, in float64.

    Recurrences run as torch's own loops, which are faster than a loop in Python; cnn and attention as `encode`. The
    words are as wide as the encoder. length: at most 1,024. Raises AttentionError: positive_integer, at_most.

    >>> encoding_time(Encoder("cnn"), length=16).seconds > 0
    True
    """
    if positive("length", length) > LONGEST_TIMED:
        raise AttentionError("at_most", name="length", limit=LONGEST_TIMED, given=length)
    x = random_words(encoder, length, encoder.width)[None]  # (1, T, D)
    return timed(forward_pass(encoder, x, draw_layers(encoder, encoder.width)))


def forward_pass(
    encoder: Encoder, x: Float[Tensor, "B T D"], layers: tuple[Layer, ...]
) -> Callable[[], Float[Tensor, "B T width"]]:
    """What is to be timed, with all that is no part of it done before."""
    if encoder.kind not in CELLS:
        return lambda: encode(encoder, x, layers)
    given = [tensor for layer in layers for each in layer for tensor in (each.w_x.T, each.w_h.T, each.b, 0 * each.b)]
    given = [tensor.contiguous() for tensor in given]  # torch's layout: (G H, d_in), and a second bias
    state = x.new_zeros(encoder.layers * len(directions(encoder)), len(x), encoder.width)
    start = (state, state) if encoder.kind == "lstm" else state
    biases, dropout, training, batch_first = True, 0.0, False, True
    choices = (biases, encoder.layers, dropout, training, len(directions(encoder)) == 2, batch_first)
    return lambda: LOOPS[encoder.kind](x, start, given, *choices)[0]
