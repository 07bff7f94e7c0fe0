"""The code that ran, line by line, with the shapes of the tensors that each line made.

Every listing goes through annotate_source. It runs the function again under a Watch; if that fails, it returns the
plain source.
"""

import inspect
import logging
import re
from collections import defaultdict
from collections.abc import Callable, Mapping
from types import CodeType

import numpy as np
import torch
from torch import Tensor

from attention_core.explanation.scripts import face_function, tensor_to_numpy
from attention_core.explanation.watched_call import CallRecord, Watch, count_repeats, watch_call
from attention_core.record.python_source import parse_source
from attention_core.record.trace import Operation

logger = logging.getLogger(__name__)


# ---- what panels ask for ---------------------------------------------------------------------------------------------
def listing(operation: Operation, operands: Mapping[str, Tensor], language: str) -> str:
    """List an operation's source, each line followed by comments on what its expressions made of these operands.

    operation: any step's. operands: a tensor for each name that it reads, a run's own or a learner's; none is changed.
    NumPy gets them in their own precision, bfloat16, which it does not have, as float32. language: "torch" or "numpy".

    Below the signature is a line for each argument. An expression's line shows its shape, its strides (in numbers, not
    bytes), the axes along which it is broadcast (its stride is 0) and whether it is not contiguous. The lines of one
    source line are in the order of evaluation; what is evaluated several times has one line, with a count. A called
    function of this package is one expression, and is listed once after its caller. An expression that makes no tensor
    or was not reached has no line.

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
    """List any plain function as `listing` does an operation's.

    function: module-level, without closure. operands: tensors, or arrays, by the name of the parameter. params: the
    other arguments. If torch raises a RuntimeError, its message stands below the expression that raised it.

    >>> from attention_core.mechanism.operations import pass_on
    >>> print(function_listing(pass_on, {"x": torch.ones(2, 1).expand(2, 3)}))
    def pass_on(x: Float[Tensor, "*axes"]) -> Float[Tensor, "*axes"]:
        #   x: (2, 3), strides (1, 0), broadcast along axis 1, not contiguous
        return x
        #   x: (2, 3), strides (1, 0), broadcast along axis 1, not contiguous
    """
    return annotate_source(function, (), {**operands, **(params or {})})


def annotate_source(function: Callable, operands: tuple | list, params: Mapping[str, object]) -> str:
    """Return a function's source annotated with what a call of it made; the plain source if watching fails.

    Watching depends on internals of Python, torch and NumPy, so it may raise any error. The call is then repeated
    without a Watch: an error of the function itself is raised, but a RuntimeError stands below the source.
    """
    try:
        return format_listing(watch_call(function, operands, params))
    except Exception:
        text = plain_source(function, operands, params)
        logger.warning("%s could not be watched: its plain source is shown", function.__name__, exc_info=True)
        return text


def plain_source(function: Callable, operands: tuple | list, params: Mapping[str, object]) -> str:
    """Return a function's source; if a call of it raises a RuntimeError, the message stands below."""
    text = inspect.getsource(function).rstrip()
    try:
        with torch.no_grad():
            function(*operands, **params)
    except RuntimeError as error:
        return f"{text}\n    #   RuntimeError: {error}"
    return text


# ---- the listing's text ----------------------------------------------------------------------------------------------
def format_listing(watch: Watch) -> str:
    """Return the source of the watched function with its remarks, then of the called functions that made a tensor."""
    sections = []
    for code, record in watch.ran.items():
        if record.made or not sections:
            sections.append(comment_source(code, record))
    return "\n\n\n".join(sections)


def comment_source(code: CodeType, record: CallRecord) -> str:
    """Return one function's source with its remarks, each below the line on which its expression ends."""
    source_lines, first_line = inspect.getsourcelines(code)
    lines = [line.rstrip() for line in source_lines]
    function = parse_source("\n".join(lines)).body[0]
    first_statement = function.body[0]
    remarks = defaultdict(list)  # number of the line above -> remarks
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
    """Format the values of an argument or an expression as a comment."""
    spaces = " " * indent
    return f"{spaces}#   {name}: {count_repeats(texts, 'times')}"


def source_segment(lines: list[str], left: int, right: int) -> str:
    """Cut an expression's text out of its lines and join it, without a leading `return`.

    left, right: the columns where it begins and ends, counted in bytes.
    """
    raw = [line.encode() for line in lines]
    raw[-1] = raw[-1][:right]
    raw[0] = raw[0][left:]
    stripped = [line.decode().strip() for line in raw]
    text = " ".join(stripped).removeprefix("return ")
    if len(lines) == 1:
        return text
    return re.sub(r"(?<=[(\[{]) | (?=[)\]}])", "", text)  # no space inside a bracket at joined lines
