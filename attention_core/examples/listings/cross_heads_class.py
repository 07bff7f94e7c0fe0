"""Cross-attention of several heads as a class, with padding and dropout."""

import math

import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    """concat(head_1, ..., head_h) W_o; the mask is True where a key is padding."""

    def __init__(self, d_model, heads, dropout, generator):
        super().__init__()
        assert d_model % heads == 0, "d_model must be a multiple of heads"
        self.heads = heads
        self.d_k = d_model // heads
        self.w_q = nn.Linear(d_model, d_model)
        self.w_k = nn.Linear(d_model, d_model)
        self.w_v = nn.Linear(d_model, d_model)
        self.w_o = nn.Linear(d_model, d_model)
        self.dropout = dropout
        self.generator = generator

    def _split_heads(self, x):
        B, T, _ = x.shape
        return x.view(B, T, self.heads, self.d_k).transpose(1, 2)  # (B, H, T, d_k)

    def _combine_heads(self, z):
        B, _, T, _ = z.shape
        return z.transpose(1, 2).contiguous().view(B, T, -1)  # (B, T, H * d_v)

    def _drop(self, weights):
        if not self.training:
            return weights
        draws = torch.rand(weights.shape, generator=self.generator, dtype=weights.dtype)
        kept = draws >= self.dropout  # as in nn.Dropout, but from a seed
        return weights * kept / (1 - self.dropout)

    def forward(self, query, key, value, mask=None):
        q = self._split_heads(self.w_q(query))  # (B, H, T, d_k)
        k = self._split_heads(self.w_k(key))  # (B, H, S, d_k)
        v = self._split_heads(self.w_v(value))  # (B, H, S, d_v)
        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(self.d_k)  # (B, H, T, S)
        if mask is not None:
            scores = scores.masked_fill(mask, float("-inf"))
        weights = self._drop(torch.softmax(scores, dim=-1))  # over S
        z = torch.matmul(weights, v)  # (B, H, T, S) x (B, H, S, d_v) -> (B, H, T, d_v)
        return self.w_o(self._combine_heads(z)), weights


def draw():
    """Samples the tensors that the app shows: a layer, two sequences of five queries, and two sequences of six keys."""
    generator = torch.Generator().manual_seed(0)
    drops = torch.Generator().manual_seed(0)
    layer = MultiHeadAttention(64, heads=8, dropout=0.1, generator=drops).double()
    for parameter in layer.parameters():  # as in nn.Linear, but from a seed
        nn.init.uniform_(parameter, -(64**-0.5), 64**-0.5, generator=generator)
    query = torch.randn(2, 5, 64, generator=generator).double()  # (B, T, D)
    memory = torch.randn(2, 6, 64, generator=generator).double()  # (B, S, D)
    mask = torch.zeros(2, 1, 1, 6, dtype=torch.bool)
    mask[1, :, :, 4:] = True  # the second sequence has four keys; two are padding
    return layer, query, memory, mask


@torch.no_grad()
def run():
    """Returns the output and the weights, as in training, where dropout drops some weights."""
    layer, query, memory, mask = draw()
    return layer(query, memory, memory, mask)


if __name__ == "__main__":
    output, weights = run()
    print(output.shape, weights.shape)
    print(weights[0, 0])
