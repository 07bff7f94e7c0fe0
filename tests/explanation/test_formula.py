"""The formulas of a run: exact LaTeX, well-formed everywhere, every symbol in the colour of its family."""

import importlib
import pkgutil
import re

import pytest

import attention_core
from attention_core.analysis.position_effects import SCORE_PARTS
from attention_core.explanation.formula import SYMBOL_COLOURS, colour_family, formula, latex, symbol
from attention_core.explanation.shown_steps import shown_steps
from attention_core.mechanism.masks import MASKS
from attention_core.mechanism.modifiers import MODIFIERS
from attention_core.mechanism.positions import POSITIONS
from attention_core.record.trace import Faces
from tests.formulas import BROKEN, EVERY_RUN, UNUSUAL, assert_well_formed, every_sign, every_text, formulas_in, layer

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
    ("scale 0", "scaled_scores", r"\mathrm{scaled\_scores} = \mathrm{scores} \cdot 0"),
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
    ("no bias", "weights", r"\mathrm{weights} = \mathrm{softmax}_S(\mathrm{scaled\_scores})"),
    ("own bias", "biased_scores", r"\mathrm{biased\_scores} = \mathrm{scaled\_scores} + \mathrm{bias}"),
    ("own bias, alibi", "bias", r"\mathrm{bias} = \mathrm{alibi\_bias} + \mathrm{bias\_custom}"),
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
    ("parts", "exponentials", r"\mathrm{exponentials} = \exp(\mathrm{scaled\_scores})"),
    (
        "parts",
        "naive_weights",
        r"\mathrm{naive\_weights} = \mathrm{exponentials} \,/\, \textstyle\sum_S \mathrm{exponentials}",
    ),
    (
        "parts",
        "stable_exponentials",
        r"\mathrm{stable\_exponentials} = \exp(\mathrm{scaled\_scores} - \max_S \mathrm{scaled\_scores})",
    ),
    ("parts", "jacobian", r"\mathrm{jacobian} = \mathrm{weights}_i\,(\delta_{ij} - \mathrm{weights}_j)"),
    ("no bias", "head_outputs", r"\mathrm{head\_outputs} = \mathrm{weights}\,V"),
    ("no bias", "concat", r"\mathrm{concat} = \mathrm{concat}(\mathrm{head\_outputs})"),
    ("no weights", "output", r"\mathrm{output} = \mathrm{head\_outputs}"),
    ("score dot", "output", r"\mathrm{output} = \mathrm{concat}\,W_o + b_o"),
    ("score dot", "w_o", r"W_o"),
    ("score dot", "query", r"X_q"),
    ("no weights", "x", r"X"),
]


@pytest.mark.parametrize(("name", "step", "expected"), EXACT, ids=[f"{name}: {step}" for name, step, _ in EXACT])
def test_the_formula_of_a_step(name, step, expected):
    assert formula(EVERY_RUN[name], step, colours={}) == expected


def test_all_masks_at_once():
    text = formula(EVERY_RUN["everything"], "allowed", colours={})
    names = [rf"\mathrm{{allowed\_{name.replace('_', chr(92) + '_')}}}" for name in [*MASKS, "custom"]]
    assert text == r"\mathrm{allowed} = " + r" \land ".join(names)


def test_colours_in_a_formula():
    assert formula(EVERY_RUN["no bias"], "scores") == (
        r"\mathrm{scores} = \textcolor{#0067A5}{Q}\,\textcolor{#B34700}{K}^{\top}"
    )
    assert formula(EVERY_RUN["no bias"], "v_projected") == (
        r"\textcolor{#00735A}{\mathrm{v\_projected}} = \textcolor{#5F6368}{X_v}\,\textcolor{#00735A}{W_v}"
    )


# ---- well-formed -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("text", [*BROKEN, *UNUSUAL])
def test_what_is_broken_is_seen(text):
    with pytest.raises(Exception):  # noqa: B017
        assert_well_formed(text)


@pytest.mark.parametrize("text", [r"a \mid b", r"\mathbb{R}", r"\{a\}", r"\textcolor{#0067A5}{K}^{\top}"])
def test_what_latex_knows_is_well_formed(text):
    assert_well_formed(text)


@pytest.mark.parametrize("name", EVERY_RUN)
@pytest.mark.parametrize("colours", [SYMBOL_COLOURS, {}], ids=["coloured", "plain"])
def test_every_formula_is_well_formed(name, colours):
    for step in EVERY_RUN[name].steps:
        assert_well_formed(formula(EVERY_RUN[name], step, colours), colours)


def test_every_operation_stands_in_a_run():
    operations = [step.operation for trace in EVERY_RUN.values() for step in trace.steps.values() if step.operation]
    written = {operation.faces.formula for operation in operations}
    modules = [module.name for module in pkgutil.walk_packages(attention_core.__path__, "attention_core.")]
    rooms = [vars(importlib.import_module(name)) for name in modules if not name.endswith("__main__")]
    there = {each.formula for room in rooms for each in room.values() if isinstance(each, Faces)}
    assert there <= written, {face.__name__ for face in there - written}


def test_signs_and_texts_hold_formulas_that_are_well_formed():
    told = [each for text in every_text() for each in formulas_in(text)]
    assert r"s W_{aq} + h W_{ak}" in " ".join(told)
    for each in [*every_sign(), *told]:
        assert_well_formed(each, {})


@pytest.mark.parametrize("name", EVERY_RUN)
def test_all_steps_are_lines_aligned_at_their_equals_sign(name):
    trace = EVERY_RUN[name]
    first, *lines, last = latex(trace).split("\n")
    assert (first, last) == (r"\begin{aligned}", r"\end{aligned}")
    shown = [step for step in shown_steps(trace) if step in trace.computed()]
    for number, (line, step) in enumerate(zip(lines, shown, strict=True), start=1):
        assert line.endswith(r" \\") == (number < len(lines))
        assert line.removesuffix(r" \\").replace(" &= ", " = ", 1) == formula(trace, step)
        assert line.startswith(f"{symbol(step)} &= ")


# ---- symbols and colours ---------------------------------------------------------------------------------------------
def parts_of(role):
    """The steps of words and of places alone."""
    return {f"{name}_{part}" for name in (role, f"{role}_projected") for part in SCORE_PARTS}


def changed_in_heads(role):
    """What modifiers make of it in every head, of both maps where there are two; and what positions make beside it."""
    steps = [step for modifier in MODIFIERS.values() for step in modifier.steps.get("heads", ())]
    names = {role, *(step.output.format(thing=role) for step in steps)}
    beside = {step.output for position in POSITIONS.values() for step in position.steps if step.output[0] == role}
    return names | {f"{name}_2" for name in names} | beside


MEMBERS = {
    "q": {*changed_in_heads("q"), "q_features", "q_heads", "q_projected", "w_q", "b_q", *parts_of("q")},
    "k": {
        *changed_in_heads("k"),
        "k_features",
        "k_heads",
        "k_projected",
        "k_cache",
        "k_new",
        "w_k",
        "b_k",
        *parts_of("k"),
    },
    "v": {"v", "v_projected", "v_cache", "v_new", "w_v", "b_v"},
    "x": {
        *("x", "query", "key", "value"),
        *(
            f"{kind}_{source}"
            for kind in ("positioned", "sinusoidal", "learned")
            for source in ("x", "query", "key", "value")
        ),
    },
}


def test_every_step_has_the_family_it_belongs_to():
    norms = ("qk_norm_all", "qk_layer_norm")  # a norm has its own name only where a step follows, such as RoPE
    turned = [layer(heads=1, modifiers=["differential", norm], positions=["rope"]) for norm in norms]
    names = {name for trace in (*EVERY_RUN.values(), *turned) for name in trace.steps}
    for letter in MEMBERS:
        assert {name for name in names if colour_family(name) == letter} == MEMBERS[letter]
    assert {"w_a", "w_aq", "w_ak", "v_a", "keep", "weights", "w_o", "b_o"} <= {
        n for n in names if colour_family(n) is None
    }


def test_every_symbol_is_its_own():
    for trace in EVERY_RUN.values():
        assert len({symbol(name) for name in trace.steps}) == len(trace.steps)


@pytest.mark.parametrize("letter", MEMBERS)
def test_a_family_has_one_colour(letter):
    for name in MEMBERS[letter]:
        assert re.findall("#......", symbol(name)) == [SYMBOL_COLOURS[letter]]
        assert re.findall("#......", symbol(name, {letter: "#123456"})) == ["#123456"]
    assert "#" not in symbol("weights")
    assert len(set(SYMBOL_COLOURS.values())) == len(SYMBOL_COLOURS) == 4
