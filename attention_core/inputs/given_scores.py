"""Builds the inputs of runs whose scores are given, or are the scores of a random query and random keys."""

import numpy as np
from jaxtyping import Float
from torch import Generator

from attention_core.analysis.dot_product_moments import draw_normal
from attention_core.inputs.matrix_edits import pack_matrix
from attention_core.inputs.matrix_text import parse_matrix
from attention_core.inputs.matrix_values import MatrixValue
from attention_core.mechanism.scores import root_scale
from attention_core.record.errors import AttentionError

MAX_LINKED_WIDTH = 64  # width up to which a link stores q and k; for larger widths it stores only the scores


def read_logits(text: str, most: int) -> Float[np.ndarray, " S"]:
    """Parses the numbers of a text as one row of scores.

    most: the largest allowed number of scores. Raises AttentionError: too_many_logits, and the errors of parse_matrix.

    >>> read_logits("2, 1, 0, -1", 16)
    array([ 2.,  1.,  0., -1.])
    """
    numbers = parse_matrix(text, "logits").reshape(-1)
    if len(numbers) > most:
        raise AttentionError("too_many_logits", limit=most, given=len(numbers))
    return numbers


def as_scores(numbers: Float[np.ndarray, " S"], shift: float = 0.0) -> dict[str, MatrixValue]:
    """Returns q, k and v of a run whose scores are the given numbers, each with `shift` added.

    The query is the number 1, and each key is one of the shifted numbers. So is each value, so that the output is the
    weighted mean of the scores. Raises AttentionError if a number exceeds the limit of a matrix.

    >>> as_scores(np.array([2.0, -1.0]), shift=0.5)["k"].packed.array()
    array([[ 2.5],
           [-0.5]])
    """
    shifted = numbers + shift
    column = pack_matrix(shifted[:, None], "logits")  # (S,) -> (S, 1)
    return {"q": pack_matrix([[1]]), "k": column, "v": column}


def draw_query_and_keys(d_k: int, keys: int, seed: int = 0) -> dict[str, dict[str, object]]:
    """Samples a query and keys from N(0, 1), rounded to two decimals, as inputs of an unscaled and of a scaled run.

    Returns {"dot": inputs whose scores are q · k, "scaled_dot": inputs whose scores are q · k / √d_k}. Inputs are the
    matrices q, k and v and the name of the score function. The values v are the scores q · k. If d_k exceeds
    MAX_LINKED_WIDTH, q and k would not fit into a link. Then q is 1, k holds the scores, and the scaled run multiplies
    them by the factor `scale`. Raises AttentionError if there are more keys than a matrix may have rows.

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
    scores = scores.round(4)  # rounded to 4 decimals, which a product of two 2-decimal numbers has

    dot = {**as_scores(scores), "score": "dot"}
    if d_k > MAX_LINKED_WIDTH:
        scaled = {**dot, "scale": root_scale(d_k)}
        return {"dot": dot, "scaled_dot": scaled}
    dot["q"] = pack_matrix(q, "q")
    dot["k"] = pack_matrix(k, "k")
    scaled = {**dot, "score": "scaled_dot"}
    return {"dot": dot, "scaled_dot": scaled}
