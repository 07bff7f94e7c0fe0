"""Heads built by hand, whose behaviour can be read off: same word, a token at an offset, first token, even, a sink.

They need words that can be told apart and positions that can be compared, so they bring their own x: a column for each
different word, a column of ones, the position, its square, and a mark on the first token. The score of a query at i
and a key at j is what stands under each head; the scores are not scaled.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from attention_core.mechanism.config import require_one_of, require_whole
from attention_core.record.errors import AttentionError

HEAD_KINDS = ("same_word", "offset", "first", "even", "sink")
STRONG_SCORE = 6.0  # a score by which one key of seven gets all but 2 %: e^6 = 403
SINK_SCORE = 4.0  # what the sink has to offer: less than a word that is found, more than any other
OFFSET_STEEPNESS = 4.0  # the score of the offset head falls by this times the square of the distance
MAX_HEAD_OFFSET = 64  # tokens that the offset head may look away
MAX_BUILT_COLUMNS = 512
POSITION_COLUMNS = ("one", "position", "position_squared", "first")  # the columns of x behind those of the words


@dataclass(frozen=True, eq=False)
class BuiltHeads:
    """x (T, V + 4), w_q and w_k (V + 4, H d_k), w_v (V + 4, H V), and the different words, one a column of x."""

    words: tuple[str, ...]
    x: Float[np.ndarray, "T D"]
    w_q: Float[np.ndarray, "D width"]
    w_k: Float[np.ndarray, "D width"]
    w_v: Float[np.ndarray, "D width"]


def read_head_kind(text: str) -> tuple[str, int]:
    """ "offset:-2" as ("offset", -2); where no offset is said it is -1, the token before.

    >>> read_head_kind("offset:-2"), read_head_kind("first")
    (('offset', -2), ('first', -1))
    """
    name, *numbers = text.split(":")
    return name, int(numbers[0]) if numbers else -1


def write_kind(name: str, offset: int) -> str:
    """The text that `read_kind` reads; only the offset head has an offset.

    >>> write_kind("offset", -2), write_kind("first", -1)
    ('offset:-2', 'first')
    """
    return f"{name}:{offset}" if name == "offset" else name


def build_heads(
    tokens: Sequence[str], kinds: Sequence[tuple[str, int]], others: Sequence[Sequence[str]] = ()
) -> BuiltHeads:
    """Inputs and projections with which each head does one thing that can be named.

    tokens: T words; others: further sentences whose words are to have columns too. kinds: one (name, offset) a head,
    name one of KINDS; the offset counts for "offset" alone, where query i looks at token i + offset.
    Scores, with [.] = 1 where it holds: same_word $6\\,[w_i = w_j]$; offset $-4\\,(p_i + o - p_j)^2$ less what is the
    same for all keys; first $6\\,[j = 0]$; even 0; sink $6\\,[w_i = w_j] + 4\\,[j = 0]$ for words that come more than
    once, else $4\\,[j = 0]$. Every head's values are the words themselves.

    Raises AttentionError: unknown_choice, whole_number, at_most, too_many_columns.

    >>> heads = build_heads(("the", "cat", "the"), [("same_word", 0)])
    >>> heads.words, (heads.x @ heads.w_q @ (heads.x @ heads.w_k).T).tolist()
    (('the', 'cat'), [[6.0, 0.0, 6.0], [0.0, 6.0, 0.0], [6.0, 0.0, 6.0]])
    """
    sentences = (tokens, *others)
    words = tuple(dict.fromkeys(word for sentence in sentences for word in sentence))
    count = len(words)
    widest = count + 1  # a head reads at most all words and one mark
    if max(1, len(kinds)) * widest > MAX_BUILT_COLUMNS:
        raise AttentionError("too_many_columns", name="w_q", limit=MAX_BUILT_COLUMNS, given=len(kinds) * widest)
    repeated = {word for sentence in sentences for word in sentence if list(sentence).count(word) > 1}
    sides = [build_head_projections(words, repeated, *kind, widest) for kind in kinds]
    w_q, w_k = (np.concatenate(side, axis=1) for side in zip(*sides, strict=True))  # H times (D, d_k) -> (D, H d_k)
    deliver = np.eye(count + len(POSITION_COLUMNS), count)  # (D, V): the words, none of the places
    return BuiltHeads(words, build_token_vectors(tokens, words), w_q, w_k, np.tile(deliver, len(kinds)))


def build_token_vectors(tokens: Sequence[str], words: Sequence[str]) -> Float[np.ndarray, "T D"]:
    """x: for each token a 1 in its word's column, then 1, its position, the square, and whether it is the first.

    >>> build_token_vectors(("the", "cat", "the"), ("the", "cat"))
    array([[ 1.,  0.,  1., -1.,  1.,  1.],
           [ 0.,  1.,  1.,  0.,  0.,  0.],
           [ 1.,  0.,  1.,  1.,  1.,  0.]])
    """
    x, count = np.zeros((len(tokens), len(words) + len(POSITION_COLUMNS))), len(words)
    middle = (len(tokens) - 1) // 2  # positions count from the middle, so that their squares stay small
    for i, token in enumerate(tokens):
        x[i, words.index(token)] = 1
        x[i, count:] = 1, i - middle, (i - middle) ** 2, i == 0
    return x


def build_head_projections(
    words: tuple[str, ...], repeated: set[str], kind: str, offset: int, width: int
) -> tuple[Float[np.ndarray, "D d_k"], Float[np.ndarray, "D d_k"]]:
    """One head's W_q and W_k."""
    require_one_of("kind", kind, HEAD_KINDS)
    count = len(words)
    w_q, w_k = np.zeros((count + len(POSITION_COLUMNS), width)), np.zeros((count + len(POSITION_COLUMNS), width))
    one, position, squared, first = (count + place for place in range(len(POSITION_COLUMNS)))
    if kind in ("same_word", "sink"):
        asks = [kind == "same_word" or word in repeated for word in words]
        w_q[:count, :count], w_k[:count, :count] = STRONG_SCORE * np.diag(asks), np.eye(count)
    if kind in ("first", "sink"):
        w_q[one, count], w_k[first, count] = SINK_SCORE if kind == "sink" else STRONG_SCORE, 1
    if kind == "offset":  # -a (p_i + o - p_j)^2 = 2 a (p_i + o) p_j - a p_j^2 - what no key changes
        if abs(require_whole("offset", offset)) > MAX_HEAD_OFFSET:
            raise AttentionError("at_most", name="offset", limit=MAX_HEAD_OFFSET, given=offset)
        w_q[position, 0], w_q[one, 0], w_q[one, 1] = (
            2 * OFFSET_STEEPNESS,
            2 * OFFSET_STEEPNESS * offset,
            -OFFSET_STEEPNESS,
        )
        w_k[position, 0], w_k[squared, 1] = 1, 1
    return w_q, w_k


def build_gates(width: int) -> dict[str, Float[np.ndarray, "rows columns"]]:
    r"""W_q, b_q, W_aq, W_ak and v_a of an additive score with a unit for each of `width` numbers and for its opposite.

    The state is $s = x\,[I, -I] - 3.5$, twice as wide as the key h; a unit is $\tanh(4 s_a + 12 h_a)$, or with $-h_a$.
    It stays near -1 unless the query asks for the number, with 1 or more, and the key has it: one of both alone leaves
    the sum below 0. Each v is 2. Without a unit for the opposite -1 could not be asked for; with no bias the score of
    -s and -h would be minus that of s and h.

    Source of the score: Bahdanau, Cho, Bengio 2015, appendix A.1.2, whose biases are left out there for brevity.

    >>> {name: matrix.shape for name, matrix in build_gates(6).items()}
    {'w_q': (6, 12), 'b_q': (1, 12), 'w_aq': (12, 12), 'w_ak': (6, 12), 'v_a': (1, 12)}
    """
    both = np.concatenate([np.eye(width), -np.eye(width)], axis=1) + 0.0  # (d, 2 d), no minus before a zero
    ones = np.ones((1, 2 * width))
    return {"w_q": both, "b_q": -3.5 * ones, "w_aq": 4 * np.eye(2 * width), "w_ak": 12 * both, "v_a": 2 * ones}
