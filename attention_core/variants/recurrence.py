"""A recurrence as steps of a run: one state after the other, each from the word before it and the state before it."""

from itertools import pairwise

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.mechanism.config import require_one_of, require_positive
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
    return torch.tanh(x[:, t] @ w_x + h @ w_h)  # (B, D) x (D, d_h) + (B, d_h) x (d_h, d_h) -> (B, d_h)


def next_state_numpy(x, h, w_x, w_h, *, t):
    return np.tanh(np.einsum("bd,dn->bn", x[:, t], w_x) + np.einsum("bm,mn->bn", h, w_h))


def next_state_formula(x, h, w_x, w_h, *, t):
    return rf"\tanh({x}_{{{t + 1}}}\,{w_x} + {h}\,{w_h})"


def next_state_cell(index, x: Operand, h: Operand, w_x: Operand, w_h: Operand, *, t) -> Cell:
    b, n = index
    from_word = tuple((x[b, t, m], w_x[m, n]) for m in range(w_x.shape[0]))
    from_state = tuple((h[b, m], w_h[m, n]) for m in range(w_h.shape[0]))
    return Cell((*from_word, *from_state), function="tanh")


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
    r"""The run with a tanh recurrence over its x behind it: steps h_1 to h_T, $h_t = \tanh(x_t W_x + h_{t-1} W_h)$, and
    `states`, the first of them beside each other.

    trace: a run that has x (B, T, D). encoder: of kind rnn; its weights are those of its first layer, in one direction,
    and stand in the run as w_x, w_h and h_0, which is 0. shown: how many of the states are in `states`. Raises
    AttentionError: unknown_choice, positive_integer, step_twice; KeyError where the run has no x. Source: Elman 1990.

    >>> from attention_core import attend
    >>> trace = with_states(attend(torch.ones(3, 2).double()), Encoder("rnn", width=5), shown=2)
    >>> list(trace.computed())[-4:], trace["h_3"].shape, trace["states"].shape
    (['h_1', 'h_2', 'h_3', 'states'], torch.Size([1, 5]), torch.Size([1, 5, 2]))
    """
    require_one_of("kind", encoder.kind, ("rnn",))
    x = trace["x"]
    ((forward, *_), *_) = draw_layers(encoder, x.shape[-1])
    given = {
        "w_x": Step("w_x", forward.w_x.to(x.dtype), ("D", "d_h")),
        "w_h": Step("w_h", forward.w_h.to(x.dtype), ("d_h", "d_h'")),
        "h_0": Step("h_0", x.new_zeros(len(x), encoder.width), ("B", "d_h")),
    }
    names = [f"h_{t}" for t in range(x.shape[1] + 1)]
    steps = [
        Operation(after, ("B", "d_h"), ("x", before, "w_x", "w_h"), NEXT_STATE, {"t": t})
        for t, (before, after) in enumerate(pairwise(names))
    ]
    together = Operation(
        "states", ("B", "d_h", "T"), tuple(names[1 : require_positive("shown", shown) + 1]), SIDE_BY_SIDE
    )
    return Trace({**given, **trace.steps}, trace.labels).then(*steps, together)
