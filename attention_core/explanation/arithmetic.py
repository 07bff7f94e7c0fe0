"""Writes out the arithmetic of one cell as pieces of text; each operand is linked to its own cell."""

from dataclasses import dataclass

import torch

from attention_core.record.cell_functions import write_cell
from attention_core.record.cell_text import Part, Subtotal, Written
from attention_core.record.errors import AttentionError
from attention_core.record.expressions import Cell, Constant, Factor, Ref, factor_value
from attention_core.record.notebook_picture import NotebookPicture
from attention_core.record.number_text import format_or_scientific
from attention_core.record.trace import Trace


@dataclass(frozen=True)
class Piece:
    """A piece of the text of a cell's arithmetic: an operand, the text between operands, or a subtotal of omitted
    terms.

    ref: if the piece is an operand, its cell. rest: if the piece is a subtotal, the number and the sum of the omitted
    terms.
    """

    text: str
    ref: Ref | None = None
    rest: tuple[int, float] | None = None


@dataclass(frozen=True)
class Explanation(NotebookPicture):
    """One cell of a step: its index, number and expression, and its arithmetic as pieces of text."""

    step: str
    index: tuple[int, ...]
    value: float
    cell: Cell | None
    pieces: tuple[Piece, ...]

    @property
    def text(self) -> str:
        """Return the arithmetic as one line of text."""
        return "".join(piece.text for piece in self.pieces)


def explain(trace: Trace, step: str, index: tuple[int, ...]) -> Explanation:
    """Write out the arithmetic of one cell of a step; for an input, only its number.

    index: one position for each axis of trace.step(step).dims. Raises KeyError for an unknown step and AttentionError
    (a ValueError) for an index outside it.

    >>> import torch
    >>> from attention_core import attend_qkv
    >>> trace = attend_qkv(torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0, -1.0]]), torch.tensor([[5.0]]))
    >>> explain(trace, "scores", (0, 0, 0, 0)).text
    '1.00 × 3.00 + 2.00 × (−1.00) = 1.00'
    """
    trace = trace.on_cpu()  # one copy per step from the GPU, not one per number
    value = trace[step]
    index = tuple(index)
    if not trace.holds(step, index):
        raise AttentionError(
            "index",
            name=step,
            axes=f"{value.dim()} whole numbers",
            shape=tuple(value.shape),
            given=index,
        )
    number = float(value[index].item())  # item() also accepts a tensor that requires a gradient
    text = format_step_number(trace, step, number)
    operation = trace.step(step).operation
    if operation is None:
        piece = Piece(text)
        return Explanation(step, index, number, cell=None, pieces=(piece,))
    cell = operation.cell(index, trace.shapes())
    parts = write_cell(cell, lambda ref: number_at(trace, ref))
    pieces = [part_piece(trace, part) for part in parts]
    sign = "⇒" if value.dtype == torch.bool else "="
    pieces.append(Piece(f" {sign} {text}"))
    return Explanation(step, index, number, cell, tuple(pieces))


def number_at(trace: Trace, factor: Factor) -> float:
    """Return an operand's number: the value of a constant, or the number of the cell in the trace."""
    return factor_value(factor, lambda ref: trace[ref.step][ref.index].item())


def format_step_number(trace: Trace, step: str, number: float) -> str:
    """Format a number of a step with two decimals; a truth value is formatted as 1 or 0."""
    if trace.step(step).dtype == torch.bool:
        return str(int(number))
    return format_or_scientific(number)


def part_piece(trace: Trace, part: Part) -> Piece:
    """Return one part of a cell's text as a Piece; its numbers are formatted."""
    if isinstance(part, Written):
        return operand_piece(trace, part.factor, part.bracket)
    if isinstance(part, Subtotal):
        text = f"({part.count} smaller: {format_or_scientific(part.total)})"
        return Piece(text, rest=(part.count, part.total))
    return Piece(part)


def operand_piece(trace: Trace, factor: Factor, bracket: bool = False) -> Piece:
    """Return an operand as a Piece; a constant with its own text, such as "1/√2", is written as this text."""
    if isinstance(factor, Constant):
        ref = None
        text = factor.text or format_or_scientific(factor.value)
    else:
        ref = factor
        text = format_step_number(trace, factor.step, number_at(trace, factor))
    is_negative = text[0] in "−-"
    is_sum = " " in text and text[0] != "|"
    if bracket and (is_negative or is_sum):
        text = f"({text})"
    return Piece(text, ref)
