"""Lists the forms in which somebody may give a step without a mistake: other axes, the mean over the heads."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import permutations, product

from torch import Tensor

from attention_core.comparison.rerun import Values
from attention_core.record.trace import Step, Trace

MAX_READINGS = 12  # most combinations of forms that are tried for one run


@dataclass(frozen=True, eq=False)
class Form:
    """One way to read a given step: its numbers, with all axes, and how the run's step is brought to the same axes.

    numbers: float64, or boolean, on the CPU. order: the order of the run's axes in which the step was given; () for
    their own. is_averaged: whether the step is the mean over the heads.
    """

    numbers: Tensor
    order: tuple[int, ...] = ()
    is_averaged: bool = False

    def arrange(self, step: Step, value: Tensor) -> Tensor:
        """Return the run's value of the step with the axes of the given numbers."""
        if self.is_averaged:
            return value.mean(step.dims.index("H"))
        return value.permute(self.order) if self.order else value


def forms_of(step: Step, given: Tensor) -> list[Form]:
    """List the ways to read a given step, that of the run's own axes first; leading axes of length 1 may be missing."""
    numbers = given.double() if given.is_floating_point() else given
    found = []
    own = with_leading_axes(numbers, len(step.shape))
    if own.shape == step.shape:
        found.append(Form(own))
    for order in permutations(range(len(step.shape))):
        if order == tuple(sorted(order)) or numbers.dim() != len(order):
            continue
        if tuple(step.shape[axis] for axis in order) == tuple(numbers.shape):
            found.append(Form(numbers, order))
    if "H" in step.dims and numbers.is_floating_point():
        heads = step.dims.index("H")
        shape = step.shape[:heads] + step.shape[heads + 1 :]
        mean = with_leading_axes(numbers, len(shape))
        if tuple(mean.shape) == tuple(shape):
            found.append(Form(mean, is_averaged=True))
    return found


def with_leading_axes(numbers: Tensor, rank: int) -> Tensor:
    """Return a tensor with axes of length 1 in front until it has `rank` axes."""
    missing = max(rank - numbers.dim(), 0)
    return numbers[(None,) * missing]


@dataclass(frozen=True, eq=False)
class Reading:
    """All given steps in one form each. forms: {step: its form}."""

    forms: Mapping[str, Form]

    def arrange(self, trace: Trace, values: Values) -> Values:
        """Return a run's values of the given steps with the axes of the given numbers."""
        return {name: form.arrange(trace.step(name), values[name]) for name, form in self.forms.items()}

    @property
    def theirs(self) -> Values:
        """The given numbers by step."""
        return {name: form.numbers for name, form in self.forms.items()}

    def differences(self, trace: Trace) -> list[tuple[str, dict[str, str]]]:
        """Return what is not as in the run, though no mistake: (code in MISTAKE_SENTENCES, values of its sentence)."""
        found = []
        for name, form in self.forms.items():
            if form.is_averaged:
                found.append(("heads_averaged", {"step": name}))
            if form.order:
                axes = ", ".join(trace.step(name).dims[axis] for axis in form.order)
                found.append(("axes_exchanged", {"step": name, "axes": axes}))
        return found


def readings_of(trace: Trace, given: Mapping[str, Tensor]) -> Iterator[Reading]:
    """Yield the ways to read all given steps together, at most MAX_READINGS, the run's own axes first.

    Steps that no form fits are left out. given: {step of the trace: tensor}, checked.
    """
    forms = {}
    for name in trace.steps:
        if name in given:
            possible = forms_of(trace.step(name), given[name].detach().cpu())
            if possible:
                forms[name] = possible
    combinations = sorted(product(*(range(len(possible)) for possible in forms.values())), key=sum)
    for chosen in combinations[:MAX_READINGS] if forms else ():
        yield Reading({name: forms[name][index] for name, index in zip(forms, chosen, strict=True)})
