"""Which mistake somebody made: made by hand in NumPy here, in small exercises, it is named; right answers never are."""

import numpy as np
import pytest
import torch

from attention_core import AttentionConfig, Weights, attend, attend_qkv
from attention_core.exercises.answer_text import answers_text
from attention_core.exercises.generator import COMMON_MISTAKES, LEVELS, make_exercise
from attention_core.exercises.slips import find_slips
from attention_core.exercises.stages import stages_of
from attention_core.exercises.worked_example import check_work
from attention_core.record.expressions import Ref
from tests.often import often

SOME = 3  # exercises a mistake in every run


# ---- a second way to calculate, with one thing done otherwise --------------------------------------------------------
def softmax(scores, axis=-1):
    scores = np.where(np.isneginf(scores).all(axis, keepdims=True), 0.0, scores)
    powers = np.exp(scores - scores.max(axis, keepdims=True))
    return powers / powers.sum(axis, keepdims=True)


def half_up(numbers, digits=2):
    return np.sign(numbers) * np.floor(np.abs(numbers) * 10**digits + 0.5) / 10**digits


def cut(x, heads, how):
    """(T, H * d) as (H, T, d)."""
    T, width = x.shape
    if how == "split_not_transposed":
        return x.reshape(heads, T, width // heads)
    if how == "split_interleaved":
        return np.stack([x[:, head::heads] for head in range(heads)])
    return np.stack(np.split(x, heads, axis=1))


def by_hand(matrices, heads=1, causal=False, how="", keep=lambda x: x):
    """Every step as NumPy makes it, head below head; how: the one thing that is done otherwise; keep: what is written
    of a step, and gone on from."""
    steps = {}
    if "q" in matrices:
        q, k, v = (matrices[name][None] for name in "qkv")
    else:
        for name in "qkv":
            steps[f"{name}_projected"] = keep(matrices["x"] @ matrices[f"w_{name}"])
        q, k, v = (cut(steps[f"{name}_projected"], heads, how) for name in "qkv")
    d_k, model = q.shape[-1], q.shape[-1] * heads
    turned = k.reshape(heads, d_k, -1) if how == "k_not_transposed" else k.swapaxes(-1, -2)
    scores = keep(k @ q.swapaxes(-1, -2) if how == "scores_transposed" else q @ turned)
    by = {"no_scale": 1.0, "scale_squared": d_k, "scale_model_width": model**0.5, "scale_input_width": 6**0.5}
    scaled = keep(scores / by.get(how, d_k**0.5))
    allowed = np.tril(np.ones(scores.shape[-2:], bool)) if causal else np.ones(scores.shape[-2:], bool)
    seen = ~allowed if how == "mask_inverted" else allowed
    masked = np.where(seen, scaled, -np.inf)
    if how == "mask_after_softmax":
        weights = softmax(scaled) * allowed
    else:
        weights = softmax(masked, -2 if how == "softmax_queries" else -1)
        weights = np.where(np.isneginf(masked), 0.0, weights)
        weights = np.where(np.isneginf(masked).all(-1, keepdims=True), 0.0, weights)
    if how == "softmax_undivided":
        weights = np.exp(masked)
    weights = keep(weights.swapaxes(-1, -2) if how == "weights_transposed" else weights)
    outputs = keep(weights @ v)
    steps |= {"scores": scores, "scaled_scores": scaled, "weights": weights, "head_outputs": outputs}
    if "w_o" in matrices:
        steps["output"] = np.concatenate(list(outputs), axis=-1) @ matrices["w_o"]
    return steps


def as_text(numbers):
    """As a person writes them: whole numbers so, others with two decimals."""
    rows = torch.from_numpy(numbers.reshape(-1, numbers.shape[-1]))
    whole = bool((rows == rows.round()).all())
    return answers_text(rows if whole else torch.from_numpy(half_up(rows.numpy())), None if whole else 2)


def solved(level, seed, how="", rounding=False):
    """An exercise, checked; rounding: whoever solved it went on from what was written."""
    made = make_exercise(level, seed)
    matrices = {name: matrix.packed.array() for name, matrix in made.matrices.items()}
    steps = by_hand(matrices, made.heads, bool(made.masks), how, half_up if rounding else lambda x: x)
    trace = made.run()
    return check_work(trace, {step: as_text(numbers) for step, numbers in steps.items()}, stages_of(trace))


APPLY = {
    "from_qkv": (
        "no_scale",
        "scale_squared",
        "softmax_queries",
        "k_not_transposed",
        "scores_transposed",
        "weights_transposed",
    ),
    "one_head": tuple(code for code in COMMON_MISTAKES if code != "scale_model_width" and not code.startswith("split")),
    "two_heads": tuple(code for code in COMMON_MISTAKES if code != "scale_input_width"),
}
MADE = [(level, code) for level, codes in APPLY.items() for code in codes]


@pytest.mark.parametrize("level, how", MADE)
@pytest.mark.parametrize("rounding", [False, True], ids=["all digits", "as written"])
def test_a_mistake_that_is_the_only_one_is_named_and_nothing_else(level, how, rounding):
    for seed in range(often(SOME, 1000).max_examples):
        found = find_slips(solved(level, seed, how, rounding))
        assert found, (seed, "no slip seen")
        assert all([cause.code for cause in each.causes] == [how] for each in found.values()), (seed, found)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("rounding", [False, True], ids=["all digits", "as written"])
def test_a_right_answer_is_never_called_wrong(level, rounding):
    for seed in range(often(SOME, 1000).max_examples):
        checked = solved(level, seed, rounding=rounding)
        assert find_slips(checked) == {}
        assert all(marked.right.all() for marked in checked.marked.values()), seed


@pytest.mark.parametrize("axis, code", [(-2, "rows_swapped"), (-1, "columns_swapped")])
@pytest.mark.parametrize("level", LEVELS)
def test_two_rows_or_columns_in_each_others_place_are_named(level, axis, code):
    trace = make_exercise(level, 3).run()
    for step in stages_of(trace):
        numbers = trace[step].numpy()
        one, other = next(
            (one, other)
            for one in range(numbers.shape[axis])
            for other in range(one)
            if np.abs(numbers.take(one, axis) - numbers.take(other, axis)).max() > 0.02
        )
        order = [*range(numbers.shape[axis])]
        order[one], order[other] = order[other], order[one]
        found = find_slips(check_work(trace, {step: as_text(numbers.take(order, axis))}, stages_of(trace)))
        (cause,) = found[step].causes
        assert (cause.code, cause.values) == (code, {"one": other + 1, "other": one + 1})


# ---- one wrong sum ---------------------------------------------------------------------------------------------------
TWO = attend_qkv(
    torch.tensor([[2.0, 3.0, 5.0], [1.0, -1.0, 2.0]]).double(),
    torch.tensor([[1.0, 4.0, -2.0], [3.0, 1.0, 1.0]]).double(),
    torch.tensor([[1.0, 2.0], [3.0, -4.0]]).double(),
)  # scores: 2 + 12 - 10 = 4, 6 + 3 + 5 = 14; 1 - 4 - 4 = -7, 3 - 1 + 2 = 4


def of_scores(text):
    return find_slips(check_work(TWO, {"scores": text}, stages_of(TWO)))["scores"]


@pytest.mark.parametrize(
    "text, place, kind, factors",
    [
        ("-8 14; -7 4", (0, 0), "left_out", (3.0, 4.0)),  # 2 - 10
        ("4 14; -9 4", (1, 0), "sign", (1.0, 1.0)),  # -1 - 4 - 4
        ("4 20; -7 4", (0, 1), "twice", (2.0, 3.0)),  # 6 + 6 + 3 + 5
        ("4 14; 7 4", (1, 0), "minus", ()),
        ("4 14; -7 9", (1, 1), "other", ()),
        ("4 14; -7 6", (1, 1), "other", ()),  # 3 + 1 + 2, or 3 - 1 + 2 + 2
    ],
)
def test_one_wrong_sum_says_what_became_of_which_term(text, place, kind, factors):
    found = of_scores(text)
    assert found.causes == () and found.cells == (Ref("scores", (0, 0, *place)),)
    assert (found.wrong_sum.kind, found.wrong_sum.factors) == (kind, factors)
    assert found.wrong_sum.own == TWO["scores"][0, 0, *place]


def test_two_unrelated_slips_are_counted_and_nothing_is_claimed():
    found = of_scores("4 13; -7 5")
    assert found.causes == () and found.wrong_sum is None and len(found.cells) == 2


# ---- where nobody can tell -------------------------------------------------------------------------------------------
def test_where_two_mistakes_give_the_same_numbers_both_are_named():
    """Three tokens, d_model 4, two heads: √d_model is 2 and d_k is 2."""
    generator = torch.Generator().manual_seed(7)
    drawn = [torch.randint(-2, 3, shape, generator=generator).double() for shape in [(3, 4), *[(4, 4)] * 3]]
    trace = attend(drawn[0], weights=Weights(*drawn[1:]), config=AttentionConfig(heads=2))
    wrong = trace["scores"][0].numpy() / 2
    found = find_slips(check_work(trace, {"scaled_scores": as_text(wrong)}, stages_of(trace)))["scaled_scores"]
    assert {cause.code for cause in found.causes} == {"scale_squared", "scale_model_width"}


def test_a_mistake_in_one_head_alone_is_named():
    trace = make_exercise("two_heads", 1).run()
    scaled = trace["scaled_scores"][0].numpy().copy()
    scaled[1] = trace["scores"][0, 1].numpy() / 3
    found = find_slips(check_work(trace, {"scaled_scores": as_text(scaled)}, stages_of(trace)))
    assert [cause.code for cause in found["scaled_scores"].causes] == ["scale_squared"]
    assert {cell.index[1] for cell in found["scaled_scores"].cells} == {1}


def test_another_factor_is_named_with_its_number():
    text = as_text(TWO["scores"][0].numpy() / 4)
    (cause,) = find_slips(check_work(TWO, {"scaled_scores": text}, stages_of(TWO)))["scaled_scores"].causes
    assert (cause.code, cause.values["factor"]) == ("scale_other", "0.25")


def test_a_mistake_is_sought_from_the_writers_own_numbers():
    """Scores with a slip, then scaled by 1 over d_k: 20 / 3 is the mistake, 14 / 3 would be none of theirs."""
    found = find_slips(
        check_work(TWO, {"scores": "4 20; -7 4", "scaled_scores": "1.33 6.67; -2.33 1.33"}, stages_of(TWO))
    )
    assert found["scores"].wrong_sum.kind == "twice"
    assert [cause.code for cause in found["scaled_scores"].causes] == ["scale_squared"]


def test_a_step_left_out_does_not_hide_what_was_done_in_it():
    trace = make_exercise("one_head", 2).run()
    weights = softmax(np.where(np.tril(np.ones((4, 4), bool)), trace["scores"][0].numpy(), -np.inf))
    found = find_slips(check_work(trace, {"weights": as_text(weights)}, stages_of(trace)))
    assert [cause.code for cause in found["weights"].causes] == ["no_scale"]


@pytest.mark.parametrize(
    "step, other, code",
    [(role, other, f"{role}_from_w_{other}") for role in "qkv" for other in "qkv" if role != other],
)
def test_a_projection_with_another_ones_matrix_is_named(step, other, code):
    trace = make_exercise("two_heads", 4).run()
    text = as_text((trace["x"] @ trace[f"w_{other}"]).numpy())
    (cause,) = find_slips(check_work(trace, {f"{step}_projected": text}, stages_of(trace)))[f"{step}_projected"].causes
    assert cause.code == code


def test_a_square_of_numbers_with_rows_and_columns_exchanged_is_named():
    trace = make_exercise("from_qkv", 2).run()
    texts = {
        "scores": as_text(trace["scores"][0].numpy()),
        "scaled_scores": as_text(trace["scaled_scores"][0].mT.numpy()),
    }
    found = find_slips(check_work(trace, texts, stages_of(trace)))
    assert [cause.code for cause in found["scaled_scores"].causes] == ["transposed"]
