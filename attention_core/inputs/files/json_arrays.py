"""Reads nested lists of numbers from JSON as arrays."""

import json
from itertools import chain

import numpy as np

from attention_core.inputs.files.array_bytes import (
    ARRAY_BOUNDS,
    MAX_AXES,
    MAX_NUMBERS,
    FileBounds,
    check_array_size,
    printable_name,
)
from attention_core.inputs.matrix_cells import safe_excerpt
from attention_core.record.errors import AttentionError

MAX_LISTS = 100_000
MAX_OBJECTS = 640
MAX_TEXTS = 100_000  # words, names, and the texts for infinities in this app's exports
MAX_WHOLE_DIGITS = 15  # digits of a whole number that float64 represents exactly
# Checked before parsing, because each list, text and number takes many times its characters in memory.
MAX_SIGN_COUNTS = {",": MAX_NUMBERS, "[": MAX_LISTS, "{": MAX_OBJECTS, '"': 2 * MAX_TEXTS}


def parse_json(name: str, text: str) -> object:
    """Parses a JSON text: an object becomes a tuple of pairs, which keeps repeated names; whole numbers stay whole;
    infinities and NaN, which Python's json writes, are accepted.

    Raises AttentionError: json_signs, not_json, lists_too_deep.
    """
    for sign, limit in MAX_SIGN_COUNTS.items():
        given = text.count(sign)
        if given > limit:
            raise AttentionError(
                "json_signs",
                name=printable_name(name),
                sign=sign,
                limit=limit,
                given=given,
            )

    try:
        return json.loads(text, parse_int=whole_or_float, object_pairs_hook=tuple)
    except json.JSONDecodeError as error:
        raise AttentionError(
            "not_json",
            name=printable_name(name),
            row=error.lineno,
            column=error.colno,
        ) from None
    except RecursionError:
        raise AttentionError("lists_too_deep", name=printable_name(name), limit=MAX_AXES) from None


def whole_or_float(text: str) -> int | float:
    """A whole number; as a float if it has many digits."""
    return int(text) if len(text) <= MAX_WHOLE_DIGITS else float(text)


def nested_array(name: str, value: object, bounds: FileBounds = ARRAY_BOUNDS) -> np.ndarray:
    """Makes an array from nested lists: bool if all are true or false, int64 if all are whole, else float64.

    value: nested lists, of the same length along each axis, at most as deep as the bounds have axes.

    Raises AttentionError: lists_too_deep, lists_differ, json_value, empty, too_many_numbers.

    >>> nested_array("x", [[1.0, 2.0], [3.0, -0.5]])
    array([[ 1. ,  2. ],
           [ 3. , -0.5]])
    """
    shape = ()
    items = [value]
    while isinstance(items[0], list):
        if len(shape) == bounds.axes:
            raise AttentionError("lists_too_deep", name=printable_name(name), limit=bounds.axes)
        check_alike(name, items, (list,), shape)
        check_equal_lengths(name, items)
        shape = (*shape, len(items[0]))
        check_array_size(name, shape, bounds)
        items = list(chain.from_iterable(items))  # the lists inside the lists
    kinds = (bool,) if isinstance(items[0], bool) else (float, int)
    check_alike(name, items, kinds, shape)
    kind = bool if kinds == (bool,) else float
    if all(type(item) is int for item in items):
        kind = np.int64
    return np.array(items, dtype=kind).reshape(shape)  # (numbers,) -> shape


def check_alike(name: str, items: list, kinds: tuple[type, ...], shape: tuple[int, ...]) -> None:
    """Raises AttentionError if an item has another kind than the first: list, number or truth value."""
    for at, item in enumerate(items):
        if type(item) in kinds:
            continue
        place = np.unravel_index(at, shape)
        raise AttentionError(
            "json_value",
            name=printable_name(name),
            given=format_json_excerpt(item),
            index=tuple(map(int, place)),
        )


def check_equal_lengths(name: str, lists: list[list]) -> None:
    """Raises AttentionError if a list has another length than the first."""
    expected = len(lists[0])
    for row in lists:
        if len(row) != expected:
            raise AttentionError(
                "lists_differ",
                name=printable_name(name),
                expected=expected,
                given=len(row),
            )


def format_json_excerpt(item: object) -> str:
    """The beginning of an item as JSON text; only the brackets of a list or an object."""
    if isinstance(item, list):
        return "[…]"
    if isinstance(item, tuple):  # the pairs of an object
        return "{…}"
    return safe_excerpt(json.dumps(item, ensure_ascii=False))
