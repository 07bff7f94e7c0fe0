"""Steps that a mechanism adds to a plan, as data: what each is called, which faces it has, what it reads."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from attention_core.mechanism.parameters import keyword_names
from attention_core.record.trace import Faces, Operation

HERE = "here"  # among what a step reads: what stands at its place when its mechanism begins
INPUT, KEY_INPUT = "input", "key_input"  # what q is made of, and what k is made of
INPUTS = (INPUT, KEY_INPUT)
HEADS, HALF, FIRST_POSITION = "heads", "half", "first_position"
GIVEN_BY_RUN = (
    HEADS,
    HALF,
    FIRST_POSITION,
)  # by keyword: how many heads, which of two maps, where its first row stands


@dataclass(frozen=True)
class PlanStep:
    """One step.

    reads: HERE, INPUT, KEY_INPUT, what is learned, and steps before it; "{thing}" in a name stands for what it is done
    to, such as q or k. dims: its axes, where they are not those of what stands at the place.
    """

    output: str
    faces: Faces
    reads: tuple[str, ...] = (HERE,)
    dims: tuple[str, ...] = ()

    def operation(self, thing: str, dims: tuple[str, ...], given: Mapping[str, object]) -> Operation:
        """The step as an operation on one thing. given: the parameters, and what the run says."""
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
    """The steps of mechanisms that stand at one place, in this order: each finds there what the last step of the one
    before it made, and the first one the step `first`. All of a mechanism's steps that read HERE read that.

    sources: the steps that q and k are made of, which are read as INPUT and KEY_INPUT.
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
    """Every step is read by a later one, or is the last. Raises ValueError: without it a step would do nothing, and
    nothing would say so."""
    read = {name for operation in plan for name in operation.reads}
    unread = [operation.output for operation in plan[:-1] if operation.output not in read]
    if unread:
        raise ValueError(f"nothing reads {', '.join(unread)}")
