"""Packs attention maps as the visitor chose to read them, with the sentences that say what is left out or hidden."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce

import numpy as np
from torch import Tensor

from attention_core.analysis.map_reading import AS_THEY_ARE, MapReading, ReadMaps, read_maps
from attention_core.record.number_text import format_grouped, format_percent
from pages.site.words import get_text_template, say

LEASTS, LARGEST = (0.02, 0.05, 0.1, 0.2, 0.5), (1, 2, 3, 5)  # the limits that the control offers
TEXTS = ("options", "label", "without_first", "weights", "all", "least", "largest", "largest_one", "times", "mean")
TEMPLATES = ("mean_title", "mean_choose", "less", "more", "even_shares")


def reading_of(chosen: Mapping) -> MapReading:
    """Returns the reading that a browser sent. Raises AttentionError."""
    return MapReading(**{**chosen, "mean": tuple(chosen["mean"])})


def fit_reading(reading: MapReading, maps: int, keys: int) -> MapReading:
    """Returns a reading without what a link names and these maps lack: heads of the mean, a key besides the first."""
    mean = tuple(head for head in reading.mean if head < maps)
    return replace(reading, mean=mean, without_first=reading.without_first and keys > 1)


def make_options(reading: MapReading, keys: Sequence[str]) -> dict:
    """Returns the data of the control by which a visitor chooses a reading; keys: the words of the columns."""
    texts = {name: get_text_template(f"reading.{name}") for name in (*TEXTS, *TEMPLATES)}
    return {
        "chosen": vars(reading) | {"mean": list(reading.mean)},
        "first": keys[0] if len(keys) > 1 else None,
        "leasts": LEASTS,
        "largest": LARGEST,
        "text": texts,
    }


def pack_read_maps(
    weights: Tensor, allowed: Tensor, reading: MapReading, queries: Sequence[str], keys: Sequence[str]
) -> tuple[dict | None, bytes, bytes]:
    """Returns maps (N, T, S) as a reading shows them: their description, and the numbers and hidden cells as bytes.

    Returns None and no bytes for maps that are shown as they are. A blocked cell is NaN. queries, keys: the words.
    """
    if reading == AS_THEY_ARE:
        return None, b"", b""
    read = read_maps(weights, allowed, reading)
    numbers = read.numbers.masked_fill(~read.allowed, float("nan"))
    data = {
        "rows": list(queries),
        "columns": list(keys[1:] if reading.without_first else keys),
        "times": reading.times,
        "told": [tell_map(read, reading, keys, number) for number in range(len(read.numbers))],
        "said": tell_reading(reading, keys),
    }
    return data, numbers.numpy().astype(np.float32).tobytes(), read.hidden.numpy().astype(np.uint8).tobytes()


def tell_map(read: ReadMaps, reading: MapReading, keys: Sequence[str], number: int) -> str:
    """Returns the sentences on one map: how much is left out of it, and how much is hidden; "" for nothing of these."""
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
    """Returns the sentences on how all maps are read, without the shares of one map; "" for maps as they are."""
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
    """Returns sentences as one text; "" for none."""
    return reduce(lambda one, two: say("reading.both", one=one, two=two), told) if told else ""
