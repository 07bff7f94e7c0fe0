"""The softmax as it is defined beside the softmax as it is computed: where they agree, and where only one has numbers.

Everywhere q is 1 and the keys are the logits, so the logits are the scores.
"""

import math

import numpy as np
import pytest
import torch

from attention_core import AttentionConfig, Trace, attend_qkv, code, explain, prove
from attention_core.analysis.softmax_steps import NAIVE_SOFTMAX, STABLE_SOFTMAX
from attention_core.drawing.cells import place_matrix
from attention_core.drawing.palette import LIGHT_PALETTE
from attention_core.drawing.text_layout import PictureTexts
from attention_core.explanation.layout import panel
from attention_core.record.cell_functions import evaluate
from tests.golden import loader

STORIES = loader.read(loader.STORIES)["measured"]
NAN, INF = math.nan, math.inf
OF_THREE = [0.09003057317038046, 0.24472847105479767, 0.6652409557748219]  # 1, e, e² over 1 + e + e²


def run(logits: list[float], dtype: torch.dtype = torch.float64, allowed: list[bool] | None = None, **choices) -> Trace:
    """One query, a key a logit, and both forms of the softmax behind it."""
    q, k = torch.ones(1, 1, dtype=dtype), torch.tensor(logits, dtype=dtype)[:, None]
    mask = None if allowed is None else torch.tensor([allowed])
    return attend_qkv(q, k, k, config=AttentionConfig("dot", **choices), allowed=mask).then(
        *NAIVE_SOFTMAX, *STABLE_SOFTMAX
    )


def row(trace: Trace, step: str) -> list[float]:
    return trace[step][0, 0, 0].tolist()


def same(numbers: list[float], expected: list[float]) -> bool:
    """Equal to 1e-15, with infinity where infinity is expected and NaN where NaN is."""
    return numbers == pytest.approx(expected, rel=1e-15, abs=1e-15, nan_ok=True)


# ---- overflow --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16], ids=str)
def test_a_thousand_and_one_overflows_the_naive_form_alone(dtype):
    trace = run([1001, 1002, 1003] if dtype != torch.bfloat16 else [1000, 1004, 1008], dtype)
    assert row(trace, "exponentials") == [INF] * 3
    assert same(row(trace, "naive_weights"), [NAN] * 3)
    assert trace["stable_exponentials"].max() == 1
    assert trace["stable_weights"].isfinite().all()


def test_the_stable_form_of_a_thousand_and_one():
    trace = run([1001, 1002, 1003])
    assert same(row(trace, "stable_exponentials"), [math.exp(-2), math.exp(-1), 1.0])
    assert same(row(trace, "stable_weights"), OF_THREE)
    assert same(row(trace, "weights"), OF_THREE)


@pytest.mark.parametrize(
    ("dtype", "logit"), [(torch.float16, 12), (torch.bfloat16, 89), (torch.float32, 89), (torch.float64, 710)], ids=str
)
def test_where_a_precision_ends(dtype, logit):
    """e^11 = 59,874 is the last whole power below float16's 65,504; of the others e^88 and e^709."""
    assert row(run([logit], dtype), "exponentials") == [INF]
    assert row(run([logit - 1], dtype), "exponentials") < [INF]
    assert math.isnan(*row(run([logit], dtype), "naive_weights"))
    assert row(run([logit - 1], dtype), "naive_weights") == [1.0]


def test_float16_loses_its_sum_and_with_it_every_share():
    """The finite ones over infinity are 0."""
    trace = run([12, 11, 10], torch.float16)
    assert row(trace, "exponentials") == [INF, 59872.0, 22032.0]  # the nearest that float16 has to e^11 and e^10
    assert same(row(trace, "naive_weights"), [NAN, 0.0, 0.0])
    assert row(trace, "stable_weights") == pytest.approx(OF_THREE[::-1], rel=1e-3)


def test_a_sum_may_overflow_where_no_term_does():
    trace = run([709.5, 709.5, 0])
    assert all(math.isfinite(number) for number in row(trace, "exponentials"))
    assert row(trace, "naive_weights") == [0.0] * 3
    assert same(row(trace, "weights"), [0.5, 0.5, 0.0])


def test_scores_far_below_zero_are_0_over_0():
    trace = run([-1001, -1002, -1003])
    assert row(trace, "exponentials") == [0.0] * 3
    assert same(row(trace, "naive_weights"), [NAN] * 3)
    assert same(row(trace, "stable_weights"), OF_THREE[::-1])


@pytest.mark.parametrize("allowed", [None, [True, False, True, True, False]], ids=["no mask", "masked"])
def test_both_forms_agree_where_nothing_overflows(allowed):
    trace = run([2.5, 1.0, -3.0, 0.25, 30.0], allowed=allowed)
    assert same(row(trace, "naive_weights"), row(trace, "weights"))
    assert same(row(trace, "stable_weights"), row(trace, "weights"))


def test_a_blocked_row_is_no_number_in_either_form_and_0_in_the_run():
    trace = run([1.0, 2.0], allowed=[False, False])
    assert same(row(trace, "naive_weights"), [NAN] * 2)
    assert same(row(trace, "stable_weights"), [NAN] * 2)
    assert row(trace, "weights") == [0.0] * 2


# ---- faces -----------------------------------------------------------------------------------------------------------
LOGITS = {
    "plain": [2.0, 1.0, 0.0, -1.0],
    "too large": [1001.0, 1002.0, 1003.0],
    "one too large": [1.0, 1001.0, 2.0],
    "too small": [-1001.0, -1002.0],
    "large sum": [709.5, 709.5, 709.0],
    "long": [709.0] * 20,
}
every_row = pytest.mark.parametrize("logits", LOGITS.values(), ids=LOGITS)


@every_row
def test_cells_and_twins_agree_with_what_ran(logits):
    """NaN and infinities included."""
    trace = run(logits)
    arrays = {name: step.value.numpy() for name, step in trace.steps.items()}
    for operation in (*NAIVE_SOFTMAX, *STABLE_SOFTMAX):
        with np.errstate(all="ignore"):
            assert same(operation.apply_numpy(arrays)[0, 0, 0].tolist(), row(trace, operation.output))
        cells = [operation.cell((0, 0, 0, s), trace.shapes()) for s in range(len(logits))]
        assert same(
            [evaluate(cell, lambda ref: arrays[ref.step][ref.index]) for cell in cells], row(trace, operation.output)
        )


@every_row
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)
def test_the_proof_takes_what_overflows_as_it_is_and_names_it(logits, dtype):
    trace = run(logits, dtype)
    proof = prove(trace)
    assert proof.passed, proof.failed
    names = ("exponentials", "naive_weights")
    first = [(name, tuple(index)) for name in names for index in (~trace[name].isfinite()).nonzero().tolist()][:1]
    assert proof.overflow == (first[0] if first else None)
    assert all(map(math.isfinite, proof.rounding.values()))


def test_what_is_named_first():
    assert prove(run([1.0, 12.0], torch.float16)).overflow == ("exponentials", (0, 0, 0, 1))
    assert prove(run([1.0, 12.0], torch.float32)).overflow is None
    assert prove(run([-1001.0])).overflow == ("naive_weights", (0, 0, 0, 0))


def test_the_arithmetic_of_a_cell():
    trace = run([1001, 1002, 1003])
    texts = {
        "exponentials": "exp(1001.00) = ∞",
        "naive_weights": "∞ / (∞ + ∞ + ∞) = NaN",
        "stable_exponentials": "exp(1001.00 − 1003.00) = 0.14",
        "stable_weights": "0.14 / (0.14 + 0.37 + 1.00) = 0.09",
    }
    assert {step: explain(trace, step, (0, 0, 0, 0)).text for step in texts} == texts


def test_the_maximum_is_followed_to_where_it_stands():
    explained = explain(run([3, 5, 4]), "stable_exponentials", (0, 0, 0, 2))
    assert [piece.ref.index[-1] for piece in explained.pieces if piece.ref] == [2, 1]


def test_shares_are_drawn_as_shares_and_what_is_none_is_written():
    trace = run([1001, 1002, 1003])
    words = PictureTexts(lambda ref: ref.step, lambda axis, position: str(position))
    names = ("exponentials", "naive_weights", "stable_weights", "weights")
    drawn = {step: place_matrix(panel(trace, step), trace, words, LIGHT_PALETTE, (0, 0), 60) for step in names}
    assert [cell["text"] for cell in drawn["exponentials"]] == ["∞"] * 3
    assert [cell["text"] for cell in drawn["naive_weights"]] == ["NaN"] * 3
    assert [cell["fill"] for cell in drawn["stable_weights"]] == [cell["fill"] for cell in drawn["weights"]]


@pytest.mark.parametrize("language", ["torch", "numpy"])
def test_a_script_of_it_gives_the_same(language, capsys):
    names = {}
    with np.errstate(all="ignore"):
        exec(compile(code(run([1001, 1002, 1003]), language), "script", "exec"), names)
    assert "\nnaive_weights (1, 1, 1, 3)\n[[[[nan, nan, nan]]]]\n" in capsys.readouterr().out
    assert same(names["stable_weights"].reshape(-1).tolist(), OF_THREE)


# ---- what a softmax does whatever its form ---------------------------------------------------------------------------
@pytest.mark.parametrize("shift", [1.0, -7.0, 1000.0, -1e6])
def test_a_shift_of_all_scores_changes_no_weight(shift):
    """Whole numbers are shifted exactly, and then no bit changes; others to the rounding of their sum."""
    whole, others = [2.0, 1.0, 0.0, -1.0, 5.0], [0.3, -1.7, 2.2, 0.9, 0.1]
    assert row(run([each + shift for each in whole]), "weights") == row(run(whole), "weights")
    rounding = 2 * abs(shift) * torch.finfo(torch.float64).eps
    moved = row(run([each + shift for each in others]), "weights")
    assert moved == pytest.approx(row(run(others), "weights"), rel=0, abs=rounding + 1e-15)


def test_a_shift_changes_every_exponential_and_no_stable_one():
    here, there = run([2.0, 1.0, 0.0]), run([5.0, 4.0, 3.0])
    assert row(here, "stable_exponentials") == row(there, "stable_exponentials")
    assert row(there, "exponentials") == pytest.approx([each * math.exp(3) for each in row(here, "exponentials")])


def test_close_scores_are_not_sharpened():
    """1 / (1 + e^0.1) = .475: ten times the gap, and it is .269."""
    assert row(run([0.0, 0.1]), "weights") == pytest.approx([0.47502081252106, 0.52497918747894], abs=1e-14)
    assert row(run([0.0, 1.0]), "weights") == pytest.approx([0.26894142137, 0.73105857863], abs=1e-11)


@pytest.mark.parametrize("temperature", STORIES["softmax [2,1,0,-1] at T"])
def test_temperature(temperature):
    trace = run([2.0, 1.0, 0.0, -1.0], temperature=float(temperature))
    stated = STORIES["softmax [2,1,0,-1] at T"][temperature]
    assert row(trace, "weights") == pytest.approx(stated, abs=0.0005)
    assert same(row(trace, "naive_weights"), row(trace, "weights"))
