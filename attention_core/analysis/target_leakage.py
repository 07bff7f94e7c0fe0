"""Detects target leakage in a language model: masks that allow later words, and targets that are not shifted by one."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attention_core.mechanism.attention import attend_qkv
from attention_core.mechanism.config import AttentionConfig
from attention_core.record.expressions import Cell, Operand
from attention_core.record.trace import Faces, Operation, Step, Trace

SHARPNESS = 100.0  # factor on the queries, so large that the weights of unlike words are almost 0


# ---- farthest: how far each row is from the same row of another run --------------------------------------------------
def farthest(now: Float[Tensor, "*rows D"], before: Float[Tensor, "*rows D"]) -> Float[Tensor, "*rows"]:
    return (now - before).abs().amax(-1)  # over D


def farthest_numpy(now, before):
    return np.abs(np.subtract(now, before)).max(-1)


def farthest_formula(now, before):
    return rf"\max_m |{now} - {before}|"


def farthest_cell(index, now: Operand, before: Operand) -> Cell:
    pairs = []
    for m in range(now.shape[-1]):
        cell = (*index, m)
        pairs.append((now[cell], before[cell]))
    return Cell(tuple(pairs), function="farthest")


FARTHEST = Faces(farthest, farthest_numpy, farthest_formula, farthest_cell)


def with_moved_rows(now: Trace, before: Trace, step: str = "output") -> Trace:
    """Add the step "moved" to a run: how far each row of a step is from the same row of another run.

    The distance is exactly 0 if no number of the row changed. To find a leak, change a later token, and look for
    outputs that move. step: the name of a step that both runs have in the same shape. "moved" has the axes of that step
    without the last one: (B, T) for the output.

    >>> import torch
    >>> from attention_core import AttentionConfig, attend
    >>> x, later = torch.eye(3), torch.eye(3)
    >>> later[2] = 5.0
    >>> with_moved_rows(attend(later), attend(x))["moved"] > 0
    tensor([[True, True, True]])
    >>> causal = AttentionConfig(masks=["causal"])
    >>> with_moved_rows(attend(later, config=causal), attend(x, config=causal))["moved"] > 0
    tensor([[False, False,  True]])
    """
    dims = now.step(step).dims
    other = f"{step}_before"
    steps = {**now.steps, other: Step(other, before[step], dims)}
    moved = Operation(
        "moved",
        dims=dims[:-1],
        reads=(step, other),
        faces=FARTHEST,
    )
    return replace(now, steps=steps).then(moved)


# ---- pairs that look ahead -------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class LookAhead:
    """How a mask differs from the causal one.

    `later` counts the pairs (i, j) with j > i that the mask allows, `missing` those with j <= i that it blocks. Both
    counts are 0 only for the causal mask.
    """

    later: int
    missing: int


def compare_with_causal(allowed: Bool[Tensor, "T T"]) -> LookAhead:
    """Count the pairs of positions in which a mask differs from the causal mask.

    allowed: True if query i may attend to key j; query i is at position i.

    >>> import torch
    >>> compare_with_causal(torch.ones(3, 3).bool()), compare_with_causal(torch.eye(3).bool())
    (LookAhead(later=3, missing=0), LookAhead(later=0, missing=3))
    """
    later = allowed.triu(1).sum()
    missing = (~allowed).tril().sum()
    return LookAhead(int(later), int(missing))


def share_ahead(weights: Float[Tensor, "T T"]) -> float:
    """Compute the share of a head's total weight that is on words after the query; 0 if all weights are 0.

    >>> import torch
    >>> share_ahead(torch.full((2, 2), 0.5))
    0.25
    """
    whole = weights.sum().item()
    if not whole:
        return 0.0
    return weights.triu(1).sum().item() / whole


# ---- targets that are not shifted: a layer that copies is always right -----------------------------------------------
@dataclass(frozen=True)
class CopiedAnswers:
    """How many predictions are right of a layer that copies its input, for targets that are not shifted, and for
    targets shifted by one.

    same: the right predictions among all `rows`, if the targets are the inputs. shifted: the right predictions among
    all `shifted_rows`, if the target of each row is the next input.
    """

    same: int
    rows: int
    shifted: int
    shifted_rows: int


def kinds_of(words: Sequence[str]) -> Float[Tensor, "T V"]:
    """Return each word as a one-hot row, with one column for each distinct word."""
    kinds = list(dict.fromkeys(words))
    rows = torch.tensor([kinds.index(word) for word in words])
    return torch.eye(len(kinds), dtype=torch.float64)[rows]  # (T,) -> (T, V)


def count_copied(words: Sequence[str]) -> CopiedAnswers:
    """Count the right predictions of a layer that copies word i in row i, if its target is word i, and if it is word i
    + 1.

    The layer is an untrained causal attention layer: each word's query matches equal words, and the values are the
    words.

    >>> count_copied(["ha", "ha", "he"])
    CopiedAnswers(same=3, rows=3, shifted=1, shifted_rows=2)
    """
    x = kinds_of(words)  # (T, V)
    copying = attend_qkv(SHARPNESS * x, x, x, config=AttentionConfig(masks=["causal"]))
    answers = copying["output"].flatten(0, -2).argmax(-1)  # (..., T, V) -> (T,)
    targets = x.argmax(-1)  # (T, V) -> (T,)
    return CopiedAnswers(
        same=int((answers == targets).sum()),
        rows=len(words),
        shifted=int((answers[:-1] == targets[1:]).sum()),
        shifted_rows=len(words) - 1,
    )
