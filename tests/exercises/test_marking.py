"""Worked examples marked cell by cell: the printed one worked out by hand, right ones of any rounding, single slips."""

import json
import math
from pathlib import Path

import pytest
import torch

from attention_core import AttentionConfig, AttentionError, Weights, attend, attend_qkv
from attention_core.examples.examples import EXAMPLES
from attention_core.exercises.marking import Mark, mark_answers
from attention_core.exercises.printed_example import PRINTED_EXAMPLES

R, F, S, N = Mark.RIGHT, Mark.FOLLOWED, Mark.SLIP, Mark.UNANSWERED
GOLDEN = Path(__file__).parents[1] / "golden"
PRINTED_004 = PRINTED_EXAMPLES["source_004"]


def golden(name):
    return json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))


def marks_of(marked):
    return {name: step.marks.reshape(3, 3).tolist() for name, step in marked.items()}


# ---- the printed example ---------------------------------------------------------------------------------------------
# x1 = 1 0 1 0, x2 = 0 2 0 2, x3 = 1 1 1 1. Right: Q 111/222/222, K 021/402/222, V 011/422/222,
# Q Kᵀ 3 6 6/6 12 12/6 12 12, over √3: 1.73 3.46 3.46/3.46 6.93 6.93/3.46 6.93 6.93,
# weights .08 .46 .46/.02 .49 .49/.02 .49 .49, Z 2.8 1.9 1.9/3.0 2.0 2.0/3.0 2.0 2.0.
BY_HAND = {
    # Printed 101/222/212: two cells differ, and X and W_q are not printed wrong.
    "q": [[R, S, R], [R, R, R], [R, S, R]],
    # Printed 011/402/221.
    "k": [[R, S, R], [R, R, R], [R, R, S]],
    # Printed 011/222/221.
    "v": [[R, R, R], [S, R, R], [R, R, S]],
    # From the printed Q and K: 101 · 011 = 1, 101 · 402 = 6, 101 · 221 = 3; 222 gives 4, 12, 10; 212 gives 3, 12, 8.
    # Printed 1 2 3/4 8 8/3 6 7: 1, 3, 4 and 3 follow, the other five do not, and none is right.
    "scores": [[F, S, F], [F, S, S], [F, S, S]],
    # Printed .58 1.15 1.73/2.31 4.62 4.62/1.73 3.46 4.04: the printed scores over 1.732, to the digit.
    "scaled_scores": [[F, F, F], [F, F, F], [F, F, F]],
    # exp of .58 1.15 1.73 is 1.79 3.16 5.64, together 10.59: .17 .30 .53 from their own. Printed .20 .30 .50.
    # exp of 2.31 4.62 4.62: .05 .48 .48 from their own. Printed .02 .49 .49, which is right, from wherever it came.
    # exp of 1.73 3.46 4.04 is 5.64 31.82 56.83, together 94.29: .06 .34 .60. Printed .04 .24 .72.
    "weights": [[S, F, S], [R, R, R], [S, S, S]],
    # .2 .3 .5 of 011, 222, 221: 1.6 1.8 1.3, as printed. .02 .49 .49: 1.96 1.98 1.49, printed 2.0 2.0 1.5, the middle
    # one right. .04 .24 .72: 1.92 1.96 1.24, printed 1.9 1.9 1.1. 1.9 is too little for 1.96, and yet possible: .035 +
    # .47 + 1.43 = 1.935, if all three weights, which follow from nothing, were rounded up. 1.1 is not: .035 + .47 +
    # .715 = 1.22 at least.
    "output": [[F, F, F], [F, R, F], [F, F, S]],
}


def test_the_printed_example_by_hand():
    marked = mark_answers(EXAMPLES["source_004"].run(), PRINTED_004.steps, PRINTED_004.decimals)
    assert marks_of(marked) == BY_HAND


def test_what_is_printed_is_what_the_golden_files_quote():
    for name in ("s01_seed004_corrected", "s02_seed004_from_its_printed_qkv"):
        stated = golden(name)["seed_states"]
        assert {step: value.tolist() for step, value in PRINTED_004.steps.items()} == stated


def test_what_follows_from_their_own_q_k_and_v_is_the_golden_file_that_goes_on_from_them():
    expected = golden("s02_seed004_from_its_printed_qkv")["expected"]
    answers = {name: PRINTED_004.steps[name] for name in "qkv"}
    trace = EXAMPLES["source_004"].run()
    nothing = torch.full((3, 3), torch.nan, dtype=torch.float64)
    later = ("scores", "scaled_scores", "weights", "output")
    marked = mark_answers(trace, answers | dict.fromkeys(later, nothing))
    for step in later:
        torch.testing.assert_close(
            marked[step].own[0].reshape(3, 3), torch.tensor(expected[step], dtype=torch.float64), rtol=0, atol=1e-10
        )
        assert marks_of(marked)[step] == [[N] * 3] * 3


def test_their_own_error_in_q_k_transposed_stands_alone_beside_the_run_from_their_q_k_and_v():
    """What followed before is right now, and the same five scores are slips."""
    trace = attend_qkv(*(PRINTED_004.steps[name] for name in "qkv"))
    marked = mark_answers(trace, PRINTED_004.steps, PRINTED_004.decimals)
    right = [[R] * 3] * 3
    assert marks_of(marked)["q"] == marks_of(marked)["k"] == marks_of(marked)["v"] == right
    assert marks_of(marked)["scores"] == [[R, S, R], [R, S, S], [R, S, S]]
    assert marked["scores"].count(S) == 5


def test_the_marks_are_counted():
    marked = mark_answers(EXAMPLES["source_004"].run(), PRINTED_004.steps, PRINTED_004.decimals)
    counts = {each: sum(step.count(each) for step in marked.values()) for each in Mark}
    assert counts == {N: 0, R: 7 + 7 + 7 + 0 + 0 + 3 + 1, F: 4 + 9 + 1 + 7, S: 2 + 2 + 2 + 5 + 5 + 1}


# ---- right examples --------------------------------------------------------------------------------------------------
def random_run(seed, heads=2, **choices):
    """Whole inputs, as exercises have them."""
    generator = torch.Generator().manual_seed(seed)

    def whole(*shape):
        return torch.randint(-1, 3, shape, generator=generator).double()

    weights = Weights(w_q=whole(4, 6), w_k=whole(4, 6), w_v=whole(4, 10), w_o=whole(10, 3), b_o=whole(3))
    return attend(whole(3, 4), weights=weights, config=AttentionConfig(heads=heads, **choices))


def half_up(value, digits):
    return (value * 10**digits + 0.5).floor() / 10**digits


CHOICES = [{}, {"masks": ["causal"]}, {"masks": [("causal", {"offset": -1})]}, {"score": "cosine", "scale": 3.0}]


@pytest.mark.parametrize("digits", [0, 1, 2, 3])
@pytest.mark.parametrize("choices", CHOICES, ids=str)
@pytest.mark.parametrize("going_on", ["from all digits", "from what is written"])
def test_a_right_example_is_right_however_it_is_rounded(digits, choices, going_on):
    """Every step written with so many decimals, and gone on from either way: no cell is anything but right."""
    for seed in range(3):
        trace = random_run(seed, **choices)
        answers, values = {}, {name: step.value for name, step in trace.inputs().items()}
        for name, step in trace.computed().items():
            values[name] = step.operation.apply(values)
            if values[name].is_floating_point():
                answers[name] = half_up(values[name], digits)
                values[name] = answers[name] if going_on == "from what is written" else values[name]
        marked = mark_answers(trace, answers, digits)
        assert marked.keys() == answers.keys()
        wrong = {name: step.marks.tolist() for name, step in marked.items() if (step.marks != R).any()}
        assert not wrong, (seed, wrong)


def test_exact_numbers_are_right_without_decimals():
    trace = EXAMPLES["en_it"].run()
    answers = {name: step.value for name, step in trace.computed().items()}
    assert all((step.marks == R).all() for step in mark_answers(trace, answers).values())


def test_half_a_unit_and_no_more():
    """1/3 and 2/3 to two decimals: .33 and .67, and not .34."""
    trace = attend_qkv(torch.tensor([[1.0]]), torch.tensor([[math.log(2)], [0.0]]), torch.ones(2, 1))
    for weights, expected in (([0.67, 0.33], [R, R]), ([0.66, 0.34], [S, S]), ([0.665, 0.335], [R, R])):
        marked = mark_answers(trace, {"weights": torch.tensor([weights])}, 2)
        assert marked["weights"].marks.flatten().tolist() == expected


@pytest.mark.parametrize(("output", "expected"), [(98.0, S), (99.0, R), (99.5, R), (100.0, R), (101.0, S)])
def test_what_is_gone_on_from_lies_between_what_is_written_and_what_stood_behind_it(output, expected):
    """Three equal keys, values 300, 0, 0: weights of 1/3, written .33. From there it is 99, from all digits 100."""
    zeros = torch.zeros(3, 1)
    trace = attend_qkv(zeros[:1], zeros, torch.tensor([[300.0], [0.0], [0.0]]))
    answers = {"weights": torch.full((1, 3), 0.33), "output": torch.tensor([[output]])}
    marked = mark_answers(trace, answers, {"weights": 2, "output": 0})
    assert marked["output"].marks.flatten().tolist() == [expected]


# ---- single slips ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "step", ["q", "k", "v", "scores", "scaled_scores", "weights", "head_outputs", "concat", "output"]
)
def test_one_slip_is_one_slip_and_all_that_comes_of_it_followed(step):
    """One number off by 1, everything behind it computed from it, written to three decimals."""
    trace = random_run(1)
    own, answers = {name: each.value for name, each in trace.inputs().items()}, {}
    for name, each in trace.computed().items():
        own[name] = each.operation.apply(own)
        if name == step:
            own[name] = own[name].clone().contiguous()
            own[name].view(-1)[2] += 1.0
        answers[name] = half_up(own[name], 3)
    marked = mark_answers(trace, answers, 3)
    slips = {name: each.count(S) for name, each in marked.items() if each.count(S)}
    assert slips == {step: 1}
    assert marked[step].marks.view(-1)[2] == S
    names = list(marked)
    assert not any(marked[name].count(F) for name in names[: names.index(step) + 1])
    later = [name for name in names[names.index(step) + 1 :] if (answers[name] - trace[name]).abs().max() > 0.01]
    assert all(marked[name].count(F) for name in later)
    assert bool(later) == (step != "output")


def test_a_slip_before_steps_that_nobody_wrote():
    """Scores and output alone are given: what stands between is computed from their scores. it -> Anna is 6 for -6, so
    "it" takes half of its answer from Anna: noun and all that the head delivers of her."""
    trace = EXAMPLES["en_it"].run()
    carried = own_steps(trace) | {"scores": trace["scores"].clone()}
    carried["scores"][0, 0, 5, 0] = 6.0
    for name in ("scaled_scores", "masked_scores", "weights", "head_outputs", "concat", "output"):
        carried[name] = trace.step(name).operation.apply(carried)
    theirs = {"scores": carried["scores"], "output": half_up(carried["output"], 2)}
    marked = mark_answers(trace, theirs, {"output": 2})
    assert (marked["scores"].count(S), marked["scores"].marks[0, 0, 5, 0]) == (1, S)
    moved = (carried["output"] - trace["output"]).abs() > 0.01
    assert moved[0, 5].any() and moved.sum() == moved[0, 5].sum()
    assert torch.equal(marked["output"].marks == F, moved)
    assert torch.equal(marked["output"].marks == R, ~moved)
    place = (0, 5, int(moved[0, 5].int().argmax()))
    theirs["output"][place] += 0.02
    marks = mark_answers(trace, theirs, {"output": 2})["output"].marks
    assert marks[place] == S and (marks == S).sum() == 1


def own_steps(trace):
    return {name: step.value for name, step in trace.steps.items()}


def test_what_is_left_out_is_neither_right_nor_wrong():
    trace = EXAMPLES["source_004"].run()
    scores = torch.full((3, 3), torch.nan).double()
    scores[0, 1], scores[2, 2] = 6.0, 11.0
    marked = mark_answers(trace, {"scores": scores})
    assert marks_of(marked)["scores"] == [[N, R, N], [N, N, N], [N, N, S]]
    assert marked["scores"].own.reshape(3, 3).tolist() == [[3, 6, 6], [6, 12, 12], [6, 12, 12]]


def test_a_mask_drawn_by_hand_is_marked_and_gone_on_from():
    """Causal, with one key too many: the scores that it lets through follow."""
    trace = attend_qkv(torch.zeros(2, 1), torch.zeros(2, 1), torch.ones(2, 1), config=AttentionConfig(masks=["causal"]))
    weights = torch.full((2, 2), 0.5)
    marked = mark_answers(trace, {"allowed": torch.ones(2, 2).bool(), "weights": weights})
    assert marked["allowed"].marks[0, 0].tolist() == [[R, S], [R, R]]
    assert marked["weights"].marks[0, 0].tolist() == [[F, F], [R, R]]


def test_minus_infinity_is_a_number_like_others():
    trace = attend_qkv(torch.zeros(2, 1), torch.zeros(2, 1), torch.ones(2, 1), config=AttentionConfig(masks=["causal"]))
    theirs = torch.tensor([[0.0, -math.inf], [-math.inf, 0.0]])
    marked = mark_answers(trace, {"masked_scores": theirs, "weights": torch.eye(2)}, 2)
    assert marked["masked_scores"].marks[0, 0].tolist() == [[R, R], [S, R]]
    assert marked["weights"].marks[0, 0].tolist() == [[R, R], [F, F]]


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)
def test_a_run_of_any_precision_and_without_gradients(dtype):
    with torch.inference_mode():
        trace = EXAMPLES["source_004"].run(dtype)
        marked = mark_answers(
            trace, {name: value.to(dtype) for name, value in PRINTED_004.steps.items()}, PRINTED_004.decimals
        )
    found = marks_of(marked)
    assert {name: found[name] for name in ("q", "scores", "weights")} == {
        name: BY_HAND[name] for name in ("q", "scores", "weights")
    }


def test_what_is_refused():
    trace = EXAMPLES["source_004"].run()
    with pytest.raises(AttentionError, match="step must be one of x, "):
        mark_answers(trace, {"score": torch.zeros(3, 3)})
    with pytest.raises(AttentionError, match=r"scores must have the axes \(B, H, T, S\) = \(1, 1, 3, 3\).*\(3, 4\)"):
        mark_answers(trace, {"scores": torch.zeros(3, 4)})
    with pytest.raises(AttentionError, match="at least one step"):
        mark_answers(trace, {})
