"""The shift of a classifier's prediction if its attention weights are replaced by others (Jain, Wallace 2019).

The replacements are uniform weights, the learned weights in another order, random weights, and adversarial weights. If
other weights give the same prediction, the learned weights alone explain nothing.
"""

from collections.abc import Mapping

import torch
from jaxtyping import Float, Int
from torch import Generator, Tensor

from attention_core.learned.insight.adversarial_weights import adversarial_weights
from attention_core.learned.insight.prediction_shift import (
    MIN_LOG_WEIGHT,
    LearnedPrediction,
    PredictionShift,
    predict_class,
    shift_under_weights,
)
from attention_core.learned.models.classifier import Classifier

SWAP_KINDS = ("uniform", "permuted", "random", "adversarial")
PERMUTATION_COUNT = 25  # random orders of the weights, whose median shift is reported
MIN_MOVED_SHARE = 0.1  # total variation: a mean shift of at most this does not count


def measure_shift(model: Classifier, texts: Int[Tensor, "B S"], kind: str, seed: int = 0) -> PredictionShift:
    """Measure the shift of each text's prediction under weights of one of SWAP_KINDS.

    seed: for random weights, random orders, and the starts of searches.

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
    """Return the names of the shifts whose mean is above MIN_MOVED_SHARE."""
    return tuple(name for name, shift in shifts.items() if shift.mean > MIN_MOVED_SHARE)


# ---- uniform and random weights --------------------------------------------------------------------------------------
def uniform_weights(learned: LearnedPrediction) -> Float[Tensor, "B H 1 S"]:
    """Return the same weight for all symbols of a text."""
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
    """Measure the median shift of each text over many orders, with the weights of an order that has this median."""
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
    keys = keys.masked_fill(learned.is_padding, 2.0)  # padding comes last, in its order
    order = keys.argsort(dim=-1, stable=True)
    order = order.expand_as(learned.weights)  # (B, H, 1, S)
    return learned.weights.gather(-1, order)
