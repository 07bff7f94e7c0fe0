"""Adds a recurrence to a run as steps, one state after another: a tanh network or an LSTM, in one or both
directions.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.mechanism.plain_checks import require_one_of, require_positive
from attention_core.record.errors import AttentionError
from attention_core.record.expressions import Cell, Operand
from attention_core.record.trace import Faces, Operation, Step, Trace
from attention_core.variants.encoders import Encoder, Recurrence, draw_layers

# Gates and candidate of an LSTM, in torch's order -> activation function.
GATES = {"input_gate": "sigmoid", "forget_gate": "sigmoid", "candidate": "tanh", "output_gate": "sigmoid"}


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
    return torch.stack(states, dim=-1)  # T states (B, d_h) -> (B, d_h, T)


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
    """One direction in which a recurrence reads the words: the positions in reading order, and how the steps are named.

    places: the positions. letter: the first part of a state's name, before the word's place in the sentence, which
    counts from 1. ending: the suffix of the names of all other steps.
    """

    places: range
    letter: str = "h"
    ending: str = ""

    def number_before(self, t: int) -> int:
        """Return the number, from 1, of the word read just before the word at position t.

        For the first word in the order of reading, no word has this place.

        >>> Direction(range(3)).number_before(0), Direction(range(4, 1, -1)).number_before(4)
        (0, 6)
        """
        return t + 1 - self.places.step

    def states_around(self, t: int) -> tuple[str, str]:
        """Return the names of two steps: the state before the word at position t is read, and the state after it is
        read.

        >>> Direction(range(4, 1, -1), "g").states_around(4)
        ('g_6', 'g_5')
        """
        return f"{self.letter}_{self.number_before(t)}", f"{self.letter}_{t + 1}"

    @property
    def start(self) -> str:
        """The name of the initial state's step."""
        before, _ = self.states_around(self.places.start)
        return before

    @property
    def states(self) -> list[str]:
        """The names of the steps of all states that the pass computes, in order."""
        return [self.states_around(t)[1] for t in self.places]


@dataclass(frozen=True, eq=False)
class Pass:
    """One pass of a recurrence over the words: its input steps (weights, initial state) and its operations (`plan`)."""

    inputs: dict[str, Step]
    plan: list[Operation]


def plan_pass(x: Float[Tensor, "B T D"], weights: Recurrence, direction: Direction) -> Pass:
    """Return the input steps and operations (a Pass) of a tanh recurrence, with one operation per word.

    x: (B, T, D). weights: w_x (D, d_h) and w_h (d_h, d_h). direction: the order of the words and the names of the
    steps.
    """
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
    """Return an input step with the initial state or cell of a recurrence, a zero vector (B, d_h).

    name: the name of the step.
    """
    return Step(name, x.new_zeros(len(x), len(weights.w_h)), ("B", "d_h"))


def plan_shown(name: str, axis: str, states: Sequence[str]) -> Operation:
    """Return the operation that stacks some states along a new last axis, so that a picture can show them together.

    name: the name of the resulting step. axis: the name of the new axis. states: the names of the states' steps.
    """
    return Operation(name, ("B", "d_h", axis), tuple(states), SIDE_BY_SIDE)


# ---- all of them -----------------------------------------------------------------------------------------------------
def with_states(trace: Trace, encoder: Encoder, shown: int = 1) -> Trace:
    r"""Add a tanh recurrence over x to a run: steps h_1 to h_T, $h_t = \tanh(x_t W_x + h_{t-1} W_h)$, and `states`.

    trace: a run that has x (B, T, D). encoder: an encoder of kind rnn; the weights of its first layer, in one
    direction, are added to the run as w_x and w_h, with h_0 = 0. shown: how many states, from h_1 on, are stacked in
    the step `states`. Raises AttentionError: unknown_choice, positive_integer, step_twice; KeyError if the run has no
    x. Source: Elman 1990.

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


# ---- a gate, or the candidate (Hochreiter, Schmidhuber 1997; the forget gate: Gers et al. 2000) ----------------------
def next_gate(
    x: Float[Tensor, "B T D"],
    h: Float[Tensor, "B d_h"],
    w_x: Float[Tensor, "D d_h"],
    w_h: Float[Tensor, "d_h d_h"],
    b: Float[Tensor, " d_h"],
    *,
    t,
    function,
) -> Float[Tensor, "B d_h"]:
    word = x[:, t]  # (B, D)
    from_word = word @ w_x  # (B, D) x (D, d_h) -> (B, d_h)
    from_state = h @ w_h  # (B, d_h) x (d_h, d_h) -> (B, d_h)
    both = from_word + from_state + b
    return torch.tanh(both) if function == "tanh" else torch.sigmoid(both)


def next_gate_numpy(x, h, w_x, w_h, b, *, t, function):
    word = x[:, t]
    from_word = np.einsum("bd,dn->bn", word, w_x)
    from_state = np.einsum("bm,mn->bn", h, w_h)
    both = from_word + from_state + b
    return np.tanh(both) if function == "tanh" else np.exp(-np.logaddexp(0.0, -both))


def next_gate_formula(x, h, w_x, w_h, b, *, t, function):
    sign = r"\tanh" if function == "tanh" else r"\sigma"
    return rf"{sign}({x}_{{{t + 1}}}\,{w_x} + {h}\,{w_h} + {b})"


def next_gate_cell(index, x: Operand, h: Operand, w_x: Operand, w_h: Operand, b: Operand, *, t, function) -> Cell:
    sentence, n = index
    terms = []
    D, _ = w_x.shape
    for m in range(D):
        terms.append((x[sentence, t, m], w_x[m, n]))
    d_h, _ = w_h.shape
    for m in range(d_h):
        terms.append((h[sentence, m], w_h[m, n]))
    terms.append((b[n],))
    return Cell(tuple(terms), function)


NEXT_GATE = Faces(next_gate, next_gate_numpy, next_gate_formula, next_gate_cell)


# ---- the cell: what is kept of the one before it, and what comes in (Gers et al. 2000) -------------------------------
def next_cell(
    forget_gate: Float[Tensor, "B d_h"],
    before: Float[Tensor, "B d_h"],
    input_gate: Float[Tensor, "B d_h"],
    candidate: Float[Tensor, "B d_h"],
) -> Float[Tensor, "B d_h"]:
    return forget_gate * before + input_gate * candidate


def next_cell_numpy(forget_gate, before, input_gate, candidate):
    return np.add(np.multiply(forget_gate, before), np.multiply(input_gate, candidate))


def next_cell_formula(forget_gate, before, input_gate, candidate):
    return rf"{forget_gate} \odot {before} + {input_gate} \odot {candidate}"


def next_cell_cell(index, forget_gate: Operand, before: Operand, input_gate: Operand, candidate: Operand) -> Cell:
    kept = (forget_gate[index], before[index])
    added = (input_gate[index], candidate[index])
    return Cell((kept, added))


NEXT_CELL = Faces(next_cell, next_cell_numpy, next_cell_formula, next_cell_cell)


# ---- the state: what the output gate lets out of the cell ------------------------------------------------------------
def let_out(output_gate: Float[Tensor, "B d_h"], cell: Float[Tensor, "B d_h"]) -> Float[Tensor, "B d_h"]:
    return output_gate * torch.tanh(cell)


def let_out_numpy(output_gate, cell):
    return np.multiply(output_gate, np.tanh(cell))


def let_out_formula(output_gate, cell):
    return rf"{output_gate} \odot \tanh({cell})"


def let_out_cell(index, output_gate: Operand, cell: Operand) -> Cell:
    return Cell(((output_gate[index],), (cell[index],)), function="times_tanh")


LET_OUT = Faces(let_out, let_out_numpy, let_out_formula, let_out_cell)


# ---- a pass: one word after the other --------------------------------------------------------------------------------
def plan_gated_pass(x: Float[Tensor, "B T D"], weights: Recurrence, direction: Direction) -> Pass:
    r"""Return the input steps and operations (a Pass) of an LSTM over the words, with six operations per word.

    $c_t = f \odot c_{t-1} + i \odot \tilde{c}$, $h_t = o \odot \tanh(c_t)$. Each of i, f and o is $\sigma(x_t W_x +
    h_{t-1} W_h + b)$ and $\tilde{c}$ is $\tanh(x_t W_x + h_{t-1} W_h + b)$, with separate weights.

    x: (B, T, D). weights: w_x (D, 4 d_h), w_h (d_h, 4 d_h) and b (4 d_h), in torch's order i, f, c̃, o. Source:
    Hochreiter, Schmidhuber 1997; Gers et al. 2000 (the forget gate).

    >>> weights = Recurrence(w_h=torch.ones(2, 8), w_x=torch.ones(3, 8), b=torch.ones(8))
    >>> planned = plan_gated_pass(torch.ones(1, 5, 3), weights, Direction(range(4, 3, -1), "g", "_back"))
    >>> [step.output for step in planned.plan][2:], planned.plan[-2].reads[1]
    (['candidate_back_5', 'output_gate_back_5', 'cell_back_5', 'g_5'], 'cell_back_6')
    """
    plan = []
    for t in direction.places:
        plan += plan_gates(direction, t)
        plan += plan_cell_and_state(direction, t)
    inputs = gate_weights(x, weights, direction.ending)
    for start in (direction.start, cells_around(direction, direction.places.start)[0]):
        inputs[start] = start_at_zero(start, x, weights)
    return Pass(inputs, plan)


def plan_gates(direction: Direction, t: int) -> list[Operation]:
    """Return the operations that compute the three gates and the candidate at position t."""
    before, _ = direction.states_around(t)
    plan = []
    for gate, function in GATES.items():
        reads = ("x", before, *weight_names(gate, direction.ending))
        output = name_at(gate, direction, t + 1)
        plan.append(Operation(output, ("B", "d_h"), reads, NEXT_GATE, {"t": t, "function": function}))
    return plan


def plan_cell_and_state(direction: Direction, t: int) -> list[Operation]:
    """Return the operations that compute the cell and the state at position t."""
    let_in, keep, new, out = (name_at(gate, direction, t + 1) for gate in GATES)
    before, cell = cells_around(direction, t)
    _, state = direction.states_around(t)
    return [
        Operation(cell, ("B", "d_h"), (keep, before, let_in, new), NEXT_CELL),
        Operation(state, ("B", "d_h"), (out, cell), LET_OUT),
    ]


def cells_around(direction: Direction, t: int) -> tuple[str, str]:
    """Return the names of two steps of an LSTM: the cell before the word at position t is read, and the cell after
    it.
    """
    before = direction.number_before(t)
    return name_at("cell", direction, before), name_at("cell", direction, t + 1)


def name_at(what: str, direction: Direction, number: int) -> str:
    """Return the name of a step for one word: of a gate, of the candidate or of the cell.

    what: "forget_gate", "cell" and so on. number: the word's place in the sentence, from 1.
    """
    return f"{what}{direction.ending}_{number}"


def weight_names(gate: str, ending: str) -> list[str]:
    """Return the names of a gate's two matrices and of its bias.

    ending: the suffix that marks the direction of reading: "" or "_back".

    >>> weight_names("forget_gate", "_back")
    ['w_x_forget_gate_back', 'w_h_forget_gate_back', 'b_forget_gate_back']
    """
    return [f"{letter}_{gate}{ending}" for letter in ("w_x", "w_h", "b")]


def gate_weights(x: Float[Tensor, "B T D"], weights: Recurrence, ending: str) -> dict[str, Step]:
    """Return {name: step} of the weights of one direction of an LSTM, split by gate."""
    G = len(GATES)
    of_words = weights.w_x.to(x).chunk(G, dim=-1)  # (D, G d_h) -> G times (D, d_h)
    of_states = weights.w_h.to(x).chunk(G, dim=-1)  # (d_h, G d_h) -> G times (d_h, d_h)
    biases = weights.b.to(x).chunk(G, dim=-1)  # (G d_h,) -> G times (d_h,)
    steps = {}
    for gate, of_word, of_state, bias in zip(GATES, of_words, of_states, biases, strict=True):
        w_x, w_h, b = weight_names(gate, ending)
        steps[w_x] = Step(w_x, of_word.contiguous(), ("D", "d_h"))
        steps[w_h] = Step(w_h, of_state.contiguous(), ("d_h", "d_h'"))
        steps[b] = Step(b, bias.contiguous(), ("d_h",))
    return steps


# ---- both directions: one pass from the first word on, one from the last word back -----------------------------------
PASS_PLANNERS = {"rnn": plan_pass, "lstm": plan_gated_pass}


def with_both_passes(trace: Trace, encoder: Encoder, steps: int) -> Trace:
    r"""Add the first steps of a recurrence in both directions to a run.

    $h_t = f(x_t, h_{t-1})$ and $g_t = f'(x_t, g_{t+1})$, where f and f' are one step of a tanh recurrence or of an
    LSTM.

    The first pass computes h_1, h_2, ... from the first word on. The second pass computes g_T, g_(T-1), ... from the
    last word back. `states` and `states_back` (on the axis T') are these states, concatenated in the order of the
    words. When both passes have reached a word, its states h_t and g_t are concatenated as its vector. Names of the
    second pass's steps end with `_back`; an LSTM has the gates and cells that plan_gated_pass computes.

    trace: a run that has x (B, T, D). encoder: of kind rnn or lstm with `both`; only the weights of its first layer are
    used. steps: the number of steps of each pass, at most T. Raises AttentionError: unknown_choice, positive_integer,
    at_most, step_twice; KeyError if the run has no x. Source: Schuster, Paliwal 1997, section II.

    >>> import torch
    >>> from attention_core import attend
    >>> run = attend(torch.ones(3, 2).double())
    >>> trace = with_both_passes(run, Encoder("rnn", width=5, both=True), steps=2)
    >>> list(trace.computed())[-6:], trace["states_back"].shape
    (['h_1', 'h_2', 'states', 'g_3', 'g_2', 'states_back'], torch.Size([1, 5, 2]))
    >>> gated = with_both_passes(run, Encoder("lstm", width=5, both=True), steps=2)
    >>> gated.step("g_2").operation.reads, gated.step("cell_back_2").operation.reads[:2]
    (('output_gate_back_2', 'cell_back_2'), ('forget_gate_back_2', 'cell_back_3'))
    """
    plan_one_pass = PASS_PLANNERS[require_one_of("kind", encoder.kind, tuple(PASS_PLANNERS))]
    if not encoder.both:
        raise AttentionError("unknown_choice", name="both", choices="True", given=repr(encoder.both))
    x = trace["x"]
    T = x.shape[1]
    if require_positive("steps", steps) > T:
        raise AttentionError("at_most", name="steps", limit=T, given=steps)
    forward, backward = draw_layers(encoder, x.shape[-1])[0]
    onward = Direction(range(steps))
    back = Direction(range(T - 1, T - 1 - steps, -1), "g", "_back")
    first = plan_one_pass(x, forward, onward)
    second = plan_one_pass(x, backward, back)
    with_inputs = Trace({**first.inputs, **second.inputs, **trace.steps}, trace.labels)
    passed = with_inputs.then(
        *first.plan,
        plan_shown("states", "T", onward.states),
        *second.plan,
        plan_shown("states_back", "T'", back.states[::-1]),
    )
    words = trace.labels.get("T")
    return passed.labelled(**{"T'": words[T - steps :]}) if words else passed


def passed_places(length: int, steps: int) -> tuple[range, range, range]:
    """Return three ranges of positions: those that the first pass, the second pass, and both have read after some
    steps.

    >>> passed_places(5, 3)
    (range(0, 3), range(2, 5), range(2, 3))
    """
    onward = range(steps)
    back = range(length - steps, length)
    return onward, back, range(back.start, onward.stop)
