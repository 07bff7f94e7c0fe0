"""What a number of the output would do if a word changed a little, beside the weight that the word has.

A weight says how much of a value is taken, not what the value does to the output, nor what the word does to the
weights themselves (Jain, Wallace 2019, Attention is not Explanation).
"""

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.record.errors import AttentionError
from attention_core.record.expressions import Cell, Operand, Ref
from attention_core.record.trace import Faces, Operation, Step, Trace


# ---- times input: for each word its numbers, each times what it does to the chosen one -------------------------------
def times_input(gradient: Float[Tensor, "B S D"], x: Float[Tensor, "B S D"]) -> Float[Tensor, "B S"]:
    return (gradient * x).sum(-1)


def times_input_numpy(gradient, x):
    return np.einsum("bsd,bsd->bs", gradient, x)


def times_input_formula(gradient, x):
    return rf"\textstyle\sum_D {gradient} \odot {x}"


def times_input_cell(index, gradient: Operand, x: Operand) -> Cell:
    b, s = index
    return Cell(tuple((gradient[b, s, m], x[b, s, m]) for m in range(x.shape[-1])))


TIMES_INPUT = Faces(times_input, times_input_numpy, times_input_formula, times_input_cell)


def gradient_times_input(trace: Trace, cell: Ref) -> Trace:
    r"""The run with two more steps: `gradient` (B, S, D), how far the chosen number moves when a number of the words
    that are attended to moves, and `gradient_x_input` (B, S), $\sum_d \partial y / \partial x_{sd} \cdot x_{sd}$.

    To the first order that is how much of the number goes with the word: how far it falls where the word shrinks to
    nothing. All ways count, through the value and through the scores; in self-attention also through the query.

    trace: a run of attend. cell: the number y, of any step that is computed. The gradient is torch's, by going back
    through the run's own operations, in float64; to a proof it is an input. Raises AttentionError (a ValueError) where
    no input is known, KeyError for a step that there is not. Source: Shrikumar, Greenside, Kundaje 2017, Learning
    Important Features Through Propagating Activation Differences, section 2.2 (gradient x input).

    >>> from attention_core import attend
    >>> x = torch.tensor([[2.0], [3.0]])
    >>> trace = gradient_times_input(attend(x), Ref("v", (0, 0, 1, 0)))  # without W_v the value is x itself
    >>> trace["gradient"].flatten(), trace["gradient_x_input"].flatten()
    (tensor([0., 1.], dtype=torch.float64), tensor([0., 3.], dtype=torch.float64))
    """
    source = next((name for name in ("x", "key") if name in trace.inputs()), None)
    if source is None:
        raise AttentionError("no_input_words", name=cell.step)
    with torch.inference_mode(False), torch.enable_grad():
        values = {name: step.value.detach().clone() for name, step in trace.inputs().items()}
        values = {name: value.double() if value.is_floating_point() else value for name, value in values.items()}
        given = values[source].requires_grad_()
        for name, step in trace.computed().items():
            values[name] = step.operation.apply(values)
        (gradient,) = torch.autograd.grad(values[cell.step][cell.index], given, materialize_grads=True)
    dims = trace.step(source).dims
    steps = {**trace.steps, "gradient": Step("gradient", gradient, dims)}
    operation = Operation("gradient_x_input", dims[:-1], ("gradient", source), TIMES_INPUT)
    return Trace(steps, trace.labels).then(operation)
