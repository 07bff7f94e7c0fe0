"""Weights that no word decides: a convolution written as attention, and attention by position alone."""

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.inputs.matrix_text import parse_matrix
from attention_core.mechanism.attention import attend
from attention_core.mechanism.checks import check_tensors, shape_of
from attention_core.mechanism.config import AttentionConfig, Weights, require_positive
from attention_core.record.errors import AttentionError
from attention_core.record.expressions import Cell, Operand
from attention_core.record.trace import Faces, Operation, Step, Trace

MAX_TAPS = 15


def read_taps(text: str) -> Float[Tensor, " window"]:
    """The numbers of a kernel, at most 15 of them. Raises AttentionError as parse_matrix does, and too_many_logits.

    >>> read_taps("0.2, 0.5, 0.3")
    tensor([0.2000, 0.5000, 0.3000], dtype=torch.float64)
    """
    numbers = parse_matrix(text, "kernel").reshape(-1)
    if len(numbers) > MAX_TAPS:
        raise AttentionError("too_many_logits", limit=MAX_TAPS, given=len(numbers))
    return torch.from_numpy(numbers)


def kernel_band(kernel: Float[Tensor, " window"], length: int) -> Float[Tensor, "T T"]:
    """A kernel as the weights of attention: the same numbers in every row, moved along, cut off at the ends.

    kernel: numbers for the keys from (window - 1) // 2 before the query on. As `replacement` in attend it makes the
    convolution that torch's conv1d makes with padding="same". Raises AttentionError: rank, positive_integer.

    >>> kernel_band(torch.tensor([0.2, 0.5, 0.3]), 3)
    tensor([[0.5000, 0.3000, 0.0000],
            [0.2000, 0.5000, 0.3000],
            [0.0000, 0.2000, 0.5000]])
    """
    check_tensors({"kernel": kernel})
    if kernel.dim() != 1:
        raise AttentionError("rank", name="kernel", axes="(window,)", shape=shape_of(kernel))
    i, j = torch.arange(require_positive("length", length)).view(-1, 1), torch.arange(length)  # (T, 1), (T,)
    place = j - i + (len(kernel) - 1) // 2  # (T, T): where in the kernel the key stands
    inside = (place >= 0) & (place < len(kernel))
    return torch.where(inside, kernel[place.clamp(0, len(kernel) - 1)], 0.0)


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
        raise AttentionError("rank", name="words", axes="(T, D)", shape=shape_of(words))
    T, D = words.shape
    nothing, places = words.new_zeros(D, T), torch.eye(T, dtype=words.dtype)
    weights = Weights(
        w_q=torch.cat([nothing, kernel_band(scores, T)]),  # (D + T, T)
        w_k=torch.cat([nothing, places]),  # (D + T, T)
        w_v=torch.eye(D + T, D, dtype=words.dtype),  # (D + T, D)
    )
    x = torch.cat([words, places], dim=1)  # (T, D + T)
    return attend(x, weights=weights, config=AttentionConfig(scale=1.0))


# ---- the same by torch's convolution, as a step of a run -------------------------------------------------------------
def convolve_words(x: Float[Tensor, "B T D"], kernel: Float[Tensor, " window"]) -> Float[Tensor, "B T D_out"]:
    """Every column of x with the same kernel, padding="same"."""
    B, T, D = x.shape
    columns = x.transpose(1, 2).reshape(B * D, 1, T)  # (B, T, D) -> (B D, 1, T): one channel each
    back = (len(kernel) - 1) // 2
    padded = torch.nn.functional.pad(columns, (back, len(kernel) - 1 - back))
    return torch.conv1d(padded, kernel.view(1, 1, -1)).view(B, D, T).transpose(1, 2)  # (B D, 1, T) -> (B, T, D)


def convolve_words_numpy(x, kernel):
    at = np.arange(x.shape[1])
    place = at[None, :] - at[:, None] + (len(kernel) - 1) // 2  # (T, T): where in the kernel the word stands
    inside = (place >= 0) & (place < len(kernel))
    taps = np.where(inside, kernel[np.clip(place, 0, len(kernel) - 1)], 0.0)
    return np.einsum("ts,bsd->btd", taps, x)


def convolve_words_formula(x, kernel):
    return rf"\mathrm{{conv1d}}({x}, {kernel})"


def convolve_words_cell(index, x: Operand, kernel: Operand) -> Cell:
    b, t, d = index
    first = t - (kernel.shape[0] - 1) // 2
    inside = [m for m in range(kernel.shape[0]) if 0 <= first + m < x.shape[1]]
    return Cell(tuple((x[b, first + m, d], kernel[m]) for m in inside))


CONVOLVE = Faces(convolve_words, convolve_words_numpy, convolve_words_formula, convolve_words_cell)


def with_convolution(trace: Trace, kernel: Float[Tensor, " window"]) -> Trace:
    r"""The run with the convolution of its x behind it, step `convolved`: $\sum_m \mathrm{kernel}_m\, x_{t+m-r}$.

    kernel: as in `band`; r = (window - 1) // 2. Raises AttentionError: rank; KeyError where the run has no x.

    >>> trace = attend(torch.eye(3), replacement=kernel_band(torch.tensor([0.2, 0.5, 0.3]), 3))
    >>> trace = with_convolution(trace, torch.tensor([0.2, 0.5, 0.3]))
    >>> torch.equal(trace["convolved"], trace["output"])
    True
    """
    check_tensors({"kernel": kernel})
    if kernel.dim() != 1:
        raise AttentionError("rank", name="kernel", axes="(window,)", shape=shape_of(kernel))
    steps = {"kernel": Step("kernel", kernel, ("window",)), **trace.steps}
    return Trace(steps, trace.labels).then(Operation("convolved", ("B", "T", "D_out"), ("x", "kernel"), CONVOLVE))
