"""Measures what residual connections and norms do in a deep network; the measurements are stored in figures.json."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from jaxtyping import Float
from torch import Generator, Tensor

from attention_core.learned.depth.deep_copier import DeepCopier
from attention_core.learned.measured_table import MeasuredTable
from attention_core.learned.tasks.repeats import draw_repeated_sequences
from attention_core.record.errors import AttentionError
from attention_core.transformer.stack import UNEMBEDDING

LAYERS, STEPS, SEEDS = 6, 400, (0, 1, 2)  # of the trained networks: number of blocks, training steps, seeds
RATES = (1e-3, 3e-3, 1e-2)  # learning rates of Adam that are tried; each kind of block is measured at its best one
SEQUENCES, HALF = 32, 8  # sequences per training step; symbols in a half (the second half repeats the first)
EVERY = 20  # training steps over which a stored loss is averaged
DEPTHS = (1, 2, 4, 8, 16, 24)  # depths of the untrained networks, in blocks
SCALED_LAYERS = 12  # depth in blocks of the network whose vectors are measured
DIGITS = 4  # significant digits of the stored measurements


@dataclass(frozen=True)
class BlockFigures:
    """The measurements of networks with one kind of block (with or without residuals and norms).

    rate: the best learning rate tried. tried: {learning rate: the last loss in nats, averaged over all seeds}. losses:
    for each seed, the losses at the best rate, each averaged over EVERY steps. The other fields are measured on
    untrained networks. gradients: {number of blocks: the norm of the loss gradient with respect to the first block's
    parameters}. last_word: the gradient norm at the last word's vector divided by that at the first word's vector,
    after the first of LAYERS blocks. sizes: the root mean square of the vectors at the input and after each block.
    alike: the mean cosine between the vectors of two words, at the input and after each block.
    """

    rate: float
    tried: dict[str, float]
    losses: list[list[float]]
    gradients: dict[str, float]
    last_word: float
    sizes: list[float]
    alike: list[float]


def measure_blocks(kind: str) -> BlockFigures:
    """Train and measure networks with one kind of block, a key of BLOCK_KINDS."""
    found = {rate: [train_blocks(kind, rate, seed) for seed in SEEDS] for rate in RATES}
    tried = {rate: mean([losses[-1] for losses in by_seed]) for rate, by_seed in found.items()}
    best = min(RATES, key=tried.get)
    return BlockFigures(
        rate=best,
        tried={str(rate): loss for rate, loss in tried.items()},
        losses=found[best],
        gradients={str(layers): measure_gradient(kind, layers) for layers in DEPTHS},
        last_word=measure_last_word(kind),
        sizes=measure_vectors(kind, SCALED_LAYERS, lambda x: x.square().mean().sqrt()),
        # The measure of Dong, Cordonnier, Loukas 2021, on the first half alone, in which no symbol is repeated.
        alike=measure_vectors(kind, SCALED_LAYERS, lambda x: mean_cosine(x[:, :HALF])),
    )


# ---- training --------------------------------------------------------------------------------------------------------
def train_blocks(kind: str, rate: float, seed: int, steps: int = STEPS) -> list[float]:
    """Train a network of LAYERS blocks with Adam (Kingma, Ba 2015), and return its mean loss over every EVERY steps.

    From the first loss that is not finite on, all losses are infinite.
    """
    generator = Generator().manual_seed(seed)
    model = DeepCopier(kind, LAYERS, generator)
    optimiser = torch.optim.Adam(model.parameters(), rate)
    losses = [math.inf] * steps
    for step in range(steps):
        symbols = draw_repeated_sequences(SEQUENCES, HALF, generator, measured=False)
        try:
            loss = model.loss(model.stack(symbols[:, :-1]), symbols)
        except AttentionError:  # raised by attention for a number that is not finite
            break
        losses[step] = loss.item()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return [mean(losses[first : first + EVERY]) for first in range(0, steps, EVERY)]


# ---- before training -------------------------------------------------------------------------------------------------
def measure_gradient(kind: str, layers: int) -> float:
    """Return the norm of the loss gradient with respect to the first block's parameters, averaged over SEEDS.

    The network is untrained and has `layers` blocks of one kind.
    """
    lengths = []
    for seed in SEEDS:
        model, symbols = draw_untrained(kind, layers, seed)
        model.loss(model.stack(symbols[:, :-1]), symbols).backward()
        squares = [number.grad.square().sum() for number in model.layers[0].parameters()]
        lengths.append(float(torch.stack(squares).sum().sqrt()))
    return mean(lengths)


def measure_last_word(kind: str) -> float:
    """Return the norm of the loss gradient at the last word's vector, divided by that at the first word's, averaged
    over SEEDS.

    The vectors are those after the first of the LAYERS blocks of an untrained network.
    """
    ratios = []
    for seed in SEEDS:
        model, symbols = draw_untrained(kind, LAYERS, seed)
        stack = model.stack(symbols[:, :-1])
        (gradient,) = torch.autograd.grad(model.loss(stack, symbols), stack["2.attention"]["x"])
        lengths = gradient.norm(dim=-1).mean(0)  # (B, T, D) -> (T,)
        ratios.append(float(lengths[-1] / lengths[0]))
    return mean(ratios)


def measure_vectors(kind: str, layers: int, measure: Callable[[Tensor], Tensor]) -> list[float]:
    """Apply a measure to the vectors at the input and after each block of an untrained network, averaged over SEEDS."""
    by_seed = []
    for seed in SEEDS:
        model, symbols = draw_untrained(kind, layers, seed)
        with torch.no_grad():
            stack = model.stack(symbols)
        begins = [f"{layer}.attention" for layer in range(1, layers + 1)]
        vectors = [*(stack[part]["x"] for part in begins), stack[UNEMBEDDING]["x"]]  # block inputs and the last output
        by_seed.append([float(measure(x)) for x in vectors])
    return [mean(each) for each in zip(*by_seed, strict=True)]


def mean_cosine(x: Float[Tensor, "B T D"]) -> Float[Tensor, ""]:
    r"""Return the mean cosine of two different vectors of a sequence, $\frac{x_i \cdot x_j}{|x_i||x_j|}$, $i \ne j$.

    >>> mean_cosine(torch.tensor([[[1.0, 0.0], [0.0, 2.0], [0.0, 3.0]]]))
    tensor(0.3333)
    """
    unit = x / x.norm(dim=-1, keepdim=True)
    cosines = unit @ unit.mT  # (B, T, D) x (B, D, T) -> (B, T, T)
    T = x.shape[1]
    return ((cosines.sum((1, 2)) - T) / (T * (T - 1))).mean()


def draw_untrained(kind: str, layers: int, seed: int) -> tuple[DeepCopier, Tensor]:
    """Return an untrained network with one kind of block, and SEQUENCES random input sequences for it."""
    generator = Generator().manual_seed(seed)
    model = DeepCopier(kind, layers, generator)
    return model, draw_repeated_sequences(SEQUENCES, HALF, generator, measured=False)


def mean(numbers: Sequence[float]) -> float:
    """Return the mean of numbers, rounded to DIGITS significant digits."""
    return float(f"{sum(numbers) / len(numbers):.{DIGITS}g}")


BLOCK_FIGURES = MeasuredTable(Path(__file__).with_name("figures.json"), BlockFigures, measure_blocks)
