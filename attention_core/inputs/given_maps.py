"""Attention maps of any model, given without the numbers that made them: looked at and measured, never recomputed."""

from dataclasses import dataclass
from functools import cached_property
from io import BytesIO

import numpy as np
from jaxtyping import Bool, Float
from torch import Tensor

from attention_core.analysis.head_measures import measure_head_maps, measure_spread, seen_pairs
from attention_core.record.trace import Step, Trace

SUM_TOLERANCE = 1e-3  # single precision sums to 1 within it, half precision of some hundred keys too


@dataclass(frozen=True, eq=False)
class AttentionMaps:
    """The maps of a model on one text.

    maps (L, H, T, S): of each layer and head, how much each query gives to each key. queries, keys: the words.
    """

    maps: Float[Tensor, "L H T S"]
    queries: tuple[str, ...]
    keys: tuple[str, ...]

    @property
    def is_self_attention(self) -> bool:
        """Whether the keys are the queries' own words."""
        return self.queries == self.keys

    @cached_property
    def seen(self) -> Bool[Tensor, "T S"]:
        """The pairs to which some head gives a weight: what a mask of all heads blocks is not among them."""
        return seen_pairs(self.maps)

    def uneven_rows(self) -> list[tuple[int, int, int]]:
        """The rows that do not sum to 1, (layer, head, query) from 0, that which is farthest from it first."""
        apart = (self.maps.sum(-1) - 1).abs()  # (L, H, T)
        rows = (apart > SUM_TOLERANCE).nonzero().tolist()
        return sorted(map(tuple, rows), key=lambda row: -float(apart[row]))

    def trace(self) -> Trace:
        """All maps as a Trace whose one step is given."""
        return Trace({"weights": Step("weights", self.maps, ("L", "H", "T", "S"))}, self.labels())

    def head_trace(self, layer: int, head: int) -> Trace:
        """One head alone as a Trace, layer and head from 0; the pairs that no head sees count as blocked."""
        weights = self.maps[layer, head][None, None]  # (T, S) -> (1, 1, T, S)
        steps = {
            "weights": Step("weights", weights, ("B", "H", "T", "S")),
            "allowed": Step("allowed", self.seen[None, None], ("B", "H", "T", "S")),
        }
        return Trace(steps, self.labels())

    def labels(self) -> dict[str, tuple[str, ...]]:
        """The words of both axes."""
        return {"T": self.queries, "S": self.keys}


def measure_maps(given: AttentionMaps) -> dict[str, Float[Tensor, "L H"]]:
    """Measure what each head does, as measure_head_maps; where the keys are other words, how evenly it spreads alone.

    >>> import torch
    >>> cross = AttentionMaps(torch.full((1, 1, 1, 4), 0.25), ("it",), ("a", "b", "c", "d"))
    >>> {name: float(numbers) for name, numbers in measure_maps(cross).items()}
    {'evenness': 1.0, 'entropy': 2.0}
    """
    if not given.is_self_attention:
        return measure_spread(given.maps, given.seen)
    word_ids = [given.queries.index(word) for word in given.queries]
    return measure_head_maps(given.maps, word_ids, given.seen)


def pack_maps(given: AttentionMaps) -> bytes:
    """Write maps as an NPZ file that read_attention_maps reads: "attention" (L, H, T, S), "queries", "keys".

    >>> import torch
    >>> given = AttentionMaps(torch.eye(2)[None, None], ("a", "cat"), ("a", "cat"))
    >>> np.load(BytesIO(pack_maps(given)))["keys"].tolist()
    ['a', 'cat']
    """
    file = BytesIO()
    np.savez_compressed(
        file,
        attention=given.maps.numpy(),
        queries=np.array(given.queries),
        keys=np.array(given.keys),
    )
    return file.getvalue()
