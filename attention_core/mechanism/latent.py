"""Computes multi-head latent attention: k and v are projected from one short latent vector per token.

Positions are encoded in additional components of q and k, which alone are rotated (decoupled RoPE). The latent vector
is an entry of MODIFIERS (modifiers.py), decoupled RoPE one of POSITIONS (positions.py). Source: DeepSeek-AI 2024
(DeepSeek-V2), section 2.1. The latent vector of the queries, which saves memory only in training, is omitted, as in
DeepSeek-V2-Lite.
"""

import numpy as np
from jaxtyping import Float
from torch import Tensor

from attention_core.mechanism.learned_tensors import LearnedTensor, first_columns, ones, unit_columns
from attention_core.mechanism.plain_checks import check_rotation
from attention_core.record.expressions import Cell, Operand
from attention_core.record.trace import Faces

# ---- learned tensors -------------------------------------------------------------------------------------------------
W_DKV = LearnedTensor("w_dkv", ("D_kv", "d_c"), r"W_{DKV}", start=first_columns, own_sizes={"d_c": 3})
G_LATENT = LearnedTensor("g_latent", ("d_c",), "g_c", start=ones, own_sizes={"d_c": 3})
# The initial numbers of each matrix are equal, so that RoPE makes the nearer of two equal words score higher.
W_KR = LearnedTensor("w_kr", ("D_kv", "d_r"), "W_{KR}", start=unit_columns, own_sizes={"d_r": 2})
W_QR = LearnedTensor("w_qr", ("D", "H·d_r"), "W_{QR}", start=unit_columns, own_sizes={"d_r": 2})


# ---- decoupled: scores get the product of the numbers that were turned; all heads share those of a key (eq. 16, 17) --
def add_turned(
    scores: Float[Tensor, "B H T S"], q_r: Float[Tensor, "B H T d_r"], k_r: Float[Tensor, "B S d_r"]
) -> Float[Tensor, "B H T S"]:
    turned = q_r @ k_r.unsqueeze(1).mT  # (B, H, T, d_r) x (B, 1, d_r, S) -> (B, H, T, S)
    return scores + turned


def add_turned_numpy(scores, q_r, k_r):
    return scores + np.einsum("bhtr,bsr->bhts", q_r, k_r)


def add_turned_formula(scores, q_r, k_r):
    return rf"{scores} + {q_r}\,{k_r}^{{\top}}"


def add_turned_cell(index, scores: Operand, q_r: Operand, k_r: Operand) -> Cell:
    b, h, t, s = index
    terms = [(scores[index],)]
    for m in range(q_r.shape[-1]):
        terms.append((q_r[b, h, t, m], k_r[b, s, m]))
    return Cell(tuple(terms))


DECOUPLED = Faces(add_turned, add_turned_numpy, add_turned_formula, add_turned_cell, sign="+ q·k", motion="match")


def fit_decoupled(params: dict[str, object], sizes: dict[str, int]) -> dict[str, object]:
    """Returns the parameters unchanged, after checks. Raises AttentionError: see check_rotation."""
    check_rotation(params, sizes["d_r"])
    return params
