"""Other ways to encode a sequence, beside attention: recurrent networks and stacked convolutions; what reaches what.

Every kind turns x (B, T, D) into one vector a position, with random weights from a visible seed. `influence` measures
how much the vector at one position depends on each word: the norm of a Jacobian.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.mechanism import checks
from attention_core.mechanism.attention import attend
from attention_core.mechanism.config import (
    AttentionConfig,
    Weights,
    require_finite,
    require_not_negative,
    require_one_of,
    require_positive,
)
from attention_core.record.errors import AttentionError
from attention_core.record.trace import Trace

MAX_ENCODER_LENGTH = 128  # positions of one measurement
MAX_ENCODER_WIDTH = 64
MAX_ENCODER_LAYERS = 32


# ---- one step of a recurrence: from_x is x_t W_x + b, the state's first tensor is h ----------------------------------
RecurrentState = tuple[Tensor, ...]


def rnn_cell(from_x: Float[Tensor, "B H"], state: RecurrentState, w_h: Float[Tensor, "H H"]) -> RecurrentState:
    r"""$h_t = \tanh(x_t W_x + h_{t-1} W_h + b)$ (Elman 1990)."""
    (h,) = state
    return (torch.tanh(from_x + h @ w_h),)


def gru_cell(from_x: Float[Tensor, "B 3*H"], state: RecurrentState, w_h: Float[Tensor, "H 3*H"]) -> RecurrentState:
    r"""$h_t = (1 - z) \odot n + z \odot h_{t-1}$, $n = \tanh(x_t W_n + r \odot h_{t-1} U_n)$ (Cho et al. 2014)."""
    (h,) = state
    reset_x, keep_x, new_x = from_x.chunk(3, dim=-1)  # each (B, H), in torch's order
    reset_h, keep_h, new_h = (h @ w_h).chunk(3, dim=-1)
    reset, keep = torch.sigmoid(reset_x + reset_h), torch.sigmoid(keep_x + keep_h)
    new = torch.tanh(new_x + reset * new_h)
    return ((1 - keep) * new + keep * h,)


def lstm_cell(from_x: Float[Tensor, "B 4*H"], state: RecurrentState, w_h: Float[Tensor, "H 4*H"]) -> RecurrentState:
    r"""$c_t = f \odot c_{t-1} + i \odot g$, $h_t = o \odot \tanh(c_t)$ (Hochreiter, Schmidhuber 1997; Gers 2000)."""
    h, c = state
    let_in, keep, new, out = (from_x + h @ w_h).chunk(4, dim=-1)  # each (B, H), in torch's order i, f, g, o
    c = torch.sigmoid(keep) * c + torch.sigmoid(let_in) * torch.tanh(new)
    return torch.sigmoid(out) * torch.tanh(c), c


@dataclass(frozen=True)
class RecurrentCell:
    """A recurrence by name: one step of it, how many gates its matrices hold side by side, which of them keeps the
    state (None: none does), and how many vectors the state has."""

    step: Callable[[Tensor, RecurrentState, Tensor], RecurrentState]
    gates: int = 1
    keeping: int | None = None
    states: int = 1


RECURRENT_CELLS = {
    "rnn": RecurrentCell(rnn_cell),
    "gru": RecurrentCell(gru_cell, 3, 1),
    "lstm": RecurrentCell(lstm_cell, 4, 1, 2),
}
ENCODER_KINDS = (*RECURRENT_CELLS, "cnn", "attention")


# ---- the choices -----------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Encoder:
    """One way to encode a sequence.

    kind: one of KINDS. width: numbers a position has in every layer (in each direction). both: whether a position hears
    from both sides; else only from what came before it. For a recurrence that is a second pass from the end, its
    outputs beside the first's; for cnn a window around the position; for attention, no causal mask. layers: how many,
    one on the other. window: positions that one layer of cnn reads. gain: a recurrence's matrix from state to state is
    orthogonal times this; None is torch's default, uniform in ±1/√width. keep: what is added inside the gate that keeps
    the state (the LSTM's forget gate, the GRU's update gate). seed: what the weights are drawn from.

    Raises AttentionError: unknown_choice, positive_integer, at_most, finite_number, not_negative, odd_window.

    >>> Encoder("cnn", window=5, both=True).half
    2
    """

    kind: str
    width: int = 32
    both: bool = False
    layers: int = 1
    window: int = 3
    gain: float | None = None
    keep: float = 0.0
    seed: int = 0

    def __post_init__(self):
        require_one_of("kind", self.kind, ENCODER_KINDS)
        for name, limit in (
            ("width", MAX_ENCODER_WIDTH),
            ("layers", MAX_ENCODER_LAYERS),
            ("window", MAX_ENCODER_LENGTH),
        ):
            if require_positive(name, getattr(self, name)) > limit:
                raise AttentionError("at_most", name=name, limit=limit, given=getattr(self, name))
        if self.kind == "cnn" and self.both and self.window % 2 == 0:
            raise AttentionError("odd_window", given=self.window)
        if self.gain is not None:
            require_finite("gain", self.gain)
        require_finite("keep", self.keep)
        require_not_negative("seed", self.seed)

    @property
    def half(self) -> int:
        """How far back one layer of cnn reads, and how far ahead where it reads both sides."""
        return (self.window - 1) // 2 if self.both else self.window - 1


# ---- the weights -----------------------------------------------------------------------------------------------------
@dataclass(frozen=True, eq=False)
class Recurrence:
    """One direction of a recurrent layer, in row convention, G gates side by side."""

    w_h: Float[Tensor, "H G*H"]
    w_x: Float[Tensor, "D G*H"]
    b: Float[Tensor, " G*H"]


Taps = Float[Tensor, "window D H"]  # a convolution's matrices, one a place of the window, from the earliest on
EncoderLayer = tuple[Recurrence, ...] | Taps | Weights


def draw_layers(
    encoder: Encoder, inputs: int, generator: np.random.Generator | None = None
) -> tuple[EncoderLayer, ...]:
    """Random weights of every layer in float64, from the encoder's seed: the same on any machine.

    inputs: the width of x. All are uniform in ±1/√n, torch's default (n: the width of a recurrence, else how many
    numbers are summed), save a recurrence's w_h where a gain is chosen. Biases are 0 but for `keep`.

    >>> [layer[0].w_x.shape for layer in draw_layers(Encoder("gru", width=5, layers=2), inputs=3)]
    [torch.Size([3, 15]), torch.Size([5, 15])]
    """
    generator = generator or np.random.default_rng(encoder.seed)
    layers = []
    for _ in range(encoder.layers):
        layers.append(draw_layer(encoder, inputs, generator))
        inputs = output_width(encoder)
    return tuple(layers)


def output_width(encoder: Encoder) -> int:
    """How many numbers a position has behind a layer."""
    return encoder.width * len(layer_directions(encoder))


def layer_directions(encoder: Encoder) -> tuple[int, ...]:
    """The passes of one layer: +1 from the first word on, -1 from the last; what is no recurrence has one."""
    return (1, -1) if encoder.both and encoder.kind in RECURRENT_CELLS else (1,)


def draw_layer(encoder: Encoder, inputs: int, generator: np.random.Generator) -> EncoderLayer:
    """One layer's weights."""
    width = encoder.width
    if encoder.kind in RECURRENT_CELLS:
        return tuple(draw_recurrence(encoder, inputs, generator) for _ in layer_directions(encoder))
    if encoder.kind == "cnn":
        return draw_uniform_weights(generator, (encoder.window, inputs, width), encoder.window * inputs)
    return Weights(*(draw_uniform_weights(generator, (inputs, width), inputs) for _ in "qkv"))


def draw_recurrence(encoder: Encoder, inputs: int, generator: np.random.Generator) -> Recurrence:
    """One direction's weights, drawn in torch's layout (G H, d_in), w_h first."""
    cell, H = RECURRENT_CELLS[encoder.kind], encoder.width
    if encoder.gain is None:
        w_h = draw_uniform_weights(generator, (cell.gates * H, H), H)
    else:  # every gate has its own
        turns = [np.linalg.qr(generator.standard_normal((H, H)))[0] for _ in range(cell.gates)]
        w_h = torch.from_numpy(encoder.gain * np.concatenate(turns))  # G times (H, H) -> (G H, H)
    w_x = draw_uniform_weights(generator, (cell.gates * H, inputs), H)
    b = torch.zeros(cell.gates, H, dtype=torch.float64)
    if cell.keeping is not None:
        b[cell.keeping] = encoder.keep
    return Recurrence(w_h.T.contiguous(), w_x.T.contiguous(), b.flatten())  # (H, G H), (D, G H), (G H,)


def draw_uniform_weights(generator: np.random.Generator, shape: tuple[int, ...], summed: int) -> Tensor:
    """Numbers between ±1/√summed."""
    bound = summed**-0.5
    return torch.from_numpy(generator.uniform(-bound, bound, shape))


def random_words(encoder: Encoder, length: int, inputs: int) -> Float[Tensor, "T D"]:
    """Random x, normal with variance 1, drawn from the encoder's seed behind its weights.

    To compare several encoders give all of them one x.
    """
    generator = np.random.default_rng(encoder.seed)
    draw_layers(encoder, inputs, generator)
    return torch.from_numpy(generator.standard_normal((length, inputs)))


# ---- from x to one vector a position ---------------------------------------------------------------------------------
def encode(
    encoder: Encoder, x: Float[Tensor, "*B T D"], layers: tuple[EncoderLayer, ...]
) -> Float[Tensor, "B T width"]:
    r"""One vector a position: the layers one on the other.

    rnn, gru, lstm: $h_t = f(h_{t-1}, x_t)$ from $h = 0$ on. cnn: $\tanh(\sum_m x_{t+m} W_m)$ over the window, zeros
    beyond the ends. attention: attend, one head, scaled dot.

    x (T, D) or (B, T, D); layers: see draw_layers, of x's dtype. Raises AttentionError: not_a_tensor, not_floating,
    empty, not_finite, rank.
    Source: Elman 1990; Cho et al. 2014, equations 5 to 8, the reset gate where torch has it; Hochreiter, Schmidhuber
    1997 with Gers et al. 2000; Schuster, Paliwal 1997 (both directions); LeCun et al. 1989; Vaswani et al. 2017.

    >>> encoder = Encoder("lstm", width=3, both=True)
    >>> encode(encoder, torch.ones(5, 2).double(), draw_layers(encoder, inputs=2)).shape
    torch.Size([1, 5, 6])
    """
    checks.check_tensors({"x": x})
    x = checks.as_batch("x", x)
    for layer in layers:
        if encoder.kind in RECURRENT_CELLS:
            passes = [
                run_recurrence(RECURRENT_CELLS[encoder.kind], x, *each)
                for each in zip(layer, layer_directions(encoder), strict=True)
            ]
            x = torch.cat(passes, dim=-1)  # (B, T, H) or (B, T, 2 H)
        elif encoder.kind == "cnn":
            x = torch.tanh(convolve(x, layer, encoder.half))
        else:
            x = run_attention(encoder, x, layer)["output"]
    return x


def run_attention(encoder: Encoder, x: Float[Tensor, "*B T D"], weights: Weights) -> Trace:
    """One layer of attention as an encoder has it, every step kept: one head, scaled dot, causal without `both`.

    >>> run_attention(Encoder("attention"), torch.ones(3, 2).double(), Weights())["weights"][0, 0, 1]
    tensor([0.5000, 0.5000, 0.0000], dtype=torch.float64)
    """
    return attend(x, weights=weights, config=AttentionConfig(masks=() if encoder.both else ("causal",)))


def run_recurrence(
    cell: RecurrentCell, x: Float[Tensor, "B T D"], weights: Recurrence, direction: int = 1
) -> Float[Tensor, "B T H"]:
    """One recurrence over the whole sequence: T steps, each of which waits for the one before it."""
    from_x = x @ weights.w_x + weights.b  # (B, T, D) x (D, G H) -> (B, T, G H): of all positions at once
    state = (x.new_zeros(len(x), len(weights.w_h)),) * cell.states
    outputs = []
    for at_t in from_x.unbind(1)[::direction]:
        state = cell.step(at_t, state, weights.w_h)
        outputs.append(state[0])
    return torch.stack(outputs[::direction], dim=1)  # T times (B, H) -> (B, T, H)


def convolve(x: Float[Tensor, "B T D"], taps: Taps, back: int) -> Float[Tensor, "B T H"]:
    """A window's places, each through its own matrix, summed; `back` of them lie before the position."""
    ahead = len(taps) - 1 - back
    padded = torch.nn.functional.pad(x.transpose(1, 2), (back, ahead))  # (B, D, back + T + ahead)
    return torch.conv1d(padded, taps.permute(2, 1, 0)).transpose(1, 2)  # with (H, D, window) -> (B, H, T) -> (B, T, H)


# ---- what reaches what -----------------------------------------------------------------------------------------------
NORMS = {"spectral": 2, "frobenius": "fro"}


def influence(
    encoder: Encoder,
    x: Float[Tensor, "T D"],
    at: int | None = None,
    norm: str = "spectral",
    relative: bool = False,
) -> Float[Tensor, " T"]:
    r"""How much the encoder's vector at one position depends on each word: $\lVert \partial h_t / \partial x_s \rVert$.

    x: the words' vectors (T, D), T at most 128: random_words, or somebody's own. at: the position t; the last where it
    is None. norm: "spectral", the most by which a small change of x_s is stretched (the largest singular value),
    or "frobenius", the root of the sum of squares. relative: over what it is at t itself.

    Returns a number for every s, exactly 0 where no path leads from s to t: after t without `both`, and beyond the
    1 + layers (window - 1) positions that stacked convolutions see. Raises AttentionError: rank, at_most, not_negative,
    unknown_choice, not_floating, not_finite.
    Source: Bengio, Simard, Frasconi 1994; Pascanu, Mikolov, Bengio 2013, equation 5.

    >>> encoder = Encoder("rnn", gain=0.9)
    >>> influence(encoder, random_words(encoder, 20, 32), relative=True)[[18, 14, 9, 0]].numpy().round(3)
    array([0.733, 0.213, 0.035, 0.001])
    """
    require_one_of("norm", norm, tuple(NORMS))
    checks.check_tensors({"x": x})
    if x.dim() != 2:
        raise AttentionError("rank", name="x", axes="(T, D)", shape=checks.shape_of(x))
    if len(x) > MAX_ENCODER_LENGTH:
        raise AttentionError("at_most", name="T", limit=MAX_ENCODER_LENGTH, given=len(x))
    at = len(x) - 1 if at is None else require_not_negative("at", at)
    if at >= len(x):
        raise AttentionError("at_most", name="at", limit=len(x) - 1, given=at)
    sizes = torch.linalg.matrix_norm(encoder_jacobian(encoder, x.double(), at), ord=NORMS[norm])
    return sizes / sizes[at] if relative else sizes


def encoder_jacobian(encoder: Encoder, x: Float[Tensor, "T D"], at: int) -> Float[Tensor, "T width D"]:
    """d h_at / d x_s for every s. Each number of h gets an x of its own, so that one backward pass serves them all."""
    width = output_width(encoder)
    copies = x.detach().expand(width, *x.shape).clone().requires_grad_()  # (width, T, D)
    hidden = encode(encoder, copies, draw_layers(encoder, x.shape[-1]))[:, at]  # (width, width): copy n's own is n
    (slopes,) = torch.autograd.grad(hidden.diagonal().sum(), copies)  # (width, T, D)
    return slopes.transpose(0, 1)  # (T, width, D)
