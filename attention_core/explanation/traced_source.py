"""The code that ran, line by line, with the live shapes that each line makes.

The function itself runs once more, on the operands of the step, under a profile function of this thread alone
(sys.setprofile), which sees every value that a call in Python hands back to the function, and where in the source that
call stands. torch's calls pass through Python under a TorchFunctionMode, NumPy's where its module and arrays are Seen.
"""

import ast
import inspect
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby, islice
from types import CodeType, FrameType, FunctionType, ModuleType, TracebackType

import numpy as np
import torch
from numpy.lib.mixins import NDArrayOperatorsMixin
from torch import Tensor
from torch.overrides import BaseTorchFunctionMode

from attention_core.explanation.scripts import face_function, tensor_to_numpy
from attention_core.record.trace import Operation

SourcePlace = tuple[int, int, int, int]  # in a file: first line, last line, first column, last column, in bytes


# ---- what panels ask for ---------------------------------------------------------------------------------------------
def listing(operation: Operation, operands: Mapping[str, Tensor], language: str) -> str:
    """An operation's source with, below each line, what every expression in it made of these operands.

    operation: any step's. operands: a tensor for each name that it reads, a run's own or a learner's; none is changed.
    NumPy gets them in their own precision, bfloat16, which it does not have, as float32. language: "torch" or "numpy".

    Below the signature stands a line for each argument. An expression's line says its shape, its strides (in numbers,
    not bytes), the axes along which it is broadcast (its stride is 0) and whether it is not contiguous. The lines of
    one source line stand in the order of evaluation; what is evaluated several times stands once, with a count. A
    function of this package that is called is one expression, and is listed once behind its caller. What makes no
    tensor, and what was not reached, has no line.

    Raises AttentionError (a ValueError) for an unknown language, KeyError for an operand that is missing.

    >>> from attention_core import attend_qkv
    >>> trace = attend_qkv(torch.ones(1, 3, 2, 5), torch.ones(1, 3, 7, 5), torch.ones(1, 3, 7, 5))
    >>> print(listing(trace.step("concat").operation, {"head_outputs": trace["head_outputs"]}, "torch"))
    def merge_heads(x: Float[Tensor, "B H T d_v"]) -> Float[Tensor, "B T width"]:
        #   x: (1, 3, 2, 5), strides (30, 10, 5, 1)
        return x.transpose(1, 2).flatten(2)  # (B, T, H, d_v) -> (B, T, H * d_v)
        #   x.transpose(1, 2): (1, 2, 3, 5), strides (30, 5, 10, 1), not contiguous
        #   x.transpose(1, 2).flatten(2): (1, 2, 15), strides (30, 15, 1)
    """
    function, tensors = face_function(operation, language), [operands[name] for name in operation.reads]
    given = tensors if language == "torch" else [tensor_to_numpy(tensor) for tensor in tensors]
    return format_listing(watch_call(function, given, operation.params))


def function_listing(
    function: Callable, operands: Mapping[str, Tensor | np.ndarray], params: Mapping[str, object] | None = None
) -> str:
    """The listing of any plain function: of one that is no operation.

    function: module-level, without closure. operands: tensors, or arrays, by the name of the parameter. params: the
    other arguments. Where torch refuses (a RuntimeError), its message stands below the expression that it refused.

    >>> from attention_core.mechanism.operations import pass_on
    >>> print(function_listing(pass_on, {"x": torch.ones(2, 1).expand(2, 3)}))
    def pass_on(x: Float[Tensor, "*axes"]) -> Float[Tensor, "*axes"]:
        #   x: (2, 3), strides (1, 0), broadcast along axis 1, not contiguous
        return x
        #   x: (2, 3), strides (1, 0), broadcast along axis 1, not contiguous
    """
    return format_listing(watch_call(function, (), {**operands, **(params or {})}))


# ---- the run ---------------------------------------------------------------------------------------------------------
@dataclass
class CallRecord:
    """What was seen of a function: each argument's values, and what each expression made, told in words."""

    arguments: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    made: dict[SourcePlace, list[str]] = field(default_factory=lambda: defaultdict(list))
    latest: object = None


class Watch:
    """A profile function that watches a function and those of its own package that it calls, one after another."""

    def __init__(self, function: Callable):
        self.package = package_of(function)
        self.ran: dict[CodeType, CallRecord] = {}
        self.owner: dict[CodeType, CodeType] = {}  # the function in which a code stands: its own, or a comprehension's
        self.result: object = None
        self.add(function.__code__)

    def add(self, code: CodeType) -> None:
        self.ran[code] = CallRecord()
        self.owner |= dict.fromkeys(nested_codes(code), code)

    def __call__(self, frame: FrameType, event: str, value: object) -> None:
        if event == "call":
            self.called(frame)
        elif event == "return":
            self.returned(frame, value)

    def called(self, frame: FrameType) -> None:
        code, scope = frame.f_code, frame.f_globals
        ours = scope["__name__"].startswith(f"{self.package}.") and scope is not globals()
        if ours and code not in self.owner and frame.f_back.f_code in self.owner:
            self.add(code)
        if code in self.ran:
            names, *starred, values = inspect.getargvalues(frame)
            for name in (*names, *filter(None, starred)):
                self.ran[code].arguments[name].append(describe_value(values[name]))

    def returned(self, frame: FrameType, value: object) -> None:
        code, caller = frame.f_code, frame.f_back
        if code in self.ran and self.ran[code].latest is not value:  # made in an earlier line, or not here at all
            self.keep(frame, value)
        if caller.f_code in self.owner and (code in self.ran or code not in self.owner):  # not from a comprehension
            self.keep(caller, value)

    def keep(self, frame: FrameType, value: object) -> None:
        if not tensors_in(value):
            return
        ran = self.ran[self.owner[frame.f_code]]
        ran.made[source_place(frame.f_code, frame.f_lasti)].append(describe_value(value))
        ran.latest = value

    def refused(self, error: RuntimeError) -> None:
        """The error's words, where the innermost watched function stood."""
        steps = [step for step in walk_traceback(error.__traceback__) if step.tb_frame.f_code in self.owner]
        code = steps[-1].tb_frame.f_code
        self.ran[self.owner[code]].made[source_place(code, steps[-1].tb_lasti)].append(f"RuntimeError: {error}")


def watch_call(function: Callable, operands: tuple | list, params: Mapping[str, object]) -> Watch:
    """One call, watched; it computes no gradient, and leaves the thread as it was."""
    watch = Watch(function)
    if any(isinstance(value, np.ndarray) for value in (*operands, *params.values())):
        function = through_python(function, {})
    before = sys.getprofile()
    with torch.no_grad(), BaseTorchFunctionMode():
        sys.setprofile(watch)
        try:
            watch.result = unwrap_numpy(
                function(*map(wrap_numpy, operands), **{name: wrap_numpy(value) for name, value in params.items()})
            )
        except RuntimeError as error:
            watch.refused(error)
        finally:
            sys.setprofile(before)
    return watch


def nested_codes(code: CodeType) -> Iterator[CodeType]:
    """A function's code, and those of the comprehensions in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from nested_codes(constant)


def source_place(code: CodeType, instruction: int) -> SourcePlace:
    """Where an expression stands in the source; an instruction has two bytes."""
    return next(islice(code.co_positions(), instruction // 2, None))


def walk_traceback(traceback: TracebackType | None) -> Iterator[TracebackType]:
    while traceback is not None:
        yield traceback
        traceback = traceback.tb_next


# ---- NumPy, every call through Python --------------------------------------------------------------------------------
class NumpyProxy(NDArrayOperatorsMixin):
    """NumPy's module, one of its functions or an array: what comes out of it comes through Python, and is Seen."""

    __slots__ = ("inside",)

    def __init__(self, inside: object):
        self.inside = inside

    def __getattr__(self, name: str) -> object:
        value = getattr(self.inside, name)
        is_library = isinstance(value, ModuleType) or (callable(value) and not isinstance(value, type))
        return NumpyProxy(value) if is_library else wrap_numpy(value)

    def __call__(self, *args: object, **kwargs: object) -> object:
        return wrap_numpy(self.inside(*unwrap_numpy(args), **unwrap_numpy(kwargs)))

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: object, **kwargs: object) -> object:
        return wrap_numpy(getattr(ufunc, method)(*unwrap_numpy(inputs), **unwrap_numpy(kwargs)))

    def __getitem__(self, key: object) -> object:
        return wrap_numpy(self.inside[unwrap_numpy(key)])

    def __setitem__(self, key: object, value: object) -> None:
        self.inside[unwrap_numpy(key)] = unwrap_numpy(value)

    def __iter__(self) -> Iterator[object]:
        return iter([wrap_numpy(part) for part in self.inside])

    def __len__(self) -> int:
        return len(self.inside)

    def __bool__(self) -> bool:
        return bool(self.inside)


def wrap_numpy(value: object) -> object:
    """An array, and each in a list, as one that is Seen; anything else as it is."""
    if type(value) in (list, tuple):
        return type(value)(map(wrap_numpy, value))
    return NumpyProxy(value) if isinstance(value, np.ndarray) else value


def unwrap_numpy(value: object) -> object:
    """The same the other way."""
    if type(value) in (list, tuple):
        return type(value)(map(unwrap_numpy, value))
    if type(value) is dict:
        return {name: unwrap_numpy(item) for name, item in value.items()}
    return value.inside if isinstance(value, NumpyProxy) else value


def through_python(function: FunctionType, done: dict[FunctionType, FunctionType]) -> FunctionType:
    """The same code, for which NumPy is Seen; so are the functions of its package that it calls."""
    if function not in done:
        scope = dict(function.__globals__)
        done[function] = FunctionType(function.__code__, scope, function.__name__, function.__defaults__)
        done[function].__kwdefaults__ = function.__kwdefaults__
        for name in {name for code in nested_codes(function.__code__) for name in code.co_names}:
            value = scope.get(name)
            if value is np:
                scope[name] = NumpyProxy(np)
            elif isinstance(value, FunctionType) and package_of(value) == package_of(function):
                scope[name] = through_python(value, done)
    return done[function]


# ---- words -----------------------------------------------------------------------------------------------------------
def tensors_in(value: object) -> list[Tensor | np.ndarray]:
    """The tensors that a value is: itself, or all of a list; none where anything else is among them."""
    values = [unwrap_numpy(one) for one in (value if isinstance(value, list | tuple) else [value])]
    return values if all(isinstance(one, Tensor | np.ndarray) for one in values) else []


def describe_value(value: object) -> str:
    """A value in words: tensors by shape and strides, anything else as Python writes it.

    >>> describe_value([torch.ones(2, 3), torch.ones(3, 2).T]), describe_value(0.5)
    ('(2, 3), strides (3, 1); (2, 3), strides (1, 2), not contiguous', '0.5')
    """
    return count_repeats([describe_layout(tensor) for tensor in tensors_in(value)], "of them") or repr(value)


def describe_layout(tensor: Tensor | np.ndarray) -> str:
    """Shape, strides, and what they come to.

    >>> describe_layout(torch.ones(2, 1).expand(2, 3)), describe_layout(np.ones((2, 3))[:, ::-1])
    ('(2, 3), strides (1, 0), broadcast along axis 1, not contiguous', '(2, 3), strides (3, -1), not contiguous')
    """
    if isinstance(tensor, Tensor):
        strides, contiguous = tensor.stride(), tensor.is_contiguous()
    else:
        strides, contiguous = tuple(step // tensor.itemsize for step in tensor.strides), tensor.flags.c_contiguous
    sizes = zip(tensor.shape, strides, strict=True)
    axes = ", ".join(str(axis) for axis, (size, stride) in enumerate(sizes) if size > 1 and stride == 0)
    broadcast = f", broadcast along axis {axes}" if axes else ""
    return f"{tuple(tensor.shape)}, strides {strides}{broadcast}" + ("" if contiguous else ", not contiguous")


def count_repeats(texts: list[str], unit: str) -> str:
    """Texts one after another, equal neighbours once with their number.

    >>> count_repeats(["(2,)", "(3,)", "(3,)"], "times")
    '(2,); (3,), 2 times'
    """
    groups = [(text, len(list(equal))) for text, equal in groupby(texts)]
    return "; ".join(text if count == 1 else f"{text}, {count} {unit}" for text, count in groups)


def format_listing(watch: Watch) -> str:
    """The listing: each function's lines, with those of comment below."""
    first, *called = watch.ran.items()
    return "\n\n\n".join(comment_source(*each) for each in (first, *((code, ran) for code, ran in called if ran.made)))


def comment_source(code: CodeType, ran: CallRecord) -> str:
    """One function's source with what was seen of it, each below the line on which it ends."""
    lines = [line.rstrip() for line in inspect.getsourcelines(code)[0]]
    body = ast.parse("\n".join(lines)).body[0].body[0]
    below = {body.lineno - 2: [format_remark(body.col_offset, name, texts) for name, texts in ran.arguments.items()]}
    for (start, end, left, right), texts in ran.made.items():
        first, last = start - code.co_firstlineno, end - code.co_firstlineno
        indent = len(lines[last]) - len(lines[last].lstrip())
        expression = source_segment(lines[first : last + 1], left, right)
        below.setdefault(last, []).append(format_remark(indent, expression, texts))
    return "\n".join(text for number, line in enumerate(lines) for text in (line, *below.get(number, ())))


def format_remark(indent: int, name: str, texts: list[str]) -> str:
    return f"{' ' * indent}#   {name}: {count_repeats(texts, 'times')}"


def source_segment(lines: list[str], left: int, right: int) -> str:
    """An expression's own text in one line; columns count bytes, and what a statement returns is the expression."""
    raw = [line.encode() for line in lines]
    raw[-1] = raw[-1][:right]
    raw[0] = raw[0][left:]
    text = " ".join(line.decode().strip() for line in raw).removeprefix("return ")
    return re.sub(r"(?<=[(\[{]) | (?=[)\]}])", "", text) if len(lines) > 1 else text


def package_of(function: Callable) -> str:
    return function.__module__.partition(".")[0]
