"""Computes facts about a run's weights, as numbers and names of kinds, from which a page makes sentences."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attention_core.mechanism.attention import attend_qkv
from attention_core.mechanism.config import AttentionConfig, Choice
from attention_core.mechanism.normalisers import has_sink, has_two_maps, row_sum_of
from attention_core.record.trace import Trace

EQUAL_WEIGHT_GAP = 1e-9  # weights whose difference is smaller count as equal
SHARE_SUM_TOLERANCE = 0.02  # accepted rounding error of a sum of weights, in any precision
NEARLY_EVEN = 1.05  # a row counts as nearly uniform if its largest weight is below this multiple of the uniform weight


@dataclass(frozen=True)
class RowFact:
    """How one query spreads its weight in one head.

    possible: the number of allowed keys. keys: the positions of the keys with the largest weight. share: the largest
    weight. total: the sum of the row. sunk: the weight of an attention sink. rest: the weight of the sink and of all
    keys not in `keys`.

    kind:

    - "most": one of several allowed keys has the largest weight.
    - "nearly": one key has the largest weight, by less than a twentieth of the uniform weight.
    - "several": some keys, but not all, have the largest weight in common.
    - "even": all allowed keys have the same weight.
    - "only": a single key is allowed.
    - "nothing": no key is allowed.
    - "overflow": the scores overflow in the run's precision, so that there are no weights.
    - "difference": the weights are one map of weights minus another, so they may be negative and need not sum to 1.
      `keys` has the largest.
    - "free": the weights need not sum to 1. `keys` has the largest.
    - "chosen": replaced weights that no softmax over the allowed keys has. `keys` has the largest.
    """

    kind: str
    batch: int
    head: int
    query: int
    keys: tuple[int, ...]
    share: float
    possible: int
    total: float = 1.0
    sunk: float = 0.0
    rest: float = field(default=0.0, compare=False)

    @property
    def even(self) -> float:
        """Return the uniform weight: what each allowed key would have if all had the same, after the sink's weight."""
        return left_by(self.sunk) / self.possible

    @property
    def ratio(self) -> float:
        """Return the largest weight divided by the uniform weight."""
        return self.share * self.possible / left_by(self.sunk)


# ---- one query -------------------------------------------------------------------------------------------------------
def row_fact(trace: Trace, head: int, query: int, batch: int = 0) -> RowFact:
    """Return how one query spreads its weight in a head: to which keys it attends most, and how much.

    >>> import torch
    >>> from attention_core import attend_qkv
    >>> k = torch.tensor([[2.0, 0.0], [0.0, 2.0]])
    >>> fact = row_fact(attend_qkv(k, k, k), head=0, query=1)
    >>> fact.kind, fact.keys, round(fact.share, 3), round(fact.ratio, 3)
    ('most', (1,), 0.944, 1.888)
    """
    place = (batch, head, query)
    row = trace.steps["weights"].value[place].detach().double().cpu()  # (S,)
    allowed = allowed_pairs(trace)[place].cpu()  # (S,)
    possible = int(allowed.sum())
    share = float(row.max())
    if has_overflowed(trace, place, row, allowed):
        return RowFact("overflow", *place, (), 0.0, possible)
    if has_replaced_weights(trace, row, allowed):
        largest = int(row.argmax())
        total = float(row.sum())
        return RowFact("chosen", *place, (largest,), share, possible, total)
    sinks = has_sink(trace)
    if possible and has_two_maps(trace):
        return RowFact("difference", *place, (int(row.argmax()),), share, possible, float(row.sum()))
    if possible == 0 or (share == 0.0 and not sinks):
        return RowFact("nothing", *place, (), 0.0, possible)
    total = float(row.sum())
    if row_sum_of(trace) != "one" and not sinks:
        return RowFact("free", *place, (int(row.argmax()),), share, possible, total)
    sunk = 1 - total if sinks else 0.0
    among_largest = row >= share - EQUAL_WEIGHT_GAP
    keys = among_largest.nonzero().flatten().tolist()
    smaller = row[row < share]
    return RowFact(
        kind_of_row(len(keys), possible, share / left_by(sunk)),
        *place,
        keys=tuple(keys),
        share=share,
        possible=possible,
        total=1 - sunk,
        sunk=sunk,
        rest=float(smaller.sum()) + sunk,
    )


def left_by(sunk: float) -> float:
    """Return the total weight of the keys beside a sink; 1 instead of 0, so that it can be a divisor."""
    return 1 - sunk or 1.0


def has_overflowed(
    trace: Trace, place: tuple[int, int, int], row: Float[Tensor, " S"], allowed: Bool[Tensor, " S"]
) -> bool:
    """Return whether the scores of a row overflowed: its weights are NaN, or every allowed score is -inf.

    place: the indices of batch, head and query.
    """
    if row.isnan().any():
        return True
    if row.any() or not allowed.any() or "masked_scores" not in trace.steps:
        return False
    scores = trace["masked_scores"][place].cpu()
    return bool(scores[allowed].isneginf().all())


# Only these kinds of RowFact depend on the scores; other kinds follow from the masks or from equal scores.
CLAIMS = ("most", "nearly", "several", "free", "difference")


@dataclass(frozen=True)
class Accident:
    """The random inputs on which a row of weights depends, so that the weights mean nothing.

    query: whether the query's vector is random. keys: the keys whose vectors are random. matrices: the names of random
    matrices.
    """

    query: bool
    keys: tuple[int, ...]
    matrices: tuple[str, ...]


def accident(trace: Trace, fact: RowFact) -> Accident | None:
    """Return the random inputs on which a row of weights depends; a page does not interpret such weights.

    Returns None if the row depends on no random input, or would be the same with any scores.

    >>> from dataclasses import replace
    >>> from attention_core.record.trace import RandomParts
    >>> k = torch.tensor([[2.0, 0.0], [0.0, 2.0]])
    >>> trace = replace(attend_qkv(k, k, k), chance=RandomParts({"S": frozenset({1})}))
    >>> [accident(trace, row_fact(trace, head=0, query=query)) for query in range(2)]
    [None, Accident(query=False, keys=(1,), matrices=())]
    """
    if fact.kind not in CLAIMS:
        return None
    return accident_at(trace, fact.query, fact.keys)


def accident_at(trace: Trace, query: int, keys: Sequence[int]) -> Accident | None:
    """Return the random inputs among a query's vector, the vectors of these keys, and the matrices; None if none is
    random."""
    random_queries = trace.chance.tokens.get("T", ())
    random_keys = trace.chance.tokens.get("S", ())
    found = Accident(
        query=query in random_queries,
        keys=tuple(key for key in keys if key in random_keys),
        matrices=trace.chance.matrices,
    )
    if found.query or found.keys or found.matrices:
        return found
    return None


def has_replaced_weights(trace: Trace, row: Float[Tensor, " S"], allowed: Bool[Tensor, " S"]) -> bool:
    """Return whether a row of weights was replaced by numbers that cannot come from a softmax over the allowed keys."""
    if "chosen_weights" not in trace.steps and "replacement" not in trace.steps:
        return False
    if (row < 0).any() or row[~allowed].any():
        return True
    whole = 1.0 if allowed.any() else 0.0
    return bool(abs(row.sum() - whole) > SHARE_SUM_TOLERANCE)


def kind_of_row(largest_count: int, possible: int, share: float) -> str:
    """Return how a softmax row spreads its weight: "most", "nearly", "several", "even" or "only", defined in RowFact.

    largest_count: the number of keys with the largest weight. share: the weight of each of these keys, as a share of
    the weight of all keys. possible: the number of allowed keys.
    """
    if possible == 1:
        return "only"
    if largest_count == possible:
        return "even"
    if largest_count > 1:
        return "several"
    if share * possible < NEARLY_EVEN:
        return "nearly"
    return "most"


# ---- rows and sums compared ------------------------------------------------------------------------------------------
def find_surest_rows(facts: Sequence[RowFact]) -> set[int]:
    """Return the indices in `facts` of the rows with the largest weight on a single key; several if rows are tied.

    >>> import torch
    >>> from attention_core import AttentionConfig, attend_qkv
    >>> q, k = torch.tensor([[3.0, 0.0]]), torch.tensor([[3.0, 0.0], [0.0, 3.0]])
    >>> scores = ("cosine", "scaled_dot", "dot")
    >>> find_surest_rows([row_fact(attend_qkv(q, k, k, config=AttentionConfig(score=score)), 0, 0) for score in scores])
    {2}
    """
    least = max(fact.share for fact in facts) - EQUAL_WEIGHT_GAP
    return {number for number, fact in enumerate(facts) if fact.share >= least}


def weight_sums(trace: Trace, axis: str, head: int = 0, batch: int = 0) -> list[float]:
    """Sum a head's weights over the keys ("S"), one sum per query, or over the queries ("T"), one sum per key.

    >>> import torch
    >>> from attention_core import attend_qkv
    >>> trace = attend_qkv(torch.zeros(1, 3), torch.zeros(2, 3), torch.zeros(2, 3))
    >>> weight_sums(trace, "S"), weight_sums(trace, "T")
    ([1.0], [0.5, 0.5])
    """
    weights = trace["weights"][batch, head].double()  # (T, S)
    summed_axis = {"T": 0, "S": 1}[axis]
    return weights.sum(summed_axis).tolist()


# ---- whole heads -----------------------------------------------------------------------------------------------------
def attends_at_offset(trace: Trace, head: int, offset: int, batch: int = 0) -> bool:
    """Return whether each query of a head gives its largest weight to the one key that is `offset` positions after it.

    Queries without a key at that offset do not count. Returns False if no query has such a key.

    >>> import torch
    >>> from attention_core import attend_qkv
    >>> q, k = torch.eye(3), 5 * torch.eye(3)[[2, 0, 1]]  # word i is like the key after it
    >>> attends_at_offset(attend_qkv(q, k, k), 0, 1), attends_at_offset(attend_qkv(q, k, k), 0, 0)
    (True, False)
    """
    rows = trace["weights"][batch, head]  # (T, S)
    queries, keys = rows.shape
    largest = rows.amax(-1, keepdim=True)  # (T, 1)
    among_largest = rows >= largest - EQUAL_WEIGHT_GAP  # (T, S)
    any_key = False
    for query in range(queries):
        key = query + offset
        if not 0 <= key < keys:
            continue
        any_key = True
        if among_largest[query].nonzero().tolist() != [[key]]:
            return False
    return any_key


def transpose_gap(one: Trace, other: Trace, step: str = "scores") -> float:
    """Measure the largest difference between a step of one run and the transpose of that step in another run.

    Called with one run twice, it returns 0 if the step is symmetric. Exchanging W_q and W_k transposes the raw scores,
    because q kᵀ and k qᵀ are sums of the same products.

    >>> from attention_core import attend_qkv
    >>> q, k = torch.tensor([[1.0], [2.0]]), torch.tensor([[3.0], [5.0]])
    >>> transpose_gap(attend_qkv(q, k, k), attend_qkv(k, q, k)), transpose_gap(*[attend_qkv(q, k, k)] * 2)
    (0.0, 1.0)
    """
    gaps = one[step] - other[step].mT
    return gaps.abs().max().item()


def find_telling_row(
    trace: Trace, query: int | None = None, batch: int = 0, count: int | None = None
) -> tuple[int, int]:
    """Find the (head, query) to select first: the row whose largest weight is the largest multiple of the uniform
    weight.

    Of equal rows, that of the first head and of the last query in it is chosen. query: if given, only this query's rows
    are searched. count: the number of queries that are not padding.

    >>> import torch
    >>> from attention_core import attend_qkv
    >>> k = torch.tensor([[1.0, 0.0], [0.0, 2.0]])
    >>> find_telling_row(attend_qkv(k, k, k))
    (0, 1)
    """
    weights = trace["weights"][batch].detach().double()  # (H, T, S)
    largest = weights.nan_to_num().amax(-1)  # (H, T)
    possible = allowed_pairs(trace)[batch].sum(-1)  # (H, T)
    ratios = largest * possible  # (H, T): 1 for a row that has only one allowed key
    queries = slice(count) if query is None else slice(query, query + 1)
    ratios = ratios[:, queries]
    among_highest = ratios >= ratios.max() - EQUAL_WEIGHT_GAP
    heads = among_highest.any(-1).nonzero()
    head = int(heads[0])
    if query is None:
        equal_queries = among_highest[head].nonzero()
        query = int(equal_queries[-1])
    return head, query


def find_row_beyond_itself(trace: Trace, query: int | None = None, batch: int = 0, first: int = 0) -> tuple[int, int]:
    """Find the (head, query) to select first if most words attend to themselves.

    The head is the first in which a query gives over half of its weight to another word; if there is none, that with
    the largest weight on another word. The query is the one in this head that gives the largest weight to another word.
    query: if given, only this query's rows are searched. first: the first query that may be chosen if `query` is not
    given.

    >>> import torch
    >>> from attention_core import attend_qkv
    >>> q, k = torch.eye(2) * 9, torch.tensor([[0.0, 0.0], [1.0, 0.0]])
    >>> find_row_beyond_itself(attend_qkv(q, k, k))     # the first gives nearly all to the second
    (0, 0)
    """
    weights = trace["weights"][batch].detach().double().nan_to_num()  # (H, T, S)
    T, S = weights.shape[-2:]
    is_itself = torch.eye(T, S, dtype=torch.bool)
    beyond = weights.masked_fill(is_itself, 0.0).amax(-1)  # (H, T)
    beyond[:, :first] = -1.0
    if query is not None:
        beyond = beyond[:, query : query + 1]
    over_half = (beyond.amax(-1) > 0.5).nonzero()  # (heads, 1)
    head = int(over_half[0]) if len(over_half) else int(beyond.amax(-1).argmax())
    return head, int(beyond[head].argmax()) if query is None else query


def find_most_alike_heads(likeness: Float[Tensor, "H H"]) -> tuple[int, int, float] | None:
    """Return the two most similar heads and their likeness, or None if there is only one head.

    Of equal pairs the first is returned. likeness: the likeness of every two heads, as in the step `likeness`.

    >>> find_most_alike_heads(torch.tensor([[1.0, 0.25, 0.5], [0.25, 1.0, 0.75], [0.5, 0.75, 1.0]]))
    (1, 2, 0.75)
    """
    best = None
    for one, other in combinations(range(len(likeness)), 2):
        alike = likeness[one, other].item()
        if best is None or alike > best[2]:
            best = (one, other, alike)
    return best


def mean_received_share(trace: Trace, head: int, key: int, batch: int = 0) -> float:
    """Compute the mean weight that the queries of a head give to one key.

    >>> mean_received_share(attend_qkv(*[torch.zeros(4, 2)] * 3), head=0, key=2)
    0.25
    """
    shares = trace["weights"][batch, head, :, key]  # (T,)
    return shares.double().mean().item()


# ---- masks -----------------------------------------------------------------------------------------------------------
def allowed_pairs(trace: Trace) -> Bool[Tensor, "B H T S"]:
    """Return which (query, key) pairs the masks allow; all pairs are allowed if there is no mask."""
    weights, mask = trace.steps["weights"].value, trace.steps.get("allowed")
    allowed = torch.ones((), dtype=torch.bool, device=weights.device) if mask is None else mask.value
    return allowed.expand_as(weights)


@dataclass(frozen=True)
class PairsFact:
    """How many (query, key) pairs the masks allow.

    kept: the number of allowed pairs. of: the number of all pairs. A mask alone saves no work, because every score is
    computed before it is blocked. Code that skips blocks of pairs saves at most the share of blocked pairs.
    """

    kept: int
    of: int

    @property
    def share(self) -> float:
        """Return the share of allowed pairs among all pairs."""
        return self.kept / self.of

    @property
    def blocked(self) -> int:
        """Return the number of blocked pairs."""
        return self.of - self.kept


def count_allowed_pairs(trace: Trace, head: int = 0, batch: int = 0) -> PairsFact:
    """Count the (query, key) pairs that the masks allow in one head of one sequence.

    >>> from attention_core import AttentionConfig, attend
    >>> count_allowed_pairs(attend(torch.eye(4), config=AttentionConfig(masks=["causal"])))
    PairsFact(kept=10, of=16)
    """
    allowed = allowed_pairs(trace)[batch, head]
    return PairsFact(int(allowed.sum()), allowed.numel())


def count_mask_pairs(length: int, *masks: Choice) -> PairsFact:
    """Count the pairs that masks allow in a sequence of this length.

    masks: as (name, params), with a name of MASKS.

    >>> count_mask_pairs(512, ("local", {"window": 1})).kept
    1534
    """
    zeros = torch.zeros(length, 1)
    trace = attend_qkv(zeros, zeros, zeros, config=AttentionConfig(masks=masks))
    return count_allowed_pairs(trace)
