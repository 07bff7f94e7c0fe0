"""Packs attention maps under the visitor's options for the browser, with sentences about weights that the options
exclude or hide.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce

import numpy as np
from torch import Tensor

from attention_core.analysis.map_reading import MapReading, ReadMaps, read_maps
from attention_core.record.number_text import format_fixed, format_grouped, format_percent, format_percent_tenths
from pages.site.words import get_text_template, say

# options to choose from: the smallest shown share, and the number of largest keys shown
LEASTS, LARGEST = (0.02, 0.05, 0.1, 0.2, 0.5), (1, 2, 3, 5)
TEXTS = ("options", "label", "without_first", "weights", "all", "least", "largest", "largest_one", "times", "mean")
# which maps of a comparison are shown: those of A, of B, B - A, or A beside B
SIDES = ("a", "b", "difference", "together")
TEMPLATES = ("mean_title", "mean_choose", "less", "more", "even_shares", "more_a", "more_b", "sides", *SIDES)


def reading_of(chosen: Mapping) -> MapReading:
    """Parses the options of maps that a browser sent to a MapReading. Raises AttentionError."""
    return MapReading(**{**chosen, "mean": tuple(chosen["mean"])})


def fit_reading(reading: MapReading, maps: int, keys: int) -> MapReading:
    """Returns a MapReading without options that do not fit these maps: heads that they lack, and "without the first
    key" if there is no other.

    Such options may come from a link.
    """
    mean = tuple(head for head in reading.mean if head < maps)
    return replace(reading, mean=mean, without_first=reading.without_first and keys > 1)


def make_options(reading: MapReading, keys: Sequence[str], side: str = "", is_alike: bool = True) -> dict:
    """Returns the data of the control with the options of maps.

    keys: the words of the columns. side: the side of the comparison that is shown; "" without a comparison. is_alike:
    whether the maps of both runs have the same shape; if not, the maps are shown side by side instead of B minus A.
    """
    texts = {name: get_text_template(f"reading.{name}") for name in (*TEXTS, *TEMPLATES)}
    return {
        "chosen": vars(reading) | {"mean": list(reading.mean)},
        "first": keys[0] if len(keys) > 1 else None,
        "side": side if is_alike or side != "difference" else "together",
        "sides": ("a", "b", "difference" if is_alike else "together"),
        "leasts": LEASTS,
        "largest": LARGEST,
        "text": texts,
    }


Packed = tuple[dict | None, bytes, bytes]  # (description of maps, bytes of their numbers, bytes of their hidden cells)


def pack_read_maps(
    weights: Tensor, allowed: Tensor, reading: MapReading, queries: Sequence[str], keys: Sequence[str]
) -> Packed:
    """Packs maps (N, T, S) under the options of a reading: their description, and the numbers and hidden cells as
    bytes.

    A blocked cell is NaN. queries, keys: the words.
    """
    read = read_maps(weights, allowed, reading)
    told = [tell_map(read, reading, keys, number) for number in range(len(read.numbers))]
    kind = "times" if reading.times else "share"
    return pack_maps(read.numbers, read.allowed, read.hidden, describe_maps(kind, told, reading, queries, keys))


def pack_difference(
    a: tuple[Tensor, Tensor], b: tuple[Tensor, Tensor], reading: MapReading, queries: Sequence[str], keys: Sequence[str]
) -> Packed:
    """Packs the maps of B minus those of A, both under the options of a reading, as pack_read_maps does.

    A cell of the difference is blocked or hidden if it is blocked or hidden in both maps. a, b: the weights of all
    maps, and the cells that no mask blocks.
    """
    read_a, read_b = (read_maps(*each, reading) for each in (a, b))
    numbers = read_b.numbers - read_a.numbers
    shown = list(keys[1:] if reading.without_first else keys)
    spell = spell_number if reading.times else spell_share
    told = []
    for one, other, change in zip(read_a.numbers, read_b.numbers, numbers, strict=True):
        largest = int(change.abs().argmax())
        row, column = divmod(largest, len(shown))
        words = {"query": queries[row], "key": shown[column]}
        ends = {"a": spell(one[row, column]), "b": spell(other[row, column])}
        key = "reading.same" if ends["a"] == ends["b"] else "reading.most_changed"
        told.append(say(key, **words, **ends))
    description = describe_maps("change", told, reading, queries, keys)
    return pack_maps(numbers, read_a.allowed | read_b.allowed, read_a.hidden & read_b.hidden, description)


def spell_share(share: Tensor) -> str:
    """Returns a share as a percentage with one decimal, such as "25.2 %", so that differences of two can be checked."""
    return say("reading.percent", number=format_percent_tenths(float(share)))


def spell_number(number: Tensor) -> str:
    """Returns a multiple of the even share with two decimals."""
    return format_fixed(float(number))


def describe_maps(
    kind: str, told: Sequence[str], reading: MapReading, queries: Sequence[str], keys: Sequence[str]
) -> dict:
    """Returns the description of maps: their words, their colour scale, and the sentences about each map and about all
    maps.
    """
    return {
        "kind": kind,
        "times": reading.times,
        "rows": list(queries),
        "columns": list(keys[1:] if reading.without_first else keys),
        "told": list(told),
        "said": tell_reading(reading, keys),
    }


def pack_maps(numbers: Tensor, allowed: Tensor, hidden: Tensor, description: dict) -> Packed:
    """Returns a description, and the numbers and hidden cells of its maps as bytes; a blocked cell is NaN."""
    numbers = numbers.masked_fill(~allowed, float("nan"))
    return description, numbers.numpy().astype(np.float32).tobytes(), hidden.numpy().astype(np.uint8).tobytes()


def tell_map(read: ReadMaps, reading: MapReading, keys: Sequence[str], number: int) -> str:
    """Returns the sentences that say how much weight of one map the options exclude, and how much they hide.

    Returns "" if they do neither.
    """
    told = []
    if reading.without_first:
        told.append(say("reading.told_first", word=keys[0], percent=format_percent(float(read.left_out[number]))))
    if reading.least is not None or reading.largest is not None:
        hidden = {
            "hidden": format_grouped(int(read.hidden[number].sum())),
            "count": format_grouped(int(read.allowed[number].sum())),
            "percent": format_percent(float(read.hidden_share[number])),
        }
        told.append(say("reading.told_hidden", **hidden))
    return join_sentences(told)


def tell_reading(reading: MapReading, keys: Sequence[str]) -> str:
    """Returns the sentences about the options that apply to all maps, without numbers of a single map; "" without
    options.
    """
    told = []
    if reading.without_first:
        told.append(say("reading.all_first", word=keys[0]))
    if reading.least is not None:
        told.append(say("reading.all_least", percent=format_percent(reading.least)))
    if reading.largest is not None:
        told.append(say("reading.all_largest", count=reading.largest))
    if reading.times:
        told.append(say("reading.all_times"))
    return join_sentences(told)


def join_sentences(told: Sequence[str]) -> str:
    """Joins sentences to one text; "" if there are none."""
    return reduce(lambda one, two: say("reading.both", one=one, two=two), told) if told else ""
