"""Self-attention as a class that takes an eighth of the width for a head."""

import torch
from torch import nn


class SelfAttention(nn.Module):
    """softmax(q kᵀ / √d_k) v, for heads as wide as an eighth of x."""

    def __init__(self, d_model):
        super().__init__()
        self.d_k = d_model // 8  # the width of a head, not the number of heads
        self.w_q = nn.Linear(d_model, d_model)
        self.w_k = nn.Linear(d_model, d_model)
        self.w_v = nn.Linear(d_model, d_model)
        self.scale = torch.tensor(self.d_k).float().sqrt()  # double() does not convert it

    def forward(self, x):
        B, T, _ = x.shape
        q = self.w_q(x).view(B, T, -1, self.d_k).transpose(1, 2)  # (B, H, T, d_k)
        k = self.w_k(x).view(B, T, -1, self.d_k).transpose(1, 2)  # (B, H, S, d_k)
        v = self.w_v(x).view(B, T, -1, self.d_k).transpose(1, 2)  # (B, H, S, d_v)
        scores = torch.matmul(q, k.transpose(-2, -1)) / self.scale  # (B, H, T, S)
        weights = torch.softmax(scores, dim=-1)  # over S
        z = torch.matmul(weights, v)  # (B, H, T, S) x (B, H, S, d_v) -> (B, H, T, d_v)
        return z.transpose(1, 2).reshape(B, T, -1), weights  # (B, T, H * d_v)


def draw():
    """Samples the tensors that the app shows: a layer, and two sequences of five tokens."""
    generator = torch.Generator().manual_seed(0)
    layer = SelfAttention(128).double()
    for parameter in layer.parameters():  # as in nn.Linear, but from a seed
        nn.init.uniform_(parameter, -(128**-0.5), 128**-0.5, generator=generator)
    x = torch.randn(2, 5, 128, generator=generator).double()  # (B, T, D)
    return layer, x


@torch.no_grad()
def run():
    """Returns the output and the weights."""
    layer, x = draw()
    return layer(x)


if __name__ == "__main__":
    output, weights = run()
    print(output.shape, weights.shape)
    print(weights[0, 0])
