"""Random numbers for the grammar, from a generator of torch."""

import torch
from torch import Generator

DRAWN_AT_ONCE = 4096


class DrawnNumbers:
    """Random numbers from 0 to 1, sampled in blocks and returned one by one.

    >>> one, same = (DrawnNumbers(Generator().manual_seed(3)) for _ in range(2))
    >>> [one.random() for _ in range(5)] == [same.random() for _ in range(5)]
    True
    """

    def __init__(self, generator: Generator):
        self.generator = generator
        self.left: list[float] = []

    @classmethod
    def drawn_from(cls, generator: Generator) -> "DrawnNumbers":
        """Random numbers with a separate seed, which is sampled from a generator."""
        seed = torch.randint(2**62, (1,), generator=generator)
        return cls(Generator().manual_seed(seed.item()))

    def random(self) -> float:
        """The next number, at least 0 and below 1."""
        if not self.left:
            drawn = torch.rand(DRAWN_AT_ONCE, generator=self.generator, dtype=torch.float64)
            self.left = drawn.tolist()
        return self.left.pop()
