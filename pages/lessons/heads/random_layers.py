"""Random layers of the lesson on heads, of any sizes."""

import torch
from torch import Tensor

from attention_core.inputs.initial_matrices import random_matrix
from attention_core.inputs.matrix_text import MAX_COLUMNS, to_text
from pages.setup.setup import Setup

EXAMPLE_WIDTH = 512  # of the example with eight heads
RANDOM_LAYER_TOKENS = 10


def make_random_layer(width: int, heads: int, d_k: int | None = None, d_v: int | None = None) -> Setup:
    """Makes ten random tokens of a width with a random layer; of the example's own width it is the example itself.

    A head is as wide as its part of the width, rounded up, or down where all heads together would be wider than a
    matrix may be: 3 heads of 512 numbers have 170 each."""
    x = None
    if width != EXAMPLE_WIDTH:
        vectors = random_matrix("x", (RANDOM_LAYER_TOKENS, width), 0)
        x = to_text(vectors)
    part = width // heads
    fitting = None if (part + 1) * heads <= MAX_COLUMNS or part * heads == width else part
    return Setup(example="eight_heads", x=x, heads=heads, d_k=d_k or fitting, d_v=d_v or fitting)


def repeat_sequence(x: Tensor, count: int) -> Tensor:
    """Makes a batch of a sequence, (1, T, D) -> (count, T, D): the same words in each."""
    return torch.cat([x] * count)
