"""Formulas in one line: what stands there was written down by hand, and no letter of any formula is lost."""

import pytest

from attention_core.documents.formulas import formula_runs
from attention_core.explanation.formula import formula
from attention_core.explanation.formula_tree import formula_tree
from tests.explanation.test_scripts import ATTENTION_RUNS, trace_of

BY_HAND = {
    r"\mathrm{scores} = \textcolor{#0067A5}{Q}\,\textcolor{#B34700}{K}^{\top}": "scores = Q KT",
    r"\mathrm{scaled\_scores} = \mathrm{scores} \cdot \tfrac{1}{\sqrt{2}}": "scaled_scores = scores · 1/√2",
    r"\tfrac{a + b}{\sqrt{c + d}}": "(a + b)/√(c + d)",
    r"10^{-6} - 1": "10−6 − 1",
    r"\begin{cases} \mathrm{scores} & \mathrm{allowed} \\ -\infty & \text{else} \end{cases}": (
        "{scores, allowed; −∞, else }"
    ),
    r"x - \overline{x}": "x − mean(x)",
    r"\exp(x) \,/\, \textstyle\sum_S \exp(x)": "exp(x) / ∑S exp(x)",
}


def formula_text(latex):
    return "".join(run.text for run in formula_runs(latex))


@pytest.mark.parametrize("latex", BY_HAND)
def test_a_formula_in_one_line_is_what_one_writes_by_hand(latex):
    assert formula_text(latex) == BY_HAND[latex]


def test_scripts_are_raised_and_lowered_and_symbols_keep_their_colours():
    runs = formula_runs(r"\textcolor{#0067A5}{Q}\,\textcolor{#B34700}{K}_2^{\top}")
    assert [(run.text.strip(), run.level, run.colour) for run in runs if run.text.strip()] == [
        ("Q", 0, "#0067A5"),
        ("K", 0, "#B34700"),
        ("2", -1, ""),
        ("T", 1, ""),
    ]


def letters_of(tree):
    _, _, children = tree
    for child in children:
        yield from child if isinstance(child, str) else letters_of(child)


def test_no_letter_of_any_formula_is_lost_and_no_command_stands_in_the_text():
    for name in ATTENTION_RUNS:
        trace = trace_of(name)
        for step in trace.computed():
            latex = formula(trace, step)
            text = formula_text(latex)
            at = 0
            for letter in letters_of(formula_tree(latex)):
                if letter.isalnum():
                    at = text.index(letter, at) + 1
            assert not {"textstyle", "overline", "land", "lor", "frac"} & {*text.split()}, latex
            assert "  " not in text.replace(",  ", ", ") and text == text.strip()
