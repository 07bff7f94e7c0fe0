"""Chooses and checks the norms of layers and stacks: of a layer's input, of its output before the residual is added, or
of the sum of both.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial

from jaxtyping import Float
from torch import Tensor

from attention_core.mechanism.checks import check_class, check_finite, check_kinds, shape_of
from attention_core.mechanism.config import OWNERS, Choice, check_choice, check_listed_choices
from attention_core.mechanism.learned_tensors import LearnedTensor, Sizes, check_learned
from attention_core.mechanism.modifiers import MODIFIERS, modifiers_at
from attention_core.mechanism.parameters import names_of
from attention_core.mechanism.plan import run_plan
from attention_core.mechanism.plan_steps import chain_operations
from attention_core.record.errors import AttentionError
from attention_core.record.trace import Operation, Step, Trace

# Places of a norm: before a layer, on its output before the residual adds it, on its last step.
BEFORE, ADDED, AFTER = "inputs", "added", "output"
NORMS = {name: modifier for name, modifier in MODIFIERS.items() if {*modifier.steps} <= {BEFORE, ADDED, AFTER}}


@dataclass(frozen=True, eq=False, kw_only=True)
class NormWeights:
    """The learned tensors of a layer's norms: their factors ("gains"), and the shifts of a LayerNorm; None if
    absent.
    """

    g_layer_before: Float[Tensor, " D"] | None = None
    b_layer_before: Float[Tensor, " D"] | None = None
    g_rms_before: Float[Tensor, " D"] | None = None
    g_rms_output: Float[Tensor, " D_out"] | None = None
    g_layer_after: Float[Tensor, " D_out"] | None = None
    b_layer_after: Float[Tensor, " D_out"] | None = None
    g_rms_after: Float[Tensor, " D_out"] | None = None

    def given(self) -> dict[str, Tensor]:
        """Return {name: tensor} of the tensors that are not None."""
        return {name: tensor for name, tensor in vars(self).items() if tensor is not None}


def check_norm_choices(given: object, *places: str) -> tuple[Choice, ...]:
    """Check and return the norms that are chosen for a layer, an embedding or an unembedding.

    places: where norms are possible, of BEFORE, ADDED and AFTER. Raises AttentionError.
    """
    table = {name: norm for name, norm in NORMS.items() if {*norm.steps} <= {*places}}
    return check_listed_choices("norms", given, partial(check_choice, "norm", table))


def check_norm_weights(chosen: Iterable[Choice], given: Mapping[str, Tensor], sizes: Sizes) -> None:
    """Check that the learned tensors of the chosen norms are given, no others are, and their shapes fit.

    given: {name: tensor} of the weights of one layer, embedding or unembedding. sizes: the sizes of D and D_out.

    Raises AttentionError: missing_weight, unowned_weight, weight_shape.
    """
    needed = set()
    for name, _ in chosen:
        declared = NORMS[name].weights
        for weight in names_of(declared):
            if weight not in given:
                raise AttentionError("missing_weight", kind=name, weight=weight)
            needed.add(weight)
        check_learned(declared, {weight: shape_of(given[weight]) for weight in names_of(declared)}, sizes)
    for weight in given:
        if OWNERS.get(weight) in NORMS and weight not in needed:
            raise AttentionError("unowned_weight", weight=weight, kind=OWNERS[weight])


def norm_weight_dims(chosen: Iterable[Choice]) -> dict[str, tuple[str, ...]]:
    """Return {tensor name: its axes} for the learned tensors of the chosen norms."""
    learned: list[LearnedTensor] = [tensor for name, _ in chosen for tensor in NORMS[name].weights]
    return {tensor.name: tensor.dims for tensor in learned}


def plan_norms(chosen: Iterable[Choice], place: str, thing: str, step: str, dims: tuple[str, ...]) -> list[Operation]:
    """Return the operations of all chosen norms at a place, each of which reads the result of the one before.

    place: BEFORE, ADDED or AFTER. thing: replaces "{thing}" in the names of the norms' steps. step: the name of the
    step that the first norm reads. dims: the axes of this step.
    """
    norms = [NORMS[name].operations(place, thing, dims, params) for name, params in modifiers_at(place, chosen).items()]
    return chain_operations(norms, step)


def norm_vectors(x: Float[Tensor, "B T D"], weights: NormWeights, norms: tuple[Choice, ...]) -> Trace:
    """Apply the norms at the end of a stack, one after the other, and return their Trace.

    x: the output of the stack's last layer. Raises AttentionError for weights that do not fit.
    """
    check_class("weights of the norms", weights, NormWeights)
    check_kinds({"x": x, **weights.given()})
    check_norm_weights(norms, weights.given(), {"D": x.shape[-1]})
    check_finite(weights.given())
    dims = norm_weight_dims(norms)
    inputs = {"x": Step("x", x, ("B", "T", "D"))}
    inputs |= {name: Step(name, tensor, dims[name]) for name, tensor in weights.given().items()}
    return run_plan(inputs, plan_norms(norms, BEFORE, "x", "x", inputs["x"].dims))
