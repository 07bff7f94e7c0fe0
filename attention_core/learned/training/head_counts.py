"""Measures how the number of heads affects training, on one small network with 1 to 8 heads and several seeds.

The measurements are made once, by `python -m attention_core.learned stability` and `... overfitting`, and stored in
head_stability.json and head_overfitting.json in this folder.
"""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Generator

from attention_core.learned.measured_table import MeasuredTable
from attention_core.learned.models.classifier import Classifier
from attention_core.learned.tasks import evidence
from attention_core.learned.tasks.evidence import LabelledTexts
from attention_core.learned.training.courses import COURSES
from attention_core.record.errors import AttentionError

# ---- whether more heads make training more stable: over seeds and rates ----------------------------------------------
TASK = "lookup"
HEAD_COUNTS = (1, 2, 4, 8)  # numbers of heads; the total width, and so the size of the matrices, is the same
RATES = (0.003, 0.03, 0.3)  # learning rates of Adam: 1/3, 3 and 30 times the course's rate
SEEDS = tuple(range(8))
STEPS = 100
LEARNED = 0.9  # accuracy on held-out texts from which a training counts as successful
DECIMALS = 4


@dataclass(frozen=True)
class StabilityRow:
    """The results of trainings with one number of heads at one learning rate.

    right: for each seed the share of right answers.
    """

    heads: int
    rate: float
    right: list[float]

    @property
    def mean(self) -> float:
        """The mean accuracy over the seeds."""
        return statistics.fmean(self.right)

    @property
    def spread(self) -> float:
        """The standard deviation of the accuracy over the seeds."""
        return statistics.stdev(self.right)

    @property
    def failed(self) -> tuple[bool, ...]:
        """For each seed, whether the accuracy stayed below LEARNED, so that the training failed.

        >>> StabilityRow(1, 0.03, (0.95, 0.5, 0.9)).failed
        (False, True, False)
        """
        return tuple(share < LEARNED for share in self.right)


def train_once(heads: int, rate: float, seed: int, steps: int = STEPS) -> float:
    """Train a network, and return its accuracy on held-out texts; return 0 if the training diverged.

    heads: the number of attention heads; the size of the matrices does not depend on it. seed: determines the initial
    weights and the batches, which are the same for every number of heads.
    """
    course = COURSES[TASK]
    generator = Generator().manual_seed(seed)
    symbols, classes, _ = course.make.args
    model = Classifier(symbols, classes, heads, generator)
    optimiser = torch.optim.Adam(model.parameters(), rate)
    try:
        for _ in range(steps):
            loss = model.loss(*course.batch(generator))
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
        texts, answers = evidence.held_out(TASK)
        return round((model.classify(texts) == answers).double().mean().item(), DECIMALS)
    except AttentionError:  # raised by attention for a number that is not finite
        return 0.0


def chance_of_difference(one: Sequence[bool], other: Sequence[bool]) -> float:
    r"""Compute the two-sided p-value of McNemar's exact test for two groups of runs with the same seeds.

    $2 \sum_{i \le \min(b, c)} \binom{b + c}{i} / 2^{b + c}$, at most 1, if b seeds failed only in the first group and c
    seeds only in the second.

    one, other: whether each run failed, in the order of the seeds. Source: McNemar 1947.

    >>> chance_of_difference((True, True, True, False), (False, False, True, False))
    0.5
    """
    differing = [first for first, second in zip(one, other, strict=True) if first != second]
    only_one = sum(differing)
    rarer = min(only_one, len(differing) - only_one)
    ways = sum(math.comb(len(differing), each) for each in range(rarer + 1))
    return min(1.0, 2 * ways / 2 ** len(differing))


def measure_stability(key: tuple[int, float]) -> StabilityRow:
    """Train a network with each of SEEDS, and return the accuracies as a row. key: (number of heads, learning rate)."""
    heads, rate = key
    return StabilityRow(heads, rate, [train_once(heads, rate, seed) for seed in SEEDS])


STABILITY = MeasuredTable(
    Path(__file__).with_name("head_stability.json"), StabilityRow, measure_stability, fields=("heads", "rate")
)

# ---- whether more heads overfit less: trained on a few texts again and again -----------------------------------------
TEXT_COUNTS = (32, 64, 128)  # numbers of training texts
OVERFITTING_STEPS = 100


@dataclass(frozen=True)
class OverfittingRow:
    """The results of trainings with one number of heads and one number of training texts.

    seen, unseen: for each seed the share of right answers, on the training texts and on held-out texts.
    """

    heads: int
    texts: int
    seen: list[float]
    unseen: list[float]

    @property
    def gap(self) -> float:
        """The overfitting: the mean accuracy on training texts minus the mean accuracy on held-out texts.

        >>> OverfittingRow(1, 32, (1.0, 1.0), (0.5, 0.75)).gap
        0.375
        """
        return statistics.fmean(self.seen) - statistics.fmean(self.unseen)


def train_on_few(heads: int, count: int, seed: int, steps: int = OVERFITTING_STEPS) -> tuple[float, float]:
    """Train a network on `count` texts, and return its accuracy on these texts and its accuracy on held-out texts.

    heads: the number of attention heads; the size of the matrices does not depend on it. seed: determines the initial
    weights and the texts, which are the same for every number of heads.
    """
    course = COURSES[TASK]
    generator = Generator().manual_seed(seed)
    symbols, classes, _ = course.make.args
    model = Classifier(symbols, classes, heads, generator)
    optimiser = torch.optim.Adam(model.parameters(), course.rate)
    seen = evidence.batch(TASK, count, generator)  # sampled once, because every step trains on the same texts
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
    """Compute the p-value of the two-sided sign test for the accuracies of two groups of runs with the same seeds.

    one, other: the accuracy of each run, in the order of the seeds. Seeds with the same accuracy in both groups are
    omitted.

    >>> chance_that_heads_are_alike((0.5, 0.5, 0.5, 0.5), (0.6, 0.7, 0.8, 0.5))
    0.25
    """
    pairs = list(zip(one, other, strict=True))
    return chance_of_difference([a < b for a, b in pairs], [b < a for a, b in pairs])


def measure_overfitting(key: tuple[int, int]) -> OverfittingRow:
    """Train a network with each of SEEDS on few texts, and return the accuracies.

    key: (number of heads, number of training texts).
    """
    heads, count = key
    seen, unseen = zip(*(train_on_few(heads, count, seed) for seed in SEEDS), strict=True)
    return OverfittingRow(heads, count, list(seen), list(unseen))


OVERFITTING = MeasuredTable(
    Path(__file__).with_name("head_overfitting.json"), OverfittingRow, measure_overfitting, fields=("heads", "texts")
)
