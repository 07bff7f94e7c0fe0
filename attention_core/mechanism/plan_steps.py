"""Steps that a mechanism adds to a plan, as data: the name, the faces and the reads of each."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from attention_core.mechanism.parameters import keyword_names
from attention_core.record.trace import Faces, Operation

HERE = "here"  # among a step's reads: the last step at its place before its mechanism
INPUT, KEY_INPUT = "input", "key_input"  # among a step's reads: the inputs of q and k
INPUTS = (INPUT, KEY_INPUT)
HEADS, HALF, FIRST_POSITION = "heads", "half", "first_position"
GIVEN_BY_RUN = (
    HEADS,
    HALF,
    FIRST_POSITION,
)  # keywords: the number of heads, the map (0 or 1), the position of the first row


@dataclass(frozen=True)
class PlanStep:
    """One step of a mechanism.

    reads: HERE, INPUT, KEY_INPUT, learned tensors, and earlier steps; "{thing}" in a name stands for the changed step,
    such as q or k. dims: its axes; empty if they are those of the changed step.
    """

    output: str
    faces: Faces
    reads: tuple[str, ...] = (HERE,)
    dims: tuple[str, ...] = ()

    def operation(self, thing: str, dims: tuple[str, ...], given: Mapping[str, object]) -> Operation:
        """The step as an operation on `thing`, which has the axes `dims`. given: parameters and the values of
        GIVEN_BY_RUN."""
        return Operation(
            output=self.output.format(thing=thing),
            dims=self.dims or dims,
            reads=tuple(name.format(thing=thing) for name in self.reads),
            faces=self.faces,
            params={name: given[name] for name in keyword_names(self.faces.torch)},
        )


def chain_operations(
    mechanisms: Iterable[list[Operation]], first: str, sources: Mapping[str, str] | None = None
) -> list[Operation]:
    """The operations of mechanisms at one place, in a chain: HERE becomes the last step of the mechanism before, at
    first the step `first`.

    sources: the steps that replace INPUT and KEY_INPUT.
    """
    chained: list[Operation] = []
    here = first
    for operations in mechanisms:
        steps = {HERE: here, **(sources or {})}
        for operation in operations:
            reads = tuple(steps.get(name, name) for name in operation.reads)
            chained.append(replace(operation, reads=reads))
        here = operations[-1].output
    return chained


def check_all_read(plan: list[Operation]) -> None:
    """Checks that every step but the last is read. Raises ValueError: else a step would silently have no effect."""
    read = {name for operation in plan for name in operation.reads}
    unread = [operation.output for operation in plan[:-1] if operation.output not in read]
    if unread:
        raise ValueError(f"nothing reads {', '.join(unread)}")
