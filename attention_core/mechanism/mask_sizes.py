"""What masks mean for a run of certain sizes: where query 0 stands, which parameters fit, and what moves along."""

from dataclasses import replace

from attention_core.mechanism.checks import Shapes
from attention_core.mechanism.config import AttentionConfig
from attention_core.mechanism.masks import MASKS
from attention_core.record.errors import AttentionError


def find_query_offset(config: AttentionConfig, shapes: Shapes) -> int:
    """Where query 0 stands among the keys: the causal masks' offset (S - T where none is set), else 0."""
    is_causal = False
    chosen = set()
    for name, params in config.masks:
        if not MASKS[name].is_causal:
            continue
        is_causal = True
        if params.get("offset") is not None:
            chosen.add(params["offset"])
    if len(chosen) > 1:
        raise AttentionError("offsets_differ", given=sorted(chosen))
    if chosen:
        return chosen.pop()
    if not is_causal:
        return 0
    _, _, T, _ = shapes["q"]
    _, _, S, _ = shapes["k"]
    return S - T


def check_mask_sizes(config: AttentionConfig, shapes: Shapes, query_offset: int) -> None:
    """The masks' parameters fit the batch, the number of keys and the positions of the queries."""
    B, _, T, _ = shapes["q"]
    _, _, S, _ = shapes["k"]
    last_position = max(S, T + query_offset) - 1
    for _, params in config.masks:
        if "lengths" in params:
            check_lengths(params["lengths"], B, S)
        global_tokens = params.get("global_tokens", ())
        for token in global_tokens:
            if not 0 <= token <= last_position:
                raise AttentionError("tokens_range", last=last_position, given=token)


def check_lengths(lengths: tuple[int, ...], batch: int, keys: int) -> None:
    """There is one length for each sequence, and none is longer than the keys are."""
    if len(lengths) != batch:
        raise AttentionError("lengths_count", batch=batch, given=len(lengths))
    for length in lengths:
        if not 0 <= length <= keys:
            raise AttentionError("lengths_range", keys=keys, given=length)


def config_for_keys_from(config: AttentionConfig, first: int) -> AttentionConfig:
    """The same choices where only the keys from `first` on are at hand, as keys 0, 1, ...

    What masks count in keys moves along. Query 0 stands at `query_offset - first` among these keys.

    >>> config_for_keys_from(AttentionConfig(masks=[("padding", {"lengths": (5, 2)})]), 3).masks
    (('padding', {'lengths': (2, 0)}),)
    """
    masks = []
    for name, params in config.masks:
        moved = dict(params)
        if "lengths" in params:
            lengths = params["lengths"]
            moved["lengths"] = tuple(max(0, length - first) for length in lengths)
        if "global_tokens" in params:
            tokens = params["global_tokens"]
            moved["global_tokens"] = tuple(token - first for token in tokens)
        masks.append((name, moved))
    return replace(config, masks=masks)
