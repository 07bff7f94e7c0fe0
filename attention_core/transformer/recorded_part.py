"""Adds the recorded output of a model's part to the vectors, for parts that the core cannot compute, such as experts.

A stack has such a part where a model has something that the core lacks, such as experts: the rest of the model is then
computed, and its residual stream is still the sum of what all parts add.
"""

from dataclasses import dataclass
from typing import ClassVar

from jaxtyping import Float
from torch import Tensor

from attention_core.mechanism.checks import as_batch, check_class, check_finite, check_kinds, shape_of
from attention_core.mechanism.operations import ADD, PASS_ON
from attention_core.mechanism.plan import run_plan
from attention_core.record.errors import AttentionError
from attention_core.record.trace import Operation, Step, Trace

DIMS = ("B", "T", "D")


@dataclass(frozen=True)
class RecordedConfig:
    """The settings of a recorded part. module: the name of the module of the model that computed its output."""

    module: str
    residual: ClassVar[bool] = True


@dataclass(frozen=True, eq=False)
class RecordedWeights:
    """What a recorded part adds to the vectors x. output: the recorded numbers, (T, D) or (B, T, D)."""

    output: Float[Tensor, "*B T D"]


def recorded_part(x: Float[Tensor, "*B T D"], weights: RecordedWeights, config: RecordedConfig) -> Trace:
    r"""Add a recorded output to the vectors before it: $\mathrm{residual} = x + \mathrm{recorded}$.

    The output is the same whatever x is, because the core does not compute it. x (T, D) or (B, T, D): the vectors
    before the part. weights: see RecordedWeights. config: see RecordedConfig.

    Returns a Trace. Raises AttentionError (a ValueError): recorded_shape, unless x and the output have the same shape,
    and those of check_kinds and check_finite. Source: Elhage et al. 2021, the residual stream as a sum.

    >>> import torch
    >>> trace = recorded_part(torch.eye(2), RecordedWeights(torch.ones(2, 2)), RecordedConfig("layers.0.experts"))
    >>> trace["residual"]
    tensor([[[2., 1.],
             [1., 2.]]])
    """
    check_class("weights", weights, RecordedWeights)
    check_class("config", config, RecordedConfig)
    check_kinds({"x": x, "recorded": weights.output})
    x, output = as_batch("x", x), as_batch("recorded", weights.output)
    if output.shape != x.shape:
        raise AttentionError("recorded_shape", axes=shape_of(x), shape=shape_of(output))
    check_finite({"x": x, "recorded": output})
    inputs = {"x": Step("x", x, DIMS), "recorded": Step("recorded", output, DIMS)}
    return run_plan(
        inputs, [Operation("output", DIMS, ("recorded",), PASS_ON), Operation("residual", DIMS, ("x", "output"), ADD)]
    )
