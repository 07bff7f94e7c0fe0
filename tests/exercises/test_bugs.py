"""Wrong layers that run: each gives what the same layer written in NumPy gives, and the diagnosis names its line."""

import numpy as np
import pytest
import torch

from attention_core import AttentionConfig, AttentionError, Weights, attend
from attention_core.exercises.bugs import (
    BUG_BY_CODE,
    BUGS,
    LAYER_LINES,
    format_line,
    layer_lines,
    right_lines,
    row_ratio,
    run_layer,
)
from attention_core.verification.causes import find_causes
from attention_core.verification.mistakes import MISTAKE_SENTENCES

B, T, D, H, D_OUT = 2, 7, 6, 2, 5  # 3 numbers a head
LENGTHS = (7, 4)


def run(padded):
    generator = torch.Generator().manual_seed(11)
    x, *w = (
        torch.randn(shape, generator=generator, dtype=torch.float64)
        for shape in [(B, T, D), (D, D), (D, D), (D, D), (D, D_OUT)]
    )
    mask = ("padding", {"lengths": LENGTHS}) if padded else "causal"
    return attend(x, weights=Weights(*w), config=AttentionConfig(heads=H, masks=[mask]))


def numpy_layer(trace, code):
    """The wrong layer once more, by hand."""
    x, w_q, w_k, w_v, w_o = (trace[name].numpy() for name in ("x", "w_q", "w_k", "w_v", "w_o"))

    def split(y):
        if code == "split_not_transposed":
            return y.reshape(B, H, T, -1)
        return np.stack(np.split(y, H, axis=-1), axis=1)

    q, k, v = split(x @ w_q), split(x @ w_k), split(x @ (w_k if code == "v_from_w_k" else w_v))
    scores = np.einsum("bhtd,bhsd->bhts", q, k)
    if code == "k_not_transposed":
        scores = np.stack([[q[b, h] @ k[b, h].reshape(-1, T) for h in range(H)] for b in range(B)])
    scaled = scores if code == "no_scale" else scores / 3**0.5
    ahead = {"causal_too_strict": -1, "causal_too_loose": 1}.get(code, 0)
    allowed = np.broadcast_to(np.tri(T, k=ahead, dtype=bool), scores.shape)
    if code == "padding_on_queries":
        allowed = np.zeros(scores.shape, bool)
        for b, length in enumerate(LENGTHS):
            allowed[b, :, :length] = True
    blocked = allowed if code == "mask_inverted" else ~allowed
    masked = np.where(blocked, 0.0 if code == "mask_as_zero" else -np.inf, scaled)
    axis = -2 if code == "softmax_queries" else -1
    powers = np.exp(scaled if code == "mask_after_softmax" else masked)
    with np.errstate(invalid="ignore"):
        weights = powers / powers.sum(axis, keepdims=True) * (allowed if code == "mask_after_softmax" else 1)
    outputs = np.einsum("bhts,bhsd->bhtd", weights, v)
    merged = (
        outputs.reshape(B, T, -1)
        if code == "merge_not_transposed"
        else np.concatenate([outputs[:, h] for h in range(H)], axis=-1)
    )
    return {"weights": weights, "head_outputs": outputs, "concat": merged, "output": merged @ w_o}


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.code)
def test_a_wrong_layer_runs_and_gives_what_it_gives_in_numpy(bug):
    trace = run(bug.padded)
    for name, wanted in numpy_layer(trace, bug.code).items():
        np.testing.assert_allclose(run_layer(trace, bug.code)[name].numpy(), wanted, rtol=0, atol=1e-10, err_msg=name)


def test_the_right_lines_give_every_step_of_the_run():
    trace = run(padded=False)
    found = run_layer(trace)
    assert {*found} < {*trace.steps} and len(found) == 10
    for name, value in found.items():
        torch.testing.assert_close(value, trace[name], rtol=0, atol=1e-12)


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.code)
def test_the_diagnosis_names_the_wrong_line(bug):
    trace = run(bug.padded)
    found = run_layer(trace, bug.code)
    named = find_causes(trace, {"weights": found["weights"], "output": found["output"]})
    assert named[0].code == bug.code
    assert {cause.code for cause in named} <= {bug.code, "values_from_keys"}  # which is v from w_k, a step later


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.code)
def test_a_bug_is_one_line_of_the_layer_and_has_a_sentence(bug):
    right, wrong = right_lines(bug), layer_lines(bug)
    assert [name for name in LAYER_LINES if right[name] is not wrong[name]] == [bug.line]
    assert format_line(bug.line, bug.wrong) != format_line(bug.line, right[bug.line])
    assert bug.code in MISTAKE_SENTENCES


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.code)
def test_only_numbers_that_the_wrong_line_makes_differ_from_what_those_before_them_give(bug):
    """So that a click on a number tells whether its own line is wrong."""
    trace = run(bug.padded)
    broken = trace.holding(run_layer(trace, bug.code))
    wrong = []
    for name in ("v", "scores", "scaled_scores", "masked_scores", "weights", "head_outputs", "concat", "output"):
        made, should = broken[name], broken.reapply(name)
        both = made.isfinite() & should.isfinite()
        if (made.isfinite() != should.isfinite()).any() or not torch.allclose(made[both], should[both], atol=1e-9):
            wrong.append(name)
    makes = {"allowed": "masked_scores", "split": "v"}
    assert makes.get(bug.line, bug.line) in wrong


def test_a_line_is_shown_as_it_runs():
    assert format_line("split", LAYER_LINES["split"]) == "split = lambda y: y.view(B, T, heads, -1).transpose(1, 2)"
    assert (
        format_line("weights", BUG_BY_CODE["softmax_queries"].wrong) == "weights = torch.softmax(masked_scores, dim=-2)"
    )


def test_an_unknown_bug_is_refused():
    with pytest.raises(AttentionError, match="code must be one of"):
        run_layer(run(padded=False), "nothing")


def test_a_ratio_of_weights_is_the_gap_of_what_went_into_the_softmax():
    """No scale: ln of the ratio is the gap of the scores; with the scale it is the gap over √3."""
    trace = run(padded=False)
    broken = trace.holding(run_layer(trace, "no_scale"))
    row = trace["scores"][0, 1, 4, :5]
    gap = (row.max() - row.min()).item()
    assert row_ratio(broken, 0, 1, 4).log == pytest.approx(gap) == row_ratio(broken, 0, 1, 4).gap
    assert row_ratio(trace, 0, 1, 4).log == pytest.approx(gap / 3**0.5)


def test_every_bug_has_another_code():
    assert len(BUG_BY_CODE) == len(BUGS) == 12
