"""What a classifier's prediction does when its attention weights are exchanged for others (Jain, Wallace 2019).

Even weights; the learned ones in another order; random ones; and adversarial ones: far from the learned ones, and of
those the ones that move the prediction least. Where others do the same, the learned ones alone explain nothing.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain

import torch
from jaxtyping import Float, Int
from torch import Generator, Tensor

from attention_core.comparison.distances import total_variation
from attention_core.learned.models.classifier import Classifier
from attention_core.learned.symbols.alphabet import PAD

SWAP_KINDS = ("uniform", "permuted", "random", "adversarial")
PERMUTATION_COUNT = 25  # in which the weights are put; the median of their shifts counts
ADVERSARIAL_DISTANCE_SHARE = 0.9  # how far adversarial weights must be, as a share of the farthest that a text has
SEARCH_STARTS, SEARCH_STEPS, SEARCH_RATE, SEARCH_PRESSURE = 3, 80, 0.3, 10.0  # of the search for them
DISTANCE_TOLERANCE_NATS = 1e-3  # nats
MIN_LOG_WEIGHT = 1e-30  # a weight whose logarithm is taken
Z95 = 1.96


@dataclass(frozen=True, eq=False)
class PredictionShift:
    """shift: how far each text's prediction moves, 0 to 1. distance: how far the weights did, 0 to ln 2. weights: those
    in the place of the learned ones."""

    shift: Float[Tensor, " B"]
    distance: Float[Tensor, " B"]
    weights: Float[Tensor, "B H 1 S"]

    @property
    def mean(self) -> float:
        """The mean shift of all texts."""
        return self.shift.mean().item()

    @property
    def interval(self) -> tuple[float, float]:
        r"""Where the mean of all such texts lies with 95 %: $\bar x \pm 1.96\, s / \sqrt n$, between 0 and 1; of a
        single text nothing is known."""
        if len(self.shift) < 2:
            return 0.0, 1.0
        half = Z95 * self.shift.std().item() / math.sqrt(len(self.shift))
        return max(self.mean - half, 0.0), min(self.mean + half, 1.0)


def jensen_shannon_divergence(p: Float[Tensor, "... S"], q: Float[Tensor, "... S"]) -> Float[Tensor, "..."]:
    r"""Jensen-Shannon: the mean of $\sum p \ln (p / m)$ and $\sum q \ln (q / m)$ with $m = (p + q) / 2$, in nats.

    >>> jensen_shannon_divergence(torch.tensor([1.0, 0.0]), torch.tensor([0.0, 1.0])) # ln 2
    tensor(0.6931)
    """
    m = (p + q) / 2
    return (relative_entropy(p, m) + relative_entropy(q, m)) / 2


def relative_entropy(p: Tensor, m: Tensor) -> Tensor:
    r"""$\sum p \ln (p / m)$, where 0 ln 0 is 0."""
    return (p * (p.clamp(min=MIN_LOG_WEIGHT) / m.clamp(min=MIN_LOG_WEIGHT)).log()).sum(-1)


def class_probabilities(model: Classifier, texts: Int[Tensor, "B S"], **how) -> Float[Tensor, "B C"]:
    """How probable each class is. how: as Classifier.trace."""
    return model.trace(texts, **how)["output"][:, 0].softmax(-1)


def measure_shift(model: Classifier, texts: Int[Tensor, "B S"], kind: str, seed: int = 0) -> PredictionShift:
    """The shift of each text's prediction under weights of one of KINDS. seed: of orders, and of where a search begins.

    Sources: Jain, Wallace 2019, sections 4.2.1 (permuted: the median of many orders) and 4.2.2, whose question is
    turned round: they look for the farthest weights that move the prediction by no more than a bound.
    """
    with torch.no_grad():
        trace = model.trace(texts)
        learned, before = trace["weights"], trace["output"][:, 0].softmax(-1)
    generator = Generator().manual_seed(seed)
    if kind == "permuted":
        return permuted_shift(model, texts, learned, before, generator)
    if kind == "random":
        drawn = -torch.rand(learned.shape, generator=generator, dtype=learned.dtype).clamp(min=MIN_LOG_WEIGHT).log()
        weights = drawn.masked_fill((texts == PAD)[:, None, None], 0.0)  # any weights alike: the simplex evenly
        weights = weights / weights.sum(-1, keepdim=True)
    elif kind == "uniform":
        there = (texts != PAD)[:, None, None].to(learned.dtype)  # (B, 1, 1, S)
        weights = (there / there.sum(-1, keepdim=True)).expand_as(learned)
    else:
        weights = adversarial_weights(model, texts, learned, before, generator)
    return shift_under_weights(model, texts, learned, before, weights)


def shift_under_weights(
    model: Classifier, texts: Tensor, learned: Tensor, before: Tensor, weights: Tensor
) -> PredictionShift:
    """The shift under these weights."""
    with torch.no_grad():
        after = class_probabilities(model, texts, replacement=weights)
    return PredictionShift(
        total_variation(before, after), jensen_shannon_divergence(learned, weights).mean((1, 2)), weights
    )


def permuted_shift(
    model: Classifier, texts: Tensor, learned: Tensor, before: Tensor, generator: Generator
) -> PredictionShift:
    """The median over many orders, of each text; with the weights of one order that has it."""
    found = []
    for _ in range(PERMUTATION_COUNT):
        drawn = torch.rand(texts.shape, generator=generator).masked_fill(texts == PAD, 2.0)  # padding stays where it is
        order = drawn.argsort(dim=-1, stable=True)[:, None, None].expand_as(learned)  # (B, S) -> (B, H, 1, S)
        found.append(shift_under_weights(model, texts, learned, before, learned.gather(-1, order)))
    shift, which = torch.stack([each.shift for each in found]).median(0)  # (orders, B) -> (B,)
    rows = range(len(texts))
    distance = torch.stack([found[at].distance[row] for row, at in zip(rows, which, strict=True)])
    return PredictionShift(
        shift, distance, torch.stack([found[at].weights[row] for row, at in zip(rows, which, strict=True)])
    )


def adversarial_weights(
    model: Classifier, texts: Tensor, learned: Tensor, before: Tensor, generator: Generator
) -> Float[Tensor, "B H 1 S"]:
    """Weights nearly as far away as any, that move the prediction as little as can be found: all on one place, or where
    a search by gradients ends, which may be neither far nor near."""
    far = ADVERSARIAL_DISTANCE_SHARE * farthest_possible_distance(learned, texts)
    best, least = learned, torch.full((len(texts),), torch.inf, dtype=learned.dtype)
    searches = (search_weights(model, texts, learned, before, far, generator) for _ in range(SEARCH_STARTS))
    for weights in chain(one_place_weights(learned, texts), searches):
        found = shift_under_weights(model, texts, learned, before, weights)
        better = (found.distance >= far - DISTANCE_TOLERANCE_NATS) & (found.shift < least)
        best = torch.where(better[:, None, None, None], weights, best)
        least = torch.where(better, found.shift, least)
    return best


def farthest_possible_distance(learned: Float[Tensor, "B H 1 S"], texts: Int[Tensor, "B S"]) -> Float[Tensor, " B"]:
    """How far other weights can be at most: all on one place, that of the least learned weight, since the divergence is
    convex."""
    return jensen_shannon_divergence(learned, next(one_place_weights(learned, texts))).mean((1, 2))  # (B, H, 1) -> (B,)


def one_place_weights(
    learned: Float[Tensor, "B H 1 S"], texts: Int[Tensor, "B S"]
) -> Iterator[Float[Tensor, "B H 1 S"]]:
    """All weight on one place: first on that of the least learned weight, then on each; behind a text on its last."""
    hidden = (texts == PAD)[:, None, None]  # (B, 1, 1, S)
    last = (~hidden).sum(-1, keepdim=True) - 1  # (B, 1, 1, 1)
    least = learned.masked_fill(hidden, 1.0).argmin(-1, keepdim=True)  # (B, H, 1, 1)
    for place in (least, *(last.clamp(max=at).expand_as(least) for at in range(texts.shape[1]))):
        yield torch.zeros_like(learned).scatter(-1, place, 1.0)


def search_weights(
    model: Classifier, texts: Tensor, learned: Tensor, before: Tensor, far: Float[Tensor, " B"], generator: Generator
) -> Float[Tensor, "B H 1 S"]:
    """One search from a start that is drawn, for weights at least so far away."""
    hidden = (texts == PAD)[:, None, None]  # (B, 1, 1, S)
    scores = torch.randn(learned.shape, generator=generator, dtype=learned.dtype).requires_grad_()
    optimiser = torch.optim.Adam([scores], SEARCH_RATE)
    for _ in range(SEARCH_STEPS):
        weights = scores.masked_fill(hidden, -torch.inf).softmax(-1)
        moved = total_variation(before, class_probabilities(model, texts, replacement=weights))
        short = (far - jensen_shannon_divergence(learned, weights).mean((1, 2))).clamp(min=0)
        optimiser.zero_grad()
        (moved + SEARCH_PRESSURE * short).sum().backward()
        optimiser.step()
    return scores.detach().masked_fill(hidden, -torch.inf).softmax(-1)


MIN_MOVED_SHARE = 0.1  # of all probability: a prediction that moves by less has hardly moved


def moving_kinds(shifts: Mapping[str, PredictionShift]) -> tuple[str, ...]:
    """Those whose predictions move, in the mean."""
    return tuple(name for name, shift in shifts.items() if shift.mean > MIN_MOVED_SHARE)
