"""A worked example as text: read, checked, gone on from, and what one slip makes wrong, against hand calculations."""

import json
from pathlib import Path

import pytest
import torch

from attention_core import AttentionError, explain
from attention_core.examples.examples import EXAMPLES
from attention_core.exercises.answer_text import (
    answers_text,
    cell_text,
    count_decimals,
    printed_text,
    read_answers,
    right_decimals,
)
from attention_core.exercises.marking import Mark
from attention_core.exercises.printed_example import PRINTED_EXAMPLES
from attention_core.exercises.stages import STAGES, calculated_cell, operand_stages, stages_of
from attention_core.exercises.worked_example import (
    check_work,
    count_agreeing,
    largest_written_error,
    rounding_explains,
    run_as_written,
    wrong_through_slip,
)
from attention_core.record.expressions import Ref

GOLDEN = Path(__file__).parents[1] / "golden"
PRINTED_004 = PRINTED_EXAMPLES["source_004"]
R, F, S, N = Mark.RIGHT, Mark.FOLLOWED, Mark.SLIP, Mark.UNANSWERED


@pytest.fixture(scope="module")
def trace():
    return EXAMPLES["source_004"].run()


@pytest.fixture(scope="module")
def checked(trace):
    return check_work(trace, {stage: printed_text(PRINTED_004, stage, trace[step]) for stage, step in STAGES.items()})


# ---- the printed example ---------------------------------------------------------------------------------------------
# Worked out by hand in test_marking.py: right, followed, slips of each stage.
BY_HAND = {
    "q_projected": (7, 0, 2),
    "k_projected": (7, 0, 2),
    "v_projected": (7, 0, 2),
    "scores": (0, 4, 5),
    "scaled_scores": (0, 9, 0),
    "weights": (3, 1, 5),
    "head_outputs": (1, 7, 1),
}


def test_every_stage_of_the_printed_example_by_hand(checked):
    assert {step: tuple(each.count(mark) for mark in (R, F, S)) for step, each in checked.marked.items()} == BY_HAND
    assert list(checked.marked) == list(STAGES.values())
    assert checked.misfits == {}


def test_the_cells_of_a_mark(checked):
    assert checked.cells("q_projected", S) == [Ref("q_projected", (0, 0, 1)), Ref("q_projected", (0, 2, 1))]
    assert checked.cells("head_outputs", R) == [Ref("head_outputs", (0, 0, 1, 1))]


def test_the_text_of_the_printed_example_gives_its_decimals_and_its_numbers(trace, checked):
    assert printed_text(PRINTED_004, "weights", trace["weights"]) == "0.20 0.30 0.50; 0.02 0.49 0.49; 0.04 0.24 0.72"
    assert printed_text(PRINTED_004, "output", trace["head_outputs"]) == "1.6 1.8 1.3; 2.0 2.0 1.5; 1.9 1.9 1.1"
    assert printed_text(PRINTED_004, "q", trace["q_projected"]) == "1 0 1; 2 2 2; 2 1 2"
    assert printed_text(PRINTED_004, "q", torch.zeros(2, 3)) == "? ? ?; ? ? ?"
    digits = {stage: checked.digits[step] for stage, step in STAGES.items() if checked.digits[step] is not None}
    assert digits == dict(PRINTED_004.decimals)
    for stage, step in STAGES.items():
        assert torch.equal(checked.marked[step].theirs.reshape(3, 3), PRINTED_004.steps[stage])


def test_a_printed_number_stands_in_the_run_and_its_arithmetic_has_the_printed_operands(checked):
    """101 of the printed Q times 402 of the printed K: 6, where 2 was printed and 6 is right."""
    assert checked.written["scores"][0, 0, 0, 1] == 2.0
    explanation = explain(checked.computed_at("scores"), "scores", (0, 0, 0, 1))
    assert explanation.text == "1.00 × 4.00 + 0.00 × 0.00 + 1.00 × 2.00 = 6.00"
    weight = explain(checked.computed_at("weights"), "weights", (0, 0, 0, 0))  # from .58, 1.15, 1.73: .17, not .20
    assert weight.text.startswith("exp(0.58) / (exp(0.58) + exp(1.15) + exp(1.73)) = 1.79 / 10.58")
    assert weight.text.endswith("= 0.17")
    assert explain(checked.computed_at("q_projected"), "q_projected", (0, 0, 1)).value == 1.0  # printed 0
    (piece, *_) = [piece for piece in explanation.pieces if piece.ref]
    assert calculated_cell(checked.trace, piece.ref) == Ref("q_projected", (0, 0, 0))


def test_what_follows_from_their_own_q_k_and_v_is_the_golden_file(trace):
    expected = json.loads((GOLDEN / "s02_seed004_from_its_printed_qkv.json").read_text(encoding="utf-8"))["expected"]
    written = run_as_written(trace, {STAGES[name]: PRINTED_004.steps[name] for name in "qkv"})
    for stage in ("scores", "scaled_scores", "weights", "output"):
        value = written[STAGES[stage]].reshape(3, 3)
        torch.testing.assert_close(value, torch.tensor(expected[stage], dtype=torch.float64), rtol=0, atol=1e-10)


def test_agreeing_counts_the_numbers_that_are_those_of_another_run(trace, checked):
    from_theirs = run_as_written(trace, {STAGES[name]: PRINTED_004.steps[name] for name in "qkv"})
    assert count_agreeing(checked, "scores", from_theirs["scores"]) == 4  # 1 3/4/3 of 1 6 3/4 12 10/3 12 8
    assert count_agreeing(checked, "scores", trace["scores"]) == 0
    assert count_agreeing(checked, "weights", trace["weights"]) == 3
    assert count_agreeing(check_work(trace, {}), "scores", trace["scores"]) == 0


def test_the_largest_error(trace, checked):
    assert largest_written_error(checked, "q_projected") == 1.0
    assert largest_written_error(checked, "scores") == 6.0  # 6 for 12
    assert largest_written_error(check_work(trace, {}), "scores") == 0.0


def test_whether_rounding_explains_a_step(trace, checked):
    """Z is 2.77 1.92 1.92/2.95 1.98 1.98/2.95 1.98 1.98. Weights of two decimals move it by .03 at most, its own
    decimal by .05; weights of no decimals by 3."""
    right = check_work(trace, {"output": "2.8 1.9 1.9; 3.0 2.0 2.0; 2.9 2.0 ?"})
    assert rounding_explains(right, "head_outputs", "weights", 2)
    wrong = check_work(trace, {"output": "2.8 1.9 1.9; 3.0 2.0 2.0; 2.9 2.1 ?"})
    assert not rounding_explains(wrong, "head_outputs", "weights", 2)
    assert not rounding_explains(checked, "head_outputs", "weights", 2)
    assert rounding_explains(checked, "head_outputs", "weights", 0)


# ---- what one slip makes wrong ---------------------------------------------------------------------------------------
def test_a_slip_alone_makes_wrong_what_reads_it_and_nothing_else(checked):
    """Q of x1 is 101 for 111. Right K: 021, 402, 222. Its scores 3 6 6 become 1 6 4, so the whole row of weights moves
    (.08 .46 .46 to .04 .73 .23). Right V: 011, 422, 222: Z 2.77 1.92 1.92 becomes 3.38 1.96 1.96, and with one decimal
    only the first is another number."""
    wrong = wrong_through_slip(checked, Ref("q_projected", (0, 0, 1)))
    assert list(wrong) == ["k_projected", "v_projected", "scores", "scaled_scores", "weights", "head_outputs"]
    assert wrong["k_projected"].sum() == wrong["v_projected"].sum() == 0
    assert wrong["scores"].reshape(3, 3).int().tolist() == [[1, 0, 1], [0, 0, 0], [0, 0, 0]]
    assert wrong["scaled_scores"].reshape(3, 3).int().tolist() == [[1, 0, 1], [0, 0, 0], [0, 0, 0]]
    assert wrong["weights"].reshape(3, 3).int().tolist() == [[1, 1, 1], [0, 0, 0], [0, 0, 0]]
    assert wrong["head_outputs"].reshape(3, 3).int().tolist() == [[1, 0, 0], [0, 0, 0], [0, 0, 0]]


def test_a_slip_in_v_moves_z_alone(checked):
    """V of x2 is 222 for 422: every first number of Z, by 2 × its weight .46 or .49."""
    wrong = wrong_through_slip(checked, Ref("v_projected", (0, 1, 0)))
    assert {step: int(cells.sum()) for step, cells in wrong.items() if cells.any()} == {"head_outputs": 3}
    assert wrong["head_outputs"][0, 0, :, 0].all()


def test_the_last_slip_makes_nothing_wrong(checked):
    assert wrong_through_slip(checked, Ref("head_outputs", (0, 0, 2, 2))) == {}


# ---- numbers as text -------------------------------------------------------------------------------------------------
def test_question_marks_are_no_answers(trace):
    found = read_answers("3 ? 6\n? ? ?\n6 12 ?", trace["scores"], "scores")
    assert found.isnan().tolist() == [[False, True, False], [True] * 3, [False, False, True]]
    assert found[2, 1] == 12.0
    marked = check_work(trace, {"scores": "3 ? 6; ? ? ?; 6 12 7"}).marked["scores"]
    assert marked.marks.reshape(3, 3).tolist() == [[R, N, R], [N, N, N], [R, R, S]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 2; 3 4", r"scores must have the axes 3 x 3: its shape is \(2, 2\)"),
        ("1 2 3; 4 5 six; 7 8 9", "scores, row 2, column 3, must be a number: got “six”"),
        ("1 2; 3", "all rows of scores must be equally long"),
        ("", "scores must hold at least one number"),
    ],
)
def test_what_is_refused(trace, text, message):
    with pytest.raises(AttentionError, match=message):
        read_answers(text, trace["scores"], "scores")


def test_a_text_that_cannot_be_read_is_left_out_and_told(trace):
    checked = check_work(trace, {"scores": "1 2; 3 4", "q": "1 1 1; 2 2 2; 2 2 2"})
    assert [str(error) for error in checked.misfits.values()] == [
        "scores must have the axes 3 x 3: its shape is (2, 2)"
    ]
    assert (checked.marked["scores"].marks == N).all() and (checked.marked["q_projected"].marks == R).all()
    assert torch.equal(checked.written["scores"], trace["scores"])


@pytest.mark.parametrize(
    ("text", "right", "digits"),
    [
        ("0.2 0.30 .5", 0.25, 2),  # as many as the longest
        ("1 2 3", 2.0, None),  # whole numbers for whole ones
        ("1.0 2 3", 2.0, 1),
        ("1 0 0", 0.25, 2),  # whole numbers for parts stand for 1.00, 0.00
        ("1/4 1/2 1/8", 0.25, 3),  # .125
        ("0,25\t0,5\t1", 0.25, 2),  # decimal commas
        ("? ? ?", 0.25, 2),
        ("? ? ?", 2.0, None),
    ],
)
def test_decimals_are_those_of_the_text(text, right, digits):
    right = torch.full((1, 3), right)
    assert count_decimals(text, read_answers(text, right, "q"), right) == digits


def test_two_decimals_are_enough_and_half_a_unit_is_forgiven(trace):
    """.0813 and .4594: .08 and .46 are right, .09 and .45 are not, .459 is right to three and .460 is not."""
    right = "0.08 0.46 0.46; ? ? ?; ? ? ?"
    assert check_work(trace, {"weights": right}).marked["weights"].marks[0, 0, 0].tolist() == [R, R, R]
    wrong = "0.09 0.45 0.46; ? ? ?; ? ? ?"
    assert check_work(trace, {"weights": wrong}).marked["weights"].marks[0, 0, 0].tolist() == [S, S, R]
    three = "0.081 0.459 0.460; ? ? ?; ? ? ?"
    assert check_work(trace, {"weights": three}).marked["weights"].marks[0, 0, 0].tolist() == [R, R, S]


def test_numbers_in_cells(trace):
    assert cell_text(2.0, 1) == "2.0" and cell_text(-3.0, None) == "−3"
    assert right_decimals(None) is None and right_decimals(1) == 2 and right_decimals(4) == 4
    assert answers_text(torch.tensor([[0.5], [torch.nan]]), None, "\n") == "0.5\n?"
    assert calculated_cell(trace, Ref("x", (0, 1, 2))) == Ref("x", (0, 1, 2))


# ---- stages ----------------------------------------------------------------------------------------------------------
def test_every_stage_says_what_it_is_made_of(trace):
    assert {step: operand_stages(trace, step) for step in STAGES.values()} == {
        "q_projected": ["x", "w_q"],
        "k_projected": ["x", "w_k"],
        "v_projected": ["x", "w_v"],
        "scores": ["q_projected", "k_projected"],
        "scaled_scores": ["scores"],
        "weights": ["scaled_scores"],
        "head_outputs": ["weights", "v_projected"],
    }


def test_the_stages_of_a_run_are_what_there_is_to_calculate(trace):
    assert [*stages_of(trace)] == [*STAGES.values()]
    two = EXAMPLES["en_it_causal"].run()  # two heads, a mask, an output projection
    assert [*stages_of(two)] == [*STAGES.values(), "output"]
    assert operand_stages(two, "scores") == ["q", "k"] and operand_stages(two, "weights") == ["masked_scores"]
    assert operand_stages(two, "output") == ["concat", "w_o"]
    assert calculated_cell(two, Ref("q", (0, 1, 2, 1))) == Ref("q_projected", (0, 2, 3))  # head 2 owns columns 3 and 4


def test_heads_are_written_below_each_other():
    two = EXAMPLES["en_it_causal"].run()
    text = answers_text(two["scores"].flatten(0, -2), None)
    assert text.count(";") == 2 * 7 - 1
    checked = check_work(two, {"scores": text}, stages_of(two))
    assert checked.marked["scores"].count(R) == 2 * 7 * 7 and not checked.misfits
    assert check_work(two, {"scores": "1 2; 3 4"}, stages_of(two)).misfits["scores"].values["axes"] == "14 x 7"
