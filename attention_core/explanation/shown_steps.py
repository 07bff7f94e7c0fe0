"""Decides which steps the app shows: steps that only copy numbers are in the Trace, but are not shown.

Formulas, sums, workbook sheets, documents and the trail from a number back to the input use these functions. Of several
steps with the same numbers in the same rows and columns, the app shows one: the step with a letter (Q, K, V), else the
first.
"""

from collections.abc import Mapping
from dataclasses import replace

from attention_core.explanation.arithmetic import Explanation, Piece, explain
from attention_core.mechanism.operations import MASK, MASK_TO_ZERO, MERGE, PASS_ON, ROOT_SCALE, SCALE, SPLIT
from attention_core.record.expressions import Ref
from attention_core.record.trace import Trace

LETTERED = ("q", "k", "v", "k_new", "v_new")  # steps that formulas write as one letter
# Operations that may only copy: a mask that allows all pairs, a factor of 1, a rearrangement.
MASKING, SCALING, MOVING = (MASK, MASK_TO_ZERO), (SCALE, ROOT_SCALE), (SPLIT, MERGE, PASS_ON)


def changes_nothing(trace: Trace, name: str) -> bool:
    """Return whether a step has the numbers of its source, in the same rows and columns.

    >>> import torch
    >>> from attention_core import AttentionConfig, attend_qkv
    >>> free = attend_qkv(*3 * [torch.eye(2)])
    >>> masked = attend_qkv(*3 * [torch.eye(2)], config=AttentionConfig(masks=["causal"]))
    >>> changes_nothing(free, "masked_scores"), changes_nothing(masked, "masked_scores")
    (True, False)
    """
    step = trace.step(name)
    if step.operation is None or not copies_numbers(trace, name):
        return False
    source = trace.step(step.operation.reads[0])
    return source.shape[-2:] == step.shape[-2:]


def copies_numbers(trace: Trace, name: str) -> bool:
    """Return whether a step copies every number from its source, possibly to another position."""
    operation = trace.step(name).operation
    if operation.faces in MASKING:
        return all(bool(trace[mask].all()) for mask in operation.reads[1:])
    if operation.faces in SCALING:
        return operation.params["factor"] == operation.params["temperature"] == 1.0
    return operation.faces in MOVING


def steps_copied(trace: Trace, name: str) -> list[str]:
    """Return a step and the earlier steps with the same numbers in the same rows and columns, the latest first.

    >>> import torch
    >>> from attention_core import attend_qkv
    >>> steps_copied(attend_qkv(*3 * [torch.eye(2)]), "output")
    ['output', 'concat', 'head_outputs']
    """
    steps = [name]
    while changes_nothing(trace, steps[-1]):
        steps.append(trace.step(steps[-1]).operation.reads[0])
    return steps


def shown_name(trace: Trace, name: str) -> str:
    """Return the name of the shown step that has the same numbers as this step; for an input, its own name.

    >>> import torch
    >>> from attention_core import Weights, attend
    >>> trace = attend(torch.eye(2), weights=Weights(w_q=torch.eye(2)))
    >>> shown_name(trace, "q_projected"), shown_name(trace, "masked_scores"), shown_name(trace, "weights")
    ('q', 'scaled_scores', 'weights')
    """
    first = steps_copied(trace, name)[-1]
    if name in LETTERED or trace.step(first).operation is None:
        return name
    letters = [letter for letter in LETTERED if letter in trace and first in steps_copied(trace, letter)]
    return letters[0] if letters else first


def shown_steps(trace: Trace) -> list[str]:
    """Return the names of the steps that the app shows, including inputs, in order.

    >>> import torch
    >>> from attention_core import attend_qkv
    >>> shown_steps(attend_qkv(*3 * [torch.eye(2)]))
    ['q', 'k', 'v', 'scores', 'scaled_scores', 'weights', 'head_outputs']
    """
    return [name for name in trace.steps if shown_name(trace, name) == name]


def explain_shown(trace: Trace, step: str, index: tuple[int, ...]) -> Explanation:
    """Write out the arithmetic of one cell; for a copied number, the arithmetic of the cell from which it was copied.

    The operands of this arithmetic refer to steps that the app shows. Raises the errors of `explain`.

    >>> import torch
    >>> from attention_core import Weights, attend
    >>> w = torch.tensor([[3.0], [5.0]])
    >>> trace = attend(torch.tensor([[1.0, 2.0]]), weights=Weights(w_q=w, w_k=w))
    >>> explain_shown(trace, "q", (0, 0, 0, 0)).text
    '1.00 × 3.00 + 2.00 × 5.00 = 13.00'
    """
    cell = Ref(step, tuple(index))
    computed = computed_cell(trace, cell) if trace.holds(step, cell.index) else cell
    explained = explain(trace, computed.step, computed.index)
    operands = [piece.ref for piece in explained.pieces if piece.ref is not None]
    names = {step: shown_name(trace, step) for step in {ref.step for ref in operands}}
    pieces = [show_operand(trace, piece, names) for piece in explained.pieces]
    return replace(explained, step=cell.step, index=cell.index, pieces=tuple(pieces))


def computed_cell(trace: Trace, cell: Ref) -> Ref:
    """Return the cell from which a cell was copied, or the cell itself if it was computed or given."""
    while trace.step(cell.step).operation is not None and copies_numbers(trace, cell.step):
        (cell,) = [ref for ref in trace.read_by(cell) if trace[ref.step].is_floating_point()]
    return cell


def is_computed(trace: Trace, name: str) -> bool:
    """Return whether a step's numbers were computed: it is no input, and no copy of one.

    >>> import torch
    >>> from attention_core import attend_qkv
    >>> is_computed(attend_qkv(*3 * [torch.eye(2)]), "q")
    False
    """
    first = Ref(name, (0,) * len(trace.step(name).shape))
    return trace.step(computed_cell(trace, first).step).operation is not None


def show_operand(trace: Trace, piece: Piece, names: Mapping[str, str]) -> Piece:
    """Return a piece of arithmetic in which each reference to a hidden step is replaced by one to the step shown for
    it.

    piece: a part of a written calculation. names: {step: the step that is shown for it}.
    """
    if piece.ref is None:
        return piece
    name = names[piece.ref.step]
    if name == piece.ref.step:
        return piece
    return replace(piece, ref=Ref(name, cell_in(trace, piece.ref, name)))


def cell_in(trace: Trace, cell: Ref, name: str) -> tuple[int, ...]:
    """Return the index of a cell in another step that has the same rows and columns.

    The other axes of that step have length 1, or are the same as in the cell's step.
    """
    step = trace.step(name)
    place = dict(zip(trace.step(cell.step).dims, cell.index, strict=True))
    outer = []
    for dim, size in zip(step.dims[:-2], step.shape[:-2], strict=True):
        outer.append(place.get(dim, 0) if size > 1 else 0)
    return (*outer, *cell.index[-2:])
