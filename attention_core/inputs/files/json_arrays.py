"""JSON, strictly: nested lists of numbers as arrays."""

import json
from collections.abc import Iterator

import numpy as np

from attention_core.inputs.files.array_bytes import MAX_ARRAYS, MAX_AXES, MAX_NUMBERS, check_array_size, printable_name
from attention_core.inputs.matrix_text import safe_excerpt
from attention_core.record.errors import AttentionError

MAX_LISTS = 100_000
# Counted before anything is parsed, because each list, text and number takes many times its characters in memory.
MAX_SIGN_COUNTS = {",": MAX_NUMBERS, "[": MAX_LISTS, "{": 10 * MAX_ARRAYS, '"': 10 * MAX_ARRAYS}


def read_json_arrays(name: str, text: str) -> Iterator[tuple[str | None, np.ndarray]]:
    """The arrays of a JSON text: of nested lists, one without a name; of an object, one for each of its names.

    Raises AttentionError: json_signs, not_json, json_constant, lists_too_deep, and what nested_array refuses.

    >>> text = '{"allowed": [[true, false]], "bias": [1]}'
    >>> [(name, array.tolist()) for name, array in read_json_arrays("masks.json", text)]
    [('allowed', [[True, False]]), ('bias', [1.0])]
    """
    value = parse_json(name, text)
    if not isinstance(value, tuple):
        yield None, nested_array(name, value)
        return
    for key, lists in value:
        yield key, nested_array(key, lists)


def parse_json(name: str, text: str) -> object:
    """What a JSON text says: every number a float, an object the tuple of its pairs, so that none gets lost."""
    for sign, limit in MAX_SIGN_COUNTS.items():
        if (given := text.count(sign)) > limit:
            raise AttentionError("json_signs", name=printable_name(name), sign=sign, limit=limit, given=given)

    def refuse(constant: str) -> None:
        raise AttentionError("json_constant", name=printable_name(name), given=constant)

    try:
        return json.loads(text, parse_int=float, parse_constant=refuse, object_pairs_hook=tuple)
    except json.JSONDecodeError as error:
        raise AttentionError("not_json", name=printable_name(name), row=error.lineno, column=error.colno) from None
    except RecursionError:
        raise AttentionError("lists_too_deep", name=printable_name(name), limit=MAX_AXES) from None


def nested_array(name: str, value: object) -> np.ndarray:
    """Nested lists as the array they write: float64, or bool where all are true or false.

    value: lists in lists, equally long along each axis, at most 4 deep.

    Raises AttentionError: lists_too_deep, lists_differ, json_value, empty, too_many_numbers.

    >>> nested_array("x", [[1.0, 2.0], [3.0, -0.5]])
    array([[ 1. ,  2. ],
           [ 3. , -0.5]])
    """
    shape, items = (), [value]
    while isinstance(items[0], list):
        if len(shape) == MAX_AXES:
            raise AttentionError("lists_too_deep", name=printable_name(name), limit=MAX_AXES)
        check_alike(name, items, list, shape)
        check_lengths(name, items)
        shape = (*shape, len(items[0]))
        check_array_size(name, shape)
        items = [item for row in items for item in row]  # one axis less to go
    kind = bool if isinstance(items[0], bool) else float
    check_alike(name, items, kind, shape)
    return np.array(items, dtype=kind).reshape(shape)  # (numbers,) -> shape


def check_alike(name: str, items: list, kind: type, shape: tuple[int, ...]) -> None:
    """All are of one kind: lists, numbers, or truth values."""
    for at, item in enumerate(items):
        if type(item) is not kind:
            index = tuple(map(int, np.unravel_index(at, shape)))
            raise AttentionError("json_value", name=printable_name(name), given=format_json_excerpt(item), index=index)


def check_lengths(name: str, lists: list[list]) -> None:
    """All are equally long."""
    expected = len(lists[0])
    for row in lists:
        if len(row) != expected:
            raise AttentionError("lists_differ", name=printable_name(name), expected=expected, given=len(row))


def format_json_excerpt(item: object) -> str:
    """The beginning of an item as JSON writes it, of a list or an object its brackets."""
    if isinstance(item, list | tuple):
        return "[…]" if isinstance(item, list) else "{…}"
    return safe_excerpt(json.dumps(item, ensure_ascii=False))
