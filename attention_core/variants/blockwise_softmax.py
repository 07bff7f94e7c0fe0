"""The softmax block by block: a running maximum and a running sum stand for all the scores seen so far, none of which
is kept.

A softmax needs the sum over a whole row, but not at once: when a later block brings a larger score, what was summed is
multiplied by exp(old maximum - new maximum), and so is the output made of it (running.py). So attention over S keys
needs room for one block of scores, and gives the same numbers (Milakov and Gimelshein 2018, algorithm 3; Dao et al.
2022, algorithm 1, whose other half is where the blocks lie in a GPU's memory).
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from jaxtyping import Float
from torch import Tensor

from attention_core.analysis.online_softmax import add_up, divide, fade, gather_values, highest, powers_below
from attention_core.mechanism import checks
from attention_core.mechanism.attention import checked_qkv, run_plan
from attention_core.mechanism.config import AttentionConfig, Weights, require_positive
from attention_core.mechanism.plan import (
    Inputs,
    Shapes,
    check_mask_sizes,
    config_for_keys_from,
    plan_masks,
    plan_scores,
)
from attention_core.record.errors import AttentionError


@dataclass(frozen=True, eq=False)
class BlockwiseState:
    """All that is kept of keys 0 to `stop` - 1, the last block of which began at `start`.

    maximum: the largest score of each query; -inf where it may attend to none of these keys. total: the sum of
    exp(score - maximum), at least 1; 0 where there is no such key. mixed: the values, each times its exp(score -
    maximum), added up.
    """

    start: int
    stop: int
    maximum: Float[Tensor, "B H T"]
    total: Float[Tensor, "B H T"]
    mixed: Float[Tensor, "B H T d_v"]

    @property
    def output(self) -> Float[Tensor, "B H T d_v"]:
        """Attention over these keys alone."""
        return divide(self.mixed, self.total)


def attend_blockwise(
    q: Float[Tensor, "..."],
    k: Float[Tensor, "..."],
    v: Float[Tensor, "..."],
    *,
    block: int,
    config: AttentionConfig | None = None,
    weights: Weights | None = None,
) -> Iterator[BlockwiseState]:
    r"""attend_qkv's head_outputs, `block` keys at a time: what is kept after every block, the last one of all keys.

    With the scores s of a block $m' = \max(m, \max_j s_j)$, $l' = e^{m - m'} l + \sum_j e^{s_j - m'}$,
    $o' = e^{m - m'} o + \sum_j e^{s_j - m'} v_j$, from $m = -\infty$, $l = 0$, $o = 0$; the output is $o / l$.

    q (T, d_k) or (B, H, T, d_k), k and v likewise with S keys; block: 1 or more keys; config: any score, scale, masks
    and positions that attend_qkv takes; weights: the score's own. Nothing larger than (B, H, T, block), q, k or v is
    made on the way, but for the additive score's tanh layer, which is A times as large.

    Raises AttentionError (a ValueError) as attend_qkv does, and for dropout or replaced weights.

    Source: Milakov and Gimelshein 2018, algorithm 3; Dao et al. 2022, algorithm 1, lines 9 to 13.

    >>> import torch
    >>> v = torch.tensor([[1.0], [3.0], [2.0]])
    >>> for seen in attend_blockwise(torch.ones(1, 1), v.log(), v, block=2):
    ...     print(seen.stop, round(seen.total.item(), 3), round(seen.output.item(), 3))
    2 1.333 2.5
    3 2.0 2.333
    """
    weights, config = weights or Weights(), config or AttentionConfig()
    inputs, plan, shapes, at = checked_qkv(q, k, v, weights, config)
    if config.dropout or config.replace:
        raise AttentionError("blockwise_weights")
    require_positive("block", block)
    check_mask_sizes(config, shapes, at)
    largest = (*shapes["k"][:2], min(block, shapes["k"][2]), shapes["k"][3])  # (B, H_kv, block, d_k)
    checks.check_score_weights(config, weights, shapes["q"], largest, q.element_size())
    return iterate_blocks(config, run_plan(inputs, plan).steps, shapes, at, block)


def iterate_blocks(
    config: AttentionConfig, inputs: Inputs, shapes: Shapes, at: int, block: int
) -> Iterator[BlockwiseState]:
    """The blocks of `blockwise`, its inputs checked."""
    v = inputs["v"].value
    nothing = v.new_zeros(*shapes["q"][:3], v.shape[-1])  # (B, H, T, d_v)
    seen = BlockwiseState(0, 0, v.new_full(shapes["q"][:3], float("-inf")), v.new_zeros(shapes["q"][:3]), nothing)
    for start in range(0, v.shape[2], block):
        stop = min(start + block, v.shape[2])
        scores = block_scores(config, inputs, shapes, at, slice(start, stop))
        seen = add_block(seen, scores, v[:, :, start:stop], start, stop)
        yield seen


def block_scores(
    config: AttentionConfig, inputs: Inputs, shapes: Shapes, at: int, keys: slice
) -> Float[Tensor, "B H T block"]:
    """The masked scores of one block, by attend's own operations: its first key counts as key 0."""
    k = inputs["k"].value[:, :, keys]  # (B, H_kv, block, d_k)
    inputs = {**inputs, "k": replace(inputs["k"], value=k, operation=None)}
    config, at = config_for_keys_from(config, keys.start), at - keys.start
    plan = plan_scores(config, inputs, {**shapes, "k": tuple(k.shape)}, at)
    plan += plan_masks(config, inputs, at, plan[-1].output)
    return run_plan(inputs, plan)["masked_scores"]


def add_block(
    seen: BlockwiseState,
    scores: Float[Tensor, "B H T block"],
    v: Float[Tensor, "B H_kv block d_v"],
    start: int,
    stop: int,
) -> BlockwiseState:
    """What is kept once a block was seen as well."""
    block = {"start": 0, "stop": stop - start}  # of the scores and values at hand
    maximum = highest(scores, seen.maximum, **block)  # (B, H, T)
    powers, faded = powers_below(scores, maximum, **block), fade(seen.maximum, maximum)  # (B, H, T, block), (B, H, T)
    mixed = gather_values(powers, v, faded, seen.mixed, **block)  # (B, H, T, d_v)
    return BlockwiseState(start, stop, maximum, add_up(powers, faded, seen.total), mixed)
