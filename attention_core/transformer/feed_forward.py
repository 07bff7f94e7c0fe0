"""Computes a feed-forward layer of a Transformer, which acts on each word separately, with every step recorded."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from jaxtyping import Float
from torch import Tensor

from attention_core.mechanism.checks import (
    as_batch,
    check_class,
    check_finite,
    check_kinds,
    check_matrix_and_bias,
    shape_of,
)
from attention_core.mechanism.config import Choice, GivenChoices
from attention_core.mechanism.modifiers import LET_THROUGH
from attention_core.mechanism.operations import ADD, PROJECT
from attention_core.mechanism.plain_checks import require_one_of
from attention_core.mechanism.plan import run_plan
from attention_core.mechanism.plan_steps import check_all_read
from attention_core.record.errors import AttentionError
from attention_core.record.trace import Operation, Step, Trace
from attention_core.transformer.activations import ACTIVATIONS
from attention_core.transformer.part_norms import (
    ADDED,
    AFTER,
    BEFORE,
    NormWeights,
    check_norm_choices,
    check_norm_weights,
    norm_weight_dims,
    plan_norms,
)

HIDDEN_DIMS = ("B", "T", "D_hidden")
WEIGHT_DIMS = {
    "w_1": ("D", "D_hidden"),
    "b_1": ("D_hidden",),
    "w_gate": ("D", "D_hidden"),
    "w_2": ("D_hidden", "D_out"),
    "b_2": ("D_out",),
}


@dataclass(frozen=True)
class FeedForwardConfig:
    """The settings of a feed-forward layer.

    activation: one of ACTIVATIONS. norms: the norms before the layer, on its output before the residual, or after its
    last step, as names or (name, params) pairs, such as "layer_norm_before". residual: whether a last step x + output
    is added.

    Raises AttentionError (a ValueError) for an unknown choice or a number out of range.

    >>> FeedForwardConfig("gelu", norms=["layer_norm_before"], residual=True).norms
    (('layer_norm_before', {'eps': 1e-05}),)
    """

    activation: str = "relu"
    norms: tuple[Choice, ...] = ()
    residual: bool = False

    if TYPE_CHECKING:  # the fields are tuples of Choice, but names are taken as well

        def __init__(
            self,
            activation: str = "relu",
            norms: GivenChoices = (),
            residual: bool = False,
        ) -> None: ...

    def __post_init__(self) -> None:
        require_one_of("activation", self.activation, tuple(ACTIVATIONS))
        object.__setattr__(self, "norms", check_norm_choices(self.norms, BEFORE, ADDED, AFTER))


@dataclass(frozen=True, eq=False, kw_only=True)
class FeedForwardWeights(NormWeights):
    """The learned tensors of a feed-forward layer multiplied as `x @ w + b`; None if absent.

    w_1 (D, D_hidden), w_2 (D_hidden, D_out), a bias for each matrix; w_gate (D, D_hidden) if the activation is gated;
    and the tensors of the norms.
    """

    w_1: Float[Tensor, "D D_hidden"] | None = None
    b_1: Float[Tensor, " D_hidden"] | None = None
    w_gate: Float[Tensor, "D D_hidden"] | None = None
    w_2: Float[Tensor, "D_hidden D_out"] | None = None
    b_2: Float[Tensor, " D_out"] | None = None


def feed_forward(
    x: Float[Tensor, "*B T D"],
    weights: FeedForwardWeights,
    config: FeedForwardConfig | None = None,
    stream: Float[Tensor, "*B T D_out"] | None = None,
) -> Trace:
    r"""Run a feed-forward layer, with every step recorded.

    $\mathrm{hidden} = x W_1 + b_1$, $\mathrm{output} = f(\mathrm{hidden})\,W_2 + b_2$ with the activation f. With a
    gated activation, $\mathrm{output} = (f(x W_g) \odot \mathrm{hidden})\,W_2 + b_2$. A norm before the layer changes
    the x that is projected, but not the x of the residual. A norm on the output changes what the residual adds, a norm
    after the layer its last step.

    x (T, D) or (B, T, D). weights: see FeedForwardWeights. config: see FeedForwardConfig. stream (T, D_out) or (B, T,
    D_out): the vectors to which the residual adds the output, instead of x.

    Returns a Trace. Raises AttentionError (a ValueError) that says what must hold and what was given. Sources: Vaswani
    et al. 2017, section 3.3; gated: Shazeer 2020, equation 6.

    >>> import torch
    >>> trace = feed_forward(torch.tensor([[1.0, -2.0]]), FeedForwardWeights(w_1=torch.eye(2), w_2=torch.eye(2)))
    >>> trace["hidden"], trace["output"]
    (tensor([[[ 1., -2.]]]), tensor([[[1., 0.]]]))
    """
    config = config or FeedForwardConfig()
    check_class("weights", weights, FeedForwardWeights)
    check_class("config", config, FeedForwardConfig)
    check_kinds({"x": x, **weights.given()})
    x = as_batch("x", x)
    check_feed_forward(x, weights, config, is_added_to_x=stream is None)
    dims = {**WEIGHT_DIMS, **norm_weight_dims(config.norms)}
    inputs = {"x": Step("x", x, ("B", "T", "D"))}
    if stream is not None:
        inputs["stream"] = Step("stream", check_stream(stream, x, weights, config), ("B", "T", "D_out"))
    inputs |= {name: Step(name, tensor, dims[name]) for name, tensor in weights.given().items()}
    return run_plan(inputs, plan_feed_forward(inputs, config))


def check_stream(stream: Tensor, x: Tensor, weights: FeedForwardWeights, config: FeedForwardConfig) -> Tensor:
    """Return the vectors to which the residual adds the output, as (B, T, D_out).

    Raises AttentionError: stream_unused without a residual, stream_shape, and those of check_kinds and check_finite.
    """
    check_kinds({"x": x, "stream": stream})
    if not config.residual:
        raise AttentionError("stream_unused")
    stream, shape = as_batch("stream", stream), (*x.shape[:2], weights.w_2.shape[1])
    if stream.shape != shape:
        raise AttentionError("stream_shape", axes=shape, shape=shape_of(stream))
    check_finite({"stream": stream})
    return stream


def check_feed_forward(
    x: Tensor, weights: FeedForwardWeights, config: FeedForwardConfig, is_added_to_x: bool = True
) -> None:
    """Raise AttentionError if a matrix is missing, or does not fit x or another matrix.

    is_added_to_x: whether a residual would add the output to x.
    """
    given = weights.given()
    is_gated = ACTIVATIONS[config.activation].is_gated
    for name in ("w_1", "w_2", *(["w_gate"] if is_gated else [])):
        if name not in given:
            kind = config.activation if name == "w_gate" else "feed_forward"
            raise AttentionError("missing_weight", kind=kind, weight=name)
    if "w_gate" in given and not is_gated:
        raise AttentionError("unused_weight", weight="w_gate", why=f"{config.activation!r} has no gate")
    D = x.shape[-1]
    check_matrix_and_bias("1", weights, "(D, D_hidden)", "x", shape_of(x), D)
    hidden = weights.w_1.shape[1]
    if is_gated and shape_of(weights.w_gate) != shape_of(weights.w_1):
        raise AttentionError("weight_shape", weight="w_gate", axes=f"({D}, {hidden})", shape=shape_of(weights.w_gate))
    check_matrix_and_bias("2", weights, "(D_hidden, D_out)", "hidden", f"(T, {hidden})", hidden)
    D_out = weights.w_2.shape[1]
    check_norm_weights(config.norms, given, {"D": D, "D_out": D_out})
    if config.residual and is_added_to_x and D_out != D:
        raise AttentionError("residual_width", name="x", width=D, given=D_out)
    check_finite({"x": x, **given})


def plan_feed_forward(inputs: dict[str, Step], config: FeedForwardConfig) -> list[Operation]:
    """Return the operations from x to the output."""
    plan = plan_norms(config.norms, BEFORE, "x", "x", inputs["x"].dims)
    read = plan[-1].output if plan else "x"
    plan += plan_hidden(inputs, config, read)
    output = project_step("output", ("B", "T", "D_out"), plan[-1].output, inputs, "2")
    plan.append(output)
    plan += plan_norms(config.norms, ADDED, "added", output.output, output.dims)
    if config.residual:
        stream = "stream" if "stream" in inputs else "x"
        plan.append(Operation("residual", inputs[stream].dims, (stream, plan[-1].output), ADD))
    plan += plan_norms(config.norms, AFTER, "output", plan[-1].output, plan[-1].dims)
    check_all_read(plan)
    return plan


def plan_hidden(inputs: dict[str, Step], config: FeedForwardConfig, read: str) -> list[Operation]:
    """Return the operations from x to the hidden vectors after the activation.

    read: the name of the step with x, which may be a norm's output.
    """
    activation = ACTIVATIONS[config.activation]
    hidden = project_step("hidden", HIDDEN_DIMS, read, inputs, "1")
    if not activation.is_gated:
        return [hidden, Operation("activated", HIDDEN_DIMS, ("hidden",), activation.faces)]
    return [
        hidden,
        project_step("gate_projected", HIDDEN_DIMS, read, inputs, "gate"),
        Operation("gate", HIDDEN_DIMS, ("gate_projected",), activation.faces),
        Operation("activated", HIDDEN_DIMS, ("hidden", "gate"), LET_THROUGH),
    ]


def project_step(output: str, dims: tuple[str, ...], read: str, inputs: dict[str, Step], role: str) -> Operation:
    """Return the operation that projects the step `read` by w_<role> and, if given, b_<role>."""
    learned = [name for name in (f"w_{role}", f"b_{role}") if name in inputs]
    return Operation(output, dims, (read, *learned), PROJECT)
