"""Computes differential attention: two weight maps from the halves of q and k; the second is subtracted from the first
(Ye et al. 2024).

It is an entry of MODIFIERS (modifiers.py). A run has the steps from q and k to the weights twice, once per map.
"""

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.mechanism.learned_tensors import LearnedTensor, ones, zeros
from attention_core.mechanism.parameters import Parameter
from attention_core.mechanism.scores import head_index
from attention_core.record.expressions import Cell, Constant, Operand, product_cell
from attention_core.record.number_text import format_short, format_term
from attention_core.record.trace import Faces


# ---- half: the first or the second half of q's or k's columns (section 2.1, the split of Q and K) --------------------
def take_half(x: Float[Tensor, "B H T width"], *, half: int) -> Float[Tensor, "B H T d"]:
    d = x.shape[-1] // 2
    return x[..., half * d : (half + 1) * d]  # (B, H, T, 2 d) -> (B, H, T, d)


def take_half_numpy(x, *, half):
    *axes, width = x.shape
    halves = x.reshape(*axes, 2, width // 2)
    return halves[..., half, :]


def take_half_formula(x, *, half):
    return rf"\mathrm{{half}}_{{{half + 1}}}({x})"


def take_half_cell(index, x: Operand, *, half) -> Cell:
    *row, m = index
    d = x.shape[-1] // 2
    return product_cell(x[(*row, half * d + m)])


HALF = Faces(take_half, take_half_numpy, take_half_formula, take_half_cell, sign="½")


# ---- lambda: how much of the second map is subtracted (eq. 2) --------------------------------------------------------
def exp_of_dot(one: Float[Tensor, "*H d"], other: Float[Tensor, "*H d"], *, heads: int) -> Float[Tensor, " H"]:
    return (one * other).sum(-1).exp().expand(heads)  # () or (H,) -> (H,)


def exp_of_dot_numpy(one, other, *, heads):
    one, other = (np.broadcast_to(vector, (heads, vector.shape[-1])) for vector in (one, other))
    return np.exp(np.einsum("hd,hd->h", one, other))


def exp_of_dot_formula(one, other, *, heads):
    return rf"\exp({one} \cdot {other})"


def exp_of_dot_cell(index, one: Operand, other: Operand, *, heads) -> Cell:
    (h,) = index
    terms = []
    for m in range(one.shape[-1]):
        left = one[(*head_index(one, h, shared_axes=1), m)]
        right = other[(*head_index(other, h, shared_axes=1), m)]
        terms.append((left, right))
    return Cell(tuple(terms), function="exp")


EXP_OF_DOT = Faces(exp_of_dot, exp_of_dot_numpy, exp_of_dot_formula, exp_of_dot_cell, sign="exp", motion="match")


def balance(first: Float[Tensor, " H"], second: Float[Tensor, " H"], *, lam_init: float) -> Float[Tensor, " H"]:
    return first - second + lam_init


def balance_numpy(first, second, *, lam_init):
    return np.subtract(first, second) + lam_init


def balance_formula(first, second, *, lam_init):
    return f"{first} - {second} + {format_short(lam_init)}"


def balance_cell(index, first: Operand, second: Operand, *, lam_init) -> Cell:
    start = Constant(lam_init, format_term(lam_init))
    return Cell(((first[index],), (MINUS_ONE, second[index]), (start,)))


MINUS_ONE = Constant(-1.0, "−1")
BALANCE = Faces(balance, balance_numpy, balance_formula, balance_cell, sign="λ", motion="add")


# ---- the difference of the two maps (eq. 1) --------------------------------------------------------------------------
def subtract_map(
    first: Float[Tensor, "B H T S"], second: Float[Tensor, "B H T S"], lam: Float[Tensor, " H"]
) -> Float[Tensor, "B H T S"]:
    return first - lam[:, None, None] * second  # (H,) -> (H, 1, 1)


def subtract_map_numpy(first, second, lam):
    return first - np.einsum("h,bhts->bhts", lam, second)


def subtract_map_formula(first, second, lam):
    return rf"{first} - {lam}\,{second}"


def subtract_map_cell(index, first: Operand, second: Operand, lam: Operand) -> Cell:
    _, h, _, _ = index
    return Cell(((first[index],), (MINUS_ONE, lam[h], second[index])))


SUBTRACT_MAP = Faces(
    subtract_map, subtract_map_numpy, subtract_map_formula, subtract_map_cell, sign="− λ", motion="subtract"
)


def subtract_outputs(first: Tensor, second: Tensor, lam: Float[Tensor, " H"]) -> Float[Tensor, "B H T d_v"]:
    """Returns the difference of the heads' outputs from the two weight maps, the second times lambda.

    It equals the output of the difference of the maps, because the output is linear in the weights.
    """
    return first - torch.einsum("h,bhtd->bhtd", lam, second)


# ---- the heads' outputs, normed, times what the subtraction leaves of a row's sum (eq. 3) ----------------------------
def shrink(x: Float[Tensor, "B H T d_v"], *, lam_init: float) -> Float[Tensor, "B H T d_v"]:
    return x * (1 - lam_init)


def shrink_numpy(x, *, lam_init):
    return np.multiply(x, 1 - lam_init)


def shrink_formula(x, *, lam_init):
    return rf"{x} \cdot (1 - {format_short(lam_init)})"


def shrink_cell(index, x: Operand, *, lam_init) -> Cell:
    return product_cell(x[index], Constant(1 - lam_init, f"(1 − {format_short(lam_init)})"))


SHRINK = Faces(shrink, shrink_numpy, shrink_formula, shrink_cell, sign="× (1−λ)", motion="scale")


# ---- parameters and learned tensors ----------------------------------------------------------------------------------
LAM_INIT = Parameter(
    "lam_init", is_whole=False, usual=0.8, start=0.8, swept=(0.0, 0.2, 0.4, 0.6, 0.8)
)  # initial lambda of the paper, which tends to 0.8 in deep layers
LAM_VECTORS = tuple(
    LearnedTensor(f"lam_{role}{half}", ("d_lam",), rf"\lambda_{{{role}_{half}}}", by_head=True, start=zeros)
    for half in (1, 2)
    for role in "qk"
)
G_HEADS = LearnedTensor("g_heads", ("d_v",), "g_Z", start=ones, makes_weights=False)
