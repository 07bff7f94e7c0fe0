"""Whether more heads overfit less: the same small network with 1 to 8 heads, trained on a few texts again and again.

Measured once, by `python -m attention_core.learned overfitting`, and stored in head_overfitting.json in this folder.
"""

import json
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

import torch
from torch import Generator

from attention_core.learned.models.classifier import Classifier
from attention_core.learned.tasks import evidence
from attention_core.learned.tasks.evidence import LabelledTexts
from attention_core.learned.training.courses import COURSES
from attention_core.learned.training.head_stability import DECIMALS, HEAD_COUNTS, SEEDS, TASK, chance_of_difference

OVERFITTING_FILE = Path(__file__).parent / "head_overfitting.json"
TEXT_COUNTS = (32, 64, 128)  # numbers of training texts
OVERFITTING_STEPS = 100


@dataclass(frozen=True)
class OverfittingRow:
    """The results for a number of heads and a number of training texts.

    seen, unseen: the share of right answers of each seed, on the training texts and on held-out texts.
    """

    heads: int
    texts: int
    seen: tuple[float, ...]
    unseen: tuple[float, ...]

    @property
    def gap(self) -> float:
        """The mean share of right answers on training texts minus the mean share on held-out texts.

        >>> OverfittingRow(1, 32, (1.0, 1.0), (0.5, 0.75)).gap
        0.375
        """
        return statistics.fmean(self.seen) - statistics.fmean(self.unseen)


def train_on_few(heads: int, count: int, seed: int, steps: int = OVERFITTING_STEPS) -> tuple[float, float]:
    """Train a network on `count` texts, and return its shares of right answers on these texts and on held-out texts.

    heads: the number of attention heads, on which the size of the matrices does not depend. The seed determines the
    initial weights and the texts, the same for every number of heads.
    """
    course = COURSES[TASK]
    generator = Generator().manual_seed(seed)
    symbols, classes, _ = course.make.args
    model = Classifier(symbols, classes, heads, generator)
    optimiser = torch.optim.Adam(model.parameters(), course.rate)
    seen = evidence.batch(TASK, count, generator)  # the same texts in all steps
    for _ in range(steps):
        loss = model.loss(*seen)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return share_right(model, seen), share_right(model, evidence.held_out(TASK))


def share_right(model: Classifier, labelled: LabelledTexts) -> float:
    """Measure the share of texts that are classified correctly."""
    texts, answers = labelled
    return round((model.classify(texts) == answers).double().mean().item(), DECIMALS)


def chance_that_heads_are_alike(one: Sequence[float], other: Sequence[float]) -> float:
    """Compute the p-value of the sign test, two-sided, for two groups of runs with the same seeds.

    one, other: shares of right answers, in the order of the seeds. Equal shares are omitted.

    >>> chance_that_heads_are_alike((0.5, 0.5, 0.5, 0.5), (0.6, 0.7, 0.8, 0.5))
    0.25
    """
    pairs = list(zip(one, other, strict=True))
    return chance_of_difference([a < b for a, b in pairs], [b < a for a, b in pairs])


def measure_overfitting_again() -> None:
    """Train all networks, and write the results into OVERFITTING_FILE."""
    rows = []
    for heads in HEAD_COUNTS:
        for count in TEXT_COUNTS:
            seen, unseen = zip(*(train_on_few(heads, count, seed) for seed in SEEDS), strict=True)
            rows.append(json.dumps(asdict(OverfittingRow(heads, count, seen, unseen))))
            print(rows[-1], flush=True)
    OVERFITTING_FILE.write_text("[\n" + ",\n".join(rows) + "\n]\n", "utf-8")
    read_overfitting.cache_clear()


@cache
def read_overfitting() -> tuple[OverfittingRow, ...]:
    """Read the results from OVERFITTING_FILE, one row for each number of heads and each number of texts.

    >>> len(read_overfitting())
    12
    """
    rows = []
    for row in json.loads(OVERFITTING_FILE.read_text("utf-8")):
        seen, unseen = tuple(row["seen"]), tuple(row["unseen"])
        rows.append(OverfittingRow(row["heads"], row["texts"], seen, unseen))
    return tuple(rows)
