"""Finds a position encoding of the core that adds the same numbers to the scores as a recorded bias."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attention_core.mechanism.config import Choice
from attention_core.mechanism.relative_positions import DIRECTIONS, T5_BIAS, fit_t5
from attention_core.record.errors import AttentionError

SAME = 1e-6  # accepted difference of equal biases, relative to the recorded bias's largest number
SAME_SUM = 8 * SAME  # accepted difference after adding and subtracting a number, which rounds
DEFAULT_FARTHEST = 128  # T5's default of the distance from which all keys share a bucket


@dataclass(frozen=True, eq=False)
class BucketTable:
    """A table of biases by bucket of distances, (buckets, H), as T5 learns it, and the distance of the last bucket."""

    table: Float[Tensor, "buckets H"]
    farthest: int


@dataclass(frozen=True, eq=False)
class NamedBias:
    """A position encoding, as AttentionConfig takes it, and its learned tensors by name."""

    position: Choice
    learned: dict[str, Tensor]


def find_bucket_tables(model: torch.nn.Module) -> tuple[BucketTable, ...]:
    """Return the tables of relative positions of a model, which T5 and similar models call
    `relative_attention_bias`.
    """
    tables = []
    for module in model.modules():
        embedding = getattr(module, "relative_attention_bias", None)
        if isinstance(embedding, torch.nn.Embedding):
            farthest = getattr(module, "relative_attention_max_distance", None) or DEFAULT_FARTHEST
            tables.append(BucketTable(embedding.weight.detach().double(), int(farthest)))
    return tuple(tables)


def name_bias(
    bias: Float[Tensor, "#B H T S"],
    allowed: Bool[Tensor, "B H T S"],
    tables: Sequence[BucketTable] = (),
    query_offset: int = 0,
    rows_may_differ: bool = True,
) -> NamedBias | None:
    """Return the position encoding that adds the same numbers as a bias where a pair may attend; None if there is none.

    T5's buckets with the model's tables, ALiBi, and one bias per distance are tried. ALiBi may differ by one number per
    row, on which no weight depends: BLOOM adds m·j, ALiBi -m·|i - j|.

    bias: float64, (B, H, T, S) or one for all texts. query_offset: the position of query 0 among the keys.
    rows_may_differ: False if there are sinks, because such a number changes the sink's weight.

    >>> bias = torch.tensor([[0.0, -0.5], [-0.5, 0.0]], dtype=torch.float64)[None, None]
    >>> name_bias(bias, torch.ones(1, 1, 2, 2).bool()).position
    ('alibi', {'slopes': (0.5,)})
    """
    _, H, T, S = bias.shape
    away = torch.arange(S, device=bias.device) - torch.arange(T, device=bias.device)[:, None]  # j - i
    away = away - query_offset
    close = SAME * max(1.0, float(bias.abs().max()))
    for given in tables:
        if given.table.shape[1] != H:
            continue
        for direction in DIRECTIONS:
            params = {"direction": direction, "farthest": given.farthest}
            if not has_buckets(params, len(given.table)):
                continue
            table = given.table.to(bias.device)
            if largest_gap(T5_BIAS.torch(bias[:1], table, query_offset=query_offset, **params), bias, allowed) <= close:
                return NamedBias(("t5", params), {"w_buckets": table})
    slopes = find_slopes(bias, allowed, query_offset)
    if slopes is not None:
        apart = torch.where(allowed, -slopes[:, None, None] * away.abs() - bias, 0.0)
        if rows_may_differ:
            apart = without_row_constant(apart, allowed)
        if float(apart.abs().max()) <= close * SAME_SUM / SAME:
            return NamedBias(("alibi", {"slopes": tuple(slopes.tolist())}), {})
    rows = table_of_distances(bias, allowed, away)
    if largest_gap(rows.T[:, away + len(rows) // 2], bias, allowed) <= close:
        return NamedBias(("clipped", {}), {"w_clipped": rows})
    return None


def has_buckets(params: dict[str, object], rows: int) -> bool:
    """Return whether the core has T5's buckets with these parameters. rows: the number of rows of the table."""
    try:
        fit_t5(params, {"R_b": rows})
    except AttentionError:
        return False
    return True


def largest_gap(table: Tensor, bias: Tensor, allowed: Tensor) -> float:
    """Return the largest difference between two biases, over the pairs of query and key that may attend."""
    return float(torch.where(allowed, table - bias, 0.0).abs().max())


def without_row_constant(apart: Tensor, allowed: Tensor) -> Tensor:
    """Return differences, from each row of which that of the row's first allowed pair is subtracted; 0 where a pair may
    not attend."""
    first = apart.expand(allowed.shape).gather(-1, allowed.long().argmax(-1, keepdim=True))
    return torch.where(allowed, apart - first, 0.0)


def find_slopes(bias: Tensor, allowed: Tensor, query_offset: int) -> Float[Tensor, " H"] | None:
    """Return ALiBi's slope of each head: how much a bias decreases per step back, from a query that may attend to two
    keys."""
    T, S = bias.shape[-2:]
    for query in reversed(range(T)):
        key = query + query_offset
        if not 1 <= key < S:
            continue
        before, here = slice(key - 1, key), slice(key, key + 1)
        if allowed[0, :, query, before].all() and allowed[0, :, query, here].all():
            return (bias[0, :, query, here] - bias[0, :, query, before])[:, 0]
    return None


def table_of_distances(bias: Tensor, allowed: Tensor, away: Tensor) -> Float[Tensor, "distances H"]:
    """Return a table with one bias per distance and head, taken from the first allowed pair at each distance; 0 if
    there is none.
    """
    B, H = allowed.shape[:2]
    reach = int(away.abs().max())
    rows = bias.new_zeros(2 * reach + 1, H)
    whole = bias.expand(B, -1, -1, -1)
    for distance in range(-reach, reach + 1):
        here = away == distance
        if not here.any():
            continue
        pairs, open_pairs = whole[:, :, here], allowed[:, :, here]  # (B, H, pairs)
        pairs, open_pairs = (tensor.transpose(0, 1).flatten(1) for tensor in (pairs, open_pairs))  # (H, B·pairs)
        first = pairs.gather(1, open_pairs.long().argmax(1, keepdim=True))[:, 0]
        rows[distance + reach] = torch.where(open_pairs.any(1), first, 0.0)
    return rows
