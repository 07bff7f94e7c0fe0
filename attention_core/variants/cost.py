"""What encoding a sequence costs, twice: as closed forms, and counted on what runs.

Multiply-adds are those of matrix products and convolutions. What grows slower by a width is left out: scales, softmax,
tanh, gates, the lengths in a cosine. Source of the comparison: Vaswani et al. 2017, table 1.
"""

from dataclasses import dataclass, fields
from math import ceil

import torch
from jaxtyping import Bool
from torch import Tensor
from torch.overrides import TorchFunctionMode

from attention_core.analysis.receptive_field import path_lengths
from attention_core.mechanism.config import (
    Weights,
    require_not_negative,
    require_one_of,
    require_positive,
    require_whole,
)
from attention_core.record.errors import AttentionError
from attention_core.record.trace import Trace
from attention_core.variants.encoders import (
    RECURRENT_CELLS,
    Encoder,
    EncoderLayer,
    draw_layers,
    encode,
    layer_directions,
    output_width,
)


# ---- multiply-adds, counted ------------------------------------------------------------------------------------------
class ProductCounter(TorchFunctionMode):
    """While it is on, `count` grows by the multiply-adds of every matrix product and convolution of this thread.

    A product of n x m and m x p makes n m p. Zeros that pad a convolution are multiplied too, and count.

    >>> with ProductCounter() as products:
    ...     _ = torch.ones(2, 3) @ torch.ones(3, 5)
    >>> products.count
    30
    """

    count = 0

    def __torch_function__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        if function in (torch.Tensor.matmul, torch.matmul):
            self.count += result.numel() * args[0].shape[-1]
        if function is torch.conv1d:
            self.count += result.numel() * args[1][0].numel()  # the kernel (H, D, window) of one output
        return result


# ---- one layer of attention ------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Cost:
    """What one layer costs, by the step that multiplies, the weight that is learned, the step whose numbers are kept.

    stored: weights (B H T S), and k and v, which a decoder keeps in its cache.
    """

    multiply_adds: dict[str, int]
    parameters: dict[str, int]
    stored: dict[str, int]

    def totals(self) -> dict[str, int]:
        """The three sums."""
        return {field.name: sum(getattr(self, field.name).values()) for field in fields(self)}


def split_by_growth(cost: Cost) -> tuple[int, int]:
    """The multiply-adds of a layer for its pairs of tokens, scores and weighted sums, and for its tokens, projections.

    >>> split_by_growth(attention_cost(T=10, D=64))
    (12800, 163840)
    """
    pairs = sum(cost.multiply_adds.get(step, 0) for step in ("scores", "head_outputs"))
    return pairs, sum(cost.multiply_adds.values()) - pairs


def count_cost(trace: Trace) -> Cost:
    """The cost of a run, counted: every step is applied again, and its products are counted as they happen.

    >>> from attention_core import attend
    >>> count_cost(attend(torch.eye(3))).multiply_adds
    {'scores': 27, 'head_outputs': 27}
    """
    multiply_adds = {}
    for name in trace.computed():
        with torch.no_grad(), ProductCounter() as products:
            trace.reapply(name)
        if products.count:
            multiply_adds[name] = products.count
    learned = {field.name for field in fields(Weights)}
    parameters = {name: step.value.numel() for name, step in trace.inputs().items() if name in learned}
    return Cost(multiply_adds, parameters, {name: trace[name].numel() for name in ("weights", "k", "v")})


def attention_cost(
    *,
    T: int,
    D: int,
    S: int | None = None,
    H: int = 1,
    H_kv: int | None = None,
    d_k: int | None = None,
    d_v: int | None = None,
    D_out: int | None = None,
    B: int = 1,
    score: str = "scaled_dot",
    A: int | None = None,
    bias: bool = False,
) -> Cost:
    r"""The cost of one layer with all four projections, in closed form.

    Projections $T D H d_k + S D H_{kv} (d_k + d_v)$, scores $T S H d_k$ for the dot forms (see score_cost), mix
    $T S H d_v$, output $T H d_v D_{out}$, all times B.

    T queries, S keys (None: T) of width D; H heads, H_kv key/value heads (None: H) of widths d_k (None: D / H) and d_v
    (None: d_k); D_out (None: D); A: the width of the additive score's layer (None: d_k). The score's own weights are
    shared by all heads. Raises AttentionError: positive_integer, heads_split, heads_groups, unknown_choice.
    Source: Vaswani et al. 2017, section 3.2.2: with d_k = d_v = D / H the total does not depend on H.

    >>> attention_cost(T=10, D=64, H=8).multiply_adds["scores"], attention_cost(T=10, D=64, H=8).totals()["parameters"]
    (6400, 16384)
    """
    sizes = {"T": T, "D": D, "S": S, "H": H, "H_kv": H_kv, "d_k": d_k, "d_v": d_v, "D_out": D_out, "B": B, "A": A}
    for name, size in sizes.items():
        if size is not None:
            require_positive(name, size)
    if d_k is None and D % H:
        raise AttentionError("heads_split", name="x", width=D, heads=H)
    S, H_kv, d_k, D_out = S or T, H_kv or H, d_k or D // H, D_out or D
    d_v, A = d_v or d_k, A or d_k
    if H % H_kv:
        raise AttentionError("heads_groups", heads=H, kv_heads=H_kv)
    widths = {"q": H * d_k, "k": H_kv * d_k, "v": H_kv * d_v, "o": D_out}
    reads = {"q": D, "k": D, "v": D, "o": H * d_v}
    rows = {"q_projected": B * T, "k_projected": B * S, "v_projected": B * S, "output": B * T}
    projections = {step: rows[step] * reads[role] * widths[role] for step, role in zip(rows, widths, strict=True)}
    output = projections.pop("output")
    own = score_cost(score, d_k, d_k, A)
    scores = {step: B * H * product.total(T, S) for step, product in own.products.items()}
    parameters = {f"w_{role}": reads[role] * widths[role] for role in widths}
    parameters |= {f"b_{role}": widths[role] for role in widths} if bias else {}
    return Cost(
        {**projections, **scores, "head_outputs": B * H * T * S * d_v, "output": output},
        {**parameters, **own.parameters},
        {"weights": B * H * T * S, "k": B * H_kv * S * d_k, "v": B * H_kv * S * d_v},
    )


# ---- one score -------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class StepProducts:
    """The multiply-adds of one step for one query and one key, and what is done once a query and once a key."""

    per_pair: int = 0
    per_query: int = 0
    per_key: int = 0

    def total(self, T: int, S: int) -> int:
        """Those of T queries and S keys."""
        return T * S * self.per_pair + T * self.per_query + S * self.per_key


@dataclass(frozen=True)
class ScoreCost:
    """What a score costs: the products of its steps, and its own learned numbers."""

    products: dict[str, StepProducts]
    parameters: dict[str, int]


def dot_cost(d_q: int, d_k: int, A: int) -> ScoreCost:
    """$d_k$ a pair, and nothing to learn; a cosine costs the same."""
    return ScoreCost({"scores": StepProducts(d_k)}, {})


def general_cost(d_q: int, d_k: int, A: int) -> ScoreCost:
    """$q W_a$ once a query, $d_q d_k$, then $d_k$ a pair."""
    products = StepProducts(d_k, per_query=d_q * d_k)
    return ScoreCost({"scores": products}, {"w_a": d_q * d_k})


def additive_cost(d_q: int, d_k: int, A: int) -> ScoreCost:
    """$W_q q$ once a query and $W_k k$ once a key, $A d_q$ and $A d_k$, then A a pair (and A tanh)."""
    hidden = StepProducts(per_query=d_q * A, per_key=d_k * A)
    learned = {"w_aq": d_q * A, "w_ak": d_k * A, "v_a": A}
    return ScoreCost({"hidden": hidden, "scores": StepProducts(A)}, learned)


SCORE_COSTS = {
    "scaled_dot": dot_cost,
    "dot": dot_cost,
    "cosine": dot_cost,
    "general": general_cost,
    "additive": additive_cost,
}


def score_cost(score: str, d_q: int, d_k: int, A: int | None = None) -> ScoreCost:
    """What one head's score of a query of width d_q and a key of width d_k costs.

    score: one of SCORE_COSTS. A: the width of the additive score's layer (None: d_k). Raises AttentionError:
    unknown_choice, positive_integer.
    Source: Luong et al. 2015, equation 8; Bahdanau et al. 2015, appendix A.1.2; compared in Vaswani et al. 2017, 3.2.1.

    >>> score_cost("general", 5, 7).products["scores"], score_cost("general", 5, 7).parameters
    (StepProducts(per_pair=7, per_query=35, per_key=0), {'w_a': 35})
    """
    require_one_of("score", score, tuple(SCORE_COSTS))
    A = require_positive("d_k", d_k) if A is None else require_positive("A", A)
    return SCORE_COSTS[score](require_positive("d_q", d_q), d_k, A)


# ---- how far one step reads, and what news needs ---------------------------------------------------------------------
MAX_SEARCHED_POSITIONS = 256  # positions of one search


def one_step_reach(encoder: Encoder, length: int) -> Bool[Tensor, "T T"]:
    """True where position i hears from position j in one step: of a recurrence, or of one layer of the others.

    >>> one_step_reach(Encoder("cnn", window=3), 3).int()
    tensor([[1, 0, 0],
            [1, 1, 0],
            [1, 1, 1]], dtype=torch.int32)
    """
    i, j = torch.arange(require_positive("length", length)).view(-1, 1), torch.arange(length)  # (T, 1), (T,)
    reach = reach_of_step(encoder, length)
    return (i - j <= reach) & (j - i <= (reach if encoder.both else 0))


def reach_of_step(encoder: Encoder, farthest: int) -> int:
    """How far back one step reads: one position, the window, or everything up to the farthest there is."""
    return {"cnn": encoder.half, "attention": farthest}.get(encoder.kind, 1)


def path_length(encoder: Encoder, distance: int) -> int | None:
    r"""The fewest steps in which a word reaches a position that stands `distance` after it (minus: before it).

    Attention 1, a recurrence D, stacked convolutions $\lceil D / r \rceil$ layers, where one layer reads r positions
    back: (window - 1) / 2 where it reads both sides, else window - 1. 0 for the word itself; None: never.
    Source: Vaswani et al. 2017, table 1 (maximum path length).

    >>> [path_length(Encoder(kind, both=True), 20) for kind in ("rnn", "cnn", "attention")]
    [20, 20, 1]
    """
    far, reach = abs(require_whole("distance", distance)), reach_of_step(encoder, abs(distance))
    if distance == 0:
        return 0
    if reach == 0 or (distance < 0 and not encoder.both):
        return None
    return ceil(far / reach)


def search_path_length(encoder: Encoder, distance: int) -> int | None:
    """The same, found by a search through who hears from whom; at most 255 apart. Raises AttentionError: at_most.

    >>> search_path_length(Encoder("cnn", window=5, both=True), 20)
    10
    """
    far = abs(require_whole("distance", distance))
    if far >= MAX_SEARCHED_POSITIONS:
        raise AttentionError("at_most", name="distance", limit=MAX_SEARCHED_POSITIONS - 1, given=far)
    lengths = path_lengths(one_step_reach(encoder, far + 1))
    found = (lengths[-1, 0] if distance >= 0 else lengths[0, -1]).item()
    return None if found == torch.inf else int(found)


def receptive_field(encoder: Encoder, layers: int) -> int:
    """How many words a position hears from after so many layers of cnn, where no end is near: 1 + layers (window - 1).

    >>> receptive_field(Encoder("cnn", window=3, both=True), 5)
    11
    """
    require_one_of("kind", encoder.kind, ("cnn",))
    return 1 + require_not_negative("layers", layers) * (encoder.window - 1)


# ---- the ways to encode a sequence, side by side ---------------------------------------------------------------------
@dataclass(frozen=True)
class EncoderCost:
    """What encoding a sequence costs. sequential_steps: how many must wait for each other, however many processors
    there are. longest_path: the steps that news needs from the first word to the last position, see path_length."""

    multiply_adds: int
    parameters: int
    sequential_steps: int
    longest_path: int | None


def encoder_cost(encoder: Encoder, length: int, inputs: int) -> EncoderCost:
    r"""The cost of an encoder over T words of width D, in closed form; H is its width, here for one layer.

    Recurrence: $T G H (D + H)$ a direction, G = 1, 3 (gru) or 4 (lstm) gates, T steps. cnn: $T w D H$, 1 step.
    attention: $3 T D H + 2 T^2 H$, 1 step. Layers add up; layers of a recurrence in one direction overlap, T + L - 1.
    Raises AttentionError: positive_integer. Source: Vaswani et al. 2017, table 1, which keeps the leading term.

    >>> encoder_cost(Encoder("lstm", width=32), length=100, inputs=32)
    EncoderCost(multiply_adds=819200, parameters=8320, sequential_steps=100, longest_path=99)
    """
    T, D, H, L = require_positive("length", length), require_positive("inputs", inputs), encoder.width, encoder.layers
    multiply_adds, parameters = 0, 0
    for width in (D, *[output_width(encoder)] * (L - 1)):
        if encoder.kind in RECURRENT_CELLS:
            gates, passes = RECURRENT_CELLS[encoder.kind].gates, len(layer_directions(encoder))
            multiply_adds += passes * T * gates * H * (width + H)
            parameters += passes * gates * H * (width + H + 1)
        elif encoder.kind == "cnn":
            multiply_adds += T * encoder.window * width * H
            parameters += encoder.window * width * H
        else:
            multiply_adds += 3 * T * width * H + 2 * T * T * H
            parameters += 3 * width * H
    steps = L if encoder.kind not in RECURRENT_CELLS else L * T if encoder.both else T + L - 1
    return EncoderCost(multiply_adds, parameters, steps, path_length(encoder, T - 1))


def count_encoder_cost(encoder: Encoder, length: int, inputs: int) -> EncoderCost:
    """The same, counted: the products of a run, the numbers of its weights, who waits for whom, and a search.

    length: at most 256. Raises AttentionError: positive_integer, at_most.

    >>> count_encoder_cost(Encoder("attention"), 7, 5) == encoder_cost(Encoder("attention"), 7, 5)
    True
    """
    layers = draw_layers(encoder, inputs)
    x = torch.zeros(require_positive("length", length), inputs, dtype=torch.float64)
    with torch.no_grad(), ProductCounter() as products:
        encode(encoder, x, layers)
    numbers = sum(tensor.numel() for layer in layers for tensor in learned_tensors(layer))
    farthest = search_path_length(encoder, length - 1)
    return EncoderCost(products.count, numbers, count_sequential_steps(encoder, length), farthest)


def learned_tensors(layer: EncoderLayer) -> list[Tensor]:
    """The weights of one layer."""
    if isinstance(layer, Tensor):
        return [layer]
    if isinstance(layer, Weights):
        return [*layer.given().values()]
    return [tensor for each in layer for tensor in vars(each).values()]


def count_sequential_steps(encoder: Encoder, length: int) -> int:
    """After how many steps the last position is ready, each starting as soon as all that it reads is there."""
    ready = [0] * length
    for _ in range(encoder.layers):
        if encoder.kind in RECURRENT_CELLS:
            passes = [recurrence_ready_times(ready[::way])[::way] for way in layer_directions(encoder)]
            ready = [max(times) for times in zip(*passes, strict=True)]
        else:
            ready = [
                1 + max(ready[j] for j in row.nonzero().flatten().tolist()) for row in one_step_reach(encoder, length)
            ]
    return max(ready)


def recurrence_ready_times(ready: list[int]) -> list[int]:
    """When each state of a recurrence is there: a step after its input and the state before it."""
    times = []
    for there in ready:
        times.append(1 + max([there, *times[-1:]]))
    return times


@dataclass(frozen=True)
class CostComparison:
    """What an encoder costs and how far two words are from each other, by formula and counted."""

    formula: EncoderCost
    counted: EncoderCost
    path: int | None
    searched_path: int | None

    @property
    def agrees(self) -> bool:
        """Whether both say the same."""
        return (self.formula, self.path) == (self.counted, self.searched_path)


def compare_costs(encoder: Encoder, length: int, inputs: int, distance: int) -> CostComparison:
    """encoder_cost beside counted_encoder_cost, path_length beside searched_path_length. Raises AttentionError as they
    do.

    >>> compare_costs(Encoder("gru"), 20, 5, distance=7).agrees
    True
    """
    return CostComparison(
        encoder_cost(encoder, length, inputs),
        count_encoder_cost(encoder, length, inputs),
        path_length(encoder, distance),
        search_path_length(encoder, distance),
    )
