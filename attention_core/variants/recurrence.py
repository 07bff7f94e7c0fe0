"""A recurrence as steps of a run: one state after the other, each from the word before it and the state before it."""

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.mechanism.plain_checks import require_one_of, require_positive
from attention_core.record.expressions import Cell, Operand
from attention_core.record.trace import Faces, Operation, Step, Trace
from attention_core.variants.encoders import Encoder, draw_layers


# ---- one step: the word at t, and the state before it ----------------------------------------------------------------
def next_state(
    x: Float[Tensor, "B T D"],
    h: Float[Tensor, "B d_h"],
    w_x: Float[Tensor, "D d_h"],
    w_h: Float[Tensor, "d_h d_h"],
    *,
    t,
) -> Float[Tensor, "B d_h"]:
    word = x[:, t]  # (B, D)
    from_word = word @ w_x  # (B, D) x (D, d_h) -> (B, d_h)
    from_state = h @ w_h  # (B, d_h) x (d_h, d_h) -> (B, d_h)
    return torch.tanh(from_word + from_state)


def next_state_numpy(x, h, w_x, w_h, *, t):
    word = x[:, t]
    from_word = np.einsum("bd,dn->bn", word, w_x)
    from_state = np.einsum("bm,mn->bn", h, w_h)
    return np.tanh(from_word + from_state)


def next_state_formula(x, h, w_x, w_h, *, t):
    return rf"\tanh({x}_{{{t + 1}}}\,{w_x} + {h}\,{w_h})"


def next_state_cell(index, x: Operand, h: Operand, w_x: Operand, w_h: Operand, *, t) -> Cell:
    b, n = index
    D, _ = w_x.shape
    products = []
    for m in range(D):
        products.append((x[b, t, m], w_x[m, n]))
    d_h, _ = w_h.shape
    for m in range(d_h):
        products.append((h[b, m], w_h[m, n]))
    return Cell(tuple(products), function="tanh")


NEXT_STATE = Faces(next_state, next_state_numpy, next_state_formula, next_state_cell)


# ---- the states so far, beside each other ----------------------------------------------------------------------------
def side_by_side(*states: Float[Tensor, "B d_h"]) -> Float[Tensor, "B d_h T"]:
    return torch.stack(states, dim=-1)  # T times (B, d_h) -> (B, d_h, T)


def side_by_side_numpy(*states):
    return np.moveaxis(np.array(states), 0, -1)


def side_by_side_formula(*states):
    return rf"[{states[0]}, \dots, {states[-1]}]"


def side_by_side_cell(index, *states: Operand) -> Cell:
    b, n, t = index
    return Cell(((states[t][b, n],),))


SIDE_BY_SIDE = Faces(side_by_side, side_by_side_numpy, side_by_side_formula, side_by_side_cell)


# ---- all of them -----------------------------------------------------------------------------------------------------
def with_states(trace: Trace, encoder: Encoder, shown: int = 1) -> Trace:
    r"""Add a tanh recurrence over x to a run: steps h_1 to h_T, $h_t = \tanh(x_t W_x + h_{t-1} W_h)$, and `states`.

    trace: a run that has x (B, T, D). encoder: of kind rnn; its weights are those of its first layer, in one direction,
    and stand in the run as w_x, w_h and h_0, which is 0. shown: how many of the states `states` holds, beside each
    other, from h_1 on. Raises AttentionError: unknown_choice, positive_integer, step_twice; KeyError where the run has
    no x. Source: Elman 1990.

    >>> from attention_core import attend
    >>> trace = with_states(attend(torch.ones(3, 2).double()), Encoder("rnn", width=5), shown=2)
    >>> list(trace.computed())[-4:], trace["h_3"].shape, trace["states"].shape
    (['h_1', 'h_2', 'h_3', 'states'], torch.Size([1, 5]), torch.Size([1, 5, 2]))
    """
    require_one_of("kind", encoder.kind, ("rnn",))
    x = trace["x"]
    B, T, D = x.shape
    first_layer = draw_layers(encoder, D)[0]
    forward = first_layer[0]
    w_x = forward.w_x.to(x)
    w_h = forward.w_h.to(x)
    h_0 = x.new_zeros(B, encoder.width)
    inputs = {
        "w_x": Step("w_x", w_x, ("D", "d_h")),
        "w_h": Step("w_h", w_h, ("d_h", "d_h'")),
        "h_0": Step("h_0", h_0, ("B", "d_h")),
    }

    plan = []
    for t in range(T):
        next_step = Operation(
            output=f"h_{t + 1}",
            dims=("B", "d_h"),
            reads=("x", f"h_{t}", "w_x", "w_h"),
            faces=NEXT_STATE,
            params={"t": t},
        )
        plan.append(next_step)
    states = [step.output for step in plan]
    last_shown = require_positive("shown", shown)
    shown_states = Operation(
        output="states",
        dims=("B", "d_h", "T"),
        reads=tuple(states[:last_shown]),
        faces=SIDE_BY_SIDE,
    )
    with_inputs = Trace({**inputs, **trace.steps}, trace.labels)
    return with_inputs.then(*plan, shown_states)
