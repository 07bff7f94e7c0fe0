"""Samples the initial weights of networks from a given random generator, which leaves torch's global generator
unchanged.
"""

import math

import torch
from jaxtyping import Float
from torch import Generator, Tensor, nn


def draw_embedding(symbols: int, width: int, generator: Generator) -> nn.Embedding:
    """Sample a vector for each symbol, with components uniform between -1 and 1.

    >>> draw_embedding(5, 3, Generator().manual_seed(0)).weight.shape
    torch.Size([5, 3])
    """
    weight = torch.empty(symbols, width)
    fill_uniform(weight, 1.0, generator)
    return nn.Embedding.from_pretrained(weight, freeze=False)


def draw_gru(inputs: int, width: int, generator: Generator) -> nn.GRU:
    """Sample the parameters of a GRU (Cho et al. 2014), uniform between ±1/√width, as torch does."""
    module = nn.GRU(inputs, width, batch_first=True, device="meta")
    return draw_module(module, 1 / math.sqrt(width), generator)


def draw_linear(inputs: int, outputs: int, generator: Generator) -> nn.Linear:
    """Sample the parameters of a linear layer x W + b, uniform between ±1/√inputs, as torch does."""
    module = nn.Linear(inputs, outputs, device="meta")
    return draw_module(module, 1 / math.sqrt(inputs), generator)


def draw_matrix(inputs: int, outputs: int, generator: Generator) -> nn.Parameter:
    """Sample a matrix W that is multiplied from the right, x @ W, uniform between ±1/√inputs."""
    limit = 1 / math.sqrt(inputs)
    matrix = torch.empty(inputs, outputs)
    fill_uniform(matrix, limit, generator)
    return nn.Parameter(matrix)


def draw_module(module: nn.Module, limit: float, generator: Generator) -> nn.Module:
    """Replace the parameters of a module on the "meta" device by sampled parameters.

    limit: the largest magnitude of a parameter. The loop replaces Module.to_empty, which imports all of sympy and so
    takes more than a second.
    """
    for name, parameter in list(module.named_parameters()):
        drawn = torch.empty(parameter.shape)
        fill_uniform(drawn, limit, generator)
        setattr(module, name, nn.Parameter(drawn))
    return module


def fill_uniform(tensor: torch.Tensor, limit: float, generator: Generator) -> None:
    """Fill a tensor in place with uniform random numbers from -limit to limit."""
    nn.init.uniform_(tensor, -limit, limit, generator=generator)


def switch_heads(switches: Float[Tensor, " H"], w_o: Float[Tensor, "H*d_v D_out"]) -> Float[Tensor, "H*d_v D_out"]:
    """Multiply the rows of W_o that belong to each head by 1 if the head is active, or by 0 if it is ablated.

    switches: the factor of each head, 1 or 0.

    >>> switch_heads(torch.tensor([0.0, 1.0]), torch.ones(4, 1)).flatten()
    tensor([0., 0., 1., 1.])
    """
    heads = len(switches)
    d_v = len(w_o) // heads
    factors = switches.to(w_o.dtype)
    row_factors = factors.repeat_interleave(d_v)  # (H,) -> (H * d_v,)
    return w_o * row_factors[:, None]
