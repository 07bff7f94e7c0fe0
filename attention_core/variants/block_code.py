"""The blocks of an encoder and of a decoder in plain torch code, which compute the same numbers as torch's layers."""

import inspect

from torch import Tensor, nn


class EncoderBlock(nn.Module):
    """Two additions to a vector that goes straight through (Vaswani et al. 2017; norms before: Xiong et al. 2020)."""

    def __init__(self, width: int, heads: int, inner: int):
        super().__init__()
        self.norm_1, self.norm_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = nn.MultiheadAttention(width, heads, batch_first=True)
        self.feed_forward = nn.Sequential(nn.Linear(width, inner), nn.ReLU(), nn.Linear(inner, width))

    def forward(self, x: Tensor) -> Tensor:  # (B, T, D) -> (B, T, D)
        """Run the block on vectors."""
        normed = self.norm_1(x)
        x = x + self.attention(normed, normed, normed, need_weights=False)[0]  # words look at each other
        return x + self.feed_forward(self.norm_2(x))  # each word by itself


class DecoderBlock(nn.Module):
    """Three additions, a norm behind each: of what stands before, of the other sentence, of each word by itself."""

    def __init__(self, width: int, heads: int, inner: int):
        super().__init__()
        self.attention = nn.MultiheadAttention(width, heads, batch_first=True)
        self.cross = nn.MultiheadAttention(width, heads, batch_first=True)
        self.feed_forward = nn.Sequential(nn.Linear(width, inner), nn.ReLU(), nn.Linear(inner, width))
        self.norm_1, self.norm_2, self.norm_3 = (nn.LayerNorm(width) for _ in range(3))

    def forward(self, x: Tensor, memory: Tensor) -> Tensor:  # (B, T, D), (B, S, D) -> (B, T, D)
        """Run the block on what is written, and on what the encoder made."""
        later = nn.Transformer.generate_square_subsequent_mask(x.shape[1], dtype=x.dtype)  # (T, T): −∞ behind a word
        x = self.norm_1(x + self.attention(x, x, x, attn_mask=later, need_weights=False)[0])
        x = self.norm_2(x + self.cross(x, memory, memory, need_weights=False)[0])  # q of x; k and v of the memory
        return self.norm_3(x + self.feed_forward(x))


def block_source(block: type[nn.Module]) -> str:
    """Return the source code of a block class with its imports, ready to run.

    >>> block_source(EncoderBlock).splitlines()[0]
    'from torch import Tensor, nn'
    """
    return f"from torch import Tensor, nn\n\n\n{inspect.getsource(block)}"
