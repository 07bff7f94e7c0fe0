r"""Measures training with 16-bit numbers, on one small network and each of SCHEMES; mixed_precision.json has the
results.

In training with mixed precision (Micikevicius et al. 2018, section 3) the run and its gradients are float16, the loss
and the master weights float32. Each step rounds the master weights, runs the network, and updates the master weights.
The loss is multiplied by a scale before the gradients are computed, and the gradients are divided by the scale before
the update, so that small gradients are not rounded to 0. `python -m attention_core.learned precision` makes the
measurements.
"""

import statistics
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import torch
from jaxtyping import Float, Int
from torch import Generator, Tensor, nn

from attention_core.learned.measured_table import MeasuredTable
from attention_core.learned.models.classifier import Classifier
from attention_core.learned.tasks import evidence
from attention_core.learned.training.courses import COURSES
from attention_core.learned.training.shipped_networks import load_network

TASK = "lookup"
STEPS, SEEDS = 400, (0, 1, 2)  # training steps and seeds; the learning rate is read from COURSES
EVERY = 20  # training steps between two measurements
LOSS_SCALE = 1024.0
SMALLER = 2.0**-12  # factor on the loss so small that gradients underflow in float16, unless the loss is scaled up
DIGITS = 4  # significant digits of the stored measurements


@dataclass(frozen=True)
class Scheme:
    """A choice of the precisions and factors with which a network is trained.

    dtype: the precision of the run and its gradients. masters: whether master weights stay in float32 between two
    steps; if not, the weights are rounded to `dtype`. scale: the loss scale: the loss is multiplied and the gradients
    are later divided by it. factor: another factor of the loss, which is not divided out and makes all gradients
    smaller.
    """

    dtype: str
    masters: bool = True
    scale: float = 1.0
    factor: float = 1.0


SCHEMES = {
    "float32": Scheme("float32"),
    "scaled": Scheme("float16", scale=LOSS_SCALE),
    "unscaled": Scheme("float16"),
    "alone": Scheme("float16", masters=False, scale=LOSS_SCALE),
    "bfloat16": Scheme("bfloat16"),
    "bfloat16_alone": Scheme("bfloat16", masters=False),
    "small": Scheme("float16", factor=SMALLER),
    "small_scaled": Scheme("float16", scale=LOSS_SCALE / SMALLER, factor=SMALLER),
}


@dataclass(frozen=True)
class SchemeFigures:
    """The measurements of a Scheme: a row for each seed, with one number after every EVERY training steps.

    losses: the loss on held-out texts, in nats, computed in float32. zero: the share of the step's gradients that are
    exactly 0. still: the share of weights that the step did not change. right: for each seed, the share of held-out
    texts that are classified correctly after the last step.
    """

    losses: list[list[float]]
    zero: list[list[float]]
    still: list[list[float]]
    right: list[float]


def last_loss(figures: SchemeFigures) -> float:
    """Return the loss after the last step, the median over the seeds."""
    return statistics.median(losses[-1] for losses in figures.losses)


def late_shares(by_seed: list[list[float]]) -> list[float]:
    """Return, for each seed in ascending order, the mean share over the second half of the training.

    by_seed: for each seed, the shares at each measured step: the rows `zero` or `still` of SchemeFigures.

    >>> late_shares([[0.0, 0.0, 0.5, 0.75], [1.0, 1.0, 0.0, 0.0]])
    [0.0, 0.625]
    """
    return sorted(statistics.fmean(shares[len(shares) // 2 :]) for shares in by_seed)


# ---- training --------------------------------------------------------------------------------------------------------
def surprise(model: Classifier, texts: Int[Tensor, "B S"], classes: Int[Tensor, " B"]) -> Float[Tensor, ""]:
    """Compute the mean cross-entropy of the right class in float32; the logits have the precision of the model."""
    logits = model.trace(texts)["output"]  # (B, 1, classes)
    return nn.functional.cross_entropy(logits[:, 0].float(), classes)


def round_weights(masters: Classifier, rounded: Classifier) -> None:
    """Copy the master weights into another network, and round them to the precision of that network."""
    with torch.no_grad():
        for weight, master in zip(rounded.parameters(), masters.parameters(), strict=True):
            weight.copy_(master)


def train_in_precision(scheme: Scheme, seed: int, steps: int = STEPS) -> tuple[Classifier, list[tuple[float, ...]]]:
    """Train a network by the scheme with Adam (Kingma, Ba 2015), whose state is float32.

    Returns the network, and a tuple after every EVERY steps: (loss, share of gradients that are 0, share of weights
    that the step left unchanged). seed: determines the initial weights and the batches, which are the same for all
    schemes.
    """
    course = COURSES[TASK]
    generator = Generator().manual_seed(seed)
    masters = course.make(generator)
    rounded = deepcopy(masters).to(getattr(torch, scheme.dtype))
    optimiser = torch.optim.Adam(masters.parameters(), course.rate)
    measured = []
    for step in range(1, steps + 1):
        round_weights(masters, rounded)
        gradients = list_gradients(rounded, course.batch(generator), scheme.factor * scheme.scale)
        before = nn.utils.parameters_to_vector(masters.parameters()).detach().clone()
        for master, gradient in zip(masters.parameters(), gradients, strict=True):
            master.grad = gradient.float() / scheme.scale
        optimiser.step()
        if not scheme.masters:
            round_weights(masters, rounded)
            round_weights(rounded, masters)
        if step % EVERY == 0:
            after = nn.utils.parameters_to_vector(masters.parameters()).detach()
            with torch.no_grad():
                loss = keep(surprise(masters, *evidence.held_out(TASK)))
            measured.append((loss, share_of_zeros(gradients), share_of_zeros([after - before])))
    return masters, measured


def list_gradients(model: Classifier, texts: tuple[Tensor, Tensor], scale: float = 1.0) -> list[Tensor]:
    """Compute the gradients of the loss times a scale, one tensor per parameter, in the model's precision."""
    loss = scale * surprise(model, *texts)
    return list(torch.autograd.grad(loss, list(model.parameters())))


def share_of_zeros(tensors: list[Tensor]) -> float:
    """Return the share of numbers that are exactly 0.

    >>> share_of_zeros([torch.tensor([2.0**-24, 2.0**-26]).half(), torch.zeros(2)])
    0.75
    """
    zeros = sum((tensor == 0).sum() for tensor in tensors)
    return keep(zeros / sum(tensor.numel() for tensor in tensors))


def keep(number: Tensor) -> float:
    """Return a number rounded to DIGITS significant digits."""
    return float(f"{number.item():.{DIGITS}g}")


# ---- memory ----------------------------------------------------------------------------------------------------------
def bytes_per_weight(scheme: Scheme) -> int:
    """Return how many bytes training needs per weight: for the weight, its gradient, its master weight, and Adam's two
    numbers.

    >>> [bytes_per_weight(SCHEMES[name]) for name in ("float32", "scaled", "alone")]
    [16, 16, 12]
    """
    rounded = getattr(torch, scheme.dtype).itemsize
    full = torch.float32.itemsize
    has_second_copy = scheme.masters and rounded != full
    return 2 * rounded + has_second_copy * full + 2 * full


def bytes_of_steps(scheme: Scheme) -> int:
    """Return how many bytes of attention steps a forward pass keeps in memory for the backward pass of a batch."""
    trace = load_trained(scheme.dtype).trace(draw_batch()[0])
    return sum(step.value.nbytes for step in trace.computed().values())


def load_trained(dtype: str) -> Classifier:
    """Load, in another precision, the network that was trained in float32 up to the last step.

    dtype: the name of the precision in torch.
    """
    network = load_network(TASK, COURSES[TASK].saved[-1])
    return network.model(getattr(torch, dtype)).requires_grad_(True)


def draw_batch() -> tuple[Tensor, Tensor]:
    """Sample the texts and classes of the batch whose gradients the app shows."""
    return COURSES[TASK].batch(Generator().manual_seed(SEEDS[0]))


@cache
def trained_gradients(dtype: str, scale: float) -> Float[Tensor, " n"]:
    """Compute all gradients of one batch in a given precision, for the network that was trained in float32.

    dtype: the name of the precision in torch. scale: a factor of the loss; the gradients are not divided by it again.

    >>> trained_gradients("float32", 1.0).shape
    torch.Size([1480])
    """
    gradients = list_gradients(load_trained(dtype), draw_batch(), scale)
    return torch.cat([gradient.flatten() for gradient in gradients])


def count_powers(gradients: Float[Tensor, " n"]) -> dict[int, int]:
    """Return {n: number of gradients whose magnitude is at least 2^n and below 2^(n + 1)}; gradients of 0 are omitted.

    >>> count_powers(torch.tensor([0.5, -0.7, 0.0, 3.0]))
    {-1: 2, 1: 1}
    """
    sizes = gradients[gradients != 0].double().abs()
    powers, counts = sizes.log2().floor().int().unique(return_counts=True)
    return dict(zip(powers.tolist(), counts.tolist(), strict=True))


# ---- figures ---------------------------------------------------------------------------------------------------------
def measure_precision(name: str) -> SchemeFigures:
    """Train by a scheme of SCHEMES with each of SEEDS, and return the measurements of all seeds."""
    texts, classes = evidence.held_out(TASK)
    by_seed, right = [], []
    for seed in SEEDS:
        model, measured = train_in_precision(SCHEMES[name], seed)
        by_seed.append([list(each) for each in zip(*measured, strict=True)])
        right.append(keep((model.classify(texts) == classes).double().mean()))
    losses, zero, still = (list(each) for each in zip(*by_seed, strict=True))
    return SchemeFigures(losses, zero, still, right)


PRECISION_FIGURES = MeasuredTable(Path(__file__).with_name("mixed_precision.json"), SchemeFigures, measure_precision)
