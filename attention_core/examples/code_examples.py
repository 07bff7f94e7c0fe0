"""Reads the code examples: samples the tensors of each listing, and compares the listing's results with those of a
run.
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType, ModuleType

import numpy as np
import torch
from torch import Tensor, nn

from attention_core.examples.listings import (
    cross_heads_class,
    eighth_class,
    multi_head_class,
    numpy_function,
    scaled_dot_class,
    torch_function,
)
from attention_core.record.trace import Trace

Tensors = Mapping[str, Tensor]


# ---- from a listing's tensors to a run's inputs ----------------------------------------------------------------------
def read_scaled_dot() -> Tensors:
    """Sample q, k and v of one head.

    The causal mask of the listing is not returned, because the example's settings have it.
    """
    q, k, v, _ = scaled_dot_class.draw()
    return {"q": q[:, None], "k": k[:, None], "v": v[:, None]}  # (B, T, d) -> (B, 1, T, d)


def read_numpy_function() -> Tensors:
    """Sample q, k, v of one head, and the allowed pairs: the inverse of the listing's mask, in which True means
    blocked.
    """
    q, k, v, ignored = map(torch.from_numpy, numpy_function.draw())
    allowed = ~ignored[:, None]  # (B, T, S) -> (B, 1, T, S)
    return {"q": q[:, None], "k": k[:, None], "v": v[:, None], "allowed": allowed}  # (B, T, d) -> (B, 1, T, d)


def read_torch_function() -> Tensors:
    """Sample the heads' q, k, v, and the allowed pairs: the inverse of the listing's mask, in which True means
    blocked.
    """
    q, k, v, ignored = torch_function.draw()
    return {"q": q, "k": k, "v": v, "allowed": ~ignored}


def read_multi_head() -> Tensors:
    """Sample the three inputs (query, key, value) of the listing multi_head_class, and the matrices and biases of its
    layer.
    """
    layer, query, key, value = multi_head_class.draw()
    return {"x": query, "context": key, "value": value, **read_linear(layer)}


def read_cross_heads() -> Tensors:
    """Sample the two inputs of the listing cross_heads_class, its allowed pairs, and the matrices and biases of its
    layer.

    The allowed pairs are the inverse of the listing's mask, in which True means blocked.
    """
    layer, query, memory, ignored = cross_heads_class.draw()
    return {"x": query, "context": memory, "allowed": ~ignored, **read_linear(layer)}


def read_eighth() -> Tensors:
    """Sample the input of the listing eighth_class, and the matrices and biases of its layer, whose heads have width D
    / 8.
    """
    layer, x = eighth_class.draw()
    return {"x": x, **read_linear(layer)}


def read_linear(layer: nn.Module) -> Tensors:
    """Return the matrices and biases of a layer's projections, keyed by name, for x @ w.

    torch stores a matrix as (out, in), so it is transposed.
    """
    tensors = {}
    for name, linear in layer.named_children():
        tensors[name] = linear.weight.detach().T.contiguous()  # (out, in) -> (in, out)
        tensors[name.replace("w_", "b_")] = linear.bias.detach()
    return tensors


# ---- the table -------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class CodeListing:
    """A script that computes attention as a course writes it.

    module: the script, with functions draw() and run(). read: a function that samples its tensors, keyed by their names
    in an Example. names: the names of these tensors.
    """

    module: ModuleType
    read: Callable[[], Tensors]
    names: tuple[str, ...]

    @property
    def source(self) -> str:
        """Return the source text of the script."""
        return inspect.getsource(self.module).rstrip()


QKV = ("q", "k", "v")
PROJECTIONS = ("w_q", "b_q", "w_k", "b_k", "w_v", "b_v")
OUTPUT = ("w_o", "b_o")
LISTINGS: Mapping[str, CodeListing] = MappingProxyType(
    {
        "scaled_dot_class": CodeListing(scaled_dot_class, read_scaled_dot, QKV),
        "multi_head_class": CodeListing(
            multi_head_class, read_multi_head, ("x", "context", "value", *PROJECTIONS, *OUTPUT)
        ),
        "numpy_function": CodeListing(numpy_function, read_numpy_function, (*QKV, "allowed")),
        "torch_function": CodeListing(torch_function, read_torch_function, (*QKV, "allowed")),
        "cross_heads_class": CodeListing(
            cross_heads_class, read_cross_heads, ("x", "context", "allowed", *PROJECTIONS, *OUTPUT)
        ),
        "eighth_class": CodeListing(eighth_class, read_eighth, ("x", *PROJECTIONS)),
    }
)


@lru_cache(maxsize=len(LISTINGS))  # a cache for all listings, whose tensors take 10 MB in total
def draw_tensors(listing: str) -> Tensors:
    """Sample all tensors of a listing, as {name in an Example: tensor}.

    The tensors are cached, so callers must not write into them.

    >>> draw_tensors("scaled_dot_class")["v"].shape
    torch.Size([2, 1, 5, 128])
    """
    return LISTINGS[listing].read()


@dataclass(frozen=True)
class ListedTensor:
    """A tensor of an example that a listing samples.

    listing: a key of LISTINGS. name: the name of the tensor, such as "q" or "w_o".

    >>> ListedTensor("numpy_function", "q").draw()[0, 0, 0, 0]
    tensor(1.7641, dtype=torch.float64)
    """

    listing: str
    name: str

    def draw(self) -> Tensor:
        """Return the float64 tensor with all its axes.

        The tensor is cached: do not write into it.
        """
        return draw_tensors(self.listing)[self.name]

    def draw_matrix(self) -> np.ndarray:
        """Return the tensor as a matrix: the first of several sequences, with the heads side by side."""
        tensor = self.draw()
        if tensor.dim() == 4:
            tensor = tensor.transpose(1, 2).flatten(2)  # (B, H, T, d) -> (B, T, H * d)
        return tensor[0].numpy() if tensor.dim() == 3 else np.atleast_2d(tensor.numpy())


# ---- its numbers and those of a run ----------------------------------------------------------------------------------
def run_listing(listing: str) -> tuple[Tensor, Tensor]:
    """Run a listing; return its output with the heads side by side, and its weights with all four axes.

    listing: the name of a listing in LISTINGS.

    >>> output, weights = run_listing("torch_function")
    >>> output.shape, weights.shape
    (torch.Size([2, 3, 32]), torch.Size([2, 2, 3, 4]))
    """
    output, weights = map(torch.as_tensor, LISTINGS[listing].module.run())
    if output.dim() == 4:
        output = output.transpose(1, 2).flatten(2)  # (B, H, T, d_v) -> (B, T, H * d_v)
    if weights.dim() == 3:
        weights = weights[:, None]  # (B, T, S) -> (B, 1, T, S)
    return output, weights


def largest_listing_difference(listing: str, trace: Trace) -> float | None:
    """Return the largest difference between a listing's output and weights and those of a run; None if sizes differ.

    The compared weights are those that multiply the values: if there is dropout, the weights after it.
    """
    output, weights = run_listing(listing)
    mixing = "dropped_weights" if "dropped_weights" in trace else "weights"
    largest = 0.0
    for own, step in ((output, "output"), (weights, mixing)):
        theirs = trace[step].to(own)
        if own.shape != theirs.shape:
            return None
        largest = max(largest, (own - theirs).abs().max().item())
    return largest
