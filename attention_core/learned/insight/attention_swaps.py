"""Measures how a classifier's prediction shifts if other weights replace its attention weights (Jain, Wallace 2019).

The replacements are uniform weights, the learned weights in another order, random weights, and adversarial weights. If
quite different weights give the same prediction, the learned weights do not explain it.
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
from attention_core.learned.symbols import PAD
from attention_core.record.trace import Trace

# ---- the shift under other weights -----------------------------------------------------------------------------------
MIN_LOG_WEIGHT = 1e-30  # least weight in a logarithm, because log 0 is -inf
Z95 = 1.96  # half width of a 95 % confidence interval in standard errors


@dataclass(frozen=True, eq=False)
class PredictionShift:
    """How much a classifier's predictions shift if other weights replace its learned attention weights.

    shift: the total variation distance of each text's prediction from the prediction with
    learned weights, 0 to 1. distance: the divergence
    of the weights from the learned weights, 0 to ln 2 nats. weights: the weights that replace the learned ones.
    """

    shift: Float[Tensor, " B"]
    distance: Float[Tensor, " B"]
    weights: Float[Tensor, "B H 1 S"]

    @property
    def mean(self) -> float:
        """Compute the mean of the shifts of all texts."""
        return self.shift.mean().item()

    @property
    def interval(self) -> tuple[float, float]:
        r"""Compute the 95 % confidence interval of the mean shift: $\bar x \pm 1.96\, s / \sqrt n$, between 0 and 1.

        For a single text the interval is 0 to 1.
        """
        count = len(self.shift)
        if count < 2:
            return 0.0, 1.0
        deviation = self.shift.std().item()
        half = Z95 * deviation / math.sqrt(count)
        low = max(self.mean - half, 0.0)
        high = min(self.mean + half, 1.0)
        return low, high


@dataclass(frozen=True, eq=False)
class LearnedPrediction:
    """A classifier's learned attention weights for some texts, and its class probabilities with these weights."""

    model: Classifier
    texts: Int[Tensor, "B S"]
    weights: Float[Tensor, "B H 1 S"]
    probabilities: Float[Tensor, "B C"]

    @property
    def is_padding(self) -> Tensor:
        """Return a mask (B, 1, 1, S) that is True at the weights of padding."""
        is_padding = self.texts == PAD  # (B, S)
        return is_padding[:, None, None]

    def repeat(self, times: int) -> "LearnedPrediction":
        """Return the predictions for a batch that contains each text `times` times."""
        return LearnedPrediction(
            self.model,
            self.texts.repeat(times, 1),
            self.weights.repeat(times, 1, 1, 1),
            self.probabilities.repeat(times, 1),
        )

    def softmax(self, scores: Float[Tensor, "B H 1 S"]) -> Float[Tensor, "B H 1 S"]:
        """Compute the softmax of scores, with weight 0 for padding."""
        masked = scores.masked_fill(self.is_padding, -torch.inf)
        return masked.softmax(-1)


def predict_class(model: Classifier, texts: Int[Tensor, "B S"]) -> LearnedPrediction:
    """Run a classifier with its learned attention weights, and return its prediction."""
    with torch.no_grad():
        trace = model.trace(texts)
    probabilities = class_probabilities(trace)
    return LearnedPrediction(model, texts, trace["weights"], probabilities)


def predict_with_weights(learned: LearnedPrediction, weights: Float[Tensor, "B H 1 S"]) -> Float[Tensor, "B C"]:
    """Compute the class probabilities with the given attention weights in place of the learned weights."""
    trace = learned.model.trace(learned.texts, replacement=weights)
    return class_probabilities(trace)


def class_probabilities(trace: Trace) -> Float[Tensor, "B C"]:
    """Compute the probability of each class from the logits of a run."""
    logits = trace["output"]  # (B, 1, C)
    return logits[:, 0].softmax(-1)


def shift_under_weights(learned: LearnedPrediction, weights: Float[Tensor, "B H 1 S"]) -> PredictionShift:
    """Measure how much the prediction for each text shifts if `weights` replace the learned weights."""
    with torch.no_grad():
        probabilities = predict_with_weights(learned, weights)
    shift = total_variation(learned.probabilities, probabilities)
    distance = distance_of_weights(learned.weights, weights)
    return PredictionShift(shift, distance, weights)


# ---- distance of weights ---------------------------------------------------------------------------------------------
def distance_of_weights(one: Float[Tensor, "B H 1 S"], other: Float[Tensor, "B H 1 S"]) -> Float[Tensor, " B"]:
    """Compute the Jensen-Shannon divergence of two sets of weights, in nats, averaged over the heads."""
    return jensen_shannon_divergence(one, other).mean((1, 2))  # (B, H, 1) -> (B,)


def jensen_shannon_divergence(p: Float[Tensor, "... S"], q: Float[Tensor, "... S"]) -> Float[Tensor, "..."]:
    r"""Compute the mean of $\sum p \ln (p / m)$ and $\sum q \ln (q / m)$ with $m = (p + q) / 2$, in nats.

    >>> jensen_shannon_divergence(torch.tensor([1.0, 0.0]), torch.tensor([0.0, 1.0])) # ln 2
    tensor(0.6931)
    """
    m = (p + q) / 2
    return (relative_entropy(p, m) + relative_entropy(q, m)) / 2


def relative_entropy(p: Tensor, m: Tensor) -> Tensor:
    r"""Compute $\sum p \ln (p / m)$, with 0 ln 0 = 0."""
    ratio = p.clamp(min=MIN_LOG_WEIGHT) / m.clamp(min=MIN_LOG_WEIGHT)
    return (p * ratio.log()).sum(-1)


# ---- adversarial weights: of all weights far from the learned weights, those that move the prediction least ----------
ADVERSARIAL_DISTANCE_SHARE = 0.9  # required share of the largest possible distance
SEARCH_STARTS, SEARCH_STEPS, SEARCH_RATE, SEARCH_PRESSURE = 3, 80, 0.3, 10.0  # of the gradient search
DISTANCE_TOLERANCE_NATS = 1e-3  # adversarial weights may be nearer by this


def adversarial_weights(learned: LearnedPrediction, generator: Generator) -> Float[Tensor, "B H 1 S"]:
    """Find weights that shift each text's prediction least, among those nearly as far from the learned weights as
    possible.

    Candidates are all weight on one position, and the results of searches by gradients. Candidates that are too near to
    the learned weights do not count.
    Jain, Wallace 2019, section 4.2.2, do the reverse: they search for the farthest weights that move the prediction by
    no more than a bound.
    """
    farthest = farthest_possible_distance(learned.weights, learned.texts)
    far = ADVERSARIAL_DISTANCE_SHARE * farthest  # (B,)
    best = learned.weights
    least = torch.full_like(far, torch.inf)
    candidates = chain(one_place_weights(learned.weights, learned.texts), search_weights(learned, far, generator))
    for weights in candidates:
        found = shift_under_weights(learned, weights)
        is_far = found.distance >= far - DISTANCE_TOLERANCE_NATS
        moves_less = found.shift < least
        is_better = is_far & moves_less  # (B,)
        least = torch.where(is_better, found.shift, least)
        is_taken = is_better[:, None, None, None]  # (B, 1, 1, 1): the texts whose new candidate is better
        best = torch.where(is_taken, weights, best)
    return best


# ---- all weight on one place -----------------------------------------------------------------------------------------
def farthest_possible_distance(learned: Float[Tensor, "B H 1 S"], texts: Int[Tensor, "B S"]) -> Float[Tensor, " B"]:
    """Compute the largest possible distance between the learned weights and any other weights.

    The divergence is convex, so the farthest weights are all on the position with the least learned weight.
    """
    farthest = next(one_place_weights(learned, texts))
    return distance_of_weights(learned, farthest)


def one_place_weights(
    learned: Float[Tensor, "B H 1 S"], texts: Int[Tensor, "B S"]
) -> Iterator[Float[Tensor, "B H 1 S"]]:
    """Yield weights that are all on one position: first where the learned weight is least, then each position.

    For positions beyond the end of a text, its last position is used.
    """
    is_padding = texts == PAD  # (B, S)
    hidden = is_padding[:, None, None]  # (B, 1, 1, S): True at padding
    shown = learned.masked_fill(hidden, 1.0)
    least = shown.argmin(-1, keepdim=True)  # (B, H, 1, 1): the position of the least learned weight
    nothing = torch.zeros_like(learned)
    yield nothing.scatter(-1, least, 1.0)
    lengths = (~hidden).sum(-1, keepdim=True)  # (B, 1, 1, 1)
    last = lengths.expand_as(least) - 1  # (B, H, 1, 1): the last position of each text
    for place in range(texts.shape[1]):
        inside = last.clamp(max=place)
        yield nothing.scatter(-1, inside, 1.0)


# ---- a search by gradients -------------------------------------------------------------------------------------------
def search_weights(
    learned: LearnedPrediction, far: Float[Tensor, " B"], generator: Generator
) -> Float[Tensor, "starts B H 1 S"]:
    """Search by gradient steps from random starts for weights at least `far` away that hardly shift the prediction."""
    starts = [
        torch.randn(learned.weights.shape, generator=generator, dtype=learned.weights.dtype)
        for _ in range(SEARCH_STARTS)
    ]
    scores = torch.cat(starts).requires_grad_()  # (starts * B, H, 1, S): all starts in one batch
    searched = learned.repeat(SEARCH_STARTS)
    least_distance = far.repeat(SEARCH_STARTS)
    optimiser = torch.optim.Adam([scores], SEARCH_RATE)
    for _ in range(SEARCH_STEPS):
        weights = searched.softmax(scores)
        probabilities = predict_with_weights(searched, weights)
        shift = total_variation(searched.probabilities, probabilities)
        distance = distance_of_weights(searched.weights, weights)
        too_near = (least_distance - distance).clamp(min=0)
        losses = shift + SEARCH_PRESSURE * too_near  # (starts * B,): what the search minimises
        optimiser.zero_grad()
        losses.sum().backward()
        optimiser.step()
    found = searched.softmax(scores.detach())
    return found.unflatten(0, (SEARCH_STARTS, -1))


# ---- the replacements ------------------------------------------------------------------------------------------------
SWAP_KINDS = ("uniform", "permuted", "random", "adversarial")
PERMUTATION_COUNT = 25  # number of random orders, whose median shift is reported
MIN_MOVED_SHARE = 0.1  # a mean shift (total variation distance) up to this counts as no shift


def measure_shift(model: Classifier, texts: Int[Tensor, "B S"], kind: str, seed: int = 0) -> PredictionShift:
    """Measure how far each text's prediction shifts under replaced weights of one of SWAP_KINDS.

    seed: the seed of random weights, random orders, and the starts of searches.

    Source: Jain, Wallace 2019, sections 4.2.1 (permuted: the median of many orders) and 4.2.2 (adversarial).
    """
    learned = predict_class(model, texts)
    generator = Generator().manual_seed(seed)
    if kind == "permuted":
        return permuted_shift(learned, generator)
    if kind == "random":
        weights = random_weights(learned, generator)
    elif kind == "uniform":
        weights = uniform_weights(learned)
    else:
        weights = adversarial_weights(learned, generator)
    return shift_under_weights(learned, weights)


def moving_kinds(shifts: Mapping[str, PredictionShift]) -> tuple[str, ...]:
    """Return the kinds of replaced weights whose mean shift is above MIN_MOVED_SHARE."""
    return tuple(name for name, shift in shifts.items() if shift.mean > MIN_MOVED_SHARE)


# ---- uniform and random weights --------------------------------------------------------------------------------------
def uniform_weights(learned: LearnedPrediction) -> Float[Tensor, "B H 1 S"]:
    """Return uniform weights over all symbols of a text; padding has no weight."""
    is_symbol = ~learned.is_padding  # (B, 1, 1, S)
    ones = is_symbol.to(learned.weights.dtype)
    lengths = ones.sum(-1, keepdim=True)
    even = ones / lengths
    return even.expand_as(learned.weights)


def random_weights(learned: LearnedPrediction, generator: Generator) -> Float[Tensor, "B H 1 S"]:
    """Sample weights uniformly from the simplex."""
    uniform = torch.rand(
        learned.weights.shape,
        generator=generator,
        dtype=learned.weights.dtype,
    )
    uniform = uniform.clamp(min=MIN_LOG_WEIGHT)
    exponential = -uniform.log()
    exponential = exponential.masked_fill(learned.is_padding, 0.0)
    totals = exponential.sum(-1, keepdim=True)
    return exponential / totals


# ---- the learned weights in another order ----------------------------------------------------------------------------
def permuted_shift(learned: LearnedPrediction, generator: Generator) -> PredictionShift:
    """Measure the median shift of each text's prediction over many random orders of its weights.

    The `weights` of the result are in an order that has this median shift.
    """
    found = []
    for _ in range(PERMUTATION_COUNT):
        weights = permute_weights(learned, generator)
        found.append(shift_under_weights(learned, weights))
    shifts = torch.stack([each.shift for each in found])  # (orders, B)
    median_shift, median_order = shifts.median(0)  # (orders, B) -> (B,)
    distances = []
    weights = []
    for text, order in enumerate(median_order):
        distances.append(found[order].distance[text])
        weights.append(found[order].weights[text])
    return PredictionShift(
        shift=median_shift,
        distance=torch.stack(distances),
        weights=torch.stack(weights),
    )


def permute_weights(learned: LearnedPrediction, generator: Generator) -> Float[Tensor, "B H 1 S"]:
    """Put the learned weights of each text into a random order, the same for all heads; padding stays at the end."""
    keys = torch.rand(learned.texts.shape, generator=generator)  # (B, S)
    keys = keys[:, None, None]  # (B, 1, 1, S)
    keys = keys.masked_fill(learned.is_padding, 2.0)  # padding stays last, in its order
    order = keys.argsort(dim=-1, stable=True)
    order = order.expand_as(learned.weights)  # (B, H, 1, S)
    return learned.weights.gather(-1, order)
