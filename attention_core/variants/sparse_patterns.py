"""Sparse patterns: their pairs of queries and keys, and the parts that attention computes for them.

A part is a slice of queries with a slice of keys. Under a causal pattern query i is at position i + (S - T) among the
keys, as under a causal mask (masks.py), else at i.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from attention_core.mechanism import masks
from attention_core.mechanism.plain_checks import require_not_negative, require_positive


@dataclass(frozen=True)
class SparsePart:
    """A slice of queries and a slice of keys: all pairs of them are computed."""

    queries: slice
    keys: slice


@dataclass(frozen=True)
class LocalPattern:
    """Keys at most `window` away and, with `causal`, not after the query. block: the number of queries of one part.

    A part has a few pairs more than the pattern, the corners of its rectangle. Source: Beltagy et al. 2020, section
    3.1.

    >>> list(LocalPattern(window=1, block=2).parts(5, 5))[1]
    SparsePart(queries=slice(2, 4, None), keys=slice(1, 5, None))
    """

    window: int
    block: int = 64
    causal: bool = False

    def __post_init__(self):
        require_not_negative("window", self.window)
        require_positive("block", self.block)

    def allows(self, i: Int[Tensor, "T 1"], j: Int[Tensor, " S"]) -> Bool[Tensor, "T S"]:
        """Mark the pairs of the pattern. i: positions of the queries among the keys. j: positions of the keys."""
        is_near = masks.local(0, 0, i, j, window=self.window, query_offset=0)
        if not self.causal:
            return is_near
        is_past = masks.causal(0, 0, i, j, query_offset=0)
        return is_near & is_past

    def parts(self, T: int, S: int) -> Iterator[SparsePart]:
        """Yield blocks of queries, each with the keys that any of them may attend to."""
        query_offset = first_place(self.causal, T, S)
        ahead = 0 if self.causal else self.window
        for start in range(0, T, self.block):
            stop = min(start + self.block, T)
            nearest = start + query_offset - self.window
            farthest = stop + query_offset + ahead
            first_key = max(0, nearest)
            end = min(S, farthest)
            keys = slice(first_key, max(0, end))  # no key if all positions are before key 0
            yield SparsePart(slice(start, stop), keys)


@dataclass(frozen=True)
class StridedPattern:
    """Every `stride`-th key, counted from the query's position, and with `causal` no key after the query.

    Source: Child et al. 2019, section 4.3: the second head of the strided pattern, whose first is local.

    >>> list(StridedPattern(2).parts(5, 5))
    [SparsePart(queries=slice(0, 5, 2), keys=slice(0, 5, 2)), SparsePart(queries=slice(1, 5, 2), keys=slice(1, 5, 2))]
    """

    stride: int
    causal: bool = False

    def __post_init__(self):
        require_positive("stride", self.stride)

    def allows(self, i: Int[Tensor, "T 1"], j: Int[Tensor, " S"]) -> Bool[Tensor, "T S"]:
        """Mark the pairs of the pattern. i: positions of the queries among the keys. j: positions of the keys."""
        is_strided = (i - j) % self.stride == 0
        if not self.causal:
            return is_strided
        is_past = masks.causal(0, 0, i, j, query_offset=0)
        return is_strided & is_past

    def parts(self, T: int, S: int) -> Iterator[SparsePart]:
        """Yield, for each remainder modulo `stride`, the queries and keys at positions with this remainder."""
        stride = self.stride
        query_offset = first_place(self.causal, T, S)
        for first_query in range(min(stride, T)):
            first_key = (first_query + query_offset) % stride
            yield SparsePart(
                queries=slice(first_query, T, stride),
                keys=slice(first_key, S, stride),
            )


Pattern = LocalPattern | StridedPattern


def first_place(causal: bool, T: int, S: int) -> int:
    """Return the position of query 0 among the keys."""
    return S - T if causal else 0


def place_tokens(
    pattern: Pattern, T: int, S: int, device: torch.device | None = None
) -> tuple[Int[Tensor, "T 1"], Int[Tensor, " S"]]:
    """Return the positions of the queries among the keys, and the positions of the keys."""
    query_offset = first_place(pattern.causal, T, S)
    i = torch.arange(T, device=device)
    i = i[:, None] + query_offset  # (T, 1)
    j = torch.arange(S, device=device)  # (S,)
    return i, j


def count_computed_pairs(pattern: Pattern, T: int, S: int) -> int:
    """Count the pairs in the parts of a pattern, including the pairs in the corners of rectangles.

    >>> count_computed_pairs(StridedPattern(4), 12, 12), count_computed_pairs(LocalPattern(2, block=4), 12, 12)
    (36, 80)
    """
    pairs = 0
    for part in pattern.parts(T, S):
        queries = range(T)[part.queries]
        keys = range(S)[part.keys]
        pairs += len(queries) * len(keys)
    return pairs


def pattern_pairs(pattern: Pattern, T: int, S: int) -> Bool[Tensor, "T S"]:
    """Return the pattern as `allowed`, True = may attend, for a picture or for attend, which computes all pairs.

    >>> pattern_pairs(StridedPattern(2, causal=True), 3, 3).int()
    tensor([[1, 0, 0],
            [0, 1, 0],
            [1, 0, 1]], dtype=torch.int32)
    """
    i, j = place_tokens(pattern, T, S)
    return pattern.allows(i, j)


KEPT_SHADE, IN_VAIN_SHADE, SKIPPED_SHADE = 1.0, 0.4, 0.0  # strength of colour of a pair, 0 to 1


def work_map(pattern: Pattern, T: int, S: int) -> Float[Tensor, "T S"]:
    """Return the shade of each pair: in the pattern; computed in vain in the corner of a rectangle; or skipped.

    >>> work_map(LocalPattern(1, block=2), 4, 4)
    tensor([[1.0000, 1.0000, 0.4000, 0.0000],
            [1.0000, 1.0000, 1.0000, 0.0000],
            [0.0000, 1.0000, 1.0000, 1.0000],
            [0.0000, 0.4000, 1.0000, 1.0000]])
    """
    kept = pattern_pairs(pattern, T, S)
    shades = torch.full((T, S), SKIPPED_SHADE)
    for part in pattern.parts(T, S):
        pairs = (part.queries, part.keys)
        shades[pairs] = IN_VAIN_SHADE
    return shades.masked_fill(kept, KEPT_SHADE)
