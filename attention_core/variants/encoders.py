"""Encodes a sequence in several ways: recurrent networks (tanh, GRU, LSTM), stacked convolutions, attention.

Each kind computes one vector per position from x (B, T, D), with random weights from a seed.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.mechanism import checks
from attention_core.mechanism.attention import attend
from attention_core.mechanism.config import AttentionConfig, Weights
from attention_core.mechanism.plain_checks import require_finite, require_not_negative, require_one_of, require_positive
from attention_core.record.errors import AttentionError
from attention_core.record.trace import Trace

RecurrentState = tuple[Tensor, ...]  # state: (h,) for tanh and GRU, (h, cell) for LSTM
MAX_ENCODER_LENGTH = 128  # longest sequence for which the influence of words is measured
MAX_ENCODER_WIDTH = 64
MAX_ENCODER_LAYERS = 32


# ---- one step of a recurrence: from_x is x_t W_x + b -----------------------------------------------------------------
def rnn_cell(from_x: Float[Tensor, "B H"], state: RecurrentState, w_h: Float[Tensor, "H H"]) -> RecurrentState:
    r"""Compute one step of a tanh recurrence: $h_t = \tanh(x_t W_x + h_{t-1} W_h + b)$ (Elman 1990).

    from_x: $x_t W_x + b$.
    """
    (h,) = state
    h = torch.tanh(from_x + h @ w_h)  # (B, H) x (H, H) -> (B, H)
    return (h,)


def gru_cell(from_x: Float[Tensor, "B 3*H"], state: RecurrentState, w_h: Float[Tensor, "H 3*H"]) -> RecurrentState:
    r"""Compute one step of a GRU (Cho et al. 2014).

    $h_t = (1 - z) \odot n + z \odot h_{t-1}$, $n = \tanh(x_t W_n + r \odot h_{t-1} U_n)$. from_x: the part computed
    from $x_t$ and the biases, for all gates.
    """
    (h,) = state
    from_h = h @ w_h  # (B, H) x (H, 3 H) -> (B, 3 H)
    # reset gate, update gate and candidate, in torch's order, each (B, H)
    reset_x, keep_x, new_x = from_x.chunk(3, dim=-1)
    reset_h, keep_h, new_h = from_h.chunk(3, dim=-1)
    reset = torch.sigmoid(reset_x + reset_h)
    keep = torch.sigmoid(keep_x + keep_h)
    new = torch.tanh(new_x + reset * new_h)
    h = (1 - keep) * new + keep * h
    return (h,)


def lstm_cell(from_x: Float[Tensor, "B 4*H"], state: RecurrentState, w_h: Float[Tensor, "H 4*H"]) -> RecurrentState:
    r"""Compute one step of an LSTM (Hochreiter, Schmidhuber 1997; Gers et al. 2000).

    $c_t = f \odot c_{t-1} + i \odot g$, $h_t = o \odot \tanh(c_t)$. from_x: the part computed from $x_t$ and the
    biases, for all gates.
    """
    h, c = state
    gates = from_x + h @ w_h  # (B, H) x (H, 4 H) -> (B, 4 H)
    # input, forget, candidate and output gates, in torch's order (i, f, g, o), each (B, H)
    let_in, keep, new, out = gates.chunk(4, dim=-1)
    let_in = torch.sigmoid(let_in)
    keep = torch.sigmoid(keep)
    new = torch.tanh(new)
    out = torch.sigmoid(out)
    c = keep * c + let_in * new
    h = out * torch.tanh(c)
    return h, c


@dataclass(frozen=True)
class RecurrentCell:
    """A kind of recurrence.

    step: the function that computes one step. gates: the number of blocks of columns in the matrices, one per gate or
    candidate. keeping: the index of the gate that keeps the state; None without such a gate. states: the number of
    vectors in the state.
    """

    step: Callable[[Tensor, RecurrentState, Tensor], RecurrentState]
    gates: int = 1
    keeping: int | None = None
    states: int = 1


RECURRENT_CELLS = {
    "rnn": RecurrentCell(rnn_cell),
    "gru": RecurrentCell(gru_cell, gates=3, keeping=1),
    "lstm": RecurrentCell(lstm_cell, gates=4, keeping=1, states=2),
}


# ---- a whole sequence ------------------------------------------------------------------------------------------------
@dataclass(frozen=True, eq=False)
class Recurrence:
    """The weights of one direction of a recurrent layer, multiplied as x @ w; the columns of its G gates are side by
    side.
    """

    w_h: Float[Tensor, "H G*H"]
    w_x: Float[Tensor, "D G*H"]
    b: Float[Tensor, " G*H"]


def run_recurrence(
    cell: RecurrentCell, x: Float[Tensor, "B T D"], weights: Recurrence, direction: int = 1
) -> Float[Tensor, "B T H"]:
    """Run one recurrence over the whole sequence: T steps, each of which needs the previous step.

    direction: 1 from the first word on, -1 from the last word back.
    """
    # (B, T, D) x (D, G H) -> (B, T, G H), for all positions at once: this part does not depend on the state.
    from_x = x @ weights.w_x + weights.b
    H = len(weights.w_h)
    nothing = x.new_zeros(len(x), H)
    state = (nothing,) * cell.states

    words = from_x.unbind(1)  # a list of T tensors (B, G H)
    outputs = []
    for word in words[::direction]:
        state = cell.step(word, state, weights.w_h)
        h = state[0]
        outputs.append(h)
    outputs = outputs[::direction]
    return torch.stack(outputs, dim=1)  # T times (B, H) -> (B, T, H)


# ---- the choices -----------------------------------------------------------------------------------------------------
ENCODER_KINDS = (*RECURRENT_CELLS, "cnn", "attention")


@dataclass(frozen=True)
class Encoder:
    """One way to encode a sequence.

    kind: one of ENCODER_KINDS. width: components per position in every layer (in each direction). both: whether a
    position reads both sides; if not, it reads only earlier positions. With `both` a recurrence has a second pass from
    the end, whose outputs are appended, cnn has a window around the position, and attention has no causal mask. layers:
    the number of layers. window: the number of positions that one layer of cnn reads. gain: a recurrence's matrix from
    state to state is an orthogonal matrix times gain; if gain is None, the matrix is uniform between ±1/√width, torch's
    default. keep: the bias of the gate that keeps the state (the LSTM's forget gate, the GRU's update gate). seed: the
    seed of the weights.

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
        require_at_most("width", self.width, MAX_ENCODER_WIDTH)
        require_at_most("layers", self.layers, MAX_ENCODER_LAYERS)
        require_at_most("window", self.window, MAX_ENCODER_LENGTH)
        has_middle = self.window % 2 == 1
        if self.kind == "cnn" and self.both and not has_middle:
            raise AttentionError("odd_window", given=self.window)
        if self.gain is not None:
            require_finite("gain", self.gain)
        require_finite("keep", self.keep)
        require_not_negative("seed", self.seed)

    @property
    def half(self) -> int:
        """The number of earlier positions that one layer of cnn reads, and also of later ones if it reads both
        sides.
        """
        others = self.window - 1
        return others // 2 if self.both else others


def require_at_most(name: str, given: int, limit: int) -> None:
    """Check that a value is a whole number from 1 to a given limit."""
    if require_positive(name, given) > limit:
        raise AttentionError("at_most", name=name, limit=limit, given=given)


# ---- the weights -----------------------------------------------------------------------------------------------------
Taps = Float[Tensor, "window D H"]  # the kernel of a convolution: one matrix per position of its window
EncoderLayer = tuple[Recurrence, ...] | Taps | Weights


def draw_layers(
    encoder: Encoder, inputs: int, generator: np.random.Generator | None = None
) -> tuple[EncoderLayer, ...]:
    """Sample random weights of every layer in float64 from the encoder's seed, the same on any machine.

    inputs: the width of x. Weights are uniform between ±1/√n as in torch (n: the width of a recurrence, else the number
    of summands); the w_h of a recurrence with a gain is orthogonal times the gain. Biases are 0 except for `keep`.

    >>> [layer[0].w_x.shape for layer in draw_layers(Encoder("gru", width=5, layers=2), inputs=3)]
    [torch.Size([3, 15]), torch.Size([5, 15])]
    """
    generator = generator or np.random.default_rng(encoder.seed)
    width = inputs
    layers = []
    for _ in range(encoder.layers):
        layers.append(draw_layer(encoder, width, generator))
        width = position_width(encoder)
    return tuple(layers)


def position_width(encoder: Encoder) -> int:
    """Return the number of components per position after a layer."""
    return encoder.width * len(layer_directions(encoder))


def layer_directions(encoder: Encoder) -> tuple[int, ...]:
    """Return the directions in which one layer runs: 1 from the first word on, -1 from the last word back.

    A layer without recurrence has (1,).
    """
    if encoder.both and encoder.kind in RECURRENT_CELLS:
        return (1, -1)
    return (1,)


def draw_layer(encoder: Encoder, inputs: int, generator: np.random.Generator) -> EncoderLayer:
    """Sample the weights of one layer.

    inputs: the width of the layer's input.
    """
    if encoder.kind in RECURRENT_CELLS:
        directions = layer_directions(encoder)
        return tuple(draw_recurrence(encoder, inputs, generator) for _ in directions)
    if encoder.kind == "cnn":
        taps = (encoder.window, inputs, encoder.width)
        return draw_uniform_weights(generator, taps, summed=encoder.window * inputs)
    shape = (inputs, encoder.width)
    return Weights(
        w_q=draw_uniform_weights(generator, shape, summed=inputs),
        w_k=draw_uniform_weights(generator, shape, summed=inputs),
        w_v=draw_uniform_weights(generator, shape, summed=inputs),
    )


def draw_recurrence(encoder: Encoder, inputs: int, generator: np.random.Generator) -> Recurrence:
    """Sample the weights of one direction, w_h before w_x, in torch's layout: (G H, d_in) each."""
    cell = RECURRENT_CELLS[encoder.kind]
    H = encoder.width
    G = cell.gates
    if encoder.gain is None:
        w_h = draw_uniform_weights(generator, (G * H, H), summed=H)
    else:
        normal = [generator.standard_normal((H, H)) for _ in range(G)]  # a random matrix per gate
        orthonormal = [np.linalg.qr(matrix).Q for matrix in normal]
        scaled = encoder.gain * np.concatenate(orthonormal)  # G times (H, H) -> (G H, H)
        w_h = torch.from_numpy(scaled)
    w_x = draw_uniform_weights(generator, (G * H, inputs), summed=H)
    b = torch.zeros(G, H, dtype=torch.float64)
    if cell.keeping is not None:
        b[cell.keeping] = encoder.keep
    return Recurrence(
        w_h=w_h.T.contiguous(),  # (H, G H)
        w_x=w_x.T.contiguous(),  # (D, G H)
        b=b.flatten(),  # (G H,)
    )


def draw_uniform_weights(generator: np.random.Generator, shape: tuple[int, ...], summed: int) -> Tensor:
    """Sample numbers uniformly between ±1/√summed.

    summed: the width of a recurrence, else the number of summands of a product.
    """
    bound = summed**-0.5
    return torch.from_numpy(generator.uniform(-bound, bound, shape))


def random_words(encoder: Encoder, length: int, inputs: int) -> Float[Tensor, "T D"]:
    """Sample the vectors x of the words from the standard normal distribution.

    The encoder's seed generates first its weights, and then x. To compare several encoders, pass the same x to all of
    them.
    """
    generator = np.random.default_rng(encoder.seed)
    draw_layers(encoder, inputs, generator)  # sampled and discarded: x follows the weights in the random sequence
    words = generator.standard_normal((length, inputs))
    return torch.from_numpy(words)


# ---- from x to one vector per position -------------------------------------------------------------------------------
def encode(
    encoder: Encoder, x: Float[Tensor, "*B T D"], layers: tuple[EncoderLayer, ...]
) -> Float[Tensor, "B T width"]:
    r"""Encode a sequence into one vector per position, one layer after another.

    rnn, gru, lstm: $h_t = f(h_{t-1}, x_t)$ from $h = 0$ on. cnn: $\tanh(\sum_m x_{t+m} W_m)$ over the window, with
    zeros beyond the ends. attention: attend, with one head and scaled dot products.

    x: (T, D) or (B, T, D). layers: the result of draw_layers, in x's dtype. Raises AttentionError: not_a_tensor,
    not_floating, empty, not_finite, rank. Source: Elman 1990; Cho et al. 2014, equations 5 to 8, the reset gate placed
    as in torch; Hochreiter, Schmidhuber 1997 with Gers et al. 2000; Schuster, Paliwal 1997 (both directions); LeCun et
    al. 1989; Vaswani et al. 2017.

    >>> encoder = Encoder("lstm", width=3, both=True)
    >>> encode(encoder, torch.ones(5, 2).double(), draw_layers(encoder, inputs=2)).shape
    torch.Size([1, 5, 6])
    """
    checks.check_tensors({"x": x})
    x = checks.as_batch("x", x)
    for layer in layers:
        if encoder.kind in RECURRENT_CELLS:
            x = run_recurrent_layer(encoder, x, layer)  # (B, T, H) or (B, T, 2 H)
        elif encoder.kind == "cnn":
            x = torch.tanh(convolve(x, layer, encoder.half))  # (B, T, H)
        else:
            x = run_attention(encoder, x, layer)["output"]  # (B, T, H)
    return x


def run_recurrent_layer(
    encoder: Encoder, x: Float[Tensor, "B T D"], layer: tuple[Recurrence, ...]
) -> Float[Tensor, "B T width"]:
    """Run one layer of a recurrence; return the outputs of its directions side by side."""
    cell = RECURRENT_CELLS[encoder.kind]
    directions = layer_directions(encoder)
    passes = []
    for weights, direction in zip(layer, directions, strict=True):
        states = run_recurrence(cell, x, weights, direction)  # (B, T, H)
        passes.append(states)
    return torch.cat(passes, dim=-1)


def run_attention(encoder: Encoder, x: Float[Tensor, "*B T D"], weights: Weights) -> Trace:
    """Run one layer of an encoder's attention as a Trace: one head, scaled dot products, and causal unless `both`.

    >>> run_attention(Encoder("attention"), torch.ones(3, 2).double(), Weights())["weights"][0, 0, 1]
    tensor([0.5000, 0.5000, 0.0000], dtype=torch.float64)
    """
    masks = () if encoder.both else ("causal",)
    config = AttentionConfig(masks=masks)
    return attend(x, weights=weights, config=config)


def convolve(x: Float[Tensor, "B T D"], taps: Taps, back: int) -> Float[Tensor, "B T H"]:
    """Convolve x with a window of matrices, one for each position in the window.

    back: how many positions of the window lie before the current position.
    """
    window = len(taps)
    ahead = window - 1 - back
    columns = x.transpose(1, 2)  # (B, D, T)
    columns = torch.nn.functional.pad(columns, (back, ahead))  # (B, D, back + T + ahead)
    kernels = taps.permute(2, 1, 0)  # (window, D, H) -> (H, D, window)
    columns = torch.conv1d(columns, kernels)  # (B, H, T)
    return columns.transpose(1, 2)  # (B, T, H)
