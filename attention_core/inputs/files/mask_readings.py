"""Infers the meaning of a file's mask: its axes, and whether its values block a pair, allow it, or are added to the
scores.

If all libraries that use the mask's name mean the same, the name decides. Otherwise all readings that fit the sizes are
listed, and the user chooses if two of them block different pairs. A file may also describe a mask without a matrix: by
is_causal, or by the number of real keys in each sequence.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Float, Num
from torch import Tensor

from attention_core.inputs.files.array_names import last_name, plain_name
from attention_core.record.errors import AttentionError

# ---- masks without a matrix ------------------------------------------------------------------------------------------
CAUSAL_FLAGS = ("is_causal", "causal", "use_causal_mask", "is_causal_mask")
LENGTH_NAMES = (  # names of arrays with the lengths of sequences, which imply padding after them
    *("lengths", "lens", "seq_lens", "seq_lengths", "seqlens", "sequence_lengths", "valid_lens", "valid_lengths"),
    *("valid_len", "kv_lengths", "kv_lens", "kv_seq_lengths", "key_lengths", "key_lens", "key_value_seq_lengths"),
    *("src_lengths", "src_lens", "src_len", "src_valid_lens", "enc_valid_lens", "memory_lengths"),
)
# Meanings of a causal flag: query 0 is aligned with key 0 (torch), or the last query with the last key (KV cache).
CAUSAL_READINGS = (("T S", "causal"), ("T S", "causal_end"))
LENGTH_AXES = {1: ("B",), 2: ("B T",)}
STATED = ("causal", "causal_end", "lengths")


def is_stated_mask(name: str, array: np.ndarray) -> bool:
    """Return whether a value describes a mask without a matrix: a causal flag that is true, or the lengths of
    sequences.

    name: a name in CAUSAL_FLAGS or LENGTH_NAMES, else the result is False.

    >>> is_stated_mask("is_causal", np.array(True)), is_stated_mask("valid_lens", np.array([3, 5]))
    (True, True)
    """
    plain = plain_name(name)
    if plain in CAUSAL_FLAGS:
        return array.size == 1 and array.item() == 1
    return plain in LENGTH_NAMES and array.ndim in LENGTH_AXES and bool((array == np.round(array)).all())


def list_stated_readings(name: str, mask: Tensor, sizes: tuple[int, int, int, int]) -> Sequence[tuple[str, str]]:
    """Return the possible (axes, meaning) of a mask given as a causal flag or as lengths; [] for any other mask.

    sizes: (B, H, T, S). Raises AttentionError: mask_lengths, if there is not one length from 0 to S for each sequence.
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
    """Convert a causal flag or sequence lengths to a mask with four axes, some of length 1; True means that the query
    may attend to the key.

    polarity: one of STATED ("causal", "causal_end", "lengths"). sizes: (B, H, T, S).

    >>> stated_to_pairs(torch.tensor([1, 2]), "lengths", (2, 1, 1, 3)).tolist()
    [[[[True, False, False]]], [[[True, True, False]]]]
    """
    _, _, T, S = sizes
    if polarity == "lengths":
        by_query = mask if mask.dim() == 2 else mask[:, None]  # (B) -> (B, 1): the same length for all queries
        allowed = torch.arange(S) < by_query[..., None]
        return allowed[:, None]  # (B, T, S) -> (B, 1, T, S)
    last_key = S - T if polarity == "causal_end" else 0  # the last key that query 0 may attend to
    return torch.ones(1, 1, T, S, dtype=torch.bool).tril(last_key)


# ---- masks as matrices -----------------------------------------------------------------------------------------------
# Largest added number that blocks a pair: -10,000, rounded to bfloat16.
MAX_BLOCKED_BIAS = -9984.0
POLARITIES = ("allowed", "blocked", "added", *STATED)
BOTH = ("allowed", "blocked")
AXES_BY_RANK = {1: ("S",), 2: ("B S", "T S"), 3: ("B T S", "H T S", "BH T S"), 4: ("B H T S",)}
MASK_AXES = tuple(axes for all_axes in (*AXES_BY_RANK.values(), *LENGTH_AXES.values()) for axes in all_axes)

# Names of masks by what True or 1 means; masks named in KEYS_... have the axes (B, S), never (T, S).
KEYS_BLOCKED = (
    "key_padding_mask",
    "src_key_padding_mask",
    "tgt_key_padding_mask",
    "memory_key_padding_mask",
    "encoder_padding_mask",
    "decoder_padding_mask",
    "padding",
    "is_padding",
    "is_pad",
)
KEYS_ALLOWED = ("valid_mask", "valid", "is_valid", "non_pad_mask", "non_padding_mask", "encoder_attention_mask")
KEYS_EITHER = ("padding_mask", "pad_mask", "src_padding_mask", "tgt_padding_mask", "key_mask", "keys_mask", "kv_mask")
PAIRS_EITHER = (
    "attn_mask",
    "src_mask",
    "tgt_mask",
    "memory_mask",
    "causal_mask",
    "self_attn_mask",
    "cross_attn_mask",
    "attn_bias",
    "attention_bias",
    "position_bias",
    "bias",
    "combined_mask",
    "subsequent_mask",
)
PAIRS_BLOCKED = ("look_ahead_mask", "perm_mask")  # names in TensorFlow's tutorial, and in XLNet of transformers
ALLOWED = (
    "attention_mask",
    "decoder_attention_mask",
    "extended_attention_mask",
    "allowed",
    "allow",
    "allowed_mask",
    "may_attend",
    "can_attend",
    "attend",
    "keep",
    "keep_mask",
    "visible",
    "visible_mask",
    "unmasked",
)
BLOCKED = ("blocked", "blocked_mask", "masked", "ignore", "ignored", "ignore_mask", "forbidden", "excluded")
BIAS_NAMES = ("attn_bias", "attention_bias", "position_bias", "bias")  # names of arrays that are added to the scores
PADDING_NAMES = (*KEYS_BLOCKED, *KEYS_ALLOWED, *KEYS_EITHER, *LENGTH_NAMES)
PAIR_MASK_NAMES = ("mask", *CAUSAL_FLAGS, *ALLOWED, *BLOCKED, *PAIRS_EITHER, *PAIRS_BLOCKED)
# Names that end in "mask" but do not mean a mask of pairs, such as head_mask.
OTHER_MASKS = (
    "head_mask",
    "layer_head_mask",
    "cross_attn_head_mask",
    "special_tokens_mask",
    "global_attention_mask",
    "mlm_mask",
    "assistant_mask",
    "assistant_tokens_mask",
    "completion_mask",
    "response_mask",
    "prompt_mask",
    "action_mask",
    "loss_mask",
    "label_mask",
    "labels_mask",
    "query_mask",
    "dropout_mask",
    "pixel_mask",
    "image_mask",
)
CAUSAL_WORDS = ("causal", "subsequent", "look_ahead", "sliding", "window", "ltor")


@dataclass(frozen=True)
class MaskReading:
    """One way to read a mask: the meaning of its axes and of its values.

    axes: one of MASK_AXES. polarity: the values that let a query attend to a key. "allowed": True or 1. "blocked":
    False or 0. "added": each number above MAX_BLOCKED_BIAS, which is added to the score. For a mask without a matrix:
    "lengths", the number of real keys; "causal", no later key; "causal_end", no later key, with the last query at the
    last key.
    """

    axes: str
    polarity: str


def is_mask_name(name: str) -> bool:
    """Return whether a name means a mask: a known name, or any name that ends in "mask"."""
    plain = plain_name(name)
    return plain in (*PAIR_MASK_NAMES, *PADDING_NAMES) or (plain.endswith("mask") and plain not in OTHER_MASKS)


def can_be_added(name: str, mask: Tensor) -> bool:
    """Return whether the numbers of a mask may be meant as numbers to add to the scores.

    Whole numbers under the name of a mask must be 0 or block, because others may number the parts of a text.
    """
    if mask.dtype.is_floating_point or plain_name(name) in BIAS_NAMES:
        return True
    return bool(((mask == 0) | (mask <= MAX_BLOCKED_BIAS)).all())


def read_mask(
    name: str,
    mask: Tensor,
    sizes: tuple[int, int, int, int],
    answer: MaskReading | None = None,
) -> tuple[Bool[Tensor, "B H T S"], MaskReading, tuple[MaskReading, ...]]:
    """Convert a mask to booleans with four axes, some of length 1; True means that a query may attend to a key.

    Also returns the reading that was used, and all possible readings. mask: truth values, 0 and 1, or numbers that are
    added to the scores, whose bias mask_to_bias returns. sizes: (B, H, T, S). answer: the reading that the user chose,
    with axes "" if the user chose no axes; a choice that does not fit is ignored.

    Raises AttentionError: mask_not_additive, mask_lengths, shape_fits_scores; mask_readings, if two readings block
    different pairs, or add different numbers, and there is no answer.

    >>> padding = torch.tensor([[False, False, True]])
    >>> allowed, reading, _ = read_mask("key_padding_mask", padding, (1, 2, 5, 3))
    >>> allowed.tolist(), reading
    ([[[[True, True, False]]]], MaskReading(axes='B S', polarity='blocked'))
    """
    likely, others = list_mask_readings(name, mask, sizes)
    every = (*likely, *others)
    if answer is not None:
        answered = [each for each in every if answer.axes in ("", each.axes) and answer.polarity == each.polarity]
        likely = [each for each in likely if each in answered] or answered or likely
    added = mask_to_added(mask, likely[0], sizes)
    if any(not are_same_pairs(added, mask_to_added(mask, other, sizes)) for other in likely[1:]):
        raise AttentionError("mask_readings", name=name, shape=tuple(mask.shape), likely=likely, others=others)
    return ~added.isneginf(), likely[0], every


def list_mask_readings(
    name: str, mask: Tensor, sizes: tuple[int, int, int, int]
) -> tuple[list[MaskReading], list[MaskReading]]:
    """Return the readings of a mask that fit its sizes: (those that its name allows, the others).

    Raises AttentionError: shape_fits_scores, mask_lengths, mask_not_additive.
    """
    stated = list_stated_readings(name, mask, sizes)
    if stated:
        return [MaskReading(*each) for each in stated], []
    fitting = [axes for axes in AXES_BY_RANK.get(mask.dim(), ()) if fits_axes(mask.shape, axes, sizes)]
    if not fitting:
        raise AttentionError("shape_fits_scores", name=name, expected=sizes, shape=tuple(mask.shape))
    named = [axes for axes in fitting if is_named_axes(name, axes, mask, sizes)] or fitting
    likely_polarities, other_polarities = list_polarities(name, mask)
    likely = [MaskReading(axes, polarity) for axes in named for polarity in likely_polarities]
    every = [MaskReading(axes, polarity) for axes in fitting for polarity in (*likely_polarities, *other_polarities)]
    return likely, [reading for reading in every if reading not in likely]


def fits_axes(shape: Iterable[int], axes: str, sizes: tuple[int, int, int, int]) -> bool:
    """Return whether a mask's shape fits these axes; each length may also be 1, except on the axis "BH".

    The axis "BH" has all heads of all sequences.
    """
    B, H, T, S = sizes
    full_sizes = {"B": B, "H": H, "T": T, "S": S, "BH": B * H}
    for size, axis in zip(shape, axes.split(), strict=True):
        if size != full_sizes[axis] and (size != 1 or axis == "BH"):
            return False
    return True


def is_named_axes(name: str, axes: str, mask: Tensor, sizes: tuple[int, int, int, int]) -> bool:
    """Return whether a mask's name allows these axes: a name for masks of pairs needs an axis of queries, one for keys
    excludes it.
    """
    plain = plain_name(name)
    if plain in PADDING_NAMES:
        return axes in ("S", "B S") or (len(axes.split()) > 2 and mask.shape[-2] == 1)
    return axes != "B S" if plain in (*PAIRS_EITHER, *PAIRS_BLOCKED) else True


def list_polarities(name: str, mask: Tensor) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the meanings that a mask's numbers may have: (those that its name allows, the others).

    Raises AttentionError: mask_not_additive.
    """
    plain, named = plain_name(name), list_named_polarities(name)
    if any(word in plain for word in CAUSAL_WORDS) or (plain in BIAS_NAMES and mask.dtype == torch.bool):
        named = find_causal_polarity(mask) or named
    if is_turned(mask, named):
        named = BOTH
    turned = tuple(each for each in BOTH if each not in named)
    if mask.dtype == torch.bool:
        return named, turned
    if not ((mask == 0) | (mask == 1)).all() or plain in BIAS_NAMES:
        if not can_be_added(name, mask):
            raise AttentionError("mask_not_additive", limit=MAX_BLOCKED_BIAS)
        return ("added",), ()
    is_whole = not mask.dtype.is_floating_point
    if is_whole or (mask == 1).any():
        return named, turned
    if plain in (*PAIRS_EITHER, *PAIRS_BLOCKED) or mask.dim() == 4:
        return ("added",), BOTH  # all numbers are 0.0, so that nothing is blocked
    return (*named, "added"), turned


def list_named_polarities(name: str) -> tuple[str, ...]:
    """Return what True or 1 means in a mask according to its name; both meanings if the name does not decide."""
    plain = plain_name(name)
    if last_name(name) == "mask" or plain not in (*PAIR_MASK_NAMES, *PADDING_NAMES):
        return BOTH
    if plain in (*KEYS_ALLOWED, *ALLOWED):
        return ("allowed",)
    return ("blocked",) if plain in (*KEYS_BLOCKED, *PAIRS_BLOCKED, *BLOCKED) else BOTH


def find_causal_polarity(mask: Tensor) -> tuple[str, ...]:
    """Return the meaning of True in a causal mask, inferred from its values at later keys, which must be blocked.

    Returns () if these values differ, or if all values of the mask are equal.
    """
    if mask.dim() < 2:
        return ()
    truths = mask != 0
    T, S = mask.shape[-2:]
    is_later = torch.ones(T, S, dtype=torch.bool).triu(S - T + 1)
    later = truths[..., is_later]
    is_told = later.numel() > 0 and later.all() == later.any()
    if not is_told or truths.all() or not truths.any():
        return ()
    return ("blocked",) if later.any() else ("allowed",)


def is_turned(mask: Tensor, named: tuple[str, ...]) -> bool:
    """Return whether True in a causal mask means the opposite of what the mask's name says.

    Read as its name says, such a mask would allow only later keys. Megatron's attention_mask is one. named: the
    meanings of True that the name implies.

    >>> later = torch.ones(3, 3, dtype=torch.bool).triu(1)[None, None]
    >>> is_turned(later, ("allowed",)), is_turned(later, ("blocked",)), is_turned(~later, ("allowed",))
    (True, False, False)
    """
    opposite = [each for each in BOTH if each not in named]
    if mask.dim() < 3 or not opposite:
        return False
    is_one_row = (mask == mask[..., :1, :]).all()
    return not is_one_row and [*find_causal_polarity(mask)] == opposite


def mask_to_bias(
    mask: Tensor, reading: MaskReading, sizes: tuple[int, int, int, int]
) -> Float[Tensor, "B H T S"] | None:
    """Return the numbers that a mask, in the given reading, adds to scores, 0 where it blocks; None if all are 0.

    >>> mask_to_bias(torch.tensor([[0.5, -torch.inf]]), MaskReading("T S", "added"), (1, 1, 1, 2))
    tensor([[[[0.5000, 0.0000]]]], dtype=torch.float64)
    """
    added = mask_to_added(mask, reading, sizes)
    bias = added.masked_fill(added.isneginf(), 0.0)
    return bias if bias.any() else None


def mask_to_added(mask: Tensor, reading: MaskReading, sizes: tuple[int, int, int, int]) -> Float[Tensor, "B H T S"]:
    """Convert a mask, in the given reading, to numbers that are added to scores, with four axes: -inf where it blocks,
    elsewhere 0 or its own numbers.
    """
    if reading.polarity in STATED:
        return block_pairs(~stated_to_pairs(mask, reading.polarity, sizes))
    B, H, _, _ = sizes
    match reading.polarity:
        case "added":
            added = mask.double().masked_fill(mask <= MAX_BLOCKED_BIAS, float("-inf"))
        case "blocked":
            added = block_pairs(mask != 0)
        case _:
            added = block_pairs(mask == 0)
    match reading.axes:
        case "S":
            return added[None, None, None]  # (S) -> (1, 1, 1, S)
        case "B S":
            return added[:, None, None]  # (B, S) -> (B, 1, 1, S)
        case "T S":
            return added[None, None]  # (T, S) -> (1, 1, T, S): one mask for all heads
        case "B T S":
            return added[:, None]  # (B, T, S) -> (B, 1, T, S)
        case "H T S":
            return added[None]  # (H, T, S) -> (1, H, T, S)
        case "BH T S":
            return added.unflatten(0, (B, H))  # (B H, T, S) -> (B, H, T, S)
    return added


def block_pairs(blocked: Bool[Tensor, "*axes"]) -> Float[Tensor, "*axes"]:
    """Return 0 for each pair, and -inf where `blocked` is True."""
    return torch.zeros(blocked.shape, dtype=torch.float64).masked_fill(blocked, float("-inf"))


def are_same_pairs(one: Tensor, other: Tensor) -> bool:
    """Return whether two masks of four axes, some of length 1, have equal numbers for every pair, without expanding
    them.
    """
    for axis in range(one.dim()):
        if one.shape[axis] == other.shape[axis]:
            continue
        longer = one if other.shape[axis] == 1 else other
        if not (longer == longer.narrow(axis, 0, 1)).all():
            return False
        one, other = one.narrow(axis, 0, 1), other.narrow(axis, 0, 1)
    return bool((one == other).all())
