"""Exports a run as a script: the functions that ran, the inputs as literals, a call and a printed value for each step.

The script needs only torch, or only numpy, and nothing from this package. Each function is copied from the source that
ran, without its annotations, together with every function and constant that it uses.
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
# With more numbers, a script reads its inputs from a file, and prints only the first numbers and the sum of a step.
MAX_LITERAL_NUMBERS = 10_000
INPUTS_FILE = "attention_inputs.npz"


# ---- what panels and downloads ask for -------------------------------------------------------------------------------
def code(trace: Trace, language: str) -> str:
    """Write a complete script that computes every step of a run from its inputs and prints every step.

    trace: any run. language: "torch" or "numpy"; the NumPy script computes in float64, whatever the run's precision. If
    a run has more than MAX_LITERAL_NUMBERS input numbers, its script reads them from INPUTS_FILE beside it (see
    inputs_npz), and prints each step's shape, first numbers and sum.

    Raises AttentionError (a ValueError) for an unknown language. Raises ValueError if the run cannot be written as one
    script, because an operation is no module-level function, or one name would have two definitions.

    >>> from attention_core import attend_qkv
    >>> script = code(attend_qkv(torch.eye(2), torch.eye(2), torch.eye(2)), "torch")
    >>> print(next(line for line in script.splitlines() if line.startswith("weights =")))
    weights = masked_softmax(masked_scores)  # (B, H, T, S) = (1, 1, 2, 2)
    """
    check_language(language)
    from_file = needs_file(trace)
    faces = [face_function(step.operation, language) for step in trace.computed().values()]
    printers = {name: choose_printer(step, from_file) for name, step in trace.steps.items()}
    imports = needed_imports(language, from_file)
    definitions = collect_definitions([*faces, *printers.values()], imports)
    check_names(trace, definitions)
    import_lines = [definition.text for definition in definitions if definition.is_import]
    own_definitions = [definition for definition in definitions if not definition.is_import]
    write_inputs = inputs_from_file if from_file else input_literals
    print_calls = [f'{function.__name__}("{name}", {name})' for name, function in printers.items()]
    sections = [
        header_lines(trace, language, from_file),
        sorted(import_lines),
        *with_section_titles(own_definitions),
        [title_line("the inputs"), *write_inputs(trace, language)],
        [title_line("the steps"), *step_lines(trace, language)],
        [title_line("every step, printed"), *print_calls],
    ]
    texts = ["\n".join(lines) for lines in sections]
    return "\n\n\n".join(texts) + "\n"


def needs_file(trace: Trace) -> bool:
    """Return whether a run has so many input numbers that its script reads them from INPUTS_FILE."""
    count = sum(step.stored.numel() for step in trace.inputs().values())
    return count > MAX_LITERAL_NUMBERS


def inputs_npz(trace: Trace) -> bytes:
    """Return the run's inputs as the bytes of the NPZ file that a large run's script reads.

    trace: any run. Every input is saved exactly, under its name. NumPy has no bfloat16, so bfloat16 is saved as
    float32.

    >>> from attention_core import attend_qkv
    >>> content = inputs_npz(attend_qkv(torch.eye(2), torch.eye(2), torch.eye(2)))
    >>> np.load(io.BytesIO(content))["k"].shape
    (1, 1, 2, 2)
    """
    arrays = {name: tensor_to_numpy(step.value) for name, step in trace.inputs().items()}
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


def operation_source(operation: Operation, language: str) -> str:
    """Return the source of an operation's function, copied from this package with annotations and comments.

    operation: the operation of any step. language: "torch" or "numpy". Raises AttentionError (a ValueError) for an
    unknown language.

    >>> from attention_core import attend_qkv
    >>> print(operation_source(attend_qkv(torch.eye(2), torch.eye(2), torch.eye(2)).step("concat").operation, "torch"))
    def merge_heads(x: Float[Tensor, "B H T d_v"]) -> Float[Tensor, "B T width"]:
        return x.transpose(1, 2).flatten(2)  # (B, T, H, d_v) -> (B, T, H * d_v)
    """
    return inspect.getsource(face_function(operation, language)).rstrip()


def call_line(operation: Operation, language: str) -> str:
    """Write the line of the script that computes a step.

    operation: the operation of any step. language: "torch" or "numpy". Raises AttentionError (a ValueError) for an
    unknown language.

    >>> from attention_core import attend_qkv
    >>> call_line(attend_qkv(torch.eye(2), torch.eye(2), torch.eye(2)).step("head_outputs").operation, "numpy")
    'head_outputs = mix_numpy(weights, v)'
    """
    function = face_function(operation, language)
    arguments = list(operation.reads)
    for name, value in operation.params.items():
        literal = repr(plain_parameter(value))
        arguments.append(f"{name}={literal}")
    return f"{operation.output} = {function.__name__}({', '.join(arguments)})"


# ---- printing: a step's name, its shape, its numbers -----------------------------------------------------------------
def show(name: str, value: Tensor | np.ndarray) -> None:
    """Print every number of a step with all its digits, one row per line."""
    print(f"\n{name} {tuple(value.shape)}")
    print(rows(str(value.tolist()), len(value.shape)))


def show_start(name: str, value: Tensor | np.ndarray) -> None:
    """Print the first numbers of a step and its sum, because all would be too many."""
    numbers = value.reshape(-1).tolist()
    finite = [number for number in numbers if math.isfinite(number)]
    print(f"\n{name} {tuple(value.shape)}")
    print("first numbers:", numbers[:6])
    print("sum of all finite numbers:", math.fsum(finite))


def rows(nested: str, depth: int) -> str:
    """Return the text of a nested list of this depth with one row per line."""
    for closing in range(depth - 1, 0, -1):  # outer lists end before inner ones
        end = "]" * closing + ","
        indent = " " * (depth - closing)
        nested = nested.replace(f"{end} ", f"{end}\n{indent}")
    return nested


# ---- choices ---------------------------------------------------------------------------------------------------------
def check_language(language: str) -> None:
    """Raise AttentionError for a language that is not one of LIBRARIES."""
    if language not in LIBRARIES:
        raise AttentionError(
            "unknown_choice",
            name="language",
            choices=", ".join(LIBRARIES),
            given=repr(language),
        )


def face_function(operation: Operation, language: str) -> Callable:
    """Return the torch or NumPy function of an operation, depending on the language of the script."""
    check_language(language)
    return getattr(operation.faces, language)


def choose_printer(step: Step, from_file: bool) -> Callable:
    """Return the function with which the script prints a step: `show`, or `show_start` for a large step."""
    if from_file or step.stored.numel() > MAX_LITERAL_NUMBERS:
        return show_start
    return show


def needed_imports(language: str, from_file: bool) -> dict[str, str]:
    """Return the import statements that the inputs need, keyed by the name that each statement defines."""
    needed = {}
    if language == "torch":
        needed["torch"] = "import torch"
    if language == "numpy" or from_file:
        needed["np"] = "import numpy as np"
    return needed


def plain_parameter(value: object) -> object:
    """Convert a parameter to a builtin number whose repr is a Python literal, unlike that of np.float64(0.5)."""
    if value is None:
        return None
    if isinstance(value, tuple | list):
        return tuple(plain_parameter(part) for part in value)
    for kind in (bool, int, str):
        if isinstance(value, kind):
            return kind(value)
    if isinstance(value, float) and math.isfinite(value):
        return float(value)
    raise ValueError(f"a parameter must be a finite number, a text, None or a tuple of these: got {value!r}")


def check_names(trace: Trace, definitions: Iterable[Definition]) -> None:
    """Raise ValueError if a step's name is no valid variable name, or is taken by something else in the script."""
    taken = {"inputs", *dir(builtins)}
    taken.update(definition.name for definition in definitions)
    for name in trace.steps:
        if not name.isidentifier() or keyword.iskeyword(name):
            raise ValueError(f"a step's name must be a Python name: got {name!r}")
        if name in taken:
            raise ValueError(f"a step must not be called as something that the script needs: got {name!r}")


# ---- the script's text -----------------------------------------------------------------------------------------------
def header_lines(trace: Trace, language: str, from_file: bool) -> list[str]:
    """Return the script's first comments: what the script does, what it needs, and the sizes of the run."""
    library = LIBRARIES[language]
    dtype = dtype_name(trace)
    sizes = []
    for dim, size in trace.sizes().items():
        if "·" not in dim:
            sizes.append(f"{dim} = {size}")
    lines = [
        f"# Attention step by step in {library}: computes and prints every step of one run.",
        needs_line(language, from_file),
        f"# Sizes: {', '.join(sizes)}; the run was in {dtype}.",
    ]
    if language == "numpy" and dtype != "float64":
        why = ", since NumPy has no bfloat16" if dtype == "bfloat16" else ""
        lines.append(f"# This script takes the same inputs into float64{why}: the last digits of its steps differ.")
    return lines


def needs_line(language: str, from_file: bool) -> str:
    """Return the comment that names the libraries and files that the script needs."""
    if not from_file:
        return f"# Needs nothing but {LIBRARIES[language]}."
    libraries = "PyTorch, NumPy" if language == "torch" else "NumPy"
    return f"# Needs {libraries} and {INPUTS_FILE} beside it; run it there."


def dtype_name(trace: Trace) -> str:
    """Return the precision of the run: the name of its first input's dtype, which is always floating-point."""
    first = next(iter(trace.steps.values()))
    return str(first.dtype).removeprefix("torch.")


def title_line(text: str) -> str:
    """Return the comment line that titles a section of the script."""
    return f"# ---- {text} ".ljust(SCRIPT_WIDTH, "-").rstrip()


def with_section_titles(definitions: Iterable[Definition]) -> Iterator[list[str]]:
    """Yield the source lines of each definition, preceded by the section's title at the first definition of a
    section."""
    known = {""}
    for definition in definitions:
        if definition.title in known:
            yield [definition.text]
        else:
            known.add(definition.title)
            yield [title_line(definition.title), definition.text]


def step_lines(trace: Trace, language: str) -> list[str]:
    """Return, for each computed step, the script line that calls its operation, with a comment on the axes of the
    result.
    """
    lines = []
    for step in trace.computed().values():
        call = call_line(step.operation, language)
        lines.append(f"{call}  # {format_axes(step)}")
    return lines


def format_axes(step: Step) -> str:
    """Format the axes of a step with their sizes.

    >>> format_axes(Step("v", torch.ones(1, 2, 3), ("B", "S", "D")))
    '(B, S, D) = (1, 2, 3)'
    """
    names = ", ".join(step.dims)
    sizes = ", ".join(str(size) for size in step.shape)
    if len(step.dims) == 1:
        return f"{names} = {sizes}"
    return f"({names}) = ({sizes})"


# ---- the inputs ------------------------------------------------------------------------------------------------------
def tensor_to_numpy(tensor: Tensor) -> np.ndarray:
    """Return a tensor's numbers as a NumPy array; bfloat16 becomes float32, which can hold all bfloat16 numbers."""
    tensor = tensor.detach().cpu()
    if tensor.dtype == torch.bfloat16:
        tensor = tensor.float()
    return tensor.numpy()


def inputs_from_file(trace: Trace, language: str) -> list[str]:
    """Return script lines that read every input from INPUTS_FILE, in the precision in which the script computes."""
    lines = [f'with np.load("{INPUTS_FILE}") as inputs:']
    for name, step in trace.inputs().items():
        dtype = step.dtype
        value = f'inputs["{name}"]'
        if language == "torch":
            value = f"torch.from_numpy({value})"
            if dtype == torch.bfloat16:
                value += ".bfloat16()"
        elif dtype != torch.bool:
            value += ".astype(np.float64)"
        lines.append(f"    {name} = {value}  # {format_axes(step)}")
    return lines


def input_literals(trace: Trace, language: str) -> list[str]:
    """Return script lines with every input as a literal, one row per line, in the script's precision."""
    return [input_literal(name, step, language) for name, step in trace.inputs().items()]


def input_literal(name: str, step: Step, language: str) -> str:
    """Return the script lines that define one input as a literal."""
    function = "torch.tensor" if language == "torch" else "np.array"
    opening = f"{name} = {function}("
    closing = ")"
    if language == "torch" and step.dtype != torch.bool:
        closing = f", dtype={step.dtype})"
    array = tensor_to_numpy(step.value)
    numbers = number_texts(array, short=language == "torch")
    unquoted = str(numbers.tolist()).replace("'", "")
    lines = rows(unquoted, numbers.ndim)
    indent = " " * len(opening)
    indented = lines.replace("\n", f"\n{indent}")
    return f"{opening}{indented}{closing}  # {format_axes(step)}"


def number_texts(numbers: np.ndarray, short: bool) -> np.ndarray:
    """Return every number as a decimal text from which exactly this number is parsed.

    short: True if the text is parsed in the number's own precision, so that fewer digits suffice.

    >>> number_texts(np.array([0.1], dtype=np.float32), short=True), number_texts(np.float32([0.1]), short=False)
    (array(['0.1'], dtype='<U32'), array(['0.10000000149011612'], dtype='<U32'))
    """
    if numbers.dtype == bool:
        return numbers.astype(str)
    exact = numbers.astype(np.float64).astype(str)
    if numbers.dtype == np.float64 or not short:
        return exact
    single = numbers.astype(np.float32).astype(str)  # the shortest text of half precision needs the digits of float32
    read_back = single.astype(np.float64).astype(np.float32)  # as a script rounds: to double, then to single
    return np.where(read_back == numbers, single, exact)
