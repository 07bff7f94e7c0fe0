"""The examples of code: the tensors that their listings sample, and whether their results equal those of a run."""

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
    """Return q, k and v of one head. The mask of the listing is the causal one, which the example names."""
    q, k, v, _ = scaled_dot_class.draw()
    return {"q": q[:, None], "k": k[:, None], "v": v[:, None]}  # (B, T, d) -> (B, 1, T, d)


def read_numpy_function() -> Tensors:
    """Return q, k and v of one head; in the listing, True means blocked."""
    q, k, v, ignored = map(torch.from_numpy, numpy_function.draw())
    allowed = ~ignored[:, None]  # (B, T, S) -> (B, 1, T, S)
    return {"q": q[:, None], "k": k[:, None], "v": v[:, None], "allowed": allowed}  # (B, T, d) -> (B, 1, T, d)


def read_torch_function() -> Tensors:
    """Return q, k and v of the heads; in the listing, True means blocked."""
    q, k, v, ignored = torch_function.draw()
    return {"q": q, "k": k, "v": v, "allowed": ~ignored}


def read_multi_head() -> Tensors:
    """Return the three inputs, and the layer's matrices."""
    layer, query, key, value = multi_head_class.draw()
    return {"x": query, "context": key, "value": value, **read_linear(layer)}


def read_cross_heads() -> Tensors:
    """Return the two inputs, and the layer's matrices; in the listing, True means blocked."""
    layer, query, memory, ignored = cross_heads_class.draw()
    return {"x": query, "context": memory, "allowed": ~ignored, **read_linear(layer)}


def read_eighth() -> Tensors:
    """Return the input, and the layer's matrices."""
    layer, x = eighth_class.draw()
    return {"x": x, **read_linear(layer)}


def read_linear(layer: nn.Module) -> Tensors:
    """Return the matrices and biases of a layer's projections in row convention; torch stores them as (out, in)."""
    tensors = {}
    for name, linear in layer.named_children():
        tensors[name] = linear.weight.detach().T.contiguous()  # (out, in) -> (in, out)
        tensors[name.replace("w_", "b_")] = linear.bias.detach()
    return tensors


# ---- the table -------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class CodeListing:
    """A script with attention as in a course.

    module: the script, with draw() and run(). read: samples its tensors, by their names in an Example. names: of all
    these tensors, known without sampling.
    """

    module: ModuleType
    read: Callable[[], Tensors]
    names: tuple[str, ...]

    @property
    def source(self) -> str:
        """The source text of the script."""
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


@lru_cache(maxsize=len(LISTINGS))  # the tensors of all listings take 10 MB
def draw_tensors(listing: str) -> Tensors:
    """Sample all tensors of a listing, by their names in an Example. They are cached: do not write into them.

    >>> draw_tensors("scaled_dot_class")["v"].shape
    torch.Size([2, 1, 5, 128])
    """
    return LISTINGS[listing].read()


@dataclass(frozen=True)
class ListedTensor:
    """A tensor of an example that its listing samples. listing: one of LISTINGS; name: such as "q" or "w_o".

    >>> ListedTensor("numpy_function", "q").draw()[0, 0, 0, 0]
    tensor(1.7641, dtype=torch.float64)
    """

    listing: str
    name: str

    def draw(self) -> Tensor:
        """Return the tensor in float64, with all its axes; it is cached: do not write into it."""
        return draw_tensors(self.listing)[self.name]

    def draw_matrix(self) -> np.ndarray:
        """Return the tensor as a matrix: the first of several sequences, heads side by side."""
        tensor = self.draw()
        if tensor.dim() == 4:
            tensor = tensor.transpose(1, 2).flatten(2)  # (B, H, T, d) -> (B, T, H * d)
        return tensor[0].numpy() if tensor.dim() == 3 else np.atleast_2d(tensor.numpy())


# ---- its numbers and those of a run ----------------------------------------------------------------------------------
def run_listing(listing: str) -> tuple[Tensor, Tensor]:
    """Run a listing. Returns the output with the heads side by side, and the weights with all four axes.

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
    """The largest difference of a listing's output and weights from a run's; None if the sizes differ.

    The weights that a listing returns are those that the values are weighted by: after dropout, if it has any.
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
