"""What a reader is shown: no step that changed nothing, in formulas, sums and the way back; the Trace keeps all."""

import pytest
import torch

from attention_core import AttentionConfig, Weights, attend, attend_qkv, explain, latex
from attention_core.explanation.formula import ELSE, formula, sized_formula
from attention_core.explanation.shown_steps import explain_shown, shown_steps
from attention_core.record.cell_functions import evaluate

X = torch.tensor([[1.0, 2.0, 0.0], [0.0, -1.0, 3.0], [2.0, 0.0, 1.0], [1.0, 1.0, 1.0], [0.0, 2.0, -1.0]]).double()
W_ONE = torch.tensor([[1.0, 0.0], [0.0, 2.0], [-1.0, 1.0]]).double()
W_TWO = torch.cat((W_ONE, -W_ONE), -1)  # (3, 4): two heads of 2


def run(w=W_ONE, heads=1, masks=(), w_o=None, **config):
    weights = Weights(w_q=w, w_k=w, w_v=w, w_o=w_o)
    return attend(X, weights=weights, config=AttentionConfig(heads=heads, masks=masks, **config))


ALWAYS = ["x", "w_q", "w_k", "w_v"]
SHOWN = {
    "one head": (run(), [*ALWAYS, "q", "k", "v", "scores", "scaled_scores", "weights", "head_outputs"]),
    "a mask": (
        run(masks=["causal"]),
        [*ALWAYS, "q", "k", "v", "scores", "scaled_scores", "allowed", "masked_scores", "weights", "head_outputs"],
    ),
    "a mask that blocks nothing": (
        run(masks=[("local", {"window": 5})]),
        [*ALWAYS, "q", "k", "v", "scores", "scaled_scores", "allowed", "weights", "head_outputs"],
    ),
    "no scale": (run(score="dot"), [*ALWAYS, "q", "k", "v", "scores", "weights", "head_outputs"]),
    "W_o": (
        run(w_o=torch.eye(2).double()),
        [*ALWAYS, "w_o", "q", "k", "v", "scores", "scaled_scores", "weights", "head_outputs", "output"],
    ),
}


@pytest.mark.parametrize("name", SHOWN)
def test_a_step_that_changed_nothing_is_not_shown(name):
    trace, expected = SHOWN[name]
    shown = shown_steps(trace)
    assert sorted(shown) == sorted(expected)
    assert shown == [step for step in trace.steps if step in shown]  # in their order
    assert {"scaled_scores", "masked_scores", "concat", "output"} <= {*trace.steps}  # these stay in the Trace


def test_two_heads_are_cut_and_joined_in_sight():
    steps = shown_steps(run(W_TWO, heads=2))
    assert {"q_projected", "q", "head_outputs", "concat"} <= {*steps} and "output" not in steps


@pytest.mark.parametrize("masks", [(), ["causal"]])
@pytest.mark.parametrize("heads", [1, 2])
@pytest.mark.parametrize("score", ["dot", "scaled_dot"])
def test_no_equation_says_that_a_step_is_another(masks, heads, score):
    trace = run(W_ONE if heads == 1 else W_TWO, heads, masks, score=score)
    for line in latex(trace, {}).splitlines()[1:-1]:
        _, right = line.removesuffix(r" \\").split(" &= ")
        assert right.replace(r"\mathrm", "").strip("{}").replace(r"\_", "_") not in trace, line
    assert ("masked" in latex(trace, {})) is bool(masks)


def test_a_number_that_was_copied_has_the_sum_of_what_it_is_a_copy_of():
    """q of word 1: (0, -1, 3) times the columns (1, 0, -1) and (0, 2, 1): -3 and 1."""
    trace = run()
    assert explain_shown(trace, "q", (0, 0, 1, 0)).text == "0.00 × 1.00 + (−1.00) × 0.00 + 3.00 × (−1.00) = −3.00"
    assert explain(trace, "q", (0, 0, 1, 0)).text == "−3.00 = −3.00"
    assert {piece.ref.step for piece in explain_shown(trace, "scores", (0, 0, 1, 2)).pieces if piece.ref} == {"q", "k"}


@pytest.mark.parametrize("heads", [1, 2])
@pytest.mark.parametrize("masks", [(), ["causal"]])
def test_every_sum_is_of_numbers_that_are_shown(heads, masks):
    """Each operand of each cell is shown, and holds the number that the arithmetic was computed from."""
    trace = run(W_ONE if heads == 1 else W_TWO, heads, masks)
    shown = shown_steps(trace)
    for name in shown:
        for index in torch.cartesian_prod(*map(torch.arange, trace.step(name).shape)).tolist():
            index = tuple(index if isinstance(index, list) else [index])
            explained = explain_shown(trace, name, index)
            if explained.cell is None:
                continue
            assert evaluate(explained.cell, lambda ref: float(trace[ref.step][ref.index])) == pytest.approx(
                float(trace[name][index]), abs=1e-12
            )
            for piece in explained.pieces:
                if piece.ref:
                    assert piece.ref.step in shown
                    assert piece.text.strip("()").startswith(("−", "0", "1", "2", "3", "4", "5", "6", "7", "8", "9"))


def test_operands_of_given_tensors_stay_what_they_are():
    trace = attend_qkv(X, X, X)
    weights = explain_shown(trace, "weights", (0, 0, 1, 2))
    assert {piece.ref.step for piece in weights.pieces if piece.ref} == {"scaled_scores"}
    assert {piece.ref.step for piece in explain_shown(trace, "output", (0, 1, 2)).pieces if piece.ref} == {
        "weights",
        "v",
    }
    assert explain_shown(trace, "q", (0, 0, 1, 2)).cell is None


def test_formulas_take_the_names_of_a_language():
    names = {"weights": "权重", "masked_scores": "加掩码后的得分", "scaled_scores": "缩放后的得分", ELSE: "否则"}
    trace = run(masks=["causal"])
    assert formula(trace, "weights", {}, names) == r"\text{权重} = \mathrm{softmax}_S(\text{加掩码后的得分})"
    assert r"\text{否则}" in formula(trace, "masked_scores", {}, names)
    assert r"{\text{权重}}" in sized_formula(trace, "weights", {}, names)
