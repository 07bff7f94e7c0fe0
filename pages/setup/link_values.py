"""Parsers for the values of a link: each converts a text to a value, or raises ValueError."""

import math
import re

from attention_core.inputs.files.mask_readings import MASK_AXES, POLARITIES, MaskReading
from attention_core.inputs.files.qkv_file import MASK_ROLES, ROLES

MAX_WHOLE_NUMBER = 1_000_000  # largest whole number of a mechanism: float64 has angles of such positions to 1e-10
MAX_LINK_NUMBER = 999_999_999  # largest number in a link that is a seed or a position
MAX_FIELD_CHARS = 3_000  # maximum characters of a field, enough for masks in which each of 512 tokens is global
MAX_SHORT_TEXT_CHARS = 200  # most characters of a text of a few words, such as a name
MAX_INDICES = 7  # most indices of a cell, or of the shown part of an uploaded file


def make_member_reader(names):
    """Returns a parser that returns one of `names` unchanged, and raises ValueError for any other text."""

    def read(text: str) -> str:
        if text not in names:
            raise ValueError(text)
        return text

    return read


def read_link_number(text: str) -> float:
    """Parses a finite number of at most 30 characters."""
    value = float(text) if len(text) <= 30 else float("nan")
    if not math.isfinite(value):
        raise ValueError(text)
    return value


def read_link_count(text: str) -> int:
    """Parses a whole number from 0 to MAX_LINK_NUMBER."""
    is_whole = text.isascii() and text.isdigit()
    if not is_whole or len(text) > len(str(MAX_LINK_NUMBER)):
        raise ValueError(text)
    return int(text)


def read_link_whole(text: str) -> int:
    """Parses a whole number of a mechanism, from -MAX_WHOLE_NUMBER to MAX_WHOLE_NUMBER."""
    size = read_link_count(text.removeprefix("-"))
    if size > MAX_WHOLE_NUMBER:
        raise ValueError(text)
    return -size if text.startswith("-") else size


def read_short_text(text: str) -> str:
    """Returns a text of at most MAX_SHORT_TEXT_CHARS characters unchanged; raises ValueError for a longer text."""
    if len(text) > MAX_SHORT_TEXT_CHARS:
        raise ValueError(text)
    return text


def read_link_indices(text: str) -> tuple[int, ...]:
    """Parses whole numbers separated by commas, at most MAX_INDICES of them."""
    return tuple(map(read_link_count, split_parts(text)))[:MAX_INDICES]


def make_choices_reader(read_choice):
    """Returns a parser that splits "name:1:2,other" at commas, and checks that `read_choice` can parse each part.

    The text may have at most MAX_FIELD_CHARS characters.
    """

    def read(text: str) -> tuple[str, ...]:
        if len(text) > MAX_FIELD_CHARS:
            raise ValueError(text)
        parts = split_parts(text)
        for part in parts:
            read_choice(part)
        return parts

    return read


def make_choice_reader(read_choice):
    """Returns a parser that returns a text unchanged if `read_choice` can parse it, and raises ValueError if not."""
    read_choices = make_choices_reader(read_choice)

    def read(text: str) -> str:
        (choice,) = read_choices(text)
        return choice

    return read


def make_numbered_reader(names):
    """Returns a parser for a name and whole numbers, such as "offset:-2"; it checks both and returns the name.

    Raises ValueError for a name that is not in `names`.
    """
    read_name = make_member_reader(names)

    def read(text: str) -> str:
        name, *numbers = text.split(":")
        for number in numbers:
            read_link_whole(number)
        return read_name(name)

    return read


def read_link_digest(text: str) -> str:
    """Checks that a text is a digest of sixteen hexadecimal digits, and returns it; raises ValueError if not."""
    if not re.fullmatch("[0-9a-f]{16}", text):
        raise ValueError(text)
    return text


def read_array_roles(text: str) -> tuple[str, ...]:
    """Checks the roles of a file's arrays, such as "q:0,weights:4", and returns the (role:index) texts as a tuple."""
    read_role = make_member_reader(ROLES)
    parts = split_parts(text)
    for part in parts:
        role, _, place = part.partition(":")
        read_role(role)
        read_link_count(place)
    return parts


def read_mask_answer(text: str) -> tuple[str, MaskReading]:
    """Parses "mask:T.S:allowed": the role of a mask in a file, the mask's axes, and the meaning of its values.

    >>> read_mask_answer("padding:B.S:blocked")
    ('padding', MaskReading(axes='B S', polarity='blocked'))
    """
    role, _, reading = text.partition(":")
    axes, _, polarity = reading.replace(".", " ").partition(":")
    read_role, read_axes, read_polarity = map(make_member_reader, (MASK_ROLES, MASK_AXES, POLARITIES))
    return read_role(role), MaskReading(read_axes(axes), read_polarity(polarity))


def write_mask_answer(role: str, reading: MaskReading) -> str:
    """Returns the text of how a mask in a file is read, such as "mask:T.S:allowed", which read_mask_answer parses."""
    return f"{role}:{reading.axes.replace(' ', '.')}:{reading.polarity}"


def split_parts(text: str) -> tuple[str, ...]:
    """Returns the parts of a text that are separated by commas, without empty ones."""
    return tuple(part for part in text.split(",") if part)
