"""Defines modifiers: optional steps of a layer, such as a norm, a score cap or an output gate, each at a fixed place of
a run.

A new modifier needs one section in this file, and an entry in MODIFIERS that declares its steps, their places and
operands, its parameters and its learned tensors.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import chain

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.mechanism.differential import (
    BALANCE,
    EXP_OF_DOT,
    G_HEADS,
    HALF,
    LAM_INIT,
    LAM_VECTORS,
    SHRINK,
    SUBTRACT_MAP,
    subtract_outputs,
)
from attention_core.mechanism.latent import G_LATENT, W_DKV
from attention_core.mechanism.learned_tensors import LearnedTensor, check_wired, ones, zeros
from attention_core.mechanism.norms import (
    CENTRE,
    EPS,
    LAYER_AFTER,
    LAYER_BEFORE,
    LAYER_EPS,
    LAYER_NORM,
    RMS_ADDED,
    RMS_AFTER,
    RMS_BEFORE,
    RMS_NORM,
    RMS_NORM_HEADS,
)
from attention_core.mechanism.operations import PROJECT, split_heads, split_heads_numpy
from attention_core.mechanism.parameters import Parameter, check_same_names, keyword_names, names_of
from attention_core.mechanism.plain_checks import require_one_of
from attention_core.mechanism.plan_steps import GIVEN_BY_RUN, INPUT, INPUTS, LAST_STEP, PlanStep, check_all_read
from attention_core.record.expressions import Cell, Constant, Operand, product_cell
from attention_core.record.number_text import format_short
from attention_core.record.trace import Faces, Operation

Params = Mapping[str, object]  # parameter name -> value


# ---- softcap: no score goes beyond the cap (Gemma Team 2024, section 2 of Gemma 2, after Bello et al. 2016) ----------
def softcap(scores: Float[Tensor, "B H T S"], *, cap: float) -> Float[Tensor, "B H T S"]:
    return cap * torch.tanh(scores / cap)


def softcap_numpy(scores, *, cap):
    doubled = 2 * np.abs(scores) / cap
    size = -np.expm1(-doubled) / (1 + np.exp(-doubled))  # tanh from exponentials that are at most 1
    return np.copysign(size, scores) * cap


def softcap_formula(scores, *, cap):
    number = format_short(cap)
    return rf"{number}\,\tanh({scores} \,/\, {number})"


def softcap_cell(index, scores: Operand, *, cap) -> Cell:
    inverse = Constant(1 / cap, f"1/{format_short(cap)}")
    inside = (scores[index], inverse)
    return Cell((inside,), function="tanh", times=Constant(cap, format_short(cap)))


SOFTCAP = Faces(softcap, softcap_numpy, softcap_formula, softcap_cell, sign="tanh", motion="cap")


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
# Places of a run where modifiers act, in order -> the steps that a modifier may change there.
MODIFIER_PLACES = {
    "inputs": ("x",),  # acts on the input of q, after positions are added
    "sources": ("x",),  # acts on the input of k and v
    "heads": ("q", "k"),  # acts on q and k per head, before RoPE rotates them
    "scores": ("scores",),  # acts on the scaled scores, before positions and masks
    "maps": ("maps",),  # acts on the two attention maps of a head, if it has two
    "mixed": ("mixed",),  # acts on the weighted values, before the heads are merged
    "added": ("added",),  # acts on the output, before the residual adds it to x
    "output": ("output",),  # acts on the last step of the layer
}


@dataclass(frozen=True)
class Modifier:
    """An entry of MODIFIERS: the steps that a modifier adds to a layer.

    steps: for each place of MODIFIER_PLACES, the added steps. If several modifiers act at one place, each reads the
    output of the one before it in the table. weights: its learned tensors. A modifier with steps at "maps" combines two
    weight maps: its steps read LAST_STEP, the first map, and "weights_2", the second. witness: for a modifier of two
    maps, a function (first, second, *other operands of the last step) that returns the heads' outputs, computed from
    the outputs of torch's own attention with each map; the proof uses it.

    Raises AttentionError (a ValueError) for an unknown place, and ValueError if the parameters or the tensors are not
    those that the torch functions of its steps take.
    """

    steps: Mapping[str, tuple[PlanStep, ...]]
    parameters: tuple[Parameter, ...] = ()
    weights: tuple[LearnedTensor, ...] = ()
    witness: Callable[..., Tensor] | None = None

    def __post_init__(self):
        for place in self.steps:
            require_one_of("place", place, tuple(MODIFIER_PLACES))
        declared = names_of(self.parameters)
        all_steps = chain.from_iterable(self.steps.values())
        taken = {name for step in all_steps for name in keyword_names(step.faces.torch)}
        check_same_names("a modifier", sorted(taken - set(GIVEN_BY_RUN)), sorted(declared))
        given = dict.fromkeys((*declared, *GIVEN_BY_RUN))
        operations = []
        for place in self.steps:
            for thing in MODIFIER_PLACES[place]:
                at_place = self.operations(place, thing, (), given)
                check_all_read(at_place)
                operations += at_place
        check_wired(operations, (LAST_STEP, *INPUTS, "weights_2"), self.weights)
        if ("maps" in self.steps) != (self.witness is not None):
            raise ValueError("a modifier that makes weights of two maps has a witness, and no other has one")

    def operations(self, place: str, thing: str, dims: tuple[str, ...], given: Mapping[str, object]) -> list[Operation]:
        """Returns the modifier's operations at a place of the run on the step `thing`, such as q or k.

        dims: the names of the result's axes. given: the modifier's parameters and the values of GIVEN_BY_RUN, by name.
        """
        return [step.operation(thing, dims, given) for step in self.steps[place]]

    def makes_maps_of(self, steps: Collection[str]) -> bool:
        """Returns whether the modifier combines the two attention maps that each head of a run computes.

        steps: the names of the run's steps.
        """
        own = self.steps.get("maps", ())
        return bool(own) and all(step.output in steps for step in own)

    @property
    def reads_input(self) -> bool:
        """Whether the modifier reads the inputs of q, k and v."""
        is_at_inputs = "inputs" in self.steps or "sources" in self.steps
        return is_at_inputs or any(INPUT in step.reads for step in chain.from_iterable(self.steps.values()))


CAPS = (0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
CAP = Parameter("cap", is_whole=False, is_positive=True, usual=50.0, start=50.0, swept=CAPS)  # default: Gemma 2's

MODIFIERS = {
    "layer_norm_before": Modifier(
        steps={
            "inputs": (
                PlanStep("centred_{thing}", CENTRE),
                PlanStep("layer_normed_{thing}", LAYER_NORM, ("centred_{thing}", "g_layer_before", "b_layer_before")),
            )
        },
        parameters=(LAYER_EPS,),
        weights=LAYER_BEFORE,
    ),
    "rms_norm_before": Modifier(
        steps={"inputs": (PlanStep("rms_normed_{thing}", RMS_NORM, (LAST_STEP, "g_rms_before")),)},
        parameters=(EPS,),
        weights=RMS_BEFORE,
    ),
    "latent": Modifier(
        steps={
            "sources": (
                PlanStep("compressed_{thing}", PROJECT, (LAST_STEP, "w_dkv"), ("B", "S", "d_c")),
                PlanStep("latent_{thing}", RMS_NORM, ("compressed_{thing}", "g_latent"), ("B", "S", "d_c")),
            )
        },
        parameters=(EPS,),
        weights=(W_DKV, G_LATENT),
    ),
    "differential": Modifier(
        steps={
            "heads": (PlanStep("{thing}_half", HALF),),
            "maps": (
                PlanStep("lam_1", EXP_OF_DOT, ("lam_q1", "lam_k1"), ("H",)),
                PlanStep("lam_2", EXP_OF_DOT, ("lam_q2", "lam_k2"), ("H",)),
                PlanStep("lam", BALANCE, ("lam_1", "lam_2"), ("H",)),
                PlanStep("weights", SUBTRACT_MAP, (LAST_STEP, "weights_2", "lam")),
            ),
            "mixed": (
                PlanStep("normed_outputs", RMS_NORM, (LAST_STEP, "g_heads")),
                PlanStep("shrunk_outputs", SHRINK, ("normed_outputs",)),
            ),
        },
        parameters=(LAM_INIT, EPS),
        weights=(*LAM_VECTORS, G_HEADS),
        witness=subtract_outputs,
    ),
    "qk_norm": Modifier(
        steps={"heads": (PlanStep("{thing}_normed", RMS_NORM, (LAST_STEP, "g_{thing}")),)},
        parameters=(EPS,),
        weights=(
            LearnedTensor("g_q", ("d_q",), "g_q", start=ones),
            LearnedTensor("g_k", ("d_k",), "g_k", start=ones),
        ),
    ),
    "qk_norm_all": Modifier(
        steps={"heads": (PlanStep("{thing}_normed_all", RMS_NORM_HEADS, (LAST_STEP, "g_{thing}_all")),)},
        parameters=(EPS,),
        weights=(
            LearnedTensor("g_q_all", ("H·d_q",), "g_q", start=ones),
            LearnedTensor("g_k_all", ("H_kv·d_k",), "g_k", start=ones),
        ),
    ),
    "qk_layer_norm": Modifier(
        steps={
            "heads": (
                PlanStep("{thing}_centred", CENTRE),
                PlanStep("{thing}_layer_normed", LAYER_NORM, ("{thing}_centred", "g_{thing}_layer", "b_{thing}_layer")),
            )
        },
        parameters=(LAYER_EPS,),
        weights=(
            LearnedTensor("g_q_layer", ("d_q",), r"\gamma_{\,q}", start=ones),
            LearnedTensor("b_q_layer", ("d_q",), r"\beta_q", start=zeros),
            LearnedTensor("g_k_layer", ("d_k",), r"\gamma_{\,k}", start=ones),
            LearnedTensor("b_k_layer", ("d_k",), r"\beta_k", start=zeros),
        ),
    ),
    "softcap": Modifier(
        steps={"scores": (PlanStep("capped_scores", SOFTCAP),)},
        parameters=(CAP,),
    ),
    "gate": Modifier(
        steps={
            "mixed": (
                PlanStep("gate", GATE, (INPUT, "w_gate")),
                PlanStep("gated_outputs", LET_THROUGH, (LAST_STEP, "gate")),
            )
        },
        weights=(LearnedTensor("w_gate", ("D", "H·d_v"), "W_g", start=zeros, makes_weights=False),),
    ),
    "rms_norm_output": Modifier(
        steps={"added": (PlanStep("rms_normed_added", RMS_NORM, (LAST_STEP, "g_rms_output")),)},
        parameters=(EPS,),
        weights=RMS_ADDED,
    ),
    "layer_norm_after": Modifier(
        steps={
            "output": (
                PlanStep("centred_output", CENTRE),
                PlanStep("layer_normed_output", LAYER_NORM, ("centred_output", "g_layer_after", "b_layer_after")),
            )
        },
        parameters=(LAYER_EPS,),
        weights=LAYER_AFTER,
    ),
    "rms_norm_after": Modifier(
        steps={"output": (PlanStep("rms_normed_output", RMS_NORM, (LAST_STEP, "g_rms_after")),)},
        parameters=(EPS,),
        weights=RMS_AFTER,
    ),
}


def modifiers_at(place: str, chosen: Iterable[tuple[str, Params]]) -> dict[str, Params]:
    """Returns {name: parameters} of the chosen modifiers that act at a place of the run, in the order of MODIFIERS."""
    params = dict(chosen)
    names = [name for name in MODIFIERS if name in params and place in MODIFIERS[name].steps]
    return {name: params[name] for name in names}
