"""Defines the shapes of the values that a component may send, and checks a browser's value against its shape.

A browser may send anything. A component declares the shape of each of its events (make_component). A handler is called
only with a value of that shape; any other message is dropped.

Besides instances of the classes below, these are shapes: None, for null; a tuple of shapes, for a list with exactly
these items; a dictionary of shapes by name, for an object with exactly these fields.

A class may contain a name (a text) instead of a number or of values. The code that puts the component on the page
provides the value of each name, or a function that returns that value when a message arrives (see Component).
"""

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass

Given = object | Callable[[], object]  # the value of a name in a shape, or a function that returns that value
MAX_WHOLE = 2**53 - 1  # the largest whole number that a browser stores exactly
MAX_FLOAT = sys.float_info.max
MISSING = object()  # marks a field that was not sent; it fits no shape


class UnfitMessage(ValueError):
    """Raised if a value from a browser does not have the shape that its component declares."""


@dataclass(frozen=True)
class Anything:
    """The shape of any value; the event's handler checks the value, and can show the visitor why it is refused."""


@dataclass(frozen=True)
class Flag:
    """The shape of a boolean: true or false."""


@dataclass(frozen=True)
class Whole:
    """The shape of a whole number; true and false do not count as numbers."""

    least: int | str = -MAX_WHOLE
    most: int | str = MAX_WHOLE


@dataclass(frozen=True)
class Place:
    """The shape of an index: a whole number from 0 to count - 1."""

    count: int | str


@dataclass(frozen=True)
class Number:
    """The shape of a finite number; true and false do not count as numbers."""

    least: float | str = -MAX_FLOAT
    most: float | str = MAX_FLOAT


@dataclass(frozen=True)
class Text:
    """The shape of a text of at most `most` characters."""

    most: int


@dataclass(frozen=True)
class OneOf:
    """The shape of one of `values` (texts, whole numbers or flags). The type must match: 1 is neither 1.0 nor true."""

    values: tuple | str


@dataclass(frozen=True)
class ListOf:
    """The shape of a list of at most `most` values of one shape.

    leaves_out: True if values of another shape are dropped; False if such a value makes the whole list unfit.
    """

    shape: "Shape"
    most: int
    leaves_out: bool = False


@dataclass(frozen=True)
class AnyOf:
    """The shape of a value of any of `shapes`; the first of them that fits is used."""

    shapes: tuple["Shape", ...]


@dataclass(frozen=True)
class Maybe:
    """The shape of a field that an object may lack."""

    shape: "Shape"


Single = Anything | Flag | Whole | Place | Number | Text | OneOf
Shape = None | tuple | dict | Single | ListOf | AnyOf | Maybe

CELL = {"step": Text(200), "index": ListOf(Whole(), 8)}  # a cell of a step; the current run may lack this step or cell
PART_CELL = {"part": Text(200), **CELL}  # a cell in the step of a part (such as a layer) of a language model


def read(shape: Shape, value: object, given: Mapping[str, Given] | None = None) -> object:
    """Checks a value from a browser and returns it, with lists as tuples.

    given: name in the shape -> its value. Raises UnfitMessage if the value does not have the shape.

    >>> read({"row": Place("rows"), "text": Text(3)}, {"row": 1, "text": "abc"}, {"rows": 2})
    {'row': 1, 'text': 'abc'}
    >>> read((Whole(), AnyOf((None, Flag()))), [3, None])
    (3, None)
    >>> read(Place("rows"), 1, {"rows": 2})
    1
    """
    match shape:
        case dict() if isinstance(value, dict) and value.keys() <= shape.keys():
            return read_fields(shape, value, given)
        case tuple() if isinstance(value, list | tuple) and len(value) == len(shape):
            return tuple(read(each, part, given) for each, part in zip(shape, value, strict=True))
        case ListOf() if isinstance(value, list | tuple) and len(value) <= shape.most:
            return read_items(shape, value, given)
        case AnyOf():
            return read_first(shape.shapes, value, given)
        case _ if is_of_shape(shape, value, given):
            return value
    raise UnfitMessage(shape)


def read_fields(fields: dict[str, Shape], value: dict, given: Mapping[str, Given] | None) -> dict[str, object]:
    """Checks and returns the fields of an object. Raises UnfitMessage if a field is missing or does not fit."""
    found = {}
    for name, shape in fields.items():
        if not isinstance(shape, Maybe):
            found[name] = read(shape, value.get(name, MISSING), given)
        elif name in value:
            found[name] = read(shape.shape, value[name], given)
    return found


def read_items(shape: ListOf, values: list | tuple, given: Mapping[str, Given] | None) -> tuple:
    """Checks and returns the values of a list. Raises UnfitMessage for an unfit value, unless the shape drops it."""
    found = []
    for value in values:
        try:
            found.append(read(shape.shape, value, given))
        except UnfitMessage:
            if not shape.leaves_out:
                raise
    return tuple(found)


def read_first(shapes: tuple[Shape, ...], value: object, given: Mapping[str, Given] | None) -> object:
    """Checks a value against several shapes, and returns it as the first fitting shape reads it.

    Raises UnfitMessage if no shape fits.
    """
    for shape in shapes:
        try:
            return read(shape, value, given)
        except UnfitMessage:
            continue
    raise UnfitMessage(shapes)


def is_of_shape(shape: Shape, value: object, given: Mapping[str, Given] | None) -> bool:
    """Returns whether a single value (not a list or an object) has a shape."""
    match shape:
        case None:
            return value is None
        case Anything():
            return value is not MISSING
        case Flag():
            return type(value) is bool
        case Whole(least, most):
            return type(value) is int and resolve(least, given) <= value <= resolve(most, given)
        case Place(count):
            return type(value) is int and 0 <= value < resolve(count, given)
        case Number(least, most):
            return type(value) in (int, float) and resolve(least, given) <= value <= resolve(most, given)
        case Text(most):
            return type(value) is str and len(value) <= most
        case OneOf(values):
            return any(type(value) is type(each) and value == each for each in resolve(values, given))
    return False


def resolve(limit: object, given: Mapping[str, Given] | None) -> object:
    """Returns the value of a shape's limit, such as a maximum; for a limit that is a name, the value that the page has
    provided.

    Raises UnfitMessage if the page provided no value.
    """
    if not isinstance(limit, str):
        return limit
    if given is None or limit not in given:
        raise UnfitMessage(limit)
    found = given[limit]
    return found() if callable(found) else found


def list_names(shape: Shape) -> set[str]:
    """Returns the names in a shape, for which the page must provide values.

    >>> sorted(list_names({"row": Place("rows"), "texts": ListOf(OneOf("texts"), 3), "to": OneOf(("up", "down"))}))
    ['rows', 'texts']
    """
    match shape:
        case dict():
            parts = shape.values()
        case tuple():
            parts = shape
        case OneOf(values) | Place(values):
            return {values} if isinstance(values, str) else set()
        case Whole(least, most) | Number(least, most):
            return {limit for limit in (least, most) if isinstance(limit, str)}
        case ListOf(part) | Maybe(part):
            return list_names(part)
        case AnyOf(shapes):
            return list_names(shapes)
        case _:
            return set()
    return set().union(*map(list_names, parts))
