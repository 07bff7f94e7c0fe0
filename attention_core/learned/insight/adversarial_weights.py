"""Adversarial attention weights: of all weights far from the learned weights, those that move the prediction least.

Jain, Wallace 2019, section 4.2.2, do the reverse: they search for the farthest weights that move the prediction by no
more than a bound.
"""

from collections.abc import Iterator

import torch
from jaxtyping import Float, Int
from torch import Generator, Tensor

from attention_core.comparison.distances import total_variation
from attention_core.learned.insight.prediction_shift import (
    LearnedPrediction,
    distance_of_weights,
    predict_with_weights,
    shift_under_weights,
)
from attention_core.learned.symbols.alphabet import PAD

ADVERSARIAL_DISTANCE_SHARE = 0.9  # least distance of adversarial weights / the farthest possible distance for a text
SEARCH_STARTS, SEARCH_STEPS, SEARCH_RATE, SEARCH_PRESSURE = 3, 80, 0.3, 10.0  # settings of the search by gradients
DISTANCE_TOLERANCE_NATS = 1e-3  # by which a distance may be below its bound


def adversarial_weights(learned: LearnedPrediction, generator: Generator) -> Float[Tensor, "B H 1 S"]:
    """Find weights nearly as far from the learned weights as possible that move each text's prediction least.

    Candidates: all weight on one place, and the results of searches by gradients. Candidates too near do not count.
    """
    farthest = farthest_possible_distance(learned.weights, learned.texts)
    far = ADVERSARIAL_DISTANCE_SHARE * farthest  # (B,)
    best = learned.weights
    least = torch.full_like(far, torch.inf)
    for weights in propose_weights(learned, far, generator):
        found = shift_under_weights(learned, weights)
        is_far = found.distance >= far - DISTANCE_TOLERANCE_NATS
        moves_less = found.shift < least
        is_better = is_far & moves_less  # (B,)
        least = torch.where(is_better, found.shift, least)
        is_taken = is_better[:, None, None, None]  # (B, 1, 1, 1)
        best = torch.where(is_taken, weights, best)
    return best


def propose_weights(
    learned: LearnedPrediction, far: Float[Tensor, " B"], generator: Generator
) -> Iterator[Float[Tensor, "B H 1 S"]]:
    """Yield candidate weights: first all weight on one place, then the results of searches by gradients."""
    yield from one_place_weights(learned.weights, learned.texts)
    yield from search_weights(learned, far, generator)


# ---- all weight on one place -----------------------------------------------------------------------------------------
def farthest_possible_distance(learned: Float[Tensor, "B H 1 S"], texts: Int[Tensor, "B S"]) -> Float[Tensor, " B"]:
    """Compute the largest possible distance of weights from the learned weights.

    The divergence is convex, so the farthest weights are all on the place with the least learned weight.
    """
    farthest = next(one_place_weights(learned, texts))
    return distance_of_weights(learned, farthest)


def one_place_weights(
    learned: Float[Tensor, "B H 1 S"], texts: Int[Tensor, "B S"]
) -> Iterator[Float[Tensor, "B H 1 S"]]:
    """Yield weights that are all on one place: first the place of the least learned weight, then each place in turn.

    Beyond the end of a text, its last place is used.
    """
    is_padding = texts == PAD  # (B, S)
    hidden = is_padding[:, None, None]  # (B, 1, 1, S)
    shown = learned.masked_fill(hidden, 1.0)
    least = shown.argmin(-1, keepdim=True)  # (B, H, 1, 1)
    nothing = torch.zeros_like(learned)
    yield nothing.scatter(-1, least, 1.0)
    lengths = (~hidden).sum(-1, keepdim=True)  # (B, 1, 1, 1)
    last = lengths.expand_as(least) - 1  # (B, H, 1, 1)
    for place in range(texts.shape[1]):
        inside = last.clamp(max=place)
        yield nothing.scatter(-1, inside, 1.0)


# ---- a search by gradients -------------------------------------------------------------------------------------------
def search_weights(
    learned: LearnedPrediction, far: Float[Tensor, " B"], generator: Generator
) -> Float[Tensor, "starts B H 1 S"]:
    """Search, from several random starts at once, for weights at least `far` away that hardly move the prediction."""
    starts = [
        torch.randn(learned.weights.shape, generator=generator, dtype=learned.weights.dtype)
        for _ in range(SEARCH_STARTS)
    ]
    scores = torch.cat(starts).requires_grad_()  # (starts * B, H, 1, S)
    searched = learned.repeat(SEARCH_STARTS)
    least_distance = far.repeat(SEARCH_STARTS)
    optimiser = torch.optim.Adam([scores], SEARCH_RATE)
    for _ in range(SEARCH_STEPS):
        weights = searched.softmax(scores)
        probabilities = predict_with_weights(searched, weights)
        shift = total_variation(searched.probabilities, probabilities)
        distance = distance_of_weights(searched.weights, weights)
        too_near = (least_distance - distance).clamp(min=0)
        losses = shift + SEARCH_PRESSURE * too_near  # (starts * B,)
        optimiser.zero_grad()
        losses.sum().backward()
        optimiser.step()
    found = searched.softmax(scores.detach())
    return found.unflatten(0, (SEARCH_STARTS, -1))
