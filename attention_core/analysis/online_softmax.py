"""The softmax of a row that is never seen as a whole, in its steps: a running maximum, a running sum, a running mix.

Of each block of keys the exponentials are taken from the largest score so far. Where a later block brings a larger one,
what was summed before fades: it is multiplied by exp(old maximum - new maximum). The mix over the sum is attention over
the keys seen so far, after the last block that of the whole row (Milakov and Gimelshein 2018, algorithm 3; Dao 2023,
section 3.1.1). blockwise.py runs these functions without keeping what they made; in_blocks keeps every number.
"""

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.mechanism.config import require_positive
from attention_core.mechanism.operations import kv_head, share_heads, share_heads_numpy
from attention_core.record.expressions import Cell, Operand, Ref
from attention_core.record.trace import Faces, Operation, Trace


# ---- the largest score so far ----------------------------------------------------------------------------------------
def highest(
    scores: Float[Tensor, "B H T S"], before: Float[Tensor, "B H T"] | None = None, *, start: int, stop: int
) -> Float[Tensor, "B H T"]:
    largest = scores[..., start:stop].amax(-1)  # (B, H, T, block) -> (B, H, T)
    return largest if before is None else torch.maximum(before, largest)


def highest_numpy(scores, before=None, *, start, stop):
    largest = np.max(scores[..., start:stop], axis=-1)
    return largest if before is None else np.maximum(before, largest)


def highest_formula(scores, before=None, *, start, stop):
    block = rf"{scores}_{{{start + 1}:{stop}}}"
    return rf"\max({block})" if before is None else rf"\max({before},\,{block})"


def highest_cell(index, scores: Operand, before: Operand | None = None, *, start, stop) -> Cell:
    block = tuple((scores[(*index, s)],) for s in range(start, stop))
    return Cell(block if before is None else ((before[index],), *block), outer="max")


HIGHEST = Faces(highest, highest_numpy, highest_formula, highest_cell)


# ---- the exponentials of a block, at most exp(0) ---------------------------------------------------------------------
def powers_below(
    scores: Float[Tensor, "B H T S"], maximum: Float[Tensor, "B H T"], *, start: int, stop: int
) -> Float[Tensor, "B H T block"]:
    top = maximum.masked_fill(maximum.isneginf(), 0.0)  # all blocked so far: no -inf - -inf
    return torch.exp(scores[..., start:stop] - top[..., None])  # (B, H, T, block)


def powers_below_numpy(scores, maximum, *, start, stop):
    top = np.where(np.isneginf(maximum), 0.0, maximum)
    return np.exp(scores[..., start:stop] - top[..., None])


def powers_below_formula(scores, maximum, *, start, stop):
    return rf"\exp({scores}_{{{start + 1}:{stop}}} - {maximum})"


def powers_below_cell(index, scores: Operand, maximum: Operand, *, start, stop) -> Cell:
    *row, j = index
    return Cell(((scores[(*row, start + j)],), (maximum[tuple(row)],)), outer="fall")


POWERS = Faces(powers_below, powers_below_numpy, powers_below_formula, powers_below_cell)


# ---- how much of what was summed is left -----------------------------------------------------------------------------
def fade(before: Float[Tensor, "B H T"], now: Float[Tensor, "B H T"]) -> Float[Tensor, "B H T"]:
    return torch.exp(before - now.masked_fill(now.isneginf(), 0.0))  # nothing was summed yet: exp(-inf) = 0


def fade_numpy(before, now):
    return np.exp(before - np.where(np.isneginf(now), 0.0, now))


def fade_formula(before, now):
    return rf"\exp({before} - {now})"


def fade_cell(index, before: Operand, now: Operand) -> Cell:
    return Cell(((before[index],), (now[index],)), outer="fall")


FADE = Faces(fade, fade_numpy, fade_formula, fade_cell)


# ---- the sum so far --------------------------------------------------------------------------------------------------
def add_up(
    powers: Float[Tensor, "B H T block"],
    faded: Float[Tensor, "B H T"] | None = None,
    before: Float[Tensor, "B H T"] | None = None,
) -> Float[Tensor, "B H T"]:
    block = powers.sum(-1)  # (B, H, T, block) -> (B, H, T)
    return block if before is None else faded * before + block


def add_up_numpy(powers, faded=None, before=None):
    block = np.einsum("bhts->bht", powers)
    return block if before is None else faded * before + block


def add_up_formula(powers, faded=None, before=None):
    block = rf"\textstyle\sum {powers}"
    return block if before is None else rf"{faded}\,{before} + {block}"


def add_up_cell(index, powers: Operand, faded: Operand | None = None, before: Operand | None = None) -> Cell:
    block = tuple((powers[(*index, j)],) for j in range(powers.shape[-1]))
    return Cell(block if before is None else ((faded[index], before[index]), *block))


ADD_UP = Faces(add_up, add_up_numpy, add_up_formula, add_up_cell)


# ---- the values so far, each times its exponential -------------------------------------------------------------------
def gather_values(
    powers: Float[Tensor, "B H T block"],
    v: Float[Tensor, "B H_kv S d_v"],
    faded: Float[Tensor, "B H T"] | None = None,
    before: Float[Tensor, "B H T d_v"] | None = None,
    *,
    start: int,
    stop: int,
) -> Float[Tensor, "B H T d_v"]:
    shared = share_heads(v[:, :, start:stop], powers.shape[1])  # (B, H, block, d_v)
    block = powers @ shared  # (B, H, T, block) x (B, H, block, d_v) -> (B, H, T, d_v)
    return block if before is None else faded[..., None] * before + block


def gather_values_numpy(powers, v, faded=None, before=None, *, start, stop):
    block = np.einsum("bhts,bhsd->bhtd", powers, share_heads_numpy(v[:, :, start:stop], powers.shape[1]))
    return block if before is None else faded[..., None] * before + block


def gather_values_formula(powers, v, faded=None, before=None, *, start, stop):
    block = rf"{powers}\,{v}_{{{start + 1}:{stop}}}"
    return block if before is None else rf"{faded}\,{before} + {block}"


def gather_values_cell(
    index, powers: Operand, v: Operand, faded: Operand | None = None, before: Operand | None = None, *, start, stop
) -> Cell:
    b, h, t, m = index
    g = kv_head(h, powers.shape[1], v.shape[1])
    block = tuple((powers[b, h, t, j], v[b, g, start + j, m]) for j in range(stop - start))
    return Cell(block if before is None else ((faded[b, h, t], before[index]), *block))


GATHER = Faces(gather_values, gather_values_numpy, gather_values_formula, gather_values_cell)


# ---- attention over the keys so far ----------------------------------------------------------------------------------
def divide(mixed: Float[Tensor, "B H T d_v"], total: Float[Tensor, "B H T"]) -> Float[Tensor, "B H T d_v"]:
    return mixed / total.masked_fill(total == 0, 1.0)[..., None]  # no allowed key yet: 0


def divide_numpy(mixed, total):
    return np.divide(mixed, np.where(total == 0, 1.0, total)[..., None])


def divide_formula(mixed, total):
    return rf"{mixed} \,/\, {total}"


def divide_cell(index, mixed: Operand, total: Operand) -> Cell:
    return Cell(((mixed[index],), (total[index[:-1]],)), outer="share")


DIVIDE = Faces(divide, divide_numpy, divide_formula, divide_cell)


# ---- all of them behind a run ----------------------------------------------------------------------------------------
def with_online_softmax(trace: Trace, block: int) -> Trace:
    """The run with its softmax once more, block by block, every number kept: for block n, counted from 1, `maximum_n`,
    `powers_n`, `total_n`, `mixed_n` and `seen_outputs_n`, which is attention over the keys seen by then; from the
    second on `faded_n`, what is left of the sums before. The last `seen_outputs_n` is the run's own head_outputs.

    trace: any run without dropout or replaced weights. block: keys a block, 1 or more. Raises AttentionError (a
    ValueError) for another number.

    >>> from attention_core import attend_qkv
    >>> v = torch.tensor([[1.0], [3.0], [2.0]])
    >>> trace = with_online_softmax(attend_qkv(torch.ones(1, 1), v.log(), v), 2)
    >>> [round(trace[f"total_{n}"].item(), 3) for n in (1, 2)], round(trace["seen_outputs_2"].item(), 3)
    ([1.333, 2.0], 2.333)
    """
    S = trace["masked_scores"].shape[-1]
    starts = range(0, S, require_positive("block", block))
    plan = [operation for n, start in enumerate(starts, 1) for operation in plan_block(n, start, min(start + block, S))]
    longer = trace.then(*plan)
    words = trace.labels.get("S")
    return (
        longer
        if words is None
        else longer.labelled(**{f"S_{n}": words[s : s + block] for n, s in enumerate(starts, 1)})
    )


def plan_block(n: int, start: int, stop: int) -> list[Operation]:
    """The steps of block n, the keys from `start` to before `stop`."""
    row, part = ("B", "H", "T"), {"start": start, "stop": stop}
    later = [Operation(f"faded_{n}", row, (f"maximum_{n - 1}", f"maximum_{n}"), FADE)] if n > 1 else []
    before = {name: (f"faded_{n}", f"{name}_{n - 1}") if n > 1 else () for name in ("total", "mixed")}
    maxima = ("masked_scores", f"maximum_{n - 1}") if n > 1 else ("masked_scores",)
    return [
        Operation(f"maximum_{n}", row, maxima, HIGHEST, part),
        Operation(f"powers_{n}", (*row, f"S_{n}"), ("masked_scores", f"maximum_{n}"), POWERS, part),
        *later,
        Operation(f"total_{n}", row, (f"powers_{n}", *before["total"]), ADD_UP),
        Operation(f"mixed_{n}", (*row, "d_v"), (f"powers_{n}", "v", *before["mixed"]), GATHER, part),
        Operation(f"seen_outputs_{n}", (*row, "d_v"), (f"mixed_{n}", f"total_{n}"), DIVIDE),
    ]


def count_blocks(keys: int, block: int) -> int:
    """How many blocks so many keys make.

    >>> count_blocks(7, 2)
    4
    """
    return -(-keys // block)


def refs_by_key(name: str, row: tuple[int, int, int], keys: int, block: int, seen: int) -> list[Ref]:
    """A number of one row that every block leaves, such as `maximum` or `total`, once for each key of the first `seen`
    blocks. row: its sentence, head and query.

    >>> [ref.step for ref in refs_by_key("maximum", (0, 0, 0), keys=5, block=2, seen=2)]
    ['maximum_1', 'maximum_1', 'maximum_2', 'maximum_2']
    """
    return [Ref(f"{name}_{s // block + 1}", row) for s in range(min(seen * block, keys))]
