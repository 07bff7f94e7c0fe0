"""What else a layer may do on the way from q and k to the output: one operation each, at its place in the plan.

A new modifier is one block here and its line in MODIFIERS, which says where it stands and declares its parameters.
"""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.mechanism.parameters import Parameter, check_declared, names_of
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


# ---- the table -------------------------------------------------------------------------------------------------------
MODIFIER_PLACES = ("scores",)  # the scaled scores, before positions and masks


@dataclass(frozen=True)
class Modifier:
    """A modifier by name.

    faces: they read what stands at the place. place: one of MODIFIER_PLACES. output: the name of its step.

    Raises AttentionError (a ValueError) for a place that there is not, and ValueError where the parameters are not
    those that its torch function takes by keyword.
    """

    faces: Faces
    place: str
    output: str
    parameters: tuple[Parameter, ...] = ()

    def __post_init__(self):
        require_one_of("place", self.place, MODIFIER_PLACES)
        check_declared(self.faces.torch, names_of(self.parameters))


CAP = Parameter("cap", is_whole=False, is_positive=True, usual=50.0, start=50.0)  # of Gemma 2

MODIFIERS = {
    "softcap": Modifier(SOFTCAP, "scores", "capped_scores", (CAP,)),
}
