"""Weights before training, sampled from a generator of the caller, not from torch's global one."""

import math

import torch
from jaxtyping import Float
from torch import Generator, Tensor, nn


def draw_embedding(symbols: int, width: int, generator: Generator) -> nn.Embedding:
    """Sample a vector for each symbol, uniform in ±1.

    >>> draw_embedding(5, 3, Generator().manual_seed(0)).weight.shape
    torch.Size([5, 3])
    """
    weight = torch.empty(symbols, width)
    fill_uniform(weight, 1.0, generator)
    return nn.Embedding.from_pretrained(weight, freeze=False)


def draw_gru(inputs: int, width: int, generator: Generator) -> nn.GRU:
    """Sample a GRU (Cho et al. 2014), uniform in ±1/√width, as torch does."""
    module = nn.GRU(inputs, width, batch_first=True, device="meta")
    return draw_module(module, 1 / math.sqrt(width), generator)


def draw_linear(inputs: int, outputs: int, generator: Generator) -> nn.Linear:
    """Sample a linear layer x W + b, uniform in ±1/√inputs, as torch does."""
    module = nn.Linear(inputs, outputs, device="meta")
    return draw_module(module, 1 / math.sqrt(inputs), generator)


def draw_matrix(inputs: int, outputs: int, generator: Generator) -> nn.Parameter:
    """Sample W in row convention, x @ W, uniform in ±1/√inputs."""
    limit = 1 / math.sqrt(inputs)
    matrix = torch.empty(inputs, outputs)
    fill_uniform(matrix, limit, generator)
    return nn.Parameter(matrix)


def draw_module(module: nn.Module, limit: float, generator: Generator) -> nn.Module:
    """Replace the parameters of a module on the "meta" device by sampled parameters.

    Module.to_empty would need no loop, but imports all of sympy, which takes more than a second.
    """
    for name, parameter in list(module.named_parameters()):
        drawn = torch.empty(parameter.shape)
        fill_uniform(drawn, limit, generator)
        setattr(module, name, nn.Parameter(drawn))
    return module


def fill_uniform(tensor: torch.Tensor, limit: float, generator: Generator) -> None:
    """Fill a tensor with random numbers between ±limit."""
    nn.init.uniform_(tensor, -limit, limit, generator=generator)


def switch_heads(switches: Float[Tensor, " H"], w_o: Float[Tensor, "H*d_v D_out"]) -> Float[Tensor, "H*d_v D_out"]:
    """Multiply the rows of W_o that belong to a head by its switch, 1 or 0; a head with 0 adds nothing to the output.

    >>> switch_heads(torch.tensor([0.0, 1.0]), torch.ones(4, 1)).flatten()
    tensor([0., 0., 1., 1.])
    """
    heads = len(switches)
    d_v = len(w_o) // heads
    factors = switches.to(w_o.dtype)
    row_factors = factors.repeat_interleave(d_v)  # (H,) -> (H * d_v,)
    return w_o * row_factors[:, None]
