"""Finds RMS norms of heads in a run, by comparing the inputs and outputs of its modules."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor, nn

USUAL_EPS = (1e-5, 1e-6)
HEAD_AXES = 4  # number of axes of a tensor of all heads: (B, H, T, d) or (B, T, H, d)
MOST_EPS = 1e-2  # larger attributes of a module are not tried as eps
MOST_ROUNDINGS = 8  # accepted difference in units of rounding, relative to the largest output


@dataclass(frozen=True, eq=False)
class NormCall:
    """A call of a module without children that returns the shape of its operand, as norms do.

    The operand is a tensor of all heads, (B, H, T, d) or (B, T, H, d), or all vectors, (B, T, D) or (R, D).
    """

    module: nn.Module
    given: Tensor
    made: Tensor


@dataclass(frozen=True, eq=False)
class HeadNorm:
    """An RMS norm of each head: x / √(mean of x² + eps) · gain."""

    gain: Float[Tensor, " d"]
    eps: float

    def norm(self, x: Float[Tensor, "*axes d"], by: Float[Tensor, "*axes d"]) -> Float[Tensor, "*axes d"]:
        """Return x divided by the root mean square of `by`, times the gain."""
        return x * torch.rsqrt(by.square().mean(-1, keepdim=True) + self.eps) * self.gain


@contextmanager
def kept_norm_calls(model: nn.Module) -> Iterator[list[NormCall]]:
    """Record the calls of a model's modules without children that return the shape of their operand."""
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


def read_norm(call: NormCall) -> HeadNorm | None:
    """Return the RMS norm whose result is that of a module's call; None if there is none.

    Its gain is 1, a parameter of the module, or 1 plus a parameter; its eps is a number of the module or a usual one.
    Of several norms that fit, the nearest is returned.

    >>> norm = nn.RMSNorm(2, eps=1e-5)
    >>> x = torch.tensor([[[[3.0, 4.0]]]])
    >>> read_norm(NormCall(norm, x, norm(x).detach())).eps
    1e-05
    """
    given, made = call.given.double(), call.made.double()
    d = given.shape[-1]
    one = torch.ones(d, dtype=torch.float64, device=given.device)
    own = [p.detach().double() for p in call.module.parameters(recurse=False) if p.shape == (d,)]
    small = [value for value in vars(call.module).values() if isinstance(value, float) and 0 < value <= MOST_EPS]
    rounding = torch.finfo(call.made.dtype).eps
    best, nearest = None, MOST_ROUNDINGS * rounding * float(made.abs().max())
    for eps in (*small, *USUAL_EPS):
        for gain in (one, *own, *(1 + each for each in own)):
            norm = HeadNorm(gain, eps)
            apart = float((norm.norm(given, given) - made).abs().max())
            if apart < nearest:
                best, nearest = norm, apart
    return best
