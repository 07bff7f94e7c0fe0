"""Computes gradient times input: how strongly a number of a run depends on the vector of each word.

An attention weight is only the factor of a value in a sum. It shows neither what this value does to the output, nor how
the word changes the weights themselves (Jain, Wallace 2019, Attention is not Explanation).
"""

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.record.errors import AttentionError
from attention_core.record.expressions import Cell, Operand, Ref
from attention_core.record.trace import Faces, Operation, Step, Trace


# ---- times input: the numbers of each word, each times its effect on the chosen number -------------------------------
def times_input(gradient: Float[Tensor, "B S D"], x: Float[Tensor, "B S D"]) -> Float[Tensor, "B S"]:
    return (gradient * x).sum(-1)


def times_input_numpy(gradient, x):
    return np.einsum("bsd,bsd->bs", gradient, x)


def times_input_formula(gradient, x):
    return rf"\textstyle\sum_D {gradient} \odot {x}"


def times_input_cell(index, gradient: Operand, x: Operand) -> Cell:
    b, s = index
    terms = []
    for m in range(x.shape[-1]):
        cell = (b, s, m)
        terms.append((gradient[cell], x[cell]))
    return Cell(tuple(terms))


TIMES_INPUT = Faces(times_input, times_input_numpy, times_input_formula, times_input_cell)


def gradient_times_input(trace: Trace, cell: Ref) -> Trace:
    r"""Add two steps to a run: `gradient` (B, S, D) and `gradient_x_input` (B, S).

    `gradient` is the derivative of the chosen number y with respect to each number of the attended words' vectors.
    `gradient_x_input` is $\sum_d \partial y / \partial x_{sd} \cdot x_{sd}$. To first order that is the decrease of y
    if the word's vector shrinks to 0. It includes the effects through the value and through the scores, and in
    self-attention through the query.

    trace: a run of attend. cell: the number y, of any computed step. torch computes the gradient in float64, by
    backpropagation through the run's operations; a proof takes the gradient as given. Raises AttentionError (a
    ValueError) if the run has no input x or key, KeyError for an unknown step. Source: Shrikumar, Greenside, Kundaje
    2017, Learning Important Features Through Propagating Activation Differences, section 2.2 (gradient x input).

    >>> from attention_core import attend
    >>> x = torch.tensor([[2.0], [3.0]])
    >>> trace = gradient_times_input(attend(x), Ref("v", (0, 0, 1, 0)))  # without W_v the value is x itself
    >>> trace["gradient"].flatten(), trace["gradient_x_input"].flatten()
    (tensor([0., 1.], dtype=torch.float64), tensor([0., 3.], dtype=torch.float64))
    """
    inputs = trace.inputs()
    source = next((name for name in ("x", "key") if name in inputs), None)
    if source is None:
        raise AttentionError("no_input_words", name=cell.step)
    gradient = differentiate(trace, cell, source)
    dims = trace.step(source).dims
    steps = {**trace.steps, "gradient": Step("gradient", gradient, dims)}
    operation = Operation(
        "gradient_x_input",
        dims=dims[:-1],
        reads=("gradient", source),
        faces=TIMES_INPUT,
    )
    return Trace(steps, trace.labels).then(operation)


def differentiate(trace: Trace, cell: Ref, source: str) -> Tensor:
    """Compute the gradient of one number of a run with respect to an input, in float64."""
    with torch.inference_mode(False), torch.enable_grad():
        values = {}
        for name, step in trace.inputs().items():
            values[name] = copy_in_float64(step.value)
        words = values[source].requires_grad_()
        for name, step in trace.computed().items():
            values[name] = step.operation.apply(values)
        number = values[cell.step][cell.index]
        (gradient,) = torch.autograd.grad(number, words, materialize_grads=True)
    return gradient


def copy_in_float64(value: Tensor) -> Tensor:
    """Return a floating-point tensor as a copy in float64; a boolean tensor stays boolean."""
    copy = value.detach().clone()
    if not copy.is_floating_point():
        return copy
    return copy.double()
