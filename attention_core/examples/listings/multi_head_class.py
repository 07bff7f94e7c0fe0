"""Attention of several heads as a class."""

import math

import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    """concat(head_1, ..., head_h) W_o; the mask (B, T, S) is 0 where a pair is blocked."""

    def __init__(self, d_model, heads):
        super().__init__()
        self.heads = heads
        self.d_k = d_model // heads
        self.w_q = nn.Linear(d_model, d_model)
        self.w_k = nn.Linear(d_model, d_model)
        self.w_v = nn.Linear(d_model, d_model)
        self.w_o = nn.Linear(d_model, d_model)

    def forward(self, query, key, value, mask=None):
        B, T, _ = query.shape
        S = key.shape[1]
        q = self.w_q(query).view(B, T, self.heads, self.d_k).transpose(1, 2)  # (B, H, T, d_k)
        k = self.w_k(key).view(B, S, self.heads, self.d_k).transpose(1, 2)  # (B, H, S, d_k)
        v = self.w_v(value).view(B, S, self.heads, self.d_k).transpose(1, 2)  # (B, H, S, d_v)
        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(self.d_k)  # (B, H, T, S)
        if mask is not None:
            mask = mask.unsqueeze(1)  # (B, T, S) -> (B, 1, T, S), for all heads
            scores = scores.masked_fill(mask == 0, -1e9)
        weights = torch.softmax(scores, dim=-1)  # over S
        z = torch.matmul(weights, v)  # (B, H, T, S) x (B, H, S, d_v) -> (B, H, T, d_v)
        z = z.transpose(1, 2).contiguous().view(B, T, -1)  # (B, T, H * d_v)
        return self.w_o(z), weights


def draw():
    """Samples the tensors that the app shows: a layer, and three inputs, each of two sequences of ten tokens."""
    generator = torch.Generator().manual_seed(0)
    layer = MultiHeadAttention(512, heads=8).double()
    for parameter in layer.parameters():  # as in nn.Linear, but from a seed
        nn.init.uniform_(parameter, -(512**-0.5), 512**-0.5, generator=generator)
    query = torch.randn(2, 10, 512, generator=generator).double()  # (B, T, D)
    key = torch.randn(2, 10, 512, generator=generator).double()
    value = torch.randn(2, 10, 512, generator=generator).double()
    return layer, query, key, value


@torch.no_grad()
def run():
    """Returns the output and the weights."""
    layer, query, key, value = draw()
    return layer(query, key, value)


if __name__ == "__main__":
    output, weights = run()
    print(output.shape, weights.shape)
    print(weights[0, 0])
