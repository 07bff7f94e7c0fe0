"""Scaled dot-product attention as a function of tensors with four axes."""

import math

import torch


def scaled_dot_product_attention(q, k, v, mask=None, dropout=None):
    """softmax(q kᵀ / √d_k) v, for each head; the mask is True where a pair is ignored."""
    d_k = q.shape[-1]
    scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(d_k)  # (B, H, T, S)
    if mask is not None:
        scores = scores.masked_fill(mask, float("-inf"))
    weights = torch.softmax(scores, dim=-1)  # over S
    if dropout is not None:
        weights = dropout(weights)
    return torch.matmul(weights, v), weights  # (B, H, T, d_v)


def draw():
    """Samples the tensors that the app shows: two sequences, two heads, three queries, four keys."""
    generator = torch.Generator().manual_seed(0)
    q = torch.randn(2, 2, 3, 16, generator=generator).double()  # (B, H, T, d)
    k = torch.randn(2, 2, 4, 16, generator=generator).double()  # (B, H, S, d)
    v = torch.randn(2, 2, 4, 16, generator=generator).double()
    mask = torch.zeros(2, 1, 3, 4, dtype=torch.bool)
    mask[1, :, :, 3] = True  # the last key of the second sequence is padding
    return q, k, v, mask


def run():
    """Returns the output and the weights."""
    q, k, v, mask = draw()
    return scaled_dot_product_attention(q, k, v, mask)


if __name__ == "__main__":
    output, weights = run()
    print(output.shape, weights.shape)
    print(weights[0, 0])
