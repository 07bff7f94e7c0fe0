"""Weights that no word decides: a convolution written as attention, and attention by position alone."""

import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.attention import attend
from attention_core.boundary import check_tensors, shape
from attention_core.config import AttentionConfig, Weights, positive
from attention_core.errors import AttentionError
from attention_core.trace import Trace


def band(kernel: Float[Tensor, " window"], length: int) -> Float[Tensor, "T T"]:
    """A kernel as the weights of attention: the same numbers in every row, moved along, cut off at the ends.

    kernel: numbers for the keys from (window - 1) // 2 before the query on. As `replacement` in attend it makes the
    convolution that torch's conv1d makes with padding="same". Raises AttentionError: rank, positive_integer.

    >>> band(torch.tensor([0.2, 0.5, 0.3]), 3)
    tensor([[0.5000, 0.3000, 0.0000],
            [0.2000, 0.5000, 0.3000],
            [0.0000, 0.2000, 0.5000]])
    """
    check_tensors({"kernel": kernel})
    if kernel.dim() != 1:
        raise AttentionError("rank", name="kernel", axes="(window,)", shape=shape(kernel))
    i, j = torch.arange(positive("length", length)).view(-1, 1), torch.arange(length)  # (T, 1), (T,)
    place = j - i + (len(kernel) - 1) // 2  # (T, T): where in the kernel the key stands
    inside = (place >= 0) & (place < len(kernel))
    return torch.where(inside, kernel[place.clamp(0, len(kernel) - 1)], 0.0)


def attend_convolution(x: Float[Tensor, "*B T D"], taps: Float[Tensor, "window D D_out"]) -> Trace:
    r"""A convolution as attention with fixed weights: one head a place of the window, which looks at that place only.

    output$_t = \\sum_m x_{t+m} W_m$: head m's weights are 1 at the offset of its place, its values are x W_m, and W_o
    adds the heads. x (T, D) or (B, T, D); taps: the matrices W_m, from the earliest place on.

    Returns a Trace whose output is torch's conv1d with padding="same" and the weight taps.permute(2, 1, 0). Raises
    AttentionError: rank, and what attend raises. Source: Cordonnier, Loukas, Jaggi 2020, theorem 1.

    >>> x, taps = torch.tensor([[1.0], [2.0], [4.0]]), torch.tensor([[[10.0]], [[1.0]], [[0.0]]])
    >>> attend_convolution(x, taps)["output"].flatten()                # 10 times what is before, and itself
    tensor([ 1., 12., 24.])
    """
    check_tensors({"x": x, "taps": taps})
    if taps.dim() != 3:
        raise AttentionError("rank", name="taps", axes="(window, D, D_out)", shape=shape(taps))
    window, D, D_out = taps.shape
    looks = torch.stack([band(place, x.shape[-2]) for place in torch.eye(window, dtype=x.dtype)])  # (window, T, T)
    silent = x.new_zeros(D, window)  # q and k, one number a head, that ask and offer nothing
    weights = Weights(
        w_q=silent,
        w_k=silent,
        w_v=taps.transpose(0, 1).reshape(D, window * D_out),  # (D, window, D_out) -> (D, H d_v)
        w_o=torch.eye(D_out, dtype=x.dtype).repeat(window, 1),  # (H d_v, D_out): the sum over the heads
    )
    return attend(x, weights=weights, config=AttentionConfig(heads=window), replacement=looks[None])


def attend_by_position(words: Float[Tensor, "T D"], scores: Float[Tensor, " window"]) -> Trace:
    """Attention whose scores depend on the offset alone: what the words are changes the values and nothing else.

    x is the words with one-hot positions beside them. W_q and W_k read the positions only, so that q is band(scores)
    and k the identity; W_v reads the words only. words (T, D); scores: for the keys from (window - 1) // 2 before the
    query on, 0 for all others. The scores are not scaled.

    Returns a Trace. Raises AttentionError: rank, and what attend raises.
    Source: the position-based head of Cordonnier, Loukas, Jaggi 2020, section 3.

    >>> trace = attend_by_position(torch.ones(3, 2), torch.tensor([50.0, 0.0, 0.0]))      # the word before
    >>> trace["weights"][0, 0, 2].round()
    tensor([0., 1., 0.])
    """
    check_tensors({"words": words, "scores": scores})
    if words.dim() != 2:
        raise AttentionError("rank", name="words", axes="(T, D)", shape=shape(words))
    T, D = words.shape
    nothing, places = words.new_zeros(D, T), torch.eye(T, dtype=words.dtype)
    weights = Weights(
        w_q=torch.cat([nothing, band(scores, T)]),  # (D + T, T)
        w_k=torch.cat([nothing, places]),  # (D + T, T)
        w_v=torch.eye(D + T, D, dtype=words.dtype),  # (D + T, D)
    )
    x = torch.cat([words, places], dim=1)  # (T, D + T)
    return attend(x, weights=weights, config=AttentionConfig(scale=1.0))
