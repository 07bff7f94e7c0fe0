"""Finds the masks, biases, scale, soft cap and sinks of a recorded attention layer, as choices of the core."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attention_core.checkpoints.call import AttentionCall
from attention_core.checkpoints.named_biases import BucketTable, name_bias
from attention_core.checkpoints.named_masks import name_masks
from attention_core.mechanism.config import AttentionConfig
from attention_core.mechanism.masks import MASKS

SAME_SCALE = 1e-6  # a scale counts as 1/√d_k if its relative difference from 1/√d_k is at most this


@dataclass(frozen=True, eq=False)
class Mechanism:
    """The choices of the core that describe a recorded call besides q, k and v, with their learned tensors.

    allowed, bias: the recorded mask and bias, if no mask or position encoding of the core equals them; else None.
    open_rows: see CoreRun.
    """

    config: AttentionConfig
    learned: dict[str, Tensor]
    allowed: Bool[Tensor, "#B #H #T #S"] | None
    bias: Float[Tensor, "#B #H T S"] | None
    open_rows: Bool[Tensor, "B H T"]

    @property
    def given(self) -> tuple[str, ...]:
        """The names "mask" and "bias", if the run uses the recorded tensor instead of a mask or position encoding of
        the core."""
        return tuple(name for name, tensor in (("mask", self.allowed), ("bias", self.bias)) if tensor is not None)


def read_mechanism(call: AttentionCall, tables: Sequence[BucketTable] = ()) -> Mechanism:
    """Return a call's masks, biases, scale, cap and sinks; masks and biases that the core also has are given by name,
    not as tensors.

    tables: the model's tables of relative positions.
    """
    B, H, T, S = call.sizes
    allowed, bias = call.split_mask()
    config = AttentionConfig(heads=H, kv_heads=call.k.shape[1], scale=find_scale(call))
    learned: dict[str, Tensor] = {}
    open_pairs = torch.ones(1, 1, 1, 1, dtype=torch.bool, device=call.q.device) if allowed is None else allowed
    open_rows = open_pairs.any(-1).expand(B, H, T)
    open_pairs = open_pairs.expand(B, H, T, S)
    if allowed is not None:
        masks = name_masks(allowed, call.sizes, call.window)
        if masks is not None:
            config, allowed = replace(config, masks=tuple(masks)), None
    if call.cap is not None:
        config = replace(config, modifiers=(("softcap", {"cap": call.cap}),))
    if call.sinks is not None:
        config, learned["sinks"] = replace(config, normaliser="sinks"), call.sinks.double()
    if bias is not None:
        is_causal = any(MASKS[name].is_causal for name, _ in config.masks)
        named = name_bias(
            bias.expand(-1, H, T, S),
            open_pairs,
            tables,
            query_offset=S - T if is_causal else 0,
            rows_may_differ=call.sinks is None,
        )
        if named is not None:
            config, bias = replace(config, positions=(named.position,)), None
            learned |= named.learned
    return Mechanism(config, learned, allowed, bias, open_rows)


def share_mechanism(call: AttentionCall, other: AttentionCall) -> bool:
    """Return whether two calls have the same sizes, mask, bias, scale, cap and sinks, so that one Mechanism describes
    both.

    Tensors count as the same only if they are the same numbers in memory, as a model's mask is in all its layers.

    >>> q, mask = torch.ones(1, 1, 2, 2), torch.zeros(2, 2)
    >>> call = AttentionCall("layer", q, q, q, q, mask=mask)
    >>> share_mechanism(call, replace(call, mask=mask[:])), share_mechanism(call, replace(call, mask=mask.clone()))
    (True, False)
    """
    numbers = [(each.q.shape, each.k.shape, each.scale, each.cap, each.window) for each in (call, other)]
    tensors = [(call.mask, other.mask), (call.bias, other.bias), (call.sinks, other.sinks)]
    return numbers[0] == numbers[1] and all(is_same_tensor(*pair) for pair in tensors)


def is_same_tensor(one: Tensor | None, other: Tensor | None) -> bool:
    """Return whether two tensors have the same numbers in memory in the same order, or both are None."""
    if one is None or other is None:
        return one is other
    places = [(each.data_ptr(), each.dtype, each.shape, each.stride()) for each in (one, other)]
    return places[0] == places[1]


def find_scale(call: AttentionCall) -> float | None:
    """Return the factor on the scores; None if it is 1/√d_k, which is the core's default."""
    if call.scale is None or is_root_scale(call.scale, call.q.shape[-1]):
        return None
    return call.scale


def is_root_scale(scale: float, width: int) -> bool:
    """Return whether a factor on the scores is 1/√d_k. width: d_k."""
    return math.isclose(scale, width**-0.5, rel_tol=SAME_SCALE)
