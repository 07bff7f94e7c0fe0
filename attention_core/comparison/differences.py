"""What moved between two runs: the difference of every step that both have, and where it is largest."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from attention_core.comparison.distances import abs_difference, subtract
from attention_core.record.trace import Step, Trace


@dataclass(frozen=True)
class StepMove:
    """How far a step moved: its largest difference, and the first cell that has it. Infinite where a cell is blocked in
    one run and not in the other."""

    step: str
    size: float
    index: tuple[int, ...]


def subtract_traces(now: Trace, before: Trace) -> Trace:
    """now - before, step by step, in float64: for every step that both runs have in the same shape.

    Two cells that are blocked in both runs, and truth values that agree, differ by 0; a cell that one run blocks alone
    by an infinity. Returns a Trace whose steps have no operation.

    >>> from attention_core import attend_qkv
    >>> q, k = torch.tensor([[1.0], [2.0]]), torch.tensor([[1.0], [3.0]])
    >>> subtract_traces(attend_qkv(q, k, k), attend_qkv(2 * q, k, k))["scores"][0, 0]
    tensor([[-1., -3.],
            [-2., -6.]], dtype=torch.float64)
    """
    steps = {
        name: Step(name, subtract(step.value, before[name]).detach().cpu(), step.dims)
        for name, step in now.steps.items()
        if name in before and have_same_shape(step, before.step(name))
    }
    return Trace(steps, now.labels, difference=True)


def have_same_shape(one: Step, other: Step) -> bool:
    """Whether two steps have the same shape: an output without W_o has another last axis, and is still an output."""
    return one.value.shape == other.value.shape


def find_moves(now: Trace, before: Trace) -> Mapping[str, StepMove]:
    """The steps that moved from one run to another, in order, each with its largest move; other shapes are left out.

    >>> from attention_core import attend_qkv
    >>> one, other = (attend_qkv(torch.eye(2), torch.eye(2), v * torch.eye(2)) for v in (1.0, 3.0))
    >>> [(move.step, move.index) for move in find_moves(other, one).values()][:2]
    [('v', (0, 0, 0, 0)), ('head_outputs', (0, 0, 0, 0))]
    """
    found = {}
    for name, step in now.steps.items():
        if name in before and have_same_shape(step, before.step(name)) and not torch.equal(step.value, before[name]):
            sizes = abs_difference(step.value, before[name])
            largest = sizes.max().item()
            if largest > 0:
                found[name] = StepMove(name, largest, index_of_largest(sizes))
    return found


def index_of_largest(sizes: Tensor) -> tuple[int, ...]:
    """The place of the largest entry, the first of several; NumPy's function, as torch's imports SymPy."""
    return tuple(map(int, np.unravel_index(sizes.argmax().item(), sizes.shape)))


NEARLY_LARGEST_SHARE = 0.98  # of the largest move: as far as anybody sees


def most_moved_weight(now: Trace, before: Trace, row: tuple[int, int, int], queries: int) -> StepMove | None:
    """The weight of one sequence that moved most, or one of the row that is looked at, where one there moved as far.

    row: the batch, head and query that are looked at. queries: how many of the sequence are no padding. None: no weight
    of the sequence moved.

    >>> from attention_core import attend_qkv
    >>> one, other = (attend_qkv(torch.eye(2), s * torch.eye(2), torch.eye(2)) for s in (1.0, 3.0))
    >>> most_moved_weight(other, one, (0, 0, 1), 2).index
    (0, 0, 1, 0)
    """
    batch, head, query = row
    sizes = abs_difference(now["weights"][batch, :, :queries], before["weights"][batch, :, :queries])  # (H, T, S)
    largest = sizes.max().item()
    if largest == 0:
        return None
    if query < queries and sizes[head, query].max() >= NEARLY_LARGEST_SHARE * largest:
        key = int(sizes[head, query].argmax())
        return StepMove("weights", sizes[head, query, key].item(), (batch, head, query, key))
    return StepMove("weights", largest, (batch, *index_of_largest(sizes)))


TELLING_STEPS = ("weights", "head_outputs", "output")  # where people look for what a change did


def find_telling_move(moved: Mapping[str, StepMove]) -> StepMove | None:
    """The move worth a sentence: that of the weights, else of what they make, else of the last step that moved.

    >>> find_telling_move({"v": StepMove("v", 2.0, (0,)), "weights": StepMove("weights", 0.5, (1,))}).step
    'weights'
    """
    for step in (*TELLING_STEPS, *reversed(moved)):
        if step in moved:
            return moved[step]
    return None


def relative_change(now: Trace, before: Trace, step: str = "output") -> float:
    r"""How far a step moved, relative to what it was: $\lVert now - before \rVert / \lVert before \rVert$.

    Both runs have it in the same shape. Infinite where it was 0 and is not.

    >>> from attention_core import attend_qkv
    >>> one, other = (attend_qkv(torch.eye(2), torch.eye(2), v * torch.ones(2, 2)) for v in (2.0, 3.0))
    >>> relative_change(other, one)
    0.5
    """
    moved, was = subtract(now[step], before[step]).norm().item(), before[step].double().norm().item()
    return moved / was if was else 0.0 if moved == 0 else float("inf")
