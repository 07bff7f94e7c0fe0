"""Finds the RMS norm or LayerNorm of the core that returns the same vectors as a module."""

from dataclasses import dataclass
from itertools import product

import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.checkpoints.head_norms import MOST_EPS, MOST_ROUNDINGS, USUAL_EPS, NormCall
from attention_core.mechanism.norms import centre, layer_norm, rms_norm


@dataclass(frozen=True, eq=False)
class VectorNorm:
    """An RMS norm or a LayerNorm of vectors. shift: the shift of a LayerNorm; None for an RMS norm."""

    gain: Float[Tensor, " D"]
    eps: float
    shift: Float[Tensor, " D"] | None = None

    def norm(self, x: Float[Tensor, "*axes D"]) -> Float[Tensor, "*axes D"]:
        """Return the vectors x after the norm."""
        if self.shift is None:
            return rms_norm(x, self.gain, eps=self.eps)
        return layer_norm(centre(x), self.gain, self.shift, eps=self.eps)

    def norm_sizes(self, sizes: Float[Tensor, "*axes D"], x: Float[Tensor, "*axes D"]) -> Float[Tensor, "*axes D"]:
        """Return upper bounds of the numbers' magnitudes after the norm. sizes: the magnitudes before the norm."""
        shift = 0.0
        if self.shift is not None:
            sizes = sizes + sizes.mean(-1, keepdim=True)
            x, shift = centre(x), self.shift.abs()
        mean_square = x.square().mean(-1, keepdim=True)
        return sizes * torch.rsqrt(mean_square + self.eps) * self.gain.abs() + shift

    def choice(self, place: str) -> tuple[str, dict[str, float]]:
        """Return the norm as a modifier of a config, such as ("rms_norm_before", {"eps": 1e-6}). place: "before",
        "output" or "after".
        """
        kind = "rms" if self.shift is None else "layer"
        return f"{kind}_norm_{place}", {"eps": self.eps}

    def learned(self, place: str) -> dict[str, Tensor]:
        """Return the gain and shift by their names in the weights, such as "g_rms_before". place: "before", "output"
        or "after".
        """
        if self.shift is None:
            return {f"g_rms_{place}": self.gain}
        return {f"g_layer_{place}": self.gain, f"b_layer_{place}": self.shift}


def read_vector_norm(call: NormCall) -> VectorNorm | None:
    """Return the norm that equals the result of a module's call; None if there is none.

    Its gain is 1, a parameter of the module, or 1 plus a parameter; its shift is 0 or a parameter; its eps is a number
    of the module or, if none of these fits, a usual one. Of several norms that fit, the nearest is returned.

    >>> x = torch.tensor([[[3.0, 4.0, 8.0]]])
    >>> norm = read_vector_norm(NormCall(torch.nn.LayerNorm(3), x, torch.nn.LayerNorm(3)(x).detach()))
    >>> norm.choice("before")
    ('layer_norm_before', {'eps': 1e-05})
    """
    given, made = call.given.detach().double(), call.made.detach().double()
    D = given.shape[-1]
    one, zero = torch.ones(D, dtype=torch.float64), torch.zeros(D, dtype=torch.float64)
    own = [p.detach().double() for p in call.module.parameters(recurse=False) if p.shape == (D,)]
    small = [value for value in vars(call.module).values() if isinstance(value, float) and 0 < value <= MOST_EPS]
    limit = MOST_ROUNDINGS * torch.finfo(call.made.dtype).eps * float(made.abs().max())
    gains = (one, *own, *(1 + each for each in own))
    shapes = list(product(gains, (None, zero, *own)))
    for all_eps in (small, USUAL_EPS):  # for long vectors any usual eps fits, so the module's own is preferred
        norms = [VectorNorm(gain, eps, shift) for eps in dict.fromkeys(all_eps) for gain, shift in shapes]
        differences = [float((norm.norm(given) - made).abs().max()) for norm in norms]
        if min(differences, default=limit) < limit:
            return norms[differences.index(min(differences))]
    return None


def choose_norm(norm: VectorNorm | None, place: str) -> tuple[tuple, dict[str, Tensor]]:
    """Return the modifiers and learned tensors of a norm, both empty for None. place: "before", "output", "after"."""
    return ((), {}) if norm is None else ((norm.choice(place),), norm.learned(place))


def choose_norms_behind(on_output: VectorNorm | None, after: VectorNorm | None) -> tuple[tuple, dict[str, Tensor]]:
    """Return the modifiers and learned tensors of the norms after a layer: the norm of its output, and the norm of the
    residual sum."""
    (first, one), (last, other) = choose_norm(on_output, "output"), choose_norm(after, "after")
    return (*first, *last), {**one, **other}
