"""The formula face: every step in LaTeX, each symbol in the project's colour for it."""

from collections.abc import Mapping

from attention_core.record.trace import Trace

COLOUR_FAMILIES = ("q", "k", "v", "x")
SYMBOL_COLOURS = {"q": "#0067A5", "k": "#B34700", "v": "#00735A", "x": "#5F6368"}  # on white; AA contrast

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
    "b_q": "b_q",
    "b_k": "b_k",
    "b_v": "b_v",
    "b_o": "b_o",
    "w_a": "W_a",
    "w_aq": "W_{aq}",
    "w_ak": "W_{ak}",
    "v_a": "v_a",
}


def colour_family(name: str) -> str | None:
    """The colour family of a step: q, k, v, x, or none.

    >>> colour_family("w_q"), colour_family("k_projected"), colour_family("positioned_x"), colour_family("weights")
    ('q', 'k', 'x', None)
    """
    if name in ("x", "query", "key", "value") or name.startswith(("positioned_", "sinusoidal_")):
        return "x"
    for letter in ("q", "k", "v"):
        if name in (letter, f"w_{letter}", f"b_{letter}") or name.startswith(f"{letter}_"):
            return letter if name != "v_a" else None
    return None


def symbol(name: str, colours: Mapping[str, str] = SYMBOL_COLOURS) -> str:
    r"""A step's symbol in LaTeX: a letter where it has one, else its name upright.

    >>> symbol("q"), symbol("scaled_scores")
    ('\\textcolor{#0067A5}{Q}', '\\mathrm{scaled\\_scores}')
    """
    text = SYMBOL_LETTERS.get(name) or r"\mathrm{" + name.replace("_", r"\_") + "}"
    colour = colours.get(colour_family(name) or "")
    return rf"\textcolor{{{colour}}}{{{text}}}" if colour else text


def formula(trace: Trace, step: str, colours: Mapping[str, str] = SYMBOL_COLOURS) -> str:
    r"""One step as an equation in LaTeX; an input is only its symbol.

    colours: one a family of symbols (q, k, v, x), none for black. Raises KeyError for an unknown step.

    >>> import torch
    >>> from attention_core import attend_qkv
    >>> formula(attend_qkv(torch.eye(2), torch.eye(2), torch.eye(2)), "head_outputs", colours={})
    '\\mathrm{head\\_outputs} = \\mathrm{weights}\\,V'
    """
    operation = trace.step(step).operation
    left = symbol(step, colours)
    return left if operation is None else f"{left} = {operation.formula(lambda name: symbol(name, colours))}"


def latex(trace: Trace, colours: Mapping[str, str] = SYMBOL_COLOURS) -> str:
    r"""All computed steps, one equation a line, aligned at the equals sign.

    >>> import torch
    >>> from attention_core import attend_qkv
    >>> print(latex(attend_qkv(torch.eye(2), torch.eye(2), torch.eye(2)), colours={}))
    \begin{aligned}
    \mathrm{scores} &= Q\,K^{\top} \\
    \mathrm{scaled\_scores} &= \mathrm{scores} \cdot \tfrac{1}{\sqrt{2}} \\
    \mathrm{masked\_scores} &= \mathrm{scaled\_scores} \\
    \mathrm{weights} &= \mathrm{softmax}_S(\mathrm{masked\_scores}) \\
    \mathrm{head\_outputs} &= \mathrm{weights}\,V \\
    \mathrm{concat} &= \mathrm{concat}(\mathrm{head\_outputs}) \\
    \mathrm{output} &= \mathrm{concat}
    \end{aligned}
    """
    lines = [formula(trace, name, colours).replace(" = ", " &= ", 1) for name in trace.computed()]
    return "\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}"


def sized_formula(trace: Trace, step: str, colours: Mapping[str, str] = SYMBOL_COLOURS) -> str:
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
        letters, numbers = (r" \times ".join(sides) for sides in (map(axis_latex, dims), map(str, shape)))
        return rf"\underset{{\substack{{{letters} \\ {numbers}}}}}{{{symbol(name, colours)}}}"

    return sized(step) if operation is None else f"{sized(step)} = {operation.formula(sized)}"


def axis_latex(dim: str) -> str:
    r"""An axis in LaTeX.

    >>> axis_latex("T"), axis_latex("H_kv·d_k")
    ('T', 'H_{kv} d_{k}')
    """
    parts = (part.partition("_") for part in dim.split("·"))
    return " ".join(f"{name}_{{{low}}}" if low else name for name, _, low in parts)


def step_sizes(trace: Trace, step: str) -> dict[str, int]:
    """The axes of a step and of what it reads, with their sizes; a batch of one is none of them, nor are the heads of
    keys and values where there are as many as of queries.

    >>> import torch
    >>> from attention_core import attend_qkv
    >>> step_sizes(attend_qkv(torch.ones(3, 2), torch.ones(5, 2), torch.ones(5, 7)), "head_outputs")
    {'H': 1, 'T': 3, 'd_v': 7, 'S': 5}
    """
    operation = trace.step(step).operation
    names = (step, *(operation.reads if operation else ()))
    sizes = {dim: size for name in names for dim, size in zip(trace.step(name).dims, trace[name].shape, strict=True)}
    left_out = (("B", 1), ("H_kv", sizes.get("H")))
    return {dim: size for dim, size in sizes.items() if (dim, size) not in left_out}
