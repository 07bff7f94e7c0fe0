"""What a Trace says, as facts with numbers: a page words them, nothing here is prose."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attention_core.mechanism.attention import attend_qkv
from attention_core.mechanism.config import AttentionConfig, Choice
from attention_core.record.trace import Trace

EQUAL_WEIGHT_GAP = 1e-9  # weights closer together than this count as equal
SHARE_SUM_TOLERANCE = 0.02  # from 1: further off than that no precision rounds a sum of shares
NEARLY_EVEN = 1.05  # times an even share: less than this is no choice worth a sentence


@dataclass(frozen=True)
class RowFact:
    """What one query does in one head.

    kind: "most" (one of the `possible` keys, those that are allowed, gets the most: `keys`, `share`), "nearly" (it
    does, by under a twentieth), "several" (`keys` share the most equally), "even" (all allowed keys get the same),
    "only" (one key is allowed), "nothing" (none is) or "overflow" (the precision could not hold the scores, and no
    weights came of them), or "chosen" (somebody's own weights, which are no shares of a whole among the allowed keys:
    `keys` has the largest, `share`, and all sum to `total`).
    """

    kind: str
    batch: int
    head: int
    query: int
    keys: tuple[int, ...]
    share: float
    possible: int
    total: float = 1.0

    @property
    def even(self) -> float:
        """An even share."""
        return 1 / self.possible

    @property
    def ratio(self) -> float:
        """The share as a multiple of an even one."""
        return self.share * self.possible


def row_fact(trace: Trace, head: int, query: int, batch: int = 0) -> RowFact:
    """What query number `query` attends to in a head, and how much.

    >>> import torch
    >>> from attention_core import attend_qkv
    >>> k = torch.tensor([[2.0, 0.0], [0.0, 2.0]])
    >>> fact = row_fact(attend_qkv(k, k, k), head=0, query=1)
    >>> fact.kind, fact.keys, round(fact.share, 3), round(fact.ratio, 3)
    ('most', (1,), 0.944, 1.888)
    """
    row = trace["weights"][batch, head, query].detach().double().cpu()  # (S,)
    masked = trace["masked_scores"][batch, head, query]
    allowed = allowed_pairs(trace)[batch, head, query]
    possible, share = int(allowed.sum()), float(row.max())
    lost = possible and not row.any() and masked[allowed].isneginf().all()
    if row.isnan().any() or lost:
        return RowFact("overflow", batch, head, query, (), 0.0, possible)
    if has_replaced_weights(trace, row, allowed.cpu()):
        largest = int(row.argmax())
        return RowFact("chosen", batch, head, query, (largest,), share, possible, float(row.sum()))
    if share == 0.0:
        return RowFact("nothing", batch, head, query, (), 0.0, possible)
    keys = tuple((row >= share - EQUAL_WEIGHT_GAP).nonzero().flatten().tolist())
    kind = "only" if possible == 1 else "even" if len(keys) == possible else "several" if len(keys) > 1 else "most"
    if kind == "most" and share * possible < NEARLY_EVEN:
        kind = "nearly"
    return RowFact(kind, batch, head, query, keys, share, possible)


def find_surest_rows(facts: Sequence[RowFact]) -> set[int]:
    """Which of several rows give one key the most: their numbers, all of those that are equally sure.

    >>> import torch
    >>> from attention_core import AttentionConfig, attend_qkv
    >>> q, k = torch.tensor([[3.0, 0.0]]), torch.tensor([[3.0, 0.0], [0.0, 3.0]])
    >>> scores = ("cosine", "scaled_dot", "dot")
    >>> find_surest_rows([row_fact(attend_qkv(q, k, k, config=AttentionConfig(score=score)), 0, 0) for score in scores])
    {2}
    """
    most = max(fact.share for fact in facts)
    return {at for at, fact in enumerate(facts) if fact.share >= most - EQUAL_WEIGHT_GAP}


def weight_sums(trace: Trace, axis: str, head: int = 0, batch: int = 0) -> list[float]:
    """The sums of a head's weights: over the keys ("S"), one a query, or over the queries ("T"), one a key.

    >>> import torch
    >>> from attention_core import attend_qkv
    >>> trace = attend_qkv(torch.zeros(1, 3), torch.zeros(2, 3), torch.zeros(2, 3))
    >>> weight_sums(trace, "S"), weight_sums(trace, "T")
    ([1.0], [0.5, 0.5])
    """
    return trace["weights"][batch, head].double().sum({"T": 0, "S": 1}[axis]).tolist()


def find_farthest_from_one(found: Sequence[float]) -> set[int]:
    """Which of several sums are farthest from 1: their numbers, none where all are 1.

    >>> find_farthest_from_one([1.04, 0.1, 1.9, 1.0]), find_farthest_from_one([1.0])
    ({1, 2}, set())
    """
    gaps = [abs(each - 1) for each in found]
    return {at for at, gap in enumerate(gaps) if gap > EQUAL_WEIGHT_GAP and gap >= max(gaps) - EQUAL_WEIGHT_GAP}


def has_replaced_weights(trace: Trace, row: Float[Tensor, " S"], allowed: Bool[Tensor, " S"]) -> bool:
    """Whether a row of weights was replaced by numbers that no softmax of the allowed keys gives."""
    if not {"chosen_weights", "replacement"} & set(trace.steps):
        return False
    whole = 1.0 if allowed.any() else 0.0
    return bool((row < 0).any() or row[~allowed].any() or abs(row.sum() - whole) > SHARE_SUM_TOLERANCE)


def attends_at_offset(trace: Trace, head: int, offset: int, batch: int = 0) -> bool:
    """Whether every query of a head gives most to the key `offset` places after it, as far as there is one there, and
    to no other as much. False where there is none for any query.

    >>> import torch
    >>> from attention_core import attend_qkv
    >>> q, k = torch.eye(3), 5 * torch.eye(3)[[2, 0, 1]]  # word i is like the key after it
    >>> attends_at_offset(attend_qkv(q, k, k), 0, 1), attends_at_offset(attend_qkv(q, k, k), 0, 0)
    (True, False)
    """
    rows = trace["weights"][batch, head]  # (T, S)
    there = [(query, query + offset) for query in range(len(rows)) if 0 <= query + offset < rows.shape[1]]
    most = rows >= rows.amax(-1, keepdim=True) - EQUAL_WEIGHT_GAP  # (T, S)
    return bool(there) and all(most[query].nonzero().tolist() == [[key]] for query, key in there)


def transpose_gap(one: Trace, other: Trace, step: str = "scores") -> float:
    """How far a step of one run is from the transpose of the other's: 0 where they are each other's.

    Of one run with itself: 0 where the step is symmetric. Exchanging W_q and W_k transposes the raw scores, since
    q k = (k q) as sums of the same products.

    >>> from attention_core import attend_qkv
    >>> q, k = torch.tensor([[1.0], [2.0]]), torch.tensor([[3.0], [5.0]])
    >>> transpose_gap(attend_qkv(q, k, k), attend_qkv(k, q, k)), transpose_gap(*[attend_qkv(q, k, k)] * 2)
    (0.0, 1.0)
    """
    return (one[step] - other[step].mT).abs().max().item()


def find_telling_row(
    trace: Trace, query: int | None = None, batch: int = 0, count: int | None = None
) -> tuple[int, int]:
    """The (head, query) whose largest weight is the highest multiple of an even share: what is worth looking at first;
    of equals, the first head and in it the last query. With a query given, the best head for it. count: how many
    queries of the sequence are real; the others are padding.

    >>> import torch
    >>> from attention_core import attend_qkv
    >>> k = torch.tensor([[1.0, 0.0], [0.0, 2.0]])
    >>> find_telling_row(attend_qkv(k, k, k))
    (0, 1)
    """
    possible = allowed_pairs(trace)[batch].sum(-1)  # (H, T): a row of one allowed key is no news
    peaks = trace["weights"][batch].detach().double().nan_to_num().amax(-1) * possible  # (H, T)
    peaks = peaks[:, :count] if query is None else peaks[:, query : query + 1]
    near = peaks >= peaks.max() - EQUAL_WEIGHT_GAP
    head = int(near.any(-1).nonzero()[0])
    return head, int(near[head].nonzero()[-1]) if query is None else query


def allowed_pairs(trace: Trace) -> Bool[Tensor, "B H T S"]:
    """Which pairs of tokens the masks allow; all, where there is no mask."""
    scores = trace["masked_scores"]
    return trace["allowed"].expand_as(scores) if "allowed" in trace else torch.ones_like(scores, dtype=torch.bool)


@dataclass(frozen=True)
class PairsFact:
    """How many of `of` pairs of tokens a mask keeps. Masking alone saves no work: every score is computed first, and
    what is saved, where code skips whole blocks of pairs, is at most the share that is not kept."""

    kept: int
    of: int

    @property
    def share(self) -> float:
        """The part that is kept."""
        return self.kept / self.of

    @property
    def blocked(self) -> int:
        """How many are not kept."""
        return self.of - self.kept


def count_allowed_pairs(trace: Trace, head: int = 0, batch: int = 0) -> PairsFact:
    """How many pairs (query, key) the masks keep in one head of one sequence.

    >>> from attention_core import AttentionConfig, attend
    >>> count_allowed_pairs(attend(torch.eye(4), config=AttentionConfig(masks=["causal"])))
    PairsFact(kept=10, of=16)
    """
    allowed = allowed_pairs(trace)[batch, head]
    return PairsFact(int(allowed.sum()), allowed.numel())


def find_most_alike_heads(likeness: Float[Tensor, "H H"]) -> tuple[int, int, float] | None:
    """The two heads that are most alike, the first of several pairs, and how much; None of one head alone.

    likeness: of each head to each, as in the step of that name.

    >>> find_most_alike_heads(torch.tensor([[1.0, 0.25, 0.5], [0.25, 1.0, 0.75], [0.5, 0.75, 1.0]]))
    (1, 2, 0.75)
    """
    heads = range(len(likeness))
    pairs = [(likeness[one, other].item(), one, other) for one in heads for other in heads if one < other]
    if not pairs:
        return None
    share, one, other = max(pairs, key=lambda pair: pair[0])
    return one, other, share


def count_mask_pairs(length: int, *masks: Choice) -> PairsFact:
    """How many pairs masks keep of a sequence of this length, as (name, params) of MASKS.

    >>> count_mask_pairs(512, ("local", {"window": 1})).kept
    1534
    """
    none = torch.zeros(length, 1)
    return count_allowed_pairs(attend_qkv(none, none, none, config=AttentionConfig(masks=masks)))


def mean_received_share(trace: Trace, head: int, key: int, batch: int = 0) -> float:
    """The share of its attention that a query gives to one key, on average over the queries of a head.

    >>> mean_received_share(attend_qkv(*[torch.zeros(4, 2)] * 3), head=0, key=2)
    0.25
    """
    return trace["weights"][batch, head, :, key].double().mean().item()
