"""Declarations of a mechanism's parameters, numbers and words; checks, links and controls read them.

A new kind of number is a line in Parameter.check_one.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache

from attention_core.mechanism.plain_checks import (
    require_finite,
    require_list,
    require_not_negative,
    require_one_of,
    require_positive,
    require_whole,
)
from attention_core.record.errors import AttentionError

NEEDED = "needed"  # value of Parameter.usual for a parameter without a default
KEY_COUNT, KEY_PLACE = "key count", "key place"
WHOLE_CHECKS = {None: require_whole, 0: require_not_negative, 1: require_positive}  # least value -> its check


@dataclass(frozen=True)
class Parameter:
    """A parameter of a mechanism: one of `words` if any, a whole number if `is_whole`, else a finite number.

    least: the smallest allowed whole number, 0 or 1; None if only the sizes of a run limit it. Of another number 0 or
    None.
    is_positive: whether a finite number must be above 0.
    several: whether it is a tuple or a list of values.
    usual: the default; None if the run sets it, NEEDED if it must be given.
    start: the initial value on a page when the mechanism is switched on; None if the page leaves it open.
    beside: the parameter without which it has no effect: while that one has its default.
    is_added: whether older links lack it: links omit it if it is the last one and has its default.
    swept: the values of a sweep that shows its effect; of words all.
    moves: its change in a run with only the keys from `first` on: KEY_COUNT, a number of keys from the first one,
        decreases by `first`, to 0 at least; KEY_PLACE, the position of a key, decreases by `first`; "" does not change.

    Raises ValueError for another least value.
    """

    name: str
    least: int | None = None
    is_whole: bool = True
    is_positive: bool = False
    words: tuple[str, ...] = ()
    several: bool = False
    usual: object = NEEDED
    start: object = None
    beside: str = ""
    is_added: bool = False
    swept: tuple[float, ...] = ()
    moves: str = ""

    def __post_init__(self):
        if self.least not in WHOLE_CHECKS:
            raise ValueError(f"the least value of {self.name} must be None, 0 or 1: got {self.least!r}")

    def check(self, given: object) -> object:
        """The given value, checked against the declaration. Raises AttentionError."""
        if given is None and self.usual is None:
            return None
        if not self.several:
            return self.check_one(given)
        return tuple(self.check_one(number) for number in require_list(self.name, given))

    def for_keys_from(self, given: object, first: int) -> object:
        """The given value for a run whose first key is key number `first`.

        >>> Parameter("lengths", several=True, moves=KEY_COUNT).for_keys_from((5, 2), 3)
        (2, 0)
        """
        if given is None or not self.moves:
            return given
        if self.several:
            return tuple(self.moved_key(number, first) for number in given)
        return self.moved_key(given, first)

    def moved_key(self, number: int, first: int) -> int:
        """One number, decreased by `first`; a KEY_COUNT not below 0."""
        moved = number - first
        return max(0, moved) if self.moves == KEY_COUNT else moved

    def check_one(self, given: object) -> object:
        """One number or word, checked."""
        if self.words:
            return require_one_of(self.name, given, self.words)
        if self.is_whole:
            return WHOLE_CHECKS[self.least](self.name, given)
        number = float(require_finite(self.name, given))
        if self.least is not None and number < self.least:
            raise AttentionError("number_not_negative", name=self.name, given=given)
        if self.is_positive and number <= 0:
            raise AttentionError("positive_number", name=self.name, given=given)
        return number


def check_parameters(
    kind: str, given: Mapping[str, object], declared: Iterable[Parameter], others: tuple[str, ...] = ()
) -> dict[str, object]:
    """The parameters of one choice, each checked against its declaration, defaults filled in.

    others: further allowed names, checked elsewhere. Raises AttentionError: unknown_parameter, missing_parameter, and
    those of Parameter.check.

    >>> check_parameters("local", {"window": 2}, [Parameter("window", least=0)])
    {'window': 2}
    """
    declared = tuple(declared)
    check_names(kind, given, (*names_of(declared), *others))
    for parameter in declared:
        if parameter.usual == NEEDED and parameter.name not in given:
            raise AttentionError("missing_parameter", kind=kind, name=parameter.name)
    checked = {}
    for parameter in declared:
        value = given.get(parameter.name, parameter.usual)
        checked[parameter.name] = parameter.check(value)
    return checked


def check_names(kind: str, given: Iterable[str], known: tuple[str, ...]) -> None:
    """Checks that `kind` takes every given parameter."""
    for name in given:
        if name not in known:
            choices = ", ".join(known) or "nothing"
            raise AttentionError("unknown_parameter", kind=kind, choices=choices, given=name)


def names_of(parameters: Iterable[Parameter]) -> tuple[str, ...]:
    """The names of parameters."""
    return tuple(parameter.name for parameter in parameters)


def check_declared(function: Callable, declared: Iterable[str]) -> None:
    """Checks that the declared names are the keyword-only arguments of a torch function. Raises ValueError.

    Else an undeclared parameter would silently have no check, no link and no control.
    """
    check_same_names(function.__name__, sorted(keyword_names(function)), sorted(declared))


def check_operands(function: Callable, declared: Iterable[str]) -> None:
    """Checks that the declared names are a function's positional arguments after the first. Raises ValueError."""
    _, *others = argument_names(function, by_keyword=False)
    check_same_names(function.__name__, others, list(declared))


def check_same_names(who: str, taken: list[str], declared: list[str]) -> None:
    """Checks that both lists are equal. Raises ValueError."""
    if taken != declared:
        raise ValueError(f"{who} takes {', '.join(taken)}: declared are {', '.join(declared)}")


def keyword_names(function: Callable) -> tuple[str, ...]:
    """The keyword-only arguments of a function."""
    return argument_names(function, by_keyword=True)


@cache  # called in every plan with a modifier
def argument_names(function: Callable, by_keyword: bool) -> tuple[str, ...]:
    """The keyword-only arguments of a function, or its other arguments in order."""
    names = []
    for argument in inspect.signature(function).parameters.values():
        if (argument.kind is inspect.Parameter.KEYWORD_ONLY) == by_keyword:
            names.append(argument.name)
    return tuple(names)
