"""Decides how the flow picture draws a run: the steps that it shows, their columns, and the keyframes of the animation.

It reads only the axes and operands of a run's steps, so that it draws a new score or position encoding, too.
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
    """The steps of a run as a graph, whose edges are read from the expressions of each step's first and last cell.

    readers: the name of a step -> the steps that read it. marks: the boolean steps, such as masks, which are not drawn.
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
        """Return the names of the steps whose numbers a step reads.

        Returns () for a table of positions, because it reads only a shape.
        """
        if step.operation is None:
            return ()
        first, last = self.first_cells[step.name], self.last_cells[step.name]  # only last cells have appended numbers
        found = {*steps_of_cell(first), *steps_of_cell(last)}
        return tuple(name for name in step.operation.reads if name in found)

    def role(self, step: Step) -> str:
        """Return how a step is drawn, according to its query and key axes: "row", "lane", "pair" or "pairs" (see
        FlowPart)."""
        axes = word_axes(step)
        if len(axes) == 2:
            return "pair" if step.dims[-1] == KEYS else "pairs"
        return "row" if axes == [KEYS] or self.makes_keys(step) else "lane"

    def makes_keys(self, step: Step) -> bool:
        """Return whether keys are computed from a step, so that the picture shows a vector of the step for each key.

        The result is True for x in self-attention, which is therefore drawn with a vector for each key.
        """
        for reader in self.readers[step.name]:
            axes = word_axes(reader)
            if axes == [KEYS] or (axes == [QUERIES] and self.makes_keys(reader)):
                return True
        return False

    def merges(self, step: Step) -> bool:
        """Return whether a step concatenates several heads."""
        return step.name in self.moves and head_count(self.source(step)) > 1 and head_axis(step) is None

    def splits(self, step: Step) -> bool:
        """Return whether a step splits its source into heads."""
        return head_axis(step) is not None and head_axis(self.source(step)) is None

    def source(self, step: Step) -> Step:
        """Return the source of a computed step: its first operand."""
        return self.trace.steps[step.operation.reads[0]]


def is_move(cell: Cell) -> bool:
    """Return whether a cell only repeats a number of another step."""
    if cell.function != "sum" or len(cell.terms) != 1:
        return False
    (term,) = cell.terms
    return len(term) == 1 and isinstance(term[0], Ref)


def steps_of_cell(cell: Cell) -> Iterator[str]:
    """Yield the names of the steps whose numbers occur in a cell's expression."""
    for term in cell.terms:
        for factor in term:
            if isinstance(factor, Ref):
                yield factor.step


def word_axes(step: Step) -> list[str]:
    """Return the axes of a step that run over words: queries T, keys S, or both."""
    return [dim for dim in step.dims if dim in (QUERIES, KEYS)]


def head_axis(step: Step) -> int | None:
    """Return the index of a step's head axis in its shape; None if the step has no such axis."""
    for axis, dim in enumerate(step.dims):
        if dim in HEAD_AXES:
            return axis
    return None


def head_count(step: Step) -> int:
    """Return the number of heads of a step; 0 if the step has no head axis."""
    axis = head_axis(step)
    return 0 if axis is None else step.shape[axis]


# ---- for the recomputation in the browser ----------------------------------------------------------------------------
def twin_steps(graph: FlowGraph) -> dict[str, dict]:
    """Describe the axes and operations of a run's steps, without numbers, so that the browser can compute them again.

    In each description, operation is a result of describe_operation, and perQuery is True if the step has separate
    numbers for each query and no key is computed from them.
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
    """Describe a step's operation by function name, operands and parameters, so that the browser can compute it again.

    Returns None for an input or a table of positions, which do not depend on other numbers of the run. A mask is
    described even without operands, because its parameters may change.
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
    """A step of a run as it is drawn in the flow picture.

    name: the step. role: what is drawn of it: "row", a vector per key; "lane", a vector for the query alone; "pair", a
    number per query and key; "pairs", a vector per query and key. reads: the drawn steps from which it is computed.
    matrices: its operands without a query or key axis, such as weight matrices. column: the number of columns between
    the step and the words. merges: whether it concatenates the heads. mixes: whether it is the weighted sum of the
    keys' vectors. is_share: whether its numbers are the weights of that sum. after: whether it is that sum or is
    computed from that sum.
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
    """Return the steps that the flow picture draws, as FlowParts in the order of computation; given numbers for pairs,
    such as a bias, come just before the first step that reads them.

    >>> import torch
    >>> from attention_core import attend_qkv
    >>> parts = flow_parts(FlowGraph(attend_qkv(torch.eye(3), torch.eye(3), torch.eye(3))))
    >>> [(part.name, part.role, part.column) for part in parts][:4]
    [('q', 'lane', 0), ('k', 'row', 0), ('v', 'row', 3), ('scores', 'pair', 1)]
    """
    collected = PartCollection(graph).collect()
    parts = given_pairs_late(keep_way_to_output(mark_mixers(collected)))
    summed = {name for part in parts if part.mixes for name in part.reads}
    return place_columns([replace(part, is_share=part.role == "pair" and part.name in summed) for part in parts])


# ---- which steps are drawn -------------------------------------------------------------------------------------------
class PartCollection:
    """Collects the drawn steps of a run as FlowParts, and for each hidden step the FlowPart that shows its numbers."""

    def __init__(self, graph: FlowGraph):
        self.graph = graph
        self.parts: dict[str, FlowPart] = {}
        self.stands_for: dict[str, str] = {}  # hidden step -> the drawn step with its numbers

    def collect(self) -> list[FlowPart]:
        """Return a FlowPart for each drawn step; their columns are not set yet."""
        for step in self.graph.trace.steps.values():
            if not self.has_column(step):
                continue
            if step.name in self.graph.moves and not self.graph.merges(step):
                self.take_over(step)
            else:
                self.parts[step.name] = self.make_part(step)
        return list(self.parts.values())

    def has_column(self, step: Step) -> bool:
        """Whether a step has an axis of queries or keys, and is not a boolean mask."""
        return not {QUERIES, KEYS}.isdisjoint(step.dims) and step.name not in self.graph.marks

    def take_over(self, step: Step) -> None:
        """Choose the FlowPart that shows a step which only moves numbers: that of the step's source.

        If the step splits its source into heads, a new FlowPart replaces that
        of the source, because the picture shows one head.
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
        """Return a step's FlowPart, which says how the step is drawn and from which drawn steps it is computed."""
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
        """Return the name of the drawn step that shows a step's numbers: the step itself if it is drawn."""
        while name in self.stands_for:
            name = self.stands_for[name]
        return name


# ---- shares ----------------------------------------------------------------------------------------------------------
def mark_mixers(parts: list[FlowPart]) -> list[FlowPart]:
    """Return the FlowParts with `mixes` set on the weighted sum over the keys, and `after` on that sum and all steps
    computed from it.
    """
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
    """Return only the FlowParts from which the selected query's last vector is computed, and that vector's FlowPart."""
    last = next((part for part in reversed(parts) if part.after and part.role == "lane"), parts[-1])
    wanted = {last.name}
    for part in reversed(parts):
        if part.name in wanted:
            wanted.update(part.reads)
    return [part for part in parts if part.name in wanted]


def given_pairs_late(parts: list[FlowPart]) -> list[FlowPart]:
    """Return the FlowParts in another order: numbers given for pairs come just before the first step that reads
    them.
    """
    given = {part.name: part for part in parts if part.role == "pair" and part.motion == "given"}
    ordered: list[FlowPart] = []
    for part in parts:
        if part.name not in given:
            ordered += [given.pop(name) for name in part.reads if name in given]
            ordered.append(part)
    return ordered


# ---- columns ---------------------------------------------------------------------------------------------------------
def place_columns(parts: list[FlowPart]) -> tuple[FlowPart, ...]:
    """Return the FlowParts with their columns: a step is right of its operands, and as near as possible to the first
    step that reads it.

    Thus v is beside the attention weights, with which it is multiplied.
    """
    columns: dict[str, int] = {}
    for part in parts:
        behind_operands = [columns[name] + 1 for name in part.reads]
        columns[part.name] = max(behind_operands, default=0)
    first_reader: dict[str, int] = {}  # drawn step -> the leftmost column of a step that reads it
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
    """A keyframe of a query's animation: the drawn steps that appear in it, and how their operands move there."""

    motion: str
    parts: tuple[str, ...]


def flow_stops(parts: tuple[FlowPart, ...]) -> tuple[FlowStop, ...]:
    """Return the keyframes of a query's animation, in the order of computation.

    Vectors with the same motion appear in the same keyframe. The vectors of the keys appear with their sum, and a table
    that is added to a step appears with that step. Shares take two keyframes: the power of e for each score, then all
    these powers divided by their sum.
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
    """Return the colour family of a drawn step: "q", "k", "v", "x" or "share"."""
    if part.is_share:
        return "share"
    if part.after:
        return "v"
    return colour_family(part.name) or "x"


def part_sign(trace: Trace, part: FlowPart) -> str:
    """Return the text above a drawn step: the symbol of its vector, or else the symbol of its operation; "" without
    either."""
    symbol = colour_family(part.name)
    if symbol and not part.after:
        return symbol
    operation = trace.step(part.name).operation
    return operation.sign if operation else ""


def largest_numbers(trace: Trace, parts: tuple[FlowPart, ...]) -> dict[str, float]:
    """Return {step: the largest finite magnitude of its numbers} of the drawn steps.

    A number of this magnitude fills its cell or bar completely. All steps that hold scores share one magnitude, so that
    the picture shows how much a division shrinks them.
    """
    largest = {}
    for part in parts:
        sizes = trace[part.name].abs().nan_to_num_(0.0, posinf=0.0)  # in place: a copy would take 16 MB
        largest[part.name] = float(sizes.max()) if sizes.numel() else 0.0
    scores = [part.name for part in parts if part.role == "pair" and not part.is_share]
    top = max((largest[name] for name in scores), default=0.0)
    return largest | dict.fromkeys(scores, top)
