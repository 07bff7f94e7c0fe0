"""Modifiers: each against an independent loop and torch's own functions, its bad inputs, and what reads its steps."""

import math
from dataclasses import replace
from itertools import permutations

import pytest
import torch
from torch.nn.attention.flex_attention import flex_attention

from attention_core import AttentionConfig, AttentionError, Weights, attend, attend_qkv
from attention_core.explanation.arithmetic import explain
from attention_core.mechanism import plan
from attention_core.mechanism.config import modifiers_at
from attention_core.mechanism.modifiers import MODIFIER_PLACES, MODIFIERS
from attention_core.mechanism.operations import ADD
from attention_core.mechanism.plan_steps import LAST_STEP, PlanStep, chain_operations
from attention_core.variants.blockwise_softmax import attend_blockwise
from attention_core.verification.proof import prove

B, H, T, S, D_K, D_V = 2, 3, 5, 7, 11, 13
CAP = 1.7


@pytest.fixture
def qkv(generator):
    shapes = (B, H, T, D_K), (B, H, S, D_K), (B, H, S, D_V)
    return [2 * torch.randn(*shape, generator=generator, dtype=torch.float64) for shape in shapes]


def capped(**choices) -> AttentionConfig:
    return AttentionConfig(modifiers=[("softcap", {"cap": CAP})], **choices)


# ---- soft-capped scores ----------------------------------------------------------------------------------------------
def test_softcap_by_loops(qkv):
    q, k, v = qkv
    trace = attend_qkv(q, k, v, config=capped(masks=["causal"], positions=["alibi"]))
    slopes = (2**-4, 2**-8, 2**-2)
    for b in range(B):
        for h in range(H):
            for i in range(T):
                scores = []
                for j in range(S):
                    score = sum(q[b, h, i, m].item() * k[b, h, j, m].item() for m in range(D_K)) / math.sqrt(D_K)
                    score = CAP * math.tanh(score / CAP)
                    assert trace["capped_scores"][b, h, i, j].item() == pytest.approx(score, abs=1e-10)
                    scores.append(score - slopes[h] * abs(i + S - T - j) if j <= i + S - T else -math.inf)
                powers = [math.exp(score) for score in scores]
                shares = [power / sum(powers) for power in powers]
                assert trace["weights"][b, h, i].tolist() == pytest.approx(shares, abs=1e-10)
                for m in range(D_V):
                    mixed = sum(share * v[b, h, j, m].item() for j, share in enumerate(shares))
                    assert trace["head_outputs"][b, h, i, m].item() == pytest.approx(mixed, abs=1e-10)


@pytest.mark.filterwarnings("ignore:flex_attention called without torch.compile")  # it is right, and slow
def test_softcap_by_flex_attention(qkv):
    def score_mod(score, b, h, i, j):
        return CAP * torch.tanh(score / CAP)

    found = attend_qkv(*qkv, config=capped())["head_outputs"]
    torch.testing.assert_close(found, flex_attention(*qkv, score_mod=score_mod), atol=1e-10, rtol=0)


def test_no_score_leaves_the_cap_and_small_ones_stay(qkv):
    q, k, v = qkv
    scores = attend_qkv(100 * q, k, v, config=capped())["capped_scores"]
    assert CAP - 1e-9 < scores.abs().max() <= CAP
    small = attend_qkv(1e-6 * q, k, v, config=capped())
    torch.testing.assert_close(small["capped_scores"], small["scaled_scores"], atol=0, rtol=1e-9)


def test_the_sum_of_a_capped_score_is_written():
    one = attend_qkv(torch.tensor([[3.0, 1.0]]), torch.eye(2), torch.eye(2), config=capped(score="dot"))
    assert explain(one, "capped_scores", (0, 0, 0, 0)).text == "1.7 × tanh(3.00 × 1/1.7) = 1.60"  # tanh 1.765 = 0.943


# ---- what reads the steps --------------------------------------------------------------------------------------------
@pytest.mark.parametrize("masks", [[], ["causal"]], ids=["no mask", "causal"])
@pytest.mark.parametrize("positions", [[], ["alibi"], ["rope"]], ids=["none", "alibi", "rope"])
def test_it_is_proven_and_a_wrong_number_is_not(qkv, masks, positions):
    q, k, v = (part[..., :10] for part in qkv)  # RoPE turns pairs
    trace = attend_qkv(q, k, v, config=capped(masks=masks, positions=positions))
    proof = prove(trace)
    assert proof.passed and {"numpy", "sdpa", "rows"} <= {check.witness for check in proof.checks}
    step = trace.step("capped_scores")
    wrong = step.value.clone()
    wrong[1, 2, 3, 0] += 1e-3
    assert prove(replace(trace, steps={**trace.steps, "capped_scores": replace(step, value=wrong)})).failed


def test_a_layer_with_a_cap_is_not_said_to_be_torchs_layer(generator):
    square = [torch.randn(6, 6, generator=generator, dtype=torch.float64) for _ in range(4)]
    weights = Weights(**dict(zip(("w_q", "w_k", "w_v", "w_o"), square, strict=True)))
    x = torch.randn(5, 6, generator=generator, dtype=torch.float64)
    witnesses = []
    for config in (AttentionConfig(heads=2), capped(heads=2)):
        proof = prove(attend(x, weights=weights, config=config))
        assert proof.passed
        witnesses.append("mha" in {check.witness for check in proof.checks})
    assert witnesses == [True, False]


def test_block_by_block_gives_the_same(qkv):
    config = capped(masks=["causal"], positions=["alibi"])
    whole = attend_qkv(*qkv, config=config)["head_outputs"]
    *_, last = attend_blockwise(*qkv, config=config, block=3)
    torch.testing.assert_close(last.output, whole, atol=1e-10, rtol=0)


# ---- several at one place --------------------------------------------------------------------------------------------
def names_at(place: str) -> list[str]:
    return list(modifiers_at(place, [(name, {}) for name in MODIFIERS]))


@pytest.mark.parametrize("place", MODIFIER_PLACES)
def test_each_at_a_place_finds_what_the_last_step_before_it_made(place):
    for names in permutations(names_at(place), 2):
        given = [{parameter.name: 0.5 for parameter in MODIFIERS[name].parameters} for name in names]
        both = [
            MODIFIERS[name].operations(place, "q", (), {**params, "heads": 1, "half": 0})
            for name, params in zip(names, given, strict=True)
        ]
        first, second = both
        chained = chain_operations(both, "before")
        readers = [step for step, alone in zip(chained[len(first) :], second, strict=True) if LAST_STEP in alone.reads]
        assert readers and all(first[-1].output in step.reads and "before" not in step.reads for step in readers)


@pytest.mark.parametrize("lam_init", [0.2, 0.8])
def test_a_gate_of_zeros_lets_half_of_differential_attention_through(lam_init, generator):
    """sigmoid(0) = 1/2 of what stands without a gate, which is made smaller by (1 - lam_init)."""

    def numbers(*shape):
        return torch.randn(*shape, generator=generator, dtype=torch.float64)

    learned = {f"lam_{role}{half}": numbers(4) for role in "qk" for half in (1, 2)}
    weights = {"w_q": numbers(6, 8), "w_k": numbers(6, 8), "w_v": numbers(6, 5), "g_heads": numbers(5), **learned}
    chosen = ("differential", {"lam_init": lam_init})
    x, half_open = numbers(1, 3, 6), torch.zeros(6, 5, dtype=torch.float64)
    gated = attend(x, weights=Weights(**weights, w_gate=half_open), config=AttentionConfig(modifiers=["gate", chosen]))
    plain = attend(x, weights=Weights(**weights), config=AttentionConfig(modifiers=[chosen]))
    torch.testing.assert_close(gated["output"], plain["output"] / 2, atol=1e-14, rtol=0)
    assert gated.step("gated_outputs").operation.reads == ("shrunk_outputs", "gate")


def test_a_step_that_nobody_reads_is_refused_where_a_modifier_is_declared():
    opened, _ = MODIFIERS["gate"].steps["mixed"]
    with pytest.raises(ValueError, match="nothing reads gate"):
        replace(MODIFIERS["gate"], steps={"mixed": (opened, PlanStep("doubled", ADD, (LAST_STEP, LAST_STEP)))})


def test_a_step_that_nobody_reads_is_refused_when_a_plan_is_made(monkeypatch):
    """Planted: each modifier finds what stood there before any."""

    def chain_apart(mechanisms, first, sources=None):
        return [step for steps in mechanisms for step in chain_operations([steps], first, sources)]

    one, square = torch.ones(2), torch.ones(2, 2)
    learned = {f"lam_{role}{half}": one for role in "qk" for half in (1, 2)}
    config = AttentionConfig(modifiers=["differential", "gate"])
    monkeypatch.setattr(plan, "chain_operations", chain_apart)
    with pytest.raises(ValueError, match="nothing reads shrunk_outputs"):
        attend(square, weights=Weights(**learned, g_heads=one, w_gate=square), config=config)


# ---- bad input -------------------------------------------------------------------------------------------------------
REFUSED = [
    ("soft", "unknown_choice"),
    ([("softcap", {"cap": 0})], "positive_number"),
    ([("softcap", {"cap": -2.0})], "positive_number"),
    ([("softcap", {"cap": float("inf")})], "finite_number"),
    ([("softcap", {"cap": "50"})], "finite_number"),
    ([("softcap", {"cap": True})], "finite_number"),
    ([("softcap", {"limit": 3})], "unknown_parameter"),
    (["softcap", "softcap"], "chosen_twice"),
    (7, "choice_form"),
]


@pytest.mark.parametrize(("modifiers", "code"), REFUSED, ids=str)
def test_what_is_no_modifier_is_refused(modifiers, code):
    with pytest.raises(AttentionError) as refused:
        AttentionConfig(modifiers=modifiers)
    assert refused.value.code == code


def test_a_modifier_that_is_not_wired_is_none():
    with pytest.raises(ValueError, match="a modifier takes cap: declared are "):
        replace(MODIFIERS["softcap"], parameters=())
    with pytest.raises(ValueError, match="gate reads w_gate, which nothing gives"):
        replace(MODIFIERS["gate"], weights=())
    with pytest.raises(ValueError, match="nothing reads g_k, g_q"):
        replace(MODIFIERS["softcap"], weights=MODIFIERS["qk_norm"].weights)
    with pytest.raises(
        AttentionError,
        match="place must be one of inputs, sources, heads, scores, maps, mixed, added, output: got 'nowhere'",
    ):
        replace(MODIFIERS["softcap"], steps={"nowhere": MODIFIERS["softcap"].steps["scores"]})


def test_the_usual_cap_is_that_of_gemma_2():
    assert AttentionConfig(modifiers=["softcap"]).modifiers == (("softcap", {"cap": 50.0}),)
