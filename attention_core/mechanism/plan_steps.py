"""Describes the steps that a mechanism adds to a run as data: each step's name, functions and operands."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from attention_core.mechanism.parameters import keyword_names
from attention_core.record.trace import Faces, Operation

LAST_STEP = "last_step"  # name that stands for an operand: the last step so far in the place where the step is added
INPUT, KEY_INPUT = "input", "key_input"  # names that stand for an operand: the input of q, and the input of k
INPUTS = (INPUT, KEY_INPUT)
HEADS, HALF, FIRST_POSITION = "heads", "half", "first_position"
GIVEN_BY_RUN = (
    HEADS,
    HALF,
    FIRST_POSITION,
)  # values that the run provides: number of heads, index of the map (0 or 1), position of the first row


@dataclass(frozen=True)
class PlanStep:
    """One step that a mechanism adds to a run: its name, its functions, what it reads, and its axes.

    reads: the names of its operands: LAST_STEP, INPUT, KEY_INPUT, learned tensors and earlier steps. "{thing}" in a
    name stands for the changed step, such as q or k. dims: the axes of the step; () for the axes of the changed step.
    """

    output: str
    faces: Faces
    reads: tuple[str, ...] = (LAST_STEP,)
    dims: tuple[str, ...] = ()

    def operation(self, thing: str, dims: tuple[str, ...], given: Mapping[str, object]) -> Operation:
        """Return the step as an operation on `thing`, which has the axes `dims`.

        thing: the name that replaces "{thing}" in all its names. given: the parameters of the mechanism, and the
        values of GIVEN_BY_RUN.
        """
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
    """Chain the operations of the mechanisms at one place, so that each mechanism reads the one before.

    As an operand, LAST_STEP becomes the last step of the mechanism before; for the first mechanism it becomes `first`.
    sources: {INPUT or KEY_INPUT: the step that replaces it}.
    """
    chained: list[Operation] = []
    here = first
    for operations in mechanisms:
        steps = {LAST_STEP: here, **(sources or {})}
        for operation in operations:
            reads = tuple(steps.get(name, name) for name in operation.reads)
            chained.append(replace(operation, reads=reads))
        here = operations[-1].output
    return chained


def check_all_read(plan: list[Operation]) -> None:
    """Raise ValueError if a step other than the last is no operand of another step, because it would have no effect."""
    read = {name for operation in plan for name in operation.reads}
    unread = [operation.output for operation in plan[:-1] if operation.output not in read]
    if unread:
        raise ValueError(f"nothing reads {', '.join(unread)}")
