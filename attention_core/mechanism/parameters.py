"""Declares parameters of mechanisms; checks, links and controls of the app are made from these declarations.

A new kind of parameter needs one line in Parameter.check_one.
"""

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Protocol

from attention_core.mechanism.plain_checks import (
    require_finite,
    require_list,
    require_not_negative,
    require_one_of,
    require_positive,
    require_whole,
)
from attention_core.record.errors import AttentionError

NEEDED = "needed"  # marks a parameter without a default, which must be given
KEY_COUNT, KEY_PLACE = "key count", "key place"
WHOLE_CHECKS = {None: require_whole, 0: require_not_negative, 1: require_positive}  # smallest value -> its check


@dataclass(frozen=True)
class Parameter:
    """The declaration of a mechanism's parameter: its name, its allowed values and its default.

    The parameter is one of `words` if there are any, a whole number if `is_whole`, else a finite number. least: the
    smallest allowed number. For a whole number it is 0 or 1, or None if only the sizes of a run limit the number. For
    any other number it is 0, or None if the number is not limited. is_positive: whether a finite number must be above
    0. several: whether the parameter is a tuple or a list of values.

    usual: the default; None if the run determines it, NEEDED if it must be given. start: the value in the app when a
    visitor chooses the mechanism, and in a link that names the mechanism without numbers; None for the default. beside:
    the name of another parameter; this one has an effect only if that one differs from its default. is_added: whether
    the parameter is newer than its mechanism, so that older links lack it; such parameters are declared last, have a
    default, and are omitted from links at their default. swept: the values that a sweep of the parameter tries; for
    words, all of them. moves: how a value changes in a run with only the keys from `first` on, numbered from 0
    (blockwise attention, a cache with a window). KEY_COUNT, a count of keys from the first one, decreases by `first`,
    to 0 at least; KEY_PLACE, the position of a key, decreases by `first`, also below 0; with "" the value does not
    change.

    Raises ValueError if `least` is not None, 0 or 1.
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
        """Return a given value if the declaration allows it, else raise AttentionError; several values are returned as
        a tuple.
        """
        if given is None and self.usual is None:
            return None
        if not self.several:
            return self.check_one(given)
        return tuple(self.check_one(number) for number in require_list(self.name, given))

    def for_keys_from(self, given: object, first: int) -> object:
        """Return a given value, adapted to a run that omits the first `first` keys of the full run.

        >>> Parameter("lengths", several=True, moves=KEY_COUNT).for_keys_from((5, 2), 3)
        (2, 0)
        """
        if given is None or not self.moves:
            return given
        if self.several:
            return tuple(self.moved_key(number, first) for number in given)
        return self.moved_key(given, first)

    def moved_key(self, number: int, first: int) -> int:
        """Return a count or position of keys, decreased by the `first` omitted keys; a KEY_COUNT is not decreased below
        0.
        """
        moved = number - first
        return max(0, moved) if self.moves == KEY_COUNT else moved

    def check_one(self, given: object) -> object:
        """Return one number or word if the declaration allows it, else raise AttentionError."""
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
    """Check the parameters of one choice against their declarations, and return them with defaults filled in.

    kind: the name of the choice, for errors. others: further allowed names, checked elsewhere. Raises AttentionError:
    unknown_parameter, missing_parameter, and those of Parameter.check.

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
        with refuse_for(kind):
            checked[parameter.name] = parameter.check(value)
    return checked


@contextmanager
def refuse_for(owner: str) -> Iterator[None]:
    """Context manager that adds `owner`, a mechanism's name, to the values of an AttentionError about a parameter.

    With this name, a page finds its own name for the parameter.
    """
    try:
        yield
    except AttentionError as refusal:
        raise AttentionError(refusal.code, **refusal.values, owner=owner) from None


def check_names(kind: str, given: Iterable[str], known: tuple[str, ...]) -> None:
    """Raise AttentionError if a given parameter is not among the known ones.

    kind: the name of the choice, for the error.
    """
    for name in given:
        if name not in known:
            choices = ", ".join(known) or "nothing"
            raise AttentionError("unknown_parameter", kind=kind, choices=choices, given=name)


class Named(Protocol):
    """Protocol of a declaration that has a name, such as Parameter and LearnedTensor."""

    @property
    def name(self) -> str: ...


def names_of(parameters: Iterable[Named]) -> tuple[str, ...]:
    """Return the names of declared parameters or learned tensors."""
    return tuple(parameter.name for parameter in parameters)


def check_declared(function: Callable, declared: Iterable[str]) -> None:
    """Check that the declared parameter names are the keyword-only arguments of a torch function; else raise
    ValueError.

    A parameter that is not declared would have no check, no link and no control.
    """
    check_same_names(function.__name__, sorted(keyword_names(function)), sorted(declared))


def check_operands(function: Callable, declared: Iterable[str]) -> None:
    """Check that the declared operand names are a function's positional arguments after the first; else raise
    ValueError.
    """
    _, *others = argument_names(function, by_keyword=False)
    check_same_names(function.__name__, others, list(declared))


def check_same_names(who: str, taken: list[str], declared: list[str]) -> None:
    """Raise ValueError if the names that a function takes differ from the declared names.

    who: the function, for the error.
    """
    if taken != declared:
        raise ValueError(f"{who} takes {', '.join(taken)}: declared are {', '.join(declared)}")


def keyword_names(function: Callable) -> tuple[str, ...]:
    """Return the names of a function's keyword-only arguments."""
    return argument_names(function, by_keyword=True)


@cache  # cached, because every run with a modifier calls this
def argument_names(function: Callable, by_keyword: bool) -> tuple[str, ...]:
    """Return the names of a function's keyword-only arguments, or of its other arguments in order."""
    names = []
    for argument in inspect.signature(function).parameters.values():
        if (argument.kind is inspect.Parameter.KEYWORD_ONLY) == by_keyword:
            names.append(argument.name)
    return tuple(names)
