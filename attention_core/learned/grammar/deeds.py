"""Deeds: the events that a noun may take part in, alone or with another noun."""

from dataclasses import dataclass
from functools import cache

from attention_core.learned.grammar.concepts import Noun, find_nouns, read_data
from attention_core.learned.grammar.frames import load_events
from attention_core.learned.grammar.scene import Event

FEW = 4  # a deed of at most this many nouns is their own, such as barking
OWN_WEIGHT = 6  # extra copies of a noun's own deeds among the deeds to sample from


@dataclass(frozen=True, eq=False, slots=True)
class Deed:
    """An event and the nouns that may take part; y is () if x does the deed alone.

    is_planned: the deed lasts, and may be wanted, so that "is doing" and "wants to" fit it.
    """

    event: Event
    x: tuple[Noun, ...]
    y: tuple[Noun, ...]
    is_planned: bool


@cache
def load_deeds() -> dict[str, Deed]:
    """Load all deeds by the name of their event."""
    sections = read_data("events")
    deeds = {}
    for name, (_, x, *at_once) in sections["alone"].items():
        deeds[name] = make_deed(name, x, "", bool(at_once))
    for name, (_, x, y, *at_once) in sections["together"].items():
        deeds[name] = make_deed(name, x, y, bool(at_once))
    return deeds


def make_deed(name: str, x: str, y: str, is_at_once: bool) -> Deed:
    """Make the deed of a named event. x, y: choices of nouns as in find_nouns. is_at_once: the deed does not last."""
    event = load_events()[name]
    is_planned = not event.is_state and not is_at_once
    return Deed(event, find_nouns(x), find_nouns(y), is_planned)


@cache
def deeds_alone(noun: Noun, planned: bool = False) -> tuple[Deed, ...]:
    """Return the deeds that a noun may do alone, its own deeds repeated. planned: only deeds that may be wanted."""
    mine = [deed for deed in deeds_of(noun, planned) if not deed.y]
    own = [deed for deed in mine if len(deed.x) <= FEW]
    return tuple(mine + own * OWN_WEIGHT)


@cache
def deeds_to_others(noun: Noun, planned: bool = False) -> tuple[Deed, ...]:
    """Return the deeds that a noun may do to another. planned: only deeds that may be wanted."""
    return tuple(deed for deed in deeds_of(noun, planned) if deed.y)


def deeds_of(noun: Noun, planned: bool) -> list[Deed]:
    """Return the deeds that a noun may do. planned: only deeds that may be wanted."""
    mine = [deed for deed in load_deeds().values() if noun in deed.x]
    return [deed for deed in mine if deed.is_planned or not planned]
