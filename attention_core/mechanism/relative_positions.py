"""Defines relative positions: a learned bias or vector for each distance; all far distances share one.

A distance is the key's position minus the query's. `query_offset` is the position of query 0 among the keys. The
entries of these encodings are in POSITIONS (positions.py).
"""

import math

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.mechanism.learned_tensors import LearnedTensor
from attention_core.mechanism.parameters import Parameter
from attention_core.record.errors import AttentionError
from attention_core.record.expressions import Cell, Operand, product_cell
from attention_core.record.trace import Faces


def distances(scores: Float[Tensor, "B H T S"], query_offset: int) -> Tensor:
    """Returns the distance j - i of every pair of query i and key j, (T, S)."""
    T, S = scores.shape[-2:]
    query = torch.arange(T, device=scores.device) + query_offset  # (T,)
    key = torch.arange(S, device=scores.device)  # (S,)
    return key - query[:, None]  # (T, S)


def distance_symbol(query_offset: int) -> str:
    """Return the distance in LaTeX: "j - i", or with the offset, such as "j - i-2"."""
    return "j - i" if query_offset == 0 else f"j - i{-query_offset:+d}"


# ---- initial values on a page ----------------------------------------------------------------------------------------
LOSS = 0.5  # how much the first head's bias falls per step of distance; half as much for each further head


def fall_from_middle(rows: int, heads: int) -> np.ndarray:
    """Return initial biases, (rows, heads): 0 in the middle row, and the lower the farther from it.

    >>> fall_from_middle(3, 2).tolist()
    [[-0.5, -0.25], [0.0, 0.0], [-0.5, -0.25]]
    """
    steps = np.abs(np.arange(rows) - rows // 2)
    return np.multiply.outer(steps, -(LOSS ** np.arange(1, heads + 1))) + 0.0  # + 0.0 turns -0 into 0


def fall_by_bucket(rows: int, heads: int) -> np.ndarray:
    """Return initial biases, (rows, heads), which decrease by one step per bucket of distances, in both halves of the
    table.
    """
    steps = np.arange(rows) % (rows // 2)
    return np.multiply.outer(steps, -(LOSS ** np.arange(1, heads + 1))) + 0.0


def like_word_before(rows: int, width: int) -> np.ndarray:
    """Return an initial table of zeros with a single 1, in the row for distance -1 (the word before) and the first
    column.
    """
    table = np.zeros((rows, width))
    table[rows // 2 - 1, 0] = 1.0
    return table


# ---- clipped: a bias a head for each distance up to K, one for all beyond (after Shaw et al. 2018, eq. 4) ------------
def distance_bias(
    scores: Float[Tensor, "B H T S"], w_clipped: Float[Tensor, "rows H"], *, query_offset: int
) -> Float[Tensor, "H T S"]:
    farthest = len(w_clipped) // 2  # K; the table has 2 K + 1 rows
    row = distances(scores, query_offset).clamp(-farthest, farthest) + farthest  # (T, S): row indices from 0 to 2 K
    return w_clipped.T[:, row]  # (H, rows) -> (H, T, S)


def distance_bias_numpy(scores, w_clipped, *, query_offset):
    H = w_clipped.shape[1]
    T, S = scores.shape[-2:]
    table = np.zeros((H, T, S))
    for i in range(T):
        for j in range(S):
            table[:, i, j] = w_clipped[clipped_row(j - i - query_offset, len(w_clipped))]
    return table


def distance_bias_formula(scores, w_clipped, *, query_offset):
    return rf"{w_clipped}[\mathrm{{clip}}({distance_symbol(query_offset)}),\, h]"


def distance_bias_cell(index, scores: Operand, w_clipped: Operand, *, query_offset) -> Cell:
    h, i, j = index
    rows, _ = w_clipped.shape
    return product_cell(w_clipped[clipped_row(j - i - query_offset, rows), h])


def clipped_row(distance: int, rows: int) -> int:
    """Returns the row of a distance in a table with one row for each of -K, ..., K; farther distances have the first or
    last row.

    >>> [clipped_row(distance, 5) for distance in (-9, -1, 0, 2, 3)]
    [0, 1, 2, 4, 4]
    """
    farthest = rows // 2
    return min(max(distance, -farthest), farthest) + farthest


CLIPPED_BIAS = Faces(
    distance_bias, distance_bias_numpy, distance_bias_formula, distance_bias_cell, sign="+ b", motion="bias"
)
W_CLIPPED = LearnedTensor("w_clipped", ("R_c", "H"), "W_c", start=fall_from_middle, own_sizes={"R_c": 5})


# ---- T5: a bias a head for each bucket of distances; far ones share (Raffel et al. 2020, 2.1, published code) --------
DIRECTIONS = ("both", "past")  # both: half of the buckets for each direction; past: all buckets for earlier keys


def bucket_bias(
    scores: Float[Tensor, "B H T S"],
    w_buckets: Float[Tensor, "rows H"],
    *,
    direction: str,
    farthest: int,
    query_offset: int,
) -> Float[Tensor, "H T S"]:
    distance = distances(scores, query_offset)  # (T, S)
    rows = len(w_buckets)
    is_both = direction == "both"
    buckets = rows // 2 if is_both else rows  # number of buckets per direction
    first = (distance > 0) * (rows - buckets)  # (T, S): the first bucket of the pair's direction
    away = distance.abs() if is_both else (-distance).clamp(min=0)
    near = buckets // 2  # each smaller distance has its own bucket
    share = torch.log(away.clamp(min=1).double() / near) / math.log(farthest / near)
    far = (near + (share * (buckets - near)).long()).clamp(max=buckets - 1)
    row = first + torch.where(away < near, away, far)  # (T, S)
    return w_buckets.T[:, row]  # (H, rows) -> (H, T, S)


def bucket_bias_numpy(scores, w_buckets, *, direction, farthest, query_offset):
    H = w_buckets.shape[1]
    T, S = scores.shape[-2:]
    table = np.zeros((H, T, S))
    for i in range(T):
        for j in range(S):
            bucket = t5_bucket(j - i - query_offset, len(w_buckets), direction, farthest)
            table[:, i, j] = w_buckets[bucket]
    return table


def bucket_bias_formula(scores, w_buckets, *, direction, farthest, query_offset):
    return rf"{w_buckets}[\mathrm{{bucket}}({distance_symbol(query_offset)}),\, h]"


def bucket_bias_cell(index, scores: Operand, w_buckets: Operand, *, direction, farthest, query_offset) -> Cell:
    h, i, j = index
    buckets, _ = w_buckets.shape
    bucket = t5_bucket(j - i - query_offset, buckets, direction, farthest)
    return product_cell(w_buckets[bucket, h])


def t5_bucket(distance: int, buckets: int, direction: str, farthest: int) -> int:
    """Returns the index of the bucket that contains a distance.

    >>> [t5_bucket(distance, 8, "both", 16) for distance in (-20, -3, -1, 0, 1, 3, 20)]
    [3, 2, 1, 0, 5, 6, 7]
    """
    first, away = 0, max(-distance, 0)
    if direction == "both":
        buckets = buckets // 2
        first = buckets if distance > 0 else 0
        away = abs(distance)
    near = buckets // 2
    if away < near:
        return first + away
    share = math.log(away / near) / math.log(farthest / near)
    return first + min(near + int(share * (buckets - near)), buckets - 1)


def fit_t5(params: dict[str, object], sizes: dict[str, int]) -> dict[str, object]:
    """Return T5's parameters unchanged, if the table's rows allow them.

    Raises AttentionError: buckets, if near distances would have no bucket.
    """
    multiple = 4 if params["direction"] == "both" else 2
    farthest = params["farthest"]
    most = multiple * (farthest - 1)
    buckets = sizes["R_b"]
    if buckets % multiple or buckets > most:
        raise AttentionError("buckets", multiple=multiple, most=most, farthest=farthest, given=buckets)
    return params


T5_BIAS = Faces(bucket_bias, bucket_bias_numpy, bucket_bias_formula, bucket_bias_cell, sign="+ b", motion="bias")
W_BUCKETS = LearnedTensor("w_buckets", ("R_b", "H"), "W_b", start=fall_by_bucket, own_sizes={"R_b": 8})
DIRECTION = Parameter("direction", words=DIRECTIONS, usual="both", start="both")
FARTHEST = Parameter(
    "farthest", least=1, usual=128, start=16, swept=(4, 8, 16, 32, 64, 128)
)  # all larger distances share the last bucket


# ---- relative keys: a vector for each clipped distance, met beside the key (Shaw et al. 2018, eq. 4 and 5) -----------
# Equation 3 also adds vectors to the values; these are omitted, as in later work.
def relative_keys(
    scores: Float[Tensor, "B H T S"],
    q: Float[Tensor, "B H T d_k"],
    w_rk: Float[Tensor, "rows d_k"],
    *,
    query_offset: int,
) -> Float[Tensor, "B H T S"]:
    farthest = len(w_rk) // 2
    row = distances(scores, query_offset).clamp(-farthest, farthest) + farthest  # (T, S)
    by_distance = q @ w_rk.T  # (B, H, T, d_k) x (d_k, rows) -> (B, H, T, rows)
    chosen = row.expand(*by_distance.shape[:2], *row.shape)  # (B, H, T, S)
    return scores + by_distance.gather(-1, chosen)


def relative_keys_numpy(scores, q, w_rk, *, query_offset):
    T, S = scores.shape[-2:]
    vectors = np.zeros((T, S, q.shape[-1]))
    for i in range(T):
        for j in range(S):
            vectors[i, j] = w_rk[clipped_row(j - i - query_offset, len(w_rk))]
    return scores + np.einsum("bhtd,tsd->bhts", q, vectors)


def relative_keys_formula(scores, q, w_rk, *, query_offset):
    return rf"{scores} + {q}\,{w_rk}[\mathrm{{clip}}({distance_symbol(query_offset)})]^{{\top}}"


def relative_keys_cell(index, scores: Operand, q: Operand, w_rk: Operand, *, query_offset) -> Cell:
    b, h, i, j = index
    rows, width = w_rk.shape
    row = clipped_row(j - i - query_offset, rows)
    products = [(q[b, h, i, m], w_rk[row, m]) for m in range(width)]
    return Cell(((scores[index],), *products))


RELATIVE_KEYS = Faces(
    relative_keys, relative_keys_numpy, relative_keys_formula, relative_keys_cell, sign="+ q · a", motion="distances"
)
W_RK = LearnedTensor("w_rk", ("R_k", "d_q"), "W_{rk}", start=like_word_before, own_sizes={"R_k": 5})


# ---- a row for each distance from -K to K ----------------------------------------------------------------------------
def check_odd(rows: int) -> None:
    """Check that a table has a middle row. Raises AttentionError: rows_odd."""
    if rows % 2 == 0:
        raise AttentionError("rows_odd", given=rows)


def fit_clipped(params: dict[str, object], sizes: dict[str, int]) -> dict[str, object]:
    """Return the parameters unchanged. Raises AttentionError: rows_odd, if the table has no middle row."""
    check_odd(sizes["R_c"])
    return params


def fit_relative_keys(params: dict[str, object], sizes: dict[str, int]) -> dict[str, object]:
    """Return the parameters unchanged. Raises AttentionError: rows_odd, if the table has no middle row."""
    check_odd(sizes["R_k"])
    return params
