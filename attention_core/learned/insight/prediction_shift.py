"""The shift of a classifier's prediction if other attention weights replace the learned weights."""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from attention_core.comparison.distances import total_variation
from attention_core.learned.models.classifier import Classifier
from attention_core.learned.symbols.alphabet import PAD
from attention_core.record.trace import Trace

MIN_LOG_WEIGHT = 1e-30  # the least weight in a logarithm
Z95 = 1.96  # half of a 95 % confidence interval, in standard errors


@dataclass(frozen=True, eq=False)
class PredictionShift:
    """Predictions under other weights. shift: the total variation of each text's prediction, 0 to 1. distance: of the
    weights from the learned weights, 0 to ln 2. weights: the weights used instead of the learned weights."""

    shift: Float[Tensor, " B"]
    distance: Float[Tensor, " B"]
    weights: Float[Tensor, "B H 1 S"]

    @property
    def mean(self) -> float:
        """Compute the mean shift of all texts."""
        return self.shift.mean().item()

    @property
    def interval(self) -> tuple[float, float]:
        r"""Compute the 95 % confidence interval of the mean shift: $\bar x \pm 1.96\, s / \sqrt n$, between 0 and 1.

        For a single text: 0 to 1.
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
        """Mark the weights of padding, (B, 1, 1, S)."""
        is_padding = self.texts == PAD  # (B, S)
        return is_padding[:, None, None]

    def repeat(self, times: int) -> "LearnedPrediction":
        """Return the prediction for a batch in which all texts are repeated several times."""
        return LearnedPrediction(
            self.model,
            self.texts.repeat(times, 1),
            self.weights.repeat(times, 1, 1, 1),
            self.probabilities.repeat(times, 1),
        )

    def softmax(self, scores: Float[Tensor, "B H 1 S"]) -> Float[Tensor, "B H 1 S"]:
        """Compute weights from scores; padding gets the weight 0."""
        masked = scores.masked_fill(self.is_padding, -torch.inf)
        return masked.softmax(-1)


def predict_class(model: Classifier, texts: Int[Tensor, "B S"]) -> LearnedPrediction:
    """Run a classifier with its learned attention weights, and return its prediction."""
    with torch.no_grad():
        trace = model.trace(texts)
    probabilities = class_probabilities(trace)
    return LearnedPrediction(model, texts, trace["weights"], probabilities)


def predict_with_weights(learned: LearnedPrediction, weights: Float[Tensor, "B H 1 S"]) -> Float[Tensor, "B C"]:
    """Compute the class probabilities with other attention weights instead of the learned weights."""
    trace = learned.model.trace(learned.texts, replacement=weights)
    return class_probabilities(trace)


def class_probabilities(trace: Trace) -> Float[Tensor, "B C"]:
    """Compute the probability of each class from the logits of a run."""
    logits = trace["output"]  # (B, 1, C)
    return logits[:, 0].softmax(-1)


def shift_under_weights(learned: LearnedPrediction, weights: Float[Tensor, "B H 1 S"]) -> PredictionShift:
    """Measure the shift of each text's prediction under other weights."""
    with torch.no_grad():
        probabilities = predict_with_weights(learned, weights)
    shift = total_variation(learned.probabilities, probabilities)
    distance = distance_of_weights(learned.weights, weights)
    return PredictionShift(shift, distance, weights)


# ---- distance of weights ---------------------------------------------------------------------------------------------
def distance_of_weights(one: Float[Tensor, "B H 1 S"], other: Float[Tensor, "B H 1 S"]) -> Float[Tensor, " B"]:
    """Compute the Jensen-Shannon divergence between two sets of weights, in nats, averaged over the heads."""
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
