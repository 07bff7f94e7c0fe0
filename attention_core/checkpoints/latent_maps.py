"""Finds, by comparing numbers, the parts of multi-head latent attention in a recorded layer (DeepSeek-V2 and V3).

Each head of k has columns of its own, computed from one compressed vector per token from which v is computed, too,
and columns that all heads share. Only the shared columns of k, and the same columns of q, are rotated. The core
computes these two parts of the scores apart (mechanism/latent.py). Source: DeepSeek-AI 2024 (DeepSeek-V2), section 2.1.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attention_core.checkpoints.head_norms import NormCall
from attention_core.checkpoints.linear_maps import LinearMap
from attention_core.checkpoints.projection import Projection, find_map
from attention_core.checkpoints.vector_norms import VectorNorm, read_vector_norm
from attention_core.record.errors import AttentionError


@dataclass(frozen=True, eq=False)
class LatentMaps:
    """What a layer with latent attention has besides the projections of q, k and v, which give the unrotated columns.

    compressed: the projection of x to one short vector per token. norm: the norm of this vector, from which k and v are
    projected. q_turned, k_turned: the projections to the columns that RoPE rotates; k has one head.
    """

    compressed: Projection
    norm: VectorNorm
    q_turned: Projection
    k_turned: Projection

    @property
    def choice(self) -> tuple[str, dict[str, float]]:
        """The modifier that compresses the input of k and v, with its parameters, as AttentionConfig takes it."""
        return "latent", {"eps": self.norm.eps}

    def in_run(self, maps: Sequence[LinearMap]) -> "LatentMaps":
        """Return the same LatentMaps with the linear maps of another run; see LayerMaps.in_run."""
        compressed, q_turned, k_turned = (each.in_run(maps) for each in (self.compressed, self.q_turned, self.k_turned))
        return LatentMaps(compressed, self.norm, q_turned, k_turned)

    def learned(self) -> dict[str, Tensor]:
        """Return the matrices and the gain, keyed by their names in the weights."""
        turned = {"w_qr": self.q_turned, "w_kr": self.k_turned}
        matrices = {name: (part.factor * part.matrix).contiguous() for name, part in turned.items()}
        return {**matrices, "w_dkv": self.compressed.matrix.contiguous(), "g_latent": self.norm.gain}


def find_shared_columns(k: Float[Tensor, "B H d"]) -> Bool[Tensor, " d"]:
    """Return which columns have the same numbers in all heads, in all texts.

    >>> find_shared_columns(torch.tensor([[[3.0, 5.0, 7.0], [2.0, 5.0, 7.0]]]))
    tensor([False,  True,  True])
    """
    return (k == k[:, :1]).flatten(0, 1).all(0)


def find_compression(
    k: Projection, norms: Sequence[NormCall], maps: Sequence[LinearMap]
) -> tuple[Projection, VectorNorm] | None:
    """Return the projection of x to the compressed vectors, and their norm, if k is projected from such; else None.

    k: the projection of the unrotated columns of k. Raises AttentionError: latent_bias.
    """
    for call in norms:
        if call.made.dim() == 3 and torch.equal(call.made.flatten(0, 1), k.source.given):
            compressed = find_map(call.given.unsqueeze(1), maps)
            norm = read_vector_norm(call)
            if compressed is None or norm is None or norm.shift is not None:
                continue
            if compressed.bias is not None:
                raise AttentionError("latent_bias")
            return compressed, norm
    return None
