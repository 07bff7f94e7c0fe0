"""A run as a script of its own: the functions that ran, the inputs as literals, one call a step, every step printed.

The script needs torch alone, or numpy alone, and nothing of this package: each function is copied from the source that
ran, without its annotations, together with every function and constant that it reads.
"""

import builtins
import inspect
import io
import keyword
import math
from collections.abc import Callable, Iterable, Iterator

import numpy as np
import torch
from torch import Tensor

from attention_core.explanation.source_closure import SCRIPT_WIDTH, Definition, collect_definitions
from attention_core.record.errors import AttentionError
from attention_core.record.trace import Operation, Step, Trace

LIBRARIES = {"torch": "PyTorch", "numpy": "NumPy"}
MAX_LITERAL_NUMBERS = 10_000  # more input numbers go into a file; a larger step is printed by its start and its sum
INPUTS_FILE = "attention_inputs.npz"


# ---- what panels and downloads ask for -------------------------------------------------------------------------------
def code(trace: Trace, language: str) -> str:
    """A complete script that computes every step of the run from its inputs and prints every step.

    trace: any run. language: "torch" or "numpy"; the NumPy script computes in float64, whatever the run's precision.
    A run with more than LIMIT input numbers reads them from INPUTS_FILE beside the script (see inputs_npz), and prints
    each step's shape, first numbers and sum.

    Raises AttentionError (a ValueError) for an unknown language; ValueError where the run cannot be one script: a face
    that is no module-level function, a name that would mean two things.

    >>> from attention_core import attend_qkv
    >>> script = code(attend_qkv(torch.eye(2), torch.eye(2), torch.eye(2)), "torch")
    >>> print(next(line for line in script.splitlines() if line.startswith("weights =")))
    weights = masked_softmax(masked_scores)  # (B, H, T, S) = (1, 1, 2, 2)
    """
    check_language(language)
    from_file = needs_file(trace)
    operations = [step.operation for step in trace.computed().values()]
    printers = {name: choose_printer(step, from_file) for name, step in trace.steps.items()}
    functions = [*(face_function(operation, language) for operation in operations), *printers.values()]
    definitions = collect_definitions(functions, needed_imports(language, from_file))
    check_names(trace, definitions)
    inputs = inputs_from_file(trace, language) if from_file else input_literals(trace, language)
    steps = [
        f"{call_line(operation, language)}  # {format_axes(trace.step(operation.output))}" for operation in operations
    ]
    prints = [f'{function.__name__}("{name}", {name})' for name, function in printers.items()]
    parts = [
        header_lines(trace, language, from_file),
        sorted(definition.text for definition in definitions if definition.is_import),
        *with_section_titles(definition for definition in definitions if not definition.is_import),
        [title_line("the inputs"), *inputs],
        [title_line("the steps"), *steps],
        [title_line("every step, printed"), *prints],
    ]
    return "\n\n\n".join("\n".join(lines) for lines in parts) + "\n"


def needs_file(trace: Trace) -> bool:
    """Whether the run's script reads its inputs from INPUTS_FILE: they are more than LIMIT numbers."""
    return sum(step.value.numel() for step in trace.inputs().values()) > MAX_LITERAL_NUMBERS


def inputs_npz(trace: Trace) -> bytes:
    """The run's inputs as the NPZ file that a large run's script reads.

    trace: any run. Every input under its name, exactly: bfloat16, which NumPy does not have, as float32.

    >>> from attention_core import attend_qkv
    >>> content = inputs_npz(attend_qkv(torch.eye(2), torch.eye(2), torch.eye(2)))
    >>> np.load(io.BytesIO(content))["k"].shape
    (1, 1, 2, 2)
    """
    file = io.BytesIO()
    np.savez_compressed(file, **{name: tensor_to_numpy(step.value) for name, step in trace.inputs().items()})
    return file.getvalue()


def operation_source(operation: Operation, language: str) -> str:
    """The function of one operation as it stands in this package, annotations and comments included.

    operation: any step's. language: "torch" or "numpy". Raises AttentionError (a ValueError) for an unknown language.

    >>> from attention_core import attend_qkv
    >>> print(operation_source(attend_qkv(torch.eye(2), torch.eye(2), torch.eye(2)).step("concat").operation, "torch"))
    def merge_heads(x: Float[Tensor, "B H T d_v"]) -> Float[Tensor, "B T width"]:
        return x.transpose(1, 2).flatten(2)  # (B, T, H, d_v) -> (B, T, H * d_v)
    """
    return inspect.getsource(face_function(operation, language)).rstrip()


def call_line(operation: Operation, language: str) -> str:
    """The one line that computes a step.

    operation: any step's. language: "torch" or "numpy". Raises AttentionError (a ValueError) for an unknown language.

    >>> from attention_core import attend_qkv
    >>> call_line(attend_qkv(torch.eye(2), torch.eye(2), torch.eye(2)).step("head_outputs").operation, "numpy")
    'head_outputs = mix_numpy(weights, v)'
    """
    params = [f"{name}={plain_parameter(value)!r}" for name, value in operation.params.items()]
    return (
        f"{operation.output} = {face_function(operation, language).__name__}({', '.join([*operation.reads, *params])})"
    )


# ---- printing: a step's name, its shape, its numbers -----------------------------------------------------------------
def show(name: str, value: Tensor | np.ndarray) -> None:
    """Every number with all its digits, one row a line."""
    print(f"\n{name} {tuple(value.shape)}")
    print(rows(str(value.tolist()), len(value.shape)))


def show_start(name: str, value: Tensor | np.ndarray) -> None:
    """The first numbers and the sum: there are too many to print them all."""
    numbers = value.reshape(-1).tolist()
    total = math.fsum(number for number in numbers if math.isfinite(number))
    print(f"\n{name} {tuple(value.shape)}")
    print(f"first numbers: {numbers[:6]}")
    print(f"sum of all finite numbers: {total}")


def rows(nested: str, depth: int) -> str:
    """The text of a nested list of this depth, broken after every row."""
    for closing in range(depth - 1, 0, -1):  # where the most brackets close first
        nested = nested.replace("]" * closing + ", ", "]" * closing + ",\n" + " " * (depth - closing))
    return nested


# ---- choices ---------------------------------------------------------------------------------------------------------
def check_language(language: str) -> None:
    if language not in LIBRARIES:
        raise AttentionError("unknown_choice", name="language", choices=", ".join(LIBRARIES), given=repr(language))


def face_function(operation: Operation, language: str) -> Callable:
    """The operation's function in this language."""
    check_language(language)
    return getattr(operation.faces, language)


def choose_printer(step: Step, from_file: bool) -> Callable:
    return show_start if from_file or step.value.numel() > MAX_LITERAL_NUMBERS else show


def needed_imports(language: str, from_file: bool) -> dict[str, str]:
    """What the inputs need imported, by name."""
    needed = {"torch": "import torch"} if language == "torch" else {}
    return needed | ({"np": "import numpy as np"} if language == "numpy" or from_file else {})


def plain_parameter(value: object) -> object:
    """A parameter as a builtin value, so that its repr is a literal: repr(np.float64(0.5)) names NumPy."""
    if isinstance(value, tuple | list):
        return tuple(map(plain_parameter, value))
    for kind in (bool, int, float, str):
        if isinstance(value, kind) and (kind is not float or math.isfinite(value)):
            return kind(value)
    if value is None:
        return None
    raise ValueError(f"a parameter must be a finite number, a text, None or a tuple of these: got {value!r}")


def check_names(trace: Trace, definitions: Iterable["Definition"]) -> None:
    """Every step's name can be a variable, and hides nothing that a function reads."""
    taken = {definition.name for definition in definitions} | {"inputs"} | set(dir(builtins))
    for name in trace.steps:
        if not name.isidentifier() or keyword.iskeyword(name):
            raise ValueError(f"a step's name must be a Python name: got {name!r}")
        if name in taken:
            raise ValueError(f"a step must not be called as something that the script needs: got {name!r}")


# ---- the script's text -----------------------------------------------------------------------------------------------
def header_lines(trace: Trace, language: str, from_file: bool) -> list[str]:
    """What the script is, what it needs, and the sizes of the run."""
    dtype = dtype_name(trace)
    sizes = ", ".join(f"{dim} = {size}" for dim, size in trace.sizes().items() if "·" not in dim)
    needs = LIBRARIES[language] if language == "numpy" or not from_file else "PyTorch, NumPy"
    lines = [
        f"# Attention step by step in {LIBRARIES[language]}: computes and prints every step of one run.",
        f"# Needs {needs} and {INPUTS_FILE} beside it; run it there." if from_file else f"# Needs nothing but {needs}.",
        f"# Sizes: {sizes}; the run was in {dtype}.",
    ]
    if language == "numpy" and dtype != "float64":
        why = ", since NumPy has no bfloat16" if dtype == "bfloat16" else ""
        lines.append(f"# This script takes the same inputs into float64{why}: the last digits of its steps differ.")
    return lines


def dtype_name(trace: Trace) -> str:
    """The precision of the run; its first input is always one of numbers."""
    return str(next(iter(trace.steps.values())).value.dtype).removeprefix("torch.")


def title_line(text: str) -> str:
    return f"# ---- {text} ".ljust(SCRIPT_WIDTH, "-").rstrip()


def with_section_titles(definitions: Iterable[Definition]) -> Iterator[list[str]]:
    """Each definition's lines, with its section's title where that is new."""
    known = {""}
    for definition in definitions:
        yield [definition.text] if definition.title in known else [title_line(definition.title), definition.text]
        known.add(definition.title)


def format_axes(step: Step) -> str:
    """A step's axes and their sizes.

    >>> format_axes(Step("v", torch.ones(1, 2, 3), ("B", "S", "D")))
    '(B, S, D) = (1, 2, 3)'
    """
    names, sizes = ", ".join(step.dims), ", ".join(map(str, step.value.shape))
    return f"({names}) = ({sizes})" if len(step.dims) > 1 else f"{names} = {sizes}"


# ---- the inputs ------------------------------------------------------------------------------------------------------
def tensor_to_numpy(tensor: Tensor) -> np.ndarray:
    """A tensor's own numbers in NumPy; float32 holds every bfloat16."""
    tensor = tensor.detach().cpu()
    return (tensor.float() if tensor.dtype == torch.bfloat16 else tensor).numpy()


def inputs_from_file(trace: Trace, language: str) -> list[str]:
    """Every input read from INPUTS_FILE, in the precision that the script computes in."""
    lines = [f'with np.load("{INPUTS_FILE}") as inputs:']
    for name, step in trace.inputs().items():
        value = f'inputs["{name}"]'
        if language == "torch":
            value = f"torch.from_numpy({value})" + (".bfloat16()" if step.value.dtype == torch.bfloat16 else "")
        elif step.value.dtype != torch.bool:
            value += ".astype(np.float64)"
        lines.append(f"    {name} = {value}  # {format_axes(step)}")
    return lines


def input_literals(trace: Trace, language: str) -> list[str]:
    """Every input written out, one row a line, in the precision that the script computes in."""
    lines = []
    for name, step in trace.inputs().items():
        before = f"{name} = torch.tensor(" if language == "torch" else f"{name} = np.array("
        after = f", dtype={step.value.dtype})" if language == "torch" and step.value.dtype != torch.bool else ")"
        numbers = number_texts(tensor_to_numpy(step.value), short=language == "torch")
        nested = rows(str(numbers.tolist()).replace("'", ""), numbers.ndim)
        lines.append(before + nested.replace("\n", "\n" + " " * len(before)) + f"{after}  # {format_axes(step)}")
    return lines


def number_texts(numbers: np.ndarray, short: bool) -> np.ndarray:
    """Every number as a decimal that gives it back exactly; `short` where it is read back into its own precision.

    >>> number_texts(np.array([0.1], dtype=np.float32), short=True), number_texts(np.float32([0.1]), short=False)
    (array(['0.1'], dtype='<U32'), array(['0.10000000149011612'], dtype='<U32'))
    """
    if numbers.dtype == bool:
        return numbers.astype(str)
    exact = numbers.astype(np.float64).astype(str)
    if numbers.dtype == np.float64 or not short:
        return exact
    single = numbers.astype(np.float32).astype(str)  # not shorter for the halves: 0.1 would hide that it is 0.09997559
    same = single.astype(np.float64).astype(np.float32) == numbers  # a decimal is rounded twice: to double, to single
    return np.where(same, single, exact)
