"""A row of numbers as the scores of a run: one query of width 1, the number 1, and a key for each of them."""

import numpy as np
from jaxtyping import Float

from attention_core.errors import AttentionError
from attention_core.matrices import parse_matrix, to_text


def read_logits(text: str, most: int) -> Float[np.ndarray, " S"]:
    """The numbers of a text, in one row; at most so many. Raises AttentionError as parse_matrix does, and too_many.

    >>> read_logits("2, 1, 0, -1", 16)
    array([ 2.,  1.,  0., -1.])
    """
    numbers = parse_matrix(text, "logits").reshape(-1)
    if len(numbers) > most:
        raise AttentionError("too_many_logits", limit=most, given=len(numbers))
    return numbers


def as_scores(numbers: Float[np.ndarray, " S"], shift: float = 0.0) -> dict[str, str]:
    """q, k and v in link form of the run whose scores q kᵀ are these numbers, each with `shift` added; v are the
    numbers themselves, so that the output is their mean by weight.

    Raises AttentionError where a number is larger than a matrix may hold.

    >>> as_scores(np.array([2.0, -1.0]), shift=0.5)
    {'q': '1', 'k': '2.5;-0.5', 'v': '2.5;-0.5'}
    """
    column = to_text((numbers + shift)[:, None], "logits")  # (S, 1)
    return {"q": "1", "k": column, "v": column}
