"""The formula face: every step in LaTeX, each symbol in the project's colour for it."""

from collections.abc import Mapping

from attention_core.record.trace import Trace

FAMILIES = ("q", "k", "v", "x")
COLOURS = {"q": "#0067A5", "k": "#B34700", "v": "#00735A", "x": "#5F6368"}  # on white; AA contrast

LETTERS = {
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


def family(name: str) -> str | None:
    """The colour family of a step: q, k, v, x, or none.

    >>> family("w_q"), family("k_projected"), family("positioned_x"), family("weights")
    ('q', 'k', 'x', None)
    """
    if name in ("x", "query", "key", "value") or name.startswith(("positioned_", "sinusoidal_")):
        return "x"
    for letter in ("q", "k", "v"):
        if name in (letter, f"w_{letter}", f"b_{letter}") or name.startswith(f"{letter}_"):
            return letter if name != "v_a" else None
    return None


def symbol(name: str, colours: Mapping[str, str] = COLOURS) -> str:
    r"""A step's symbol in LaTeX: a letter where it has one, else its name upright.

    >>> symbol("q"), symbol("scaled_scores")
    ('\\textcolor{#0067A5}{Q}', '\\mathrm{scaled\\_scores}')
    """
    text = LETTERS.get(name) or r"\mathrm{" + name.replace("_", r"\_") + "}"
    colour = colours.get(family(name) or "")
    return rf"\textcolor{{{colour}}}{{{text}}}" if colour else text


def formula(trace: Trace, step: str, colours: Mapping[str, str] = COLOURS) -> str:
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


def latex(trace: Trace, colours: Mapping[str, str] = COLOURS) -> str:
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
