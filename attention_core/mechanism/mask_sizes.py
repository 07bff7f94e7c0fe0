"""What masks mean for a run of certain sizes: where query 0 stands, which parameters fit, and what moves along."""

from dataclasses import replace

from attention_core.mechanism.checks import Shapes
from attention_core.mechanism.config import AttentionConfig
from attention_core.mechanism.masks import MASKS
from attention_core.mechanism.parameters import KEY_COUNT, KEY_PLACE
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
    for name, params in config.masks:
        for parameter in MASKS[name].parameters:
            given = params[parameter.name]
            if parameter.moves == KEY_COUNT and parameter.several:
                check_lengths(given, B, S)
            if parameter.moves == KEY_PLACE:
                check_places(given if parameter.several else (given,), last_position)


def check_places(places: tuple[int, ...], last_position: int) -> None:
    """Each is the place of a token."""
    for place in places:
        if not 0 <= place <= last_position:
            raise AttentionError("tokens_range", last=last_position, given=place)


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
        for parameter in MASKS[name].parameters:
            moved[parameter.name] = parameter.for_keys_from(params[parameter.name], first)
        masks.append((name, moved))
    return replace(config, masks=masks)
