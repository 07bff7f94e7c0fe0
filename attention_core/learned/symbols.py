"""Maps the symbols of a text to indices in an alphabet, and decides which texts are held out from training."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from attention_core.record.errors import AttentionError

# ---- the symbols that a network can read or generate; an unknown symbol raises an error ------------------------------
PAD = -1  # index at the empty end of a row in a batch; not the index of a symbol


@dataclass(frozen=True)
class Alphabet:
    """The symbols that a network knows; the index of a symbol is its position in `of`, from 0.

    >>> abc = Alphabet(tuple("abc"))
    >>> abc.numbers("cab")
    [2, 0, 1]
    >>> abc.symbols([2, 0, 1])
    ('c', 'a', 'b')
    """

    of: tuple[str, ...]

    @cached_property
    def places(self) -> dict[str, int]:
        """Return {symbol: its index in the alphabet}."""
        return {symbol: number for number, symbol in enumerate(self.of)}

    def __len__(self) -> int:
        return len(self.of)

    def numbers(self, symbols: Sequence[str]) -> list[int]:
        """Return the indices of symbols in the alphabet.

        Raises AttentionError: never_seen, for a symbol outside the alphabet.
        """
        numbers = []
        for symbol in symbols:
            if symbol not in self.places:
                known = " ".join(self.of)
                raise AttentionError("never_seen", given=symbol, known=known)
            numbers.append(self.places[symbol])
        return numbers

    def symbols(self, numbers: Sequence[int]) -> tuple[str, ...]:
        """Return the symbols at these indices of the alphabet."""
        return tuple(self.of[number] for number in numbers)


# ---- the split: a text's symbols decide, so that no text is on both sides --------------------------------------------
SPLIT_MODULUS, HELD_OUT_REMAINDER = 11, 5  # a text is held out if its sum has this remainder, about one in eleven


def is_held_out(texts: Int[Tensor, "B S"]) -> Bool[Tensor, " B"]:
    r"""Return which texts are held out: those for which $\sum_i (i + 1) (x_i + 1)$ is 5 modulo 11.

    Padding adds nothing to the sum.

    >>> is_held_out(torch.tensor([[4], [3]]))
    tensor([ True, False])
    """
    length = texts.shape[1]
    places = torch.arange(1, length + 1)  # (S,)
    numbers = texts - PAD  # (B, S): indices from 1 on; 0 at padding
    terms = numbers * places
    remainders = terms.sum(-1) % SPLIT_MODULUS  # (B,)
    return remainders == HELD_OUT_REMAINDER


def draw_one_side(draw: Callable[[int], tuple[Tensor, ...]], count: int, measured: bool) -> tuple[Tensor, ...]:
    """Sample texts until `count` of them are held out (or, if wanted, not held out), and return only these.

    draw: a function that samples at least a given number of texts, and returns a tuple of tensors with one row per
    text, first the texts themselves. measured: True for held-out texts, False for training texts.
    """
    batches: list[tuple[Tensor, ...]] = []
    found = 0
    while found < count:
        drawn = draw(count)
        texts = drawn[0]
        is_wanted = is_held_out(texts) == measured
        batches.append(tuple(part[is_wanted] for part in drawn))
        found += int(is_wanted.sum())
    columns = []
    for parts in zip(*batches, strict=True):
        column = torch.cat(parts)
        columns.append(column[:count])
    return tuple(columns)
