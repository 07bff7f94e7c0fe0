"""An LSTM as steps of a run: at each word three gates and a candidate, then the cell, then the state."""

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.record.expressions import Cell, Operand
from attention_core.record.trace import Faces, Operation, Step
from attention_core.variants.recurrence import Direction, Pass, start_at_zero
from attention_core.variants.recurrent_cells import Recurrence

# gate, or candidate, of a step -> its activation, in torch's order
GATES = {"input_gate": "sigmoid", "forget_gate": "sigmoid", "candidate": "tanh", "output_gate": "sigmoid"}


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
    r"""Return the Pass of an LSTM, six operations per word.

    $c_t = f \odot c_{t-1} + i \odot \tilde{c}$, $h_t = o \odot \tanh(c_t)$, where each of i, f and o is
    $\sigma(x_t W_x + h_{t-1} W_h + b)$ and $\tilde{c}$ is $\tanh(x_t W_x + h_{t-1} W_h + b)$, with separate weights.

    x (B, T, D). weights: w_x (D, 4 d_h), w_h (d_h, 4 d_h) and b (4 d_h), in torch's order i, f, c̃, o.
    Source: Hochreiter, Schmidhuber 1997; Gers et al. 2000 (the forget gate).

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
    """The step names of the cell before position t and of the cell after it, in the order of the pass."""
    before = direction.number_before(t)
    return name_at("cell", direction, before), name_at("cell", direction, t + 1)


def name_at(what: str, direction: Direction, number: int) -> str:
    """The name of a pass's step: a gate or a cell at the word with this number."""
    return f"{what}{direction.ending}_{number}"


def weight_names(gate: str, ending: str) -> list[str]:
    """The names of a gate's two matrices and of its bias.

    >>> weight_names("forget_gate", "_back")
    ['w_x_forget_gate_back', 'w_h_forget_gate_back', 'b_forget_gate_back']
    """
    return [f"{letter}_{gate}{ending}" for letter in ("w_x", "w_h", "b")]


def gate_weights(x: Float[Tensor, "B T D"], weights: Recurrence, ending: str) -> dict[str, Step]:
    """Name -> step, for the weights of one direction of an LSTM, split by gate."""
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
