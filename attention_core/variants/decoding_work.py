"""Computes how much work decoding takes with and without a cache, in a layer and in a language model, and the cache's
bytes.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import torch

from attention_core.learned.language.model import ModelShape
from attention_core.mechanism.plain_checks import require_not_negative, require_one_of, require_positive
from attention_core.record.trace import Trace
from attention_core.variants.kv_cache import first_key

STATE_COMPUTED = "computed"
STATE_KEPT = "kept"
STATE_AGAIN = "again"
STATE_UNNEEDED = "unneeded"
STATE_ABSENT = "absent"


# ---- the work of a step ----------------------------------------------------------------------------------------------
def cache_states(
    tokens: int, role: str = "k", *, cached: bool = True, window: int | None = None
) -> tuple[tuple[str, ...], ...]:
    """Return the state of each token's q, k or v in each decoding step, as states[step][token].

    "computed": for the first time. "kept": read from the cache. "again": computed again, because there is no cache.
    "unneeded": computed in an earlier step, and not read. "absent": the token comes later. Without a cache every step
    computes the whole prefix again, because later layers need all of its vectors. With a cache each query is read in
    one step, and a key until it leaves the window.

    tokens: the number of steps, 1 or more. role: "q", "k" or "v". window: the window of a sliding mask; None without
    one.

    >>> for row in cache_states(3): print(row)
    ('computed', 'absent', 'absent')
    ('kept', 'computed', 'absent')
    ('kept', 'kept', 'computed')
    """
    require_positive("tokens", tokens)
    require_one_of("role", role, ("q", "k", "v"))
    states = []
    for t in range(tokens):
        row = tuple(cache_state(t, s, role, cached, window) for s in range(tokens))
        states.append(row)
    return tuple(states)


def cache_state(t: int, s: int, role: str, cached: bool, window: int | None) -> str:
    """Return the state of token s's q, k or v in decoding step t: "computed", "kept", "again", "unneeded" or
    "absent"."""
    if s > t:
        return STATE_ABSENT
    if s == t:
        return STATE_COMPUTED
    if not cached:
        return STATE_AGAIN
    has_left_window = s < first_key(t, window)
    if role == "q" or has_left_window:
        return STATE_UNNEEDED
    return STATE_KEPT


@dataclass(frozen=True)
class DecodingWork:
    """The amount of decoding work per layer, head and sequence: computed keys, queries and scores, and keys read from
    the cache.

    keys: the number of computed keys, which is also that of values. queries: the number of computed queries. scores:
    the number of (query, key) pairs that the mask allows. read: the number of keys read from the cache.
    """

    keys: int
    queries: int
    scores: int
    read: int

    def __add__(self, other: "DecodingWork") -> "DecodingWork":
        """Return the sum of two amounts of work, field by field."""
        return DecodingWork(
            keys=self.keys + other.keys,
            queries=self.queries + other.queries,
            scores=self.scores + other.scores,
            read=self.read + other.read,
        )


def work_of_step(t: int, *, cached: bool = True, window: int | None = None) -> DecodingWork:
    """Count the work of decoding step t.

    With a cache, the step computes one key, one query, and a score for every allowed key. Without a cache, it computes
    all keys, queries and scores of the t + 1 tokens again, because later layers need them.

    t: the step, 0 or more. window: the window of a sliding mask; None without one. Raises AttentionError (a ValueError)
    for another number.

    >>> work_of_step(4), work_of_step(4, cached=False)
    (DecodingWork(keys=1, queries=1, scores=5, read=4), DecodingWork(keys=5, queries=5, scores=15, read=0))
    """
    prefix = require_not_negative("t", t) + 1
    if not cached:
        return DecodingWork(
            keys=prefix,
            queries=prefix,
            scores=causal_pairs(prefix, window),
            read=0,
        )
    seen = prefix - first_key(t, window)
    return DecodingWork(
        keys=1,
        queries=1,
        scores=seen,
        read=seen - 1,
    )


def total_work(tokens: int, *, cached: bool = True, window: int | None = None) -> DecodingWork:
    r"""Count the work of all decoding steps up to a length T.

    Keys: T with a cache, $T(T + 1)/2$ without. Scores without a window: $T(T + 1)/2$ with a cache, $T(T + 1)(T + 2)/6$
    without.

    tokens: T, 1 or more. window: the window of a sliding mask; None without one. Raises AttentionError (a ValueError)
    for another number.

    >>> total_work(256).keys, total_work(256, cached=False).keys
    (256, 32896)
    """
    total = DecodingWork(keys=0, queries=0, scores=0, read=0)
    for t in range(require_positive("tokens", tokens)):
        step = work_of_step(t, cached=cached, window=window)
        total = total + step
    return total


def causal_pairs(tokens: int, window: int | None = None) -> int:
    """Count the (query, key) pairs that a causal mask allows, or, if there is a window, that a sliding mask allows.

    >>> causal_pairs(4), causal_pairs(4, window=2)
    (10, 7)
    """
    w = count_kept_tokens(tokens, window)
    first_queries = w * (w + 1) // 2  # the first w queries attend to 1, 2, ..., w keys
    other_queries = tokens - w  # every other query attends to w keys
    return first_queries + other_queries * w


def count_kept_tokens(tokens: int, window: int | None) -> int:
    """Count the tokens whose keys are cached after `tokens` tokens were read."""
    if window is None:
        return tokens
    return min(tokens, require_positive("window", window))


# ---- bytes of the cache ----------------------------------------------------------------------------------------------
def cache_bytes(
    tokens: int,
    *,
    kv_heads: int,
    d_k: int,
    d_v: int,
    dtype: torch.dtype,
    layers: int = 1,
    batch: int = 1,
    window: int | None = None,
) -> int:
    r"""Count the bytes of all keys and values that are cached after T tokens.

    $L\,B\,H_{kv}\,(d_k + d_v)\,\min(T, w)$ numbers times the bytes of the dtype; if keys and values are both d wide and
    there is no window, that is $2\,L\,B\,H_{kv}\,d\,T$.

    tokens: T, 1 or more. kv_heads, layers, batch: counts. d_k, d_v: widths per head. window: the window of a sliding
    mask; None without one. Raises AttentionError (a ValueError) for another number. Source: Shazeer 2019; Ainslie et
    al. 2023 (H_kv).

    >>> cache_bytes(4096, layers=32, kv_heads=32, d_k=128, d_v=128, dtype=torch.float16) // 2**20
    2048
    """
    counts = {
        "tokens": tokens,
        "kv_heads": kv_heads,
        "d_k": d_k,
        "d_v": d_v,
        "layers": layers,
        "batch": batch,
    }
    for name, count in counts.items():
        require_positive(name, count)
    kept = count_kept_tokens(tokens, window)
    numbers_of_token = layers * kv_heads * (d_k + d_v)
    return batch * kept * numbers_of_token * dtype.itemsize


def latent_bytes(
    tokens: int, *, d_c: int, d_r: int, dtype: torch.dtype, layers: int = 1, batch: int = 1, window: int | None = None
) -> int:
    r"""Count the bytes of all latents that are cached after T tokens, from which keys and values are recomputed.

    $L\,B\,(d_c + d_r)\,\min(T, w)$ numbers times the bytes of the dtype: per token one latent and the part rotated by
    RoPE, which all heads share.

    tokens: T, 1 or more. d_c: width of the latent. d_r: width of the rotated part. layers, batch: counts. window: the
    window of a sliding mask; None without one. Raises AttentionError (a ValueError) for another number. Source:
    DeepSeek-AI 2024 (DeepSeek-V2), section 2.1.4 and table 1.

    >>> latent_bytes(1, d_c=512, d_r=64, layers=60, dtype=torch.bfloat16)
    69120
    >>> cache_bytes(1, kv_heads=128, d_k=128, d_v=128, layers=60, dtype=torch.bfloat16) // 69120
    56
    """
    one_vector = {"kv_heads": 1, "d_k": d_c, "d_v": d_r}
    return cache_bytes(tokens, **one_vector, dtype=dtype, layers=layers, batch=batch, window=window)


def kv_bytes(trace: Trace) -> int:
    """Count the bytes that a layer caches in a run of `decode`: the bytes of keys and values, or of latents.

    >>> from attention_core.variants.kv_cache import decode
    >>> [kv_bytes(step) for step in decode(torch.zeros(3, 2, dtype=torch.float16))]
    [8, 16, 24]
    """
    kept = ("latent_x", "k_r") if "latent_x" in trace else ("k", "k_2", "v", "k_r")
    return sum(trace[name].nbytes for name in kept if name in trace)


# ---- a language model: the prompt runs at once, then each generated word ---------------------------------------------
@dataclass(frozen=True)
class WritingCost:
    """The work of a language model from the start of the text up to a generated word.

    keys: the number of keys, and of values, that each head of each layer has computed. products: the multiply-adds of
    the model.
    """

    keys: int
    products: int


def count_products(shape: ModelShape, rows: int, keys: int) -> int:
    r"""Count the multiply-adds of one run of a language model that predicts one next word.

    $n\,L(4D^2 + 3DI) + 2\,L\,n\,S\,D + D\,V$: projections and feed-forward layers of n words, n queries with S keys and
    S values each, and the logits of the last word.

    shape: the shape of the model. rows: n, the number of words in the run. keys: S, per query, including masked keys.

    >>> count_products(ModelShape(words=10, causal=True, width=2, layers=1, heads=1, inner=3), rows=1, keys=4)
    70
    """
    D, V = shape.width, shape.words
    projections, feed_forward = 4 * D * D, 3 * D * shape.inner  # multiply-adds of one word in one layer
    pairs = require_positive("rows", rows) * require_positive("keys", keys)
    layer = rows * (projections + feed_forward) + 2 * pairs * D
    return shape.layers * layer + D * V


def count_writing(shape: ModelShape, given: int, tokens: int, *, cached: bool) -> Iterator[WritingCost]:
    r"""Yield the cost of generating text: after the prompt, and after each generated word.

    The prompt of n words is one run of n rows, with or without a cache. With a cache each further word is a run of one
    row, so T keys are computed in total. Without a cache each further word is a run of all words so far, so $n + (n +
    1) + \dots + T$ keys are computed.

    shape: the shape of the model. given: n, the number of words in the prompt. tokens: T, the number of all words at
    the end. Raises AttentionError: positive_integer. Source: Shazeer 2019, section 2.4.1.

    >>> shape = ModelShape(words=10, causal=True)
    >>> [cost.keys for cost in count_writing(shape, 4, 7, cached=True)]
    [4, 5, 6, 7]
    >>> [cost.keys for cost in count_writing(shape, 4, 7, cached=False)]
    [4, 9, 15, 22]
    """
    keys = products = 0
    for seen in range(require_positive("given", given), require_positive("tokens", tokens) + 1):
        is_behind = cached and seen > given
        rows = work_of_step(seen - 1, cached=is_behind).keys
        keys += rows
        products += count_products(shape, rows, seen)
        yield WritingCost(keys, products)
