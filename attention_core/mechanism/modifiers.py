"""What else a layer may do on the way from q and k to the output: a step or a few, at their place in the plan.

A new modifier is one block here and its entry in MODIFIERS, which says where it stands and what its steps read, and
declares its parameters and what it learns.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.mechanism.learned_tensors import LearnedTensor, check_wired, ones, zeros
from attention_core.mechanism.operations import split_heads, split_heads_numpy
from attention_core.mechanism.parameters import Parameter, check_same_names, keyword_names, names_of
from attention_core.mechanism.plain_checks import require_one_of
from attention_core.record.expressions import Cell, Constant, Operand, product_cell
from attention_core.record.number_text import format_short, power_of_ten_latex
from attention_core.record.trace import Faces, Operation


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
    smallest = power_of_ten_latex(eps, figures=7)
    return rf"\dfrac{{{x}}}{{\sqrt{{\tfrac{{1}}{{d}} \lVert {x} \rVert^{{2}} + {smallest}}}}} \odot {gain}"


def rms_norm_cell(index, x: Operand, gain: Operand, *, eps) -> Cell:
    *row, chosen = index
    d = x.shape[-1]
    squares = [(x[(*row, m)], x[(*row, m)]) for m in range(d)]
    return Cell(((x[index], gain[chosen]), (Constant(eps, f"{eps:g}"),), *squares), function="over_rms")


RMS_NORM = Faces(rms_norm, rms_norm_numpy, rms_norm_formula, rms_norm_cell, sign="÷ rms", motion="norm")


# ---- output gate: each output times a number from 0 to 1 that the query's own x decides (Qiu et al. 2025) ------------
def open_gate(x: Float[Tensor, "B T D"], w_gate: Float[Tensor, "D width"], *, heads: int) -> Float[Tensor, "B H T d_v"]:
    return torch.sigmoid(split_heads(x @ w_gate, heads=heads))  # (B, T, D) x (D, H * d_v) -> (B, H, T, d_v)


def open_gate_numpy(x, w_gate, *, heads):
    projected = split_heads_numpy(np.einsum("btm,mn->btn", x, w_gate), heads=heads)
    return np.exp(-np.logaddexp(0.0, -projected))


def open_gate_formula(x, w_gate, *, heads):
    inside = rf"{x}\,{w_gate}"
    if heads == 1:
        return rf"\sigma({inside})"
    return rf"\sigma(\mathrm{{split}}_{{{heads}}}({inside}))"


def open_gate_cell(index, x: Operand, w_gate: Operand, *, heads) -> Cell:
    b, h, t, m = index
    D, width = w_gate.shape
    column = h * (width // heads) + m
    terms = [(x[b, t, n], w_gate[n, column]) for n in range(D)]
    return Cell(tuple(terms), function="sigmoid")


GATE = Faces(open_gate, open_gate_numpy, open_gate_formula, open_gate_cell, sign="σ", motion="open")


def let_through(outputs: Float[Tensor, "B H T d_v"], opened: Float[Tensor, "B H T d_v"]) -> Float[Tensor, "B H T d_v"]:
    return outputs * opened


def let_through_numpy(outputs, opened):
    return np.multiply(outputs, opened)


def let_through_formula(outputs, opened):
    return rf"{outputs} \odot {opened}"


def let_through_cell(index, outputs: Operand, opened: Operand) -> Cell:
    return product_cell(outputs[index], opened[index])


LET_THROUGH = Faces(
    let_through, let_through_numpy, let_through_formula, let_through_cell, sign="⊙", motion="let_through"
)


# ---- the table -------------------------------------------------------------------------------------------------------
# q and k in every head, before positions turn them; the scaled scores, before positions and masks; the values that are
# mixed, before the heads are laid side by side: and what stands at each of these places.
MODIFIER_PLACES = {"heads": ("q", "k"), "scores": ("scores",), "mixed": ("mixed",)}
HERE, INPUT = "here", "input"  # among what a step reads: what stands at the place, and what q is made of
HEADS = "heads"  # among what a step takes by keyword: how many the run has


@dataclass(frozen=True)
class ModifierStep:
    """One step of a modifier. reads: HERE, INPUT, what is learned, and steps before it; "{thing}" in a name stands for
    q or k."""

    output: str
    faces: Faces
    reads: tuple[str, ...] = (HERE,)


@dataclass(frozen=True)
class Modifier:
    """A modifier by name.

    place: one of MODIFIER_PLACES. steps: the last makes anew what stands at the place. weights: what it learns.

    Raises AttentionError (a ValueError) for a place that there is not, and ValueError where the parameters or the
    tensors are not those that the torch functions of its steps take.
    """

    place: str
    steps: tuple[ModifierStep, ...]
    parameters: tuple[Parameter, ...] = ()
    weights: tuple[LearnedTensor, ...] = ()

    def __post_init__(self):
        require_one_of("place", self.place, tuple(MODIFIER_PLACES))
        taken = {name for step in self.steps for name in keyword_names(step.faces.torch)}
        declared = names_of(self.parameters)
        check_same_names("a modifier", sorted(taken - {HEADS}), sorted(declared))
        operations = []
        for thing in MODIFIER_PLACES[self.place]:
            operations += self.operations(thing, (), dict.fromkeys((*declared, HEADS)))
        check_wired(operations, (HERE, INPUT), self.weights)

    def operations(self, thing: str, dims: tuple[str, ...], given: Mapping[str, object]) -> list[Operation]:
        """Its steps for q, k, or what else stands at its place. given: its parameters, and the number of heads."""
        return [make_operation(step, thing, dims, given) for step in self.steps]

    @property
    def reads_input(self) -> bool:
        """Whether it reads what q is made of."""
        return any(INPUT in step.reads for step in self.steps)


def make_operation(step: ModifierStep, thing: str, dims: tuple[str, ...], given: Mapping[str, object]) -> Operation:
    """A step of a modifier as an operation on one thing."""
    return Operation(
        output=step.output.format(thing=thing),
        dims=dims,
        reads=tuple(name.format(thing=thing) for name in step.reads),
        faces=step.faces,
        params={name: given[name] for name in keyword_names(step.faces.torch)},
    )


CAP = Parameter("cap", is_whole=False, is_positive=True, usual=50.0, start=50.0)  # of Gemma 2
EPS = Parameter("eps", is_whole=False, is_positive=True, usual=1e-6, start=1e-6)

MODIFIERS = {
    "qk_norm": Modifier(
        place="heads",
        steps=(ModifierStep("{thing}_normed", RMS_NORM, (HERE, "g_{thing}")),),
        parameters=(EPS,),
        weights=(
            LearnedTensor("g_q", ("d_q",), "g_q", start=ones),
            LearnedTensor("g_k", ("d_k",), "g_k", start=ones),
        ),
    ),
    "softcap": Modifier(
        place="scores",
        steps=(ModifierStep("capped_scores", SOFTCAP),),
        parameters=(CAP,),
    ),
    "gate": Modifier(
        place="mixed",
        steps=(
            ModifierStep("gate", GATE, (INPUT, "w_gate")),
            ModifierStep("gated_outputs", LET_THROUGH, (HERE, "gate")),
        ),
        weights=(LearnedTensor("w_gate", ("D", "H·d_v"), "W_g", start=zeros, makes_weights=False),),
    ),
}
