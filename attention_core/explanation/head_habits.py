"""The pattern of a head, derived from its weights alone: the same for every head, built, learned or random."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from attention_core.explanation.facts import RowFact, accident, row_fact
from attention_core.record.trace import Trace

CLEAR_RATIO = 2.0  # times a uniform share: a query with this weight on one key attends clearly
MOST_QUERIES = 0.8  # share of the queries that can follow a rule: from this share on, the head has the rule
MAX_NAMED_PAIRS = 3  # the most queries that are listed one by one


@dataclass(frozen=True)
class HeadHabit:
    """What the queries of a head have in common.

    kind:

    - "random": the weights come from random numbers, and mean nothing.
    - "overflow": the precision could not hold scores of this head.
    - "single": there is only one key.
    - "forced": masks leave each query at most one key.
    - "even": every query attends uniformly.
    - "offset": most attend to the key `offset` positions after their own; -1 is the word before.
    - "key": most attend to the key `key`.
    - "pairs": a few attend clearly, (query, key) in `pairs`, and the rest uniformly.
    - "mixed": no rule holds; `pairs` has the query that attends most clearly.
    - "tied": no rule holds, and that query gives `count` keys equally much; `pairs` has the first of them.
    """

    kind: str
    offset: int = 0
    key: int = 0
    pairs: tuple[tuple[int, int], ...] = ()
    count: int = 0


def list_row_facts(trace: Trace, head: int, batch: int = 0) -> list[RowFact]:
    """List the RowFact of each query in a head.

    >>> import torch
    >>> from attention_core import attend_qkv
    >>> [fact.kind for fact in list_row_facts(attend_qkv(*[torch.zeros(2, 1)] * 3), head=0)]
    ['even', 'even']
    """
    queries = trace.sizes()["T"]
    return [row_fact(trace, head, query, batch) for query in range(queries)]


def head_habit(trace: Trace, facts: Sequence[RowFact]) -> HeadHabit:
    """Return what the queries of a head have in common. facts: one for each query.

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
        return HeadHabit("forced")
    clear = [fact for fact in free if fact.kind == "most" and fact.ratio >= CLEAR_RATIO]
    if any(accident(trace, fact) for fact in clear or free):
        return HeadHabit("random")
    if not clear:
        is_even = all(fact.kind in ("even", "nearly") for fact in free)
        return HeadHabit("even") if is_even else mixed_habit(free)
    return find_offset(trace, free, clear) or find_key(free, clear) or name_pairs(free, clear)


def find_offset(trace: Trace, free: Sequence[RowFact], clear: Sequence[RowFact]) -> HeadHabit | None:
    """The habit "offset" if most queries attend to the key at one offset, and keys are the queries' words; or None."""
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
    """Whether keys and queries are the same words: both computed from x, or, for given maps, with equal labels."""
    is_given = "masked_scores" not in trace
    return trace.labels.get("T") == trace.labels.get("S") if is_given else "x" in trace


def find_key(free: Sequence[RowFact], clear: Sequence[RowFact]) -> HeadHabit | None:
    """The habit "key" if most queries attend to the same key."""
    counts = Counter(fact.keys[0] for fact in clear)
    ((key, count),) = counts.most_common(1)
    if count < 2 or count < MOST_QUERIES * len(free):
        return None
    return HeadHabit("key", key=key)


def name_pairs(free: Sequence[RowFact], clear: Sequence[RowFact]) -> HeadHabit:
    """The habit "pairs" if few queries attend clearly and the rest uniformly; else the mixed habit."""
    rest = [fact for fact in free if fact not in clear]
    rest_is_even = all(fact.kind in ("even", "nearly") for fact in rest)
    if not rest_is_even or len(clear) > MAX_NAMED_PAIRS:
        return mixed_habit(clear)
    pairs = tuple((fact.query, fact.keys[0]) for fact in clear)
    return HeadHabit("pairs", pairs=pairs)


def mixed_habit(facts: Sequence[RowFact]) -> HeadHabit:
    """The habit "mixed" or "tied": the query that attends most clearly, and whether to several keys equally."""
    surest = max(facts, key=lambda fact: fact.ratio)
    pairs = ((surest.query, surest.keys[0]),)
    if len(surest.keys) > 1:
        return HeadHabit("tied", pairs=pairs, count=len(surest.keys))
    return HeadHabit("mixed", pairs=pairs)
