"""Facts about a Trace, as numbers and kinds, which a page puts into words."""

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

EQUAL_WEIGHT_GAP = 1e-9  # weights closer together than this count as equal
SHARE_SUM_TOLERANCE = 0.02  # how far a sum of shares may lie from 1: no precision rounds by more
NEARLY_EVEN = 1.05  # times a uniform share: a smaller largest weight counts as nearly uniform


@dataclass(frozen=True)
class RowFact:
    """How one query spreads its weight in one head.

    `possible` counts the allowed keys, `keys` are those with the largest weight, and `share` is that weight. `total` is
    the sum of the row, `sunk` the weight of a sink, and `rest` the weight of the sink and of all other keys.

    kind:

    - "most": one of several allowed keys gets the most.
    - "nearly": one key gets the most, by less than a twentieth of a uniform share.
    - "several": some keys, but not all, share the most equally.
    - "even": all allowed keys get the same.
    - "only": a single key is allowed.
    - "nothing": no key is allowed.
    - "overflow": the precision could not hold the scores, so that there are no weights.
    - "difference": the weights are a map less another: one may lie below 0, and they need not sum to 1. `keys` holds
      the largest.
    - "free": the weights need not sum to 1. `keys` holds the largest.
    - "chosen": replaced weights, which are not shares of a whole among the allowed keys. `keys` holds the largest.
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
        """The share of each allowed key if all got the same, after the sink."""
        return left_by(self.sunk) / self.possible

    @property
    def ratio(self) -> float:
        """The largest share as a multiple of the uniform share."""
        return self.share * self.possible / left_by(self.sunk)


# ---- one query -------------------------------------------------------------------------------------------------------
def row_fact(trace: Trace, head: int, query: int, batch: int = 0) -> RowFact:
    """Return which keys query number `query` attends to most in a head, and how much.

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
    """The weight that a sink leaves to the keys; 1 if it leaves none, to avoid a division by 0."""
    return 1 - sunk or 1.0


def has_overflowed(
    trace: Trace, place: tuple[int, int, int], row: Float[Tensor, " S"], allowed: Bool[Tensor, " S"]
) -> bool:
    """Return whether the precision could not hold a row's scores: its weights are NaN, or every allowed score is -inf.

    place: the batch, head and query of the row.
    """
    if row.isnan().any():
        return True
    if row.any() or not allowed.any() or "masked_scores" not in trace.steps:
        return False
    scores = trace["masked_scores"][place].cpu()
    return bool(scores[allowed].isneginf().all())


# kinds that depend on the scores; the others follow from masks, or from equal scores
CLAIMS = ("most", "nearly", "several", "free", "difference")


@dataclass(frozen=True)
class Accident:
    """The random parts of a weight: whether its query's vector, which keys' vectors, which matrices by name."""

    query: bool
    keys: tuple[int, ...]
    matrices: tuple[str, ...]


def accident(trace: Trace, fact: RowFact) -> Accident | None:
    """The random parts that a row depends on: then its shares mean nothing, and no page may interpret them.

    None if there are none, or if the row would be the same whatever the scores are.

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
    """The random parts that the weights of some keys for a query depend on; None if there are none."""
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
    """Return whether a row of weights was replaced by numbers that no softmax of the allowed keys gives."""
    if "chosen_weights" not in trace.steps and "replacement" not in trace.steps:
        return False
    if (row < 0).any() or row[~allowed].any():
        return True
    whole = 1.0 if allowed.any() else 0.0
    return bool(abs(row.sum() - whole) > SHARE_SUM_TOLERANCE)


def kind_of_row(largest_count: int, possible: int, share: float) -> str:
    """Return the kind of a softmax row with allowed keys: one of the kinds of a RowFact.

    largest_count: the number of keys with the largest weight, each with `share` of the weight of all keys. possible:
    the number of allowed keys.
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
    """Find the rows with the largest weight on one key: their positions in `facts`, of all that tie.

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
    """Sum a head's weights over the keys ("S"), one sum for each query, or over the queries ("T"), one for each key.

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
    """Return whether every query of a head gives most weight to the key `offset` positions after it, without a tie.

    Queries without a key at that offset do not count. False if no query has one.

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
    """Measure the largest difference between a step of one run and the transpose of the other's.

    Of one run with itself: 0 if the step is symmetric. Exchanging W_q and W_k transposes the raw scores, since
    q k = (k q) as sums of the same products.

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
    """Find the (head, query) to show first: the one whose largest weight is the highest multiple of a uniform share.

    Of equals, the first head is taken, and in it the last query. With a query given, the best head for it.
    count: the number of queries that are not padding.

    >>> import torch
    >>> from attention_core import attend_qkv
    >>> k = torch.tensor([[1.0, 0.0], [0.0, 2.0]])
    >>> find_telling_row(attend_qkv(k, k, k))
    (0, 1)
    """
    weights = trace["weights"][batch].detach().double()  # (H, T, S)
    largest = weights.nan_to_num().amax(-1)  # (H, T)
    possible = allowed_pairs(trace)[batch].sum(-1)  # (H, T)
    ratios = largest * possible  # (H, T): a row of one allowed key has 1
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
    """Find the (head, query) to show first if most words attend to themselves.

    The first head in which a query gives over half of its weight to another word, or if there is none, the head with
    the largest weight on another word; in it the query that gives most to another word. With a query given, the best
    head for it. first: the first query that counts if none is given.

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
    """Find the two most alike heads and their likeness, of equal pairs the first; None if there is only one head.

    likeness: of each head to each, as in the step of that name.

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
    """Return which pairs of tokens the masks allow: all pairs if there is no mask."""
    weights, mask = trace.steps["weights"].value, trace.steps.get("allowed")
    allowed = torch.ones((), dtype=torch.bool, device=weights.device) if mask is None else mask.value
    return allowed.expand_as(weights)


@dataclass(frozen=True)
class PairsFact:
    """The number of pairs of tokens that a mask keeps, out of `of`.

    Masking alone saves no work, because every score is computed first. Code that skips whole blocks of pairs saves at
    most the share that is not kept.
    """

    kept: int
    of: int

    @property
    def share(self) -> float:
        """The part of all pairs that is kept."""
        return self.kept / self.of

    @property
    def blocked(self) -> int:
        """The number of pairs that are not kept."""
        return self.of - self.kept


def count_allowed_pairs(trace: Trace, head: int = 0, batch: int = 0) -> PairsFact:
    """Count the pairs (query, key) that the masks keep in one head of one sequence.

    >>> from attention_core import AttentionConfig, attend
    >>> count_allowed_pairs(attend(torch.eye(4), config=AttentionConfig(masks=["causal"])))
    PairsFact(kept=10, of=16)
    """
    allowed = allowed_pairs(trace)[batch, head]
    return PairsFact(int(allowed.sum()), allowed.numel())


def count_mask_pairs(length: int, *masks: Choice) -> PairsFact:
    """Count the pairs that masks keep of a sequence of this length; masks: as (name, params) of MASKS.

    >>> count_mask_pairs(512, ("local", {"window": 1})).kept
    1534
    """
    zeros = torch.zeros(length, 1)
    trace = attend_qkv(zeros, zeros, zeros, config=AttentionConfig(masks=masks))
    return count_allowed_pairs(trace)
