"""Defines the activation functions of feed-forward layers, applied to each number of the hidden vectors; table
ACTIVATIONS.

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


# ---- GELU by tanh: an approximation of that share (Hendrycks, Gimpel 2016, section 2) --------------------------------
def gelu_tanh(hidden: Float[Tensor, "*axes"]) -> Float[Tensor, "*axes"]:
    inside = math.sqrt(2 / math.pi) * (hidden + 0.044715 * hidden.pow(3))
    return hidden * (1 + torch.tanh(inside)) / 2


def gelu_tanh_numpy(hidden):
    inside = np.sqrt(2 / np.pi) * hidden * (1 + 0.044715 * hidden * hidden)
    return hidden * np.exp(-np.logaddexp(0.0, -2 * inside))


def gelu_tanh_formula(hidden):
    inside = rf"{hidden} + 0.044715\,{hidden}^{{\circ 3}}"
    return rf"{hidden} \odot \tfrac{{1}}{{2}}\Big(1 + \tanh\big(\sqrt{{2/\pi}}\,({inside})\big)\Big)"


def gelu_tanh_cell(index, hidden: Operand) -> Cell:
    return Cell(((hidden[index],),), function="gelu_tanh")


GELU_TANH = Faces(gelu_tanh, gelu_tanh_numpy, gelu_tanh_formula, gelu_tanh_cell, sign="≈ Φ", motion="bend")


# ---- ReLU squared: what is below 0 becomes 0, the rest its square (So et al. 2021, section 4) ------------------------
def relu_squared(hidden: Float[Tensor, "*axes"]) -> Float[Tensor, "*axes"]:
    return torch.relu(hidden).square()


def relu_squared_numpy(hidden):
    return np.where(hidden > 0, hidden * hidden, 0.0)


def relu_squared_formula(hidden):
    return rf"\max(0, {hidden})^{{\circ 2}}"


def relu_squared_cell(index, hidden: Operand) -> Cell:
    return Cell(((hidden[index],),), function="relu_squared")


RELU_SQUARED = Faces(
    relu_squared, relu_squared_numpy, relu_squared_formula, relu_squared_cell, sign="max² 0", motion="bend"
)


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
    "gelu_tanh": Activation(GELU_TANH),
    "relu_squared": Activation(RELU_SQUARED),
    "swiglu": Activation(SILU, is_gated=True),
    "geglu": Activation(GELU, is_gated=True),
    "geglu_tanh": Activation(GELU_TANH, is_gated=True),
}
