"""The graph of a run's steps, and the role of each step, read from its axes and from the expressions of its cells.

This module knows no mechanism by name: a new score or position is drawn as soon as it is in a plan.
"""

from collections import defaultdict
from collections.abc import Iterator

import torch

from attention_core.record.expressions import Cell, Ref
from attention_core.record.trace import Step, Trace

QUERIES, KEYS = "T", "S"
HEAD_AXES = ("H", "H_kv")


class FlowGraph:
    """The steps of a run as a graph. The expressions of each step's first and last cell are built only once.

    readers: by the name of a step, the steps that read it. marks: the masks of True and False, which have no column.
    """

    def __init__(self, trace: Trace):
        self.trace = trace
        self.marks = {name for name, step in trace.steps.items() if step.dtype == torch.bool}
        shapes = trace.shapes()
        self.first_cells: dict[str, Cell] = {}
        self.last_cells: dict[str, Cell] = {}
        self.readers: dict[str, list[Step]] = defaultdict(list)
        for name, step in trace.computed().items():
            first = (0,) * len(step.shape)
            last = tuple(size - 1 for size in step.shape)
            self.first_cells[name] = step.operation.cell(first, shapes)
            self.last_cells[name] = step.operation.cell(last, shapes)
            for read in dict.fromkeys(step.operation.reads):
                self.readers[read].append(step)

    def numbers_read(self, step: Step) -> tuple[str, ...]:
        """The steps whose numbers a step reads; () for a table of positions, which reads only a shape."""
        if step.operation is None:
            return ()
        first, last = self.first_cells[step.name], self.last_cells[step.name]  # only the last reads appended numbers
        found = {*steps_of_cell(first), *steps_of_cell(last)}
        return tuple(name for name in step.operation.reads if name in found)

    def role(self, step: Step) -> str:
        """The role of a step in the picture (see FlowPart), by its axes of words."""
        axes = word_axes(step)
        if len(axes) == 2:
            return "pair" if step.dims[-1] == KEYS else "pairs"
        return "row" if axes == [KEYS] or self.makes_keys(step) else "lane"

    def makes_keys(self, step: Step) -> bool:
        """Whether keys are computed from a step. True for x in self-attention, which has a vector for each key."""
        for reader in self.readers[step.name]:
            axes = word_axes(reader)
            if axes == [KEYS] or (axes == [QUERIES] and self.makes_keys(reader)):
                return True
        return False

    def is_move(self, step: Step) -> bool:
        """Whether every cell of a step is an unchanged number of another step."""
        cell = self.first_cells.get(step.name)
        if cell is None or cell.function != "sum" or len(cell.terms) != 1:
            return False
        (term,) = cell.terms
        return len(term) == 1 and isinstance(term[0], Ref)

    def merges(self, step: Step) -> bool:
        """Whether a step concatenates several heads."""
        return self.is_move(step) and head_count(self.source(step)) > 1 and head_axis(step) is None

    def splits(self, step: Step) -> bool:
        """Whether a step splits its source into heads."""
        return head_axis(step) is not None and head_axis(self.source(step)) is None

    def source(self, step: Step) -> Step:
        """The first step that a step reads."""
        return self.trace.steps[step.operation.reads[0]]


def steps_of_cell(cell: Cell) -> Iterator[str]:
    """The steps whose numbers are in a cell's expression."""
    for term in cell.terms:
        for factor in term:
            if isinstance(factor, Ref):
                yield factor.step


def word_axes(step: Step) -> list[str]:
    """The axes of a step that run over words."""
    return [dim for dim in step.dims if dim in (QUERIES, KEYS)]


def head_axis(step: Step) -> int | None:
    """The index of a step's axis of heads; None if it has none."""
    for axis, dim in enumerate(step.dims):
        if dim in HEAD_AXES:
            return axis
    return None


def head_count(step: Step) -> int:
    """The number of heads of a step; 0 if it has no axis of heads."""
    axis = head_axis(step)
    return 0 if axis is None else step.shape[axis]


# ---- for the recomputation in the browser ----------------------------------------------------------------------------
def twin_steps(graph: FlowGraph) -> dict[str, dict]:
    """The steps of a run without numbers, for the recomputation in the browser: their axes and operations.

    operation: from describe_operation. perQuery: whether each query has other numbers, and no key is computed from
    them.
    """
    described = {}
    for name, step in graph.trace.steps.items():
        has_queries = QUERIES in step.dims
        described[name] = {
            "dims": step.dims,
            "shape": step.shape,
            "operation": describe_operation(graph, step),
            "perQuery": has_queries and graph.role(step) != "row",
        }
    return described


def describe_operation(graph: FlowGraph, step: Step) -> dict | None:
    """The name of a step's function, the steps it reads, its parameters; None for an input or a table of positions,
    which no number of the run changes. A mask reads no step, but its parameters may change.
    """
    made_of = graph.numbers_read(step)
    is_mask = step.operation is not None and step.name in graph.marks
    if not made_of and not is_mask:
        return None
    return {
        "name": step.operation.faces.torch.__name__,
        "reads": made_of,
        "params": dict(step.operation.params),
    }
