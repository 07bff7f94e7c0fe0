"""A run as one flow: which steps stand in the picture, in which column, and who reads whom.

Nothing here knows a mechanism by name. What a step is in the picture follows from its axes, from what it reads and from
the expression of its cells, so that a new score or position is drawn as soon as it is in a plan.
"""

from dataclasses import dataclass, replace

import torch

from attention_core.explanation.formula import colour_family
from attention_core.record.expressions import Cell, Ref
from attention_core.record.trace import Step, Trace

QUERIES, KEYS = "T", "S"


@dataclass(frozen=True)
class FlowPart:
    """A step in the picture.

    name: the step. role: "row", one vector for every key's word; "lane", one for the query alone; "pair", one number
    for the query and each key; "pairs", a vector for each. reads: the parts it is made of. matrices: what else it
    reads. column: counted from the words. merges: whether it lays the heads side by side. mixes: whether it is the sum
    of the keys' vectors, each as large as its share. is_share: whether it is those shares. after: whether it comes
    behind that sum.
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


def flow_parts(trace: Trace) -> tuple[FlowPart, ...]:
    """The parts of a run's picture, in the order in which they are computed.

    >>> import torch
    >>> from attention_core import attend_qkv
    >>> parts = flow_parts(attend_qkv(torch.eye(3), torch.eye(3), torch.eye(3)))
    >>> [(part.name, part.role, part.column) for part in parts][:4]
    [('q', 'lane', 0), ('k', 'row', 0), ('v', 'row', 3), ('scores', 'pair', 1)]
    """
    graph = FlowGraph(trace)
    parts = keep_way_to_output(mark_mixers(graph.collect_parts()))
    return place_columns(mark_shares(parts))


class FlowGraph:
    """What reads what in a run, seen while its parts are collected."""

    def __init__(self, trace: Trace):
        self.trace = trace
        self.shapes = trace.shapes()
        self.stands_for: dict[str, str] = {}  # a step that is not drawn -> the part that shows its numbers

    def cell(self, step: Step) -> Cell | None:
        """The expression of a step's first cell; none of an input."""
        if step.operation is None:
            return None
        first = (0,) * len(step.dims)
        return step.operation.cell(first, self.shapes)

    def last_cell(self, step: Step) -> Cell:
        """The expression of its last cell."""
        last = tuple(size - 1 for size in step.value.shape)
        return step.operation.cell(last, self.shapes)

    def collect_parts(self) -> list[FlowPart]:
        """The steps that are drawn, without columns."""
        parts: dict[str, FlowPart] = {}
        for step in self.trace.steps.values():
            if is_mark(step) or not word_axes(step):
                continue
            role = self.role(step)
            if self.is_move(step) and not self.merges(step):
                self.take_over(step, role, parts)
            else:
                parts[step.name] = self.make_part(step, role)
        return list(parts.values())

    def take_over(self, step: Step, role: str, parts: dict[str, FlowPart]) -> None:
        """A step that only moves numbers is not drawn beside its source: it stands for it, or gives way to it.

        A cut into heads stands in the place of its projection, because the picture shows one head.
        """
        (source, *_) = step.operation.reads
        source = self.stands_for.get(source, source)
        shown = parts.get(source)
        if shown is not None and self.splits(step) and shown.motion != "given":
            del parts[source]
            parts[step.name] = replace(shown, name=step.name, role=role)
            self.stands_for[source] = step.name
        elif self.splits(step):
            parts[step.name] = self.make_part(step, role)
        else:
            self.stands_for[step.name] = source

    def make_part(self, step: Step, role: str) -> FlowPart:
        """A step as a part."""
        reads, matrices = [], []
        for name in self.numbers_read(step):
            read = self.trace.step(name)
            if is_mark(read) or not word_axes(read):
                matrices.append(name)
            else:
                reads.append(self.resolve(name))
        return FlowPart(
            name=step.name,
            role=role,
            reads=tuple(dict.fromkeys(reads)),
            matrices=tuple(matrices),
            motion=step.operation.faces.motion if step.operation else "given",
            merges=self.merges(step),
        )

    def numbers_read(self, step: Step) -> tuple[str, ...]:
        """The steps whose numbers a step is made of; none for a table of positions, which reads a shape alone."""
        if step.operation is None:
            return ()
        found = set()
        for cell in (self.cell(step), self.last_cell(step)):  # what is appended stands in the last one
            for term in cell.terms:
                found |= {factor.step for factor in term if isinstance(factor, Ref)}
        return tuple(name for name in step.operation.reads if name in found)

    def resolve(self, name: str) -> str:
        """The part that shows a step's numbers."""
        while name in self.stands_for:
            name = self.stands_for[name]
        return name

    def role(self, step: Step) -> str:
        """What a step is in the picture, by the words that its axes count."""
        axes = word_axes(step)
        if len(axes) == 2:
            return "pair" if step.dims[-1] == KEYS else "pairs"
        return "row" if axes == [KEYS] or self.makes_keys(step) else "lane"

    def makes_keys(self, step: Step) -> bool:
        """Whether the numbers of the keys are made of this step: x of self-attention is every word's."""
        for reader in self.readers(step):
            axes = word_axes(reader)
            if axes == [KEYS] or (axes == [QUERIES] and self.makes_keys(reader)):
                return True
        return False

    def readers(self, step: Step) -> list[Step]:
        """The steps that read a step."""
        found = []
        for other in self.trace.steps.values():
            if other.operation is not None and step.name in other.operation.reads:
                found.append(other)
        return found

    def is_move(self, step: Step) -> bool:
        """Whether every cell of a step is one number of another step, as it is."""
        cell = self.cell(step)
        if cell is None or cell.function != "sum" or len(cell.terms) != 1:
            return False
        (term,) = cell.terms
        return len(term) == 1 and isinstance(term[0], Ref)

    def merges(self, step: Step) -> bool:
        """Whether a step lays several heads side by side."""
        return self.is_move(step) and head_count(self.source(step)) > 1 and head_axis(step) is None

    def splits(self, step: Step) -> bool:
        """Whether a step cuts its source into heads."""
        return head_axis(step) is not None and head_axis(self.source(step)) is None

    def source(self, step: Step) -> Step:
        """The first step that a step reads."""
        return self.trace.step(step.operation.reads[0])


def is_mark(step: Step) -> bool:
    """Whether a step says yes or no of numbers of other steps: it is a mark on those, no column."""
    return step.value.dtype == torch.bool


def word_axes(step: Step) -> list[str]:
    """The axes of a step that count words."""
    return [dim for dim in step.dims if dim in (QUERIES, KEYS)]


def head_axis(step: Step) -> int | None:
    """Which axis of a step counts heads."""
    for axis, dim in enumerate(step.dims):
        if dim in ("H", "H_kv"):
            return axis
    return None


def head_count(step: Step) -> int:
    """How many heads a step has; none where it has no such axis."""
    axis = head_axis(step)
    return 0 if axis is None else step.value.shape[axis]


# ---- for the twin in the browser -------------------------------------------------------------------------------------
def twin_steps(trace: Trace) -> dict[str, dict]:
    """A run as the twin in the browser reads it, without its numbers: each step's axes, and how it is made.

    operation: the name of the function, the steps it reads, its parameters; None of what no number of the run changes,
    an input or a table of positions. A mask reads none, but its window may change. perQuery: whether each query has its
    own, and no key is made of it.
    """
    graph = FlowGraph(trace)
    described = {}
    for name, step in trace.steps.items():
        made = graph.numbers_read(step)
        operation = None
        is_mask = step.operation is not None and step.value.dtype == torch.bool
        if made or is_mask:
            operation = {
                "name": step.operation.faces.torch.__name__,
                "reads": made,
                "params": dict(step.operation.params),
            }
        has_queries = QUERIES in step.dims
        described[name] = {
            "dims": step.dims,
            "shape": tuple(step.value.shape),
            "operation": operation,
            "perQuery": has_queries and graph.role(step) != "row",
        }
    return described


# ---- shares ----------------------------------------------------------------------------------------------------------
def mark_mixers(parts: list[FlowPart]) -> list[FlowPart]:
    """The parts with what follows from the sum over the keys: which part it is, and what comes behind it."""
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


def mark_shares(parts: list[FlowPart]) -> list[FlowPart]:
    """The parts with which of them are the shares of a sum over the keys."""
    summed = {name for part in parts if part.mixes for name in part.reads}
    return [replace(part, is_share=part.role == "pair" and part.name in summed) for part in parts]


def keep_way_to_output(parts: list[FlowPart]) -> list[FlowPart]:
    """The parts of which the last vector of the query is made: not what a run computes besides."""
    last = next((part for part in reversed(parts) if part.after and part.role == "lane"), parts[-1])
    wanted = {last.name}
    for part in reversed(parts):
        if part.name in wanted:
            wanted.update(part.reads)
    return [part for part in parts if part.name in wanted]


# ---- columns ---------------------------------------------------------------------------------------------------------
def place_columns(parts: list[FlowPart]) -> tuple[FlowPart, ...]:
    """The parts with their columns: as far from the words as the longest way to them, but beside the first reader.

    So v stands where it is needed, beside the shares, and not where it could be computed.
    """
    earliest: dict[str, int] = {}
    for part in parts:
        earliest[part.name] = max((earliest[name] + 1 for name in part.reads), default=0)
    columns = dict(earliest)
    for part in reversed(parts):
        readers = [columns[other.name] for other in parts if part.name in other.reads]
        if readers:
            columns[part.name] = max(earliest[part.name], min(readers) - 1)
    return tuple(replace(part, column=columns[part.name]) for part in parts)


# ---- stops -----------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class FlowStop:
    """One part of the way of a query: the parts that come to be in it, and the motion that shows of what."""

    motion: str
    parts: tuple[str, ...]


def flow_stops(parts: tuple[FlowPart, ...]) -> tuple[FlowStop, ...]:
    """The way of a query through the picture, in the order in which its numbers come to be.

    Vectors that go the same way come together; the keys' vectors that are mixed wait until they are. What is added to a
    step comes with the sum. Shares come in two stops: each score as a power, then all powers as parts of one.
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


# ---- looks -----------------------------------------------------------------------------------------------------------
def part_family(part: FlowPart) -> str:
    """Whose colour a part has: "q", "k", "v" or "x", or "share"."""
    if part.is_share:
        return "share"
    if part.after:
        return "v"
    return colour_family(part.name) or "x"


def part_sign(trace: Trace, part: FlowPart) -> str:
    """What stands over a part: the symbol of a vector, else what was done."""
    symbol = colour_family(part.name)
    if symbol and not part.after:
        return symbol
    operation = trace.step(part.name).operation
    return operation.faces.sign if operation else part.name


def largest_numbers(trace: Trace, parts: tuple[FlowPart, ...]) -> dict[str, float]:
    """The magnitude that fills a cell or a bar of each part; scores share one, so that a division is seen."""
    largest = {}
    for part in parts:
        value = trace[part.name]
        finite = value[value.isfinite()].abs()
        largest[part.name] = float(finite.max()) if finite.numel() else 0.0
    scores = [part.name for part in parts if part.role == "pair" and not part.is_share]
    top = max((largest[name] for name in scores), default=0.0)
    return largest | dict.fromkeys(scores, top)
