"""Checks plain values: a choice, a whole number, a list, a finite number. Each check returns the checked value."""

import sys
from collections.abc import Mapping

from attention_core.record.errors import AttentionError

MAX_WHOLE_NUMBER = 2**31 - 1  # the largest allowed whole number, which fits in 32 bits


def require_one_of(name: str, given: object, names: tuple[str, ...]) -> object:
    """Return `given` if it is one of `names`, else raise AttentionError."""
    if given not in names:
        choices = ", ".join(names)
        raise AttentionError("unknown_choice", name=name, choices=choices, given=repr(given))
    return given


def require_whole(name: str, given: object) -> int:
    """Return `given` as an int if it is a whole number and no truth value, else raise AttentionError."""
    if not is_whole(given):
        raise AttentionError("whole_number", name=name, given=repr(given))
    if abs(given) > MAX_WHOLE_NUMBER:
        raise AttentionError("at_most", name=name, limit=MAX_WHOLE_NUMBER, given=given)
    return given


def require_positive(name: str, given: object) -> int:
    """Return `given` as an int if it is a whole number above 0, else raise AttentionError."""
    if not is_whole(given) or given < 1:
        raise AttentionError("positive_integer", name=name, given=repr(given))
    return require_whole(name, given)


def is_whole(given: object) -> bool:
    """Return whether a value is an int other than True and False."""
    return isinstance(given, int) and not isinstance(given, bool)


def require_not_negative(name: str, given: object) -> int:
    """Return `given` as an int if it is a whole number of at least 0, else raise AttentionError."""
    if require_whole(name, given) < 0:
        raise AttentionError("not_negative", name=name, given=repr(given))
    return given


def require_list(name: str, given: object) -> tuple | list:
    """Return `given` if it is a tuple or a list, else raise AttentionError."""
    if not isinstance(given, tuple | list):
        raise AttentionError("not_listed", name=name, given=repr(given))
    return given


def require_finite(name: str, given: object) -> float:
    """Return `given` if it is a finite real number, else raise AttentionError."""
    is_number = is_whole(given) or isinstance(given, float)
    largest = sys.float_info.max  # only the bound is a float: converting a large int would overflow
    if is_number and -largest <= given <= largest:
        return given
    raise AttentionError("finite_number", name=name, given=repr(given)[:40])


def check_rotation(params: Mapping[str, object], width: int) -> None:
    """Checks that RoPE can rotate the first columns of a vector in pairs, each with its own factor.

    params: RoPE's parameters. `columns` None: all columns; `pair_factors` None: no factors. Raises AttentionError:
    even_width, if all columns are rotated and their number is odd; rope_columns, if the number of rotated columns is
    odd or larger than the width; pair_factors_count, if the number of factors is not that of the pairs.
    """
    columns, factors = params["columns"], params["pair_factors"]
    if columns is None and width % 2:
        raise AttentionError("even_width", kind="RoPE", width=width)
    if columns is not None and (columns % 2 or columns > width):
        raise AttentionError("rope_columns", width=width, given=columns)
    rotated = width if columns is None else columns
    pairs = rotated // 2
    if factors is not None and len(factors) != pairs:
        raise AttentionError("pair_factors_count", pairs=pairs, given=len(factors))
