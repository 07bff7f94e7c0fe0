"""Weights before anything is learned: drawn from a generator that is given, not torch's global one."""

import math

import torch
from jaxtyping import Float
from torch import Generator, Tensor, nn


def draw_embedding(symbols: int, width: int, generator: Generator) -> nn.Embedding:
    """A vector a symbol, uniform in ±1.

    >>> draw_embedding(5, 3, Generator().manual_seed(0)).weight.shape
    torch.Size([5, 3])
    """
    return draw_module(nn.Embedding(symbols, width, device="meta"), 1.0, generator)


def draw_gru(inputs: int, width: int, generator: Generator) -> nn.GRU:
    """A recurrence (Cho et al. 2014), uniform in ±1/√width, as torch has it."""
    return draw_module(nn.GRU(inputs, width, batch_first=True, device="meta"), 1 / math.sqrt(width), generator)


def draw_linear(inputs: int, outputs: int, generator: Generator) -> nn.Linear:
    """x W + b, uniform in ±1/√inputs, as torch has it."""
    return draw_module(nn.Linear(inputs, outputs, device="meta"), 1 / math.sqrt(inputs), generator)


def draw_matrix(inputs: int, outputs: int, generator: Generator) -> nn.Parameter:
    """W in row convention, x @ W, uniform in ±1/√inputs."""
    return nn.Parameter(fill_uniform(torch.empty(inputs, outputs), 1 / math.sqrt(inputs), generator))


def draw_module(module: nn.Module, limit: float, generator: Generator) -> nn.Module:
    """A module that was made without memory, with memory and every number drawn."""
    module = module.to_empty(device="cpu")
    for tensor in module.parameters():
        fill_uniform(tensor, limit, generator)
    return module


def fill_uniform(tensor: torch.Tensor, limit: float, generator: Generator) -> torch.Tensor:
    """Numbers between ±limit, in the tensor's place."""
    return nn.init.uniform_(tensor, -limit, limit, generator=generator)


def switch_heads(kept: Float[Tensor, " H"], w_o: Float[Tensor, "H*d_v D_out"]) -> Float[Tensor, "H*d_v D_out"]:
    """W_o where some heads bring nothing: a head's rows times its 1 or 0.

    >>> switch_heads(torch.tensor([0.0, 1.0]), torch.ones(4, 1)).flatten()
    tensor([0., 0., 1., 1.])
    """
    rows = kept.to(w_o.dtype).repeat_interleave(len(w_o) // len(kept))  # (H,) -> (H * d_v,)
    return w_o * rows[:, None]
