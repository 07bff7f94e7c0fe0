"""Computes attention that saves work: sparse patterns, whose other pairs are never computed, and heads chosen per
token.

A mask alone saves no work, because every score is computed before it is blocked. A pattern divides the pairs into
parts, each a slice of queries with a slice of keys, and attention is computed in each part; no tensor has all pairs.
Under a causal pattern query i is at position i + (S - T) among the keys, as under a causal mask (masks.py), else at i.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from attention_core.mechanism import masks
from attention_core.mechanism.arguments import check_qkv
from attention_core.mechanism.attention import attend, attend_qkv
from attention_core.mechanism.config import AttentionConfig, Weights
from attention_core.mechanism.normalisers import masked_softmax
from attention_core.mechanism.operations import mask_scores, mix, scale
from attention_core.mechanism.plain_checks import require_not_negative, require_positive
from attention_core.mechanism.positions import sinusoidal
from attention_core.mechanism.scores import dot, root_scale
from attention_core.record.errors import AttentionError
from attention_core.record.trace import Trace


# ---- patterns and their parts ----------------------------------------------------------------------------------------
@dataclass(frozen=True)
class SparsePart:
    """A part of a sparse pattern: a slice of queries and a slice of keys; every pair of the two is computed."""

    queries: slice
    keys: slice


@dataclass(frozen=True)
class LocalPattern:
    """The sparse pattern of keys at most `window` positions away from the query, and not after it if `causal` is True.

    block: the number of queries that are computed together; a few of their pairs, in the corners of the rectangle, are
    outside the pattern. Source: Beltagy et al. 2020, section 3.1.

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
        """Return a boolean matrix of the pairs in the pattern.

        i: positions of the queries among the keys. j: positions of the keys.
        """
        is_near = masks.local(0, 0, i, j, window=self.window, query_offset=0)
        if not self.causal:
            return is_near
        is_past = masks.causal(0, 0, i, j, query_offset=0)
        return is_near & is_past

    def parts(self, T: int, S: int) -> Iterator[SparsePart]:
        """Yield each slice of `block` queries with the slice of keys that covers all their windows."""
        query_offset = first_place(self.causal, T, S)
        ahead = 0 if self.causal else self.window
        for start in range(0, T, self.block):
            stop = min(start + self.block, T)
            nearest = start + query_offset - self.window
            farthest = stop + query_offset + ahead
            first_key = max(0, nearest)
            end = min(S, farthest)
            keys = slice(first_key, max(0, end))  # empty if the window ends before key 0
            yield SparsePart(slice(start, stop), keys)


@dataclass(frozen=True)
class StridedPattern:
    """The sparse pattern of every `stride`-th key, counted from the query's position, and not after it if `causal` is
    True.

    Source: Child et al. 2019, section 4.3: the second head of the strided pattern, whose first head is local.

    >>> list(StridedPattern(2).parts(5, 5))
    [SparsePart(queries=slice(0, 5, 2), keys=slice(0, 5, 2)), SparsePart(queries=slice(1, 5, 2), keys=slice(1, 5, 2))]
    """

    stride: int
    causal: bool = False

    def __post_init__(self):
        require_positive("stride", self.stride)

    def allows(self, i: Int[Tensor, "T 1"], j: Int[Tensor, " S"]) -> Bool[Tensor, "T S"]:
        """Return a boolean matrix of the pairs in the pattern.

        i: positions of the queries among the keys. j: positions of the keys.
        """
        is_strided = (i - j) % self.stride == 0
        if not self.causal:
            return is_strided
        is_past = masks.causal(0, 0, i, j, query_offset=0)
        return is_strided & is_past

    def parts(self, T: int, S: int) -> Iterator[SparsePart]:
        """Yield, for each remainder modulo `stride`, the slices of queries and keys at positions with this
        remainder.
        """
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
    """Return the position of query 0 among the keys: S - T under a causal pattern, else 0."""
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
    """Count the (query, key) pairs that are computed for a pattern, including computed pairs outside the pattern.

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
    """Return the pattern as a boolean matrix, True = may attend, for a picture or for attend (all pairs computed).

    >>> pattern_pairs(StridedPattern(2, causal=True), 3, 3).int()
    tensor([[1, 0, 0],
            [0, 1, 0],
            [1, 0, 1]], dtype=torch.int32)
    """
    i, j = place_tokens(pattern, T, S)
    return pattern.allows(i, j)


KEPT_SHADE, IN_VAIN_SHADE, SKIPPED_SHADE = 1.0, 0.4, 0.0  # in the pattern, computed in vain, skipped


def work_map(pattern: Pattern, T: int, S: int) -> Float[Tensor, "T S"]:
    """Return the colour strength of each pair: in the pattern, computed although outside it, or skipped.

    Some pairs outside the pattern are computed, because attention is computed for rectangles of queries and keys.

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


# ---- attention within each part --------------------------------------------------------------------------------------
@dataclass(frozen=True, eq=False)
class SparseResult:
    """The output of sparse attention, and its work.

    computed: the number of computed pairs per head. kept: how many of these pairs are in the pattern. multiply_adds:
    the number of multiply-adds for the scores and the weighted sums of all heads and sequences.
    """

    output: Float[Tensor, "B H T d_v"]
    computed: int
    kept: int
    multiply_adds: int


def attend_sparse(
    q: Float[Tensor, "..."], k: Float[Tensor, "..."], v: Float[Tensor, "..."], pattern: Pattern
) -> SparseResult:
    r"""Compute the head outputs of attention under a sparse pattern, one slice of queries and keys after the other.

    $z_i = \sum_{j \in P(i)} a_{ij} v_j$, where a is the softmax of $q_i k_j / \sqrt{d_k}$ over the keys P(i) of the
    pattern.

    q (T, d_k) or (B, H, T, d_k), k and v likewise with S keys. A query without a key gives 0. Raises AttentionError (a
    ValueError) as attend_qkv does. Source: Child et al. 2019, equations 2 and 3; Beltagy et al. 2020, section 3.1.

    >>> from attention_core.variants.sparse import StridedPattern
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
    kept = torch.zeros((), dtype=torch.int64, device=q.device)  # a tensor: the loop need not wait for a GPU
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
    """Compute attention of a slice of queries to a slice of keys, for the pairs that are True in `allowed`."""
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
    """How much work a sparse pattern saves by skipping pairs, and how large an error it causes.

    kept, computed, pairs: the numbers of pairs in the pattern, of computed pairs, and of all pairs. multiply_adds,
    all_multiply_adds: the multiply-adds for the computed pairs, and for all pairs. error: the relative_error to the
    output of full attention.
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
    """Compare the work and the output of attention under a sparse pattern with those of attention with all pairs.

    Raises AttentionError as attend_sparse and attend_qkv do.

    >>> from attention_core.variants.sparse import LocalPattern
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
    """Make q, k and v (T, d) by hand in float32, so that near pairs have the highest scores.

    q and k are the same sinusoidal position encodings, multiplied by `sharpness`; v is random from a fixed seed.

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
    r"""Measure the distance of an output from the exact output, relative to the exact output's norm, in float64.

    $\lVert \hat z - z \rVert / \lVert z \rVert$; if $\lVert z \rVert$ is 0, the distance itself.

    >>> relative_error(torch.tensor([3.0, 0.0]), torch.tensor([3.0, 4.0]))
    0.8
    """
    exact = exact.double()
    distance = (found.double() - exact).norm()
    length = exact.norm() or 1.0
    return (distance / length).item()


# ---- routing: heads chosen for each token (Zhang et al. 2022, Mixture of Attention Heads) ----------------------------
@dataclass(frozen=True, eq=False)
class RoutedHeads:
    """The heads that a router chose for each token, and the layer's output with these heads.

    router: the router's matrix. gates: the router's score for each token and head. chosen: whether the head is
    computed, for each token and head. output: the sum of the chosen heads' outputs. computed: the number of computed
    (query, key) pairs of all heads. pairs: the number of all their pairs.
    """

    router: Float[Tensor, "D H"]
    gates: Float[Tensor, "T H"]
    chosen: Bool[Tensor, "T H"]
    output: Float[Tensor, "T D_out"]
    computed: int
    pairs: int


def route_heads(trace: Trace, top: int) -> RoutedHeads:
    r"""For each token of a run, compute only the `top` heads that a router chooses.

    $g = |x| W_g$; head h is computed for token t if $g_{th}$ is among the token's `top` largest gates and positive. The
    outputs of the chosen heads are added. In Zhang et al. 2022, section 3, each output is also multiplied by its gate.

    trace: self-attention of one sequence through w_q, w_k and w_v. Raises AttentionError (a ValueError):
    positive_integer, at_most.

    >>> from attention_core.mechanism.config import AttentionConfig
    >>> x = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    >>> square = torch.eye(2)
    >>> run = attend(x, weights=Weights(square, square, square), config=AttentionConfig(heads=2))
    >>> routed = route_heads(run, top=1)
    >>> routed.chosen.tolist(), routed.computed, routed.pairs
    ([[True, False], [False, True]], 4, 8)
    """
    heads = trace.sizes()["H"]
    if require_positive("top", top) > heads:
        raise AttentionError("at_most", name="top", limit=heads, given=top)
    x = trace["x"][0]  # (T, D)
    w_o = trace["w_o"] if "w_o" in trace else torch.eye(trace["w_v"].shape[1]).to(x)  # without w_o: concatenated
    parts = {name: trace[name].chunk(heads, dim=1) for name in ("w_q", "w_k", "w_v")}  # one block of columns per head
    parts["w_o"] = w_o.chunk(heads)  # one block of rows per head
    # Handmade router: it scores a head by how well the token's large numbers meet long rows of the head's w_q.
    router = trace["w_q"].unflatten(-1, (heads, -1)).norm(dim=-1)  # (D, H·d_k) -> (D, H): one column per head
    gates = x.abs() @ router  # (T, H)
    best = gates.topk(top).indices
    chosen = torch.zeros_like(gates, dtype=torch.bool).scatter(1, best, value=True) & (gates > 0)
    output = x.new_zeros(len(x), w_o.shape[-1])
    computed = 0
    for head in range(heads):
        tokens = chosen[:, head].nonzero().flatten()
        if len(tokens):
            own = Weights(**{name: part[head] for name, part in parts.items()})
            output[tokens] += attend(x[tokens], x, weights=own)["output"][0]
            computed += len(tokens) * len(x)
    return RoutedHeads(router, gates, chosen, output, computed, pairs=heads * len(x) ** 2)
