"""Sparse attention that saves work: pairs that a pattern leaves out are never computed.

A mask alone saves nothing: every score is there before it is blocked. Here a pattern cuts queries and keys into parts,
runs of queries that share a run of keys, and attention is computed within each part; no tensor has all pairs.
Under a causal pattern query i stands at i + (S - T) among the keys, as under a causal mask (masks.py), else at i.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from attention_core.mechanism import masks
from attention_core.mechanism.attention import attend_qkv, checked_qkv
from attention_core.mechanism.config import AttentionConfig, Weights, require_not_negative, require_positive
from attention_core.mechanism.operations import mask_scores, masked_softmax, mix, scale
from attention_core.mechanism.positions import sinusoidal
from attention_core.mechanism.scores import dot, root_scale


@dataclass(frozen=True)
class SparsePart:
    """A run of queries and a run of keys: all pairs of them are computed."""

    queries: slice
    keys: slice


def first_place(causal: bool, T: int, S: int) -> int:
    """Where query 0 stands among the keys."""
    return S - T if causal else 0


@dataclass(frozen=True)
class LocalPattern:
    """Keys at most `window` away, and with `causal` none after the query; `block` queries at a time (Beltagy et al.
    2020, section 3.1). A part holds a few pairs more than the pattern, the corners of its rectangle.

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
        """Which pairs the pattern has; i: the places where the queries stand among the keys, j: those of the keys."""
        near = masks.local(0, 0, i, j, window=self.window, query_offset=0)
        return near & masks.causal(0, 0, i, j, query_offset=0) if self.causal else near

    def parts(self, T: int, S: int) -> Iterator[SparsePart]:
        """Blocks of queries, each with the keys that one of them may attend to."""
        at = first_place(self.causal, T, S)
        ahead = 0 if self.causal else self.window
        for start in range(0, T, self.block):
            stop = min(start + self.block, T)
            first_key = max(0, start + at - self.window)
            end = min(S, stop + at + ahead)
            yield SparsePart(
                slice(start, stop), slice(first_key, max(0, end))
            )  # no key where all places lie before key 0


@dataclass(frozen=True)
class StridedPattern:
    """Every `stride`-th key, counted from the query's own place, and with `causal` none after it (Child et al. 2019,
    section 4.3: the second head of the strided pattern, whose first is local).

    >>> list(StridedPattern(2).parts(5, 5))
    [SparsePart(queries=slice(0, 5, 2), keys=slice(0, 5, 2)), SparsePart(queries=slice(1, 5, 2), keys=slice(1, 5, 2))]
    """

    stride: int
    causal: bool = False

    def __post_init__(self):
        require_positive("stride", self.stride)

    def allows(self, i: Int[Tensor, "T 1"], j: Int[Tensor, " S"]) -> Bool[Tensor, "T S"]:
        """Which pairs the pattern has; i: the places where the queries stand among the keys, j: those of the keys."""
        same = (i - j) % self.stride == 0
        return same & masks.causal(0, 0, i, j, query_offset=0) if self.causal else same

    def parts(self, T: int, S: int) -> Iterator[SparsePart]:
        """The queries and keys whose places leave the same remainder."""
        at = first_place(self.causal, T, S)
        for first in range(min(self.stride, T)):
            first_key = (first + at) % self.stride
            yield SparsePart(slice(first, T, self.stride), slice(first_key, S, self.stride))


Pattern = LocalPattern | StridedPattern


@dataclass(frozen=True, eq=False)
class SparseResult:
    """What came out, and what it took: pairs of each head that were computed, those of them that the pattern has, and
    the multiply-adds of the scores and of the weighted sums, over all heads and sequences."""

    output: Float[Tensor, "B H T d_v"]
    computed: int
    kept: int
    multiply_adds: int


def attend_sparse(
    q: Float[Tensor, "..."], k: Float[Tensor, "..."], v: Float[Tensor, "..."], pattern: Pattern
) -> SparseResult:
    r"""attend_qkv's head_outputs under a pattern, part by part: $z_i = \sum_{j \in P(i)} a_{ij} v_j$, where a is the
    softmax of $q_i k_j / \sqrt{d_k}$ over the keys P(i) of the pattern.

    q (T, d_k) or (B, H, T, d_k), k and v likewise with S keys. A query without a key gives 0. Raises AttentionError (a
    ValueError) as attend_qkv does. Source: Child et al. 2019, equations 2 and 3; Beltagy et al. 2020, section 3.1.

    >>> x = torch.eye(6)
    >>> found = attend_sparse(x, x, x, StridedPattern(3))
    >>> found.output[0, 0, 1].nonzero().flatten(), found.computed, found.multiply_adds
    (tensor([1, 4]), 12, 144)
    """
    inputs, _, shapes, _ = checked_qkv(q, k, v, Weights(), AttentionConfig())
    q, k, v = (inputs[role].value for role in "qkv")  # (B, H, T, d_k), (B, H_kv, S, d_k), (B, H_kv, S, d_v)
    (B, H, T, d_k), (S, d_v) = shapes["q"], shapes["v"][-2:]
    output, computed, kept = q.new_zeros(B, H, T, d_v), 0, torch.zeros((), dtype=torch.int64, device=q.device)
    i, j = places(pattern, T, S, q.device)  # (T, 1), (S,)
    for part in pattern.parts(T, S):
        allowed = pattern.allows(i[part.queries], j[part.keys])  # (T', S')
        if allowed.numel():
            scores = dot(q[:, :, part.queries], k[:, :, part.keys])  # (B, H, T', d_k) x (B, H, d_k, S')
            scores = mask_scores(scale(scores, factor=root_scale(d_k), temperature=1.0), allowed[None, None])
            output[:, :, part.queries] = mix(masked_softmax(scores), v[:, :, part.keys])  # (B, H, T', d_v)
            computed, kept = computed + allowed.numel(), kept + allowed.sum()  # no wait for a GPU within the loop
    return SparseResult(output, computed, int(kept), count_multiply_adds(B * H * computed, d_k, d_v))


def places(
    pattern: Pattern, T: int, S: int, device: torch.device | None = None
) -> tuple[Int[Tensor, "T 1"], Int[Tensor, " S"]]:
    """Where queries and keys stand, counted in keys."""
    i, j = torch.arange(T, device=device), torch.arange(S, device=device)
    return i[:, None] + first_place(pattern.causal, T, S), j


def count_computed_pairs(pattern: Pattern, T: int, S: int) -> int:
    """How many pairs the parts of a pattern hold, those of a rectangle's corners too.

    >>> count_computed_pairs(StridedPattern(4), 12, 12), count_computed_pairs(LocalPattern(2, block=4), 12, 12)
    (36, 80)
    """
    return sum(len(range(T)[part.queries]) * len(range(S)[part.keys]) for part in pattern.parts(T, S))


def count_multiply_adds(pairs: int, d_k: int, d_v: int) -> int:
    """What so many pairs take: d_k products for the score, d_v for the weighted value.

    >>> count_multiply_adds(pairs=4, d_k=3, d_v=2)
    20
    """
    return pairs * (d_k + d_v)


def pattern_pairs(pattern: Pattern, T: int, S: int) -> Bool[Tensor, "T S"]:
    """The pattern as `allowed`: True = may attend. For a picture, and for attend, which computes all pairs.

    >>> pattern_pairs(StridedPattern(2, causal=True), 3, 3).int()
    tensor([[1, 0, 0],
            [0, 1, 0],
            [1, 0, 1]], dtype=torch.int32)
    """
    return pattern.allows(*places(pattern, T, S))


KEPT_SHADE, IN_VAIN_SHADE, SKIPPED_SHADE = 1.0, 0.4, 0.0  # how dark a pair is drawn


def work_map(pattern: Pattern, T: int, S: int) -> Float[Tensor, "T S"]:
    """What becomes of each pair: KEPT; computed IN_VAIN, because it lies in a rectangle with others; or SKIPPED.

    >>> work_map(LocalPattern(1, block=2), 4, 4)
    tensor([[1.0000, 1.0000, 0.4000, 0.0000],
            [1.0000, 1.0000, 1.0000, 0.0000],
            [0.0000, 1.0000, 1.0000, 1.0000],
            [0.0000, 0.4000, 1.0000, 1.0000]])
    """
    drawn = torch.full((T, S), SKIPPED_SHADE)
    for part in pattern.parts(T, S):
        drawn[part.queries, part.keys] = IN_VAIN_SHADE
    return drawn.masked_fill(pattern_pairs(pattern, T, S), KEPT_SHADE)


@dataclass(frozen=True)
class SparseSavings:
    """What skipping saves and costs: pairs of the pattern, pairs computed, all pairs; the multiply-adds of the computed
    and of all; and how far the output is from full attention's (relative_error)."""

    kept: int
    computed: int
    pairs: int
    multiply_adds: int
    all_multiply_adds: int
    error: float


def measure_savings(
    q: Float[Tensor, "..."], k: Float[Tensor, "..."], v: Float[Tensor, "..."], pattern: Pattern
) -> SparseSavings:
    """attend_sparse beside attend_qkv, which computes all pairs. Raises AttentionError (a ValueError) as they do.

    >>> x = torch.eye(12)
    >>> found = measure_savings(x, x, x, LocalPattern(2, block=4))
    >>> found.kept, found.computed, found.pairs, found.multiply_adds, found.all_multiply_adds
    (54, 80, 144, 1920, 3456)
    """
    full = attend_qkv(q, k, v)
    found = attend_sparse(q, k, v, pattern)
    (T, S), (B, H) = full["weights"].shape[2:], full["weights"].shape[:2]
    everything = count_multiply_adds(B * H * T * S, q.shape[-1], v.shape[-1])
    error = relative_error(found.output, full["head_outputs"])
    return SparseSavings(found.kept, found.computed, T * S, found.multiply_adds, everything, error)


def make_local_qkv(length: int, width: int, sharpness: float = 2.0) -> tuple[Tensor, Tensor, Tensor]:
    """q, k and v (T, d) made by hand so that near pairs have the highest scores: q and k are the sinusoids of the
    positions, times `sharpness`, v is random from a fixed seed. In float32.

    >>> q, k, v = make_local_qkv(64, 32)
    >>> scores = attend_qkv(q, k, v)["scores"][0, 0, 32]
    >>> bool(scores[32] > scores[34] > scores[40]), int(scores.argmax())
    (True, 32)
    """
    q = sharpness * sinusoidal(torch.zeros(length, width), base=10_000.0, first_position=0)  # (T, d)
    return q, q, torch.randn(length, width, generator=torch.Generator().manual_seed(0))


def relative_error(found: Float[Tensor, "*axes"], exact: Float[Tensor, "*axes"]) -> float:
    r"""How far an output is from another, in float64 and relative to its length: $\lVert \hat z - z \rVert / \lVert z
    \rVert$. Where that length is 0, the distance itself.

    >>> relative_error(torch.tensor([3.0, 0.0]), torch.tensor([3.0, 4.0]))
    0.8
    """
    return ((found.double() - exact.double()).norm() / (exact.double().norm() or 1.0)).item()
