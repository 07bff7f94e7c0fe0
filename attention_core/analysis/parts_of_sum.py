"""Writes a vector as the sum of its parts: stacks the parts, adds them, and applies a norm to each.

A norm divides by a number that depends on all parts. If this divisor is fixed at its value in the run, the norm is
linear: it can be applied to each part, and the results sum to the norm of the vector.
"""

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.mechanism.norms import rms_formula, root_terms
from attention_core.record.expressions import Cell, Operand, Ref, product_cell
from attention_core.record.trace import Faces

PARTS_DIMS = ("part", "B", "T", "D")


# ---- stack: what was added to the vectors, one part after the other --------------------------------------------------
# Kind of a stacked tensor -> the axis of its parts; None for a kind that is a single part.
KINDS = {"parts": 0, "heads": 1, "vectors": None, "places": None, "bias": None}


def stack_parts(*added: Float[Tensor, "..."], kinds: tuple[str, ...]) -> Float[Tensor, "part B T D"]:
    first, *_ = added
    place = shape_of_part(first, kinds[0])
    stacked = [as_parts(part, kind, place) for part, kind in zip(added, kinds, strict=True)]
    return torch.cat(stacked)


def shape_of_part(first, kind):
    """Returns the shape (B, T, D) of a part of the sum, read from the first operand."""
    B, *_ = first.shape
    return (B, *first.shape[2:]) if kind == "heads" else first.shape[-3:]


def as_parts(part: Float[Tensor, "..."], kind: str, place: tuple[int, ...]) -> Float[Tensor, "part B T D"]:
    """Returns what a layer added (an operand) with an axis of parts as the first axis. place: the shape (B, T, D) of a
    part.
    """
    if kind == "parts":
        return part
    if kind == "heads":
        return part.transpose(0, 1)  # (B, H, T, D) -> (H, B, T, D)
    return part.expand(1, *place)  # (1, B, T, D)


def stack_parts_numpy(*added, kinds):
    first, *_ = added
    place = shape_of_part(first, kinds[0])
    stacked = [as_parts_numpy(part, kind, place) for part, kind in zip(added, kinds, strict=True)]
    return np.concatenate(stacked)


def as_parts_numpy(part, kind, place):
    """Returns an operand with an axis of parts as the first axis, as as_parts does, for NumPy arrays."""
    if kind == "parts":
        return part
    if kind == "heads":
        return np.swapaxes(part, 0, 1)  # (B, H, T, D) -> (H, B, T, D)
    return np.broadcast_to(part, (1, *place))


def stack_parts_formula(*added, kinds):
    return rf"[\,{',; '.join(added)}\,]".replace(",;", r"\,;\;")


def stack_parts_cell(index, *added: Operand, kinds) -> Cell:
    n, *place = index
    for part, kind in zip(added, kinds, strict=True):
        count = count_parts(part, kind)
        if n < count:
            return product_cell(part_number(part, kind, n, place))
        n -= count
    raise IndexError(f"there is no part {index[0]}")


def count_parts(part: Operand, kind: str) -> int:
    """Return how many parts an operand of this kind has: the length of its axis of parts; 1 without such an axis."""
    axis = KINDS[kind]
    return 1 if axis is None else part.shape[axis]


def part_number(part: Operand, kind: str, n: int, place: list[int]) -> Ref:
    """Return the Ref of the number at (b, t, m) in the n-th part of an operand.

    place: [b, t, m].
    """
    if kind == "parts":
        return part[(n, *place)]
    if kind == "heads":
        b, t, m = place
        return part[b, n, t, m]
    missing_axes = len(place) - len(part.shape)  # number of leading axes of (B, T, D) that the summand lacks
    return part[tuple(place[missing_axes:])]


STACK_PARTS = Faces(stack_parts, stack_parts_numpy, stack_parts_formula, stack_parts_cell, sign="≡", motion="merge")


# ---- add up ----------------------------------------------------------------------------------------------------------
def add_parts(parts: Float[Tensor, "part B T D"]) -> Float[Tensor, "B T D"]:
    return parts.sum(0)


def add_parts_numpy(parts):
    return np.einsum("n...->...", parts)


def add_parts_formula(parts):
    return rf"\textstyle\sum_{{\mathrm{{part}}}} {parts}"


def add_parts_cell(index, parts: Operand) -> Cell:
    return Cell(tuple((parts[(n, *index)],) for n in range(parts.shape[0])))


ADD_PARTS = Faces(add_parts, add_parts_numpy, add_parts_formula, add_parts_cell, sign="Σ", motion="gather")


# ---- the divisor of a norm, from the whole sum -----------------------------------------------------------------------
def root_mean_square(x: Float[Tensor, "*axes D"], *, eps: float) -> Float[Tensor, "*axes"]:
    return (x.square().mean(-1) + eps).sqrt()


def root_mean_square_numpy(x, *, eps):
    D = x.shape[-1]
    return np.sqrt(np.einsum("...d,...d->...", x, x) / D + eps)


def root_mean_square_formula(x, *, eps):
    return rms_formula(x, eps)


def root_mean_square_cell(index, x: Operand, *, eps) -> Cell:
    return Cell(tuple(root_terms(x, list(index), eps)), function="rms")


ROOT_MEAN_SQUARE = Faces(
    root_mean_square, root_mean_square_numpy, root_mean_square_formula, root_mean_square_cell, sign="rms", motion="norm"
)


# ---- every part, or a whole vector, over a divisor that is given, times the gain -------------------------------------
def divide_parts(
    parts: Float[Tensor, "*part B T D"], divisor: Float[Tensor, "B T"], gain: Float[Tensor, " D"]
) -> Float[Tensor, "*part B T D"]:
    return parts / divisor[..., None] * gain


def divide_parts_numpy(parts, divisor, gain):
    return np.einsum("...btd,bt,d->...btd", parts, 1 / divisor, gain)


def divide_parts_formula(parts, divisor, gain):
    return rf"\dfrac{{{parts}}}{{{divisor}}} \odot {gain}"


def divide_parts_cell(index, parts: Operand, divisor: Operand, gain: Operand) -> Cell:
    *_, b, t, m = index
    return Cell(((parts[index], gain[m]), (divisor[b, t],)), function="quotient")


DIVIDE_PARTS = Faces(
    divide_parts, divide_parts_numpy, divide_parts_formula, divide_parts_cell, sign="÷ rms", motion="norm"
)
