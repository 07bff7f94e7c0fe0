"""Records the calls of a model's modules that may be norms, either of whole vectors or of each head's vector."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor, nn

USUAL_EPS = (1e-5, 1e-6)
MOST_EPS = 1e-2  # largest attribute of a module that is tried as the norm's eps
MOST_ROUNDINGS = 8  # accepted difference in roundings of the largest output


@dataclass(frozen=True, eq=False)
class NormCall:
    """A call of a module without children that returns the shape of its operand, as norms do.

    The operand is a tensor of all heads, (B, H, T, d), (B, T, H, d) or (B, T, H·d), or all vectors, (B, T, D) or
    (R, D).
    """

    module: nn.Module
    given: Tensor
    made: Tensor


@contextmanager
def kept_norm_calls(model: nn.Module) -> Iterator[list[NormCall]]:
    """Context manager that records the calls of a model's childless modules whose result has the shape of their
    operand."""
    calls: list[NormCall] = []

    def keep(module: nn.Module, given: tuple, made: object) -> None:
        is_one = len(given) == 1 and isinstance(given[0], Tensor) and isinstance(made, Tensor)
        if is_one and made.dim() >= 2 and made.shape == given[0].shape and made is not given[0]:
            calls.append(NormCall(module, given[0], made))

    leaves = [module for module in model.modules() if not list(module.children())]
    hooks = [leaf.register_forward_hook(keep) for leaf in leaves if not isinstance(leaf, torch.jit.ScriptModule)]
    try:
        yield calls
    finally:
        for hook in hooks:
            hook.remove()
