"""Heads built by hand, whose behaviour can be read off: same word, a token at an offset, first token, even, a sink.

They need words that can be told apart and positions that can be compared, so they bring their own x: a column for each
different word, a column of ones, the position, its square, and a mark on the first token. The score of a query at i
and a key at j is what stands under each head; the scores are not scaled.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from attention_core.config import one_of, whole
from attention_core.errors import AttentionError

KINDS = ("same_word", "offset", "first", "even", "sink")
STRONG = 6.0  # a score by which one key of seven gets all but 2 %: e^6 = 403
IDLE = 4.0  # what the sink has to offer: less than a word that is found, more than any other
STEEP = 4.0  # the score of the offset head falls by this times the square of the distance
FARTHEST = 64  # tokens that the offset head may look away
MOST_COLUMNS = 512
PLACES = ("one", "position", "position_squared", "first")  # the columns of x behind those of the words


@dataclass(frozen=True, eq=False)
class BuiltHeads:
    """x (T, V + 4), w_q and w_k (V + 4, H d_k), w_v (V + 4, H V), and the different words, one a column of x."""

    words: tuple[str, ...]
    x: Float[np.ndarray, "T D"]
    w_q: Float[np.ndarray, "D width"]
    w_k: Float[np.ndarray, "D width"]
    w_v: Float[np.ndarray, "D width"]


def built_heads(tokens: Sequence[str], kinds: Sequence[tuple[str, int]]) -> BuiltHeads:
    """Inputs and projections with which each head does one thing that can be named.

    tokens: T words. kinds: one (name, offset) a head, name one of KINDS; the offset counts for "offset" alone, where
    query i looks at token i + offset. Scores, with [.] = 1 where it holds:
    same_word $6\\,[w_i = w_j]$; offset $-4\\,(p_i + o - p_j)^2$ less what is the same for all keys; first $6\\,[j = 0]$;
    even 0; sink $6\\,[w_i = w_j] + 4\\,[j = 0]$ for words that come more than once, else $4\\,[j = 0]$.
    Every head's values are the words themselves.

    Raises AttentionError: unknown_choice, whole_number, at_most, too_many_columns.

    >>> heads = built_heads(("the", "cat", "the"), [("same_word", 0)])
    >>> heads.words, (heads.x @ heads.w_q @ (heads.x @ heads.w_k).T).tolist()
    (('the', 'cat'), [[6.0, 0.0, 6.0], [0.0, 6.0, 0.0], [6.0, 0.0, 6.0]])
    """
    words = tuple(dict.fromkeys(tokens))
    count = len(words)
    widest = count + 1  # a head reads at most all words and one mark
    if max(1, len(kinds)) * widest > MOST_COLUMNS:
        raise AttentionError("too_many_columns", name="w_q", limit=MOST_COLUMNS, given=len(kinds) * widest)
    x = np.zeros((len(tokens), count + len(PLACES)))
    middle = (len(tokens) - 1) // 2  # positions count from the middle, so that their squares stay small
    for i, token in enumerate(tokens):
        x[i, words.index(token)] = 1
        x[i, count:] = 1, i - middle, (i - middle) ** 2, i == 0
    sides = [head(words, tokens, *kind, widest) for kind in kinds]
    w_q, w_k = (np.concatenate(side, axis=1) for side in zip(*sides, strict=True))  # H times (D, d_k) -> (D, H d_k)
    deliver = np.eye(count + len(PLACES), count)  # (D, V): the words, none of the places
    return BuiltHeads(words, x, w_q, w_k, np.tile(deliver, len(kinds)))


def head(
    words: tuple[str, ...], tokens: Sequence[str], kind: str, offset: int, width: int
) -> tuple[Float[np.ndarray, "D d_k"], Float[np.ndarray, "D d_k"]]:
    """One head's W_q and W_k."""
    one_of("kind", kind, KINDS)
    count = len(words)
    w_q, w_k = np.zeros((count + len(PLACES), width)), np.zeros((count + len(PLACES), width))
    one, position, squared, first = (count + place for place in range(len(PLACES)))
    if kind in ("same_word", "sink"):
        asks = [kind == "same_word" or list(tokens).count(word) > 1 for word in words]
        w_q[:count, :count], w_k[:count, :count] = STRONG * np.diag(asks), np.eye(count)
    if kind in ("first", "sink"):
        w_q[one, count], w_k[first, count] = IDLE if kind == "sink" else STRONG, 1
    if kind == "offset":  # -a (p_i + o - p_j)^2 = 2 a (p_i + o) p_j - a p_j^2 - what no key changes
        if abs(whole("offset", offset)) > FARTHEST:
            raise AttentionError("at_most", name="offset", limit=FARTHEST, given=offset)
        w_q[position, 0], w_q[one, 0], w_q[one, 1] = 2 * STEEP, 2 * STEEP * offset, -STEEP
        w_k[position, 0], w_k[squared, 1] = 1, 1
    return w_q, w_k
