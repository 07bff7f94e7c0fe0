"""Sparse attention that saves work: most pairs outside a pattern are never computed.

A mask alone saves no work: every score is computed before it is blocked. Here a pattern cuts queries and keys into
parts (sparse_patterns.py), and attention is computed within each part; no tensor has all pairs.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attention_core.mechanism.arguments import check_qkv
from attention_core.mechanism.attention import attend_qkv
from attention_core.mechanism.config import AttentionConfig, Weights
from attention_core.mechanism.normalisers import masked_softmax
from attention_core.mechanism.operations import mask_scores, mix, scale
from attention_core.mechanism.positions import sinusoidal
from attention_core.mechanism.scores import dot, root_scale
from attention_core.variants.sparse_patterns import Pattern, place_tokens


@dataclass(frozen=True, eq=False)
class SparseResult:
    """The output of sparse attention, and its work.

    computed: the number of computed pairs per head. kept: the number of computed pairs that are in the pattern.
    multiply_adds: of the scores and of the weighted sums, over all heads and sequences.
    """

    output: Float[Tensor, "B H T d_v"]
    computed: int
    kept: int
    multiply_adds: int


def attend_sparse(
    q: Float[Tensor, "..."], k: Float[Tensor, "..."], v: Float[Tensor, "..."], pattern: Pattern
) -> SparseResult:
    r"""Compute attend_qkv's head_outputs under a pattern, part by part.

    $z_i = \sum_{j \in P(i)} a_{ij} v_j$, where a is the softmax of $q_i k_j / \sqrt{d_k}$ over the keys P(i) of the
    pattern.

    q (T, d_k) or (B, H, T, d_k), k and v likewise with S keys. A query without a key gives 0. Raises AttentionError (a
    ValueError) as attend_qkv does. Source: Child et al. 2019, equations 2 and 3; Beltagy et al. 2020, section 3.1.

    >>> from attention_core.variants.sparse_patterns import StridedPattern
    >>> x = torch.eye(6)
    >>> found = attend_sparse(x, x, x, StridedPattern(3))
    >>> found.output[0, 0, 1].nonzero().flatten(), found.computed, found.multiply_adds
    (tensor([1, 4]), 12, 144)
    """
    arguments = check_qkv(q, k, v, Weights(), AttentionConfig())
    q = arguments.inputs["q"]  # (B, H, T, d_k)
    k = arguments.inputs["k"]  # (B, H_kv, S, d_k)
    v = arguments.inputs["v"]  # (B, H_kv, S, d_v)
    B, H, T, d_k = arguments.shapes["q"]
    S, d_v = arguments.shapes["v"][-2:]

    i, j = place_tokens(pattern, T, S, q.device)  # (T, 1), (S,)
    output = q.new_zeros(B, H, T, d_v)
    computed = 0
    kept = torch.zeros((), dtype=torch.int64, device=q.device)  # a tensor: no wait for a GPU within the loop
    for part in pattern.parts(T, S):
        queries = part.queries
        keys = part.keys
        allowed = pattern.allows(i[queries], j[keys])  # (T', S')
        if allowed.numel() == 0:
            continue
        output[:, :, queries] = attend_part(
            q[:, :, queries],
            k[:, :, keys],
            v[:, :, keys],
            allowed,
        )
        computed += allowed.numel()
        kept += allowed.sum()
    return SparseResult(
        output=output,
        computed=computed,
        kept=int(kept),
        multiply_adds=count_multiply_adds(B * H * computed, d_k, d_v),
    )


def attend_part(
    q: Float[Tensor, "B H T d_k"],
    k: Float[Tensor, "B H_kv S d_k"],
    v: Float[Tensor, "B H_kv S d_v"],
    allowed: Bool[Tensor, "T S"],
) -> Float[Tensor, "B H T d_v"]:
    """Attend within one part, for the pairs that `allowed` marks."""
    d_k = q.shape[-1]
    factor = root_scale(d_k)
    scores = dot(q, k)  # (B, H, T, S)
    scores = scale(scores, factor=factor, temperature=1.0)
    scores = mask_scores(scores, allowed[None, None])
    weights = masked_softmax(scores)  # (B, H, T, S)
    return mix(weights, v)


def count_multiply_adds(pairs: int, d_k: int, d_v: int) -> int:
    """Count the multiply-adds of some pairs: d_k for each score, d_v for each weighted value.

    >>> count_multiply_adds(pairs=4, d_k=3, d_v=2)
    20
    """
    return pairs * (d_k + d_v)


@dataclass(frozen=True)
class SparseSavings:
    """The savings and the error of skipping pairs.

    kept, computed, pairs: the numbers of pairs in the pattern, of computed pairs, and of all pairs. multiply_adds,
    all_multiply_adds: for the computed and for all pairs. error: the relative_error to the output of full attention.
    """

    kept: int
    computed: int
    pairs: int
    multiply_adds: int
    all_multiply_adds: int
    error: float


def measure_savings(
    q: Float[Tensor, "..."], k: Float[Tensor, "..."], v: Float[Tensor, "..."], pattern: Pattern
) -> SparseSavings:
    """Compare attend_sparse with attend_qkv, which computes all pairs. Raises AttentionError as these functions do.

    >>> from attention_core.variants.sparse_patterns import LocalPattern
    >>> x = torch.eye(12)
    >>> found = measure_savings(x, x, x, LocalPattern(2, block=4))
    >>> found.kept, found.computed, found.pairs, found.multiply_adds, found.all_multiply_adds
    (54, 80, 144, 1920, 3456)
    """
    full = attend_qkv(q, k, v)
    sparse = attend_sparse(q, k, v, pattern)
    B, H, T, S = full["weights"].shape
    d_k = q.shape[-1]
    d_v = v.shape[-1]
    return SparseSavings(
        kept=sparse.kept,
        computed=sparse.computed,
        pairs=T * S,
        multiply_adds=sparse.multiply_adds,
        all_multiply_adds=count_multiply_adds(B * H * T * S, d_k, d_v),
        error=relative_error(sparse.output, full["head_outputs"]),
    )


def make_local_qkv(length: int, width: int, sharpness: float = 2.0) -> tuple[Tensor, Tensor, Tensor]:
    """Make q, k and v (T, d) by hand so that near pairs have the highest scores, in float32.

    q and k are the sinusoids of the positions, times `sharpness`; v is random from a fixed seed.

    >>> q, k, v = make_local_qkv(64, 32)
    >>> scores = attend_qkv(q, k, v)["scores"][0, 0, 32]
    >>> bool(scores[32] > scores[34] > scores[40]), int(scores.argmax())
    (True, 32)
    """
    x = torch.zeros(length, width)
    positions = sinusoidal(x, base=10_000.0, first_position=0)
    q = sharpness * positions  # (T, d)
    generator = torch.Generator().manual_seed(0)
    v = torch.randn(length, width, generator=generator)
    return q, q, v


def relative_error(found: Float[Tensor, "*axes"], exact: Float[Tensor, "*axes"]) -> float:
    r"""Measure the distance of an output from the exact output, relative to the norm of the exact output, in float64.

    $\lVert \hat z - z \rVert / \lVert z \rVert$; if $\lVert z \rVert$ is 0, the distance itself.

    >>> relative_error(torch.tensor([3.0, 0.0]), torch.tensor([3.0, 4.0]))
    0.8
    """
    exact = exact.double()
    distance = (found.double() - exact).norm()
    length = exact.norm() or 1.0
    return (distance / length).item()
