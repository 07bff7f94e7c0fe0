"""A recurrence as steps of a run: one state after the other, each from the word before it and the state before it."""

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.mechanism.plain_checks import require_one_of, require_positive
from attention_core.record.errors import AttentionError
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
    forward = draw_layers(encoder, x.shape[-1])[0][0]
    states, plan = plan_pass("h", range(x.shape[1]), "h_0", ("w_x", "w_h"))
    last_shown = require_positive("shown", shown)
    plan.append(plan_shown("states", "T", states[:last_shown]))
    with_inputs = Trace({**pass_inputs("h_0", forward, x, ("w_x", "w_h")), **trace.steps}, trace.labels)
    return with_inputs.then(*plan)


def with_both_passes(trace: Trace, encoder: Encoder, steps: int) -> Trace:
    r"""Add the first steps of a recurrence in both directions to a run, $g_t = \tanh(x_t W_x' + g_{t+1} W_h')$.

    The first pass makes h_1, h_2, ... from the first word on, the second makes g_T, g_(T-1), ... from the last one;
    `states` and `states_back` (on the axis T') hold them beside each other, in the order of the words. The vector of a
    word is both of its states side by side, as soon as both passes have come by.

    trace: a run that has x (B, T, D). encoder: of kind rnn with `both`; its weights are those of its first layer.
    steps: how many steps of each pass, at most T. Raises AttentionError: unknown_choice, positive_integer, at_most,
    step_twice. Source: Schuster, Paliwal 1997, section II.

    >>> from attention_core import attend
    >>> trace = with_both_passes(attend(torch.ones(3, 2).double()), Encoder("rnn", width=5, both=True), steps=2)
    >>> list(trace.computed())[-6:], trace["states_back"].shape
    (['h_1', 'h_2', 'states', 'g_3', 'g_2', 'states_back'], torch.Size([1, 5, 2]))
    """
    require_one_of("kind", encoder.kind, ("rnn",))
    if not encoder.both:
        raise AttentionError("unknown_choice", name="both", choices="True", given=repr(encoder.both))
    x = trace["x"]
    T = x.shape[1]
    if require_positive("steps", steps) > T:
        raise AttentionError("at_most", name="steps", limit=T, given=steps)
    forward, backward = draw_layers(encoder, x.shape[-1])[0]
    end = f"g_{T + 1}"  # what stands behind the last word
    names, names_back = ("w_x", "w_h"), ("w_x_back", "w_h_back")
    onward, first_plan = plan_pass("h", range(steps), "h_0", names)
    back, second_plan = plan_pass("g", range(T - 1, T - 1 - steps, -1), end, names_back)
    inputs = pass_inputs("h_0", forward, x, names) | pass_inputs(end, backward, x, names_back)
    with_inputs = Trace({**inputs, **trace.steps}, trace.labels)
    passed = with_inputs.then(
        *first_plan,
        plan_shown("states", "T", onward),
        *second_plan,
        plan_shown("states_back", "T'", back[::-1]),
    )
    words = trace.labels.get("T")
    return passed.labelled(**{"T'": words[T - steps :]}) if words else passed


def passed_places(length: int, steps: int) -> tuple[range, range, range]:
    """List the places that the first pass has come by after some steps, the second one, and both of them.

    >>> passed_places(5, 3)
    (range(0, 3), range(2, 5), range(2, 3))
    """
    onward = range(steps)
    back = range(length - steps, length)
    return onward, back, range(back.start, onward.stop)


def pass_inputs(start: str, weights: Recurrence, x: Float[Tensor, "B T D"], names: tuple[str, str]) -> dict[str, Step]:
    """The weights of a pass, by their names, and the state with which it starts, which is 0."""
    w_x, w_h = names
    before = x.new_zeros(len(x), len(weights.w_h))
    return {
        w_x: Step(w_x, weights.w_x.to(x), ("D", "d_h")),
        w_h: Step(w_h, weights.w_h.to(x), ("d_h", "d_h'")),
        start: Step(start, before, ("B", "d_h")),
    }


def plan_pass(letter: str, places: range, start: str, names: tuple[str, str]) -> tuple[list[str], list[Operation]]:
    """The names of the states of a pass over some places, which count from 1, and the steps that make them."""
    plan = []
    before = start
    for t in places:
        after = f"{letter}_{t + 1}"
        plan.append(Operation(after, ("B", "d_h"), ("x", before, *names), NEXT_STATE, {"t": t}))
        before = after
    return [step.output for step in plan], plan


def plan_shown(name: str, axis: str, states: list[str]) -> Operation:
    """The step that holds some states beside each other along an axis."""
    return Operation(name, ("B", "d_h", axis), tuple(states), SIDE_BY_SIDE)
