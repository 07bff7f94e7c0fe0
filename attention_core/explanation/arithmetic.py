"""One number followed back: its cell's arithmetic as pieces of text, each operand linked to the step it stands in."""

import math
from dataclasses import dataclass

import torch

from attention_core.record.errors import AttentionError
from attention_core.record.expressions import (
    MIN_VECTOR_LENGTH,
    Cell,
    Constant,
    Factor,
    Ref,
    factor_value,
    multiply_factors,
    sum_rounded_once,
)
from attention_core.record.number_text import format_or_scientific
from attention_core.record.trace import Trace

MAX_SHOWN_TERMS = 12  # a longer sum shows its largest terms and the subtotal of the rest
READABLE_SCORES = (-3.0, 14.0)  # a row's largest score: its sum of powers stays between 0.05 and some millions
MAX_EXPONENT = 709.0  # exp of more than this is more than a float holds


@dataclass(frozen=True)
class Piece:
    """A part of the written arithmetic: `ref` links an operand, `rest` holds (count, subtotal) of terms not shown."""

    text: str
    ref: Ref | None = None
    rest: tuple[int, float] | None = None


@dataclass(frozen=True)
class Explanation:
    """One cell: where it stands, its number, its expression, and the arithmetic in pieces."""

    step: str
    index: tuple[int, ...]
    value: float
    cell: Cell | None
    pieces: tuple[Piece, ...]

    @property
    def text(self) -> str:
        """The arithmetic as one line of text."""
        return "".join(piece.text for piece in self.pieces)


def explain(trace: Trace, step: str, index: tuple[int, ...]) -> Explanation:
    """Write out the arithmetic of one cell of one step; of an input, which was given, only its number.

    index: one position an axis, as in trace.step(step).dims. Raises KeyError for an unknown step and AttentionError (a
    ValueError) for an index outside it.

    >>> import torch
    >>> from attention_core import attend_qkv
    >>> trace = attend_qkv(torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0, -1.0]]), torch.tensor([[5.0]]))
    >>> explain(trace, "scores", (0, 0, 0, 0)).text
    '1.00 × 3.00 + 2.00 × (−1.00) = 1.00'
    """
    value = trace[step]
    index = tuple(index)
    if not trace.holds(step, index):
        axes = f"{value.dim()} whole numbers"
        raise AttentionError("index", name=step, axes=axes, shape=tuple(value.shape), given=index)
    number = float(value[index].item())  # item() works also where the run wants gradients
    text = format_step_number(trace, step, number)
    operation = trace.step(step).operation
    if operation is None:
        return Explanation(step, index, number, cell=None, pieces=(Piece(text),))
    cell = operation.cell(index, trace.shapes())
    sign = "⇒" if value.dtype == torch.bool else "="
    result = Piece(f" {sign} {text}")
    return Explanation(step, index, number, cell, pieces=(*write_out_cell(cell, trace), result))


def number_at(trace: Trace, factor: Factor) -> float:
    """Return the number of an operand: a constant's own, or the one that stands in the trace."""
    return factor_value(factor, lambda ref: trace[ref.step][ref.index].item())


def format_step_number(trace: Trace, step: str, number: float) -> str:
    """A number of a step with two decimals; a truth value is 1 or 0."""
    return str(int(number)) if trace[step].dtype == torch.bool else format_or_scientific(number)


def write_out_cell(cell: Cell, trace: Trace) -> list[Piece]:
    """The expression, written out."""
    return WRITERS[cell.outer](cell.terms, trace)


def operand_piece(trace: Trace, factor: Factor, bracket: bool = False) -> Piece:
    """One operand; a constant shows where it comes from instead of its digits."""
    if isinstance(factor, Constant):
        text = factor.text or format_or_scientific(factor.value)
    else:
        text = format_step_number(trace, factor.step, number_at(trace, factor))
    if bracket and (text[0] in "−-" or (" " in text and text[0] != "|")):
        text = f"({text})"
    return Piece(text, factor if isinstance(factor, Ref) else None)


def product_pieces(term: tuple[Factor, ...], trace: Trace, bracket: bool = False) -> list[Piece]:
    """a × b × c."""
    pieces = [operand_piece(trace, term[0], bracket)]
    for factor in term[1:]:
        pieces += [Piece(" × "), operand_piece(trace, factor, bracket=True)]
    return pieces


def split_largest_terms(terms: tuple, size: list[float], always: int | None = None) -> tuple[list[int], list[int]]:
    """Which terms are shown, in their order, and which are only counted: the largest come first."""
    if len(terms) <= MAX_SHOWN_TERMS:
        return list(range(len(terms))), []
    order = sorted(
        range(len(terms)), key=lambda i: (i != always, -abs(size[i]) if math.isfinite(size[i]) else -math.inf)
    )
    return sorted(order[:MAX_SHOWN_TERMS]), sorted(order[MAX_SHOWN_TERMS:])


def sum_pieces(terms: tuple[tuple[Factor, ...], ...], trace: Trace) -> list[Piece]:
    """a × b + c × d + ..., the smallest of many terms gathered."""
    values = [multiply_factors([number_at(trace, factor) for factor in term]) for term in terms]
    shown, gathered = split_largest_terms(terms, values)
    pieces: list[Piece] = []
    for i in shown:
        pieces += ([Piece(" + ")] if pieces else []) + product_pieces(terms[i], trace, bracket=bool(pieces))
    return pieces + rest_pieces([values[i] for i in gathered])


def rest_pieces(values: list[float]) -> list[Piece]:
    """+ (n smaller: subtotal)."""
    if not values:
        return []
    subtotal = sum_rounded_once(values)
    return [
        Piece(" + "),
        Piece(f"({len(values)} smaller: {format_or_scientific(subtotal)})", rest=(len(values), subtotal)),
    ]


def make_sum_writer(before: str, after: str = ")"):
    """A writer that puts the sum between two texts."""
    return lambda terms, trace: [Piece(before), *sum_pieces(terms, trace), Piece(after)]


def softmax_pieces(terms: tuple, trace: Trace) -> list[Piece]:
    """exp(a) / (exp(a) + exp(b) + ...) = power / sum, where both are numbers that can be read."""
    chosen, *row = (term[0] for term in terms)
    scores = [number_at(trace, factor) for factor in row]
    top = max(scores)
    if top == -math.inf:
        return [Piece("Σ exp(−∞) = 0 ⇒ 0")]
    powers = [math.exp(score - top) for score in scores]
    shown, gathered = split_largest_terms(tuple(row), powers, always=row.index(chosen))
    pieces = [Piece("exp("), operand_piece(trace, chosen), Piece(") / (")]
    for n, i in enumerate(shown):
        pieces += [Piece(" + exp(" if n else "exp("), operand_piece(trace, row[i]), Piece(")")]
    rest = math.fsum(math.inf if scores[i] > MAX_EXPONENT else math.exp(scores[i]) for i in gathered)
    gathered_piece = [
        Piece(" + "),
        Piece(f"({len(gathered)} smaller: {format_or_scientific(rest)})", rest=(len(gathered), rest)),
    ]
    sums = ""
    if READABLE_SCORES[0] < top < READABLE_SCORES[1]:
        power, total = (math.fsum(map(math.exp, part)) for part in ([number_at(trace, chosen)], scores))
        sums = f" = {format_or_scientific(power)} / {format_or_scientific(total)}"
    return pieces + (gathered_piece if gathered else []) + [Piece(")" + sums)]


def exp_below_pieces(terms: tuple, trace: Trace) -> list[Piece]:
    """exp(a − largest of the row)."""
    chosen, *row = (term[0] for term in terms)
    top = max(row, key=lambda factor: number_at(trace, factor))
    return [
        Piece("exp("),
        operand_piece(trace, chosen),
        Piece(" − "),
        operand_piece(trace, top, bracket=True),
        Piece(")"),
    ]


def fall_pieces(terms: tuple, trace: Trace) -> list[Piece]:
    """exp(a − b)."""
    (one,), (other,) = terms
    return [
        Piece("exp("),
        operand_piece(trace, one),
        Piece(" − "),
        operand_piece(trace, other, bracket=True),
        Piece(")"),
    ]


def max_pieces(terms: tuple, trace: Trace) -> list[Piece]:
    """max(a, b, ...), of many the largest."""
    shown, gathered = split_largest_terms(
        terms, [math.exp(min(number_at(trace, factor), MAX_EXPONENT)) for (factor,) in terms]
    )
    pieces = [Piece("max(")]
    for n, i in enumerate(shown):
        pieces += [Piece(", ")] * bool(n) + [operand_piece(trace, terms[i][0])]
    return [*pieces, Piece(", ...)" if gathered else ")")]


def quotient_pieces(terms: tuple, trace: Trace) -> list[Piece]:
    """a / (a + b + ...)."""
    return [*product_pieces(terms[0], trace), Piece(" / ("), *sum_pieces(terms[1:], trace), Piece(")")]


def round_pieces(terms: tuple, trace: Trace) -> list[Piece]:
    """round(a, 2)."""
    value, digits = (operand_piece(trace, factor) for (factor,) in terms)
    return [Piece("round("), value, Piece(", "), digits, Piece(")")]


def slope_pieces(terms: tuple, trace: Trace) -> list[Piece]:
    """a × (1 − a), or a × (0 − b)."""
    weight, one, other = (operand_piece(trace, factor) for (factor,) in terms)
    return [weight, Piece(" × ("), one, Piece(" − "), other, Piece(")")]


def share_pieces(terms: tuple, trace: Trace) -> list[Piece]:
    """a / (a + b + ...), or 0 where the sum is."""
    if not any(number_at(trace, factor) for (factor,) in terms[1:]):
        return [*sum_pieces(terms[1:], trace), Piece(" = 0 ⇒ 0")]
    return quotient_pieces(terms, trace)


def pair_distances(terms: tuple, trace: Trace) -> list[float]:
    """|a − b| of each pair."""
    return [abs(number_at(trace, one) - number_at(trace, other)) for one, other in terms]


def distance_pieces(terms: tuple, trace: Trace, between: str) -> list[Piece]:
    """|a − b|, |c − d| and so on."""
    pieces = []
    for n, (one, other) in enumerate(terms):
        pieces += [Piece(f"{between}|" if n else "|"), operand_piece(trace, one), Piece(" − ")]
        pieces += [operand_piece(trace, other, bracket=True), Piece("|")]
    return pieces


def alike_pieces(terms: tuple, trace: Trace) -> list[Piece]:
    """1 − (|a − b| + |c − d| + ...) / 2, the smallest of many gathered."""
    values = pair_distances(terms, trace)
    shown, gathered = split_largest_terms(terms, values)
    pairs = distance_pieces(tuple(terms[i] for i in shown), trace, " + ")
    return [Piece("1 − ("), *pairs, *rest_pieces([values[i] for i in gathered]), Piece(") / 2")]


def farthest_pieces(terms: tuple, trace: Trace) -> list[Piece]:
    """max(|a − b|, |c − d|, ...), of many the largest."""
    shown, gathered = split_largest_terms(terms, pair_distances(terms, trace))
    pairs = distance_pieces(tuple(terms[i] for i in shown), trace, ", ")
    return [Piece("max("), *pairs, Piece(", ...)" if gathered else ")")]


def select_pieces(terms: tuple, trace: Trace) -> list[Piece]:
    """The score where it is allowed, else what stands in its place."""
    (score,), (allowed,), *other = terms
    blocked = operand_piece(trace, *other[0]) if other else Piece("−∞")
    kept = operand_piece(trace, score) if number_at(trace, allowed) else blocked
    return [Piece("allowed = "), operand_piece(trace, allowed), Piece(" ⇒ "), kept]


def choose_pieces(terms: tuple, trace: Trace) -> list[Piece]:
    """The chosen number where one was chosen, else the computed one."""
    (value,), (chosen,), (condition,) = terms
    kept = chosen if number_at(trace, condition) else value
    return [Piece("chosen: "), operand_piece(trace, condition), Piece(" ⇒ "), operand_piece(trace, kept)]


def cosine_pieces(terms: tuple, trace: Trace) -> list[Piece]:
    """The dot product over the two lengths."""
    lengths = [math.hypot(*(number_at(trace, factor) for factor in side)) for side in zip(*terms, strict=True)]
    left, right = (
        format_or_scientific(length) if length > MIN_VECTOR_LENGTH else f"{MIN_VECTOR_LENGTH:g}" for length in lengths
    )
    return [Piece("("), *sum_pieces(terms, trace), Piece(f") / ({left} × {right})")]


WRITERS = {
    "sum": sum_pieces,
    "tanh": make_sum_writer("tanh("),
    "sin": make_sum_writer("sin("),
    "cos": make_sum_writer("cos("),
    "exp": make_sum_writer("exp("),
    "exp_below": exp_below_pieces,
    "fall": fall_pieces,
    "max": max_pieces,
    "softmax": softmax_pieces,
    "quotient": quotient_pieces,
    "round": round_pieces,
    "slope": slope_pieces,
    "share": share_pieces,
    "alike": alike_pieces,
    "farthest": farthest_pieces,
    "select": select_pieces,
    "choose": choose_pieces,
    "cosine": cosine_pieces,
}
