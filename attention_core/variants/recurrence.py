"""A recurrence as steps of a run: one state after the other, each from its word and the previous state."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.mechanism.plain_checks import require_one_of, require_positive
from attention_core.record.expressions import Cell, Operand
from attention_core.record.trace import Faces, Operation, Step, Trace
from attention_core.variants.encoders import Encoder, draw_layers
from attention_core.variants.recurrent_cells import Recurrence


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


# ---- a pass: one state after the other -----------------------------------------------------------------------------
@dataclass(frozen=True)
class Direction:
    """The positions of a pass, in the order of the pass, and the names of its steps.

    letter: the first part of the states' names, which are numbered by word from 1. ending: a suffix of all other names.
    """

    places: range
    letter: str = "h"
    ending: str = ""

    def number_before(self, t: int) -> int:
        """The number, from 1, of the word before position t in the order of the pass; at the start a number of no word.

        >>> Direction(range(3)).number_before(0), Direction(range(4, 1, -1)).number_before(4)
        (0, 6)
        """
        return t + 1 - self.places.step

    def states_around(self, t: int) -> tuple[str, str]:
        """The step names of the state before position t and of the state after it, in the order of the pass.

        >>> Direction(range(4, 1, -1), "g").states_around(4)
        ('g_6', 'g_5')
        """
        return f"{self.letter}_{self.number_before(t)}", f"{self.letter}_{t + 1}"

    @property
    def start(self) -> str:
        """The step name of the initial state."""
        before, _ = self.states_around(self.places.start)
        return before

    @property
    def states(self) -> list[str]:
        """The step names of the states that the pass computes, in order."""
        return [self.states_around(t)[1] for t in self.places]


@dataclass(frozen=True, eq=False)
class Pass:
    """A pass as parts of a run: its weights and initial state as inputs, and its operations."""

    inputs: dict[str, Step]
    plan: list[Operation]


def plan_pass(x: Float[Tensor, "B T D"], weights: Recurrence, direction: Direction) -> Pass:
    """Return the Pass of a tanh recurrence, one operation per word."""
    w_x = f"w_x{direction.ending}"
    w_h = f"w_h{direction.ending}"
    plan = []
    for t in direction.places:
        before, after = direction.states_around(t)
        plan.append(Operation(after, ("B", "d_h"), ("x", before, w_x, w_h), NEXT_STATE, {"t": t}))
    inputs = {
        w_x: Step(w_x, weights.w_x.to(x), ("D", "d_h")),
        w_h: Step(w_h, weights.w_h.to(x), ("d_h", "d_h'")),
    }
    return Pass({**inputs, direction.start: start_at_zero(direction.start, x, weights)}, plan)


def start_at_zero(name: str, x: Float[Tensor, "B T D"], weights: Recurrence) -> Step:
    """Return a step with the initial vector of a pass, zeros."""
    return Step(name, x.new_zeros(len(x), len(weights.w_h)), ("B", "d_h"))


def plan_shown(name: str, axis: str, states: Sequence[str]) -> Operation:
    """Return the operation that puts some states side by side along an axis."""
    return Operation(name, ("B", "d_h", axis), tuple(states), SIDE_BY_SIDE)


# ---- all of them -----------------------------------------------------------------------------------------------------
def with_states(trace: Trace, encoder: Encoder, shown: int = 1) -> Trace:
    r"""Add a tanh recurrence over x to a run: steps h_1 to h_T, $h_t = \tanh(x_t W_x + h_{t-1} W_h)$, and `states`.

    trace: a run that has x (B, T, D). encoder: of kind rnn; the weights of its first layer, in one direction, are added
    to the run as w_x and w_h, with h_0 = 0. shown: the number of states, from h_1 on, that `states` has side by side.
    Raises AttentionError: unknown_choice, positive_integer, step_twice; KeyError if the run has no x.
    Source: Elman 1990.

    >>> from attention_core import attend
    >>> trace = with_states(attend(torch.ones(3, 2).double()), Encoder("rnn", width=5), shown=2)
    >>> list(trace.computed())[-4:], trace["h_3"].shape, trace["states"].shape
    (['h_1', 'h_2', 'h_3', 'states'], torch.Size([1, 5]), torch.Size([1, 5, 2]))
    """
    require_one_of("kind", encoder.kind, ("rnn",))
    x = trace["x"]
    forward = draw_layers(encoder, x.shape[-1])[0][0]
    direction = Direction(range(x.shape[1]))
    onward = plan_pass(x, forward, direction)
    last_shown = require_positive("shown", shown)
    with_inputs = Trace({**onward.inputs, **trace.steps}, trace.labels)
    return with_inputs.then(*onward.plan, plan_shown("states", "T", direction.states[:last_shown]))
