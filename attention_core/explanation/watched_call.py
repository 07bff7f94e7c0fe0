"""A watched call of a function: what every expression made, and the expression's place in the source.

The function runs under a profile function of this thread alone (sys.setprofile). That gets every value that a call in
Python returns, and the call's place in the source. torch's calls pass through Python under a TorchFunctionMode.
NumPy's do if the module and the arrays are proxies. All this depends on internals of Python, torch and NumPy, so it
may fail with any error: traced_source alone calls it, and returns the plain source then.
"""

import inspect
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby, islice
from types import CodeType, FrameType, TracebackType

import numpy as np
import torch
from torch import Tensor
from torch.overrides import BaseTorchFunctionMode

from attention_core.explanation import numpy_proxy
from attention_core.explanation.numpy_proxy import (
    nested_codes,
    package_of,
    through_proxy,
    unwrap_numpy,
    wrap_numpy,
)

SourcePlace = tuple[int, int, int, int]  # in a file: first line, last line, first column, last column, in bytes
OWN_MODULES = (__name__, numpy_proxy.__name__)  # their frames belong to the Watch, not to the watched function


def watch_call(function: Callable, operands: tuple | list, params: Mapping[str, object]) -> "Watch":
    """Call a function and return the Watch of it; computes no gradient, and restores the thread's profile function.

    A RuntimeError of the function is recorded. Any other error is raised.
    """
    watch = Watch(function)
    values = (*operands, *params.values())
    if any(isinstance(value, np.ndarray) for value in values):
        function = through_proxy(function, copies={})
    args = [wrap_numpy(operand) for operand in operands]
    kwargs = {name: wrap_numpy(value) for name, value in params.items()}
    profile = sys.getprofile()
    with torch.no_grad(), BaseTorchFunctionMode():
        sys.setprofile(watch)
        try:
            result = function(*args, **kwargs)
            watch.result = unwrap_numpy(result)
        except RuntimeError as error:
            watch.refused(error)
        finally:
            sys.setprofile(profile)
    return watch


@dataclass
class CallRecord:
    """What was recorded of one function: descriptions of each argument's values and of what each expression made."""

    arguments: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    made: dict[SourcePlace, list[str]] = field(default_factory=lambda: defaultdict(list))
    latest: object = None  # the value that was made last


class Watch:
    """A profile function that records a function and the functions of its package that it calls, in calling order.

    `ran` holds a record for each function. `owner` maps a code to the function that contains it: its own code, or a
    comprehension's. `result` is what the watched function returned.
    """

    def __init__(self, function: Callable):
        self.package = package_of(function)
        self.ran: dict[CodeType, CallRecord] = {}
        self.owner: dict[CodeType, CodeType] = {}
        self.result: object = None
        self.add(function.__code__)

    def add(self, code: CodeType) -> None:
        self.ran[code] = CallRecord()
        for part in nested_codes(code):
            self.owner[part] = code

    def __call__(self, frame: FrameType, event: str, value: object) -> None:
        if event == "call":
            self.called(frame)
        elif event == "return":
            self.returned(frame, value)

    def called(self, frame: FrameType) -> None:
        """Record the arguments of a watched function, and start watching a helper at its first call."""
        if self.is_new_helper(frame):
            self.add(frame.f_code)
        record = self.ran.get(frame.f_code)
        if record is None:
            return
        found = inspect.getargvalues(frame)
        for name in argument_names(found):
            text = describe_value(found.locals[name])
            record.arguments[name].append(text)

    def is_new_helper(self, frame: FrameType) -> bool:
        """Return whether a watched function calls another one of its package that is not watched yet."""
        if frame.f_code in self.owner or frame.f_back.f_code not in self.owner:
            return False
        module = module_of(frame)
        return module.startswith(f"{self.package}.") and module not in OWN_MODULES

    def returned(self, frame: FrameType, value: object) -> None:
        """Record a call's result at the place of the call, and also a watched function's result, if that is new."""
        code = frame.f_code
        caller = frame.f_back
        is_watched = code in self.ran
        if is_watched:
            is_new = self.ran[code].latest is not value  # otherwise the value is of an earlier line, or an argument
            if is_new:
                self.keep(frame, value)
        is_comprehension = code in self.owner and not is_watched
        if caller.f_code in self.owner and not is_comprehension:
            self.keep(caller, value)

    def keep(self, frame: FrameType, value: object) -> None:
        """Record a value at a frame's current place in the source; only tensors are recorded."""
        if not tensors_in(value):
            return
        record = self.ran[self.owner[frame.f_code]]
        place = source_place(frame.f_code, frame.f_lasti)
        record.made[place].append(describe_value(value))
        record.latest = value

    def refused(self, error: RuntimeError) -> None:
        """Record an error's message at the innermost watched place; raise an error of the Watch itself again."""
        innermost = None
        for step in walk_traceback(error.__traceback__):
            if step.tb_frame.f_code in self.owner:
                innermost = step
            elif module_of(step.tb_frame) in OWN_MODULES:
                innermost = None
        if innermost is None:
            raise error
        code = innermost.tb_frame.f_code
        record = self.ran[self.owner[code]]
        place = source_place(code, innermost.tb_lasti)
        record.made[place].append(f"RuntimeError: {error}")


def module_of(frame: FrameType) -> str:
    """Name the module whose code a frame runs."""
    return frame.f_globals.get("__name__", "")


def argument_names(found: inspect.ArgInfo) -> list[str]:
    """List the names of a call's arguments, `*args` and `**kwargs` included."""
    names = [*found.args, found.varargs, found.keywords]
    return [name for name in names if name is not None]


def source_place(code: CodeType, instruction: int) -> SourcePlace:
    """Find the place in the source of an instruction's expression; an instruction has two bytes."""
    places = code.co_positions()
    return next(islice(places, instruction // 2, None))


def walk_traceback(traceback: TracebackType | None) -> Iterator[TracebackType]:
    """Yield the steps of a traceback, the outermost first."""
    while traceback is not None:
        yield traceback
        traceback = traceback.tb_next


# ---- values in words -------------------------------------------------------------------------------------------------
def tensors_in(value: object) -> list[Tensor | np.ndarray]:
    """List the tensors of a value: a tensor, or all tensors of a list; [] if it contains anything else."""
    parts = value if isinstance(value, list | tuple) else [value]
    parts = [unwrap_numpy(part) for part in parts]
    if all(isinstance(part, Tensor | np.ndarray) for part in parts):
        return parts
    return []


def describe_value(value: object) -> str:
    """Describe a value: tensors by shape and strides, anything else as Python writes it.

    >>> describe_value([torch.ones(2, 3), torch.ones(3, 2).T]), describe_value(0.5)
    ('(2, 3), strides (3, 1); (2, 3), strides (1, 2), not contiguous', '0.5')
    """
    layouts = [describe_layout(tensor) for tensor in tensors_in(value)]
    if not layouts:
        return repr(value)
    return count_repeats(layouts, "of them")


def describe_layout(tensor: Tensor | np.ndarray) -> str:
    """Describe a tensor's shape, its strides in numbers, and what the strides mean.

    >>> describe_layout(torch.ones(2, 1).expand(2, 3)), describe_layout(np.ones((2, 3))[:, ::-1])
    ('(2, 3), strides (1, 0), broadcast along axis 1, not contiguous', '(2, 3), strides (3, -1), not contiguous')
    """
    if isinstance(tensor, Tensor):
        strides = tensor.stride()
        is_contiguous = tensor.is_contiguous()
    else:
        strides = tuple(step // tensor.itemsize for step in tensor.strides)  # NumPy counts bytes
        is_contiguous = tensor.flags.c_contiguous
    shape = tuple(tensor.shape)
    broadcast = []
    for axis, size in enumerate(shape):
        if size > 1 and strides[axis] == 0:
            broadcast.append(str(axis))
    text = f"{shape}, strides {strides}"
    if broadcast:
        axes = ", ".join(broadcast)
        text += f", broadcast along axis {axes}"
    if not is_contiguous:
        text += ", not contiguous"
    return text


def count_repeats(texts: list[str], unit: str) -> str:
    """Join texts; equal neighbours are written once, with their count.

    >>> count_repeats(["(2,)", "(3,)", "(3,)"], "times")
    '(2,); (3,), 2 times'
    """
    parts = []
    for text, equal in groupby(texts):
        count = len(list(equal))
        parts.append(text if count == 1 else f"{text}, {count} {unit}")
    return "; ".join(parts)
