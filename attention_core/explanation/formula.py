"""Writes the steps of a run as LaTeX equations; symbols have the colour of their family (q, k, v or x)."""

from collections.abc import Callable, Mapping
from functools import lru_cache
from types import MappingProxyType

from attention_core.explanation.shown_steps import shown_name, shown_steps, steps_copied
from attention_core.mechanism.config import LEARNED_TENSORS
from attention_core.mechanism.positions import POSITIONS
from attention_core.record.trace import Trace

SYMBOL_COLOURS = {"q": "#0067A5", "k": "#B34700", "v": "#00735A", "x": "#5F6368"}  # legible on white (WCAG AA)

ELSE = "else"  # name under which `names` translates "else" in a formula
NO_NAMES: Mapping[str, str] = MappingProxyType({})  # default: steps have the code's names

SYMBOL_LETTERS = {
    "x": "X",
    "query": "X_q",
    "key": "X_k",
    "value": "X_v",
    "q": "Q",
    "k": "K",
    "v": "V",
    "w_q": "W_q",
    "w_k": "W_k",
    "w_v": "W_v",
    "w_o": "W_o",
    "q_2": "Q_2",
    "k_2": "K_2",
    "lam": r"\lambda",
    "b_q": "b_q",
    "b_k": "b_k",
    "b_v": "b_v",
    "b_o": "b_o",
    "w_1": "W_1",
    "w_2": "W_2",
    "b_1": "b_1",
    "b_2": "b_2",
    **{name: tensor.symbol for name, tensor in LEARNED_TENSORS.items()},
}

ADDED_TO_INPUTS = [name for name, position in POSITIONS.items() if position.place == "input"]
MADE_OF_INPUTS = tuple(f"{name}_" for name in ("positioned", *ADDED_TO_INPUTS))  # prefixes of steps made from inputs


@lru_cache(maxsize=256)
def colour_family(name: str) -> str | None:
    """Return the colour family of a step: "q", "k", "v" or "x"; None if the step has no colour.

    >>> colour_family("w_q"), colour_family("k_projected"), colour_family("positioned_x"), colour_family("weights")
    ('q', 'k', 'x', None)
    """
    if name in LEARNED_TENSORS:  # a learned tensor such as v_a is no value, although its name begins with v
        return None
    if name in ("x", "query", "key", "value"):
        return "x"
    if name.startswith(MADE_OF_INPUTS):
        return "x"
    for letter in ("q", "k", "v"):
        own_names = (letter, f"w_{letter}", f"b_{letter}")
        if name in own_names or name.startswith(f"{letter}_"):
            return letter
    return None


def symbol(name: str, colours: Mapping[str, str] = SYMBOL_COLOURS, names: Mapping[str, str] = NO_NAMES) -> str:
    r"""Write a step's symbol in LaTeX: its letter if it has one, else its name in upright type.

    names: translated names of steps.

    >>> symbol("q"), symbol("scaled_scores"), symbol("weights", names={"weights": "权重"})
    ('\\textcolor{#0067A5}{Q}', '\\mathrm{scaled\\_scores}', '\\text{权重}')
    """
    text = SYMBOL_LETTERS.get(name)
    if text is None and name in names:
        text = rf"\text{{{names[name]}}}"
    if text is None:
        escaped = name.replace("_", r"\_")
        text = rf"\mathrm{{{escaped}}}"
    colour = colours.get(colour_family(name) or "")
    if not colour:
        return text
    return rf"\textcolor{{{colour}}}{{{text}}}"


def formula(
    trace: Trace, step: str, colours: Mapping[str, str] = SYMBOL_COLOURS, names: Mapping[str, str] = NO_NAMES
) -> str:
    r"""Write one step as an equation in LaTeX; an input is written as its symbol alone.

    Operands have the names of the steps that the app shows (shown_steps): without a mask, weights are computed from the
    scaled scores. colours: {family of symbols (q, k, v, x): colour}; a family without a colour is black. names:
    translated names of steps, and of ELSE. Raises KeyError for an unknown step.

    >>> import torch
    >>> from attention_core import attend_qkv
    >>> formula(attend_qkv(torch.eye(2), torch.eye(2), torch.eye(2)), "weights", colours={})
    '\\mathrm{weights} = \\mathrm{softmax}_S(\\mathrm{scaled\\_scores})'
    """
    return equation(trace, step, lambda name: symbol(name, colours, names), names)


def equation(trace: Trace, step: str, write: Callable[[str], str], names: Mapping[str, str] = NO_NAMES) -> str:
    """Write one step as an equation in LaTeX.

    write: a function that takes the name of a step and returns the step's symbol.
    """
    shows_copied = shown_name(trace, step) == step
    made = steps_copied(trace, step)[-1] if shows_copied else step
    operation = trace.step(made).operation
    if operation is None:
        operation = trace.step(step).operation
    if operation is None:
        return write(step)
    right = operation.formula(lambda name: write(shown_name(trace, name)))
    if ELSE in names:
        right = right.replace(r"\text{else}", rf"\text{{{names[ELSE]}}}")
    return f"{write(step)} = {right}"


def code_formula(trace: Trace, step: str, colours: Mapping[str, str] = SYMBOL_COLOURS) -> str:
    """Write one step as an equation with the code's names for steps, even if the step changes no number."""
    operation = trace.step(step).operation
    left = symbol(step, colours)
    return left if operation is None else f"{left} = {operation.formula(lambda name: symbol(name, colours))}"


def latex(trace: Trace, colours: Mapping[str, str] = SYMBOL_COLOURS) -> str:
    r"""Write the computed steps as equations aligned at the equals sign; steps that only copy numbers are left out.

    >>> import torch
    >>> from attention_core import attend_qkv
    >>> print(latex(attend_qkv(torch.eye(2), torch.eye(2), torch.eye(2)), colours={}))
    \begin{aligned}
    \mathrm{scores} &= Q\,K^{\top} \\
    \mathrm{scaled\_scores} &= \mathrm{scores} \cdot \tfrac{1}{\sqrt{2}} \\
    \mathrm{weights} &= \mathrm{softmax}_S(\mathrm{scaled\_scores}) \\
    \mathrm{head\_outputs} &= \mathrm{weights}\,V
    \end{aligned}
    """
    computed = [name for name in shown_steps(trace) if trace.step(name).operation is not None]
    equations = [formula(trace, name, colours) for name in computed]
    aligned = [each.replace(" = ", " &= ", 1) for each in equations]
    body = " \\\\\n".join(aligned)
    return f"\\begin{{aligned}}\n{body}\n\\end{{aligned}}"


def sized_formula(
    trace: Trace, step: str, colours: Mapping[str, str] = SYMBOL_COLOURS, names: Mapping[str, str] = NO_NAMES
) -> str:
    r"""Write one step as an equation in LaTeX; under each symbol are its numbers of rows and columns.

    The sizes are written in letters and in numbers. colours, names: the same as the arguments of `formula`. Raises
    KeyError for an unknown step.

    >>> import torch
    >>> from attention_core import attend_qkv
    >>> trace = attend_qkv(torch.ones(3, 2), torch.ones(5, 2), torch.ones(5, 7))
    >>> left, right = sized_formula(trace, "head_outputs", {}).split(r"}}\,\underset")
    >>> right
    '{\\substack{S \\times d_{v} \\\\ 5 \\times 7}}{V}'
    """
    return equation(trace, step, lambda name: sized_symbol(trace, name, colours, names), names)


def sized_symbol(trace: Trace, name: str, colours: Mapping[str, str], names: Mapping[str, str]) -> str:
    """Write a step's symbol with the step's rows and columns under it."""
    step = trace.step(name)
    row_and_column = step.dims[-2:]
    counts = step.shape[-2:]
    letters = r" \times ".join(map(axis_latex, row_and_column))
    numbers = r" \times ".join(map(str, counts))
    sizes = rf"\substack{{{letters} \\ {numbers}}}"
    return rf"\underset{{{sizes}}}{{{symbol(name, colours, names)}}}"


def axis_latex(dim: str) -> str:
    r"""Write the name of an axis, such as d_k, in LaTeX.

    >>> axis_latex("T"), axis_latex("H_kv·d_k")
    ('T', 'H_{kv} d_{k}')
    """
    factors = []
    for factor in dim.split("·"):
        letter, _, index = factor.partition("_")
        if index:
            letter = f"{letter}_{{{index}}}"
        factors.append(letter)
    return " ".join(factors)


def step_sizes(trace: Trace, step: str) -> dict[str, int]:
    """Return the sizes of the axes of a step and of its operands, by axis name.

    A batch axis of size 1 is left out. The heads of keys and values are left out, too, if there are as many as heads of
    queries.

    >>> import torch
    >>> from attention_core import attend_qkv
    >>> step_sizes(attend_qkv(torch.ones(3, 2), torch.ones(5, 2), torch.ones(5, 7)), "head_outputs")
    {'H': 1, 'T': 3, 'd_v': 7, 'S': 5}
    """
    operation = trace.step(step).operation
    reads = operation.reads if operation else ()
    sizes: dict[str, int] = {}
    for name in (step, *reads):
        axes = zip(trace.step(name).dims, trace.step(name).shape, strict=True)
        sizes.update(axes)
    if sizes.get("B") == 1:
        del sizes["B"]
    if sizes.get("H_kv") == sizes.get("H"):
        sizes.pop("H_kv", None)
    return sizes
