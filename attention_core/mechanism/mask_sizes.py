"""Masks in a run of given sizes: the position of query 0, checks of parameters, and their shift to later keys."""

from dataclasses import replace

from attention_core.mechanism.checks import Shapes
from attention_core.mechanism.config import AttentionConfig
from attention_core.mechanism.masks import MASKS
from attention_core.mechanism.parameters import KEY_COUNT, KEY_PLACE
from attention_core.record.errors import AttentionError


def find_query_offset(config: AttentionConfig, shapes: Shapes) -> int:
    """The position of query 0 among the keys: the causal masks' offset (S - T if none is set), else 0."""
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
    """Checks that the masks' parameters fit the batch, the number of keys and the positions of the queries."""
    B, _, T, _ = shapes["q"]
    _, _, S, _ = shapes["k"]
    last_position = max(S, T + query_offset) - 1
    for name, params in config.masks:
        for parameter in MASKS[name].parameters:
            given = params[parameter.name]
            if parameter.moves == KEY_COUNT and parameter.several:
                check_lengths(given, B, S)
            if parameter.moves == KEY_PLACE:
                check_places(given if parameter.several else (given,), last_position)


def check_places(places: tuple[int, ...], last_position: int) -> None:
    """Checks that each place is the position of a token, from 0 to last_position."""
    for place in places:
        if not 0 <= place <= last_position:
            raise AttentionError("tokens_range", last=last_position, given=place)


def check_lengths(lengths: tuple[int, ...], batch: int, keys: int) -> None:
    """Checks that there is one length per sequence, each from 0 to the number of keys."""
    if len(lengths) != batch:
        raise AttentionError("lengths_count", batch=batch, given=len(lengths))
    for length in lengths:
        if not 0 <= length <= keys:
            raise AttentionError("lengths_range", keys=keys, given=length)


def config_for_keys_from(config: AttentionConfig, first: int) -> AttentionConfig:
    """The config for a run with only the keys from `first` on, renumbered 0, 1, ...

    Mask parameters that count keys are shifted. Query 0 is at `query_offset - first` among these keys.

    >>> config_for_keys_from(AttentionConfig(masks=[("padding", {"lengths": (5, 2)})]), 3).masks
    (('padding', {'lengths': (2, 0)}),)
    """
    masks = []
    for name, params in config.masks:
        moved = dict(params)
        for parameter in MASKS[name].parameters:
            moved[parameter.name] = parameter.for_keys_from(params[parameter.name], first)
        masks.append((name, moved))
    return replace(config, masks=masks)
