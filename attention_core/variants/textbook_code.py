"""Attention in plain torch code, as in textbooks: multi-head layers in a function, and the blocks of a Transformer."""

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
    """Self-attention from x to the output, as a run without masks, positions and biases computes it."""
    B, T, _ = x.shape
    q, k, v = x @ w_q, x @ w_k, x @ w_v  # linear: (B, T, H * d_k), likewise k; v is (B, T, H * d_v)
    q = q.view(B, T, heads, -1)  # (B, T, H, d_k): the same numbers, read with one axis more
    q = q.transpose(1, 2)  # (B, H, T, d_k): the heads stand before the tokens; no number moves
    k = k.view(B, T, heads, -1).transpose(1, 2)  # (B, H, S, d_k)
    v = v.view(B, T, heads, -1).transpose(1, 2)  # (B, H, S, d_v)
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])  # (B, H, T, S)
    z = torch.softmax(scores, dim=-1) @ v  # (B, H, T, S) x (B, H, S, d_v) -> (B, H, T, d_v)
    z = z.transpose(1, 2)  # (B, T, H, d_v)
    z = z.contiguous()  # copied in this order: a view cannot join axes that lie apart
    z = z.view(B, T, -1)  # (B, T, H * d_v)
    return z @ w_o  # (B, T, D_out)


def split_by_eighth(x: Float[Tensor, "B T D"]) -> Float[Tensor, "B H T d_k"]:
    """Heads as wide as an eighth of x."""
    B, T, D = x.shape
    d_k = D // 8  # meant for 8 heads; rounded down, to 0 where D is less than 8
    return x.view(B, T, -1, d_k).transpose(1, 2)  # (B, T, D / d_k, d_k) -> (B, H, T, d_k)


def heads_by_eighth(width: int) -> tuple[int, int] | None:
    """The number and the width of the heads that `split_by_eighth` returns; None if torch raises an error.

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
    """Return outputs of heads whose numbers encode their places: 231 is head 2, token 3, column 1.

    >>> numbered_heads(2)[0, 1].tolist()
    [[211.0, 212.0], [221.0, 222.0], [231.0, 232.0]]
    """
    h = torch.arange(1.0, heads + 1).view(-1, 1, 1)  # (H, 1, 1)
    t = torch.arange(1.0, tokens + 1).view(-1, 1)  # (T, 1)
    i = torch.arange(1.0, width + 1)  # (d_v,)
    return (100 * h + 10 * t + i)[None]  # (1, H, T, d_v)


def merge_by_view(x: Float[Tensor, "B H T d_v"]) -> Float[Tensor, "B T H*d_v"]:
    """Heads side by side without a copy, where a view can do that."""
    B, _, T, _ = x.shape
    x = x.transpose(1, 2)  # (B, T, H, d_v): the strides change places; no number moves
    return x.view(B, T, -1)  # (B, T, H * d_v)


def merge_by_copy(x: Float[Tensor, "B H T d_v"]) -> Float[Tensor, "B T H*d_v"]:
    """Heads side by side, copied first."""
    B, _, T, _ = x.shape
    x = x.transpose(1, 2)  # (B, T, H, d_v): the strides change places; no number moves
    x = x.contiguous()  # copied in this order: a view cannot join axes that lie apart
    return x.view(B, T, -1)  # (B, T, H * d_v)


def merge_by_reshape(x: Float[Tensor, "B H T d_v"]) -> Float[Tensor, "B T H*d_v"]:
    """Heads side by side; reshape copies by itself where a view is refused."""
    B, _, T, _ = x.shape
    x = x.transpose(1, 2)  # (B, T, H, d_v): the strides change places; no number moves
    return x.reshape(B, T, -1)  # (B, T, H * d_v)


def merge_untransposed(x: Float[Tensor, "B H T d_v"]) -> Float[Tensor, "B T H*d_v"]:
    """The shape of heads side by side, and other numbers: the tokens were not moved back before the heads."""
    B, _, T, _ = x.shape
    return x.view(B, T, -1)  # (B, T, H * d_v): a row takes whatever lies next in memory


# ---- blocks, which compute the same numbers as torch's layers --------------------------------------------------------
class EncoderBlock(nn.Module):
    """Encoder block: adds attention, then a feed-forward layer (Vaswani et al. 2017; norms first: Xiong et al.
    2020).
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
        return x + self.feed_forward(self.norm_2(x))  # each word alone


class DecoderBlock(nn.Module):
    """Decoder block: adds self-attention, cross-attention and a feed-forward layer to x, with a norm after each sum."""

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
        x = self.norm_2(x + self.cross(x, memory, memory, need_weights=False)[0])  # q of x; k and v of the memory
        return self.norm_3(x + self.feed_forward(x))


def block_source(block: type[nn.Module]) -> str:
    """Return the source code of EncoderBlock or DecoderBlock with its imports, ready to run.

    >>> block_source(EncoderBlock).splitlines()[0]
    'from torch import Tensor, nn'
    """
    return f"from torch import Tensor, nn\n\n\n{inspect.getsource(block)}"
