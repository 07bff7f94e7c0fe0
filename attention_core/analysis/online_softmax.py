"""Computes the softmax online, block by block of a row: running maximum, running sum and running weighted values.

The largest score so far is subtracted before the exponentials of a block of keys are computed. If a later block has a
larger score, the earlier sums are scaled down by exp(old maximum - new maximum). The weighted values divided by the sum
are attention over the keys so far, and after the last block over the whole row (Milakov and Gimelshein 2018, algorithm
3; Dao 2023, section 3.1.1). variants/blockwise_softmax.py calls these functions and keeps only the last results;
with_online_softmax records all of them.
"""

import math

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.mechanism.normalisers import require_softmax
from attention_core.mechanism.operations import kv_head, share_heads, share_heads_numpy
from attention_core.mechanism.plain_checks import require_positive
from attention_core.record.expressions import Cell, Operand, Ref
from attention_core.record.trace import Faces, Operation, Trace


# ---- the largest score so far ----------------------------------------------------------------------------------------
def highest(
    scores: Float[Tensor, "B H T S"], before: Float[Tensor, "B H T"] | None = None, *, start: int, stop: int
) -> Float[Tensor, "B H T"]:
    largest = scores[..., start:stop].amax(-1)  # (B, H, T, block) -> (B, H, T)
    if before is None:
        return largest
    return torch.maximum(before, largest)


def highest_numpy(scores, before=None, *, start, stop):
    largest = np.max(scores[..., start:stop], axis=-1)
    if before is None:
        return largest
    return np.maximum(before, largest)


def highest_formula(scores, before=None, *, start, stop):
    block = rf"{scores}_{{{start + 1}:{stop}}}"
    if before is None:
        return rf"\max({block})"
    return rf"\max({before},\,{block})"


def highest_cell(index, scores: Operand, before: Operand | None = None, *, start, stop) -> Cell:
    terms = []
    if before is not None:
        terms.append((before[index],))
    for s in range(start, stop):
        score = scores[(*index, s)]
        terms.append((score,))
    return Cell(tuple(terms), function="max")


HIGHEST = Faces(highest, highest_numpy, highest_formula, highest_cell)


# ---- the exponentials of a block, at most exp(0) ---------------------------------------------------------------------
def powers_below(
    scores: Float[Tensor, "B H T S"], maximum: Float[Tensor, "B H T"], *, start: int, stop: int
) -> Float[Tensor, "B H T block"]:
    top = maximum.masked_fill(maximum.isneginf(), 0.0)  # 0 while all keys are blocked, because -inf - -inf would be NaN
    return torch.exp(scores[..., start:stop] - top[..., None])  # (B, H, T, block)


def powers_below_numpy(scores, maximum, *, start, stop):
    top = np.where(np.isneginf(maximum), 0.0, maximum)
    return np.exp(scores[..., start:stop] - top[..., None])


def powers_below_formula(scores, maximum, *, start, stop):
    return rf"\exp({scores}_{{{start + 1}:{stop}}} - {maximum})"


def powers_below_cell(index, scores: Operand, maximum: Operand, *, start, stop) -> Cell:
    *row, j = index
    score = scores[(*row, start + j)]
    top = maximum[tuple(row)]
    return Cell(((score,), (top,)), function="fall")


POWERS = Faces(powers_below, powers_below_numpy, powers_below_formula, powers_below_cell)


# ---- how much of what was summed is left -----------------------------------------------------------------------------
def fade(before: Float[Tensor, "B H T"], now: Float[Tensor, "B H T"]) -> Float[Tensor, "B H T"]:
    top = now.masked_fill(now.isneginf(), 0.0)  # 0 while all keys are blocked, because -inf - -inf would be NaN
    return torch.exp(before - top)  # for the first block: exp(-inf) = 0


def fade_numpy(before, now):
    top = np.where(np.isneginf(now), 0.0, now)
    return np.exp(before - top)


def fade_formula(before, now):
    return rf"\exp({before} - {now})"


def fade_cell(index, before: Operand, now: Operand) -> Cell:
    return Cell(((before[index],), (now[index],)), function="fall")


FADE = Faces(fade, fade_numpy, fade_formula, fade_cell)


# ---- the sum so far --------------------------------------------------------------------------------------------------
def add_up(
    powers: Float[Tensor, "B H T block"],
    faded: Float[Tensor, "B H T"] | None = None,
    before: Float[Tensor, "B H T"] | None = None,
) -> Float[Tensor, "B H T"]:
    block = powers.sum(-1)  # (B, H, T, block) -> (B, H, T)
    if before is None:
        return block
    return faded * before + block


def add_up_numpy(powers, faded=None, before=None):
    block = np.einsum("bhts->bht", powers)
    if before is None:
        return block
    return faded * before + block


def add_up_formula(powers, faded=None, before=None):
    block = rf"\textstyle\sum {powers}"
    if before is None:
        return block
    return rf"{faded}\,{before} + {block}"


def add_up_cell(index, powers: Operand, faded: Operand | None = None, before: Operand | None = None) -> Cell:
    terms = []
    if before is not None:
        terms.append((faded[index], before[index]))
    for j in range(powers.shape[-1]):
        power = powers[(*index, j)]
        terms.append((power,))
    return Cell(tuple(terms))


ADD_UP = Faces(add_up, add_up_numpy, add_up_formula, add_up_cell)


# ---- the values so far, each times its exponential -------------------------------------------------------------------
def gather_block_values(
    powers: Float[Tensor, "B H T block"],
    v: Float[Tensor, "B H_kv S d_v"],
    faded: Float[Tensor, "B H T"] | None = None,
    before: Float[Tensor, "B H T d_v"] | None = None,
    *,
    start: int,
    stop: int,
) -> Float[Tensor, "B H T d_v"]:
    H = powers.shape[1]
    seen = v[:, :, start:stop]  # (B, H_kv, block, d_v)
    values = share_heads(seen, H)  # (B, H, block, d_v)
    block = powers @ values  # (B, H, T, block) x (B, H, block, d_v) -> (B, H, T, d_v)
    if before is None:
        return block
    return faded[..., None] * before + block  # (B, H, T, 1) * (B, H, T, d_v)


def gather_block_values_numpy(powers, v, faded=None, before=None, *, start, stop):
    H = powers.shape[1]
    seen = v[:, :, start:stop]
    values = share_heads_numpy(seen, H)
    block = np.einsum("bhts,bhsd->bhtd", powers, values)
    if before is None:
        return block
    return faded[..., None] * before + block


def gather_block_values_formula(powers, v, faded=None, before=None, *, start, stop):
    block = rf"{powers}\,{v}_{{{start + 1}:{stop}}}"
    if before is None:
        return block
    return rf"{faded}\,{before} + {block}"


def gather_block_values_cell(
    index,
    powers: Operand,
    v: Operand,
    faded: Operand | None = None,
    before: Operand | None = None,
    *,
    start,
    stop,
) -> Cell:
    b, h, t, m = index
    g = kv_head(h, powers.shape[1], v.shape[1])
    terms = []
    if before is not None:
        terms.append((faded[b, h, t], before[index]))
    for j in range(stop - start):
        value = v[b, g, start + j, m]
        terms.append((powers[b, h, t, j], value))
    return Cell(tuple(terms))


GATHER = Faces(gather_block_values, gather_block_values_numpy, gather_block_values_formula, gather_block_values_cell)


# ---- attention over the keys so far ----------------------------------------------------------------------------------
def divide(mixed: Float[Tensor, "B H T d_v"], total: Float[Tensor, "B H T"]) -> Float[Tensor, "B H T d_v"]:
    divisor = total.masked_fill(total == 0, 1.0)  # (B, H, T): 1 before the first allowed key, so that 0 is divided by 1
    return mixed / divisor[..., None]


def divide_numpy(mixed, total):
    divisor = np.where(total == 0, 1.0, total)
    return np.divide(mixed, divisor[..., None])


def divide_formula(mixed, total):
    return rf"{mixed} \,/\, {total}"


def divide_cell(index, mixed: Operand, total: Operand) -> Cell:
    *row, _ = index
    divisor = total[tuple(row)]
    return Cell(((mixed[index],), (divisor,)), function="share")


DIVIDE = Faces(divide, divide_numpy, divide_formula, divide_cell)


# ---- all of them after a run -----------------------------------------------------------------------------------------
def with_online_softmax(trace: Trace, block: int) -> Trace:
    """Add the steps of the online softmax to a run, block by block.

    Block n, counted from 1, adds `maximum_n`, `powers_n`, `total_n`, `mixed_n` and `seen_outputs_n`, which is attention
    over the keys of blocks 1 to n. From the second block on it adds `faded_n`, the factor that scales earlier sums
    down. The last `seen_outputs_n` equals the run's own head_outputs.

    trace: any run without dropout or replaced weights. block: keys per block, 1 or more. Raises AttentionError (a
    ValueError) for another number.

    >>> from attention_core import attend_qkv
    >>> v = torch.tensor([[1.0], [3.0], [2.0]])
    >>> trace = with_online_softmax(attend_qkv(torch.ones(1, 1), v.log(), v), 2)
    >>> [round(trace[f"total_{n}"].item(), 3) for n in (1, 2)], round(trace["seen_outputs_2"].item(), 3)
    ([1.333, 2.0], 2.333)
    """
    require_softmax(trace, "the running softmax")
    S = trace.step("masked_scores").shape[-1]
    starts = range(0, S, require_positive("block", block))
    plan = []
    for n, start in enumerate(starts, 1):
        stop = min(start + block, S)
        plan.extend(plan_block(n, start, stop))
    longer = trace.then(*plan)
    words = trace.labels.get("S")
    if words is None:
        return longer
    labels = {}
    for n, start in enumerate(starts, 1):
        labels[f"S_{n}"] = words[start : start + block]
    return longer.labelled(**labels)


def plan_block(n: int, start: int, stop: int) -> list[Operation]:
    """Return the operations of the online softmax for block n, whose keys have the indices from `start` to `stop` -
    1.
    """
    row = ("B", "H", "T")
    outputs = (*row, "d_v")
    keys = {"start": start, "stop": stop}
    maximum = f"maximum_{n}"
    powers = f"powers_{n}"
    faded = f"faded_{n}"
    total = f"total_{n}"
    mixed = f"mixed_{n}"
    maximum_before = total_before = mixed_before = ()
    fading = []
    if n > 1:
        before = n - 1
        maximum_before = (f"maximum_{before}",)
        total_before = (faded, f"total_{before}")
        mixed_before = (faded, f"mixed_{before}")
        fading.append(Operation(faded, row, (*maximum_before, maximum), FADE))
    return [
        Operation(maximum, row, ("masked_scores", *maximum_before), HIGHEST, keys),
        Operation(powers, (*row, f"S_{n}"), ("masked_scores", maximum), POWERS, keys),
        *fading,
        Operation(total, row, (powers, *total_before), ADD_UP),
        Operation(mixed, outputs, (powers, "v", *mixed_before), GATHER, keys),
        Operation(f"seen_outputs_{n}", outputs, (mixed, total), DIVIDE),
    ]


def count_blocks(keys: int, block: int) -> int:
    """Return the number of blocks needed for this many keys.

    >>> count_blocks(7, 2)
    4
    """
    return math.ceil(keys / block)


def refs_by_key(name: str, row: tuple[int, int, int], keys: int, block: int, seen: int) -> list[Ref]:
    """Return, for each key of the first `seen` blocks, the Ref of a number that the key's block computes, such as
    "maximum".

    name: the number's step without the block's index. row: (sentence, head, query). keys: the number of all keys.
    block: keys per block. seen: how many blocks count.

    >>> [ref.step for ref in refs_by_key("maximum", (0, 0, 0), keys=5, block=2, seen=2)]
    ['maximum_1', 'maximum_1', 'maximum_2', 'maximum_2']
    """
    seen_keys = min(seen * block, keys)
    refs = []
    for s in range(seen_keys):
        n = s // block + 1
        refs.append(Ref(f"{name}_{n}", row))
    return refs
