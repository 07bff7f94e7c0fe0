"""What a mask or a position takes besides tensors, declared beside it: checks, links and controls read the declaration.

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

NEEDED = "needed"  # in the place of what a parameter usually is: it must be given
KEY_COUNT, KEY_PLACE = "key count", "key place"
WHOLE_CHECKS = {None: require_whole, 0: require_not_negative, 1: require_positive}  # by the least value


@dataclass(frozen=True)
class Parameter:
    """A whole number that a mechanism takes, where `is_whole`; one of some `words`; or else a finite number.

    least: of a whole number 0 or 1, below which none may be; None where only the sizes of a run say what fits. Of
    another number 0 or None.
    is_positive: whether a finite number must lie above 0.
    several: a tuple or a list of them.
    usual: what it is where none is given; None where the run says what it is, and NEEDED where one must be given.
    start: what a page begins with where the mechanism is switched on; None where it leaves it open.
    beside: the parameter without which it does nothing, where that one is what it usually is.
    is_added: whether links were written before it was there: one behind all others that is what it usually is stands
    in none.
    swept: the values that show what it does, one after the other; of words all.
    moves: how it follows a run that sees only the keys from `first` on: KEY_COUNT, a number of keys from the first one,
        shrinks by `first` to 0 at the least; KEY_PLACE, the number of a key, falls by `first`; "" stays as it is.

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
        """What was given, if it is what was declared. Raises AttentionError."""
        if given is None and self.usual is None:
            return None
        if not self.several:
            return self.check_one(given)
        return tuple(self.check_one(number) for number in require_list(self.name, given))

    def for_keys_from(self, given: object, first: int) -> object:
        """What was given, as it reads where key number `first` is the first one.

        >>> Parameter("lengths", several=True, moves=KEY_COUNT).for_keys_from((5, 2), 3)
        (2, 0)
        """
        if given is None or not self.moves:
            return given
        if self.several:
            return tuple(self.moved_key(number, first) for number in given)
        return self.moved_key(given, first)

    def moved_key(self, number: int, first: int) -> int:
        """One number, moved."""
        moved = number - first
        return max(0, moved) if self.moves == KEY_COUNT else moved

    def check_one(self, given: object) -> object:
        """One number, or one word."""
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
    """The parameters of one choice, each as it was declared; what was not given is what it usually is.

    others: names that may be given, too, and are checked elsewhere. Raises AttentionError: unknown_parameter,
    missing_parameter, and what a parameter refuses.

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
    """Refuses a parameter that `kind` does not take."""
    for name in given:
        if name not in known:
            choices = ", ".join(known) or "nothing"
            raise AttentionError("unknown_parameter", kind=kind, choices=choices, given=name)


def names_of(parameters: Iterable[Parameter]) -> tuple[str, ...]:
    """The names of parameters."""
    return tuple(parameter.name for parameter in parameters)


def check_declared(function: Callable, declared: Iterable[str]) -> None:
    """Refuses a declaration that does not name what a torch function takes by keyword. Raises ValueError.

    Without it a parameter that nobody declared would have no check, no link and no control, and nothing would say so.
    """
    check_same_names(function.__name__, sorted(keyword_names(function)), sorted(declared))


def check_operands(function: Callable, declared: Iterable[str]) -> None:
    """The same for the tensors that it takes, in their order: the first is that of its place, by any name."""
    _, *others = argument_names(function, by_keyword=False)
    check_same_names(function.__name__, others, list(declared))


def check_same_names(who: str, taken: list[str], declared: list[str]) -> None:
    """Both lists are one. Raises ValueError."""
    if taken != declared:
        raise ValueError(f"{who} takes {', '.join(taken)}: declared are {', '.join(declared)}")


def keyword_names(function: Callable) -> tuple[str, ...]:
    """The arguments that a function takes by keyword alone."""
    return argument_names(function, by_keyword=True)


@cache  # every plan of a modifier asks
def argument_names(function: Callable, by_keyword: bool) -> tuple[str, ...]:
    """The arguments that a function takes by keyword alone, or those that it takes in their order."""
    names = []
    for argument in inspect.signature(function).parameters.values():
        if (argument.kind is inspect.Parameter.KEYWORD_ONLY) == by_keyword:
            names.append(argument.name)
    return tuple(names)
