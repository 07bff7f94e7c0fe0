"""A run as a flow of numbers: the graph of its steps, which of them are in the picture and where, and the keyframes.

This module knows no mechanism by name: a new score or position is drawn as soon as it is in a plan.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace

import torch

from attention_core.explanation.formula import colour_family
from attention_core.record.expressions import Cell, Ref
from attention_core.record.trace import Step, Trace

QUERIES, KEYS = "T", "S"
HEAD_AXES = ("H", "H_kv")


class FlowGraph:
    """The steps of a run as a graph. The expressions of each step's first and last cell are built only once.

    readers: by the name of a step, the steps that read it. marks: the masks of True and False, which have no column.
    moves: the steps whose every cell is an unchanged number of another step.
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
        self.moves = {name for name, cell in self.first_cells.items() if is_move(cell)}

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

    def merges(self, step: Step) -> bool:
        """Whether a step concatenates several heads."""
        return step.name in self.moves and head_count(self.source(step)) > 1 and head_axis(step) is None

    def splits(self, step: Step) -> bool:
        """Whether a step splits its source into heads."""
        return head_axis(step) is not None and head_axis(self.source(step)) is None

    def source(self, step: Step) -> Step:
        """The first step that a step reads."""
        return self.trace.steps[step.operation.reads[0]]


def is_move(cell: Cell) -> bool:
    """Whether a cell is an unchanged number of another step."""
    if cell.function != "sum" or len(cell.terms) != 1:
        return False
    (term,) = cell.terms
    return len(term) == 1 and isinstance(term[0], Ref)


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


# ---- the parts of the picture ----------------------------------------------------------------------------------------
@dataclass(frozen=True)
class FlowPart:
    """A step in the picture.

    name: the step. role: "row", a vector for each key; "lane", a vector for the query alone; "pair", a number for the
    query and each key; "pairs", a vector for the query and each key. reads: the parts that it is computed from.
    matrices: the other steps that it reads. column: counted from the words. merges: whether it concatenates the heads.
    mixes: whether it is the sum of the keys' vectors, weighted by shares. is_share: whether it is these shares. after:
    whether it is that sum or follows it.
    """

    name: str
    role: str
    reads: tuple[str, ...]
    matrices: tuple[str, ...]
    motion: str
    column: int = 0
    merges: bool = False
    mixes: bool = False
    is_share: bool = False
    after: bool = False


def flow_parts(graph: FlowGraph) -> tuple[FlowPart, ...]:
    """The parts of a run's picture, in the order of computation.

    >>> import torch
    >>> from attention_core import attend_qkv
    >>> parts = flow_parts(FlowGraph(attend_qkv(torch.eye(3), torch.eye(3), torch.eye(3))))
    >>> [(part.name, part.role, part.column) for part in parts][:4]
    [('q', 'lane', 0), ('k', 'row', 0), ('v', 'row', 3), ('scores', 'pair', 1)]
    """
    collected = PartCollection(graph).collect()
    parts = keep_way_to_output(mark_mixers(collected))
    summed = {name for part in parts if part.mixes for name in part.reads}
    return place_columns([replace(part, is_share=part.role == "pair" and part.name in summed) for part in parts])


# ---- which steps are drawn -------------------------------------------------------------------------------------------
class PartCollection:
    """Collects the parts that are drawn, and for each step that is not drawn the part that shows its numbers."""

    def __init__(self, graph: FlowGraph):
        self.graph = graph
        self.parts: dict[str, FlowPart] = {}
        self.stands_for: dict[str, str] = {}  # step that is not drawn -> part that shows its numbers

    def collect(self) -> list[FlowPart]:
        """The parts of the steps that are drawn, without columns."""
        for step in self.graph.trace.steps.values():
            if not self.has_column(step):
                continue
            if step.name in self.graph.moves and not self.graph.merges(step):
                self.take_over(step)
            else:
                self.parts[step.name] = self.make_part(step)
        return list(self.parts.values())

    def has_column(self, step: Step) -> bool:
        """Whether a step has an axis of words and is not a mask of True and False."""
        return not {QUERIES, KEYS}.isdisjoint(step.dims) and step.name not in self.graph.marks

    def take_over(self, step: Step) -> None:
        """Lets the part of a step's source show a step that only moves numbers, or replaces that part by the step.

        A split into heads replaces its projection, because the picture shows one head.
        """
        source = self.resolve(self.graph.source(step).name)
        if not self.graph.splits(step):
            self.stands_for[step.name] = source
            return
        shown = self.parts.get(source)
        if shown is None or shown.motion == "given":
            self.parts[step.name] = self.make_part(step)
            return
        del self.parts[source]
        self.parts[step.name] = replace(shown, name=step.name, role=self.graph.role(step))
        self.stands_for[source] = step.name

    def make_part(self, step: Step) -> FlowPart:
        """The part that draws a step."""
        reads, matrices = [], []
        for name in self.graph.numbers_read(step):
            if self.has_column(self.graph.trace.steps[name]):
                reads.append(self.resolve(name))
            else:
                matrices.append(name)
        return FlowPart(
            name=step.name,
            role=self.graph.role(step),
            reads=tuple(dict.fromkeys(reads)),
            matrices=tuple(matrices),
            motion=step.operation.faces.motion if step.operation else "given",
            merges=self.graph.merges(step),
        )

    def resolve(self, name: str) -> str:
        """The part that shows a step's numbers."""
        while name in self.stands_for:
            name = self.stands_for[name]
        return name


# ---- shares ----------------------------------------------------------------------------------------------------------
def mark_mixers(parts: list[FlowPart]) -> list[FlowPart]:
    """The parts with `mixes` set for the sum over the keys and `after` for the parts that follow it."""
    roles = {part.name: part.role for part in parts}
    behind: set[str] = set()
    marked = []
    for part in parts:
        roles_read = {roles[name] for name in part.reads}
        mixes = part.role == "lane" and {"pair", "row"} <= roles_read
        after = mixes or not behind.isdisjoint(part.reads)
        if after:
            behind.add(part.name)
        marked.append(replace(part, mixes=mixes, after=after))
    return marked


def keep_way_to_output(parts: list[FlowPart]) -> list[FlowPart]:
    """The parts that the query's last vector depends on."""
    last = next((part for part in reversed(parts) if part.after and part.role == "lane"), parts[-1])
    wanted = {last.name}
    for part in reversed(parts):
        if part.name in wanted:
            wanted.update(part.reads)
    return [part for part in parts if part.name in wanted]


# ---- columns ---------------------------------------------------------------------------------------------------------
def place_columns(parts: list[FlowPart]) -> tuple[FlowPart, ...]:
    """The parts with their columns: one after their operands, but moved to one before their first reader.

    So v is beside the shares, where it is needed, and not where it could be computed.
    """
    columns: dict[str, int] = {}
    for part in parts:
        behind_operands = [columns[name] + 1 for name in part.reads]
        columns[part.name] = max(behind_operands, default=0)
    first_reader: dict[str, int] = {}  # name of a part -> column of the first part that reads it
    for part in reversed(parts):
        if part.name in first_reader:
            beside_reader = first_reader[part.name] - 1
            columns[part.name] = max(columns[part.name], beside_reader)
        own_column = columns[part.name]
        for name in part.reads:
            earliest = first_reader.get(name, own_column)
            first_reader[name] = min(own_column, earliest)
    return tuple(replace(part, column=columns[part.name]) for part in parts)


# ---- keyframes: the way of a query -----------------------------------------------------------------------------------
@dataclass(frozen=True)
class FlowStop:
    """A keyframe of a query's way: the parts that appear in it, and the motion of their operands."""

    motion: str
    parts: tuple[str, ...]


def flow_stops(parts: tuple[FlowPart, ...]) -> tuple[FlowStop, ...]:
    """The keyframes of a query's way, in the order of computation.

    Vectors with the same motion share a keyframe; the keys' vectors that are summed appear with the sum, and so does
    what is added to a step. Shares take two keyframes: each score as a power, then all powers divided by their sum.
    """
    late = {name for part in parts if part.mixes for name in part.reads}
    stops: list[FlowStop] = []
    waiting: list[str] = []
    for part in parts:
        if part.motion == "given":
            continue
        is_table = not part.reads
        if is_table or (part.role == "row" and part.name in late):
            waiting.append(part.name)
            continue
        brought = [name for name in waiting if name in part.reads]
        waiting = [name for name in waiting if name not in brought]
        names = (*brought, part.name)
        motion = "output" if part.motion == "ask" and part.after else part.motion
        if motion == "share":
            stops.append(FlowStop("power", names))
        comes_along = bool(stops) and stops[-1].motion == motion and part.role in ("row", "lane")
        if comes_along:
            names = (*stops.pop().parts, *names)
        stops.append(FlowStop(motion, names))
    return tuple(stops)


# ---- colour, sign and scale of parts ---------------------------------------------------------------------------------
def part_family(part: FlowPart) -> str:
    """The colour family of a part: "q", "k", "v", "x" or "share"."""
    if part.is_share:
        return "share"
    if part.after:
        return "v"
    return colour_family(part.name) or "x"


def part_sign(trace: Trace, part: FlowPart) -> str:
    """The sign above a part: the symbol of a vector, else the operation."""
    symbol = colour_family(part.name)
    if symbol and not part.after:
        return symbol
    operation = trace.step(part.name).operation
    return operation.sign if operation else part.name


def largest_numbers(trace: Trace, parts: tuple[FlowPart, ...]) -> dict[str, float]:
    """The magnitude that fills a cell or a bar of each part; all scores share one, so that a division is visible."""
    largest = {}
    for part in parts:
        sizes = trace[part.name].abs().nan_to_num_(0.0, posinf=0.0)  # in place: a second copy takes 16 MB
        largest[part.name] = float(sizes.max()) if sizes.numel() else 0.0
    scores = [part.name for part in parts if part.role == "pair" and not part.is_share]
    top = max((largest[name] for name in scores), default=0.0)
    return largest | dict.fromkeys(scores, top)
