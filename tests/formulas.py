"""Runs in which every operation of the core stands, and what holds for the LaTeX that they are written in.

KaTeX, which draws the formulas on the screen, has the last word: tests/browser/explanation/test_formulas.py.
"""

import re
from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from xml.etree.ElementTree import Element, fromstring

import torch
from ziamath.tex import tex2mml

from attention_core import AttentionConfig, Trace, Weights, attend, attend_qkv
from attention_core.analysis.blocked_scores import EMPTY_ROW_POLICIES, with_additive_mask, with_empty_row_policy
from attention_core.analysis.dropout import with_dropout
from attention_core.analysis.gradient_times_input import gradient_times_input
from attention_core.analysis.head_circuits import head_circuit, with_pushes
from attention_core.analysis.head_composition import compose
from attention_core.analysis.head_contributions import with_likeness, without_head
from attention_core.analysis.logit_attribution import with_word_pushes
from attention_core.analysis.online_softmax import with_online_softmax
from attention_core.analysis.position_effects import with_score_parts
from attention_core.analysis.residual_sum import with_logit_sum
from attention_core.analysis.softmax_steps import NAIVE_SOFTMAX, STABLE_SOFTMAX, with_cross_entropy, with_jacobian
from attention_core.analysis.target_leakage import with_moved_rows
from attention_core.exercises.rounding import with_rounded_weights
from attention_core.explanation.formula import SYMBOL_COLOURS, axis_latex, formula, latex, sized_formula
from attention_core.mechanism.masks import MASKS
from attention_core.mechanism.modifiers import MODIFIERS
from attention_core.mechanism.normalisers import NORMALISERS
from attention_core.mechanism.positions import POSITIONS
from attention_core.mechanism.scores import SCORES
from attention_core.record.expressions import Ref
from attention_core.variants.convolution import with_convolution
from attention_core.variants.encoders import Encoder
from attention_core.variants.kv_cache import decode
from attention_core.variants.linear_recurrence import with_linear_states
from attention_core.variants.recurrence import with_both_passes, with_states
from pages.site.signs import GLOSSARY_SIGNS
from pages.site.words import LANGUAGES, load_app_texts
from tests.entries import every_mask, key_rows, learned_shapes, mask_choice, score_for
from tests.transformer.parts import small_parts
from tests.transformer.stacks import small_stack

MASK_PARAMS = {
    "local": {"window": 1},
    "sliding": {"window": 2},
    "padding": {"lengths": (5, 0)},
    "local_global": {"window": 0, "global_tokens": (1, 4)},
}


def random(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


def layer(score: str = "scaled_dot", biases: bool = True, **choices) -> Trace:
    """Cross-attention, two heads of width 6, three queries and five keys."""
    given = {name: choices.pop(name) for name in ("allowed", "bias", "replacement") if name in choices}
    config = AttentionConfig(score, **{"heads": 2, **choices})
    learned = learned_shapes(config, 12 // config.heads, 12 // config.heads, wide=(12, 12 // config.heads))
    shapes = {f"w_{role}": (12, 12) for role in "qo"} | learned
    shapes |= {f"w_{role}": (key_rows(config, learned, 12), 12) for role in "kv"}
    shapes |= {f"b_{role}": (12,) for role in "qkvo"} if biases else {}
    return attend(
        random(2, 3, 12),
        random(2, 5, 12),
        random(2, 5, 12),
        weights=Weights(**{name: random(*shape) for name, shape in shapes.items()}),
        config=config,
        **given,
    )


ALLOWED = torch.ones(3, 5, dtype=torch.bool)
EVERY_MASK = every_mask(**MASK_PARAMS)
RUNS = {
    **{f"score {name}": layer(name) for name in SCORES},
    **{f"mask {name}": layer(masks=[mask_choice(name, **MASK_PARAMS)]) for name in MASKS},
    **{f"position {name}": layer(positions=[name]) for name in POSITIONS},
    **{f"modifier {name}": layer(modifiers=[name]) for name in MODIFIERS},
    **{f"normaliser {name}": layer(score_for(name), normaliser=name) for name in NORMALISERS},
    "everything": layer("additive", masks=EVERY_MASK, positions=[*POSITIONS], dropout=0.1, allowed=ALLOWED),
    "two maps, turned": layer(heads=1, modifiers=["differential", "qk_norm"], positions=["rope"]),
    "no bias": layer(biases=False),
    "no weights": attend(random(3, 4)),
    "numbers": layer(scale=-0.03125, temperature=0.7, positions=[("rope", {"base": 50.0})]),
    "scale 0": layer(scale=0.0),
    "offset": layer(masks=[("causal", {"offset": -1})], positions=["alibi"]),
    "own mask": layer(allowed=ALLOWED),
    "own bias": layer(bias=random(3, 5)),
    "own bias, alibi": layer(bias=random(2, 1, 3, 5), positions=["alibi"]),
    "uniform": layer(replace="uniform"),
    "uniform, masked": layer(replace="uniform", masks=["causal"]),
    "replacement": layer(replacement=random(3, 5)),
    "what if": attend_qkv(random(3, 4), random(5, 4), random(5, 2), what_if={"scores": random(3, 5)}),
    "residual": layer(residual=True),
    "loss": with_cross_entropy(layer(), 2),
    "parts": with_jacobian(layer().then(*NAIVE_SOFTMAX, *STABLE_SOFTMAX)),
    "heads given": attend_qkv(random(3, 4), random(5, 4), random(5, 2)),
    "decoding": [*decode(random(3, 4))][-1],
    "gradient": gradient_times_input(attend(random(3, 4)), Ref("output", (0, 0, 0))),
    "without a head": without_head(layer(), 1),
    "without a head, no w_o": without_head(attend_qkv(random(1, 2, 3, 4), random(1, 2, 5, 4), random(1, 2, 5, 7)), 1),
    "likeness": with_likeness(layer()),
    "row sums": with_dropout(layer(), 0.5),
    "a mask that is added": with_additive_mask(layer(masks=["causal"])),
    "convolution": with_convolution(attend(random(3, 4)), random(3)),
    "leak": with_moved_rows(attend(random(3, 4)), attend(random(3, 4) + 1)),
    "words and places": with_score_parts(layer(positions=["sinusoidal"])),
    "two passes": with_both_passes(attend(random(3, 4)), Encoder("rnn", width=5, both=True), 2),
    "two passes of an LSTM": with_both_passes(attend(random(3, 4)), Encoder("lstm", width=5, both=True), 2),
    "recurrence": with_states(attend(random(3, 4)), Encoder("rnn", width=5), shown=2),
    "rounded": with_rounded_weights(layer(), 1),
    "a state": with_linear_states(layer("linear", normaliser="share", masks=["causal"]), 2),
    "in blocks": with_online_softmax(layer(), 2),
    **{f"treated: {name}": with_empty_row_policy(layer(allowed=ALLOWED.tril(-1)), name) for name in EMPTY_ROW_POLICIES},
}

ENDS_IN_RMS = {"norms": ("rms_norm_before",), "last": ("rms_norm_before",)}
OWN_HEADS = Weights(w_q=random(4, 4), w_k=random(4, 4), w_v=random(4, 4), w_o=random(4, 4))


def small_compositions() -> dict[str, Trace]:
    """Two earlier layers of two heads that share keys of width 3 and values of width 5, read by a head of a third."""
    shapes = {"w_q": (7, 6), "w_k": (7, 3), "w_v": (7, 5), "w_o": (10, 7)}
    heads = (Weights(**{name: random(*shape) for name, shape in shapes.items()}), AttentionConfig(heads=2, kv_heads=1))
    return compose([heads, heads], heads, 1)


# What is no attention, and has no query on its way.
PART_RUNS = {
    "pushes": with_logit_sum(small_stack(norms=("layer_norm_after",)))["logit_sum"],
    "pushes on two words": with_logit_sum(small_stack(), words=(3, 0))["logit_sum"],
    "pushes of words": with_word_pushes(small_stack(**ENDS_IN_RMS), 3)["word_pushes"],
    "pushes of words through a LayerNorm": with_word_pushes(small_stack(), 3)["word_pushes"],
    "words alone": with_pushes(head_circuit(random(3, 4), OWN_HEADS, AttentionConfig()), random(5, 4), random(4)),
    **{f"composition {name}": run for name, run in small_compositions().items()},
    **{f"part {name}": part for name, part in small_parts().items()},
}
EVERY_RUN = RUNS | PART_RUNS


# ---- what holds for each ---------------------------------------------------------------------------------------------
LEFT_OVER = frozenset("\\{}#$&")  # LaTeX that is not understood becomes text as it was typed, as does a lone brace
ARGUMENTS = {"mfrac": 2, "mroot": 2, "msub": 2, "msup": 2, "munder": 2, "mover": 2, "msubsup": 3, "munderover": 3}


def assert_well_formed(text: str, colours: Mapping[str, str] = SYMBOL_COLOURS) -> None:
    """A formula that becomes whole MathML, in no colours but these, and as people write formulas."""
    for element in to_mathml(text).iter():
        assert element.tag not in ARGUMENTS or len(element) == ARGUMENTS[element.tag], text
        assert element.tag not in ("mi", "mtext") or LEFT_OVER.isdisjoint(element.text or ""), text
        assert element.tag not in ("msub", "msup", "msubsup") or "".join(element[0].itertext()), text
    bare = re.sub(r"\\[{}]", "", text)
    assert bare.count("{") == bare.count("}"), text
    assert set(colours_in(text)) <= set(colours.values()), text
    assert text.isascii() and not {"%", "~"} & set(text), text
    assert "  " not in text, text
    assert not re.search(r"\de[+-]\d", text), f"a power of ten as programs write it: {text}"


@cache  # the same steps stand in most runs
def to_mathml(text: str) -> Element:
    """A formula in MathML, not laid out; what lacks an end raises errors of many kinds."""
    return fromstring(re.sub(' xmlns="[^"]+"', "", tex2mml(text), count=1))


def colours_in(text: str) -> list[str]:
    """The colours that a formula asks for, one after the other."""
    return re.findall(r"\\textcolor{(.*?)}", text)


BROKEN = [
    "{a",
    "a}",
    r"\mathrm{a",
    r"\mathrm{a}}",
    r"\text{else",
    r"\begin{cases} a",
    r"\begin{cases} a \end{aligned}",
    r"\end{cases}",
    r"\left( a",
    r"\frac{a}",
    r"\sqrt",
    r"\textcolor{#0067A5}",
    r"\textcolor{red}{a}",
    r"\textcolor{#00}{a}",
    "a_",
    "a\\",
    "a_1_2",
    "a^2^3",
    "a # b",
    "a & b",
    r"\nothing",
    r"\nothing{a}",
    r"\mathrm{\nothing}_S",
]
UNUSUAL = ["_a", r"a\,_b", "50 %", "a ~ b", "a  b", "1e-5", "\u2212a"]  # which KaTeX draws, and nobody would print


# ---- what the screens show -------------------------------------------------------------------------------------------
def every_equation() -> list[str]:
    """Every step of every run, the same with its sizes, all steps in lines; and every axis."""
    texts = [latex(trace) for trace in EVERY_RUN.values()]
    for trace in EVERY_RUN.values():
        for name, step in trace.steps.items():
            texts += [formula(trace, name), sized_formula(trace, name), *map(axis_latex, step.dims)]
    return [*dict.fromkeys(texts)]


def every_sign() -> list[str]:
    """The glossary's signs."""
    return [sign.latex for sign in GLOSSARY_SIGNS]


def every_text() -> list[str]:
    """The texts of both languages in which formulas stand, with a 1 in the place of each value."""
    texts = [text for language in LANGUAGES for text in load_app_texts(language).values() if "$" in text]
    return [text.format_map(defaultdict(lambda: "1")) for text in texts]


def formulas_in(text: str) -> list[str]:
    """The formulas that stand in a text."""
    return re.findall(r"\$(.+?)\$", text)
