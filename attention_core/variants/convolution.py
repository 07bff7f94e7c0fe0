"""Computes attention with weights that do not depend on the words: a convolution, and attention by position only."""

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.inputs.matrix_text import parse_matrix
from attention_core.mechanism.attention import attend
from attention_core.mechanism.checks import check_tensors, shape_of
from attention_core.mechanism.config import AttentionConfig, Weights
from attention_core.mechanism.plain_checks import require_positive
from attention_core.record.errors import AttentionError
from attention_core.record.expressions import Cell, Operand
from attention_core.record.trace import Faces, Operation, Step, Trace

MAX_TAPS = 15


def read_taps(text: str) -> Float[Tensor, " window"]:
    """Parse a text with the numbers of a convolution kernel, at most 15.

    Raises AttentionError: too_many_logits, and what parse_matrix raises for a text that is no matrix.

    >>> read_taps("0.2, 0.5, 0.3")
    tensor([0.2000, 0.5000, 0.3000], dtype=torch.float64)
    """
    matrix = parse_matrix(text, "kernel")
    numbers = matrix.reshape(-1)
    count = len(numbers)
    if count > MAX_TAPS:
        raise AttentionError("too_many_logits", limit=MAX_TAPS, given=count)
    return torch.from_numpy(numbers)


def kernel_band(kernel: Float[Tensor, " window"], length: int) -> Float[Tensor, "T T"]:
    """Return a convolution kernel as attention weights: row t has the kernel's numbers at the keys around t.

    Numbers of the kernel before the first or after the last key are cut off. kernel: the weights of consecutive keys,
    the first of which is (window - 1) // 2 before the query. As `replacement` in attend, the result gives the
    convolution of torch's conv1d with padding="same". Raises AttentionError: rank, positive_integer.

    >>> kernel_band(torch.tensor([0.2, 0.5, 0.3]), 3)
    tensor([[0.5000, 0.3000, 0.0000],
            [0.2000, 0.5000, 0.3000],
            [0.0000, 0.2000, 0.5000]])
    """
    check_kernel(kernel)
    T = require_positive("length", length)
    window = len(kernel)
    back = (window - 1) // 2

    i = torch.arange(T, device=kernel.device).view(-1, 1)  # (T, 1)
    j = torch.arange(T, device=kernel.device)  # (T,)
    tap = j - i + back  # (T, T): for each pair, the index of its number in the kernel
    before_first = tap < 0
    behind_last = tap >= window
    band = kernel[tap.clamp(0, window - 1)]  # (T, T)
    return torch.where(before_first | behind_last, 0.0, band)


def check_kernel(kernel: Tensor) -> None:
    """Raise AttentionError (rank) if a kernel does not have exactly one axis."""
    check_tensors({"kernel": kernel})
    if kernel.dim() != 1:
        raise AttentionError(
            "rank",
            name="kernel",
            axes="(window,)",
            shape=shape_of(kernel),
        )


def attend_by_position(words: Float[Tensor, "T D"], scores: Float[Tensor, " window"]) -> Trace:
    """Run attention whose scores depend only on the distance from query to key; only the values depend on the words.

    x has the words with one-hot positions appended. W_q and W_k read the positions only, so that q is
    kernel_band(scores) and k the identity; W_v reads the words only. words: (T, D). scores: those of consecutive keys,
    the first of which is (window - 1) // 2 before the query; all other keys have the score 0. The scores are not
    scaled.

    Returns a Trace. Raises AttentionError: rank, and what attend raises. Source: the position-based head of Cordonnier,
    Loukas, Jaggi 2020, section 3.

    >>> trace = attend_by_position(torch.ones(3, 2), torch.tensor([50.0, 0.0, 0.0]))      # the word before
    >>> trace["weights"][0, 0, 2].round()
    tensor([0., 1., 0.])
    """
    check_tensors({"words": words, "scores": scores})
    if words.dim() != 2:
        raise AttentionError(
            "rank",
            name="words",
            axes="(T, D)",
            shape=shape_of(words),
        )
    T, D = words.shape
    band = kernel_band(scores, T)  # (T, T)
    positions = torch.eye(T, dtype=words.dtype, device=words.device)  # (T, T)
    skip_words = words.new_zeros(D, T)
    weights = Weights(
        w_q=torch.cat([skip_words, band]),  # (D + T, T)
        w_k=torch.cat([skip_words, positions]),  # (D + T, T)
        w_v=torch.eye(D + T, D, dtype=words.dtype, device=words.device),  # (D + T, D)
    )
    x = torch.cat([words, positions], dim=1)  # (T, D + T)
    config = AttentionConfig(scale=1.0)
    return attend(x, weights=weights, config=config)


# ---- the same by torch's convolution, as a step of a run -------------------------------------------------------------
def convolve_words(x: Float[Tensor, "B T D"], kernel: Float[Tensor, " window"]) -> Float[Tensor, "B T D_out"]:
    """Returns the convolution of each column of x with the kernel, as conv1d with padding="same"."""
    B, T, D = x.shape
    window = len(kernel)
    back = (window - 1) // 2
    ahead = window - 1 - back

    columns = x.transpose(1, 2)  # (B, D, T)
    columns = columns.reshape(B * D, 1, T)  # depthwise: each column is one channel
    columns = torch.nn.functional.pad(columns, (back, ahead))  # (B D, 1, back + T + ahead)
    taps = kernel.view(1, 1, window)
    columns = torch.conv1d(columns, taps)  # (B D, 1, T)
    columns = columns.view(B, D, T)
    return columns.transpose(1, 2)  # (B, T, D)


def convolve_words_numpy(x, kernel):
    T = x.shape[1]
    window = len(kernel)
    back = (window - 1) // 2

    t, s = np.indices((T, T))
    tap = s - t + back  # (T, T): index in the kernel for each pair of words
    before_first = tap < 0
    behind_last = tap >= window
    band = kernel[tap.clip(0, window - 1)]  # (T, T)
    band = np.where(before_first | behind_last, 0.0, band)
    return np.einsum("ts,bsd->btd", band, x)


def convolve_words_formula(x, kernel):
    return rf"\mathrm{{conv1d}}({x}, {kernel})"


def convolve_words_cell(index, x: Operand, kernel: Operand) -> Cell:
    b, t, d = index
    T = x.shape[1]
    window = kernel.shape[0]
    first_word = t - (window - 1) // 2
    products = []
    for tap in range(window):
        word = first_word + tap
        if 0 <= word < T:
            product = (x[b, word, d], kernel[tap])
            products.append(product)
    return Cell(tuple(products))


CONVOLVE = Faces(convolve_words, convolve_words_numpy, convolve_words_formula, convolve_words_cell)


def with_convolution(trace: Trace, kernel: Float[Tensor, " window"]) -> Trace:
    r"""Add the step `convolved` to a run: the convolution of x with a kernel, $\sum_m \mathrm{kernel}_m\, x_{t+m-r}$.

    kernel: (window,), the weights of consecutive words, the first of which is r = (window - 1) // 2 before t. Raises
    AttentionError: rank. Raises KeyError if the run has no x.

    >>> trace = attend(torch.eye(3), replacement=kernel_band(torch.tensor([0.2, 0.5, 0.3]), 3))
    >>> trace = with_convolution(trace, torch.tensor([0.2, 0.5, 0.3]))
    >>> torch.equal(trace["convolved"], trace["output"])
    True
    """
    check_kernel(kernel)
    kernel_step = Step("kernel", kernel.to(trace["x"].device), ("window",))
    steps = {"kernel": kernel_step, **trace.steps}
    convolve = Operation(
        output="convolved",
        dims=("B", "T", "D_out"),
        reads=("x", "kernel"),
        faces=CONVOLVE,
    )
    return Trace(steps, trace.labels).then(convolve)
