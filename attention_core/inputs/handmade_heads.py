"""Builds attention heads by hand, each for one task: attend to the same word, a token at an offset, the first token, or
a sink.

x is built, too, so that words can be told apart and positions compared: a column for each different word, a column of
ones, the position, its square, and a mark on the first token.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from jaxtyping import Float

from attention_core.mechanism.plain_checks import require_one_of, require_whole
from attention_core.record.errors import AttentionError

HEAD_KINDS = ("same_word", "offset", "first", "even", "sink")
STRONG_SCORE = 6.0  # score that gets 98 % of the weight against six keys of score 0, because e^6 = 403
SINK_SCORE = 4.0  # score of the sink token: below a matching word's, above any other word's
OFFSET_STEEPNESS = 4.0  # factor with which an offset head's score falls with the squared distance
MAX_HEAD_OFFSET = 64  # largest offset, in tokens, to either side
MAX_BUILT_COLUMNS = 512
POSITION_COLUMNS = ("one", "position", "position_squared", "first")  # the last columns of x, after one column per word


@dataclass(frozen=True, eq=False)
class BuiltHeads:
    """Inputs and projections of heads that were built by hand.

    x: (T, V + 4). w_q, w_k: (V + 4, H d_k). w_v: (V + 4, H V). words: the V different words, which belong to the first
    V columns of x.
    """

    words: tuple[str, ...]
    x: Float[np.ndarray, "T D"]
    w_q: Float[np.ndarray, "D width"]
    w_k: Float[np.ndarray, "D width"]
    w_v: Float[np.ndarray, "D width"]


def read_head_kind(text: str) -> tuple[str, int]:
    """Parses a text such as "offset:-2" as a kind of head and its offset; the default is -1, the token before.

    >>> read_head_kind("offset:-2"), read_head_kind("first")
    (('offset', -2), ('first', -1))
    """
    name, *offset = text.split(":")
    return name, int(offset[0]) if offset else -1


def write_kind(name: str, offset: int) -> str:
    """Writes a kind of head as a text that `read_head_kind` parses; only the kind "offset" has an offset.

    >>> write_kind("offset", -2), write_kind("first", -1)
    ('offset:-2', 'first')
    """
    return f"{name}:{offset}" if name == "offset" else name


def build_heads(
    tokens: Sequence[str], kinds: Sequence[tuple[str, int]], others: Sequence[Sequence[str]] = ()
) -> BuiltHeads:
    """Builds the inputs and projections of heads with one task each.

    tokens: T words; others: further sentences whose words get columns too. kinds: one (name, offset) a head, name one
    of HEAD_KINDS; the offset is used only by "offset", whose query i attends to token i + offset.
    Scores, not scaled, with [.] = 1 if it holds: same_word $6\\,[w_i = w_j]$; offset $-4\\,(p_i + o - p_j)^2$ less
    a term equal for all keys; first $6\\,[j = 0]$; even 0; sink $6\\,[w_i = w_j] + 4\\,[j = 0]$ for words that
    occur more than once, else $4\\,[j = 0]$. Every head's values are the words themselves.

    Raises AttentionError: unknown_choice, whole_number, at_most, too_many_columns.

    >>> heads = build_heads(("the", "cat", "the"), [("same_word", 0)])
    >>> heads.words, (heads.x @ heads.w_q @ (heads.x @ heads.w_k).T).tolist()
    (('the', 'cat'), [[6.0, 0.0, 6.0], [0.0, 6.0, 0.0], [6.0, 0.0, 6.0]])
    """
    sentences = (tokens, *others)
    words = tuple(dict.fromkeys(chain.from_iterable(sentences)))
    V = len(words)
    width = V + 1  # d_k: one column per word, and one that marks the first token
    check_width(max(len(kinds), 1) * width)
    repeated = find_repeated_words(sentences)
    w_q, w_k = [], []
    for kind, offset in kinds:
        head_w_q, head_w_k = build_head_projections(words, repeated, kind, offset, width)
        w_q.append(head_w_q)
        w_k.append(head_w_k)
    w_v = np.eye(V + len(POSITION_COLUMNS), V)  # (D, V): copies the word columns
    return BuiltHeads(
        words=words,
        x=build_token_vectors(tokens, words),
        w_q=np.concatenate(w_q, axis=1),  # H matrices (D, d_k) -> (D, H * d_k)
        w_k=np.concatenate(w_k, axis=1),
        w_v=np.tile(w_v, len(kinds)),
    )


def check_width(columns: int) -> None:
    """Raises AttentionError if a projection would have more than MAX_BUILT_COLUMNS columns."""
    if columns > MAX_BUILT_COLUMNS:
        raise AttentionError(
            "too_many_columns",
            name="w_q",
            limit=MAX_BUILT_COLUMNS,
            given=columns,
        )


def find_repeated_words(sentences: Iterable[Sequence[str]]) -> set[str]:
    """Returns the words that occur more than once in at least one of the sentences."""
    repeated = set()
    for sentence in sentences:
        counts = Counter(sentence)
        repeated |= {word for word, count in counts.items() if count > 1}
    return repeated


def build_token_vectors(tokens: Sequence[str], words: Sequence[str]) -> Float[np.ndarray, "T D"]:
    """Builds x: each row has 1 in the word's column, then 1, the position, its square, and 1 for the first token.

    >>> build_token_vectors(("the", "cat", "the"), ("the", "cat"))
    array([[ 1.,  0.,  1., -1.,  1.,  1.],
           [ 0.,  1.,  1.,  0.,  0.,  0.],
           [ 1.,  0.,  1.,  1.,  1.,  0.]])
    """
    T = len(tokens)
    V = len(words)
    x = np.zeros((T, V + len(POSITION_COLUMNS)))
    middle = (T - 1) // 2  # positions are counted from the middle, so that their squares stay small
    for i, token in enumerate(tokens):
        column = words.index(token)
        position = i - middle
        is_first = i == 0
        x[i, column] = 1
        x[i, V:] = (1, position, position**2, is_first)
    return x


def build_head_projections(
    words: tuple[str, ...], repeated: set[str], kind: str, offset: int, width: int
) -> tuple[Float[np.ndarray, "D d_k"], Float[np.ndarray, "D d_k"]]:
    """Builds W_q and W_k of one head of the given kind, such as "same_word" or "offset".

    repeated: the words that occur more than once. width: the number of columns of each matrix.
    """
    require_one_of("kind", kind, HEAD_KINDS)
    V = len(words)
    D = V + len(POSITION_COLUMNS)
    one, position, squared, first = range(V, D)
    w_q = np.zeros((D, width))
    w_k = np.zeros((D, width))
    if kind in ("same_word", "sink"):
        asking = words if kind == "same_word" else repeated
        for column, word in enumerate(words):
            w_q[column, column] = STRONG_SCORE if word in asking else 0
            w_k[column, column] = 1
    if kind in ("first", "sink"):
        w_q[one, V] = STRONG_SCORE if kind == "first" else SINK_SCORE
        w_k[first, V] = 1
    if kind == "offset":  # -a (p_i + o - p_j)^2 = 2 a (p_i + o) p_j - a p_j^2 - a term equal for all keys
        check_offset(offset)
        w_q[position, 0] = 2 * OFFSET_STEEPNESS
        w_q[one, 0] = 2 * OFFSET_STEEPNESS * offset
        w_q[one, 1] = -OFFSET_STEEPNESS
        w_k[position, 0] = 1
        w_k[squared, 1] = 1
    return w_q, w_k


def check_offset(offset: int) -> None:
    """Raises AttentionError if an offset is no whole number, or larger than MAX_HEAD_OFFSET."""
    if abs(require_whole("offset", offset)) > MAX_HEAD_OFFSET:
        raise AttentionError(
            "at_most",
            name="offset",
            limit=MAX_HEAD_OFFSET,
            given=offset,
        )


def build_gates(width: int) -> dict[str, Float[np.ndarray, "rows columns"]]:
    r"""Builds W_q, b_q, W_aq, W_ak and v_a of an additive score that is high for keys with the query's numbers.

    Each of the `width` numbers has one unit for itself and one for its opposite, so that a query can select keys with
    -1 too. The state is $s = x\,[I, -I] - 3.5$, twice as wide as the key h. A unit is $\tanh(4 s_a + 12 h_a)$, or
    $\tanh(4 s_a - 12 h_a)$ for an opposite. It is near -1 unless the query's number is at least 1 and the key has the
    same number: if only one of them holds, the argument of tanh is below 0. Each number of v_a is 2. Without the bias
    -3.5, the score of -s and -h would be minus the score of s and h.

    Source of the score: Bahdanau, Cho, Bengio 2015, appendix A.1.2, whose biases are left out there for brevity.

    >>> {name: matrix.shape for name, matrix in build_gates(6).items()}
    {'w_q': (6, 12), 'b_q': (1, 12), 'w_aq': (12, 12), 'w_ak': (6, 12), 'v_a': (1, 12)}
    """
    one = np.eye(width)
    both = np.concatenate([one, 0.0 - one], axis=1)  # (d, 2 d); 0.0 - one instead of -one, which has -0
    ones = np.ones((1, 2 * width))
    return {
        "w_q": both,
        "b_q": -3.5 * ones,
        "w_aq": 4 * np.eye(2 * width),
        "w_ak": 12 * both,
        "v_a": 2 * ones,
    }
