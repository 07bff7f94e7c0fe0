"""Attention in plain torch code, as in textbooks: multi-head attention in one function, and Transformer blocks of
torch's modules.
"""

import inspect
import math

import torch
from jaxtyping import Float
from torch import Tensor, nn


def multi_head(
    x: Float[Tensor, "B T D"],
    w_q: Float[Tensor, "D H*d_k"],
    w_k: Float[Tensor, "D H*d_k"],
    w_v: Float[Tensor, "D H*d_v"],
    w_o: Float[Tensor, "H*d_v D_out"],
    *,
    heads: int,
) -> Float[Tensor, "B T D_out"]:
    """Computes self-attention from x to the output, as a run without masks, positions and biases does."""
    B, T, _ = x.shape
    q, k, v = x @ w_q, x @ w_k, x @ w_v  # linear: (B, T, H * d_k), likewise k; v is (B, T, H * d_v)
    q = q.view(B, T, heads, -1)  # (B, T, H, d_k): the same numbers, read with one axis more
    q = q.transpose(1, 2)  # (B, H, T, d_k): heads before tokens; no number is moved in memory
    k = k.view(B, T, heads, -1).transpose(1, 2)  # (B, H, S, d_k)
    v = v.view(B, T, heads, -1).transpose(1, 2)  # (B, H, S, d_v)
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])  # (B, H, T, S)
    z = torch.softmax(scores, dim=-1) @ v  # (B, H, T, S) x (B, H, S, d_v) -> (B, H, T, d_v)
    z = z.transpose(1, 2)  # (B, T, H, d_v): only strides change; no number is moved
    z = z.contiguous()  # copied in this order, because a view cannot join axes that are not adjacent in memory
    z = z.view(B, T, -1)  # (B, T, H * d_v)
    return z @ w_o  # (B, T, D_out)


def split_by_eighth(x: Float[Tensor, "B T D"]) -> Float[Tensor, "B H T d_k"]:
    """Cuts x into heads as wide as an eighth of x."""
    B, T, D = x.shape
    d_k = D // 8  # meant for 8 heads; rounded down, and 0 if D is less than 8
    return x.view(B, T, -1, d_k).transpose(1, 2)  # (B, T, D / d_k, d_k) -> (B, H, T, d_k)


def heads_by_eighth(width: int) -> tuple[int, int] | None:
    """The number and the width of the heads that `split_by_eighth` returns; None if the function raises an error.

    Eight heads only if 8 divides the width: else d_k is rounded down, and `view` with -1 returns as many heads as fit.

    >>> [heads_by_eighth(width) for width in (16, 12, 18, 20, 25)]
    [(8, 2), (12, 1), (9, 2), (10, 2), None]
    """
    try:
        split = split_by_eighth(torch.zeros(1, 1, width))
    except RuntimeError:
        return None
    return split.shape[1], split.shape[-1]


# ---- heads side by side, with and without contiguous() ---------------------------------------------------------------
def numbered_heads(heads: int, tokens: int = 3, width: int = 2) -> Float[Tensor, "1 H T d_v"]:
    """Return example outputs of heads whose numbers encode their place: 231 is head 2, token 3, column 1.

    >>> numbered_heads(2)[0, 1].tolist()
    [[211.0, 212.0], [221.0, 222.0], [231.0, 232.0]]
    """
    h = torch.arange(1.0, heads + 1).view(-1, 1, 1)  # (H, 1, 1)
    t = torch.arange(1.0, tokens + 1).view(-1, 1)  # (T, 1)
    i = torch.arange(1.0, width + 1)  # (d_v,)
    return (100 * h + 10 * t + i)[None]  # (1, H, T, d_v)


def merge_by_view(x: Float[Tensor, "B H T d_v"]) -> Float[Tensor, "B T H*d_v"]:
    """Puts the heads side by side without a copy, which a view can do only for some strides."""
    B, _, T, _ = x.shape
    x = x.transpose(1, 2)  # (B, T, H, d_v): only strides change; no number is moved
    return x.view(B, T, -1)  # (B, T, H * d_v)


def merge_by_copy(x: Float[Tensor, "B H T d_v"]) -> Float[Tensor, "B T H*d_v"]:
    """Puts the heads side by side after copying them."""
    B, _, T, _ = x.shape
    x = x.transpose(1, 2)  # (B, T, H, d_v): only strides change; no number is moved
    x = x.contiguous()  # copied in this order, because a view cannot join axes that are not adjacent in memory
    return x.view(B, T, -1)  # (B, T, H * d_v)


def merge_by_reshape(x: Float[Tensor, "B H T d_v"]) -> Float[Tensor, "B T H*d_v"]:
    """Puts the heads side by side; reshape copies where a view is impossible."""
    B, _, T, _ = x.shape
    x = x.transpose(1, 2)  # (B, T, H, d_v): only strides change; no number is moved
    return x.reshape(B, T, -1)  # (B, T, H * d_v)


def merge_untransposed(x: Float[Tensor, "B H T d_v"]) -> Float[Tensor, "B T H*d_v"]:
    """Returns the shape of heads side by side with wrong numbers, because tokens and heads were not transposed back."""
    B, _, T, _ = x.shape
    return x.view(B, T, -1)  # (B, T, H * d_v): a row has the numbers that come next in memory


# ---- blocks, which compute the same numbers as torch's layers --------------------------------------------------------
class EncoderBlock(nn.Module):
    """An encoder block: x plus attention, then plus a feed-forward layer (Vaswani et al. 2017; norms first: Xiong et
    al. 2020).
    """

    def __init__(self, width: int, heads: int, inner: int):
        super().__init__()
        self.norm_1, self.norm_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = nn.MultiheadAttention(width, heads, batch_first=True)
        self.feed_forward = nn.Sequential(nn.Linear(width, inner), nn.ReLU(), nn.Linear(inner, width))

    def forward(self, x: Tensor) -> Tensor:  # (B, T, D) -> (B, T, D)
        """Run the block on the words' vectors x."""
        normed = self.norm_1(x)
        x = x + self.attention(normed, normed, normed, need_weights=False)[0]  # attention between words
        return x + self.feed_forward(self.norm_2(x))  # for each word separately


class DecoderBlock(nn.Module):
    """A decoder block: x plus self-attention, cross-attention and a feed-forward layer, with a norm after each sum."""

    def __init__(self, width: int, heads: int, inner: int):
        super().__init__()
        self.attention = nn.MultiheadAttention(width, heads, batch_first=True)
        self.cross = nn.MultiheadAttention(width, heads, batch_first=True)
        self.feed_forward = nn.Sequential(nn.Linear(width, inner), nn.ReLU(), nn.Linear(inner, width))
        self.norm_1, self.norm_2, self.norm_3 = (nn.LayerNorm(width) for _ in range(3))

    def forward(self, x: Tensor, memory: Tensor) -> Tensor:  # (B, T, D), (B, S, D) -> (B, T, D)
        """Run the block on the vectors x of the output's words and the encoder's output, memory."""
        later = nn.Transformer.generate_square_subsequent_mask(x.shape[1], dtype=x.dtype)  # (T, T): −∞ for later words
        x = self.norm_1(x + self.attention(x, x, x, attn_mask=later, need_weights=False)[0])
        x = self.norm_2(x + self.cross(x, memory, memory, need_weights=False)[0])  # q from x; k and v from the memory
        return self.norm_3(x + self.feed_forward(x))


def block_source(block: type[nn.Module]) -> str:
    """Return the source code of EncoderBlock or DecoderBlock with its imports, ready to run.

    >>> block_source(EncoderBlock).splitlines()[0]
    'from torch import Tensor, nn'
    """
    return f"from torch import Tensor, nn\n\n\n{inspect.getsource(block)}"
