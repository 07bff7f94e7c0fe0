"""Linear attention as a recurrence: what was seen is kept in one matrix, and no query meets a key.

The scores are products of features, so the sum over the keys can be made before the query comes: the features of each
key times its value are added to a state of d_k x d_v numbers. It is as large after a million tokens as after one
(Katharopoulos et al. 2020, equations 16 to 20). Causal attention with the score "linear" and the normaliser "share"
gives the same numbers as a matrix.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.mechanism.arguments import check_qkv
from attention_core.mechanism.config import AttentionConfig, Weights
from attention_core.mechanism.operations import share_heads
from attention_core.mechanism.scores import feature_map
from attention_core.record.errors import AttentionError


@dataclass(frozen=True, eq=False)
class LinearState:
    """What is kept of the first tokens, and what the last of them reads from it.

    memory: the sum over them of features times value. total: the sum of their features.
    """

    memory: Float[Tensor, "B H d_k d_v"]
    total: Float[Tensor, "B H d_k"]
    output: Float[Tensor, "B H d_v"]


def attend_linear(q: Float[Tensor, "..."], k: Float[Tensor, "..."], v: Float[Tensor, "..."]) -> Iterator[LinearState]:
    r"""Read one token after the other, each query what was added up by then.

    $M_t = M_{t-1} + \phi(k_t)^\top v_t$, $z_t = z_{t-1} + \phi(k_t)$,
    $o_t = \phi(q_t) M_t \,/\, (\phi(q_t) \cdot z_t)$, with $\phi(x) = \mathrm{elu}(x) + 1$.

    q (T, d_k) or (B, H, T, d_k), k and v likewise, with as many tokens. Raises AttentionError (a ValueError) as
    attend_qkv does, and where there are more queries than keys, or fewer.

    Source: Katharopoulos et al. 2020, equations 18 to 20.

    >>> one = torch.zeros(2, 1)
    >>> [state.output.item() for state in attend_linear(one, one, torch.tensor([[1.0], [3.0]]))]
    [1.0, 2.0]
    """
    arguments = check_qkv(q, k, v, Weights(), AttentionConfig(score="linear"))
    q, k, v = (arguments.inputs[name] for name in "qkv")
    _, heads, T, _ = q.shape
    S = k.shape[2]
    if T != S:
        raise AttentionError("queries_keys", queries=T, keys=S)
    return iterate_states(feature_map(q), feature_map(share_heads(k, heads)), share_heads(v, heads))


def iterate_states(
    q: Float[Tensor, "B H T d_k"], k: Float[Tensor, "B H T d_k"], v: Float[Tensor, "B H T d_v"]
) -> Iterator[LinearState]:
    """The states of `attend_linear`, from features."""
    B, H, T, d_k = q.shape
    memory = q.new_zeros(B, H, d_k, v.shape[-1])
    total = q.new_zeros(B, H, d_k)
    for t in range(T):
        memory = memory + k[:, :, t, :, None] * v[:, :, t, None, :]  # (B, H, d_k, 1) x (B, H, 1, d_v)
        total = total + k[:, :, t]
        read = torch.einsum("bhd,bhdv->bhv", q[:, :, t], memory)
        whole = torch.einsum("bhd,bhd->bh", q[:, :, t], total)
        yield LinearState(memory, total, read / whole[..., None])
