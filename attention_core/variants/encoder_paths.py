"""How far one step of an encoder reads, and the number of steps from a word to a position, by formula and by search."""

from math import ceil

import torch
from jaxtyping import Bool
from torch import Tensor

from attention_core.analysis.across_layers import path_lengths
from attention_core.mechanism.plain_checks import require_not_negative, require_one_of, require_positive, require_whole
from attention_core.record.errors import AttentionError
from attention_core.variants.encoders import Encoder

MAX_SEARCHED_POSITIONS = 256  # positions of one search


def one_step_reach(encoder: Encoder, length: int) -> Bool[Tensor, "T T"]:
    """Mark the positions j that position i reads in one step of a recurrence, or in one layer of any other encoder.

    >>> one_step_reach(Encoder("cnn", window=3), 3).int()
    tensor([[1, 0, 0],
            [1, 1, 0],
            [1, 1, 1]], dtype=torch.int32)
    """
    T = require_positive("length", length)
    back = reach_of_step(encoder, T)
    ahead = back if encoder.both else 0
    i = torch.arange(T).view(-1, 1)  # (T, 1)
    j = torch.arange(T)  # (T,)
    distance = i - j  # (T, T): negative if j comes later
    is_in_reach = distance <= back
    is_heard = distance >= -ahead
    return is_in_reach & is_heard


def reach_of_step(encoder: Encoder, farthest: int) -> int:
    """Return how many positions back one step reads: 1 for a recurrence, `half` for cnn, `farthest` for attention."""
    if encoder.kind == "cnn":
        return encoder.half
    if encoder.kind == "attention":
        return farthest
    return 1


def path_length(encoder: Encoder, distance: int) -> int | None:
    r"""Count the fewest steps in which a word reaches a position `distance` after it (negative: before it).

    Attention 1, a recurrence D, stacked convolutions $\lceil D / r \rceil$ layers, where one layer reads r positions
    back: (window - 1) / 2 if it reads both sides, else window - 1. 0 for the word itself; None if no path exists.
    Source: Vaswani et al. 2017, table 1 (maximum path length).

    >>> [path_length(Encoder(kind, both=True), 20) for kind in ("rnn", "cnn", "attention")]
    [20, 20, 1]
    """
    far = abs(require_whole("distance", distance))
    reach = reach_of_step(encoder, far)
    if far == 0:
        return 0
    is_backward = distance < 0
    if reach == 0 or (is_backward and not encoder.both):
        return None
    return ceil(far / reach)


def search_path_length(encoder: Encoder, distance: int) -> int | None:
    """Find the path_length by a search over one_step_reach; at most 255 apart. Raises AttentionError: at_most.

    >>> search_path_length(Encoder("cnn", window=5, both=True), 20)
    10
    """
    far = abs(require_whole("distance", distance))
    if far >= MAX_SEARCHED_POSITIONS:
        raise AttentionError("at_most", name="distance", limit=MAX_SEARCHED_POSITIONS - 1, given=far)
    lengths = path_lengths(one_step_reach(encoder, far + 1))  # (far + 1, far + 1)
    from_first_to_last = lengths[-1, 0]
    from_last_to_first = lengths[0, -1]
    steps = from_first_to_last if distance >= 0 else from_last_to_first
    if steps.isinf():
        return None
    return int(steps)


def receptive_field(encoder: Encoder, layers: int) -> int:
    """Count the words that a position reads after some layers of cnn, far from the ends: 1 + layers (window - 1).

    >>> receptive_field(Encoder("cnn", window=3, both=True), 5)
    11
    """
    require_one_of("kind", encoder.kind, ("cnn",))
    require_not_negative("layers", layers)
    others = encoder.window - 1
    return 1 + layers * others
