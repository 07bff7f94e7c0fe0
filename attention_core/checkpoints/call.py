"""Defines AttentionCall: one call of an attention layer in a model that ran, with its operands and the model's
results.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

BLOCKED_BELOW = -1e4  # an added number of at most this blocks a pair: exp(-10,000) is 0 in every precision


@dataclass(frozen=True, eq=False)
class AttentionCall:
    """One call of an attention layer: the operands of the scores and the output, and the model's results.

    name: the name of the module in the model. q, k, v: the operands of the scores and the output, after RoPE and norms.
    mask: as the model passed it, boolean (True = may attend) or numbers that are added to the scores; None if it blocks
    nothing. scale: the factor on q·k; None means 1/√d_k. bias: further numbers that are added to the scores. cap: the
    bound of a soft cap. sinks: one further score per head. window: the width of a sliding window, if the model passed
    one. weights: None if the model does not return them. way: how the call was recorded: "interface", or "watched" if
    it was found among the torch operations of the run.
    """

    name: str
    q: Float[Tensor, "B H T d_k"]
    k: Float[Tensor, "B H_kv S d_k"]
    v: Float[Tensor, "B H_kv S d_v"]
    output: Float[Tensor, "B T H d_v"]
    weights: Float[Tensor, "B H T S"] | None = None
    mask: Tensor | None = None
    scale: float | None = None
    bias: Tensor | None = None
    cap: float | None = None
    sinks: Float[Tensor, " H"] | None = None
    window: int | None = None
    way: str = "interface"

    @property
    def sizes(self) -> tuple[int, int, int, int]:
        """(B, H, T, S) of the layer's scores."""
        B, H, T, _ = self.q.shape
        return B, H, T, self.k.shape[2]

    @property
    def rounding(self) -> float:
        """The unit roundoff u of the model's precision: half the gap after 1, for the coarsest dtype of the recorded
        tensors.
        """
        given = (self.q, self.k, self.v, self.output, self.weights)
        return max(torch.finfo(tensor.dtype).eps for tensor in given if tensor is not None) / 2

    def split_mask(self) -> tuple[Tensor | None, Tensor | None]:
        """Return a boolean mask of the pairs that may attend, and the tensor added to the scores; None for either if it
        has no effect.

        Both have four axes that broadcast to (B, H, T, S); the numbers are float64. An added number of at most
        BLOCKED_BELOW blocks the pair.

        >>> q = torch.ones(1, 1, 2, 2)
        >>> mask = torch.tensor([[0.0, -65504.0], [-1.5, 0.0]])
        >>> allowed, bias = AttentionCall("layer", q, q, q, q.transpose(1, 2), mask=mask).split_mask()
        >>> allowed.tolist(), bias.tolist()
        ([[[[True, False], [True, True]]]], [[[[0.0, 0.0], [-1.5, 0.0]]]])
        """
        *_, S = self.sizes
        allowed, added = None, None
        if self.mask is not None:
            mask = as_four_axes(self.mask)[..., :S]  # may be longer than the keys, for a KV cache
            allowed, added = (mask, None) if mask.dtype == torch.bool else (None, mask.double())
        if self.bias is not None:
            bias = as_four_axes(self.bias).double()
            added = bias if added is None else added + bias
        if added is not None:
            high = added > BLOCKED_BELOW
            allowed = high if allowed is None else allowed & high
            added = added.masked_fill(~high, 0.0)
        is_open = allowed is None or bool(allowed.all())
        is_plain = added is None or not bool(added.any())
        return (None if is_open else allowed), (None if is_plain else added)


def as_four_axes(tensor: Tensor) -> Tensor:
    """Return a tensor with four axes: axes of length 1 are added in front, and for (B, T, S) an axis of heads."""
    if tensor.dim() == 3:
        return tensor.unsqueeze(1)
    return tensor[(None,) * (4 - tensor.dim())]
