"""Computes the cost of encoding a sequence, in closed form and by counting in a run; also path lengths and run times.

The cost is the number of multiply-adds of matrix products and convolutions, as cost.py counts them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attention_core.analysis.across_layers import path_lengths
from attention_core.mechanism.config import Weights
from attention_core.mechanism.plain_checks import require_not_negative, require_one_of, require_positive, require_whole
from attention_core.record.errors import AttentionError
from attention_core.variants.cost import ProductCounter
from attention_core.variants.encoders import (
    RECURRENT_CELLS,
    Encoder,
    EncoderLayer,
    Recurrence,
    draw_layers,
    encode,
    layer_directions,
    position_width,
    random_words,
)
from attention_core.variants.timing import Timing, time_run

MAX_SEARCHED_POSITIONS = 256  # longest sequence whose shortest paths are searched
MAX_TIMED_LENGTH = 1024  # longest sequence that is timed; attention then has a million scores
TORCH_LOOPS = {"rnn": torch.rnn_tanh, "gru": torch.gru, "lstm": torch.lstm}


@dataclass(frozen=True)
class EncoderCost:
    """The cost of encoding a sequence with one kind of encoder.

    sequential_steps: the number of steps that must run one after another, however many processors there are.
    longest_path: the fewest steps in which the first word reaches the last position.
    """

    multiply_adds: int
    parameters: int
    sequential_steps: int
    longest_path: int | None


# ---- in closed form --------------------------------------------------------------------------------------------------
def encoder_cost(encoder: Encoder, length: int, inputs: int) -> EncoderCost:
    r"""Compute the cost of an encoder over T words of width D, in closed form.

    For one layer of width H: a recurrence needs $T G H (D + H)$ multiply-adds per direction and T steps, with G = 1
    (rnn), 3 (gru) or 4 (lstm) blocks of weights; cnn needs $T w D H$ and 1 step; attention needs $3 T D H + 2 T^2 H$
    and 1 step. The costs of L layers add up, except that recurrences in one direction run in parallel and take T + L -
    1 steps together. Raises AttentionError: positive_integer. Source: Vaswani et al. 2017, table 1, which keeps the
    leading term.

    >>> encoder_cost(Encoder("lstm", width=32), length=100, inputs=32)
    EncoderCost(multiply_adds=819200, parameters=8320, sequential_steps=100, longest_path=99)
    """
    T = require_positive("length", length)
    width = require_positive("inputs", inputs)
    multiply_adds = 0
    parameters = 0
    for _ in range(encoder.layers):
        multiply_adds += layer_multiply_adds(encoder, T, width)
        parameters += layer_parameters(encoder, width)
        width = position_width(encoder)
    return EncoderCost(
        multiply_adds,
        parameters,
        sequential_steps=sequential_steps(encoder, T),
        longest_path=path_length(encoder, T - 1),
    )


def layer_multiply_adds(encoder: Encoder, T: int, D: int) -> int:
    """Compute the multiply-adds of one layer over T positions of width D."""
    H = encoder.width
    if encoder.kind in RECURRENT_CELLS:
        gates = RECURRENT_CELLS[encoder.kind].gates
        directions = layer_directions(encoder)
        each = T * gates * H * (D + H)
        return len(directions) * each
    if encoder.kind == "cnn":
        return T * encoder.window * D * H
    projections = 3 * T * D * H
    pairs = 2 * T * T * H
    return projections + pairs


def layer_parameters(encoder: Encoder, D: int) -> int:
    """Compute the number of parameters of one layer with an input of width D."""
    H = encoder.width
    if encoder.kind in RECURRENT_CELLS:
        gates = RECURRENT_CELLS[encoder.kind].gates
        directions = layer_directions(encoder)
        each = gates * H * (D + H + 1)
        return len(directions) * each
    if encoder.kind == "cnn":
        return encoder.window * D * H
    return 3 * D * H


def sequential_steps(encoder: Encoder, T: int) -> int:
    """Compute the number of steps that must run one after another over T positions."""
    if encoder.kind not in RECURRENT_CELLS:
        return encoder.layers
    if encoder.both:
        return encoder.layers * T
    return T + encoder.layers - 1


# ---- counted ---------------------------------------------------------------------------------------------------------
def count_encoder_cost(encoder: Encoder, length: int, inputs: int) -> EncoderCost:
    """Count the cost of an encoder: products and weights in a run, steps by simulation, and the longest path by search.

    length: the number of positions, at most 256. Raises AttentionError: positive_integer, at_most.

    >>> count_encoder_cost(Encoder("attention"), 7, 5) == encoder_cost(Encoder("attention"), 7, 5)
    True
    """
    layers = draw_layers(encoder, inputs)
    T = require_positive("length", length)
    x = torch.zeros(T, inputs, dtype=torch.float64)
    with torch.no_grad(), ProductCounter() as products:
        encode(encoder, x, layers)
    parameters = 0
    for layer in layers:
        parameters += sum(tensor.numel() for tensor in learned_tensors(layer))
    longest_path = search_path_length(encoder, T - 1)
    return EncoderCost(
        products.count,
        parameters,
        sequential_steps=count_sequential_steps(encoder, T),
        longest_path=longest_path,
    )


def learned_tensors(layer: EncoderLayer) -> list[Tensor]:
    """Return the weight tensors of one layer."""
    if isinstance(layer, Tensor):
        return [layer]
    if isinstance(layer, Weights):
        return [*layer.given().values()]
    tensors = []
    for direction in layer:
        tensors += [direction.w_h, direction.w_x, direction.b]
    return tensors


def count_sequential_steps(encoder: Encoder, length: int) -> int:
    """Count the steps until the last position is computed, if every step starts as soon as its inputs are computed."""
    ready = [0] * length
    for _ in range(encoder.layers):
        if encoder.kind in RECURRENT_CELLS:
            ready = recurrent_ready_times(encoder, ready)
        else:
            ready = parallel_ready_times(encoder, ready)
    return max(ready)


def recurrent_ready_times(encoder: Encoder, ready: list[int]) -> list[int]:
    """Return the step at which each position of a recurrent layer is computed, in both directions if the layer has two.

    ready: the step at which each input is computed.
    """
    passes = []
    for direction in layer_directions(encoder):
        times = pass_ready_times(ready[::direction])
        passes.append(times[::direction])
    return [max(times) for times in zip(*passes, strict=True)]


def pass_ready_times(ready: list[int]) -> list[int]:
    """Return the time step at which each state of one pass is computed: one step after its input and the previous
    state.

    ready: the step at which each input is computed.
    """
    times = []
    before = 0
    for input_ready in ready:
        before = 1 + max(input_ready, before)
        times.append(before)
    return times


def parallel_ready_times(encoder: Encoder, ready: list[int]) -> list[int]:
    """Return the step at which each position of a layer without recurrence is computed: one step after all inputs.

    ready: the step at which each input is computed.
    """
    T = len(ready)
    times = []
    for heard in one_step_reach(encoder, T):
        positions = heard.nonzero().flatten().tolist()
        latest = max(ready[position] for position in positions)
        times.append(latest + 1)
    return times


# ---- both compared ---------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class CostComparison:
    """The cost of an encoder and the path length between two words, both by formula and by counting."""

    formula: EncoderCost
    counted: EncoderCost
    path: int | None
    searched_path: int | None

    @property
    def agrees(self) -> bool:
        """Return whether the results of the formulas equal the counted results."""
        return self.formula == self.counted and self.path == self.searched_path


def compare_costs(encoder: Encoder, length: int, inputs: int, distance: int) -> CostComparison:
    """Compute an encoder's cost by formula and by count, and the path length at a distance by formula and by search.

    Raises AttentionError: positive_integer, at_most.

    >>> compare_costs(Encoder("gru"), 20, 5, distance=7).agrees
    True
    """
    return CostComparison(
        formula=encoder_cost(encoder, length, inputs),
        counted=count_encoder_cost(encoder, length, inputs),
        path=path_length(encoder, distance),
        searched_path=search_path_length(encoder, distance),
    )


# ---- paths: how far one step reads, and the steps from a word to a position ------------------------------------------
def one_step_reach(encoder: Encoder, length: int) -> Bool[Tensor, "T T"]:
    """Return a mask (T, T) of the positions j that position i reads in one step.

    A step is one time step of a recurrence, and one layer of any other encoder.

    >>> one_step_reach(Encoder("cnn", window=3), 3).int()
    tensor([[1, 0, 0],
            [1, 1, 0],
            [1, 1, 1]], dtype=torch.int32)
    """
    T = require_positive("length", length)
    back = reach_of_step(encoder, T)
    ahead = back if encoder.both else 0
    i = torch.arange(T).view(-1, 1)  # (T, 1)
    j = torch.arange(T)  # (T,)
    distance = i - j  # (T, T): below 0 if j comes later
    is_in_reach = distance <= back
    is_heard = distance >= -ahead
    return is_in_reach & is_heard


def reach_of_step(encoder: Encoder, farthest: int) -> int:
    """Return how many positions back one step of an encoder reaches.

    The result is 1 for a recurrence, `half` (earlier positions in the window) for cnn, and `farthest` for attention.
    """
    if encoder.kind == "cnn":
        return encoder.half
    if encoder.kind == "attention":
        return farthest
    return 1


def path_length(encoder: Encoder, distance: int) -> int | None:
    r"""Return the fewest steps in which a word reaches a position `distance` after the word; None if it cannot.

    A distance D below 0 means a position before the word. The result is 0 for the word itself, 1 for attention, |D| for
    a recurrence, and $\lceil |D| / r \rceil$ layers for stacked convolutions, where each layer reads r positions back:
    (window - 1) / 2 if it reads both sides, else window - 1. Source: Vaswani et al. 2017, table 1 (maximum path
    length).

    >>> [path_length(Encoder(kind, both=True), 20) for kind in ("rnn", "cnn", "attention")]
    [20, 20, 1]
    """
    far = abs(require_whole("distance", distance))
    reach = reach_of_step(encoder, far)
    if far == 0:
        return 0
    is_backward = distance < 0
    if reach == 0 or (is_backward and not encoder.both):
        return None
    return ceil(far / reach)


def search_path_length(encoder: Encoder, distance: int) -> int | None:
    """Find the fewest steps in which a word reaches a position `distance` after it, by a search; None if it cannot.

    Distances go up to 255. Raises AttentionError: at_most.

    >>> search_path_length(Encoder("cnn", window=5, both=True), 20)
    10
    """
    far = abs(require_whole("distance", distance))
    if far >= MAX_SEARCHED_POSITIONS:
        raise AttentionError("at_most", name="distance", limit=MAX_SEARCHED_POSITIONS - 1, given=far)
    lengths = path_lengths(one_step_reach(encoder, far + 1))  # (far + 1, far + 1): shortest paths
    from_first_to_last = lengths[-1, 0]
    from_last_to_first = lengths[0, -1]
    steps = from_first_to_last if distance >= 0 else from_last_to_first
    if steps.isinf():
        return None
    return int(steps)


def receptive_field(encoder: Encoder, layers: int) -> int:
    """Return the receptive field: how many words influence a position after some layers of cnn, 1 + layers (window -
    1).

    >>> receptive_field(Encoder("cnn", window=3, both=True), 5)
    11
    """
    require_one_of("kind", encoder.kind, ("cnn",))
    require_not_negative("layers", layers)
    others = encoder.window - 1
    return 1 + layers * others


# ---- the time on this machine ----------------------------------------------------------------------------------------
def encoding_time(encoder: Encoder, length: int) -> Timing:
    """Measure the time of an encoder's forward pass over random words, in float64.

    Recurrences run in torch's loops, which are faster than a loop in Python; cnn and attention run as in `encode`. The
    words are as wide as the encoder. length: the number of positions, at most 1,024. Raises AttentionError:
    positive_integer, at_most.

    >>> encoding_time(Encoder("cnn"), length=16).seconds > 0
    True
    """
    if require_positive("length", length) > MAX_TIMED_LENGTH:
        raise AttentionError(
            "at_most",
            name="length",
            limit=MAX_TIMED_LENGTH,
            given=length,
        )
    width = encoder.width
    layers = draw_layers(encoder, width)
    x = random_words(encoder, length, width)[None]  # (1, T, D)
    return time_run(forward_pass(encoder, x, layers))


def forward_pass(
    encoder: Encoder, x: Float[Tensor, "B T D"], layers: tuple[EncoderLayer, ...]
) -> Callable[[], Float[Tensor, "B T width"]]:
    """Return a function that runs the encoder on x, to be timed; the weights are prepared before it is called."""
    if encoder.kind in RECURRENT_CELLS:
        return torch_forward_pass(encoder, x, layers)
    return lambda: encode(encoder, x, layers)


def torch_forward_pass(
    encoder: Encoder, x: Float[Tensor, "B T D"], layers: tuple[EncoderLayer, ...]
) -> Callable[[], Float[Tensor, "B T width"]]:
    """Return a function that runs torch's loop of a recurrence, with the weights already in torch's layout."""
    weights = []
    for layer in layers:
        for direction in layer:
            weights += to_torch_layout(direction)
    loop = TORCH_LOOPS[encoder.kind]
    directions = len(layer_directions(encoder))
    B = len(x)
    nothing = x.new_zeros(encoder.layers * directions, B, encoder.width)
    start = (nothing, nothing) if encoder.kind == "lstm" else nothing
    options = {
        "has_biases": True,
        "num_layers": encoder.layers,
        "dropout": 0.0,
        "train": False,
        "bidirectional": directions == 2,
        "batch_first": True,
    }

    def run_loop() -> Float[Tensor, "B T width"]:
        outputs, *_ = loop(x, start, weights, **options)
        return outputs

    return run_loop


def to_torch_layout(weights: Recurrence) -> list[Tensor]:
    """Return the weights of one direction in the layout of torch's recurrent layers.

    These are w_x and w_h, each (G H, d_in), and two biases, of which the second is 0.
    """
    return [
        weights.w_x.T.contiguous(),  # (G H, D)
        weights.w_h.T.contiguous(),  # (G H, H)
        weights.b,
        torch.zeros_like(weights.b),
    ]
