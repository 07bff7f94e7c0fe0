"""What a head does, read off its map: the same for every head, built, learned or random."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from attention_core.explanation.facts import RowFact, accident, row_fact
from attention_core.record.trace import Trace

CLEAR_RATIO = 2.0  # times an even share: a query that gives one key so much looks there
MOST_QUERIES = 0.8  # of the queries that could: then it is what the head does
MAX_NAMED_PAIRS = 3  # queries that are named one by one


@dataclass(frozen=True)
class HeadHabit:
    """What the queries of a head have in common.

    kind:

    - "random": what stands out comes of random numbers, and means nothing.
    - "overflow": the precision could not hold scores of this head.
    - "single": there is one key alone.
    - "forced": masks leave each query one key at most.
    - "even": every query spreads evenly.
    - "offset": most look at the key `offset` places on; -1 is the word before.
    - "key": most look at the key `key`.
    - "pairs": a few look somewhere, (query, key) in `pairs`, and the rest evenly.
    - "mixed": no rule holds; `pairs` has the query that stands out most.
    - "tied": no rule holds, and that query gives `count` keys the most alike; `pairs` has the first of them.
    """

    kind: str
    offset: int = 0
    key: int = 0
    pairs: tuple[tuple[int, int], ...] = ()
    count: int = 0


def list_row_facts(trace: Trace, head: int, batch: int = 0) -> list[RowFact]:
    """List what each query does in a head.

    >>> import torch
    >>> from attention_core import attend_qkv
    >>> [fact.kind for fact in list_row_facts(attend_qkv(*[torch.zeros(2, 1)] * 3), head=0)]
    ['even', 'even']
    """
    queries = trace.sizes()["T"]
    return [row_fact(trace, head, query, batch) for query in range(queries)]


def head_habit(trace: Trace, facts: Sequence[RowFact]) -> HeadHabit:
    """Say what the queries of a head have in common. facts: of each of them.

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
    """The same number of places on for most queries that have a key there, where the keys are the queries' words."""
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
    """Whether the keys are the queries' own words: both are made of x; of maps that were given alone, both are named
    the same."""
    is_given = "masked_scores" not in trace
    return trace.labels.get("T") == trace.labels.get("S") if is_given else "x" in trace


def find_key(free: Sequence[RowFact], clear: Sequence[RowFact]) -> HeadHabit | None:
    """The same key for most queries."""
    counts = Counter(fact.keys[0] for fact in clear)
    ((key, count),) = counts.most_common(1)
    if count < 2 or count < MOST_QUERIES * len(free):
        return None
    return HeadHabit("key", key=key)


def name_pairs(free: Sequence[RowFact], clear: Sequence[RowFact]) -> HeadHabit:
    """A few queries one by one, where the rest spread evenly."""
    rest = [fact for fact in free if fact not in clear]
    rest_is_even = all(fact.kind in ("even", "nearly") for fact in rest)
    if not rest_is_even or len(clear) > MAX_NAMED_PAIRS:
        return mixed_habit(clear)
    pairs = tuple((fact.query, fact.keys[0]) for fact in clear)
    return HeadHabit("pairs", pairs=pairs)


def mixed_habit(facts: Sequence[RowFact]) -> HeadHabit:
    """No rule: the query that stands out most, and whether it looks at several keys alike."""
    surest = max(facts, key=lambda fact: fact.ratio)
    pairs = ((surest.query, surest.keys[0]),)
    if len(surest.keys) > 1:
        return HeadHabit("tied", pairs=pairs, count=len(surest.keys))
    return HeadHabit("mixed", pairs=pairs)
