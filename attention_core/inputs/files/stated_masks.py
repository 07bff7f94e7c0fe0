"""Masks that a file states without a matrix: is_causal, and the number of keys that are words in each sequence."""

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Bool, Num
from torch import Tensor

from attention_core.inputs.files.array_names import plain_name
from attention_core.record.errors import AttentionError

CAUSAL_FLAGS = ("is_causal", "causal", "use_causal_mask", "is_causal_mask")
LENGTH_NAMES = (  # names of arrays of lengths: keys after the length are padding
    *("lengths", "lens", "seq_lens", "seq_lengths", "seqlens", "sequence_lengths", "valid_lens", "valid_lengths"),
    *("valid_len", "kv_lengths", "kv_lens", "kv_seq_lengths", "key_lengths", "key_lens", "key_value_seq_lengths"),
    *("src_lengths", "src_lens", "src_len", "src_valid_lens", "enc_valid_lens", "memory_lengths"),
)
# The first query at the first key, as in scaled_dot_product_attention; or the last at the last, as with a cache.
CAUSAL_READINGS = (("T S", "causal"), ("T S", "causal_end"))
LENGTH_AXES = {1: ("B",), 2: ("B T",)}
STATED = ("causal", "causal_end", "lengths")


def is_stated_mask(name: str, array: np.ndarray) -> bool:
    """Whether an array is a true flag, or whole numbers under a name of lengths.

    >>> is_stated_mask("is_causal", np.array(True)), is_stated_mask("valid_lens", np.array([3, 5]))
    (True, True)
    """
    plain = plain_name(name)
    if plain in CAUSAL_FLAGS:
        return array.size == 1 and array.item() == 1
    return plain in LENGTH_NAMES and array.ndim in LENGTH_AXES and bool((array == np.round(array)).all())


def list_stated_readings(name: str, mask: Tensor, sizes: tuple[int, int, int, int]) -> Sequence[tuple[str, str]]:
    """The possible axes and meanings of a stated mask; an empty sequence for any other mask. sizes: (B, H, T, S).

    Raises AttentionError: mask_lengths if there is not one length from 0 to S for each sequence.
    """
    plain = plain_name(name)
    B, _, T, S = sizes
    if plain in CAUSAL_FLAGS and mask.numel() == 1:
        return CAUSAL_READINGS if T != S else CAUSAL_READINGS[:1]
    if plain not in LENGTH_NAMES:
        return ()
    fitting = LENGTH_AXES.get(mask.dim(), ())
    is_in_range = bool(((mask >= 0) & (mask <= S)).all())
    if not fitting or mask.shape != (B, T)[: mask.dim()] or not is_in_range:
        raise AttentionError("mask_lengths", name=name, sequences=B, keys=S, shape=tuple(mask.shape))
    return [(axes, "lengths") for axes in fitting]


def stated_to_pairs(
    mask: Num[Tensor, "..."], polarity: str, sizes: tuple[int, int, int, int]
) -> Bool[Tensor, "B H T S"]:
    """A stated mask as True = may attend, with four axes, some of length 1. polarity: one of STATED.

    >>> stated_to_pairs(torch.tensor([1, 2]), "lengths", (2, 1, 1, 3)).tolist()
    [[[[True, False, False]]], [[[True, True, False]]]]
    """
    _, _, T, S = sizes
    if polarity == "lengths":
        by_query = mask if mask.dim() == 2 else mask[:, None]  # (B) -> (B, 1)
        allowed = torch.arange(S) < by_query[..., None]
        return allowed[:, None]  # (B, T, S) -> (B, 1, T, S)
    last_key = S - T if polarity == "causal_end" else 0  # the position of the first query among the keys
    return torch.ones(1, 1, T, S, dtype=torch.bool).tril(last_key)
