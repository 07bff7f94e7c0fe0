"""Steps that a mechanism adds to a plan, as data: what each is called, which faces it has, what it reads."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from attention_core.mechanism.parameters import keyword_names
from attention_core.record.trace import Faces, Operation

HERE = "here"  # among what a step reads: what stands at its place, or what the step before it made of that
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


def chain_operations(plan: list[Operation], first: str, sources: Mapping[str, str] | None = None) -> list[Operation]:
    """Operations of which each that reads HERE reads what the one before it made of it; the first, the step `first`.

    sources: the steps that q and k are made of, which are read as INPUT and KEY_INPUT.
    """
    chained: list[Operation] = []
    here = first
    for operation in plan:
        steps = {HERE: here, **(sources or {})}
        reads = tuple(steps.get(name, name) for name in operation.reads)
        chained.append(replace(operation, reads=reads))
        if HERE in operation.reads:
            here = operation.output
    return chained
