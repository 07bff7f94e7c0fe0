"""Lists the source of code that ran, with the shapes of the tensors that each line computed.

annotate_source makes each listing: it calls the function again under a Watch, and returns the plain source if that
fails. A Watch is a profile function of this thread (sys.setprofile), which Python calls with every value that a call
returns, and with the call's place in the source. It also gets the results of torch's functions under a
TorchFunctionMode. It does not get those of NumPy's functions, which are written in C, so the module and the arrays are
wrapped in proxies. This depends on internals of Python, torch and NumPy, so it may raise any error.
"""

import inspect
import logging
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
from attention_core.record.python_source import parse_source
from attention_core.record.trace import Operation

SourcePlace = tuple[int, int, int, int]  # (first line, last line, first column, last column), columns in bytes
logger = logging.getLogger(__name__)


# ---- NumPy seen from Python: every call and every result passes through a Python function ----------------------------
class NumpyProxy(NDArrayOperatorsMixin):
    """A wrapper of the NumPy module, of one of its functions, or of an array; its results are wrapped, too."""

    __slots__ = ("inside",)

    def __init__(self, inside: object):
        self.inside = inside

    def __getattr__(self, name: str) -> object:
        value = getattr(self.inside, name)
        is_function = callable(value) and not isinstance(value, type)
        if is_function or isinstance(value, ModuleType):
            return NumpyProxy(value)
        return wrap_numpy(value)

    def __call__(self, *args: object, **kwargs: object) -> object:
        return wrap_numpy(self.inside(*unwrap_numpy(args), **unwrap_numpy(kwargs)))

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: object, **kwargs: object) -> object:
        compute = getattr(ufunc, method)
        return wrap_numpy(compute(*unwrap_numpy(inputs), **unwrap_numpy(kwargs)))

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
    """Wrap an array, or each array in a list or tuple; return any other value unchanged."""
    if type(value) in (list, tuple):
        return type(value)(map(wrap_numpy, value))
    if isinstance(value, np.ndarray):
        return NumpyProxy(value)
    return value


def unwrap_numpy(value: object) -> object:
    """Return the array inside a proxy, also inside a list, a tuple or a dict; return any other value unchanged."""
    if type(value) in (list, tuple):
        return type(value)(map(unwrap_numpy, value))
    if type(value) is dict:
        return {name: unwrap_numpy(item) for name, item in value.items()}
    if isinstance(value, NumpyProxy):
        return value.inside
    return value


def through_proxy(function: FunctionType, copies: dict[FunctionType, FunctionType]) -> FunctionType:
    """Return a copy of a function that uses a NumpyProxy as NumPy, also in the functions of its package that it calls.

    The code object stays the same. copies: the copies made so far, to which this copy is added.
    """
    if function in copies:
        return copies[function]
    scope = dict(function.__globals__)
    copy = FunctionType(
        function.__code__,
        scope,
        name=function.__name__,
        argdefs=function.__defaults__,
    )
    copy.__kwdefaults__ = function.__kwdefaults__
    copies[function] = copy
    for name in names_in(function.__code__):
        value = scope.get(name)
        if value is np:
            scope[name] = NumpyProxy(np)
        elif isinstance(value, FunctionType) and package_of(value) == package_of(function):
            scope[name] = through_proxy(value, copies)
    return copy


def names_in(code: CodeType) -> set[str]:
    """Return the global names and attributes that a function uses, including those in its comprehensions."""
    names: set[str] = set()
    for part in nested_codes(code):
        names.update(part.co_names)
    return names


def nested_codes(code: CodeType) -> Iterator[CodeType]:
    """Yield a function's code, and the codes of the comprehensions in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from nested_codes(constant)


def package_of(function: Callable) -> str:
    """Return the name of a function's top-level package."""
    return function.__module__.partition(".")[0]


# ---- a watched call: what every expression made, and its place in the source -----------------------------------------
def watch_call(function: Callable, operands: tuple | list, params: Mapping[str, object]) -> "Watch":
    """Call a function and return the Watch that recorded it; no gradients are computed.

    The thread's profile function is restored afterwards. A RuntimeError of the function is recorded. Any other error is
    raised.
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
    """What was recorded of a function's calls: texts that describe its arguments and the values of its expressions."""

    arguments: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    made: dict[SourcePlace, list[str]] = field(default_factory=lambda: defaultdict(list))
    latest: object = None  # last recorded value


class Watch:
    """A profile function that records a function and the functions of its package that it calls, in calling order.

    `ran` maps the code of each function to its record. `owner` maps the code object of a function, or of a
    comprehension in it, to the function's code. `result` is what the watched function returned.
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
        """Record the arguments of a call if its function is watched; start watching a helper at its first call by a
        watched function.
        """
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
        """Return whether a watched function calls a helper: a function of the same package that is not watched yet."""
        if frame.f_code in self.owner or frame.f_back.f_code not in self.owner:
            return False
        module = module_of(frame)
        return module.startswith(f"{self.package}.") and module != __name__

    def returned(self, frame: FrameType, value: object) -> None:
        """Record the result of a call: in the calling function at the call, and in the called function, if these are
        watched.

        The result of a watched function is not recorded again if it is the value that was recorded last.
        """
        code = frame.f_code
        caller = frame.f_back
        is_watched = code in self.ran
        if is_watched:
            is_new = self.ran[code].latest is not value  # False if an earlier line computed the value
            if is_new:
                self.keep(frame, value)
        is_comprehension = code in self.owner and not is_watched
        if caller.f_code in self.owner and not is_comprehension:
            self.keep(caller, value)

    def keep(self, frame: FrameType, value: object) -> None:
        """Record a value at the source position that a frame executes, if the value contains tensors."""
        if not tensors_in(value):
            return
        record = self.ran[self.owner[frame.f_code]]
        place = source_place(frame.f_code, frame.f_lasti)
        record.made[place].append(describe_value(value))
        record.latest = value

    def refused(self, error: RuntimeError) -> None:
        """Record the message of an error at the innermost watched expression; raise the error again if the Watch itself
        caused it."""
        innermost = None
        for step in walk_traceback(error.__traceback__):
            if step.tb_frame.f_code in self.owner:
                innermost = step
            elif module_of(step.tb_frame) == __name__:
                innermost = None
        if innermost is None:
            raise error
        code = innermost.tb_frame.f_code
        record = self.ran[self.owner[code]]
        place = source_place(code, innermost.tb_lasti)
        record.made[place].append(f"RuntimeError: {error}")


def module_of(frame: FrameType) -> str:
    """Return the name of the module whose code a frame runs."""
    return frame.f_globals.get("__name__", "")


def argument_names(found: inspect.ArgInfo) -> list[str]:
    """Return the names of a call's arguments, including `*args` and `**kwargs`."""
    names = [*found.args, found.varargs, found.keywords]
    return [name for name in names if name is not None]


def source_place(code: CodeType, instruction: int) -> SourcePlace:
    """Return the place in the source of the expression to which an instruction belongs.

    instruction: the offset of the instruction in the code, in bytes; an instruction has two bytes.
    """
    places = code.co_positions()
    return next(islice(places, instruction // 2, None))


def walk_traceback(traceback: TracebackType | None) -> Iterator[TracebackType]:
    """Yield the entries of a traceback, the outermost first."""
    while traceback is not None:
        yield traceback
        traceback = traceback.tb_next


# ---- values in words -------------------------------------------------------------------------------------------------
def tensors_in(value: object) -> list[Tensor | np.ndarray]:
    """Return the tensors in a value: the value itself, or all items of a list of tensors; [] for any other value."""
    parts = value if isinstance(value, list | tuple) else [value]
    parts = [unwrap_numpy(part) for part in parts]
    if all(isinstance(part, Tensor | np.ndarray) for part in parts):
        return parts
    return []


def describe_value(value: object) -> str:
    """Describe a value as text: a tensor by shape and strides, any other value by Python's repr.

    >>> describe_value([torch.ones(2, 3), torch.ones(3, 2).T]), describe_value(0.5)
    ('(2, 3), strides (3, 1); (2, 3), strides (1, 2), not contiguous', '0.5')
    """
    layouts = [describe_layout(tensor) for tensor in tensors_in(value)]
    if not layouts:
        return repr(value)
    return count_repeats(layouts, "of them")


def describe_layout(tensor: Tensor | np.ndarray) -> str:
    """Describe a tensor's shape, its strides in numbers, and the meaning of the strides (broadcast, not contiguous).

    >>> describe_layout(torch.ones(2, 1).expand(2, 3)), describe_layout(np.ones((2, 3))[:, ::-1])
    ('(2, 3), strides (1, 0), broadcast along axis 1, not contiguous', '(2, 3), strides (3, -1), not contiguous')
    """
    if isinstance(tensor, Tensor):
        strides = tensor.stride()
        is_contiguous = tensor.is_contiguous()
    else:
        strides = tuple(step // tensor.itemsize for step in tensor.strides)  # NumPy counts strides in bytes
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
    """Join texts into one text; equal neighbours are written once, together with their count.

    unit: the noun after the count.

    >>> count_repeats(["(2,)", "(3,)", "(3,)"], "times")
    '(2,); (3,), 2 times'
    """
    parts = []
    for text, equal in groupby(texts):
        count = len(list(equal))
        parts.append(text if count == 1 else f"{text}, {count} {unit}")
    return "; ".join(parts)


# ---- what panels ask for ---------------------------------------------------------------------------------------------
def listing(operation: Operation, operands: Mapping[str, Tensor], language: str) -> str:
    """Return an operation's source, each line followed by comments on the tensors that its expressions computed.

    operation: the operation of any step. operands: {name: tensor} for each name that it reads, from a run or from the
    user; none is changed. NumPy gets them in their own precision, but bfloat16, which it lacks, as float32. language:
    "torch" or "numpy".

    Below the signature is a comment for each argument. The comment of an expression shows its shape, its strides (in
    numbers, not bytes), the axes along which it is broadcast (with stride 0) and whether it is not contiguous. Comments
    on one source line are in the order of evaluation; an expression that is evaluated several times has one comment,
    with a count. A called function of this package is one expression, and is listed once after its caller. An
    expression that computes no tensor, or is not evaluated, has no comment.

    Raises AttentionError (a ValueError) for an unknown language, KeyError for a missing operand.

    >>> from attention_core import attend_qkv
    >>> trace = attend_qkv(torch.ones(1, 3, 2, 5), torch.ones(1, 3, 7, 5), torch.ones(1, 3, 7, 5))
    >>> print(listing(trace.step("concat").operation, {"head_outputs": trace["head_outputs"]}, "torch"))
    def merge_heads(x: Float[Tensor, "B H T d_v"]) -> Float[Tensor, "B T width"]:
        #   x: (1, 3, 2, 5), strides (30, 10, 5, 1)
        return x.transpose(1, 2).flatten(2)  # (B, T, H, d_v) -> (B, T, H * d_v)
        #   x.transpose(1, 2): (1, 2, 3, 5), strides (30, 5, 10, 1), not contiguous
        #   x.transpose(1, 2).flatten(2): (1, 2, 15), strides (30, 15, 1)
    """
    function = face_function(operation, language)
    given = [operands[name] for name in operation.reads]
    if language == "numpy":
        given = [tensor_to_numpy(tensor) for tensor in given]
    return annotate_source(function, given, operation.params)


def function_listing(
    function: Callable,
    operands: Mapping[str, Tensor | np.ndarray],
    params: Mapping[str, object] | None = None,
) -> str:
    """Return the source of a plain function, each line followed by comments on the tensors that its expressions
    computed.

    function: a function at module level, without a closure. operands: tensors or arrays by the name of their parameter.
    params: the other arguments. If torch raises a RuntimeError, its message is below the expression that raised it.

    >>> from attention_core.mechanism.operations import pass_on
    >>> print(function_listing(pass_on, {"x": torch.ones(2, 1).expand(2, 3)}))
    def pass_on(x: Float[Tensor, "*axes"]) -> Float[Tensor, "*axes"]:
        #   x: (2, 3), strides (1, 0), broadcast along axis 1, not contiguous
        return x
        #   x: (2, 3), strides (1, 0), broadcast along axis 1, not contiguous
    """
    return annotate_source(function, (), {**operands, **(params or {})})


def annotate_source(function: Callable, operands: tuple | list, params: Mapping[str, object]) -> str:
    """Return a function's source with comments on the tensors that a call of it computes; the plain source if the Watch
    fails.

    A Watch depends on internals of Python, torch and NumPy, so it may raise any error. Then the function is called
    without it, and an error of the function is raised, except a RuntimeError, whose message follows the source.
    """
    try:
        return format_listing(watch_call(function, operands, params))
    except Exception:
        text = plain_source(function, operands, params)
        logger.warning("%s could not be watched: its plain source is shown", function.__name__, exc_info=True)
        return text


def plain_source(function: Callable, operands: tuple | list, params: Mapping[str, object]) -> str:
    """Return a function's source; if a call of the function raises a RuntimeError, the message follows the source."""
    text = inspect.getsource(function).rstrip()
    try:
        with torch.no_grad():
            function(*operands, **params)
    except RuntimeError as error:
        return f"{text}\n    #   RuntimeError: {error}"
    return text


# ---- the listing's text ----------------------------------------------------------------------------------------------
def format_listing(watch: Watch) -> str:
    """Return the annotated source of the watched function, then that of each called function that computed a tensor."""
    sections = []
    for code, record in watch.ran.items():
        if record.made or not sections:
            sections.append(comment_source(code, record))
    return "\n\n\n".join(sections)


def comment_source(code: CodeType, record: CallRecord) -> str:
    """Return the source of a function with comments; each comment is below the line on which its expression ends."""
    source_lines, first_line = inspect.getsourcelines(code)
    lines = [line.rstrip() for line in source_lines]
    function = parse_source("\n".join(lines)).body[0]
    first_statement = function.body[0]
    remarks = defaultdict(list)  # line number -> comments to insert after this line
    for name, texts in record.arguments.items():
        remark = format_remark(first_statement.col_offset, name, texts)
        remarks[first_statement.lineno - 2].append(remark)
    for (start, end, left, right), texts in record.made.items():
        first = start - first_line
        last = end - first_line
        expression = source_segment(lines[first : last + 1], left, right)
        indent = len(lines[last]) - len(lines[last].lstrip())
        remarks[last].append(format_remark(indent, expression, texts))
    commented = []
    for number, line in enumerate(lines):
        commented.append(line)
        commented.extend(remarks[number])
    return "\n".join(commented)


def format_remark(indent: int, name: str, texts: list[str]) -> str:
    """Format the descriptions of an argument or an expression as a comment.

    indent: the number of spaces before the comment. texts: one description per evaluation.
    """
    spaces = " " * indent
    return f"{spaces}#   {name}: {count_repeats(texts, 'times')}"


def source_segment(lines: list[str], left: int, right: int) -> str:
    """Return the text of an expression on one line, without a leading `return`.

    lines: the lines of the expression. left, right: the columns where the expression begins and ends, counted in bytes.
    """
    raw = [line.encode() for line in lines]
    raw[-1] = raw[-1][:right]
    raw[0] = raw[0][left:]
    stripped = [line.decode().strip() for line in raw]
    text = " ".join(stripped).removeprefix("return ")
    if len(lines) == 1:
        return text
    return re.sub(r"(?<=[(\[{]) | (?=[)\]}])", "", text)  # removes spaces after opening and before closing brackets
