"""Scaled dot-product attention as a class."""

import math

import torch
from torch import nn


class ScaledDotProductAttention(nn.Module):
    """softmax(q kᵀ / √d_k) v, for one head; the mask is 0 where a pair is blocked."""

    def forward(self, q, k, v, mask=None):
        d_k = q.shape[-1]
        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(d_k)  # (B, T, S)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -1e9)
        weights = torch.softmax(scores, dim=-1)  # over S
        return torch.matmul(weights, v), weights  # (B, T, S) x (B, S, d_v) -> (B, T, d_v)


def draw():
    """Samples the tensors that the app shows: two sequences of five tokens."""
    generator = torch.Generator().manual_seed(0)
    q = torch.randn(2, 5, 64, generator=generator).double()  # (B, T, d_k)
    k = torch.randn(2, 5, 64, generator=generator).double()
    v = torch.randn(2, 5, 128, generator=generator).double()  # (B, T, d_v)
    mask = torch.ones(2, 5, 5).tril()  # 1 on and below the diagonal: no query attends to later keys
    return q, k, v, mask


def run():
    """Returns the output and the weights."""
    q, k, v, mask = draw()
    attention = ScaledDotProductAttention()
    return attention(q, k, v, mask)


if __name__ == "__main__":
    output, weights = run()
    print(output.shape, weights.shape)
    print(weights[0])
