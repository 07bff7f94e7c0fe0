"""Why the targets of a language model are its inputs shifted by one: otherwise a layer that copies is always right."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.mechanism.attention import attend_qkv
from attention_core.mechanism.config import AttentionConfig
from attention_core.record.trace import Trace

SHARPNESS = 100.0  # factor of the query: the larger, the nearer the weight of all other words is to 0


@dataclass(frozen=True)
class CopiedAnswers:
    """How often a layer that copies is right: if the targets are the inputs (`same`), or shifted by one (`shifted`).

    rows, shifted_rows: the number of answers under each of both targets.
    """

    same: int
    rows: int
    shifted: int
    shifted_rows: int


def copying_run(words: Sequence[str]) -> Trace:
    """Run an untrained causal layer that copies: each word's query matches equal words, whose value is the word.

    Distinct words are numbered in the order in which they occur; a row of x (T, V) is 1 at its word's number, else 0. A
    row of `output` (1, 1, T, V) is the weight on each distinct word.

    >>> copying_run(["a", "b", "a"])["output"].argmax(-1)
    tensor([[0, 1, 0]])
    """
    x = kinds_of(words)
    return attend_qkv(SHARPNESS * x, x, x, config=AttentionConfig(masks=["causal"]))


def kinds_of(words: Sequence[str]) -> Float[Tensor, "T V"]:
    """Return each word as a one-hot row over the distinct words."""
    kinds = list(dict.fromkeys(words))
    rows = torch.tensor([kinds.index(word) for word in words])
    return torch.eye(len(kinds), dtype=torch.float64)[rows]  # (T,) -> (T, V)


def count_copied(words: Sequence[str]) -> CopiedAnswers:
    """Count the right answers of a layer that copies: row i answers with word i, though its target is word i + 1.

    >>> count_copied(["ha", "ha", "he"])
    CopiedAnswers(same=3, rows=3, shifted=1, shifted_rows=2)
    """
    answers = copying_run(words)["output"].flatten(0, -2).argmax(-1)  # (..., T, V) -> (T,)
    targets = kinds_of(words).argmax(-1)  # (T, V) -> (T,)
    return CopiedAnswers(
        same=int((answers == targets).sum()),
        rows=len(words),
        shifted=int((answers[:-1] == targets[1:]).sum()),
        shifted_rows=len(words) - 1,
    )
