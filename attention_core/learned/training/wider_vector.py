"""Tests on the reversal of letters whether a network with one context vector needs a wider vector or more training.

Networks with a wider vector and with longer training are measured once, by `python -m attention_core.learned wider`.
The results are stored in wider_vector.json in this folder.
"""

import statistics
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Generator

from attention_core.learned.measured_table import MeasuredTable
from attention_core.learned.training.courses import COURSES

COURSE = COURSES["reversal_one"]
AS_SHIPPED, LONGER, WIDER = TRIALS = ((64, 3000), (64, 6000), (128, 3000))  # (width of the vector, training steps)
FIRST = 20  # first_loss is the mean loss of this many first steps
DIGITS = 6  # decimals of the stored losses


@dataclass(frozen=True)
class WidthRow:
    """The results of a network with a single context vector of a given width, after a given number of training steps.

    first_loss: the mean of the first FIRST losses, in nats. exact: {length of a text: share of texts whose target the
    network generates exactly}.
    """

    width: int
    steps: int
    first_loss: float
    exact: list[float]

    def exact_at(self, length: int) -> float:
        """Return the share of texts of this length whose target the network generates exactly.

        >>> WIDER_VECTOR.rows[AS_SHIPPED].exact_at(15)
        0.0
        """
        return self.exact[COURSE.places.index(length)]


def measure_width(trial: tuple[int, int]) -> WidthRow:
    """Train COURSE's network, which has a single context vector, with seed 0, and return its accuracy as a WidthRow.

    trial: (width of the vector, training steps).
    """
    width, steps = trial
    generator = Generator().manual_seed(0)
    model = COURSE.make(generator, width=width)
    optimiser = torch.optim.Adam(model.parameters(), COURSE.rate)
    losses = []
    for _ in range(steps):
        loss = model.loss(*COURSE.batch(generator))
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    first_loss = round(statistics.fmean(losses[:FIRST]), DIGITS)
    return WidthRow(width, steps, first_loss, list(COURSE.measure(model)))


WIDER_VECTOR = MeasuredTable(
    Path(__file__).with_name("wider_vector.json"), WidthRow, measure_width, fields=("width", "steps")
)
