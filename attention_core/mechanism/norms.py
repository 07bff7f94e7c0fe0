"""Defines the norms: RMS norm divides a vector by its root mean square; LayerNorm subtracts the mean first.

Their entries in MODIFIERS (modifiers.py) apply them before a layer's projections, or after its last step. A LayerNorm
has two steps: centring, then the RMS norm of the centred vector, with a shift.
"""

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.mechanism.learned_tensors import LearnedTensor, ones, zeros
from attention_core.mechanism.parameters import Parameter
from attention_core.record.expressions import Cell, Constant, Operand, row_terms
from attention_core.record.number_text import power_of_ten_latex
from attention_core.record.trace import Faces


# ---- RMS norm: over the root mean square, times a gain (Zhang, Sennrich 2019, equation 4) ----------------------------
def rms_norm(x: Float[Tensor, "*axes d"], gain: Float[Tensor, " d"], *, eps: float) -> Float[Tensor, "*axes d"]:
    mean_square = x.square().mean(-1, keepdim=True)  # (..., 1)
    return x * torch.rsqrt(mean_square + eps) * gain


def rms_norm_numpy(x, gain, *, eps):
    d = x.shape[-1]
    squares = np.einsum("...d,...d->...", x, x)
    return gain * x / np.sqrt(squares / d + eps)[..., None]


def rms_norm_formula(x, gain, *, eps):
    return rf"\dfrac{{{x}}}{{{rms_formula(x, eps)}}} \odot {gain}"


def rms_formula(x: str, eps: float) -> str:
    """Return the root of the mean square plus eps, in LaTeX."""
    smallest = power_of_ten_latex(eps, figures=7)
    return rf"\sqrt{{\tfrac{{1}}{{d}} \lVert {x} \rVert^{{2}} + {smallest}}}"


def rms_norm_cell(index, x: Operand, gain: Operand, *, eps) -> Cell:
    *row, chosen = index
    root = root_terms(x, row, eps)
    return Cell(((x[index], gain[chosen]), *root), function="over_rms")


def root_terms(x: Operand, row: list[int], eps: float) -> list[tuple]:
    """Return the terms under the root of an RMS norm: eps, then the squares of a vector's components, to be averaged.

    row: the index of the vector in x.
    """
    numbers = [number for (number,) in row_terms(x, row, x.shape[-1])]
    squares = [(number, number) for number in numbers]
    return [(Constant(eps, f"{eps:g}"),), *squares]


RMS_NORM = Faces(rms_norm, rms_norm_numpy, rms_norm_formula, rms_norm_cell, sign="÷ rms", motion="norm")


# ---- RMS norm over all heads: over the root mean square of all heads of a token (Walsh et al. 2025, OLMo 2) ----------
def rms_norm_heads(x: Float[Tensor, "B H L d"], gain: Float[Tensor, " H*d"], *, eps: float) -> Float[Tensor, "B H L d"]:
    mean_square = x.square().mean((1, 3), keepdim=True)  # (B, 1, L, 1)
    gains = gain.unflatten(0, (x.shape[1], 1, -1))  # (H * d) -> (H, 1, d)
    return x * torch.rsqrt(mean_square + eps) * gains


def rms_norm_heads_numpy(x, gain, *, eps):
    H, d = x.shape[1], x.shape[3]
    squares = np.einsum("bhld,bhld->bl", x, x)
    gained = np.einsum("bhld,hd->bhld", x, gain.reshape(H, d))
    return gained / np.sqrt(squares / (H * d) + eps)[:, None, :, None]


def rms_norm_heads_formula(x, gain, *, eps):
    smallest = power_of_ten_latex(eps, figures=7)
    root = rf"\sqrt{{\tfrac{{1}}{{H d}} \sum_h \lVert {x}_h \rVert^{{2}} + {smallest}}}"
    return rf"\dfrac{{{x}}}{{{root}}} \odot {gain}"


def rms_norm_heads_cell(index, x: Operand, gain: Operand, *, eps) -> Cell:
    b, h, t, m = index
    _, heads, _, d = x.shape
    root = [(Constant(eps, f"{eps:g}"),)]
    for head in range(heads):
        root += root_terms(x, [b, head, t], eps)[1:]
    return Cell(((x[index], gain[h * d + m]), *root), function="over_rms")


RMS_NORM_HEADS = Faces(
    rms_norm_heads, rms_norm_heads_numpy, rms_norm_heads_formula, rms_norm_heads_cell, sign="÷ rms", motion="norm"
)


# ---- centre: each number less the mean of its vector (Ba, Kiros, Hinton 2016, equation 3) ----------------------------
def centre(x: Float[Tensor, "*axes d"]) -> Float[Tensor, "*axes d"]:
    return x - x.mean(-1, keepdim=True)


def centre_numpy(x):
    d = x.shape[-1]
    without_mean = np.eye(d) - 1 / d  # (d, d): x times this matrix is x minus its mean
    return np.einsum("...d,de->...e", x, without_mean)


def centre_formula(x):
    return rf"{x} - \overline{{{x}}}"


def centre_cell(index, x: Operand) -> Cell:
    *row, _ = index
    d = x.shape[-1]
    share = Constant(-1 / d, f"−1/{d}")
    of_mean = [(number, share) for (number,) in row_terms(x, row, d)]
    return Cell(((x[index],), *of_mean))


CENTRE = Faces(centre, centre_numpy, centre_formula, centre_cell, sign="− mean")


# ---- LayerNorm of a vector without its mean: over its standard deviation, times a gain, plus a shift (the same) ------
def layer_norm(
    centred: Float[Tensor, "*axes d"], gain: Float[Tensor, " d"], shift: Float[Tensor, " d"], *, eps: float
) -> Float[Tensor, "*axes d"]:
    variance = centred.square().mean(-1, keepdim=True)  # (..., 1)
    return centred * torch.rsqrt(variance + eps) * gain + shift


def layer_norm_numpy(centred, gain, shift, *, eps):
    return shift + rms_norm_numpy(centred, gain, eps=eps)


def layer_norm_formula(centred, gain, shift, *, eps):
    return f"{rms_norm_formula(centred, gain, eps=eps)} + {shift}"


def layer_norm_cell(index, centred: Operand, gain: Operand, shift: Operand, *, eps) -> Cell:
    *row, chosen = index
    root = root_terms(centred, row, eps)
    return Cell(((shift[chosen],), (centred[index], gain[chosen]), *root), function="over_rms_plus")


LAYER_NORM = Faces(layer_norm, layer_norm_numpy, layer_norm_formula, layer_norm_cell, sign="÷ σ", motion="norm")


# ---- parameters and learned tensors ----------------------------------------------------------------------------------
EPS = Parameter("eps", is_whole=False, is_positive=True, usual=1e-6, start=1e-6)
LAYER_EPS = Parameter("eps", is_whole=False, is_positive=True, usual=1e-5, start=1e-5)  # torch's default

LAYER_BEFORE = (
    LearnedTensor("g_layer_before", ("D",), r"\gamma", start=ones),
    LearnedTensor("b_layer_before", ("D",), r"\beta", start=zeros),
)
LAYER_AFTER = (
    LearnedTensor("g_layer_after", ("D_out",), r"\gamma'", start=ones, makes_weights=False),
    LearnedTensor("b_layer_after", ("D_out",), r"\beta'", start=zeros, makes_weights=False),
)
RMS_BEFORE = (LearnedTensor("g_rms_before", ("D",), "g", start=ones),)
RMS_ADDED = (LearnedTensor("g_rms_output", ("D_out",), "g''", start=ones, makes_weights=False),)
RMS_AFTER = (LearnedTensor("g_rms_after", ("D_out",), "g'", start=ones, makes_weights=False),)
