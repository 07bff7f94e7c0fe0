"""What the tests know of a mask: who may attend, computed a second time, one pair after the other.

A mask is one line of MASK_PAIRS. It shares nothing with attention_core/mechanism/masks.py.
"""

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True)
class MaskPairs:
    """A mask, pair by pair.

    may_attend: (b, h, i, j, **numbers) -> whether in sequence b the query at place i of head h may attend to the key at
    place j. places_query: whether it looks back from where the query stands, the last one at the last key. numbers:
    with which test_oracle.py tries it; of a parameter that is not among them it takes the last but one of the small
    numbers that fit. They are needed where a wrong mask would not show there. Other tests draw the numbers.
    """

    may_attend: Callable[..., bool]
    places_query: bool = False
    numbers: dict = field(default_factory=dict)


def near_or_global(b, h, i, j, window, global_tokens):
    return abs(i - j) <= window or i in global_tokens or j in global_tokens


def whole_steps_apart(b, h, i, j, window, dilation):
    return any(abs(i - j) == step * dilation for step in range(window + 1))


MASK_PAIRS = {
    "causal": MaskPairs(lambda b, h, i, j: j <= i, places_query=True),
    "local": MaskPairs(lambda b, h, i, j, window: abs(i - j) <= window, numbers={"window": 1}),
    "sliding": MaskPairs(lambda b, h, i, j, window: i - window < j <= i, places_query=True, numbers={"window": 3}),
    "dilated": MaskPairs(whole_steps_apart, numbers={"window": 2, "dilation": 2}),
    "padding": MaskPairs(lambda b, h, i, j, lengths: j < lengths[b], numbers={"lengths": (5, 3)}),
    # test_oracle.py has 5 queries and 7 keys, or the other way round: at place 6 stands a key alone, or a query alone
    "local_global": MaskPairs(near_or_global, numbers={"window": 1, "global_tokens": (0, 3, 6)}),
}


def mask_pairs(mask: str) -> MaskPairs:
    """What stands here of a mask."""
    assert mask in MASK_PAIRS, f"who may attend under {mask} must stand in MASK_PAIRS of tests/mechanism/mask_pairs.py"
    return MASK_PAIRS[mask]


def may_attend(masks: list[tuple[str, dict]], b: int, h: int, i: int, j: int) -> bool:
    """Whether all of several masks let the query at place i attend to the key at place j."""
    return all(
        mask_pairs(mask).may_attend(b, h, i, j, **{name: number for name, number in given.items() if name != "offset"})
        for mask, given in masks
    )


def query_place(masks: list[tuple[str, dict]], T: int, S: int) -> int:
    """Where query 0 stands: the offset of the masks that place it, S - T where none is given, 0 without such a mask."""
    placing = [given for mask, given in masks if mask_pairs(mask).places_query]
    offsets = [given["offset"] for given in placing if given.get("offset") is not None]
    if offsets:
        return offsets[0]
    return S - T if placing else 0
