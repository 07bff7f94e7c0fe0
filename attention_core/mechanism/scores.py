"""Defines the score functions, which compute how well a query matches a key, and their table SCORES.

To add a score, add an entry here: its operations from q and k to `scores`, their multiply-adds, its default scale and
its learned tensors.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.mechanism.learned_tensors import LearnedTensor, Shape, Sizes, check_wired
from attention_core.mechanism.operations import kv_head, share_heads, share_heads_numpy
from attention_core.mechanism.plan_steps import check_all_read
from attention_core.record.cell_functions import MIN_VECTOR_LENGTH
from attention_core.record.expressions import Cell, Operand
from attention_core.record.trace import Faces, Operation


# ---- dot: q · k (Luong et al. 2015, eq. 8 "dot"; Vaswani et al. 2017, eq. 1 before the scale) ------------------------
def dot(q: Float[Tensor, "B H T d_k"], k: Float[Tensor, "B H_kv S d_k"]) -> Float[Tensor, "B H T S"]:
    k = share_heads(k, q.shape[1])  # (B, H, S, d_k)
    return q @ k.transpose(-2, -1)  # (B, H, T, d_k) x (B, H, d_k, S) -> (B, H, T, S)


def dot_numpy(q, k):
    k = share_heads_numpy(k, q.shape[1])
    return np.einsum("bhtd,bhsd->bhts", q, k)


def dot_formula(q, k):
    return rf"{q}\,{k}^{{\top}}"


def dot_cell(index, q: Operand, k: Operand) -> Cell:
    b, h, t, s = index
    g = kv_head(h, q.shape[1], k.shape[1])
    d_k = q.shape[-1]
    terms = []
    for m in range(d_k):
        query = q[b, h, t, m]
        key = k[b, g, s, m]
        terms.append((query, key))
    return Cell(tuple(terms))


DOT = Faces(dot, dot_numpy, dot_formula, dot_cell, sign="q · k", motion="match")


# ---- cosine: q · k over their lengths (Graves et al. 2014, eq. 6) ----------------------------------------------------
def cosine(q: Float[Tensor, "B H T d_k"], k: Float[Tensor, "B H_kv S d_k"]) -> Float[Tensor, "B H T S"]:
    shortest = max(MIN_VECTOR_LENGTH, torch.finfo(q.dtype).tiny)  # float16 would round 1e-8 to 0
    lengths_q = q.norm(dim=-1, keepdim=True)  # (B, H, T, 1)
    lengths_k = k.norm(dim=-1, keepdim=True)  # (B, H_kv, S, 1)
    q = q / lengths_q.clamp(min=shortest)  # (B, H, T, d_k): rows of length 1
    k = k / lengths_k.clamp(min=shortest)  # (B, H_kv, S, d_k)
    return dot(q, k)  # (B, H, T, S), each in [-1, 1]


def cosine_numpy(q, k):
    squares_q = np.einsum("bhtd,bhtd->bht", q, q)[..., None]  # (B, H, T, 1)
    squares_k = np.einsum("bhsd,bhsd->bhs", k, k)[..., None]  # (B, H_kv, S, 1)
    lengths_q = np.maximum(np.sqrt(squares_q), MIN_VECTOR_LENGTH)
    lengths_k = np.maximum(np.sqrt(squares_k), MIN_VECTOR_LENGTH)
    return dot_numpy(q / lengths_q, k / lengths_k)


def cosine_formula(q, k):
    return rf"\frac{{{q}\,{k}^{{\top}}}}{{\lVert {q} \rVert\,\lVert {k} \rVert}}"


def cosine_cell(index, q: Operand, k: Operand) -> Cell:
    products = dot_cell(index, q, k).terms
    return Cell(products, function="cosine")


COSINE = Faces(cosine, cosine_numpy, cosine_formula, cosine_cell, sign="cos", motion="match")


# ---- general: q W_a kᵀ (Luong et al. 2015, eq. 8 "general"), W_a shared over heads or one a head ---------------------
def general(
    q: Float[Tensor, "B H T d_q"], k: Float[Tensor, "B H_kv S d_k"], w_a: Float[Tensor, "*H d_q d_k"]
) -> Float[Tensor, "B H T S"]:
    q = q @ w_a  # (B, H, T, d_q) x (d_q, d_k) -> (B, H, T, d_k)
    return dot(q, k)  # (B, H, T, S)


def general_numpy(q, k, w_a):
    heads = q.shape[1]
    k = share_heads_numpy(k, heads)
    w_a = np.broadcast_to(w_a, (heads, *w_a.shape[-2:]))
    return np.einsum("bhtm,hmn,bhsn->bhts", q, w_a, k, optimize=True)


def general_formula(q, k, w_a):
    return rf"{q}\,{w_a}\,{k}^{{\top}}"


def general_cell(index, q: Operand, k: Operand, w_a: Operand) -> Cell:
    b, h, t, s = index
    g = kv_head(h, q.shape[1], k.shape[1])
    head = head_index(w_a, h, shared_axes=2)
    d_q, d_k = w_a.shape[-2:]
    terms = []
    for m in range(d_q):
        query = q[b, h, t, m]
        for n in range(d_k):
            weight = w_a[(*head, m, n)]
            key = k[b, g, s, n]
            terms.append((query, weight, key))
    return Cell(tuple(terms))


def head_index(weight: Operand, h: int, shared_axes: int) -> tuple[int, ...]:
    """Return (h,), the index of head h in a score's weight, or () if all heads share the weight.

    shared_axes: the number of axes of a shared weight.
    """
    if len(weight.shape) == shared_axes:
        return ()
    return (h,)


GENERAL = Faces(general, general_numpy, general_formula, general_cell, sign="q W k", motion="match")


# ---- additive: v_a · tanh(q W_aq + k W_ak) (Bahdanau et al. 2015, appendix A.1.2) ------------------------------------
def tanh_layer(
    q: Float[Tensor, "B H T d_q"],
    k: Float[Tensor, "B H_kv S d_k"],
    w_aq: Float[Tensor, "*H d_q A"],
    w_ak: Float[Tensor, "*H d_k A"],
) -> Float[Tensor, "B H T S A"]:
    heads = q.shape[1]
    k = share_heads(k, heads)  # (B, H, S, d_k)
    from_q = q @ w_aq  # (B, H, T, A)
    from_k = k @ w_ak  # (B, H, S, A)
    sums = from_q.unsqueeze(3) + from_k.unsqueeze(2)  # (B, H, T, 1, A) + (B, H, 1, S, A)
    return torch.tanh(sums)  # (B, H, T, S, A): one vector per pair


def tanh_layer_numpy(q, k, w_aq, w_ak):
    heads = q.shape[1]
    k = share_heads_numpy(k, heads)
    w_aq = np.broadcast_to(w_aq, (heads, *w_aq.shape[-2:]))  # (H, d_q, A)
    w_ak = np.broadcast_to(w_ak, (heads, *w_ak.shape[-2:]))  # (H, d_k, A)
    from_q = np.einsum("bhtm,hma->bhta", q, w_aq)
    from_k = np.einsum("bhsm,hma->bhsa", k, w_ak)
    sums = from_q[:, :, :, None] + from_k[:, :, None]  # (B, H, T, 1, A) + (B, H, 1, S, A)
    return np.tanh(sums)  # (B, H, T, S, A)


def tanh_layer_formula(q, k, w_aq, w_ak):
    return rf"\tanh({q}\,{w_aq} \oplus {k}\,{w_ak})"


def tanh_layer_cell(index, q: Operand, k: Operand, w_aq: Operand, w_ak: Operand) -> Cell:
    b, h, t, s, a = index
    g = kv_head(h, q.shape[1], k.shape[1])
    d_q = q.shape[-1]
    d_k = k.shape[-1]
    head_q = head_index(w_aq, h, shared_axes=2)
    head_k = head_index(w_ak, h, shared_axes=2)
    terms = []
    for m in range(d_q):
        query = q[b, h, t, m]
        weight = w_aq[(*head_q, m, a)]
        terms.append((query, weight))
    for m in range(d_k):
        key = k[b, g, s, m]
        weight = w_ak[(*head_k, m, a)]
        terms.append((key, weight))
    return Cell(tuple(terms), function="tanh")


TANH_LAYER = Faces(tanh_layer, tanh_layer_numpy, tanh_layer_formula, tanh_layer_cell, sign="tanh", motion="meet")


def additive(hidden: Float[Tensor, "B H T S A"], v_a: Float[Tensor, "*H A"]) -> Float[Tensor, "B H T S"]:
    column = v_a.unsqueeze(-1)  # (A, 1)
    if v_a.dim() == 2:
        column = column.unsqueeze(1)  # (H, 1, A, 1): one column per head
    scores = hidden @ column  # (B, H, T, S, A) x (A, 1) -> (B, H, T, S, 1)
    return scores.squeeze(-1)  # (B, H, T, S)


def additive_numpy(hidden, v_a):
    heads = hidden.shape[1]
    v_a = np.broadcast_to(v_a, (heads, v_a.shape[-1]))  # (H, A)
    return np.einsum("bhtsa,ha->bhts", hidden, v_a)


def additive_formula(hidden, v_a):
    return rf"{hidden}\,{v_a}"


def additive_cell(index, hidden: Operand, v_a: Operand) -> Cell:
    b, h, t, s = index
    head = head_index(v_a, h, shared_axes=1)
    A = v_a.shape[-1]
    terms = []
    for a in range(A):
        number = hidden[b, h, t, s, a]
        weight = v_a[(*head, a)]
        terms.append((number, weight))
    return Cell(tuple(terms))


ADDITIVE = Faces(additive, additive_numpy, additive_formula, additive_cell, sign="· v", motion="match")


# ---- linear: the dot product of features that are never negative, elu(x) + 1 (Katharopoulos et al. 2020, eq. 7) ------
def feature_map(x: Float[Tensor, "B H T d"]) -> Float[Tensor, "B H T d"]:
    return torch.where(x > 0, x + 1, torch.exp(x.clamp(max=0)))  # elu(x) + 1; the clamp keeps exp from overflow


def feature_map_numpy(x):
    return np.maximum(x, 0.0) + np.exp(np.minimum(x, 0.0))


def feature_map_formula(x):
    return rf"\phi({x}), \quad \phi(x) = \begin{{cases}} x + 1 & x > 0 \\ e^{{x}} & \text{{else}} \end{{cases}}"


def feature_map_cell(index, x: Operand) -> Cell:
    return Cell(((x[index],),), function="elu_plus_one")


FEATURE_MAP = Faces(feature_map, feature_map_numpy, feature_map_formula, feature_map_cell, sign="φ", motion="features")


# ---- the table -------------------------------------------------------------------------------------------------------
SCORE_DIMS = ("B", "H", "T", "S")


@dataclass(frozen=True)
class StepProducts:
    """The multiply-adds of one step of a score: per (query, key) pair, per query, and per key."""

    per_pair: int = 0
    per_query: int = 0
    per_key: int = 0

    def total(self, T: int, S: int) -> int:
        """Return how many multiply-adds the step needs for T queries and S keys."""
        return T * S * self.per_pair + T * self.per_query + S * self.per_key


Products = dict[str, StepProducts]  # name of a step -> its multiply-adds


@dataclass(frozen=True)
class Score:
    """An entry of SCORES: the operations of a score from q and k to `scores`, and their cost.

    products: a function of sizes by letter (d_q, d_k, A) that returns the multiply-adds of each step. equal_widths:
    whether q and k must be equally wide. weights: the score's learned tensors. default_scale: a function of d_k that
    returns the factor; None if the scores are not scaled. is_positive: whether no score is below 0.

    Raises ValueError if its operations read anything but q, k, each other and its weights, or leave a weight unread.
    """

    operations: tuple[Operation, ...]
    products: Callable[[Sizes], Products]
    equal_widths: bool = True
    weights: tuple[LearnedTensor, ...] = ()
    default_scale: Callable[[int], float] | None = None
    is_positive: bool = False

    def __post_init__(self):
        check_wired(self.operations, ("q", "k"), self.weights)
        check_all_read(list(self.operations))

    def larger_than_pairs(self, sizes: Sizes) -> list[Shape]:
        """Return the shapes of those steps of the score function that have more axes than the scores (B, H, T, S)."""
        larger = [operation.dims for operation in self.operations if len(operation.dims) > len(SCORE_DIMS)]
        return [tuple(sizes[dim] for dim in dims) for dims in larger]


def dot_products(sizes: Sizes) -> Products:
    """Return the multiply-adds of a dot product, $d_k$ per pair; the norms in a cosine are not counted."""
    return {"scores": StepProducts(per_pair=sizes["d_k"])}


def general_products(sizes: Sizes) -> Products:
    """Return the multiply-adds of the general score: $d_q d_k$ per query for $q W_a$, then $d_k$ per pair."""
    w_a = sizes["d_q"] * sizes["d_k"]
    return {"scores": StepProducts(per_pair=sizes["d_k"], per_query=w_a)}


def additive_products(sizes: Sizes) -> Products:
    """Return the multiply-adds of the additive score.

    $A d_q$ per query for $q W_{aq}$, $A d_k$ per key for $k W_{ak}$, then A per pair; the A values of tanh per pair are
    not counted.
    """
    A = sizes["A"]
    return {
        "hidden": StepProducts(per_query=sizes["d_q"] * A, per_key=sizes["d_k"] * A),
        "scores": StepProducts(per_pair=A),
    }


def root_scale(d_k: int) -> float:
    """Return 1/√d_k, the scale at which q · k has variance 1 if all components are independent with variance 1.

    Source: Vaswani et al. 2017, section 3.2.1.
    """
    return d_k**-0.5


SCORES = {
    "scaled_dot": Score(
        operations=(Operation("scores", SCORE_DIMS, ("q", "k"), DOT),),
        products=dot_products,
        default_scale=root_scale,
    ),
    "dot": Score(
        operations=(Operation("scores", SCORE_DIMS, ("q", "k"), DOT),),
        products=dot_products,
    ),
    "cosine": Score(
        operations=(Operation("scores", SCORE_DIMS, ("q", "k"), COSINE),),
        products=dot_products,
    ),
    "general": Score(
        operations=(Operation("scores", SCORE_DIMS, ("q", "k", "w_a"), GENERAL),),
        products=general_products,
        equal_widths=False,
        weights=(LearnedTensor("w_a", ("d_q", "d_k"), "W_a", by_head=True, start=np.eye),),
    ),
    "additive": Score(
        operations=(
            Operation("hidden", (*SCORE_DIMS, "A"), ("q", "k", "w_aq", "w_ak"), TANH_LAYER),
            Operation("scores", SCORE_DIMS, ("hidden", "v_a"), ADDITIVE),
        ),
        products=additive_products,
        equal_widths=False,
        weights=(
            LearnedTensor("w_aq", ("d_q", "A"), "W_{aq}", by_head=True),
            LearnedTensor("w_ak", ("d_k", "A"), "W_{ak}", by_head=True),
            LearnedTensor("v_a", ("A",), "v_a", by_head=True),
        ),
    ),
    "linear": Score(
        operations=(
            Operation("q_features", ("B", "H", "T", "d_k"), ("q",), FEATURE_MAP),
            Operation("k_features", ("B", "H_kv", "S", "d_k"), ("k",), FEATURE_MAP),
            Operation("scores", SCORE_DIMS, ("q_features", "k_features"), DOT),
        ),
        products=dot_products,
        default_scale=root_scale,  # used only with a softmax; a normaliser that divides by the sum cancels any scale
        is_positive=True,
    ),
}
