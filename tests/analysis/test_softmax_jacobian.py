"""The softmax's Jacobian as a step: against torch's autograd, by hand, and where nearly nothing of it is left."""

import math

import numpy as np
import pytest
import torch

from attention_core import AttentionConfig, AttentionError, Trace, attend_qkv, code, explain, prove
from attention_core.analysis.softmax_steps import with_jacobian
from attention_core.explanation.layout import panel
from attention_core.record.cell_functions import evaluate

B, H, T, S, D = 2, 3, 5, 7, 11
DTYPES = [torch.float64, torch.float32, torch.float16, torch.bfloat16]


def random(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(math.prod(shape)), dtype=torch.float64)


def run(dtype: torch.dtype = torch.float64, **given) -> Trace:
    """Every size its own number; query 2 may attend to nothing, query 0 to four keys."""
    allowed = torch.ones(T, S, dtype=torch.bool)
    allowed[2], allowed[0, 4:] = False, False
    q, k, v = random(B, H, T, D).to(dtype), random(B, H, S, D).to(dtype), random(B, H, S, D).to(dtype)
    return attend_qkv(q, k, v, allowed=allowed, **given)


def of_logits(*logits: float, **choices) -> Trace:
    """One query whose scores are the logits."""
    k = torch.tensor(logits, dtype=torch.float64)[:, None]
    return with_jacobian(attend_qkv(torch.ones(1, 1).double(), k, k, config=AttentionConfig("dot", **choices)))


def test_every_row_against_autograd():
    trace = with_jacobian(run())
    assert trace["jacobian"].shape == (B, H, T, S, S)
    assert trace.step("jacobian").dims == ("B", "H", "T", "S", "S'")
    for b, h, t in np.ndindex(B, H, T):
        logits, found = trace["masked_scores"][b, h, t], trace["jacobian"][b, h, t]
        if logits.isneginf().all():
            assert t == 2
            assert (found == 0).all()
            continue
        expected = torch.autograd.functional.jacobian(lambda row: torch.softmax(row, dim=-1), logits)
        assert (found - expected).abs().max() <= 1e-10
        assert (found[logits.isneginf()] == 0).all()
        assert (found[:, logits.isneginf()] == 0).all()


def test_by_hand():
    """Logits 0 and ln 3: weights 1/4 and 3/4, and 1/4 × 3/4 = 3/16."""
    trace = of_logits(0.0, math.log(3))
    assert trace["jacobian"].flatten().tolist() == pytest.approx([3 / 16, -3 / 16, -3 / 16, 3 / 16], abs=1e-15)
    assert explain(trace, "jacobian", (0, 0, 0, 0, 0)).text == "0.25 × (1 − 0.25) = 0.19"
    assert explain(trace, "jacobian", (0, 0, 0, 0, 1)).text == "0.25 × (0 − 0.75) = −0.19"
    links = [piece.ref.index for piece in explain(trace, "jacobian", (0, 0, 0, 0, 1)).pieces if piece.ref]
    assert links == [(0, 0, 0, 0), (0, 0, 0, 1)]


def test_a_step_along_the_slope():
    """A score moved by a little moves the weights by the Jacobian's column."""
    logits, little = [0.3, -1.1, 0.8, 2.0, -0.4], 1e-6
    before = of_logits(*logits)
    for j in range(5):
        after = of_logits(*(x + little * (i == j) for i, x in enumerate(logits)))
        moved = (after["weights"] - before["weights"])[0, 0, 0] / little
        assert (moved - before["jacobian"][0, 0, 0, :, j]).abs().max() <= little


@pytest.mark.parametrize("gap", [14.0, 30.0, 300.0, 700.0])
def test_nearly_nothing_is_exact_and_proven(gap):
    """Weights 1 / (1 + e^-gap) and its rest: both times each other, however small, to nine digits."""
    trace = of_logits(gap, 0.0)
    exact = math.exp(-gap) / (1 + math.exp(-gap)) ** 2
    assert trace["jacobian"].flatten().tolist() == pytest.approx([exact, -exact, -exact, exact], rel=1e-10, abs=0)
    assert prove(trace).passed, prove(trace).failed


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_it_is_proven_in_every_precision(dtype):
    trace = with_jacobian(run(dtype))
    proof = prove(trace)
    assert trace["jacobian"].dtype == dtype
    assert proof.passed, proof.failed
    assert [check.witness for check in proof.checks if check.step == "jacobian"][:1] == ["numpy"]
    assert proof.rounding["jacobian"] <= 4 * torch.finfo(dtype).eps * S


def test_every_cell_follows_from_its_operands():
    trace = with_jacobian(run())
    values, shapes = {name: step.value.numpy() for name, step in trace.steps.items()}, trace.shapes()
    for index in np.ndindex(*trace["jacobian"].shape):
        cell = trace.step("jacobian").operation.cell(index, shapes)
        number = evaluate(cell, lambda ref: float(values[ref.step][ref.index]))
        assert number == pytest.approx(values["jacobian"][index], abs=1e-15)


def test_a_row_sums_to_0_and_is_symmetric():
    jacobian = with_jacobian(run())["jacobian"]
    assert jacobian.sum(-1).abs().max() <= 1e-15
    assert torch.equal(jacobian, jacobian.transpose(-2, -1))


@pytest.mark.parametrize(
    "given",
    [
        {"config": AttentionConfig(replace="uniform")},
        {"what_if": {"weights": torch.full((T, S), 0.125, dtype=torch.float64)}},
    ],
    ids=["even", "chosen"],
)
def test_of_replaced_weights_the_softmax_counts(given):
    trace = with_jacobian(run(**given))
    assert not torch.equal(trace["weights"], run()["weights"])
    assert torch.equal(trace["jacobian"], with_jacobian(run())["jacobian"])


def test_its_axes_carry_the_words_of_the_keys():
    words = tuple("abcdefg")
    trace = with_jacobian(run().labelled(S=words))
    assert trace.labels["S'"] == trace.labels["S"] == words
    assert with_jacobian(run()).labels == {}
    drawn = panel(trace, "jacobian", {"B": 1, "H": 2, "T": 4})
    assert (drawn.rows, drawn.columns) == ("S", "S'")
    assert drawn.values.tolist() == trace["jacobian"][1, 2, 4].tolist()


def test_what_would_take_too_much_is_refused():
    """8192² numbers of 4 bytes are 256 MiB."""
    q, k = torch.zeros(1, 1), torch.zeros(8193, 1)
    with pytest.raises(AttentionError) as error:
        with_jacobian(attend_qkv(q, k, k))
    assert error.value.code == "jacobian_too_large"
    assert error.value.values == {"needed": 8193**2 * 4, "limit": 8192**2 * 4}


@pytest.mark.parametrize("language", ["torch", "numpy"])
def test_a_script_of_it_gives_the_same(language, capsys):
    names = {}
    exec(compile(code(of_logits(0.0, math.log(3)), language), "script", "exec"), names)
    assert "\njacobian (1, 1, 1, 2, 2)\n" in capsys.readouterr().out
    assert names["jacobian"].reshape(-1).tolist() == pytest.approx([3 / 16, -3 / 16, -3 / 16, 3 / 16], abs=1e-15)
