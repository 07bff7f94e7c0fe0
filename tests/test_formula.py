"""The formulas of a run: exact LaTeX, well-formed everywhere, every symbol in the colour of its family.

The parser below knows the commands that are used and how many arguments each takes; KaTeX, which draws the formulas on
the screen, knows them all.
"""

import re
from collections.abc import Iterator

import pytest
import torch

from attention_core import AttentionConfig, Trace, Weights, attend, attend_qkv
from attention_core.decoding import decode
from attention_core.exponentials import NAIVE, STABLE
from attention_core.formula import COLOURS, FAMILIES, family, formula, latex, symbol
from attention_core.masks import MASKS
from attention_core.positions import POSITIONS
from attention_core.scores import SCORES
from attention_core.slopes import with_jacobian

MASK_PARAMS = {
    "local": {"window": 1},
    "sliding": {"window": 2},
    "padding": {"lengths": (5, 0)},
    "local_global": {"window": 0, "global_tokens": (1, 4)},
}
SCORE_WEIGHTS = {"general": {"w_a": (6, 6)}, "additive": {"w_aq": (6, 5), "w_ak": (6, 5), "v_a": (5,)}}


# ---- the runs --------------------------------------------------------------------------------------------------------
def random(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


def layer(score: str = "scaled_dot", biases: bool = True, **choices) -> Trace:
    """Cross-attention, two heads of width 6, three queries and five keys."""
    shapes = {f"w_{role}": (12, 12) for role in "qkvo"} | SCORE_WEIGHTS.get(score, {})
    shapes |= {f"b_{role}": (12,) for role in "qkvo"} if biases else {}
    given = {name: choices.pop(name) for name in ("allowed", "replacement") if name in choices}
    return attend(
        random(2, 3, 12),
        random(2, 5, 12),
        random(2, 5, 12),
        weights=Weights(**{name: random(*shape) for name, shape in shapes.items()}),
        config=AttentionConfig(score, heads=2, **choices),
        **given,
    )


ALLOWED = torch.ones(3, 5, dtype=torch.bool)
EVERY_MASK = [(name, MASK_PARAMS.get(name, {})) for name in MASKS]
RUNS = {
    **{f"score {name}": layer(name) for name in SCORES},
    **{f"mask {name}": layer(masks=[(name, MASK_PARAMS.get(name, {}))]) for name in MASKS},
    **{f"position {name}": layer(positions=[name]) for name in POSITIONS},
    "everything": layer("additive", masks=EVERY_MASK, positions=[*POSITIONS], dropout=0.1, allowed=ALLOWED),
    "no bias": layer(biases=False),
    "no weights": attend(random(3, 4)),
    "numbers": layer(scale=-0.03125, temperature=0.7, positions=[("rope", {"base": 50.0})]),
    "offset": layer(masks=[("causal", {"offset": -1})], positions=["alibi"]),
    "own mask": layer(allowed=ALLOWED),
    "uniform": layer(replace="uniform"),
    "uniform, masked": layer(replace="uniform", masks=["causal"]),
    "replacement": layer(replacement=random(3, 5)),
    "what if": attend_qkv(random(3, 4), random(5, 4), random(5, 2), what_if={"scores": random(3, 5)}),
    "residual": layer(residual=True),
    "parts": with_jacobian(layer().then(*NAIVE, *STABLE)),
    "heads given": attend_qkv(random(3, 4), random(5, 4), random(5, 2)),
    "decoding": [*decode(random(3, 4))][-1],
}


# ---- exact -----------------------------------------------------------------------------------------------------------
EXACT = [
    ("no bias", "q_projected", r"\mathrm{q\_projected} = X_q\,W_q"),
    ("score dot", "v_projected", r"\mathrm{v\_projected} = X_v\,W_v + b_v"),
    ("score dot", "q", r"Q = \mathrm{split}_{2}(\mathrm{q\_projected})"),
    ("no weights", "q", r"Q = X"),
    ("score dot", "scores", r"\mathrm{scores} = Q\,K^{\top}"),
    ("score cosine", "scores", r"\mathrm{scores} = \frac{Q\,K^{\top}}{\lVert Q \rVert\,\lVert K \rVert}"),
    ("score general", "scores", r"\mathrm{scores} = Q\,W_a\,K^{\top}"),
    ("score additive", "hidden", r"\mathrm{hidden} = \tanh(Q\,W_{aq} \oplus K\,W_{ak})"),
    ("score additive", "scores", r"\mathrm{scores} = \mathrm{hidden}\,v_a"),
    ("score dot", "scaled_scores", r"\mathrm{scaled\_scores} = \mathrm{scores}"),
    ("score scaled_dot", "scaled_scores", r"\mathrm{scaled\_scores} = \mathrm{scores} \cdot \tfrac{1}{\sqrt{6}}"),
    ("numbers", "scaled_scores", r"\mathrm{scaled\_scores} = \mathrm{scores} \cdot (-0.03125) \,/\, 0.7"),
    ("numbers", "q", r"Q = R_p\,\mathrm{q\_heads}, \quad \theta_i = p\,/\,50^{2i/d_k}"),
    ("position alibi", "bias", r"\mathrm{bias} = -m_h\,|i - j|"),
    ("offset", "bias", r"\mathrm{bias} = -m_h\,|i-1 - j|"),
    ("offset", "biased_scores", r"\mathrm{biased\_scores} = \mathrm{scaled\_scores} + \mathrm{bias}"),
    ("position sinusoidal", "positioned_key", r"\mathrm{positioned\_key} = X_k + \mathrm{sinusoidal\_key}"),
    ("mask causal", "allowed", r"\mathrm{allowed} = j \le i+2"),
    ("offset", "allowed", r"\mathrm{allowed} = j \le i-1"),
    ("mask local", "allowed", r"\mathrm{allowed} = |i - j| \le 1"),
    ("mask sliding", "allowed", r"\mathrm{allowed} = i+2 - 2 < j \le i+2"),
    ("mask padding", "allowed", r"\mathrm{allowed} = j < \mathrm{length}_b"),
    (
        "mask local_global",
        "allowed",
        r"\mathrm{allowed} = |i - j| \le 0 \;\lor\; i \in \{1, 4\} \;\lor\; j \in \{1, 4\}",
    ),
    (
        "own mask",
        "masked_scores",
        r"\mathrm{masked\_scores} = \begin{cases} \mathrm{scaled\_scores} & \mathrm{allowed} \\ -\infty & \text{else} "
        r"\end{cases}",
    ),
    ("no bias", "weights", r"\mathrm{weights} = \mathrm{softmax}_S(\mathrm{masked\_scores})"),
    ("uniform", "weights", r"\mathrm{weights} = \tfrac{1}{S}"),
    ("uniform, masked", "weights", r"\mathrm{weights} = \mathrm{allowed} \,/\, \textstyle\sum_S \mathrm{allowed}"),
    ("replacement", "weights", r"\mathrm{weights} = \mathrm{replacement}"),
    (
        "everything",
        "dropped_weights",
        r"\mathrm{dropped\_weights} = \mathrm{weights} \odot \mathrm{keep} \,/\, (1 - 0.1)",
    ),
    (
        "what if",
        "scores",
        r"\mathrm{scores} = \begin{cases} \mathrm{chosen\_scores} & \mathrm{where\_scores} \\ "
        r"\mathrm{computed\_scores} & \text{else} \end{cases}",
    ),
    ("what if", "computed_scores", r"\mathrm{computed\_scores} = Q\,K^{\top}"),
    ("residual", "residual", r"\mathrm{residual} = X_q + \mathrm{output}"),
    ("parts", "exponentials", r"\mathrm{exponentials} = \exp(\mathrm{masked\_scores})"),
    (
        "parts",
        "naive_weights",
        r"\mathrm{naive\_weights} = \mathrm{exponentials} \,/\, \textstyle\sum_S \mathrm{exponentials}",
    ),
    (
        "parts",
        "stable_exponentials",
        r"\mathrm{stable\_exponentials} = \exp(\mathrm{masked\_scores} - \max_S \mathrm{masked\_scores})",
    ),
    ("parts", "jacobian", r"\mathrm{jacobian} = \mathrm{weights}_i\,(\delta_{ij} - \mathrm{weights}_j)"),
    ("no bias", "head_outputs", r"\mathrm{head\_outputs} = \mathrm{weights}\,V"),
    ("no bias", "concat", r"\mathrm{concat} = \mathrm{concat}(\mathrm{head\_outputs})"),
    ("no weights", "output", r"\mathrm{output} = \mathrm{concat}"),
    ("score dot", "output", r"\mathrm{output} = \mathrm{concat}\,W_o + b_o"),
    ("score dot", "w_o", r"W_o"),
    ("score dot", "query", r"X_q"),
    ("no weights", "x", r"X"),
]


@pytest.mark.parametrize(("name", "step", "expected"), EXACT, ids=[f"{name}: {step}" for name, step, _ in EXACT])
def test_the_formula_of_a_step(name, step, expected):
    assert formula(RUNS[name], step, colours={}) == expected


def test_all_masks_at_once():
    text = formula(RUNS["everything"], "allowed", colours={})
    names = [rf"\mathrm{{allowed\_{name.replace('_', chr(92) + '_')}}}" for name in [*MASKS, "custom"]]
    assert text == r"\mathrm{allowed} = " + r" \land ".join(names)


def test_colours_in_a_formula():
    assert formula(RUNS["no bias"], "scores") == (
        r"\mathrm{scores} = \textcolor{#0067A5}{Q}\,\textcolor{#B34700}{K}^{\top}"
    )
    assert formula(RUNS["no bias"], "v_projected") == (
        r"\textcolor{#00735A}{\mathrm{v\_projected}} = \textcolor{#5F6368}{X_v}\,\textcolor{#00735A}{W_v}"
    )


# ---- a small parser --------------------------------------------------------------------------------------------------
ARGUMENTS = {r"\frac": 2, r"\tfrac": 2, r"\dfrac": 2, r"\sqrt": 1, r"\mathrm": 1, r"\text": 1, r"\textcolor": 2}
SIGNS = {rf"\{name}" for name in ("top", "cdot", "lVert", "rVert", "oplus", "odot", "tanh", "sin", "cos", "le", "in")}
SIGNS |= {rf"\{name}" for name in ("land", "lor", "infty", "sum", "theta", "textstyle", "quad", "exp", "max", "delta")}
SPACES = {r"\,", r"\;", r"\!", r"\ "}
CHARACTERS = {r"\{", r"\}", r"\_"}
SIZES = {r"\big"}
ENVIRONMENTS = {"cases", "aligned"}
TOKEN = re.compile(r"\\[a-zA-Z]+|\\.|[^\\]", re.DOTALL)


class Malformed(ValueError):
    """What KaTeX would refuse, too."""


def parse(text: str) -> None:
    """Reads LaTeX in mathematics mode, raises Malformed where a brace, an argument or an environment is not closed."""
    tokens = TOKEN.findall(text)
    if "".join(tokens) != text:
        raise Malformed(f"a lone backslash in {text}")
    rest = iter([*tokens, None])
    if read(rest, until=None) is not None:
        raise Malformed(text)


def read(rest: Iterator[str | None], until: str | None) -> None:
    """One group, up to the token that closes it."""
    subscripts, previous = set(), None
    for token in rest:
        if token == until:
            if previous in ("_", "^"):
                raise Malformed(f"nothing after {previous}")
            return
        if token is None or token in ("}", r"\end"):
            raise Malformed(f"{token} where {until} should be")
        if token in ("_", "^"):
            if token in subscripts or previous in (None, "_", "^", r"\,"):
                raise Malformed(f"{token} after {previous}")
            subscripts.add(token)
        elif previous not in ("_", "^"):
            subscripts = set()
        read_one(token, rest)
        previous = token
    raise Malformed(f"the end where {until} should be")


def read_one(token: str, rest: Iterator[str | None]) -> None:
    """What begins with this token."""
    if token == "{":
        read(rest, until="}")
    elif token == r"\begin":
        name = argument(rest)
        if name not in ENVIRONMENTS:
            raise Malformed(name)
        read(rest, until=r"\end")
        if argument(rest) != name:
            raise Malformed(f"{name} is not closed")
    elif token in ARGUMENTS:
        given = [argument(rest) for _ in range(ARGUMENTS[token])]
        if token == r"\textcolor" and not re.fullmatch(r"#[0-9A-Fa-f]{6}", given[0]):
            raise Malformed(given[0])
        if token != r"\text":
            parse(given[-1])
    elif token.startswith("\\") and token not in SIGNS | SPACES | CHARACTERS | SIZES | {r"\\"}:
        raise Malformed(f"{token} is not known")
    elif token in "#$%~":
        raise Malformed(f"{token} has a meaning of its own")


def argument(rest: Iterator[str | None]) -> str:
    """The text between the braces that must follow."""
    if next(rest) != "{":
        raise Malformed("an argument is missing")
    depth, text = 1, ""
    for token in rest:
        if token is None:
            break
        depth += (token == "{") - (token == "}")
        if depth == 0:
            return text
        text += token
    raise Malformed("a brace is not closed")


UNCLOSED = [
    "{a",
    "a}",
    r"\mathrm{a",
    r"\mathrm{a}}",
    r"\begin{cases} a",
    r"\begin{cases} a \end{aligned}",
    r"\end{cases}",
]
ARGUMENT_MISSING = [
    r"\frac{a}",
    r"\frac{a}b",
    r"\sqrt",
    r"\textcolor{#0067A5}",
    r"\textcolor{red}{a}",
    "a_",
    "_a",
    "a\\",
]
NOT_KNOWN = [r"\nothing", "a_1_2", "a^2^3", "a # b", "50 %"]


@pytest.mark.parametrize("text", [*UNCLOSED, *ARGUMENT_MISSING, *NOT_KNOWN])
def test_the_parser_refuses(text):
    with pytest.raises(Malformed):
        parse(text)


def assert_well_formed(text: str) -> None:
    parse(text)
    bare = re.sub(r"\\[{}]", "", text)
    assert bare.count("{") == bare.count("}")
    assert text.isascii()
    assert "  " not in text
    assert not re.search(r"\de[+-]\d", text), "a power of ten as programs write it"


@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize("colours", [COLOURS, {}], ids=["coloured", "plain"])
def test_every_formula_is_well_formed(name, colours):
    trace = RUNS[name]
    for step in trace.steps:
        assert_well_formed(formula(trace, step, colours))
    assert_well_formed(latex(trace, colours).replace("\n", " "))


@pytest.mark.parametrize("name", RUNS)
def test_all_steps_are_lines_aligned_at_their_equals_sign(name):
    trace = RUNS[name]
    first, *lines, last = latex(trace).split("\n")
    assert (first, last) == (r"\begin{aligned}", r"\end{aligned}")
    assert len(lines) == len(trace.computed())
    for number, (line, step) in enumerate(zip(lines, trace.computed(), strict=True), start=1):
        assert line.endswith(r" \\") == (number < len(lines))
        assert line.removesuffix(r" \\").replace(" &= ", " = ", 1) == formula(trace, step)
        assert line.startswith(f"{symbol(step)} &= ")


# ---- symbols and colours ---------------------------------------------------------------------------------------------
MEMBERS = {
    "q": {"q", "q_heads", "q_projected", "w_q", "b_q"},
    "k": {"k", "k_heads", "k_projected", "k_cache", "k_new", "w_k", "b_k"},
    "v": {"v", "v_projected", "v_cache", "v_new", "w_v", "b_v"},
    "x": {
        *("x", "query", "key", "value"),
        *(f"{kind}_{source}" for kind in ("positioned", "sinusoidal") for source in ("query", "key", "value")),
    },
}


def test_every_step_has_the_family_it_belongs_to():
    names = {name for trace in RUNS.values() for name in trace.steps}
    for letter in FAMILIES:
        assert {name for name in names if family(name) == letter} == MEMBERS[letter]
    assert {"w_a", "w_aq", "w_ak", "v_a", "keep", "weights", "w_o", "b_o"} <= {n for n in names if family(n) is None}


def test_every_symbol_is_its_own():
    for trace in RUNS.values():
        assert len({symbol(name) for name in trace.steps}) == len(trace.steps)


@pytest.mark.parametrize("letter", FAMILIES)
def test_a_family_has_one_colour(letter):
    for name in MEMBERS[letter]:
        assert re.findall("#......", symbol(name)) == [COLOURS[letter]]
        assert re.findall("#......", symbol(name, {letter: "#123456"})) == ["#123456"]
    assert "#" not in symbol("weights")
    assert len(set(COLOURS.values())) == len(FAMILIES) == len(COLOURS)
