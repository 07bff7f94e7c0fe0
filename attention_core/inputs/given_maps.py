"""Holds attention maps of a model whose q and k are unknown, so that they can be drawn and measured, but not
recomputed.
"""

from dataclasses import dataclass
from functools import cached_property
from io import BytesIO

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attention_core.analysis.across_layers import roll_out
from attention_core.analysis.head_measures import measure_head_maps, measure_spread, seen_pairs
from attention_core.comparison.rerun import can_hold
from attention_core.inputs.subwords import show_subwords
from attention_core.record.trace import Step, Trace

# ---- how far rounding may move the sum of a row: a file may have widened the dtype of its weights --------------------
SUM_TOLERANCE = 1e-3  # accepted rounding error of the sum of a row of float32 weights
SINGLE_PRECISION = 1e-7  # largest rounding error of a float32 between 0 and 1
MAX_DECIMALS = 5  # numbers with more decimals than this count as not rounded
MAX_ROUNDED_SUM = 0.1  # largest distance of a row's sum from 1 that rounding can explain


@dataclass(frozen=True)
class Rounding:
    """How imported numbers were rounded: to a dtype, to some decimals, or not at all, inferred from the numbers.

    dtype: "bfloat16", "float16", or "" for neither. decimals: the number of decimals, or 0.
    """

    dtype: str = ""
    decimals: int = 0

    def allowance(self, weights: Float[Tensor, "*rows S"]) -> Float[Tensor, "*rows"]:
        """Returns how far rounding can move each row's sum from 1: half a rounding unit per weight, and SUM_TOLERANCE.

        >>> Rounding("bfloat16").allowance(torch.full((1, 4), 0.25)).item()       # half of 2⁻⁷, and the tolerance
        0.004906250163912773
        """
        sums = weights.abs().sum(-1)
        keys = weights.shape[-1]
        rounded = torch.zeros_like(sums)
        if self.dtype:
            held = torch.finfo(getattr(torch, self.dtype))
            rounded = held.eps / 2 * sums + keys * held.smallest_normal * held.eps / 2
        if self.decimals:
            rounded = torch.full_like(sums, keys * 0.5 * 10.0**-self.decimals)
        return SUM_TOLERANCE + rounded.clamp(max=MAX_ROUNDED_SUM)


def find_rounding(numbers: Tensor) -> Rounding:
    """Detects how numbers were rounded: to the coarsest dtype that can hold all of them, or else to a few decimals.

    >>> thirds = torch.full((3, 3), 1 / 3, dtype=torch.float64)
    >>> find_rounding(thirds.bfloat16().double()), find_rounding(thirds.round(decimals=2)), find_rounding(thirds)
    (Rounding(dtype='bfloat16', decimals=0), Rounding(dtype='', decimals=2), Rounding(dtype='', decimals=0))
    """
    if torch.equal(numbers, numbers.round()):
        return Rounding()  # whole numbers are exact in every precision, so they show no rounding
    for dtype in (torch.bfloat16, torch.float16):
        if can_hold(dtype, numbers):
            return Rounding(dtype=str(dtype).removeprefix("torch."))
    for decimals in range(1, MAX_DECIMALS + 1):
        if (numbers - numbers.round(decimals=decimals)).abs().max() < SINGLE_PRECISION:
            return Rounding(decimals=decimals)
    return Rounding()


# ---- the maps --------------------------------------------------------------------------------------------------------
MAX_ROUNDED_BEYOND = 1e-6  # how far a weight may be below 0 or above 1 because of rounding
MAX_LOGARITHM_DISTANCE = 0.01  # rows count as logarithms if their exponentials sum to 1 up to this difference
LARGEST_BYTE, LEAST_LARGE_BYTE, WHOLE_PERCENT = 255, 128, 100


@dataclass(frozen=True, eq=False)
class AttentionMaps:
    """The attention maps of a model on one text.

    maps (L, H, T, S): for each layer and head, the weight of each key for each query. queries, keys: the words.
    """

    maps: Float[Tensor, "L H T S"]
    queries: tuple[str, ...]
    keys: tuple[str, ...]

    @property
    def is_self_attention(self) -> bool:
        """Whether keys and queries are the same words."""
        return self.queries == self.keys

    @cached_property
    def seen(self) -> Bool[Tensor, "T S"]:
        """A mask (T, S), True for each pair with a nonzero weight in at least one head; other pairs may be blocked."""
        return seen_pairs(self.maps)

    # ---- whether the numbers are weights -----------------------------------------------------------------------------
    @cached_property
    def rounding(self) -> Rounding:
        """How the imported numbers were rounded."""
        return find_rounding(self.maps)

    def count_blank(self) -> int:
        """Returns the number of queries that have no weight in any head."""
        return int((~self.seen.any(-1)).sum())

    @cached_property
    def distances(self) -> Float[Tensor, "L H T"]:
        """The distance of each row's sum from 1; 0 for a query without a weight in any head."""
        is_blank = ~self.seen.any(-1)  # (T,)
        return (self.maps.sum(-1) - 1).abs().masked_fill(is_blank, 0)

    @cached_property
    def is_uneven(self) -> Bool[Tensor, "L H T"]:
        """A mask (L, H, T), True for each row whose sum differs from 1 by more than rounding explains."""
        return self.distances > self.rounding.allowance(self.maps)

    def uneven_rows(self) -> list[tuple[int, int, int]]:
        """Returns (layer, head, query) of each row that does not sum to 1; indices are from 0, the row farthest from 1
        comes first.
        """
        rows = map(tuple, self.is_uneven.nonzero().tolist())
        return sorted(rows, key=lambda row: -float(self.distances[row]))

    @cached_property
    def is_transposed(self) -> bool:
        """Whether queries and keys are exchanged: each column sums to 1, and some rows do not."""
        columns = self.maps.transpose(-1, -2)
        distances = (columns.sum(-1) - 1).abs()
        return bool(self.is_uneven.any() and (distances <= self.rounding.allowance(columns)).all())

    @property
    def farthest_rounded(self) -> tuple[int, int, int] | None:
        """The (layer, head, query) of the row whose sum rounding moved farthest from 1; None if there is none.

        A row counts if the detected rounding explains its distance from 1, and float32 arithmetic alone does not.
        """
        distances = self.distances.masked_fill(self.is_uneven, 0)
        row = np.unravel_index(int(distances.argmax()), distances.shape)
        return tuple(map(int, row)) if distances[row] > SUM_TOLERANCE else None

    @cached_property
    def fault(self) -> str:
        """Why the numbers of these maps cannot be weights; "" if all numbers are between 0 and 1.

        "bytes": whole numbers from 0 to 255. "percent": rows that sum to 100. "logarithms": rows whose exponentials sum
        to 1. "below": negative numbers. "above": numbers above 1. "zeros": only zeros.
        """
        if not self.maps.any():
            return "zeros"
        least, most = float(self.maps.min()), float(self.maps.max())
        rounded = SUM_TOLERANCE if self.rounding == Rounding() else float(self.rounding.allowance(self.maps).max())
        if least >= -MAX_ROUNDED_BEYOND and most <= 1 + rounded:
            return ""
        if least < -MAX_ROUNDED_BEYOND:
            distances = (self.maps.exp().sum(-1) - 1).abs()
            return "logarithms" if bool((distances < MAX_LOGARITHM_DISTANCE).all()) else "below"
        sums = self.maps.sum(-1)
        if bool(((sums - WHOLE_PERCENT).abs() < 1).all()):
            return "percent"
        is_whole = torch.equal(self.maps, self.maps.round())
        return "bytes" if is_whole and LEAST_LARGE_BYTE <= most <= LARGEST_BYTE else "above"

    @cached_property
    def is_measured(self) -> Bool[Tensor, "L H"]:
        """A mask (L, H), True for each head whose rows are attention weights: no number is negative, and each row sums
        to 1.
        """
        if self.fault in ("bytes", "percent", "logarithms", "zeros"):
            return torch.zeros(self.maps.shape[:2], dtype=torch.bool)
        is_share = (self.maps >= -MAX_ROUNDED_BEYOND).flatten(2).all(-1)
        return is_share & ~self.is_uneven.any(-1)

    def rolled(self) -> Float[Tensor, "T S"] | None:
        """Returns the attention rollout of all layers, or None if it is undefined.

        Rollout is defined if the keys are the same words as the queries, and if every row sums to 1.
        """
        if not self.is_self_attention or not self.is_measured.all() or not self.seen.any(-1).all():
            return None
        return roll_out(self.maps)[-1]

    # ---- as a run ----------------------------------------------------------------------------------------------------
    def trace(self) -> Trace:
        """Returns all maps as a Trace with a single step, the input "weights" (L, H, T, S)."""
        return Trace({"weights": Step("weights", self.maps, ("L", "H", "T", "S"))}, self.labels(), bool(self.fault))

    def head_trace(self, layer: int, head: int) -> Trace:
        """Returns one head's map as a Trace; layer and head count from 0.

        Pairs without a weight in any head are marked as blocked. If the numbers cannot be weights, no pair is marked,
        and pictures use the colour scale of signed numbers.
        """
        weights = self.maps[layer, head][None, None]  # (T, S) -> (1, 1, T, S)
        steps = {"weights": Step("weights", weights, ("B", "H", "T", "S"))}
        if not self.fault:
            steps["allowed"] = Step("allowed", self.seen[None, None], ("B", "H", "T", "S"))
        return Trace(steps, self.labels(), bool(self.fault))

    @cached_property
    def shown_queries(self) -> tuple[str, ...]:
        """The words of the queries, without a tokenizer's marks such as Ġ."""
        return show_subwords(self.queries)

    @cached_property
    def shown_keys(self) -> tuple[str, ...]:
        """The words of the keys, without a tokenizer's marks such as Ġ."""
        return show_subwords(self.keys)

    def labels(self) -> dict[str, tuple[str, ...]]:
        """Returns the words of both axes, without a tokenizer's marks such as Ġ."""
        return {"T": self.shown_queries, "S": self.shown_keys}


def measure_maps(given: AttentionMaps) -> dict[str, Float[Tensor, "L H"]]:
    """Measures the attention patterns of each head; if the keys are other words than the queries, only evenness and
    entropy.

    A head whose numbers cannot be weights, or with a row that does not sum to 1, gets NaN, because its measures have no
    meaning. A measure that is NaN for all heads is left out.

    >>> import torch
    >>> cross = AttentionMaps(torch.full((1, 1, 1, 4), 0.25), ("it",), ("a", "b", "c", "d"))
    >>> {name: float(numbers) for name, numbers in measure_maps(cross).items()}
    {'evenness': 1.0, 'entropy': 2.0}
    """
    if not given.is_measured.any():
        return {}
    if given.is_self_attention:
        word_ids = [given.queries.index(word) for word in given.queries]
        measures = measure_head_maps(given.maps, word_ids, given.seen)
    else:
        measures = measure_spread(given.maps, given.seen)
    known = {name: numbers.masked_fill(~given.is_measured, torch.nan) for name, numbers in measures.items()}
    return {name: numbers for name, numbers in known.items() if numbers.isfinite().any()}


def pack_maps(given: AttentionMaps) -> bytes:
    """Returns maps as the bytes of an NPZ file that read_attention_maps can read: "attention" (L, H, T, S), "queries",
    "keys".

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
