"""Recurrent networks, step by step: tanh, GRU and LSTM, their weights, and a run over a whole sequence."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

RecurrentState = tuple[Tensor, ...]  # (h,), or (h, cell) for an LSTM


# ---- one step of a recurrence: from_x is x_t W_x + b -----------------------------------------------------------------
def rnn_cell(from_x: Float[Tensor, "B H"], state: RecurrentState, w_h: Float[Tensor, "H H"]) -> RecurrentState:
    r"""$h_t = \tanh(x_t W_x + h_{t-1} W_h + b)$ (Elman 1990)."""
    (h,) = state
    h = torch.tanh(from_x + h @ w_h)  # (B, H) x (H, H) -> (B, H)
    return (h,)


def gru_cell(from_x: Float[Tensor, "B 3*H"], state: RecurrentState, w_h: Float[Tensor, "H 3*H"]) -> RecurrentState:
    r"""$h_t = (1 - z) \odot n + z \odot h_{t-1}$, $n = \tanh(x_t W_n + r \odot h_{t-1} U_n)$ (Cho et al. 2014)."""
    (h,) = state
    from_h = h @ w_h  # (B, H) x (H, 3 H) -> (B, 3 H)
    # in torch's order, each (B, H)
    reset_x, keep_x, new_x = from_x.chunk(3, dim=-1)
    reset_h, keep_h, new_h = from_h.chunk(3, dim=-1)
    reset = torch.sigmoid(reset_x + reset_h)
    keep = torch.sigmoid(keep_x + keep_h)
    new = torch.tanh(new_x + reset * new_h)
    h = (1 - keep) * new + keep * h
    return (h,)


def lstm_cell(from_x: Float[Tensor, "B 4*H"], state: RecurrentState, w_h: Float[Tensor, "H 4*H"]) -> RecurrentState:
    r"""$c_t = f \odot c_{t-1} + i \odot g$, $h_t = o \odot \tanh(c_t)$ (Hochreiter, Schmidhuber 1997; Gers 2000)."""
    h, c = state
    gates = from_x + h @ w_h  # (B, H) x (H, 4 H) -> (B, 4 H)
    # in torch's order i, f, g, o, each (B, H)
    let_in, keep, new, out = gates.chunk(4, dim=-1)
    let_in = torch.sigmoid(let_in)
    keep = torch.sigmoid(keep)
    new = torch.tanh(new)
    out = torch.sigmoid(out)
    c = keep * c + let_in * new
    h = out * torch.tanh(c)
    return h, c


@dataclass(frozen=True)
class RecurrentCell:
    """A kind of recurrence.

    step: the function of one step. gates: the number of gates side by side in its matrices. keeping: the index of the
    gate that keeps the state; None without such a gate. states: the number of vectors in the state.
    """

    step: Callable[[Tensor, RecurrentState, Tensor], RecurrentState]
    gates: int = 1
    keeping: int | None = None
    states: int = 1


RECURRENT_CELLS = {
    "rnn": RecurrentCell(rnn_cell),
    "gru": RecurrentCell(gru_cell, gates=3, keeping=1),
    "lstm": RecurrentCell(lstm_cell, gates=4, keeping=1, states=2),
}


# ---- a whole sequence ------------------------------------------------------------------------------------------------
@dataclass(frozen=True, eq=False)
class Recurrence:
    """The weights of one direction of a recurrent layer, in row convention, G gates side by side."""

    w_h: Float[Tensor, "H G*H"]
    w_x: Float[Tensor, "D G*H"]
    b: Float[Tensor, " G*H"]


def run_recurrence(
    cell: RecurrentCell, x: Float[Tensor, "B T D"], weights: Recurrence, direction: int = 1
) -> Float[Tensor, "B T H"]:
    """Run one recurrence over the whole sequence: T steps, each of which needs the previous step.

    direction: 1 from the first word on, -1 from the last word back.
    """
    # (B, T, D) x (D, G H) -> (B, T, G H): the inputs' part, for all positions at once
    from_x = x @ weights.w_x + weights.b
    H = len(weights.w_h)
    nothing = x.new_zeros(len(x), H)
    state = (nothing,) * cell.states

    words = from_x.unbind(1)  # T times (B, G H)
    outputs = []
    for word in words[::direction]:
        state = cell.step(word, state, weights.w_h)
        h = state[0]
        outputs.append(h)
    outputs = outputs[::direction]
    return torch.stack(outputs, dim=1)  # T times (B, H) -> (B, T, H)
