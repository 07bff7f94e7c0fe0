"""A run as a flow of numbers: which steps are in the picture, in which column, and which other parts each reads."""

from dataclasses import dataclass, replace

from attention_core.drawing.flow_graph import KEYS, QUERIES, FlowGraph
from attention_core.record.trace import Step


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
    return place_columns(mark_shares(parts))


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
            if self.graph.is_move(step) and not self.graph.merges(step):
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


def mark_shares(parts: list[FlowPart]) -> list[FlowPart]:
    """The parts with `is_share` set for the shares of a sum over the keys."""
    summed = {name for part in parts if part.mixes for name in part.reads}
    return [replace(part, is_share=part.role == "pair" and part.name in summed) for part in parts]


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
