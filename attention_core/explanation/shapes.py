"""The sizes of a run: a step as an equation with the axes of every symbol under it."""

from collections.abc import Mapping

from attention_core.explanation.formula import COLOURS, symbol
from attention_core.record.trace import Trace


def sized_formula(trace: Trace, step: str, colours: Mapping[str, str] = COLOURS) -> str:
    r"""One step as an equation in LaTeX; under each symbol its rows and columns, as letters and as numbers.

    colours: one a family of symbols (q, k, v, x), none for black. Raises KeyError for an unknown step.

    >>> import torch
    >>> from attention_core import attend_qkv
    >>> trace = attend_qkv(torch.ones(3, 2), torch.ones(5, 2), torch.ones(5, 7))
    >>> left, right = sized_formula(trace, "head_outputs", {}).split(r"}}\,\underset")
    >>> right
    '{\\substack{S \\times d_{v} \\\\ 5 \\times 7}}{V}'
    """
    operation = trace.step(step).operation

    def sized(name: str) -> str:
        dims, shape = trace.step(name).dims[-2:], trace[name].shape[-2:]
        letters, numbers = (r" \times ".join(sides) for sides in (map(letter, dims), map(str, shape)))
        return rf"\underset{{\substack{{{letters} \\ {numbers}}}}}{{{symbol(name, colours)}}}"

    return sized(step) if operation is None else f"{sized(step)} = {operation.formula(sized)}"


def letter(dim: str) -> str:
    r"""An axis in LaTeX.

    >>> letter("T"), letter("H_kv·d_k")
    ('T', 'H_{kv} d_{k}')
    """
    parts = (part.partition("_") for part in dim.split("·"))
    return " ".join(f"{name}_{{{low}}}" if low else name for name, _, low in parts)


def sizes_of(trace: Trace, step: str) -> dict[str, int]:
    """The axes of a step and of what it reads, with their sizes; a batch of one is none of them, nor are the heads of
    keys and values where there are as many as of queries.

    >>> import torch
    >>> from attention_core import attend_qkv
    >>> sizes_of(attend_qkv(torch.ones(3, 2), torch.ones(5, 2), torch.ones(5, 7)), "head_outputs")
    {'H': 1, 'T': 3, 'd_v': 7, 'S': 5}
    """
    operation = trace.step(step).operation
    names = (step, *(operation.reads if operation else ()))
    sizes = {dim: size for name in names for dim, size in zip(trace.step(name).dims, trace[name].shape, strict=True)}
    left_out = (("B", 1), ("H_kv", sizes.get("H")))
    return {dim: size for dim, size in sizes.items() if (dim, size) not in left_out}
