"""The cost of generating text with a language model: the prompt runs at once, then each generated word."""

from collections.abc import Iterator
from dataclasses import dataclass

from attention_core.learned.language.model import ModelShape
from attention_core.mechanism.plain_checks import require_positive
from attention_core.variants.decoding_work import work_of_step


@dataclass(frozen=True)
class WritingCost:
    """The work up to a generated word.

    keys: the number of computed keys, and of values, in each head of each layer. products: multiply-adds of the model.
    """

    keys: int
    products: int


def count_products(shape: ModelShape, rows: int, keys: int) -> int:
    r"""Count the multiply-adds of a run of a language model that predicts one next word.

    $n\,L(4D^2 + 3DI) + 2\,L\,n\,S\,D + D\,V$: projections and feed-forward layers of n words, n queries with S
    keys and S values each, the logits of the last word.

    shape: of the model. rows: n, the words that run. keys: S, per query, including masked keys.

    >>> count_products(ModelShape(words=10, causal=True, width=2, layers=1, heads=1, inner=3), rows=1, keys=4)
    70
    """
    D, V = shape.width, shape.words
    projections, feed_forward = 4 * D * D, 3 * D * shape.inner  # multiply-adds per word
    pairs = require_positive("rows", rows) * require_positive("keys", keys)
    layer = rows * (projections + feed_forward) + 2 * pairs * D
    return shape.layers * layer + D * V


def count_writing(shape: ModelShape, given: int, tokens: int, *, cached: bool) -> Iterator[WritingCost]:
    r"""Yield the cost of generating text after the prompt, and after each generated word.

    The prompt of n words is one run of n rows, with a cache or without. With a cache each further word is one row: T
    keys in total. Without a cache it is a run of all words so far: $n + (n + 1) + \dots + T$ keys.

    shape: of the model. given: n, the words of the prompt. tokens: T, all words at the end. Raises AttentionError:
    positive_integer. Source: Shazeer 2019, section 2.4.1.

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
