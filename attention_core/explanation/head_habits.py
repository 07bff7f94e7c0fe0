"""Finds the pattern of a head's weights, such as "each query attends to the word before"; works for trained, handmade
and random heads.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from attention_core.explanation.facts import RowFact, accident, row_fact
from attention_core.record.trace import Trace

CLEAR_RATIO = 2.0  # a query attends clearly to a key with at least this multiple of the uniform weight
MOST_QUERIES = 0.8  # share of the queries that must follow a pattern, among those that have such a key
MAX_NAMED_PAIRS = 3  # the most (query, key) pairs that a sentence lists


@dataclass(frozen=True)
class HeadHabit:
    """The pattern that the queries of a head have in common.

    kind:

    - "random": the weights come from random numbers, and mean nothing.
    - "overflow": scores of this head overflow in the run's precision.
    - "single": there is only one key.
    - "forced": masks leave each query at most one key.
    - "nothing": every query gives weight 0 to every key that it may see.
    - "even": every query attends uniformly.
    - "offset": most queries attend to the key `offset` positions after their own; -1 is the word before.
    - "key": most queries attend to the key `key`.
    - "pairs": a few queries attend clearly, and the rest uniformly; `pairs` has the (query, key) of the clear ones.
    - "named": each query with several keys attends clearly, and they are few; `pairs` has the (query, key) of each.
    - "mixed": no pattern; `pairs` has the query whose largest weight is the highest multiple of its uniform share.
    - "tied": no pattern, and this query gives `count` keys the same weight; `pairs` has the first of these keys.
    """

    kind: str
    offset: int = 0
    key: int = 0
    pairs: tuple[tuple[int, int], ...] = ()
    count: int = 0


def list_row_facts(trace: Trace, head: int, batch: int = 0) -> list[RowFact]:
    """Return a RowFact for each query of a head: how the query spreads its weight over the keys.

    >>> import torch
    >>> from attention_core import attend_qkv
    >>> [fact.kind for fact in list_row_facts(attend_qkv(*[torch.zeros(2, 1)] * 3), head=0)]
    ['even', 'even']
    """
    queries = trace.sizes()["T"]
    return [row_fact(trace, head, query, batch) for query in range(queries)]


def head_habit(trace: Trace, facts: Sequence[RowFact]) -> HeadHabit:
    """Return the pattern that the queries of a head have in common.

    facts: the RowFact of each query.

    >>> import torch
    >>> from attention_core import Weights, attend
    >>> words = 3 * torch.eye(4)
    >>> trace = attend(words, weights=Weights(w_q=torch.eye(4)))
    >>> head_habit(trace, list_row_facts(trace, head=0))
    HeadHabit(kind='offset', offset=0, key=0, pairs=(), count=0)
    """
    if any(fact.kind == "overflow" for fact in facts):
        return HeadHabit("overflow")
    if trace.sizes()["S"] == 1:
        return HeadHabit("single")
    free = [fact for fact in facts if fact.possible > 1 and fact.keys]
    if not free:
        return HeadHabit("forced" if all(fact.possible < 2 for fact in facts) else "nothing")
    clear = [fact for fact in free if fact.kind == "most" and fact.ratio >= CLEAR_RATIO]
    if any(accident(trace, fact) for fact in clear or free):
        return HeadHabit("random")
    if not clear:
        is_even = all(fact.kind in ("even", "nearly") for fact in free)
        return HeadHabit("even") if is_even else mixed_habit(free)
    return find_offset(trace, free, clear) or find_key(free, clear) or name_pairs(free, clear)


def find_offset(trace: Trace, free: Sequence[RowFact], clear: Sequence[RowFact]) -> HeadHabit | None:
    """Return the pattern "offset" if most queries attend to the key at one offset from their own position, else None.

    free: the facts of the queries that have several allowed keys. clear: the facts of the queries among them that
    attend clearly to one key. Keys must be the same words as the queries.
    """
    sizes = trace.sizes()
    if not asks_own_words(trace) or sizes["T"] != sizes["S"]:
        return None
    counts = Counter(fact.keys[0] - fact.query for fact in clear)
    most = max(counts.values())
    offset = min((offset for offset, count in counts.items() if count == most), key=abs)
    keys_there = [fact.query + offset for fact in free]
    possible = sum(0 <= key < sizes["S"] for key in keys_there)
    if most < 2 or most < MOST_QUERIES * possible:
        return None
    return HeadHabit("offset", offset=offset)


def asks_own_words(trace: Trace) -> bool:
    """Return whether queries and keys are the same words: both come from x, or the labels of imported maps are
    equal.
    """
    is_given = "masked_scores" not in trace
    return trace.labels.get("T") == trace.labels.get("S") if is_given else "x" in trace


def find_key(free: Sequence[RowFact], clear: Sequence[RowFact]) -> HeadHabit | None:
    """Return the pattern "key" if most queries of a head attend to one and the same key, else None."""
    counts = Counter(fact.keys[0] for fact in clear)
    ((key, count),) = counts.most_common(1)
    if count < 2 or count < MOST_QUERIES * len(free):
        return None
    return HeadHabit("key", key=key)


def name_pairs(free: Sequence[RowFact], clear: Sequence[RowFact]) -> HeadHabit:
    """Return the pattern "named" or "pairs" if few queries attend clearly to a key, else the result of mixed_habit."""
    rest = [fact for fact in free if fact not in clear]
    rest_is_even = all(fact.kind in ("even", "nearly") for fact in rest)
    if not rest_is_even or len(clear) > MAX_NAMED_PAIRS:
        return mixed_habit(free)
    pairs = tuple((fact.query, fact.keys[0]) for fact in clear)
    return HeadHabit("pairs" if rest else "named", pairs=pairs)


def mixed_habit(facts: Sequence[RowFact]) -> HeadHabit:
    """Return the kind of a head whose queries share no pattern: "tied" or "mixed".

    It is "tied" if the query whose largest weight is the highest multiple of its uniform share gives several keys this
    weight, else "mixed". facts: the facts of the queries that have several allowed keys.
    """
    surest = max(facts, key=lambda fact: fact.ratio)
    pairs = ((surest.query, surest.keys[0]),)
    if len(surest.keys) > 1:
        return HeadHabit("tied", pairs=pairs, count=len(surest.keys))
    return HeadHabit("mixed", pairs=pairs)
