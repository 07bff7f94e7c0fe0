"""The cost of encoding a sequence, twice: in closed form, and counted in a run. See cost.py for what is counted."""

from dataclasses import dataclass

import torch
from torch import Tensor

from attention_core.mechanism.config import Weights
from attention_core.mechanism.plain_checks import require_positive
from attention_core.variants.cost import ProductCounter
from attention_core.variants.encoder_paths import one_step_reach, path_length, search_path_length
from attention_core.variants.encoders import (
    Encoder,
    EncoderLayer,
    draw_layers,
    encode,
    layer_directions,
    position_width,
)
from attention_core.variants.recurrent_cells import RECURRENT_CELLS


@dataclass(frozen=True)
class EncoderCost:
    """The cost of encoding a sequence.

    sequential_steps: the number of steps that must run one after another, with any number of processors. longest_path:
    the number of steps from the first word to the last position, see path_length.
    """

    multiply_adds: int
    parameters: int
    sequential_steps: int
    longest_path: int | None


# ---- in closed form --------------------------------------------------------------------------------------------------
def encoder_cost(encoder: Encoder, length: int, inputs: int) -> EncoderCost:
    r"""Compute the cost of an encoder over T words of width D, in closed form; H is its width, here for one layer.

    Recurrence: $T G H (D + H)$ per direction, G = 1, 3 (gru) or 4 (lstm) gates, T steps. cnn: $T w D H$, 1 step.
    attention: $3 T D H + 2 T^2 H$, 1 step. Layers add up; layers of a recurrence in one direction overlap, T + L - 1.
    Raises AttentionError: positive_integer. Source: Vaswani et al. 2017, table 1, which keeps the leading term.

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
    """Count the cost of an encoder: products and weights of a run, sequential steps by simulation, a path by search.

    length: at most 256. Raises AttentionError: positive_integer, at_most.

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
    """List the weight tensors of one layer."""
    if isinstance(layer, Tensor):
        return [layer]
    if isinstance(layer, Weights):
        return [*layer.given().values()]
    tensors = []
    for direction in layer:
        tensors += [direction.w_h, direction.w_x, direction.b]
    return tensors


def count_sequential_steps(encoder: Encoder, length: int) -> int:
    """Count the steps until the last position is ready, each starting as soon as its inputs are ready."""
    ready = [0] * length
    for _ in range(encoder.layers):
        if encoder.kind in RECURRENT_CELLS:
            ready = recurrent_ready_times(encoder, ready)
        else:
            ready = parallel_ready_times(encoder, ready)
    return max(ready)


def recurrent_ready_times(encoder: Encoder, ready: list[int]) -> list[int]:
    """List the step after which each position of a recurrent layer is ready, in all of its directions."""
    passes = []
    for direction in layer_directions(encoder):
        times = pass_ready_times(ready[::direction])
        passes.append(times[::direction])
    return [max(times) for times in zip(*passes, strict=True)]


def pass_ready_times(ready: list[int]) -> list[int]:
    """List the step after which each state of one pass is ready: one step after its input and the previous state."""
    times = []
    before = 0
    for input_ready in ready:
        before = 1 + max(input_ready, before)
        times.append(before)
    return times


def parallel_ready_times(encoder: Encoder, ready: list[int]) -> list[int]:
    """List the step after which each position of a layer without recurrence is ready: one step after all its inputs."""
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
    """The cost of an encoder and the path length between two words, by formula and counted."""

    formula: EncoderCost
    counted: EncoderCost
    path: int | None
    searched_path: int | None

    @property
    def agrees(self) -> bool:
        """Whether formulas and counts agree."""
        return self.formula == self.counted and self.path == self.searched_path


def compare_costs(encoder: Encoder, length: int, inputs: int, distance: int) -> CostComparison:
    """Compare encoder_cost with count_encoder_cost, and path_length with search_path_length.

    Raises AttentionError as these functions do.

    >>> compare_costs(Encoder("gru"), 20, 5, distance=7).agrees
    True
    """
    return CostComparison(
        formula=encoder_cost(encoder, length, inputs),
        counted=count_encoder_cost(encoder, length, inputs),
        path=path_length(encoder, distance),
        searched_path=search_path_length(encoder, distance),
    )
