"""A row of numbers as the scores of a run: one query of width 1, the number 1, and a key for each of them. And one
query drawn with its keys."""

import numpy as np
from jaxtyping import Float
from torch import Generator

from attention_core.analysis.dot_product_moments import draw_normal
from attention_core.inputs.matrix_text import parse_matrix, to_text
from attention_core.mechanism.scores import root_scale
from attention_core.record.errors import AttentionError

MAX_LINKED_WIDTH = 64  # numbers of a query that a link says; of a wider one it says the scores


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


def draw_query_and_keys(d_k: int, keys: int, seed: int = 0) -> dict[str, dict[str, object]]:
    """A query and its keys from N(0, 1), to two decimals, and the scores themselves as values, as parts of two Setups:
    "dot", whose scores are q · k, and "scaled_dot", whose scores are q · k / √d_k.

    Beyond WIDEST the numbers of q and k would not fit into a link: there the run begins with the scores. Raises
    AttentionError where k has more rows than a matrix may have.

    >>> draw_query_and_keys(2, 1)["scaled_dot"]
    {'q': '1.54,-0.29', 'k': '-2.18,0.57', 'v': '-3.5225', 'score': 'scaled_dot'}
    >>> draw_query_and_keys(256, 1)["scaled_dot"]
    {'q': '1', 'k': '-6.7291', 'v': '-6.7291', 'score': 'dot', 'scale': 0.0625}
    """
    generator = Generator().manual_seed(seed)
    q, k = (draw_normal((rows, d_k), generator).round(decimals=2).numpy() for rows in (1, keys))
    scores = (k @ q[0]).round(4)  # (S, d_k) x (d_k,): four decimals are all that they have
    parts = as_scores(scores)
    if d_k <= MAX_LINKED_WIDTH:
        parts |= {"q": to_text(q, "q"), "k": to_text(k, "k")}
    scaled = {"score": "scaled_dot"} if d_k <= MAX_LINKED_WIDTH else {"score": "dot", "scale": root_scale(d_k)}
    return {"dot": parts | {"score": "dot"}, "scaled_dot": parts | scaled}
