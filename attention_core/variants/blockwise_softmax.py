"""Computes attention block by block, with a running maximum and a running sum, so that earlier scores need not be kept.

A softmax divides by the sum over a whole row, which can be added up block by block: when a later block has a larger
score, the sum and the output so far are multiplied by exp(old maximum - new maximum) (analysis/online_softmax.py). Thus
attention over S keys needs memory for one block of scores, and gives the same numbers (Milakov and Gimelshein 2018,
algorithm 3; Dao et al. 2022, algorithm 1, which also places the blocks in a GPU's memory).
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from jaxtyping import Float
from torch import Tensor

from attention_core.analysis.online_softmax import add_up, divide, fade, gather_block_values, highest, powers_below
from attention_core.mechanism.arguments import Inputs, check_mask_sizes, check_qkv, make_input_steps
from attention_core.mechanism.checks import Shapes, check_learned_weights, size_axes
from attention_core.mechanism.config import AttentionConfig, Weights, config_for_keys_from
from attention_core.mechanism.normalisers import NORMALISERS
from attention_core.mechanism.plain_checks import require_positive
from attention_core.mechanism.plan import plan_masks, plan_qkv, plan_scores, run_plan
from attention_core.record.errors import AttentionError
from attention_core.record.trace import Step


@dataclass(frozen=True, eq=False)
class BlockwiseState:
    """The running state of the softmax after keys 0 to `stop` - 1; the last block began at key `start`.

    maximum: the largest score of each query, including a sink's score; -inf before the first score. total: the sum of
    exp(score - maximum), at least 1; 0 before the first score. mixed: the sum of the values, each multiplied by
    exp(score - maximum).
    """

    start: int
    stop: int
    maximum: Float[Tensor, "B H T"]
    total: Float[Tensor, "B H T"]
    mixed: Float[Tensor, "B H T d_v"]

    @property
    def output(self) -> Float[Tensor, "B H T d_v"]:
        """The output of attention over the keys seen so far."""
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
    r"""Compute attend_qkv's head_outputs, `block` keys at a time, and yield the state after every block.

    With the scores s of a block, $m' = \max(m, \max_j s_j)$, $l' = e^{m - m'} l + \sum_j e^{s_j - m'}$, $o' = e^{m -
    m'} o + \sum_j e^{s_j - m'} v_j$, from $m = -\infty$, $l = 0$, $o = 0$. The output is $o / l$.

    q (T, d_k) or (B, H, T, d_k), k and v likewise with S keys. block: the number of keys, 1 or more. config: any score,
    scale, masks, positions and modifiers that attend_qkv takes, and a normaliser with a running maximum and sum (for a
    sink from m = sink, l = 1). weights: of the score and the normaliser. Apart from q, k and v, no tensor larger than
    (B, H, T, block) is computed, except the additive score's tanh layer, which is A times as large.

    Raises AttentionError (a ValueError) as attend_qkv does, for dropout or replaced weights, and for a normaliser that
    has no running sum.

    Sources: Milakov and Gimelshein 2018, algorithm 3; Dao et al. 2022, algorithm 1, lines 9 to 13.

    >>> import torch
    >>> v = torch.tensor([[1.0], [3.0], [2.0]])
    >>> for seen in attend_blockwise(torch.ones(1, 1), v.log(), v, block=2):
    ...     print(seen.stop, round(seen.total.item(), 3), round(seen.output.item(), 3))
    2 1.333 2.5
    3 2.0 2.333
    """
    weights = weights or Weights()
    config = config or AttentionConfig()
    arguments = check_qkv(q, k, v, weights, config)
    shapes = arguments.shapes
    query_offset = arguments.query_offset
    if config.dropout or config.replace:
        raise AttentionError("blockwise_weights")
    if config.maps > 1:
        raise AttentionError("blockwise_maps")
    normaliser, _ = config.normaliser
    if NORMALISERS[normaliser].begins is None:
        raise AttentionError("blockwise_normaliser", kind=normaliser)
    require_positive("block", block)
    check_mask_sizes(config, shapes, query_offset)
    run_sizes = size_axes(shapes)
    largest_block = run_sizes | {"S": min(block, run_sizes["S"])}
    check_learned_weights(config, weights, largest_block, q.element_size())
    inputs = make_input_steps(arguments, config)
    plan = plan_qkv(config, inputs, arguments.sources, shapes, query_offset)
    plan_scores(config, inputs, shapes, query_offset)  # only for its errors, such as positions that do not fit all keys
    return iterate_blocks(
        config,
        run_plan(inputs, plan).steps,
        shapes,
        query_offset,
        block,
    )


def iterate_blocks(
    config: AttentionConfig, inputs: Inputs, shapes: Shapes, query_offset: int, block: int
) -> Iterator[BlockwiseState]:
    """Yield the BlockwiseState after every block of `block` keys, computed from inputs that are already checked."""
    v = inputs["v"].value
    S, d_v = v.shape[2:]
    B, H, T, _ = shapes["q"]
    name, _ = config.normaliser
    normaliser = NORMALISERS[name]
    learned = [inputs[tensor.name].value for tensor in normaliser.weights]
    maximum, total = normaliser.begins(v.new_zeros(B, H, T), *learned)
    seen = BlockwiseState(
        start=0,
        stop=0,
        maximum=maximum,
        total=total,
        mixed=v.new_zeros(B, H, T, d_v),
    )
    for start in range(0, S, block):
        stop = min(start + block, S)
        scores = compute_block_scores(
            config,
            inputs,
            shapes,
            query_offset,
            slice(start, stop),
        )
        seen = add_block(seen, scores, v[:, :, start:stop], start, stop)
        yield seen


def compute_block_scores(
    config: AttentionConfig, inputs: Inputs, shapes: Shapes, query_offset: int, keys: slice
) -> Float[Tensor, "B H T block"]:
    """Compute the masked scores of one block of keys by the same operations as attend.

    keys: the block as a range of all keys; within the block, its first key counts as key 0.
    """
    first = keys.start
    inputs = {name: cut_keys(step, keys) for name, step in inputs.items()}
    shapes = {**shapes, "k": inputs["k"].shape}
    config = config_for_keys_from(config, first)
    query_offset = query_offset - first

    plan = plan_scores(config, inputs, shapes, query_offset)
    scores = plan[-1].output
    plan += plan_masks(config, inputs, query_offset, scores)
    return run_plan(inputs, plan)["masked_scores"]


def cut_keys(step: Step, keys: slice) -> Step:
    """Return the step with only these keys if it has a key axis S, else the unchanged step."""
    if "S" not in step.dims:
        return step
    rows = step.value.narrow(step.dims.index("S"), keys.start, keys.stop - keys.start)
    return replace(step, value=rows, operation=None)


def add_block(
    seen: BlockwiseState,
    scores: Float[Tensor, "B H T block"],
    v: Float[Tensor, "B H_kv block d_v"],
    start: int,
    stop: int,
) -> BlockwiseState:
    """Add one block of keys, `start` to `stop` - 1, to the running state, and return the new state."""
    block = {"start": 0, "stop": stop - start}  # range of the block's keys within its own scores and values
    maximum = highest(scores, seen.maximum, **block)  # (B, H, T)
    faded = fade(seen.maximum, maximum)  # (B, H, T)
    powers = powers_below(scores, maximum, **block)  # (B, H, T, block)
    return BlockwiseState(
        start=start,
        stop=stop,
        maximum=maximum,
        total=add_up(powers, faded, seen.total),
        mixed=gather_block_values(powers, v, faded, seen.mixed, **block),
    )
