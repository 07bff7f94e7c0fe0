"""Parses and writes interventions in a language model as parts of a link: "2.1:off", "1.ff:off", "3.0:mask:5-2:5-3"."""

import re

from attention_core.analysis.interventions import KINDS, MASKED, Intervention
from attention_core.record.errors import AttentionError

ATTENTION, FEED_FORWARD = "attention", "feed_forward"
SHORT = "ff"  # stands for a feed-forward layer in a link
NUMBER = r"(?:0|[1-9]\d{0,2})"
PAIR = rf"{NUMBER}-{NUMBER}"
CHANGE = re.compile(rf"({NUMBER})\.({NUMBER}|{SHORT}):({'|'.join(KINDS)})((?::{PAIR})*)", re.ASCII)


def write_intervention(change: Intervention) -> str:
    """Returns an intervention in a language model as a part of a link, such as "2.1:off".

    >>> write_intervention(Intervention("3.attention", 0, "mask", ((5, 2), (5, 3))))
    '3.0:mask:5-2:5-3'
    """
    layer, _, _ = change.part.partition(".")
    where = SHORT if change.head is None else change.head
    pairs = "".join(f":{query}-{key}" for query, key in change.blocked)
    return f"{layer}.{where}:{change.kind}{pairs}"


def read_intervention(text: str) -> Intervention:
    """Parses an intervention from a part of a link, such as "2.1:off". Raises ValueError for one that no control
    offers.

    >>> read_intervention("1.ff:off")
    Intervention(part='1.feed_forward', head=None, kind='off', blocked=())
    """
    match = CHANGE.fullmatch(text)
    if match is None:
        raise ValueError(text)
    layer, where, kind, pairs = match.groups()
    if pairs and kind != MASKED:
        raise ValueError(text)
    blocked = tuple(read_pair(pair) for pair in pairs.split(":")[1:])
    if where == SHORT:
        return Intervention(f"{layer}.{FEED_FORWARD}", None, kind)
    return Intervention(f"{layer}.{ATTENTION}", int(where), kind, blocked)


def read_pair(text: str) -> tuple[int, int]:
    """Parses a pair of a query and a key, such as "5-2"."""
    query, key = map(int, text.split("-"))
    return query, key


def check_changes(changes: tuple[Intervention, ...]) -> tuple[Intervention, ...]:
    """Returns the interventions unchanged, after checking that no head or feed-forward layer has more than one.

    Raises AttentionError: changed_twice.
    """
    places = [(change.part, change.head) for change in changes]
    for part, head in places:
        if places.count((part, head)) > 1:
            raise AttentionError("changed_twice", part=part, head=head)
    return changes


def read_changes(parts: tuple[str, ...]) -> tuple[Intervention, ...]:
    """Parses the interventions in the Setup field `changes`, a sequence of texts such as "2.1:off"."""
    return check_changes(tuple(map(read_intervention, parts)))


def with_change(changes: tuple[Intervention, ...], part: str, head: int | None, kind: str | None) -> tuple[str, ...]:
    """Returns the Setup field `changes`, after one head's or feed-forward layer's intervention is set or removed.

    head: None for the feed-forward layer. kind: the kind of the intervention; None to remove it.

    >>> with_change((Intervention("1.attention", 2),), "2.attention", 0, "even")
    ('1.2:off', '2.0:even')
    """
    new = None if kind is None else Intervention(part, head, kind)
    return write_with(changes, part, head, new)


def with_pair(changes: tuple[Intervention, ...], part: str, head: int, pair: tuple[int, int]) -> tuple[str, ...]:
    """Returns the Setup field `changes` after a click on a (query, key) pair of a head, which blocks or allows the
    pair.

    Other interventions in this head are removed.

    >>> with_pair((Intervention("1.attention", 2, "mask", ((1, 0),)),), "1.attention", 2, (3, 0))
    ('1.2:mask:1-0:3-0',)
    """
    drawn: set[tuple[int, int]] = set()
    for change in changes:
        if (change.part, change.head) == (part, head):
            drawn.update(change.blocked)
    blocked = tuple(sorted(drawn ^ {pair}))
    return write_with(changes, part, head, Intervention(part, head, MASKED, blocked))


def write_with(
    changes: tuple[Intervention, ...], part: str, head: int | None, new: Intervention | None
) -> tuple[str, ...]:
    """Returns the Setup field `changes` with `new` as the only intervention in one head or feed-forward layer.

    new: the intervention; None removes the present one.
    """
    kept = [change for change in changes if (change.part, change.head) != (part, head)]
    if new is not None:
        kept.append(new)
    return tuple(map(write_intervention, kept))
