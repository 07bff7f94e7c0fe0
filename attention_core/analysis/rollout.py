"""Attention rollout: how much of each word is in a vector, if layers did nothing but mix words by their weights."""

import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.record.errors import AttentionError


def roll_out(weights: Float[Tensor, "L H T T"]) -> Float[Tensor, "L T T"]:
    """Multiply the layers' weights, each averaged over its heads and mixed half and half with the identity.

    R_l = A_l R_(l-1) with R_0 = I and A_l = W_l / 2 + I / 2, where W_l is the mean of the heads of layer l. Values and
    feed-forward layers are ignored.

    weights: (L, H, T, T) of one sentence, the first layer first. Returns R after each layer, whose rows sum to 1 if
    those of the weights do.

    Raises AttentionError (a ValueError) if there are not four axes, or the queries are not the keys.

    Source: Abnar and Zuidema 2020, "Quantifying Attention Flow in Transformers", section 3.

    >>> roll_out(torch.tensor([[[[1.0, 0], [1, 0]]]] * 2))[-1].tolist()  # two layers look at the first word
    [[1.0, 0.0], [0.75, 0.25]]
    """
    if weights.ndim != 4 or weights.shape[-2] != weights.shape[-1]:
        raise AttentionError("rank", name="weights", axes="(L, H, T, T)", shape=tuple(weights.shape))
    own = torch.eye(weights.shape[-1], dtype=weights.dtype, device=weights.device)
    rolled = own
    layers = []
    for layer in weights.mean(1):  # (T, T)
        rolled = (layer / 2 + own / 2) @ rolled  # (T, T) (T, T) -> (T, T)
        layers.append(rolled)
    return torch.stack(layers)
