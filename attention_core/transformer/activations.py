"""Defines the activations of feed-forward layers: nonlinear functions that are applied to each number of the hidden
vectors.

A new activation needs one section of functions here and an entry in ACTIVATIONS.
"""

import math
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.record.expressions import Cell, Operand
from attention_core.record.trace import Faces


# ---- ReLU: what is below 0 becomes 0 (Vaswani et al. 2017, equation 2) -----------------------------------------------
def relu(hidden: Float[Tensor, "*axes"]) -> Float[Tensor, "*axes"]:
    return torch.relu(hidden)


def relu_numpy(hidden):
    return np.where(hidden > 0, hidden, 0.0)


def relu_formula(hidden):
    return rf"\max(0, {hidden})"


def relu_cell(index, hidden: Operand) -> Cell:
    return Cell(((hidden[index],),), function="relu")


RELU = Faces(relu, relu_numpy, relu_formula, relu_cell, sign="max 0", motion="bend")


# ---- GELU: x times the share of the normal distribution below x (Hendrycks, Gimpel 2016, section 2) ------------------
def gelu(hidden: Float[Tensor, "*axes"]) -> Float[Tensor, "*axes"]:
    below = (1 + torch.erf(hidden / math.sqrt(2))) / 2  # Φ(x)
    return hidden * below


def gelu_numpy(hidden):
    tail = np.vectorize(math.erfc, otypes=[float])(-hidden / math.sqrt(2))
    return hidden * tail / 2


def gelu_formula(hidden):
    return rf"{hidden} \odot \Phi({hidden})"


def gelu_cell(index, hidden: Operand) -> Cell:
    return Cell(((hidden[index],),), function="gelu")


GELU = Faces(gelu, gelu_numpy, gelu_formula, gelu_cell, sign="Φ", motion="bend")


# ---- SiLU: x times its sigmoid (Hendrycks, Gimpel 2016, section 2) ---------------------------------------------------
def silu(hidden: Float[Tensor, "*axes"]) -> Float[Tensor, "*axes"]:
    return hidden * torch.sigmoid(hidden)


def silu_numpy(hidden):
    return hidden * np.exp(-np.logaddexp(0.0, -hidden))


def silu_formula(hidden):
    return rf"{hidden} \odot \sigma({hidden})"


def silu_cell(index, hidden: Operand) -> Cell:
    return Cell(((hidden[index],),), function="silu")


SILU = Faces(silu, silu_numpy, silu_formula, silu_cell, sign="σ", motion="bend")


# ---- the table -------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Activation:
    """An activation function.

    is_gated: whether the function is applied to a second projection of x, which then multiplies the hidden vectors
    (Shazeer 2020).
    """

    faces: Faces
    is_gated: bool = False


ACTIVATIONS = {
    "relu": Activation(RELU),
    "gelu": Activation(GELU),
    "swiglu": Activation(SILU, is_gated=True),
}
