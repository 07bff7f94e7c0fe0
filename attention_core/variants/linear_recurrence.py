"""Computes linear attention as a recurrence: a state matrix sums over the tokens so far, and each query multiplies it.

The scores are products of features, so the sum over the keys can be computed before the query: the features of each key
times its value are added to a state of d_k x d_v numbers, whose size does not grow with the number of tokens
(Katharopoulos et al. 2020, equations 16 to 20). Causal attention with the score "linear" and the normaliser "share"
gives the same numbers with a matrix of weights.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.comparison.distances import abs_difference
from attention_core.mechanism.arguments import check_qkv
from attention_core.mechanism.config import AttentionConfig, Weights
from attention_core.mechanism.normalisers import NORMALISERS, normaliser_of
from attention_core.mechanism.operations import kv_head
from attention_core.mechanism.plain_checks import require_positive
from attention_core.mechanism.scores import feature_map
from attention_core.record.errors import AttentionError
from attention_core.record.expressions import Cell, Operand
from attention_core.record.trace import Faces, Operation, Trace


# ---- remember: the features of one more key times its value (Katharopoulos et al. 2020, eq. 18) ----------------------
def remember(
    k: Float[Tensor, "B H_kv S d_k"], v: Float[Tensor, "B H_kv S d_v"], before: Tensor | None = None, *, t: int
) -> Float[Tensor, "B H_kv d_k d_v"]:
    column = k[:, :, t].unsqueeze(-1)  # (B, H_kv, d_k, 1)
    row = v[:, :, t].unsqueeze(-2)  # (B, H_kv, 1, d_v)
    added = column * row  # (B, H_kv, d_k, d_v)
    return added if before is None else before + added


def remember_numpy(k, v, before=None, *, t):
    added = np.einsum("bgm,bgn->bgmn", k[:, :, t], v[:, :, t])
    return added if before is None else np.add(before, added)


def remember_formula(k, v, before=None, *, t):
    added = rf"{k}_{{{t + 1}}}^{{\top}}\,{v}_{{{t + 1}}}"
    return added if before is None else f"{before} + {added}"


def remember_cell(index, k: Operand, v: Operand, before: Operand | None = None, *, t) -> Cell:
    b, g, m, n = index
    added = (k[b, g, t, m], v[b, g, t, n])
    return Cell((added,) if before is None else ((before[index],), added))


REMEMBER = Faces(remember, remember_numpy, remember_formula, remember_cell, sign="+ kv")


# ---- count: the features of one more key (eq. 19) --------------------------------------------------------------------
def add_features(
    k: Float[Tensor, "B H_kv S d_k"], before: Tensor | None = None, *, t: int
) -> Float[Tensor, "B H_kv d_k"]:
    return k[:, :, t] if before is None else before + k[:, :, t]


def add_features_numpy(k, before=None, *, t):
    return k[:, :, t] if before is None else np.add(before, k[:, :, t])


def add_features_formula(k, before=None, *, t):
    added = rf"{k}_{{{t + 1}}}"
    return added if before is None else f"{before} + {added}"


def add_features_cell(index, k: Operand, before: Operand | None = None, *, t) -> Cell:
    b, g, m = index
    added = (k[b, g, t, m],)
    return Cell((added,) if before is None else ((before[index],), added))


ADD_FEATURES = Faces(add_features, add_features_numpy, add_features_formula, add_features_cell, sign="+ k")


# ---- read: what a query's features read of a state -------------------------------------------------------------------
def read_state(
    q: Float[Tensor, "B H T d_k"], state: Float[Tensor, "B H_kv d_k *d_v"], *, t: int
) -> Float[Tensor, "B H *d_v"]:
    shared = state.repeat_interleave(q.shape[1] // state.shape[1], dim=1)  # (B, H_kv, ...) -> (B, H, ...)
    return torch.einsum("bhm,bhm...->bh...", q[:, :, t], shared)


def read_state_numpy(q, state, *, t):
    shared = np.repeat(state, q.shape[1] // state.shape[1], axis=1)
    return np.einsum("bhm,bhm...->bh...", q[:, :, t], shared)


def read_state_formula(q, state, *, t):
    return rf"{q}_{{{t + 1}}}\,{state}"


def read_state_cell(index, q: Operand, state: Operand, *, t) -> Cell:
    b, h, *column = index
    g = kv_head(h, q.shape[1], state.shape[1])
    terms = []
    for m in range(q.shape[-1]):
        terms.append((q[b, h, t, m], state[(b, g, m, *column)]))
    return Cell(tuple(terms))


READ_STATE = Faces(read_state, read_state_numpy, read_state_formula, read_state_cell, sign="q ·")


# ---- divide: what was read over the sum of its weights (eq. 20) ------------------------------------------------------
def divide_by_sum(read: Float[Tensor, "B H d_v"], whole: Float[Tensor, "B H"]) -> Float[Tensor, "B H d_v"]:
    return read / whole.unsqueeze(-1)  # (B, H, 1)


def divide_by_sum_numpy(read, whole):
    return np.divide(read, whole[..., None])


def divide_by_sum_formula(read, whole):
    return rf"{read} \,/\, {whole}"


def divide_by_sum_cell(index, read: Operand, whole: Operand) -> Cell:
    b, h, _ = index
    return Cell(((read[index],), (whole[b, h],)), function="quotient")


DIVIDE_BY_SUM = Faces(divide_by_sum, divide_by_sum_numpy, divide_by_sum_formula, divide_by_sum_cell, sign="÷")


# ---- the states of a run ---------------------------------------------------------------------------------------------
def with_linear_states(trace: Trace, seen: int) -> Trace:
    r"""Add the states of linear attention after each of the first `seen` tokens to a run, and the last token's output.

    For token t, counted from 1, the steps are `memory_t` and `total_t`; for the last token also `read_t`, `whole_t` and
    `linear_output_t`, which is row t of the run's head_outputs.

    trace: a causal run of self-attention with the score "linear" and the normaliser "share". seen: 1 or more tokens.
    Raises AttentionError (a ValueError) for another run or number.

    >>> from attention_core.mechanism.attention import attend_qkv
    >>> config = AttentionConfig("linear", normaliser="share", masks=["causal"])
    >>> run = attend_qkv(torch.zeros(2, 1), torch.zeros(2, 1), torch.tensor([[1.0], [3.0]]), config=config)
    >>> with_linear_states(run, 2)["linear_output_2"].item(), run["head_outputs"][0, 0, 1].item()
    (2.0, 2.0)
    """
    if "k_features" not in trace or normaliser_of(trace) != NORMALISERS["share"]:
        raise AttentionError("needs_linear")
    tokens = trace["k_features"].shape[2]
    if require_positive("seen", seen) > tokens:
        raise AttentionError("seen_tokens", limit=tokens, given=seen)
    plan = []
    for t in range(seen):
        before = (f"memory_{t}",) if t else ()
        total_before = (f"total_{t}",) if t else ()
        params = {"t": t}
        memory = ("k_features", "v", *before)
        plan.append(Operation(f"memory_{t + 1}", ("B", "H_kv", "d_k", "d_v"), memory, REMEMBER, params))
        total = ("k_features", *total_before)
        plan.append(Operation(f"total_{t + 1}", ("B", "H_kv", "d_k"), total, ADD_FEATURES, params))
    return trace.then(*plan, *plan_reading(seen))


def plan_reading(seen: int) -> list[Operation]:
    """Return the operations that compute the last token's output from its query and from the state after all tokens.

    seen: the number of tokens.
    """
    params = {"t": seen - 1}
    read, whole = f"read_{seen}", f"whole_{seen}"
    return [
        Operation(read, ("B", "H", "d_v"), ("q_features", f"memory_{seen}"), READ_STATE, params),
        Operation(whole, ("B", "H"), ("q_features", f"total_{seen}"), READ_STATE, params),
        Operation(f"linear_output_{seen}", ("B", "H", "d_v"), (read, whole), DIVIDE_BY_SUM),
    ]


def gap_to_map(longer: Trace, seen: int) -> float:
    """Return the largest difference between the output computed from a state and the same row of the run's
    head_outputs.

    longer: a result of with_linear_states for `seen` tokens.
    """
    by_map = longer["head_outputs"][:, :, seen - 1]  # (B, H, d_v)
    return abs_difference(longer[f"linear_output_{seen}"], by_map).max().item()


def count_state_numbers(d_k: int, d_v: int) -> int:
    """Count the numbers in a head's state: $d_k d_v$ for the sum of features times values, $d_k$ for the features' sum.

    The count does not depend on the number of tokens.

    >>> count_state_numbers(64, 64)
    4160
    """
    return d_k * d_v + d_k


# ---- without a run ---------------------------------------------------------------------------------------------------
@dataclass(frozen=True, eq=False)
class LinearState:
    """The state after some tokens, and the output of the last token.

    memory: the sum of the tokens' features times values. total: the sum of the tokens' features.
    """

    memory: Float[Tensor, "B H_kv d_k d_v"]
    total: Float[Tensor, "B H_kv d_k"]
    output: Float[Tensor, "B H d_v"]


def attend_linear(q: Float[Tensor, "..."], k: Float[Tensor, "..."], v: Float[Tensor, "..."]) -> Iterator[LinearState]:
    r"""Compute linear attention token by token, and yield the state after each token.

    $M_t = M_{t-1} + \phi(k_t)^\top v_t$, $z_t = z_{t-1} + \phi(k_t)$, $o_t = \phi(q_t) M_t \,/\, (\phi(q_t) \cdot
    z_t)$, with $\phi(x) = \mathrm{elu}(x) + 1$.

    q: (T, d_k) or (B, H, T, d_k). k, v: of the same number of axes and tokens. Raises AttentionError (a ValueError) for
    inputs that attend_qkv refuses, and if the counts of queries and keys differ.

    Source: Katharopoulos et al. 2020, equations 18 to 20.

    >>> one = torch.zeros(2, 1)
    >>> [state.output.item() for state in attend_linear(one, one, torch.tensor([[1.0], [3.0]]))]
    [1.0, 2.0]
    """
    arguments = check_qkv(q, k, v, Weights(), AttentionConfig(score="linear"))
    q, k, v = (arguments.inputs[name] for name in "qkv")
    T, S = q.shape[2], k.shape[2]
    if T != S:
        raise AttentionError("queries_keys", queries=T, keys=S)
    return iterate_states(feature_map(q), feature_map(k), v)


def iterate_states(
    q: Float[Tensor, "B H T d_k"], k: Float[Tensor, "B H_kv T d_k"], v: Float[Tensor, "B H_kv T d_v"]
) -> Iterator[LinearState]:
    """Yield the states of `attend_linear`, from the features of queries and keys."""
    memory = total = None
    for t in range(q.shape[2]):
        memory = remember(k, v, memory, t=t)
        total = add_features(k, total, t=t)
        read = read_state(q, memory, t=t)
        whole = read_state(q, total, t=t)
        yield LinearState(memory, total, divide_by_sum(read, whole))
