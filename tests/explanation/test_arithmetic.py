"""The arithmetic of single cells as text: what is expected here was worked out by hand."""

import copy
import math

import numpy as np
import pytest
import torch

from attention_core import AttentionConfig, AttentionError, Trace, Weights, attend, attend_qkv
from attention_core.analysis.blocked_scores import ADD_TO_BLOCKED, FILL_SCORES
from attention_core.analysis.head_contributions import COMPARE_HEADS
from attention_core.analysis.online_softmax import HIGHEST, POWERS
from attention_core.analysis.parts_of_sum import ROOT_MEAN_SQUARE
from attention_core.analysis.softmax_steps import CROSS_ENTROPY, DIVIDE_BY_SUM, EXP, EXP_BELOW, JACOBIAN, LOSS_SLOPES
from attention_core.analysis.target_leakage import FARTHEST
from attention_core.exercises.rounding import ROUND
from attention_core.explanation.arithmetic import Explanation, explain
from attention_core.mechanism.masks import ALL_ALLOW, CAUSAL, LOCAL, LOCAL_GLOBAL, PADDING, SLIDING
from attention_core.mechanism.normalisers import SIGMOID, SOFTMAX
from attention_core.mechanism.norms import CENTRE, LAYER_NORM, RMS_NORM
from attention_core.mechanism.operations import (
    ADD,
    DROP,
    EVEN_WEIGHTS,
    MASK,
    MERGE,
    MIX,
    PROJECT,
    PUT,
    ROOT_SCALE,
    SCALE,
)
from attention_core.mechanism.plan import run_plan
from attention_core.mechanism.positions import ALIBI, ROPE, SINUSOIDAL
from attention_core.mechanism.scores import COSINE, DOT, FEATURE_MAP, GENERAL, TANH_LAYER
from attention_core.record.cell_functions import CELL_FUNCTIONS, evaluate, write_cell
from attention_core.record.cell_text import MAX_SHOWN_TERMS
from attention_core.record.expressions import Cell, CellFunction, Ref
from attention_core.record.number_text import format_exact, format_fixed, format_or_scientific
from attention_core.record.trace import Faces, Operation, Step
from attention_core.transformer.activations import GELU, GELU_TANH, RELU, RELU_SQUARED, SILU
from attention_core.transformer.unembedding import KEEP_LARGEST, KEEP_SHARE
from attention_core.variants.recurrence import LET_OUT

INF = math.inf
LOG_2 = math.log(2)

PLAIN_ROPE = {"base": 10000.0, "scaling": "none", "factor": 1.0, "trained": 4096, "mscale": 1.0, "mscale_all_dim": 0.0}
PLAIN_ROPE |= {"columns": None, "pair_factors": None}


# ---- one operation on its own ----------------------------------------------------------------------------------------
def single(faces: Faces, *operands: object, **params) -> Trace:
    """A run of one step, `result`, from operands a, b, c, ... given as nested lists."""
    arrays = [np.array(operand) for operand in operands]
    tensors = [torch.tensor(array if array.dtype == bool else array.astype(np.float64)) for array in arrays]
    inputs = {name: Step(name, tensor, axes(tensor)) for name, tensor in zip("abcd", tensors, strict=False)}
    value = faces.torch(*tensors, **params)
    return run_plan(inputs, [Operation("result", axes(value), tuple(inputs), faces, params)])


def axes(tensor: torch.Tensor) -> tuple[str, ...]:
    return tuple("vwxyz"[: tensor.dim()])


def rows(*numbers: object) -> list:
    """One head's row: (B, H, T, S) with one sequence, one head and one query."""
    return [[[list(numbers)]]]


def pairs(*lists: object) -> list:
    """One head's matrix."""
    return [[list(map(list, lists))]]


CELLS = {
    "one of the two largest": (
        single(KEEP_LARGEST, [[[1, 3, 2]]], k=2),
        (0, 0, 2),
        "#(> 2.00) = 1 < 2 ⇒ 2.00 = 2.00",
    ),
    "cut off behind a share": (  # (1 + e⁻¹) / (1 + e⁻¹ + e⁻²) = 0.91
        single(KEEP_SHARE, [[[1, 3, 2]]], p=0.5),
        (0, 0, 0),
        "Σ softmax(> 1.00) = 0.91 ≥ 0.5 ⇒ −∞ = −∞",
    ),
    "sum of products": (
        single(PROJECT, [[[1, 2]]], [[3], [-1]]),
        (0, 0, 0),
        "1.00 × 3.00 + 2.00 × (−1.00) = 1.00",
    ),
    "with a bias": (
        single(PROJECT, [[[1, 2]]], [[0, 3], [0, -1]], [9, 0.5]),
        (0, 0, 1),
        "1.00 × 3.00 + 2.00 × (−1.00) + 0.50 = 1.50",
    ),
    "negative terms": (
        single(PROJECT, [[[-1, -2]]], [[3], [-1]], [-4]),
        (0, 0, 0),
        "−1.00 × 3.00 + (−2.00) × (−1.00) + (−4.00) = −5.00",
    ),
    "three factors": (
        single(GENERAL, pairs([1, 2]), pairs([3]), [[0.5], [-0.25]]),
        (0, 0, 0, 0),
        "1.00 × 0.50 × 3.00 + 2.00 × (−0.25) × 3.00 = 0.00",
    ),
    "two numbers": (single(ADD, rows(1.25, 2), rows(0, -3)), (0, 0, 0, 1), "2.00 + (−3.00) = −1.00"),
    "one number": (single(MERGE, [[[[1, 2]], [[3, 4]]]]), (0, 0, 2), "3.00 = 3.00"),
    "a root": (single(ROOT_SCALE, rows(1), factor=2**-0.5, temperature=1.0), (0, 0, 0, 0), "1.00 × 1/√2 = 0.71"),
    "a root and a temperature": (
        single(ROOT_SCALE, rows(-4), factor=2**-0.5, temperature=2.0),
        (0, 0, 0, 0),
        "−4.00 × 1/√2 × 1/2 = −1.41",
    ),
    "a typed factor": (single(SCALE, rows(8), factor=0.5, temperature=1.0), (0, 0, 0, 0), "8.00 × 0.5 = 4.00"),
    "a factor below 0": (single(SCALE, rows(8), factor=-0.5, temperature=1.0), (0, 0, 0, 0), "8.00 × (−0.5) = −4.00"),
    "a factor above 1 and a temperature below 1": (
        single(SCALE, rows(2), factor=3.0, temperature=0.5),
        (0, 0, 0, 0),
        "2.00 × 3 × 1/0.5 = 12.00",
    ),
    "a plain factor": (single(SCALE, rows(-4), factor=0.3, temperature=1.0), (0, 0, 0, 0), "−4.00 × 0.3 = −1.20"),
    "a rotation's first half": (  # 3 cos 1 - 4 sin 1 = 1.6209 - 3.3659
        single(ROPE, [[[[3, 4]]]], style="interleaved", **PLAIN_ROPE, first_position=1),
        (0, 0, 0, 0),
        "3.00 × (cos 1) + 4.00 × (sin 1) × (−1) = −1.74",
    ),
    "a rotation's second half": (  # 3 sin 1 + 4 cos 1 = 2.5244 + 2.1612
        single(ROPE, [[[[3, 4]]]], style="half", **PLAIN_ROPE, first_position=1),
        (0, 0, 0, 1),
        "3.00 × (sin 1) + 4.00 × (cos 1) = 4.69",
    ),
    "tanh": (  # tanh 0.5 = 0.4621
        single(TANH_LAYER, pairs([1, 2]), pairs([-1]), [[0.5], [0.25]], [[0.5]]),
        (0, 0, 0, 0, 0),
        "tanh(1.00 × 0.50 + 2.00 × 0.25 + (−1.00) × 0.50) = 0.46",
    ),
    "allowed": (single(MASK, rows(0.5, 2), rows(True, False)), (0, 0, 0, 0), "allowed = 1 ⇒ 0.50 = 0.50"),
    "blocked": (single(MASK, rows(0.5, 2), rows(True, False)), (0, 0, 0, 1), "allowed = 0 ⇒ −∞ = −∞"),
    "no mask": (single(MASK, rows(0.5)), (0, 0, 0, 0), "0.50 = 0.50"),
    "softmax": (  # 1 / (1 + 2)
        single(SOFTMAX, rows(0, LOG_2)),
        (0, 0, 0, 0),
        "exp(0.00) / (exp(0.00) + exp(0.69)) = 1.00 / 3.00 = 0.33",
    ),
    "softmax, blocked": (
        single(SOFTMAX, rows(-1, -INF)),
        (0, 0, 0, 1),
        "exp(−∞) / (exp(−1.00) + exp(−∞)) = 0.00 / 0.37 = 0.00",
    ),
    "softmax, empty row": (single(SOFTMAX, rows(-INF, -INF)), (0, 0, 0, 1), "Σ exp(−∞) = 0 ⇒ 0 = 0.00"),
    "exp": (single(EXP, rows(-1, 2)), (0, 0, 0, 0), "exp(−1.00) = 0.37"),
    "exp, more than a float holds": (single(EXP, rows(1001, 2)), (0, 0, 0, 0), "exp(1001.00) = ∞"),
    "exp, blocked": (single(EXP, rows(-INF, 2)), (0, 0, 0, 0), "exp(−∞) = 0.00"),
    "exp below": (single(EXP_BELOW, rows(1001, 1002, 1003)), (0, 0, 0, 1), "exp(1002.00 − 1003.00) = 0.37"),
    "exp below, negative": (single(EXP_BELOW, rows(-3, -1)), (0, 0, 0, 0), "exp(−3.00 − (−1.00)) = 0.14"),
    "quotient": (single(DIVIDE_BY_SUM, rows(1, 4, 3)), (0, 0, 0, 2), "3.00 / (1.00 + 4.00 + 3.00) = 0.38"),
    "quotient, overflow": (single(DIVIDE_BY_SUM, rows(INF, INF, 3)), (0, 0, 0, 1), "∞ / (∞ + ∞ + 3.00) = NaN"),
    "quotient, lost": (single(DIVIDE_BY_SUM, rows(INF, INF, 3)), (0, 0, 0, 2), "3.00 / (∞ + ∞ + 3.00) = 0.00"),
    "quotient, nothing": (single(DIVIDE_BY_SUM, rows(0, 0)), (0, 0, 0, 0), "0.00 / (0.00 + 0.00) = NaN"),
    "minus ln": (single(CROSS_ENTROPY, rows(0.25, 0.75), right=1), (0, 0, 0), "−ln(0.75) = 0.29"),
    "minus ln, nothing": (single(CROSS_ENTROPY, rows(0, 1), right=0), (0, 0, 0), "−ln(0.00) = ∞"),
    "slope of the loss": (single(LOSS_SLOPES, rows(0.25, 0.75), right=1), (0, 0, 0, 1), "0.75 + (−1) = −0.25"),
    "slope": (single(JACOBIAN, rows(0.25, 0.75)), (0, 0, 0, 1, 1), "0.75 × (1 − 0.75) = 0.19"),
    "slope, another": (single(JACOBIAN, rows(0.25, 0.75)), (0, 0, 0, 1, 0), "0.75 × (0 − 0.25) = −0.19"),
    "filled": (
        single(FILL_SCORES, rows(0.5, 2), rows(True, False), value=-1e9),
        (0, 0, 0, 1),
        "allowed = 0 ⇒ −1e9 = −1.00e+09",
    ),
    "not filled": (
        single(FILL_SCORES, rows(0.5, 2), rows(True, False), value=-1e9),
        (0, 0, 0, 0),
        "allowed = 1 ⇒ 0.50 = 0.50",
    ),
    "added": (
        single(ADD_TO_BLOCKED, rows(0.5, 2), rows(True, False), value=-1e9),
        (0, 0, 0, 0),
        "0.50 + (−1e9) + 1e9 × 1 = 0.50",
    ),
    "round": (single(ROUND, rows(-0.125), digits=2), (0, 0, 0, 0), "round(−0.12, 2) = −0.13"),
    "alike": (  # |.75 - .25| + |.25 - .5| + |0 - .25| = 1
        single(COMPARE_HEADS, [[[[0.75, 0.25, 0]], [[0.25, 0.5, 0.25]]]]),
        (0, 0, 0, 1),
        "1 − (|0.75 − 0.25| + |0.25 − 0.50| + |0.00 − 0.25|) / 2 = 0.50",
    ),
    "farthest": (
        single(FARTHEST, [[[1, -2, 0]]], [[[0.5, 1, 0]]]),
        (0, 0),
        "max(|1.00 − 0.50|, |−2.00 − 1.00|, |0.00 − 0.00|) = 3.00",
    ),
    "max": (single(HIGHEST, rows(0.5, 2, -1), start=0, stop=3), (0, 0, 0), "max(0.50, 2.00, −1.00) = 2.00"),
    "fall": (
        single(POWERS, rows(0.5, 2), [[[2.0]]], start=0, stop=2),
        (0, 0, 0, 0),
        "exp(0.50 − 2.00) = 0.22",
    ),
    "fall from nothing": (
        single(POWERS, rows(-math.inf, 2), [[[2.0]]], start=0, stop=2),
        (0, 0, 0, 0),
        "exp(−∞ − 2.00) = 0.00",
    ),
    "share": (single(EVEN_WEIGHTS, rows(5, 6, 7), rows(True, False, True)), (0, 0, 0, 2), "1 / (1 + 0 + 1) = 0.50"),
    "share, blocked": (
        single(EVEN_WEIGHTS, rows(5, 6, 7), rows(True, False, True)),
        (0, 0, 0, 1),
        "0 / (1 + 0 + 1) = 0.00",
    ),
    "share, empty row": (single(EVEN_WEIGHTS, rows(5, 6), rows(False, False)), (0, 0, 0, 1), "0 + 0 = 0 ⇒ 0 = 0.00"),
    "share, no mask": (single(EVEN_WEIGHTS, rows(5, 6, 7)), (0, 0, 0, 1), "1/3 = 0.33"),
    "kept": (single(DROP, rows(0.5, 0.5), rows(True, False), p=0.75), (0, 0, 0, 0), "0.50 × 1 × (1/(1 − 0.75)) = 2.00"),
    "dropped": (
        single(DROP, rows(0.5, 0.5), rows(True, False), p=0.75),
        (0, 0, 0, 1),
        "0.50 × 0 × (1/(1 − 0.75)) = 0.00",
    ),
    "chosen": (single(PUT, rows(5, 6), rows(7, 8), rows(True, False)), (0, 0, 0, 0), "chosen: 1 ⇒ 7.00 = 7.00"),
    "not chosen": (single(PUT, rows(5, 6), rows(7, 8), rows(True, False)), (0, 0, 0, 1), "chosen: 0 ⇒ 6.00 = 6.00"),
    "sigmoid": (  # 1 / (1 + 1/3)
        single(SIGMOID, rows(LOG_2), bias=math.log(1.5)),
        (0, 0, 0, 0),
        "σ(0.69 + 0.40547) = 0.75",
    ),
    "a feature above 0": (single(FEATURE_MAP, [[[[2, -1]]]]), (0, 0, 0, 0), "2.00 + 1 = 3.00"),
    "a feature below 0": (single(FEATURE_MAP, [[[[2, -1]]]]), (0, 0, 0, 1), "exp(−1.00) = 0.37"),
    "over the root mean square": (  # 6 / √(25 / 2 + 0.5)
        single(RMS_NORM, [[[[3, 4]]]], [2.0, 1.0], eps=0.5),
        (0, 0, 0, 0),
        "3.00 × 2.00 / √((3.00 × 3.00 + 4.00 × 4.00) / 2 + 0.5) = 1.66",
    ),
    "a root mean square": (  # √(25 / 2 + 0.5)
        single(ROOT_MEAN_SQUARE, [[[3, 4]]], eps=0.5),
        (0, 0),
        "√((3.00 × 3.00 + 4.00 × 4.00) / 2 + 0.5) = 3.61",
    ),
    "without the mean": (  # 3 − (3 + 5) / 2
        single(CENTRE, [[[3, 5]]]),
        (0, 0, 0),
        "3.00 + 3.00 × (−1/2) + 5.00 × (−1/2) = −1.00",
    ),
    "over the standard deviation": (  # −6 / √(9 + 0.5) + 1
        single(LAYER_NORM, [[[-3, 3]]], [2.0, 1.0], [1.0, -1.0], eps=0.5),
        (0, 0, 0),
        "−3.00 × 2.00 / √((−3.00 × (−3.00) + 3.00 × 3.00) / 2 + 0.5) + 1.00 = −0.95",
    ),
    "bent at 0": (single(RELU, [[[-2, 3]]]), (0, 0, 0), "max(0, −2.00) = 0.00"),
    "bent by the normal distribution": (single(GELU, [[[1, 3]]]), (0, 0, 0), "1.00 × Φ(1.00) = 0.84"),
    "bent by tanh": (  # 1.00 x 0.8412
        single(GELU_TANH, [[[1, 3]]]),
        (0, 0, 0),
        "1.00 × (1 + tanh(√(2/π) × (1.00 + 0.044715 × (1.00)³))) / 2 = 0.84",
    ),
    "bent at 0, squared": (single(RELU_SQUARED, [[[-2, 3]]]), (0, 0, 1), "max(0, 3.00)² = 9.00"),
    "bent by the sigmoid": (single(SILU, [[[1, 3]]]), (0, 0, 0), "1.00 × σ(1.00) = 0.73"),
    "what is let out of a cell": (  # 0.5 x 0.7616
        single(LET_OUT, [[0.5, 7]], [[1, 9]]),
        (0, 0),
        "0.50 × tanh(1.00) = 0.38",
    ),
    "cosine": (  # 11 / (√5 × 5) = 0.9839
        single(COSINE, pairs([1, 2]), pairs([3, 4])),
        (0, 0, 0, 0),
        "(1.00 × 3.00 + 2.00 × 4.00) / (2.24 × 5.00) = 0.98",
    ),
    "cosine of nothing": (
        single(COSINE, pairs([0, 0]), pairs([3, 4])),
        (0, 0, 0, 0),
        "(0.00 × 3.00 + 0.00 × 4.00) / (1e-08 × 5.00) = 0.00",
    ),
    "comparison that holds": (single(CAUSAL, pairs([0, 0, 0], [0, 0, 0]), query_offset=1), (0, 0, 0, 1), "1 ≤ 1 ⇒ 1"),
    "comparison that fails": (single(PADDING, rows(0, 0, 0), lengths=(2,)), (0, 0, 0, 2), "2 < 2 ⇒ 0"),
    "near, in a later window of queries": (  # the query at row 0 stands at position 3
        single(LOCAL, rows(0, 0, 0, 0, 0), window=1, query_offset=3),
        (0, 0, 0, 2),
        "|3 − 2| ≤ 1 ⇒ 1",
    ),
    "the last keys, in a later window of queries": (
        single(SLIDING, rows(0, 0, 0, 0, 0, 0), window=2, query_offset=5),
        (0, 0, 0, 3),
        "3 < 3 ≤ 5 ⇒ 0",
    ),
    "near or global, in a later window of queries": (
        single(LOCAL_GLOBAL, rows(0, 0, 0, 0, 0), window=1, global_tokens=(0,), query_offset=3),
        (0, 0, 0, 1),
        "|3 − 1| ≤ 1, or 3 or 1 in {0} ⇒ 0",
    ),
    "distance, in a later window of queries": (
        single(ALIBI, rows(0, 0, 0, 0), slopes=(0.5,), query_offset=3),
        (0, 0, 1),
        "−0.5 × |3 − 1| = −1.00",
    ),
    "several masks": (single(ALL_ALLOW, rows(True, True), rows(True, False)), (0, 0, 0, 1), "1 × 0 ⇒ 0"),
    "infinite": (single(SCALE, rows(-INF), factor=0.3, temperature=1.0), (0, 0, 0, 0), "−∞ × 0.3 = −∞"),
}


@pytest.mark.parametrize(("trace", "index", "text"), CELLS.values(), ids=CELLS)
def test_the_text_of_a_cell(trace, index, text):
    explanation = explain(trace, "result", index)
    assert explanation.text == text
    assert (explanation.step, explanation.index) == ("result", index)
    assert explanation.value == pytest.approx(float(trace["result"][index]), abs=0, nan_ok=True)


def test_sine_and_cosine_of_a_position():
    """Position 2 of width 4: sin 2, cos 2, sin 0.02, cos 0.02."""
    trace = single(SINUSOIDAL, [[[0.0] * 4]], base=10000.0, first_position=2)
    texts = [explain(trace, "result", (0, column)).text for column in range(4)]
    for text, start, end in zip(texts, ["sin(", "cos("] * 2, ["0.91", "−0.42", "0.02", "1.00"], strict=True):
        assert text.startswith(start)
        assert text.endswith(f") = {end}")
        assert "2" in text
        assert not any(piece.ref for piece in explain(trace, "result", (0, 0)).pieces)
    assert texts[0].count("10000^(−0/4)") == texts[1].count("10000^(−0/4)") == 1
    assert texts[2].count("10000^(−2/4)") == texts[3].count("10000^(−2/4)") == 1


def test_the_position_of_a_later_row():
    """Row 1 of rows that begin at position 3: sin(4 / 100) = 0.04."""
    trace = single(SINUSOIDAL, [[[0.0] * 4] * 2], base=10000.0, first_position=3)
    assert explain(trace, "result", (1, 2)).text == "sin(4 × 10000^(−2/4)) = 0.04"


def test_every_outer_function_is_written():
    seen = {explain(trace, "result", index).cell.function for trace, index, _ in CELLS.values()}
    assert seen | {"sin", "cos"} == set(CELL_FUNCTIONS)


def halved_value(numbers):
    ((number,),) = numbers
    return number / 2


def halved_text(terms, numbers):
    return ["half of ", *CELL_FUNCTIONS["sum"].text(terms, numbers)]


def test_a_cell_may_hold_a_function_of_its_own():
    """Half of 3 is 1.5; the table of functions knows nothing of it."""
    cell = Cell(((Ref("a", (0,)),),), CellFunction(halved_value, halved_text))
    assert evaluate(cell, {Ref("a", (0,)): 3.0}.__getitem__) == 1.5
    assert write_cell(cell, {Ref("a", (0,)): 3.0}.__getitem__)[0] == "half of "
    assert copy.deepcopy(cell) == cell


# ---- more than twelve terms ------------------------------------------------------------------------------------------
def rest_of(explanation: Explanation) -> tuple[int, float]:
    (rest,) = [piece.rest for piece in explanation.pieces if piece.rest]
    return rest


def test_a_long_sum_shows_its_largest_terms_in_their_order():
    """+1 −2 +3 −4 ... +15 = 8; the three smallest are +1 −2 +3 = 2."""
    weights = [n if n % 2 else -n for n in range(1, 16)]
    explanation = explain(single(MIX, rows(*[1] * 15), pairs(*[[w] for w in weights])), "result", (0, 0, 0, 0))
    shown = " + ".join(f"1.00 × {n}.00" if n % 2 else f"1.00 × (−{n}.00)" for n in range(4, 16))
    assert explanation.text == f"{shown} + (3 smaller: 2.00) = 8.00"
    assert rest_of(explanation) == (3, 2.0)
    linked = [piece.ref.index[2] for piece in explanation.pieces if piece.ref and piece.ref.step == "b"]
    assert linked == list(range(3, 15))


def test_size_decides_not_place():
    """The largest stand first and last, the smallest in the middle: 6 zeros and a one are left out."""
    weights = [9, -9, 8, -8, 7, -7, 0, 0, 0, 1, 0, 0, 0, -6, 6, 5, -5, 4, -4]
    explanation = explain(single(DOT, pairs(weights), pairs([1] * 19)), "result", (0, 0, 0, 0))
    assert explanation.text.endswith(" + (7 smaller: 1.00) = 1.00")
    left = [piece.ref.index[3] for piece in explanation.pieces if piece.ref and piece.ref.step == "a"]
    assert left == [0, 1, 2, 3, 4, 5, 13, 14, 15, 16, 17, 18]


def test_a_long_likeness_shows_its_largest_differences():
    """Thirteen keys: 1 to 13 over 50, the smallest is gathered; they sum to 91 / 50 = 1.82."""
    weights = [[[[n / 50 for n in range(1, 14)]], [[0.0] * 13]]]
    explanation = explain(single(COMPARE_HEADS, weights), "result", (0, 0, 0, 1))
    assert explanation.text.endswith("|0.26 − 0.00| + (1 smaller: 0.02)) / 2 = 0.09")
    assert rest_of(explanation) == (1, pytest.approx(0.02))


@pytest.mark.parametrize(("count", "gathered"), [(12, None), (13, (1, 1.0))])
def test_twelve_terms_are_shown(count, gathered):
    explanation = explain(single(DOT, pairs([1] * count), pairs([1] * count)), "result", (0, 0, 0, 0))
    assert explanation.text.count("×") == MAX_SHOWN_TERMS == 12
    assert [piece.rest for piece in explanation.pieces if piece.rest] == ([gathered] if gathered else [])


def test_a_long_softmax_shows_its_own_score_and_the_largest_others():
    """exp of the scores is 1, 2, ..., 15; cell 0 is 1 of 120, and 2 + 3 + 4 = 9 are gathered."""
    trace = single(SOFTMAX, rows(*[math.log(n) for n in range(1, 16)]))
    explanation = explain(trace, "result", (0, 0, 0, 0))
    shown = " + ".join(f"exp({math.log(n):.2f})" for n in (1, *range(5, 16)))
    assert explanation.text == f"exp(0.00) / ({shown} + (3 smaller: 9.00)) = 1.00 / 120.00 = 0.01"
    assert rest_of(explanation) == (3, pytest.approx(9.0, rel=1e-12))
    assert [piece.ref.index[3] for piece in explanation.pieces if piece.ref] == [0, 0, *range(4, 15)]


@pytest.mark.parametrize(
    ("scores", "rest"),
    [
        ([1000.0] * 12 + [LOG_2, 0.0], 3.0),  # small ones beside what no float holds
        ([1000.0] * 14, INF),
        ([-1000.0] * 14, 0.0),
        ([0.0] * 12 + [-INF, -INF], 0.0),
    ],
)
def test_the_subtotal_of_a_long_softmax_is_that_of_the_terms_as_written(scores, rest):
    explanation = explain(single(SOFTMAX, rows(*scores)), "result", (0, 0, 0, 0))
    assert rest_of(explanation) == (2, pytest.approx(rest))
    assert explanation.pieces[-1].text == (" = 0.07" if len(set(scores)) == 1 else " = 0.08")


def test_a_long_softmax_whose_powers_are_numbers_and_their_sum_is_none():
    """exp 709 is 8.2e307: a float holds two of them, and not three."""
    explanation = explain(single(SOFTMAX, rows(*[709.0] * 15)), "result", (0, 0, 0, 0))
    assert rest_of(explanation) == (3, INF)


def test_a_long_sum_that_overflows():
    """The largest float is 1.8e308: three times 1.5e308 are more, and so is the whole row."""
    explanation = explain(single(DIVIDE_BY_SUM, rows(*[1.5e308] * 15)), "result", (0, 0, 0, 0))
    assert explanation.text.endswith(" + (3 smaller: ∞)) = 0.00")
    assert evaluate(explanation.cell, lambda ref: 1.5e308) == 0.0


def test_long_sums_inside_other_functions():
    """13 times 1 × 1: one is gathered under the cosine and the tanh too. 0.1 × 13 = 1.3, tanh 1.3 = 0.8617."""
    ones = single(COSINE, pairs([1] * 13), pairs([1] * 13))
    text = explain(ones, "result", (0, 0, 0, 0)).text
    assert text == f"({' + '.join(['1.00 × 1.00'] * 12)} + (1 smaller: 1.00)) / (3.61 × 3.61) = 1.00"
    layer = single(TANH_LAYER, pairs([1] * 7), pairs([1] * 6), [[0.1]] * 7, [[0.1]] * 6)
    text = explain(layer, "result", (0, 0, 0, 0, 0)).text
    assert text == f"tanh({' + '.join(['1.00 × 0.10'] * 12)} + (1 smaller: 0.10)) = 0.86"


# ---- links -----------------------------------------------------------------------------------------------------------
def followed(trace: Trace, start: Ref) -> set[str]:
    """Every step that is reached from a cell by its operands; at each hop the text, the link and the value agree."""
    seen, waiting = set(), [start]
    while waiting:
        ref = waiting.pop()
        if ref in seen:
            continue
        seen.add(ref)
        explanation = explain(trace, ref.step, ref.index)
        assert explanation.value == float(trace[ref.step][ref.index])
        if explanation.cell is None:
            assert ref.step in trace.inputs()
            continue
        number = evaluate(explanation.cell, lambda each: float(trace[each.step][each.index]))
        assert number == pytest.approx(explanation.value, rel=1e-12, abs=1e-12)
        for piece in explanation.pieces:
            if piece.ref:
                value = trace[piece.ref.step][piece.ref.index]
                number = str(int(value)) if value.dtype == torch.bool else format_or_scientific(float(value))
                assert piece.text in (number, f"({number})")
                waiting.append(piece.ref)
    return {ref.step for ref in seen}


def random(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(len(shape) + shape[0]), dtype=torch.float64)


def test_an_output_is_followed_to_every_input_it_depends_on():
    names = {f"{kind}_{role}": random(4, 4) if kind == "w" else random(4) for kind in "wb" for role in "qkvo"}
    config = AttentionConfig(heads=2, masks=["causal"], positions=["sinusoidal", "rope"])
    trace = attend(random(3, 4), weights=Weights(**names), config=config)
    reached = followed(trace, Ref("output", (0, 2, 1)))
    assert reached == set(trace.steps)


def test_a_chain_from_the_output_to_the_input():
    """One hop after another, on numbers that can be followed in the head: x is 2 and 3, all weights are whole."""
    x = torch.tensor([[2.0, 3.0]], dtype=torch.float64)
    w_v, w_o = torch.tensor([[1.0, -1.0], [5.0, 2.0]]).double(), torch.tensor([[10.0, 1.0], [100.0, 0.0]]).double()
    trace = attend(x, weights=Weights(w_v=w_v, w_o=w_o), config=AttentionConfig(heads=2))
    chain = [
        (Ref("output", (0, 0, 0)), "17.00 × 10.00 + 4.00 × 100.00 = 570.00"),
        (Ref("concat", (0, 0, 1)), "4.00 = 4.00"),
        (Ref("head_outputs", (0, 1, 0, 0)), "1.00 × 4.00 = 4.00"),
        (Ref("v", (0, 1, 0, 0)), "4.00 = 4.00"),
        (Ref("v_projected", (0, 0, 1)), "2.00 × (−1.00) + 3.00 × 2.00 = 4.00"),
        (Ref("x", (0, 0, 1)), "3.00"),
    ]
    for (ref, text), following in zip(chain, [*chain[1:], None], strict=True):
        explanation = explain(trace, ref.step, ref.index)
        assert explanation.text == text
        assert following is None or following[0] in [piece.ref for piece in explanation.pieces]


def test_grouped_heads_lead_to_the_head_that_they_share():
    """Of four query heads, the third reads the second of two key/value heads."""
    trace = attend_qkv(random(1, 4, 2, 3), random(1, 2, 5, 3), random(1, 2, 5, 3))
    linked = [piece.ref for piece in explain(trace, "scores", (0, 2, 1, 4)).pieces if piece.ref]
    assert linked == [ref for m in range(3) for ref in (Ref("q", (0, 2, 1, m)), Ref("k", (0, 1, 4, m)))]


def test_a_mask_that_all_heads_share_is_linked_where_it_stands():
    trace = attend_qkv(random(2, 4, 3, 2), random(2, 4, 3, 2), random(2, 4, 3, 2), allowed=torch.eye(3).bool())
    linked = [piece.ref for piece in explain(trace, "masked_scores", (1, 3, 2, 2)).pieces if piece.ref]
    assert linked == [Ref("allowed", (0, 0, 2, 2)), Ref("scaled_scores", (1, 3, 2, 2))]


# ---- inputs and mistakes ---------------------------------------------------------------------------------------------
def test_an_input_was_given():
    trace = attend_qkv(random(1, 2), random(1, 2), torch.tensor([[-1.5]]).double(), allowed=torch.ones(1, 1).bool())
    explanation = explain(trace, "v", (0, 0, 0, 0))
    assert (explanation.text, explanation.cell, explanation.value) == ("−1.50", None, -1.5)
    assert explain(trace, "allowed", (0, 0, 0, 0)).text == "1"


@pytest.mark.parametrize("index", [(), (0, 0, 0), (0, 0, 0, 0, 0), (0, 0, 0, 5), (0, 0, 3, 0), (0, 0, -1, 0)])
def test_an_index_outside_the_step(index):
    trace = attend_qkv(random(3, 2), random(5, 2), random(5, 2))
    with pytest.raises(AttentionError, match="scores") as error:
        explain(trace, "scores", index)
    assert error.value.code == "index"
    assert error.value.values["shape"] == (1, 1, 3, 5)
    assert error.value.values["given"] == index


def test_a_step_that_does_not_exist():
    with pytest.raises(KeyError, match="there is no step 'score': the steps are q, k, v, scores"):
        explain(attend_qkv(random(3, 2), random(5, 2), random(5, 2)), "score", (0, 0, 0, 0))


# ---- numbers as text -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("value", "short", "full"),
    [
        (-0.0, "0.00", "0"),
        (-0.005, "−0.01", "−0.005"),
        (-0.0049, "0.00", "−0.0049"),
        (1e-12, "0.00", "1e-12"),
        (-99999.5, "−99999.50", "−99999.5"),
        (-123456.0, "−1.23e+05", "−123456"),
        (INF, "∞", "∞"),
        (-INF, "−∞", "−∞"),
        (math.nan, "NaN", "NaN"),
    ],
)
def test_numbers_as_text(value, short, full):
    assert (format_fixed(value), format_exact(value)) == (short, full)
