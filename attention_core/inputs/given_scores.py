"""Makes runs with given scores, or with the scores of a random query and random keys."""

import numpy as np
from jaxtyping import Float
from torch import Generator

from attention_core.analysis.dot_product_moments import draw_normal
from attention_core.inputs.matrix_edits import pack_matrix
from attention_core.inputs.matrix_text import parse_matrix
from attention_core.inputs.matrix_values import MatrixValue
from attention_core.mechanism.scores import root_scale
from attention_core.record.errors import AttentionError

MAX_LINKED_WIDTH = 64  # the largest width with which a link contains q and k instead of the scores


def read_logits(text: str, most: int) -> Float[np.ndarray, " S"]:
    """Reads the numbers of a text in one row, at most `most` of them.

    Raises AttentionError: too_many_logits, and as parse_matrix does.

    >>> read_logits("2, 1, 0, -1", 16)
    array([ 2.,  1.,  0., -1.])
    """
    numbers = parse_matrix(text, "logits").reshape(-1)
    if len(numbers) > most:
        raise AttentionError("too_many_logits", limit=most, given=len(numbers))
    return numbers


def as_scores(numbers: Float[np.ndarray, " S"], shift: float = 0.0) -> dict[str, MatrixValue]:
    """q, k and v of a run with these numbers as its scores q kᵀ, each with `shift` added.

    The query is the number 1, and each key is one of the numbers. The values are the numbers too, so that the output is
    their weighted mean. Raises AttentionError if a number exceeds the limit of a matrix.

    >>> as_scores(np.array([2.0, -1.0]), shift=0.5)["k"].packed.array()
    array([[ 2.5],
           [-0.5]])
    """
    shifted = numbers + shift
    column = pack_matrix(shifted[:, None], "logits")  # (S,) -> (S, 1)
    return {"q": pack_matrix([[1]]), "k": column, "v": column}


def draw_query_and_keys(d_k: int, keys: int, seed: int = 0) -> dict[str, dict[str, object]]:
    """Samples a query and keys from N(0, 1), to two decimals, for two runs that differ only in their scale.

    Returns the inputs of "dot", whose scores are q · k, and of "scaled_dot", whose scores are q · k / √d_k: matrices
    and the names of the score; the values are the scores. Beyond MAX_LINKED_WIDTH the numbers of q and k
    would not fit into a link: the scores themselves stand in their place there. Raises AttentionError where k has more
    rows than a matrix may have.

    >>> drawn = draw_query_and_keys(2, 1)["scaled_dot"]
    >>> drawn["score"], drawn["q"].packed.array(), drawn["v"].packed.array()
    ('scaled_dot', array([[ 1.54, -0.29]]), array([[-3.5225]]))
    >>> drawn = draw_query_and_keys(256, 1)["scaled_dot"]
    >>> drawn["score"], drawn["scale"], drawn["q"].packed.array(), drawn["k"].packed.array()
    ('dot', 0.0625, array([[1.]]), array([[-6.7291]]))
    """
    generator = Generator().manual_seed(seed)
    q = draw_normal((1, d_k), generator)
    q = q.round(decimals=2).numpy()
    k = draw_normal((keys, d_k), generator)
    k = k.round(decimals=2).numpy()
    scores = k @ q[0]  # (S, d_k) x (d_k,) -> (S,)
    scores = scores.round(4)  # products of two decimals have four

    dot = {**as_scores(scores), "score": "dot"}
    if d_k > MAX_LINKED_WIDTH:
        scaled = {**dot, "scale": root_scale(d_k)}
        return {"dot": dot, "scaled_dot": scaled}
    dot["q"] = pack_matrix(q, "q")
    dot["k"] = pack_matrix(k, "k")
    scaled = {**dot, "score": "scaled_dot"}
    return {"dot": dot, "scaled_dot": scaled}
