"""Finds the masks of the core that together allow the same pairs as a recorded mask."""

from collections.abc import Iterator

import torch
from jaxtyping import Bool
from torch import Tensor

from attention_core.mechanism.config import Choice
from attention_core.mechanism.masks import MASKS

Sizes = tuple[int, int, int, int]  # (B, H, T, S)


def name_masks(allowed: Bool[Tensor, "#B #H #T #S"], sizes: Sizes, window: int | None) -> list[Choice] | None:
    """Return entries of MASKS that together allow the same pairs as a recorded mask; None if there are none.

    allowed: a boolean mask that broadcasts to (B, H, T, S). window: the width of a sliding or local window that the
    model passed, or None. Padding is a candidate if the last keys of each text are blocked.

    >>> name_masks(torch.ones(3, 3).tril().bool()[None, None], (1, 1, 3, 3), None)
    [('causal', {})]
    """
    B, _, T, S = sizes
    whole = allowed.expand(B, -1, T, S)
    padding = name_padding(whole)
    for choices in list_choices(whole, window):
        for masks in (choices, [*choices, *padding]):
            if masks and bool((allow_by_name(masks, whole) == whole).all()):
                return masks
    return None


def name_padding(whole: Bool[Tensor, "B h T S"]) -> list[Choice]:
    """Return the padding mask that blocks the last keys of each text, to which no query may attend; [] if there are no
    such keys.
    """
    seen = whole.flatten(1, 2).any(1)  # (B, S)
    lengths = tuple(int(count) for count in seen.sum(-1))
    is_prefix = all(bool(row[:count].all()) for row, count in zip(seen, lengths, strict=True))
    if not is_prefix or min(lengths) == seen.shape[-1]:
        return []
    return [("padding", {"lengths": lengths})]


def list_choices(whole: Bool[Tensor, "B h T S"], window: int | None) -> Iterator[list[Choice]]:
    """Yield the combinations of masks to try (except padding), the simplest first; the last ones use a window inferred
    from the mask."""
    if window is not None:
        yield [("sliding", {"window": window})]
    yield []
    yield [("causal", {})]
    if window is not None:
        yield [("local", {"window": window})]
        yield [("local", {"window": window // 2})]
    yield from find_windows(whole)


def find_windows(whole: Bool[Tensor, "B h T S"]) -> Iterator[list[Choice]]:
    """Yield the windows that the first text's allowed pairs suggest: one to both sides, one only to earlier keys."""
    T, S = whole.shape[-2:]
    query, key = whole[0, 0].nonzero(as_tuple=True)
    if not len(query):
        return
    away = key - query - (S - T)
    back, ahead = int(-away.min()), int(away.max())
    if ahead == 0:
        yield [("sliding", {"window": back + 1})]
    elif back == ahead:
        yield [("local", {"window": back})]


def allow_by_name(masks: list[Choice], like: Bool[Tensor, "B h T S"]) -> Bool[Tensor, "#B #h T S"]:
    """Return a boolean tensor of the pairs that the given entries of MASKS allow together, in the sizes of the mask
    `like`.

    Under a causal mask the last query is at the last key, as in a run whose config sets no offset.
    """
    T, S = like.shape[-2:]
    is_causal = any(MASKS[name].is_causal for name, _ in masks)
    place = S - T if is_causal else 0
    scores = torch.empty_like(like, dtype=torch.float32)
    found = torch.ones(1, 1, T, S, dtype=torch.bool, device=like.device)
    for name, params in masks:
        mask = MASKS[name]
        offset = {"query_offset": place} if mask.uses_position else {}
        found = found & mask.faces.torch(scores, **params, **offset)
    return found
