"""The symbols that a network knows, and what it is told of a text: numbers. What it has never seen it refuses."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from attention_core.record.errors import AttentionError

PAD = -1  # fills rows up to the longest: no symbol


@dataclass(frozen=True)
class Alphabet:
    """Symbols by their numbers, 0 and up.

    >>> abc = Alphabet(tuple("abc"))
    >>> abc.numbers("cab")
    [2, 0, 1]
    >>> abc.symbols([2, 0, 1])
    ('c', 'a', 'b')
    """

    of: tuple[str, ...]

    @cached_property
    def places(self) -> dict[str, int]:
        """The number of each symbol."""
        return {symbol: number for number, symbol in enumerate(self.of)}

    def __len__(self) -> int:
        return len(self.of)

    def numbers(self, symbols: Sequence[str]) -> list[int]:
        """The numbers of symbols. Raises AttentionError: never_seen, for one that is not among them."""
        unknown = next((symbol for symbol in symbols if symbol not in self.places), None)
        if unknown is not None:
            raise AttentionError("never_seen", given=unknown, known=" ".join(self.of))
        return [self.places[symbol] for symbol in symbols]

    def symbols(self, numbers: Sequence[int]) -> tuple[str, ...]:
        """The symbols of numbers."""
        return tuple(self.of[number] for number in numbers)
