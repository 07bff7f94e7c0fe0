"""Defines the Trace: the named steps of one run in order, each with its value, axes and operation.

Pictures, tables, exports, proofs and checks take all their numbers from a Trace.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from attention_core.record.errors import AttentionError
from attention_core.record.expressions import Cell, Operand, Ref
from attention_core.record.notebook_picture import NotebookPicture

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Faces:
    """The four functions that define an operation: in torch, in NumPy, as a LaTeX formula, and for one cell.

    All four take the operands in the same order and the parameters as keywords: torch(*tensors, **params),
    numpy(*arrays, **params), formula(*symbols, **params) -> LaTeX, cell(index, *operands, **params) -> Cell. They are
    module-level functions without closures, so that a Trace can be pickled, and their source can run as a script.

    sign: the symbol of the operation, a few characters that a picture shows above the step's column; or a function of
    the parameters that returns the symbol. motion: the name of the animation by which the operands become the result; a
    new animation needs a line in pages/components/flow/picture/.
    """

    torch: Callable[..., Tensor]
    numpy: Callable[..., np.ndarray]
    formula: Callable[..., str]
    cell: Callable[..., Cell]
    sign: str | Callable[..., str] = ""
    motion: str = "change"


@dataclass(frozen=True, eq=False)
class Operation:
    """One step of a mechanism as plain data: its name, its axes, the steps that it reads, and its four functions."""

    output: str
    dims: tuple[str, ...]
    reads: tuple[str, ...]
    faces: Faces
    params: Mapping[str, object] = field(default_factory=dict)

    def apply(self, operands: Mapping[str, Tensor]) -> Tensor:
        """Compute the step's value in torch.

        operands: {step name: tensor}, from a run or typed by a visitor.
        """
        tensors = [operands[name] for name in self.reads]
        return self.faces.torch(*tensors, **self.params)

    def apply_numpy(self, operands: Mapping[str, np.ndarray]) -> np.ndarray:
        """Compute the step's value in NumPy.

        operands: {step name: array}, from a run or typed by a visitor.
        """
        arrays = [operands[name] for name in self.reads]
        return self.faces.numpy(*arrays, **self.params)

    @property
    def sign(self) -> str:
        """The symbol of the operation, a few characters such as "softmax"."""
        sign = self.faces.sign
        return sign if isinstance(sign, str) else sign(**self.params)

    def formula(self, symbol: Callable[[str], str]) -> str:
        """Return the right-hand side of the operation's equation in LaTeX.

        symbol: a function that returns the LaTeX of an operand, given the operand's step name.
        """
        symbols = [symbol(name) for name in self.reads]
        return self.faces.formula(*symbols, **self.params)

    def cell(self, index: tuple[int, ...], shapes: Mapping[str, tuple[int, ...]]) -> Cell:
        """Return the Cell at an index: the arithmetic by which its number is computed from the operands.

        shapes: {operand's step name: shape}.
        """
        operands = [Operand(name, shapes[name]) for name in self.reads]
        return self.faces.cell(index, *operands, **self.params)


@dataclass(frozen=True, eq=False)
class Step:
    """A named value of a run, with its axes and the operation that computed it; an input has no operation."""

    name: str
    value: Tensor
    dims: tuple[str, ...]
    operation: Operation | None = None

    @property
    def stored(self) -> Tensor:
        """The value on the device where it was computed, so that its shape and dtype can be read without a copy."""
        return self.value

    @property
    def shape(self) -> tuple[int, ...]:
        """The length of every axis."""
        return tuple(self.stored.shape)

    def is_shaped_like(self, other: "Step") -> bool:
        """Whether another step has the same shape.

        For example, an output with W_o and one without may differ in the length of the last axis.
        """
        return self.shape == other.shape

    @property
    def dtype(self) -> torch.dtype:
        """The dtype of the step's numbers."""
        return self.stored.dtype

    @property
    def is_read_on_cpu(self) -> bool:
        """Whether `value` is a tensor on the CPU."""
        return self.value.is_cpu

    def leading(self, at: Mapping[str, int] | None = None) -> dict[str, int]:
        """Return {axis: index} for each axis before the last two.

        at: {axis: wanted index}; an index beyond the axis becomes the last one, and a missing index is 0.

        >>> Step("v", torch.zeros(1, 2, 3, 4), ("B", "H", "S", "d_v")).leading({"H": 5, "S": 2})
        {'B': 0, 'H': 1}
        """
        picked = at or {}
        dims = self.dims[:-2]
        sizes = self.shape[:-2]
        positions = {}
        for dim, size in zip(dims, sizes, strict=True):
            position = picked.get(dim, 0)
            positions[dim] = min(position, size - 1)
        return positions

    def window(self, **ranges: int | slice) -> np.ndarray:
        """Return a part of the value as NumPy float64.

        ranges: axis -> a slice, or an index, which removes the axis. Other axes are returned whole.

        >>> step = Step("v", torch.arange(6.0).view(1, 2, 3), ("H", "S", "d_v"))
        >>> step.window(H=0, S=slice(0, 1))
        array([[0., 1., 2.]])
        """
        unknown = sorted(set(ranges) - set(self.dims))
        if unknown:
            raise AttentionError("unknown_choice", name="axis", choices=self.dims, given=unknown)
        whole_axis = slice(None)
        index = tuple(ranges.get(dim, whole_axis) for dim in self.dims)
        part = self.value[index].detach()
        return part.to("cpu", torch.float64).numpy()

    def __getstate__(self) -> dict:
        """Return the state for pickle, with the value as a NumPy array and its strides.

        Arrays are pickled twenty times as fast as tensors. A value stays a tensor if NumPy lacks its dtype, or if it is
        a view, whose array would be larger.
        """
        value = self.value.detach()
        on_cpu = value.device.type == "cpu"
        numpy_has_dtype = value.dtype != torch.bfloat16
        if on_cpu and numpy_has_dtype and value.is_contiguous():
            return {**self.__dict__, "value": (value.numpy(), value.stride())}
        return {**self.__dict__, "value": value}

    def __setstate__(self, state: dict) -> None:
        """Restore the state from pickle; an array becomes a tensor again, with its former strides.

        The strides are restored even for axes of size 1, because the order in which torch sums depends on them.
        """
        value = state["value"]
        if isinstance(value, tuple):
            array, strides = value
            value = torch.as_tensor(array).as_strided(array.shape, strides)
        self.__dict__.update(state, value=value)


class CopiedStep(Step):
    """A step on another device, whose value is copied to the CPU at the first access and then cached.

    If two threads copy the value at once, the two copies have the same numbers, and one is kept.
    """

    is_read_on_cpu = True
    elsewhere: Tensor  # the value on the device where it was computed

    @staticmethod
    def of(step: Step) -> "CopiedStep":
        """Return a CopiedStep for a step on another device; the value is copied at the first access."""
        copied = CopiedStep.__new__(CopiedStep)
        copied.__dict__.update(step.__dict__)
        copied.__dict__["elsewhere"] = copied.__dict__.pop("value")
        return copied

    @cached_property
    def value(self) -> Tensor:
        """The copy of the value on the CPU."""
        return self.elsewhere.cpu()

    @property
    def stored(self) -> Tensor:
        """The value on the CPU if it has been copied, else the value on the device where it was computed."""
        return self.value if "value" in self.__dict__ else self.elsewhere

    def __getstate__(self) -> dict:
        """Return the state for pickle, which contains the value only as a copy on the CPU."""
        state = super().__getstate__()
        state.pop("elsewhere", None)
        return state


@dataclass(frozen=True)
class RandomParts:
    """The tokens and matrices of a run that were sampled at random, and so mean nothing; falsy if there are none.

    tokens: axis ("T" or "S") -> the positions whose vectors were sampled. matrices: the names of the sampled matrices
    from which the weights are computed.
    """

    tokens: Mapping[str, frozenset[int]] = field(default_factory=dict)
    matrices: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.matrices) or any(self.tokens.values())


@dataclass(frozen=True, eq=False)
class Trace(NotebookPicture):
    """One run: its steps by name, in order, and the words that label its axes.

    `labels` maps an axis ("T", "S") to one text per position; texts may repeat, because positions identify tokens.
    `difference` is True if the values are the difference between two runs (subtract_traces). `chance` has the tokens
    and matrices that were sampled at random; the caller sets it.
    """

    steps: Mapping[str, Step]
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    difference: bool = False
    chance: RandomParts = RandomParts()

    def __getitem__(self, name: str) -> Tensor:
        return self.step(name).value

    def __contains__(self, name: str) -> bool:
        return name in self.steps

    def step(self, name: str) -> Step:
        """Return the step with this name. Raises KeyError, which lists the steps, if there is none."""
        if name not in self.steps:
            names = ", ".join(self.steps)
            raise KeyError(f"there is no step {name!r}: the steps are {names}")
        return self.steps[name]

    def holds(self, name: object, index: object) -> bool:
        """Return whether a step with this name exists and has a cell at this index.

        A cell's index has one whole number, from 0, for each axis. Both arguments may have any type, because a browser
        sends them.

        >>> trace = Trace({"x": Step("x", torch.zeros(2, 3), ("T", "D"))})
        >>> trace.holds("x", (1, 2)), trace.holds("x", (1, 2.0)), trace.holds("x", (True, 0)), trace.holds({}, None)
        (True, False, False, False)
        """
        if not isinstance(name, str) or name not in self:
            return False
        shape = self.step(name).shape
        if not isinstance(index, tuple | list) or len(index) != len(shape):
            return False
        if any(type(position) is not int for position in index):
            return False
        return all(0 <= i < size for i, size in zip(index, shape, strict=True))

    def read_by(self, cell: Ref) -> set[Ref]:
        """Return the cells from which a cell is computed; set() for a cell of an input."""
        operation = self.step(cell.step).operation
        if operation is None:
            return set()
        terms = operation.cell(cell.index, self.shapes()).terms
        factors = chain.from_iterable(terms)
        return {factor for factor in factors if isinstance(factor, Ref)}

    def inputs(self) -> dict[str, Step]:
        """Return the steps that are inputs, in order."""
        return {name: step for name, step in self.steps.items() if step.operation is None}

    def computed(self) -> dict[str, Step]:
        """Return the steps that were computed, in order."""
        return {name: step for name, step in self.steps.items() if step.operation is not None}

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Return {step name: shape} for all steps."""
        return {name: step.shape for name, step in self.steps.items()}

    def count_numbers(self, leave_out: Collection[str] = ()) -> int:
        """The number of all numbers in the steps, except those of the steps named in `leave_out`."""
        return sum(step.stored.numel() for name, step in self.steps.items() if name not in leave_out)

    def sizes(self) -> dict[str, int]:
        """Return the size of every axis, by its letter: B, H, H_kv, T, S, d_k, d_v, D and so on."""
        return dict(self._sizes)

    @cached_property
    def _sizes(self) -> dict[str, int]:
        """The sizes by axis letter, cached because a picture needs them at every cell."""
        sizes: dict[str, int] = {}
        for step in self.steps.values():
            for dim, size in zip(step.dims, step.shape, strict=True):
                known = sizes.get(dim, 1)
                sizes[dim] = max(size, known)  # the larger, as a mask may have size 1 and broadcast
        return sizes

    def labelled(self, **labels: tuple[str, ...]) -> "Trace":
        """Return the same run with words on its axes: `trace.labelled(T=words, S=words)`."""
        sizes = self.sizes()
        all_labels = dict(self.labels)
        for dim, words in labels.items():
            size = sizes.get(dim)
            if size is None:
                raise AttentionError(
                    "unknown_choice",
                    name="axis",
                    choices=", ".join(sizes),
                    given=repr(dim),
                )
            if size != len(words):
                raise AttentionError("labels_count", dim=dim, size=size, given=len(words))
            all_labels[dim] = tuple(words)
        return replace(self, labels=all_labels)

    def reapply(self, name: str, **operands: Tensor) -> Tensor:
        """Compute a step again from given operands; operands that are not given are those of the run.

        An exercise is checked in this way: each step is compared with what follows from the visitor's earlier steps, so
        that one error does not make all later steps wrong. Raises KeyError for an unknown step and AttentionError for
        an operand that the step does not read.

        >>> from attention_core import attend_qkv
        >>> trace = attend_qkv(torch.eye(2), torch.eye(2), torch.eye(2))
        >>> trace.reapply("weights", masked_scores=torch.zeros(1, 1, 2, 2))[0, 0, 0]
        tensor([0.5000, 0.5000])
        """
        operation = self.step(name).operation
        reads = operation.reads if operation else ()
        for operand in operands:
            if operand not in reads:
                raise AttentionError(
                    "unknown_choice",
                    name="operand",
                    choices=", ".join(reads) or "none",
                    given=operand,
                )
        if operation is None:
            return self[name]
        own_operands = {read: self[read] for read in reads}
        return operation.apply({**own_operands, **operands})

    def then(self, *operations: Operation) -> "Trace":
        """Return the run with more steps at the end, each computed by an operation from the steps before it.

        operations: their outputs must be new names (else AttentionError), and their operands must exist (else
        KeyError).

        >>> from attention_core import attend_qkv
        >>> from attention_core.mechanism.operations import ADD
        >>> trace = attend_qkv(torch.eye(2), torch.eye(2), torch.eye(2))
        >>> trace.then(Operation("twice", ("B", "T", "D"), ("output", "output"), ADD))["twice"].sum()
        tensor(4.)
        """
        steps = dict(self.steps)
        for operation in operations:
            name = operation.output
            if name in steps:
                raise AttentionError("step_twice", name=name)
            operands = {read: steps[read].value for read in operation.reads}
            value = operation.apply(operands)
            steps[name] = Step(name, value, operation.dims, operation)
        return replace(self, steps=steps)

    def on_cpu(self) -> "Trace":
        """Return the run with all values readable on the CPU; values on another device are copied when first read."""
        steps = {}
        for name, step in self.steps.items():
            steps[name] = step if step.is_read_on_cpu else CopiedStep.of(step)
        return replace(self, steps=steps)

    def holding(self, values: Mapping[str, Tensor]) -> "Trace":
        """Return the run with other numbers in some steps and the same operations.

        values: {step name: its new numbers}. The other steps keep their numbers until they are computed again.

        >>> trace = Trace({"v": Step("v", torch.zeros(2, 1), ("S", "d_v"))})
        >>> trace.holding({"v": torch.ones(2, 1)})["v"].sum()
        tensor(2.)
        """
        steps = {}
        for name, step in self.steps.items():
            steps[name] = replace(step, value=values[name]) if name in values else step
        return replace(self, steps=steps)

    def frame(self, name: str) -> "pd.DataFrame":
        """Return a step as a long table with one row per number.

        The columns are the position on each axis, the label on each labelled axis, and the value.

        >>> trace = Trace({"v": Step("v", torch.tensor([[1.0], [2.0]]), ("S", "d_v"))}).labelled(S=("the", "the"))
        >>> trace.frame("v")
           S  d_v S_label  value
        0  0    0     the    1.0
        1  1    0     the    2.0
        """
        import pandas as pd  # imported here, as it takes a third of a second, and no page needs it at its start

        step = self.step(name)
        grid = np.indices(step.shape)  # (axes, *shape): the index of each number
        positions = grid.reshape(len(step.dims), -1)  # (axes, numbers): one column per number
        columns = dict(zip(step.dims, positions, strict=True))
        table = pd.DataFrame(columns)
        for dim in step.dims:
            if dim in self.labels:
                words = np.array(self.labels[dim], dtype=object)
                column = words[table[dim]]
                table[f"{dim}_label"] = column
        table["value"] = step.window().reshape(-1)
        return table
