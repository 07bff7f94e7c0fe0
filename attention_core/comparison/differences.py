"""Finds what changed between two runs, in each step and at its largest cell; also how a sentence in a batch differs
from its run alone.
"""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from attention_core.comparison.distances import abs_difference, largest_magnitude, subtract
from attention_core.mechanism.plain_checks import require_positive
from attention_core.record.errors import AttentionError
from attention_core.record.trace import RandomParts, Step, Trace


@dataclass(frozen=True)
class StepMove:
    """How much a step changed between two runs: the largest difference of a cell, and the index of the first cell with
    it.

    The size is infinite if a cell is blocked in one run and not in the other.
    """

    step: str
    size: float
    index: tuple[int, ...]


def subtract_traces(now: Trace, before: Trace) -> Trace:
    """Compute now - before in float64, for every step that both runs have in the same shape.

    Two cells that are blocked in both runs differ by 0, and so do equal truth values. A cell that is blocked in only
    one run differs by an infinite number. Returns a Trace of steps without operations, with the names of the random
    matrices of both runs.

    >>> from attention_core import attend_qkv
    >>> q, k = torch.tensor([[1.0], [2.0]]), torch.tensor([[1.0], [3.0]])
    >>> subtract_traces(attend_qkv(q, k, k), attend_qkv(2 * q, k, k))["scores"][0, 0]
    tensor([[-1., -3.],
            [-2., -6.]], dtype=torch.float64)
    """
    steps = {}
    for step in comparable_steps(now, before):
        name = step.name
        difference = subtract(step.value, before[name])
        steps[name] = Step(name, difference.detach().cpu(), step.dims)
    drawn = dict.fromkeys((*now.chance.matrices, *before.chance.matrices))
    return Trace(steps, now.labels, difference=True, chance=RandomParts(matrices=tuple(drawn)))


def comparable_steps(now: Trace, before: Trace) -> Iterator[Step]:
    """Yield the steps of `now` that also exist in `before`, in the same shape."""
    for name, step in now.steps.items():
        other = before.steps.get(name)
        if other is not None and step.is_shaped_like(other):
            yield step


def find_moves(now: Trace, before: Trace) -> Mapping[str, StepMove]:
    """Return {step: StepMove} for the steps that differ between two runs, in order.

    Steps whose shape differs between the runs are left out.

    >>> from attention_core import attend_qkv
    >>> one, other = (attend_qkv(torch.eye(2), torch.eye(2), v * torch.eye(2)) for v in (1.0, 3.0))
    >>> [(move.step, move.index) for move in find_moves(other, one).values()][:2]
    [('v', (0, 0, 0, 0)), ('head_outputs', (0, 0, 0, 0))]
    """
    moves = {}
    for step in comparable_steps(now, before):
        previous = before[step.name]
        if torch.equal(step.value, previous):
            continue
        sizes = abs_difference(step.value, previous)
        largest = sizes.max().item()
        if largest > 0:
            moves[step.name] = StepMove(step.name, largest, index_of_largest(sizes))
    return moves


ROUNDING_SHARE = 1e-9  # a difference below this share of the largest counts as 0, because it may be rounding


def index_of_largest(sizes: Tensor) -> tuple[int, ...]:
    """Return the index of the largest entry; if several are equally large up to rounding, the first index.

    NumPy computes the index, because torch.unravel_index imports SymPy.

    >>> index_of_largest(torch.tensor([[0.25, 0.5], [0.5 + 1e-16, 0.0]], dtype=torch.float64))
    (0, 1)
    """
    least = sizes.max() * (1 - ROUNDING_SHARE)
    position = int((sizes >= least).flatten().nonzero()[0])
    index = np.unravel_index(position, sizes.shape)
    return tuple(int(i) for i in index)


@dataclass(frozen=True)
class Exchange:
    """The words that differ between two runs at the same position.

    places: {axis ("T" or "S"): positions of the words that differ}. pairs: the distinct (word before, word now).
    """

    places: Mapping[str, tuple[int, ...]]
    pairs: tuple[tuple[str, str], ...]

    @property
    def compared(self) -> bool:
        """Whether cells at the same positions may be compared: True if at most one word was replaced by another."""
        return len(self.pairs) <= 1


def exchange(now: Trace, before: Trace) -> Exchange:
    """Find the words that differ, position by position, between two runs of the same sizes.

    >>> from attention_core import attend_qkv
    >>> run = attend_qkv(torch.eye(2), torch.eye(2), torch.eye(2))
    >>> exchange(run.labelled(T=("the", "cat")), run.labelled(T=("the", "dog")))
    Exchange(places={'T': (1,), 'S': ()}, pairs=(('dog', 'cat'),))
    """
    places = {}
    pairs = []
    for axis in ("T", "S"):
        words_before = before.labels.get(axis, ())
        words_now = now.labels.get(axis, ())
        exchanged = []
        for position, pair in enumerate(zip(words_before, words_now, strict=False)):
            was, word = pair
            if was == word:
                continue
            exchanged.append(position)
            if pair not in pairs:
                pairs.append(pair)
        places[axis] = tuple(exchanged)
    return Exchange(places, tuple(pairs))


NEARLY_LARGEST_SHARE = 0.98  # a change above this share of the largest is preferred if its row is on the screen
NOWHERE: Mapping[str, Collection[int]] = {}  # default of `left_out`: axis -> positions that are not compared


def most_moved_weight(
    now: Trace,
    before: Trace,
    row: tuple[int, int, int],
    queries: int,
    left_out: Mapping[str, Collection[int]] = NOWHERE,
) -> StepMove | None:
    """Find the weight of one sequence that changed most between two runs; return None if no weight changed.

    A change in the row on the screen is preferred if it is nearly as large. row: the batch, head and query on the
    screen. queries: the number of queries of the sequence that are not padding. left_out: the queries ("T") and the
    keys ("S") that are not compared.

    >>> from attention_core import attend_qkv
    >>> one, other = (attend_qkv(torch.eye(2), s * torch.eye(2), torch.eye(2)) for s in (1.0, 3.0))
    >>> most_moved_weight(other, one, (0, 0, 1), 2).index
    (0, 0, 1, 0)
    """
    batch, head, query = row
    weights_now = now["weights"][batch, :, :queries]  # (H, T, S)
    weights_before = before["weights"][batch, :, :queries]
    sizes = abs_difference(weights_now, weights_before)
    left_out_queries = [query for query in left_out.get("T", ()) if query < queries]
    left_out_keys = list(left_out.get("S", ()))
    sizes[:, left_out_queries] = 0
    sizes[:, :, left_out_keys] = 0
    largest = sizes.max().item()
    if largest == 0:
        return None
    if query < queries:
        row_sizes = sizes[head, query]  # (S,)
        (key,) = index_of_largest(row_sizes)
        size = row_sizes[key].item()
        if size >= NEARLY_LARGEST_SHARE * largest:
            return StepMove("weights", size, (batch, head, query, key))
    index = index_of_largest(sizes)
    return StepMove("weights", largest, (batch, *index))


ROUNDING_UNITS = 16  # a change of at most this many eps counts as rounding


@dataclass(frozen=True)
class WeightMove:
    """One attention weight before and after a run was changed.

    part: the name of the weight's attention layer. index: (batch, head, query, key).
    """

    part: str
    index: tuple[int, int, int, int]
    before: float
    now: float

    @property
    def size(self) -> float:
        """Return the difference of the weight between the two runs."""
        return abs(self.now - self.before)


EQUAL_DECIMALS = 9  # changes are compared after rounding to this many decimals, so that all processors agree


def rank_moved_weights(
    now: Mapping[str, Trace],
    before: Mapping[str, Trace],
    count: int,
    left_out: Collection[tuple[str, int]] = (),
) -> list[WeightMove]:
    r"""Find the weights that moved most between two runs of several layers, the largest move first.

    The result is the `count` cells $(l, b, h, t, s)$ with the largest $|A'_{l,b,h,t,s} - A_{l,b,h,t,s}|$. Of cells with
    equal changes the first one comes first. Changes that rounding explains are left out.

    now, before: the Trace of each layer by the name of its part, as in Stack.parts; only parts with weights (B, H, T,
    S) count. left_out: heads that are not compared, as (part, head).

    Raises AttentionError (a ValueError): positive_integer, for count; weight_shape, if the weights of a part have
    different shapes in the two runs.

    >>> from attention_core import attend_qkv
    >>> one, other = (attend_qkv(s * torch.eye(3)[:1], torch.eye(3), torch.eye(3)) for s in (0.0, 3.0))
    >>> (move,) = rank_moved_weights({"1.attention": other}, {"1.attention": one}, count=1)
    >>> move.part, move.index, round(move.before, 2), round(move.now, 2)
    ('1.attention', (0, 0, 0, 0), 0.33, 0.74)
    """
    require_positive("count", count)
    moves = []
    for part, trace in now.items():
        if "weights" in trace:
            heads = [head for own, head in left_out if own == part]
            moves += rank_in_part(part, trace["weights"], before[part]["weights"], count, heads)
    farthest_first = sorted(moves, key=lambda move: -round(move.size, EQUAL_DECIMALS))
    return farthest_first[:count]


def rank_in_part(part: str, now: Tensor, before: Tensor, count: int, left_out: list[int]) -> list[WeightMove]:
    """Find the weights of one layer that changed most between two runs, the largest change first.

    now, before: the weights, (B, H, T, S). left_out: the indices of heads that are not compared.
    """
    if now.shape != before.shape:
        raise AttentionError("weight_shape", weight=part, axes=tuple(before.shape), shape=tuple(now.shape))
    sizes = abs_difference(now, before)  # (B, H, T, S)
    sizes[:, left_out] = 0
    rounding = ROUNDING_UNITS * torch.finfo(now.dtype).eps
    rounded = sizes.flatten().round(decimals=EQUAL_DECIMALS)  # (B, H, T, S) -> (B·H·T·S)
    order = rounded.argsort(descending=True, stable=True)
    indices = [tuple(map(int, np.unravel_index(place, sizes.shape))) for place in order[:count].tolist()]
    return [
        WeightMove(part, index, before[index].item(), now[index].item()) for index in indices if sizes[index] > rounding
    ]


def count_moved_weights(now: Trace, before: Trace, head: int) -> int:
    """Count the weights of a head, in the first sequence, whose change between two runs exceeds rounding.

    >>> from attention_core import attend_qkv
    >>> q, k = torch.eye(2), torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    >>> count_moved_weights(attend_qkv(q, k, k), attend_qkv(2 * q, k, k), 0)
    4
    """
    weights = now["weights"]  # (B, H, T, S)
    sizes = abs_difference(weights[0, head], before["weights"][0, head])  # (T, S)
    rounding = ROUNDING_UNITS * torch.finfo(weights.dtype).eps
    return int((sizes > rounding).sum())


TELLING_STEPS = ("weights", "head_outputs", "output")  # these steps are reported first if they changed, in this order


def find_telling_move(moved: Mapping[str, StepMove]) -> StepMove | None:
    """Choose the step whose change is reported: the first of TELLING_STEPS that changed, else the last changed step.

    TELLING_STEPS are the weights, the heads' outputs, and the output. Returns None if no step changed.

    >>> find_telling_move({"v": StepMove("v", 2.0, (0,)), "weights": StepMove("weights", 0.5, (1,))}).step
    'weights'
    """
    for step in (*TELLING_STEPS, *reversed(moved)):
        if step in moved:
            return moved[step]
    return None


def relative_change(now: Trace, before: Trace, step: str = "output") -> float:
    r"""Compute how far a step moved between two runs, relative to its size before.

    The change is $\lVert now - before \rVert / \lVert before \rVert$. Both runs must have the step in the same shape.
    The result is infinite if the step was 0 before and is not now.

    >>> from attention_core import attend_qkv
    >>> one, other = (attend_qkv(torch.eye(2), torch.eye(2), v * torch.ones(2, 2)) for v in (2.0, 3.0))
    >>> relative_change(other, one)
    0.5
    """
    previous = before[step].double()
    difference = subtract(now[step], previous)
    moved = difference.norm().item()
    size = previous.norm().item()
    if moved == 0:
        return 0.0
    if size == 0:
        return math.inf
    return moved / size


# ---- a batch, and its sentences run alone ----------------------------------------------------------------------------
def largest_batch_difference(batch: Trace, alone: Sequence[Trace]) -> tuple[str, float]:
    """Find the step in which a sentence of a batch differs most from its run alone; return its name and the difference.

    batch: a run of B sequences. alone: B runs of one sequence each, unpadded, with the same weights and settings.

    Each step that both runs have is compared over the tokens of the sentence, without padding. The difference is
    relative to the step's largest magnitude there. If a cell is infinite in only one of the runs, the difference is
    infinite.

    >>> from attention_core import attend
    >>> x = torch.tensor([[1.0], [2.0]])
    >>> largest_batch_difference(attend(torch.stack([x, 3 * x])), [attend(x), attend(3 * x)])
    ('', 0.0)
    """
    worst_step = ""
    largest = 0.0
    for sentence, single in enumerate(alone):
        for name, step in single.computed().items():
            if name not in batch or "B" not in step.dims:
                continue
            difference = sentence_difference(batch.step(name), step, sentence)
            if difference > largest:
                worst_step = name
                largest = difference
    return worst_step, largest


def sentence_difference(step: Step, alone: Step, sentence: int) -> float:
    """Measure the relative difference of a step between a sentence in a batch and the run of that sentence alone."""
    expected = alone.value
    last_row = len(step.value) - 1
    row = min(sentence, last_row)  # the only row, if all sentences share a mask
    own_positions = [slice(0, size) for size in expected.shape[1:]]
    in_batch = step.value[row : row + 1, *own_positions]
    if in_batch.shape != expected.shape:
        return torch.inf
    differences = abs_difference(in_batch, expected)
    largest = differences.max().item()
    return largest / largest_magnitude(expected)
