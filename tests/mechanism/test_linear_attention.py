"""Linear attention: features that are never negative, as a matrix and as a recurrence, and that both agree."""

import math

import pytest
import torch
import torch.nn.functional as F

from attention_core import AttentionConfig, AttentionError, attend_qkv
from attention_core.explanation.arithmetic import explain
from attention_core.record.cell_functions import evaluate
from attention_core.variants.linear_recurrence import attend_linear, with_linear_states
from attention_core.verification.proof import prove

B, H, KV, T, S, D_K, D_V = 2, 6, 3, 5, 7, 11, 13
CHOSEN = {"score": "linear", "normaliser": "share"}
EMPTY_FIRST = ("causal", {"offset": -1})


def numbers(generator, *shape):
    return torch.randn(*shape, generator=generator, dtype=torch.float64)


@pytest.fixture
def qkv(generator):
    return [numbers(generator, *shape) for shape in ((B, H, T, D_K), (B, KV, S, D_K), (B, KV, S, D_V))]


@pytest.mark.parametrize("masks", [[], ["causal"], [EMPTY_FIRST]], ids=["free", "causal", "empty row"])
def test_by_loops(masks, qkv):
    q, k, v = qkv
    trace = attend_qkv(*qkv, config=AttentionConfig(**CHOSEN, masks=masks))
    reach = {"none": S, "causal": S - T, str(EMPTY_FIRST): -1}[str(masks[0]) if masks else "none"]

    def phi(number):
        return number + 1 if number > 0 else math.exp(number)

    for h in range(H):
        g = h // (H // KV)
        for i in range(T):
            scores = []
            for j in range(S):
                products = (phi(q[1, h, i, m].item()) * phi(k[1, g, j, m].item()) for m in range(D_K))
                scores.append(sum(products) if j <= i + reach else 0.0)
            whole = sum(scores) or 1.0
            assert trace["weights"][1, h, i].tolist() == pytest.approx([score / whole for score in scores], abs=1e-12)
            for m in range(D_V):
                mixed = sum(score / whole * v[1, g, j, m].item() for j, score in enumerate(scores))
                assert trace["head_outputs"][1, h, i, m].item() == pytest.approx(mixed, abs=1e-12)


def test_the_features_are_those_of_torch(qkv):
    trace = attend_qkv(*qkv, config=AttentionConfig(**CHOSEN))
    for name, given in zip(("q_features", "k_features"), qkv, strict=False):
        torch.testing.assert_close(trace[name], F.elu(given) + 1, atol=1e-14, rtol=0)


def test_large_numbers_are_no_accident():
    x = torch.tensor([[1e4, -1e4]], dtype=torch.float64)
    trace = attend_qkv(x, x, x, config=AttentionConfig(**CHOSEN))
    assert trace["q_features"].flatten().tolist() == [10001.0, 0.0] and prove(trace).passed


@pytest.mark.parametrize("masks", [[], ["causal"], [EMPTY_FIRST]], ids=["free", "causal", "empty row"])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16], ids=str)
def test_it_is_proven_in_every_precision(dtype, masks, qkv):
    proof = prove(attend_qkv(*(each.to(dtype) for each in qkv), config=AttentionConfig(**CHOSEN, masks=masks)))
    assert proof.passed and {"sdpa", "rows"} <= {check.witness for check in proof.checks}


def test_as_a_recurrence_it_is_the_same(generator):
    """A state of d_k x d_v numbers, whatever was read, and the numbers of the causal matrix."""
    q, k, v = (numbers(generator, *shape) for shape in ((B, H, T, D_K), (B, KV, T, D_K), (B, KV, T, D_V)))
    matrix = attend_qkv(q, k, v, config=AttentionConfig(**CHOSEN, masks=["causal"]))["head_outputs"]
    for t, state in enumerate(attend_linear(q, k, v)):
        torch.testing.assert_close(state.output, matrix[:, :, t], atol=1e-12, rtol=0)
        assert state.memory.shape == (B, KV, D_K, D_V)
    features = F.elu(k) + 1
    everything = features.mT @ v
    torch.testing.assert_close(state.memory, everything, atol=1e-12, rtol=0)
    torch.testing.assert_close(state.total, features.sum(2), atol=1e-12, rtol=0)


def test_a_recurrence_has_a_key_for_each_query(qkv):
    with pytest.raises(AttentionError) as refused:
        attend_linear(*qkv)
    assert refused.value.code == "queries_keys"


NEGATIVE = [
    {"score": "dot"},
    {"scale": -1.0},
    {"positions": ["alibi"]},
    {"positions": ["relative_keys"]},
]


@pytest.mark.parametrize("changes", NEGATIVE, ids=str)
def test_scores_that_may_lie_below_zero_are_refused(changes):
    with pytest.raises(AttentionError) as refused:
        AttentionConfig(**CHOSEN | changes)
    assert refused.value.code == "needs_positive"


def test_a_chosen_score_below_zero_is_refused_and_another_is_taken(qkv):
    chosen = torch.full((T, S), math.nan, dtype=torch.float64)
    chosen[1, 2] = 50.0
    trace = attend_qkv(*qkv, config=AttentionConfig(**CHOSEN), what_if={"scores": chosen})
    assert trace["scores"][0, 0, 1, 2] == 50 and prove(trace).passed
    chosen[1, 2] = -1.0
    with pytest.raises(AttentionError) as refused:
        attend_qkv(*qkv, config=AttentionConfig(**CHOSEN), what_if={"scores": chosen})
    assert refused.value.code == "needs_positive"


def test_the_arithmetic_of_its_cells():
    q = torch.tensor([[2.0, -1.0]], dtype=torch.float64)
    k = torch.tensor([[1.0, 0.0], [-1.0, 1.0]], dtype=torch.float64)
    trace = attend_qkv(q, k, k, config=AttentionConfig(**CHOSEN))
    assert explain(trace, "q_features", (0, 0, 0, 0)).text == "2.00 + 1 = 3.00"
    assert explain(trace, "q_features", (0, 0, 0, 1)).text == "exp(−1.00) = 0.37"
    assert explain(trace, "scores", (0, 0, 0, 0)).text == "3.00 × 2.00 + 0.37 × 1.00 = 6.37"
    assert explain(trace, "weights", (0, 0, 0, 0)).text == "4.50 / (4.50 + 1.30) = 0.78"


# ---- the states as steps of a run ------------------------------------------------------------------------------------
def causal_run(generator):
    shapes = (B, H, T, D_K), (B, KV, T, D_K), (B, KV, T, D_V)
    config = AttentionConfig(**CHOSEN, masks=["causal"])
    return attend_qkv(*(numbers(generator, *shape) for shape in shapes), config=config)


def test_a_state_is_a_sum_over_the_tokens_seen(generator):
    trace = causal_run(generator)
    for seen in (1, 4, T):
        longer = with_linear_states(trace, seen)
        phi_k, v = (F.elu(trace["k"]) + 1)[:, :, :seen], trace["v"][:, :, :seen]
        memory = torch.einsum("bgsm,bgsn->bgmn", phi_k, v)
        torch.testing.assert_close(longer[f"memory_{seen}"], memory, atol=1e-12, rtol=0)
        torch.testing.assert_close(longer[f"total_{seen}"], phi_k.sum(2), atol=1e-12, rtol=0)
        row = trace["head_outputs"][:, :, seen - 1]
        torch.testing.assert_close(longer[f"linear_output_{seen}"], row, atol=1e-12, rtol=0)


def test_states_are_steps_like_any_other(generator):
    longer = with_linear_states(causal_run(generator), 3)
    assert prove(longer).passed
    for name in ("memory_1", "memory_3", "total_3", "read_3", "whole_3", "linear_output_3"):
        step = longer.step(name)
        index = tuple(size - 1 for size in step.value.shape)
        cell = step.operation.cell(index, longer.shapes())
        found = evaluate(cell, lambda ref: longer[ref.step][ref.index].item())
        assert found == pytest.approx(longer[name][index].item(), abs=1e-12), name


def test_a_state_needs_linear_attention_and_tokens(generator):
    trace = causal_run(generator)
    for seen, code in ((0, "positive_integer"), (T + 1, "seen_tokens")):
        with pytest.raises(AttentionError) as refused:
            with_linear_states(trace, seen)
        assert refused.value.code == code
    for config in (AttentionConfig(), AttentionConfig("linear")):
        with pytest.raises(AttentionError, match="the recurrence needs"):
            with_linear_states(attend_qkv(trace["q"], trace["k"], trace["v"], config=config), 1)
