"""Computes a mask, or the masked scores, as they would be after a common mistake: one function per mistake.

As in mistaken_steps, each function takes the step and the values of the steps before it, and returns the mistaken value
of the step, or None if the mistake does not apply.
"""

from collections.abc import Callable
from dataclasses import replace

import torch
from torch import Tensor

from attention_core.analysis.blocked_scores import add_to_blocked, fill_scores
from attention_core.comparison.distances import LARGE_NEGATIVE_FILL
from attention_core.comparison.rerun import Change, Values, unchanged_value
from attention_core.mechanism.masks import ALL_ALLOW, CAUSAL, LOCAL, PADDING, SLIDING
from attention_core.mechanism.modifiers import MODIFIERS
from attention_core.record.trace import Step
from attention_core.verification.mistaken_steps import has_faces

Pairs = tuple[int, ...]  # (B, H, T, S)


# ---- masks -----------------------------------------------------------------------------------------------------------
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
    """Return the position of query 0 among the keys under a causal mask, chosen by name or given as a tensor.

    Returns None for any other mask, and for a tensor that blocks nothing or everything.
    """
    if step.operation is not None:
        is_causal = step.operation.faces in (CAUSAL, SLIDING)
        return step.operation.params["query_offset"] if is_causal else None
    mask = unchanged_value(step, values)
    T, S = mask.shape[-2:]
    if count_queries(values) != T:
        return None
    first_mask = mask.reshape(-1, T, S)[0]
    key_counts = first_mask.sum(-1).tolist()  # allowed keys per query
    seeing = [query for query, count in enumerate(key_counts) if count]
    if not seeing:
        return None
    first = seeing[0]
    if key_counts[first] == S:
        return None
    last_key = key_counts[first] - 1  # the last key that query `first` may attend to
    query_offset = last_key - first
    causal = torch.ones_like(mask).tril(query_offset)
    return query_offset if torch.equal(mask, causal) else None


def causal_mask_at(step: Step, values: Values, query_offset: int) -> Tensor:
    """Return a causal mask that places query 0 at another position among the keys than the run's mask."""
    if step.operation is None:
        pairs = torch.ones_like(unchanged_value(step, values))
        return pairs.tril(query_offset)
    params = {**step.operation.params, "query_offset": query_offset}
    moved = replace(step.operation, params=params)
    return moved.apply(values)


def causal_added(step: Step, values: Values, query_offset: int | None = None) -> Tensor | None:
    """Return the masked scores with a causal mask added; None if the run already has a mask.

    query_offset: the position of query 0 among the keys; None for the position at which the last query may attend to
    all keys.
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
        return None  # None, because causal_added gives the same mask
    return causal_added(step, values, query_offset=0)


def count_queries(values: Values) -> int:
    """Returns the number of queries, T; a given mask stands before q, and behind the inputs of the layer."""
    q = next(values[name] for name in ("q", "q_heads", "x", "query") if name in values)
    return q.shape[-2]


# ---- padding ---------------------------------------------------------------------------------------------------------
def padding_on_queries(step: Step, values: Values) -> Tensor | None:
    """Apply the padding mask to rows (queries) instead of columns (keys), a common mistake, and return the mistaken
    mask.

    Returns None for a mask that is not the same for every query, or if T and S differ.
    """
    mask = unchanged_value(step, values)  # (B, H, T, S) or (B, 1, 1, S)
    if not has_faces(step, PADDING) and not is_mask_of_keys(mask):
        return None
    if mask.shape[-1] != count_queries(values):
        return None
    return mask[..., :1, :].mT


def is_mask_of_keys(mask: Tensor) -> bool:
    """Return whether a mask blocks keys, and the same ones for every query."""
    return not mask.all() and torch.equal(mask, mask[..., :1, :].expand_as(mask))


# ---- windows ---------------------------------------------------------------------------------------------------------
def widen_window(more: int) -> Change:
    """Return the mistake of a window with `more` keys more than the mask's; the causal part stays."""

    def change(step: Step, values: Values) -> Tensor | None:
        params = {} if step.operation is None else step.operation.params
        least = 1 if has_faces(step, SLIDING) else 0
        if "window" not in params or params["window"] + more < least:
            return None
        other = replace(step.operation, params={**params, "window": params["window"] + more})
        return other.apply(values)

    return change


def window_missing(step: Step, values: Values) -> Tensor | None:
    if has_faces(step, SLIDING):
        offset = step.operation.params["query_offset"]
        return replace(step.operation, faces=CAUSAL, params={"query_offset": offset}).apply(values)
    return no_mask(step, values) if has_faces(step, LOCAL) else None


def window_both_sides(step: Step, values: Values) -> Tensor | None:
    if not has_faces(step, SLIDING):
        return None
    params = step.operation.params
    both = {**params, "window": params["window"] - 1}  # LOCAL does not count the query's own position
    return replace(step.operation, faces=LOCAL, params=both).apply(values)


# ---- masks over sentences and heads ----------------------------------------------------------------------------------
def read_rows_as_heads(mask: Tensor, pairs: Pairs) -> Tensor | None:
    """Return the mask after `mask.unsqueeze(1)` on a mask (T, S) or (B, S): its first axis is read as the heads."""
    _, H, T, S = pairs
    misplaced = misplace_mask(mask)
    if misplaced is None or len(misplaced) != H or H == 1:
        return None
    return misplaced.expand(H, T, S)[None]  # (1, H, T, S)


def misplace_mask(mask: Tensor) -> Tensor | None:
    """Return a mask after `unsqueeze(1)`: (T, S) as (T, 1, S), (B, S) as (B, 1, S); None if it is neither.

    mask: (1, 1, T, S) or (B, 1, 1, S), the same mask with all its axes.
    """
    batches, heads, queries, _ = mask.shape
    if heads > 1 or (batches > 1 and queries > 1):
        return None
    return mask.flatten(0, 2).unsqueeze(1)


def repeat_in_turn(mask: Tensor, pairs: Pairs) -> Tensor:
    """Return the masks of the sentences repeated for the heads as 0 1 0 1, where 0 0 1 1 is right."""
    B, H, _, _ = pairs
    order = torch.arange(B).repeat(H).view(B, H)  # sentence whose mask each (sentence, head) has
    return mask.expand(pairs)[order, torch.arange(H)]


def take_first_sentence(mask: Tensor, pairs: Pairs) -> Tensor:
    return mask[:1].expand(mask.shape)


def take_first_head(mask: Tensor, pairs: Pairs) -> Tensor:
    return mask[:, :1].expand(mask.shape)


def exchange_heads_and_batch(mask: Tensor, pairs: Pairs) -> Tensor | None:
    B, H, _, _ = pairs
    return mask.expand(pairs).transpose(0, 1) if B == H else None  # (B, H, T, S) -> (H, B, T, S)


def read_batch_as_queries(mask: Tensor, pairs: Pairs) -> Tensor | None:
    """Return a mask (B, S) read as (T, S), which is possible if B is T: query i gets the mask of sentence i."""
    B, _, T, S = pairs
    if B == 1 or B != T or mask.shape[1] > 1 or not is_mask_of_keys(mask):
        return None
    return mask[:, 0, :1].expand(B, 1, S).transpose(0, 1)[None]  # (B, 1, S) -> (1, 1, T, S)


BROADCAST_MISTAKES: dict[str, Callable[[Tensor, Pairs], Tensor | None]] = {
    "mask_for_heads": read_rows_as_heads,
    "mask_repeated": repeat_in_turn,
    "mask_of_first_sentence": take_first_sentence,
    "mask_of_first_head": take_first_head,
    "mask_heads_as_batch": exchange_heads_and_batch,
    "mask_batch_as_queries": read_batch_as_queries,
}


def broadcast_mask(code: str, pairs: Pairs) -> Change:
    """Return the mistake of BROADCAST_MISTAKES with this code, of a run whose scores have the axes `pairs`."""

    def change(step: Step, values: Values) -> Tensor | None:
        if has_faces(step, ALL_ALLOW):  # each of the combined masks was changed
            return None
        return BROADCAST_MISTAKES[code](unchanged_value(step, values), pairs)

    return change


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


def multiply_by_mask(fill: float) -> Change:
    """Return the mistake of multiplying the scores by a mask of 0 and `fill`, which should be added."""

    def change(step: Step, values: Values) -> Tensor | None:
        if "allowed" not in values:
            return None
        mask = torch.zeros(values["allowed"].shape, dtype=torch.float64).masked_fill(~values["allowed"], fill)
        return unmasked_scores(values) * mask

    return change


def finite_fill(step: Step, values: Values) -> Tensor | None:
    if "allowed" not in values:
        return None
    return fill_scores(unmasked_scores(values), values["allowed"], value=LARGE_NEGATIVE_FILL)


def finite_added(step: Step, values: Values) -> Tensor | None:
    if "allowed" not in values:
        return None
    return add_to_blocked(unmasked_scores(values), values["allowed"], value=LARGE_NEGATIVE_FILL)


def unmasked_scores(values: Values) -> Tensor:
    """Return the scores before the mask: the last step that computes scores."""
    steps = [modifier.steps["scores"] for modifier in MODIFIERS.values() if "scores" in modifier.steps]
    modified = [last.output for *_, last in steps]
    names = ("scaled_scores", *modified, "biased_scores")
    *_, last = (name for name in names if name in values)
    return values[last]
