"""What else a layer may do on the way from q and k to the output: one operation each, at its place in the plan.

A new modifier is one block here and its line in MODIFIERS, which says where it stands and declares its parameters and
what it learns.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import chain

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.mechanism.learned_tensors import LearnedTensor, ones
from attention_core.mechanism.parameters import Parameter, check_declared, check_operand_count, names_of
from attention_core.mechanism.plain_checks import require_one_of
from attention_core.record.expressions import Cell, Constant, Operand
from attention_core.record.number_text import format_short
from attention_core.record.trace import Faces


# ---- softcap: no score goes beyond the cap (Gemma Team 2024, section 2 of Gemma 2, after Bello et al. 2016) ----------
def softcap(scores: Float[Tensor, "B H T S"], *, cap: float) -> Float[Tensor, "B H T S"]:
    return cap * torch.tanh(scores / cap)


def softcap_numpy(scores, *, cap):
    doubled = 2 * np.abs(scores) / cap
    size = -np.expm1(-doubled) / (1 + np.exp(-doubled))  # tanh by powers of e that are at most 1
    return np.copysign(size, scores) * cap


def softcap_formula(scores, *, cap):
    number = format_short(cap)
    return rf"{number}\,\tanh({scores} \,/\, {number})"


def softcap_cell(index, scores: Operand, *, cap) -> Cell:
    inverse = Constant(1 / cap, f"1/{format_short(cap)}")
    inside = (scores[index], inverse)
    return Cell((inside,), function="tanh", times=Constant(cap, format_short(cap)))


SOFTCAP = Faces(softcap, softcap_numpy, softcap_formula, softcap_cell, sign="tanh", motion="cap")


# ---- QK-norm: q and k over their root mean square, times a gain (Henry et al. 2020; Zhang, Sennrich 2019, eq. 4) -----
def rms_norm(x: Float[Tensor, "B H T d"], gain: Float[Tensor, " d"], *, eps: float) -> Float[Tensor, "B H T d"]:
    mean_square = x.square().mean(-1, keepdim=True)  # (B, H, T, 1)
    return x * torch.rsqrt(mean_square + eps) * gain


def rms_norm_numpy(x, gain, *, eps):
    d = x.shape[-1]
    squares = np.einsum("bhtd,bhtd->bht", x, x)
    return gain * x / np.sqrt(squares / d + eps)[..., None]


def rms_norm_formula(x, gain, *, eps):
    return rf"\dfrac{{{x}}}{{\sqrt{{\tfrac{{1}}{{d}} \lVert {x} \rVert^{{2}} + {power_of_ten(eps)}}}}} \odot {gain}"


def power_of_ten(number: float) -> str:
    """ "10^{-6}", "2.5 \\cdot 10^{-5}": a small number in LaTeX."""
    digits, exponent = f"{number:e}".split("e")
    digits = digits.rstrip("0").rstrip(".")
    factor = "" if digits == "1" else rf"{digits} \cdot "
    return rf"{factor}10^{{{int(exponent)}}}"


def rms_norm_cell(index, x: Operand, gain: Operand, *, eps) -> Cell:
    *row, chosen = index
    d = x.shape[-1]
    squares = [(x[(*row, m)], x[(*row, m)]) for m in range(d)]
    return Cell(((x[index], gain[chosen]), (Constant(eps, f"{eps:g}"),), *squares), function="over_rms")


RMS_NORM = Faces(rms_norm, rms_norm_numpy, rms_norm_formula, rms_norm_cell, sign="÷ rms", motion="norm")


# ---- the table -------------------------------------------------------------------------------------------------------
# q and k in every head, before positions turn them; the scaled scores, before positions and masks.
MODIFIER_PLACES = {"heads": ("q", "k"), "scores": ("scores",)}  # what stands at each place


@dataclass(frozen=True)
class Modifier:
    """A modifier by name.

    faces: they read what stands at the place, and what is learned for it. place: one of MODIFIER_PLACES. output: the
    name of its step; in the heads "q_" or "k_" stands before it. learned: for each of what stands at the place.

    Raises AttentionError (a ValueError) for a place that there is not, and ValueError where the parameters or the
    tensors are not those that its torch function takes.
    """

    faces: Faces
    place: str
    output: str
    parameters: tuple[Parameter, ...] = ()
    learned: Mapping[str, tuple[LearnedTensor, ...]] = field(default_factory=dict)

    def __post_init__(self):
        require_one_of("place", self.place, tuple(MODIFIER_PLACES))
        check_declared(self.faces.torch, names_of(self.parameters))
        for thing in MODIFIER_PLACES[self.place]:
            check_operand_count(self.faces.torch, len(self.learned_for(thing)))

    @property
    def weights(self) -> tuple[LearnedTensor, ...]:
        """All that it learns."""
        return tuple(chain.from_iterable(self.learned.values()))

    def learned_for(self, thing: str) -> tuple[LearnedTensor, ...]:
        """What it learns for q, k, or what else stands at its place."""
        return self.learned.get(thing, ())


CAP = Parameter("cap", is_whole=False, is_positive=True, usual=50.0, start=50.0)  # of Gemma 2

EPS = Parameter("eps", is_whole=False, is_positive=True, usual=1e-6, start=1e-6)
GAINS = {
    "q": (LearnedTensor("g_q", ("d_q",), "g_q", start=ones),),
    "k": (LearnedTensor("g_k", ("d_k",), "g_k", start=ones),),
}

MODIFIERS = {
    "qk_norm": Modifier(RMS_NORM, "heads", "normed", (EPS,), GAINS),
    "softcap": Modifier(SOFTCAP, "scores", "capped_scores", (CAP,)),
}
