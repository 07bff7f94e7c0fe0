"""Computes a recorded attention layer again by the core, in float64, from the recorded q, k and v."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from jaxtyping import Bool
from torch import Tensor

from attention_core.checkpoints.call import AttentionCall
from attention_core.checkpoints.named_biases import BucketTable, name_bias
from attention_core.checkpoints.named_masks import name_masks
from attention_core.mechanism.attention import attend_qkv
from attention_core.mechanism.config import AttentionConfig, Weights
from attention_core.mechanism.masks import MASKS
from attention_core.record.trace import Trace

SAME_SCALE = 1e-6  # a factor this near to 1/√d_k is 1/√d_k


@dataclass(frozen=True, eq=False)
class CoreRun:
    """A recorded layer as a run of the core: its Trace, in float64, and the choices that the call amounts to.

    given: "mask" and "bias" where these are tensors, because no mask or position encoding of the core is the same.
    open_rows: True for each query that may attend to some key; for the others models give even weights, the core 0.
    """

    trace: Trace
    config: AttentionConfig
    given: tuple[str, ...]
    open_rows: Bool[Tensor, "B H T"]


def run_call(call: AttentionCall, tables: Sequence[BucketTable] = ()) -> CoreRun:
    r"""Compute a recorded layer again: $A = \mathrm{softmax}(s\, QK^\top + b)$, output $AV$, with its masks.

    Masks and biases are named where the core has the same; else the recorded tensor is used. tables: the model's tables
    of relative positions.

    Raises AttentionError (a ValueError) if a recorded number is not finite.

    >>> q = torch.tensor([[[[0.0, 2**0.5]]]])
    >>> k = torch.eye(2)[None, None]
    >>> run_call(AttentionCall("layer", q, k, k, k)).trace["weights"].flatten()            # 1/(1 + e) and e/(1 + e)
    tensor([0.2689, 0.7311], dtype=torch.float64)
    """
    B, H, T, S = call.sizes
    allowed, bias = call.split_mask()
    config = AttentionConfig(heads=H, kv_heads=call.k.shape[1], scale=find_scale(call))
    learned: dict[str, Tensor] = {}
    given = []
    open_pairs = torch.ones(1, dtype=torch.bool, device=call.q.device) if allowed is None else allowed
    open_pairs = open_pairs.expand(B, H, T, S)
    if allowed is not None:
        masks = name_masks(allowed, call.sizes, call.window)
        if masks is None:
            given.append("mask")
        else:
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
        if named is None:
            given.append("bias")
        else:
            config, bias = replace(config, positions=(named.position,)), None
            learned |= named.learned
    trace = attend_qkv(
        call.q.double(),
        call.k.double(),
        call.v.double(),
        config=config,
        weights=Weights(**learned),
        allowed=allowed,
        bias=bias,
    )
    return CoreRun(trace, config, tuple(given), open_pairs.any(-1))


def find_scale(call: AttentionCall) -> float | None:
    """Return the factor on the scores; None if it is 1/√d_k, which the core then writes."""
    if call.scale is None or math.isclose(call.scale, call.q.shape[-1] ** -0.5, rel_tol=SAME_SCALE):
        return None
    return call.scale
