"""Writes the numbers of a worked example as text, with "?" for an empty cell, and parses such text."""

import re
from decimal import Decimal

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.exercises.printed_example import PrintedExample
from attention_core.inputs.matrix_text import parse_matrix, shortest_decimal
from attention_core.record.errors import AttentionError
from attention_core.record.number_text import format_fixed

BLANK_MARK = "?"
DEFAULT_DECIMALS = 2  # decimals of numbers whose text does not show how many they have


# ---- reading ---------------------------------------------------------------------------------------------------------
def read_answers(text: str, right: Float[Tensor, "..."], name: str) -> Float[Tensor, "rows columns"]:
    """Parse the numbers that a visitor wrote, in the rows and columns of the right numbers; a question mark gives NaN.

    text: the written numbers, in a form that parse_matrix reads. right: the right numbers; the visitor writes the
    numbers of several heads one below the other.
    name: the name of the step, for errors. Raises AttentionError as parse_matrix does, and with the code rank if the
    shape differs.

    >>> read_answers("1 ?; 0.5 -2", torch.zeros(2, 2), "q")
    tensor([[ 1.0000,     nan],
            [ 0.5000, -2.0000]], dtype=torch.float64)
    """
    rows = right.flatten(0, -2)  # (B, H, T, S) -> (B * H * T, S)
    shape = tuple(rows.shape)
    with_zeros = parse_matrix(text.replace(BLANK_MARK, "0"), name)
    with_ones = parse_matrix(text.replace(BLANK_MARK, "1"), name)
    if with_zeros.shape != shape:
        raise AttentionError(
            "rank",
            name=name,
            axes=" x ".join(map(str, shape)),
            shape=with_zeros.shape,
        )
    is_blank = with_zeros != with_ones
    numbers = np.where(is_blank, np.nan, with_zeros)
    return torch.from_numpy(numbers)


def count_decimals(text: str, numbers: Float[Tensor, "..."], right: Float[Tensor, "..."]) -> int | None:
    """Return the largest number of decimals of the numbers in a text; None if the numbers are exact.

    Whole numbers without decimals are exact if the right numbers are whole, too; else the result is DEFAULT_DECIMALS,
    because 1 may be the rounded form of 1.00. text: the visitor's text. numbers: the numbers in the text. right: the
    right numbers.

    >>> whole, parts = torch.tensor([1.0, 2.0]), torch.tensor([0.3, 0.7])
    >>> count_decimals("0.30 .7", parts, parts), count_decimals("1 2", whole, whole)
    (2, None)
    >>> count_decimals("0 1", whole - 1, parts)
    2
    """
    typed_decimals = re.findall(r"\.([0-9]+)", text)
    if typed_decimals:
        return max(map(len, typed_decimals))
    finite = numbers[numbers.isfinite()].double()
    if not are_all_whole(finite):  # neither fractions nor decimal commas have countable decimals
        return max(map(count_shortest_decimals, finite.tolist()))
    if are_all_whole(right):
        return None
    return DEFAULT_DECIMALS


def count_shortest_decimals(number: float) -> int:
    """Count the decimals of a number in Python's shortest notation."""
    digits = Decimal(repr(number)).as_tuple()
    return -digits.exponent


def are_all_whole(numbers: Float[Tensor, "..."]) -> bool:
    """Return whether all numbers are whole."""
    return bool((numbers == numbers.round()).all())


# ---- writing ---------------------------------------------------------------------------------------------------------
def answers_text(numbers: Float[Tensor | np.ndarray, "rows columns"], digits: int | None, between: str = "; ") -> str:
    """Write numbers as text in the form that read_answers parses.

    digits: the number of decimals; None for as many as each number needs. between: the text between two rows.

    >>> answers_text(torch.tensor([[0.2, torch.nan], [1.0, 2.0]]).double(), 2)
    '0.20 ?; 1.00 2.00'
    """
    rows = []
    for row in numbers.tolist():
        cells = [answer_text(number, digits) for number in row]
        rows.append(" ".join(cells))
    return between.join(rows)


def answer_text(number: float, digits: int | None) -> str:
    """Write one number as text, NaN as a question mark.

    digits: the number of decimals; None for as many as the number needs.
    """
    if number != number:
        return BLANK_MARK
    if digits is None:
        return shortest_decimal(number)
    return f"{number:.{digits}f}"


def blank_text(right: Float[Tensor, "..."], between: str = "; ") -> str:
    """Write a question mark for each number of a stage of the calculation.

    right: the right numbers, which give the shape. between: the text between two rows.

    >>> blank_text(torch.zeros(1, 2, 3))
    '? ? ?; ? ? ?'
    """
    blanks = torch.full_like(right, torch.nan)
    rows = blanks.flatten(0, -2)  # (B, H, T, S) -> (B * H * T, S)
    return answers_text(rows, None, between)


def printed_text(printed: PrintedExample, stage: str, right: Float[Tensor, "..."]) -> str:
    """Write the numbers that a publication printed for a stage of the calculation as text.

    Returns question marks if the printed example has no numbers of the right shape for the stage.
    """
    numbers = printed.steps.get(stage)
    if numbers is None or numbers.shape != right.shape[-2:]:
        return blank_text(right)
    digits = printed.decimals.get(stage)
    return answers_text(numbers, digits)


def cell_text(value: float, digits: int | None) -> str:
    """Write a number of a worked example as text; NaN gives "".

    digits: the number of decimals; None if the numbers are exact, in which case whole numbers have no decimals.

    >>> cell_text(2.0, None), cell_text(0.5, None), cell_text(0.2, 2), cell_text(float("nan"), 2)
    ('2', '0.50', '0.20', '')
    """
    if value != value:
        return ""
    if digits is not None:
        return format_fixed(value, digits)
    if float(value).is_integer():
        return format_fixed(value, 0)
    return format_fixed(value, DEFAULT_DECIMALS)


def right_decimals(digits: int | None) -> int | None:
    """Return how many decimals the right numbers get beside the visitor's numbers.

    Returns None if the visitor's numbers are exact (digits is None), else at least two.
    """
    if digits is None:
        return None
    return max(DEFAULT_DECIMALS, digits)
