"""Writes and parses the options with which attention maps are shown: "without_first,least:0.1,mean:0:2" in a link."""

from collections.abc import Sequence

from attention_core.analysis.map_reading import MapReading
from pages.setup.link_values import MAX_FIELD_CHARS, read_link_count, read_link_number, split_parts

PLAIN_PARTS = ("without_first", "times")
NUMBER_READERS = {"least": read_link_number, "largest": read_link_count}


def write_map_reading(reading: MapReading) -> tuple[str, ...]:
    """Returns the options of a MapReading as the parts of a link; () if the maps are shown unchanged.

    >>> write_map_reading(MapReading(without_first=True, least=0.1, mean=(0, 2)))
    ('without_first', 'least:0.1', 'mean:0:2')
    """
    parts = [name for name in PLAIN_PARTS if getattr(reading, name)]
    for name in NUMBER_READERS:
        number = getattr(reading, name)
        if number is not None:
            parts.append(f"{name}:{number}")
    if reading.mean:
        parts.append(":".join(("mean", *map(str, reading.mean))))
    return tuple(parts)


def read_map_parts(parts: Sequence[str]) -> MapReading:
    """Parses the parts of a link to a MapReading. Raises ValueError for an unknown, repeated or invalid option."""
    values: dict[str, object] = {}
    for part in parts:
        name, *numbers = part.split(":")
        if name in values:
            raise ValueError(part)
        if name in PLAIN_PARTS and not numbers:
            values[name] = True
        elif name == "mean" and numbers:
            values[name] = tuple(map(read_link_count, numbers))
        elif name in NUMBER_READERS and len(numbers) == 1:
            values[name] = NUMBER_READERS[name](numbers[0])
        else:
            raise ValueError(part)
    return MapReading(**values)


def read_map_link(text: str) -> tuple[str, ...]:
    """Parses the options of maps in a link, and returns their parts in the order of write_map_reading. Raises
    ValueError.
    """
    if len(text) > MAX_FIELD_CHARS:
        raise ValueError(text)
    return write_map_reading(read_map_parts(split_parts(text)))
