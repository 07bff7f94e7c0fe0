"""Deeds: the events that single nouns may take part in, by themselves or with another."""

from functools import cache
from typing import NamedTuple

from attention_core.learned.grammar.concepts import Noun, find_nouns, read_data
from attention_core.learned.grammar.frames import load_events
from attention_core.learned.grammar.scene import Event

FEW = 4  # nouns that share a deed at most, so that it is their own, as to bark is
OWN_WEIGHT = 6  # how much more often a noun's own deeds are drawn


class Deed(NamedTuple):
    """An event and the nouns that may take part; y is empty where x does it by itself."""

    event: Event
    x: tuple[Noun, ...]
    y: tuple[Noun, ...]


@cache
def load_deeds() -> dict[str, Deed]:
    """Load all deeds by the name of their event."""
    deeds = {}
    for name, entry in read_data("events").items():
        if "x" in entry:
            others = find_nouns(entry["y"]) if "y" in entry else ()
            deeds[name] = Deed(load_events()[name], find_nouns(entry["x"]), others)
    return deeds


@cache
def deeds_alone(noun: Noun) -> tuple[Deed, ...]:
    """Give what a noun may do by itself, its own deeds more often."""
    found = []
    for deed in load_deeds().values():
        if noun in deed.x and not deed.y:
            is_own = len(deed.x) <= FEW
            found += [deed] * (OWN_WEIGHT if is_own else 1)
    return tuple(found)


@cache
def deeds_to_others(noun: Noun) -> tuple[Deed, ...]:
    """Give what a noun may do to another."""
    return tuple(deed for deed in load_deeds().values() if noun in deed.x and deed.y)
