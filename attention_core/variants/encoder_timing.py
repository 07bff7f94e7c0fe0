"""The time that an encoder takes for a sequence on this machine."""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.mechanism.plain_checks import require_positive
from attention_core.record.errors import AttentionError
from attention_core.variants.encoders import (
    Encoder,
    EncoderLayer,
    draw_layers,
    encode,
    layer_directions,
    random_words,
)
from attention_core.variants.recurrent_cells import RECURRENT_CELLS, Recurrence
from attention_core.variants.timing import Timing, time_run

MAX_TIMED_LENGTH = 1024  # positions, for which attention has a million scores
TORCH_LOOPS = {"rnn": torch.rnn_tanh, "gru": torch.gru, "lstm": torch.lstm}


def encoding_time(encoder: Encoder, length: int) -> Timing:
    """Measure the time of one forward pass over random words, in float64.

    Recurrences run as torch's own loops, which are faster than a loop in Python; cnn and attention as `encode`. The
    words are as wide as the encoder. length: at most 1,024. Raises AttentionError: positive_integer, at_most.

    >>> encoding_time(Encoder("cnn"), length=16).seconds > 0
    True
    """
    if require_positive("length", length) > MAX_TIMED_LENGTH:
        raise AttentionError(
            "at_most",
            name="length",
            limit=MAX_TIMED_LENGTH,
            given=length,
        )
    width = encoder.width
    layers = draw_layers(encoder, width)
    x = random_words(encoder, length, width)[None]  # (1, T, D)
    return time_run(forward_pass(encoder, x, layers))


def forward_pass(
    encoder: Encoder, x: Float[Tensor, "B T D"], layers: tuple[EncoderLayer, ...]
) -> Callable[[], Float[Tensor, "B T width"]]:
    """Return the function that runs the encoder and is to be timed; its weights are already prepared."""
    if encoder.kind in RECURRENT_CELLS:
        return torch_forward_pass(encoder, x, layers)
    return lambda: encode(encoder, x, layers)


def torch_forward_pass(
    encoder: Encoder, x: Float[Tensor, "B T D"], layers: tuple[EncoderLayer, ...]
) -> Callable[[], Float[Tensor, "B T width"]]:
    """Return a function that runs torch's own loop of a recurrence, its weights in torch's layout."""
    weights = []
    for layer in layers:
        for direction in layer:
            weights += to_torch_layout(direction)
    loop = TORCH_LOOPS[encoder.kind]
    directions = len(layer_directions(encoder))
    B = len(x)
    nothing = x.new_zeros(encoder.layers * directions, B, encoder.width)
    start = (nothing, nothing) if encoder.kind == "lstm" else nothing
    options = {
        "has_biases": True,
        "num_layers": encoder.layers,
        "dropout": 0.0,
        "train": False,
        "bidirectional": directions == 2,
        "batch_first": True,
    }

    def run_loop() -> Float[Tensor, "B T width"]:
        outputs, *_ = loop(x, start, weights, **options)
        return outputs

    return run_loop


def to_torch_layout(weights: Recurrence) -> list[Tensor]:
    """Return the weights of one direction as torch's loops take them: (G H, d_in), and two biases, the second 0."""
    return [
        weights.w_x.T.contiguous(),  # (G H, D)
        weights.w_h.T.contiguous(),  # (G H, H)
        weights.b,
        torch.zeros_like(weights.b),
    ]
