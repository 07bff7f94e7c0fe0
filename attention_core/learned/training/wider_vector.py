"""Whether one context vector lacks width or training: letters reversed with a wider vector, and with longer training.

Measured once, by `python -m attention_core.learned wider`, and stored in wider_vector.json in this folder.
"""

import json
import statistics
from collections.abc import Collection
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

import torch
from torch import Generator

from attention_core.learned.training.courses import COURSES

WIDER_FILE = Path(__file__).parent / "wider_vector.json"
COURSE = COURSES["reversal_one"]
AS_SHIPPED, LONGER, WIDER = TRIALS = ((64, 3000), (64, 6000), (128, 3000))  # (width of the vector, training steps)
FIRST = 20  # number of first steps whose mean loss is stored
DIGITS = 6  # decimals of that mean loss


@dataclass(frozen=True)
class WidthRow:
    """The results of a network with one context vector of a width after some steps.

    first_loss: the mean of the first FIRST losses, in nats. exact: by length, the share of texts whose target the
    network generates exactly."""

    width: int
    steps: int
    first_loss: float
    exact: tuple[float, ...]

    def exact_at(self, length: int) -> float:
        """The share of texts of a length whose target the network generates exactly.

        >>> read_wider_vector()[AS_SHIPPED].exact_at(15)
        0.0
        """
        return self.exact[COURSE.places.index(length)]


def train_width(width: int, measured: Collection[int]) -> list[WidthRow]:
    """Train a network with one context vector as in COURSE, with seed 0, and measure it after the `measured` steps."""
    generator = Generator().manual_seed(0)
    model = COURSE.make(generator, width=width)
    optimiser = torch.optim.Adam(model.parameters(), COURSE.rate)
    losses, rows = [], []
    for step in range(1, max(measured) + 1):
        loss = model.loss(*COURSE.batch(generator))
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
        if step in measured:
            first_loss = round(statistics.fmean(losses[:FIRST]), DIGITS)
            rows.append(WidthRow(width, step, first_loss, COURSE.measure(model)))
    return rows


def measure_wider_again() -> None:
    """Train all networks, and write the results into WIDER_FILE."""
    rows = []
    for width in dict(TRIALS):
        rows += train_width(width, [steps for tried, steps in TRIALS if tried == width])
    lines = [json.dumps(asdict(row)) for row in rows]
    WIDER_FILE.write_text("[\n" + ",\n".join(lines) + "\n]\n", "utf-8")
    read_wider_vector.cache_clear()


@cache
def read_wider_vector() -> dict[tuple[int, int], WidthRow]:
    """Read (width, steps) -> results from WIDER_FILE.

    >>> list(read_wider_vector())
    [(64, 3000), (64, 6000), (128, 3000)]
    """
    found = {}
    for row in json.loads(WIDER_FILE.read_text("utf-8")):
        exact = tuple(row["exact"])
        found[row["width"], row["steps"]] = WidthRow(row["width"], row["steps"], row["first_loss"], exact)
    return found
