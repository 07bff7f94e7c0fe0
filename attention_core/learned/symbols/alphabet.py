"""The symbols that a network can read or generate, as numbers; an unknown symbol raises an error."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from attention_core.record.errors import AttentionError

PAD = -1  # padding of shorter rows; no symbol has this number


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
        """Symbol -> its number."""
        return {symbol: number for number, symbol in enumerate(self.of)}

    def __len__(self) -> int:
        return len(self.of)

    def numbers(self, symbols: Sequence[str]) -> list[int]:
        """Return the numbers of symbols. Raises AttentionError: never_seen, for a symbol outside the alphabet."""
        numbers = []
        for symbol in symbols:
            if symbol not in self.places:
                known = " ".join(self.of)
                raise AttentionError("never_seen", given=symbol, known=known)
            numbers.append(self.places[symbol])
        return numbers

    def symbols(self, numbers: Sequence[int]) -> tuple[str, ...]:
        """Return the symbols of numbers."""
        return tuple(self.of[number] for number in numbers)
