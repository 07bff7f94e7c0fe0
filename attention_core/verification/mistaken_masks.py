"""Mistakes about masks: a function for each mistake, named by its code.

Each takes the step and the values of the steps before it, float64 on the CPU. It returns the mistaken value of the
step, or None if the mistake does not apply.
"""

from dataclasses import replace

import torch
from torch import Tensor

from attention_core.analysis.blocked_scores import add_to_blocked, fill_scores
from attention_core.comparison.distances import LARGE_NEGATIVE_FILL
from attention_core.comparison.rerun import Values, unchanged_value
from attention_core.mechanism.masks import CAUSAL, PADDING, SLIDING
from attention_core.mechanism.modifiers import MODIFIERS
from attention_core.record.trace import Step


def no_mask(step: Step, values: Values) -> Tensor:
    return torch.ones_like(unchanged_value(step, values))


def mask_inverted(step: Step, values: Values) -> Tensor:
    return ~unchanged_value(step, values)


# ---- causal masks ----------------------------------------------------------------------------------------------------
def causal_upper_left(step: Step, values: Values) -> Tensor | None:
    if causal_mask_offset(step, values) is None:
        return None
    return causal_mask_at(step, values, 0)


def causal_lower_right(step: Step, values: Values) -> Tensor | None:
    if causal_mask_offset(step, values) is None:
        return None
    keys = unchanged_value(step, values).shape[-1]
    queries = count_queries(values)
    return causal_mask_at(step, values, keys - queries)


def causal_too_strict(step: Step, values: Values) -> Tensor | None:
    query_offset = causal_mask_offset(step, values)
    if query_offset is None:
        return None
    return causal_mask_at(step, values, query_offset - 1)


def causal_too_loose(step: Step, values: Values) -> Tensor | None:
    query_offset = causal_mask_offset(step, values)
    if query_offset is None:
        return None
    return causal_mask_at(step, values, query_offset + 1)


def causal_mask_offset(step: Step, values: Values) -> int | None:
    """The position of query 0 under a causal mask, which may be chosen by name or given as a tensor.

    None for any other mask, and for a tensor that blocks nothing or everything.
    """
    if step.operation is not None:
        is_causal = step.operation.faces in (CAUSAL, SLIDING)
        return step.operation.params["query_offset"] if is_causal else None
    mask = unchanged_value(step, values)
    T, S = mask.shape[-2:]
    if count_queries(values) != T:
        return None
    first_mask = mask.reshape(-1, T, S)[0]
    key_counts = first_mask.sum(-1).tolist()  # of each query
    seeing = [query for query, count in enumerate(key_counts) if count]
    if not seeing:
        return None
    first = seeing[0]
    if key_counts[first] == S:
        return None
    last_key = key_counts[first] - 1  # that query `first` sees
    query_offset = last_key - first
    causal = torch.ones_like(mask).tril(query_offset)
    return query_offset if torch.equal(mask, causal) else None


def causal_mask_at(step: Step, values: Values, query_offset: int) -> Tensor:
    """The same causal mask with query 0 at another position."""
    if step.operation is None:
        pairs = torch.ones_like(unchanged_value(step, values))
        return pairs.tril(query_offset)
    params = {**step.operation.params, "query_offset": query_offset}
    moved = replace(step.operation, params=params)
    return moved.apply(values)


def causal_added(step: Step, values: Values, query_offset: int | None = None) -> Tensor | None:
    """The masked scores with a causal mask added; None if the run has a mask.

    query_offset: the position of query 0 among the keys; None: the last query may attend to all keys.
    """
    if "allowed" in values:
        return None
    scores = unmasked_scores(values)
    T, S = scores.shape[-2:]
    if query_offset is None:
        query_offset = S - T
    pairs = torch.ones_like(scores, dtype=torch.bool)
    is_later = ~pairs.tril(query_offset)
    return scores.masked_fill(is_later, -torch.inf)


def causal_added_upper_left(step: Step, values: Values) -> Tensor | None:
    keys = values["k"].shape[-2]
    if count_queries(values) == keys:
        return None  # the same as causal_added
    return causal_added(step, values, query_offset=0)


def count_queries(values: Values) -> int:
    """The number of queries, T."""
    q = values["q"] if "q" in values else values["q_heads"]
    return q.shape[-2]


# ---- padding ---------------------------------------------------------------------------------------------------------
def padding_on_queries(step: Step, values: Values) -> Tensor | None:
    """The padding mask on rows (queries) instead of columns (keys); None for another mask, or if T and S differ."""
    if step.operation is None or step.operation.faces != PADDING:
        return None
    mask = unchanged_value(step, values)  # the same in every row: (B, H, T, S) or (B, 1, 1, S)
    if mask.shape[-1] != count_queries(values):
        return None
    return mask[..., :1, :].mT


# ---- how the mask meets the scores -----------------------------------------------------------------------------------
def mask_after_softmax(step: Step, values: Values) -> Tensor | None:
    if "allowed" not in values:
        return None
    return torch.softmax(unmasked_scores(values), dim=-1) * values["allowed"]


def mask_as_zero(step: Step, values: Values) -> Tensor | None:
    if "allowed" not in values:
        return None
    return unmasked_scores(values) * values["allowed"]


def mask_as_number(step: Step, values: Values) -> Tensor | None:
    if "allowed" not in values:
        return None
    return unmasked_scores(values) + values["allowed"]


def finite_fill(step: Step, values: Values) -> Tensor | None:
    if "allowed" not in values:
        return None
    return fill_scores(unmasked_scores(values), values["allowed"], value=LARGE_NEGATIVE_FILL)


def finite_added(step: Step, values: Values) -> Tensor | None:
    if "allowed" not in values:
        return None
    return add_to_blocked(unmasked_scores(values), values["allowed"], value=LARGE_NEGATIVE_FILL)


def unmasked_scores(values: Values) -> Tensor:
    """The scores that the mask is applied to: the last step of scores before it."""
    steps = [modifier.steps["scores"] for modifier in MODIFIERS.values() if "scores" in modifier.steps]
    modified = [last.output for *_, last in steps]
    names = ("scaled_scores", *modified, "biased_scores")
    *_, last = (name for name in names if name in values)
    return values[last]
