"""Inputs and targets of a language model: shifted by one, and what is copied where they are not."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.mechanism.attention import attend_qkv
from attention_core.mechanism.config import AttentionConfig
from attention_core.record.trace import Trace

SHARPNESS = 100.0  # of the query: the larger, the nearer the share of all other words is to 0


@dataclass(frozen=True)
class CopiedAnswers:
    """How many answers a layer that copies gets right: with the targets as the inputs are, and shifted by one.

    rows, shifted_rows: of how many.
    """

    same: int
    rows: int
    shifted: int
    shifted_rows: int


def copying_run(words: Sequence[str]) -> Trace:
    """Run a causal layer that has learned nothing and copies: each word asks for its own kind, and delivers it.

    Kinds of words are counted in the order in which they come; x (T, V) is 1 at the word's own kind, else 0. The row of
    `output` (1, 1, T, V) says how much of its share goes to each kind.

    >>> copying_run(["a", "b", "a"])["output"].argmax(-1)
    tensor([[0, 1, 0]])
    """
    x = kinds_of(words)
    return attend_qkv(SHARPNESS * x, x, x, config=AttentionConfig(masks=["causal"]))


def kinds_of(words: Sequence[str]) -> Float[Tensor, "T V"]:
    """Write each word as a row that is 1 at its own kind."""
    kinds = list(dict.fromkeys(words))
    rows = torch.tensor([kinds.index(word) for word in words])
    return torch.eye(len(kinds), dtype=torch.float64)[rows]  # (T,) -> (T, V)


def count_copied(words: Sequence[str]) -> CopiedAnswers:
    """Count the right answers of a layer that copies: row i answers with word i, though word i + 1 is asked.

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
