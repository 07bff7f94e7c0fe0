"""Differential attention: two maps of the halves of q and k, against torch's attention on each half, and loops."""

import math
from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F

from attention_core import AttentionConfig, AttentionError, Weights, attend, attend_qkv
from attention_core.analysis.softmax_steps import with_jacobian
from attention_core.drawing.cells import is_share
from attention_core.explanation.arithmetic import explain
from attention_core.explanation.facts import row_fact
from attention_core.mechanism.modifiers import MODIFIERS
from attention_core.record.cell_functions import evaluate
from attention_core.variants.blockwise_softmax import attend_blockwise
from attention_core.verification.proof import prove

B, H, KV, T, S, D_K, D_V, L = 2, 6, 3, 5, 7, 11, 13, 17
LAM_INIT, EPS = 0.3, 1e-3
CHOSEN = ("differential", {"lam_init": LAM_INIT, "eps": EPS})


@pytest.fixture
def qkv(generator):
    shapes = (B, H, T, 2 * D_K), (B, KV, S, 2 * D_K), (B, KV, S, D_V)
    return [torch.randn(*shape, generator=generator, dtype=torch.float64) for shape in shapes]


@pytest.fixture
def learned(generator):
    """Two of the vectors are shared by all heads, and two are each head's own."""
    shapes = {"lam_q1": (L,), "lam_k1": (H, L), "lam_q2": (H, L), "lam_k2": (L,), "g_heads": (D_V,)}
    return Weights(
        **{name: torch.randn(*shape, generator=generator, dtype=torch.float64) / 3 for name, shape in shapes.items()}
    )


def lam_of(learned: Weights, h: int) -> float:
    def of_head(vector):
        return (vector[h] if vector.dim() == 2 else vector).tolist()

    first, second = (
        math.exp(sum(a * b for a, b in zip(of_head(q), of_head(k), strict=True)))
        for q, k in ((learned.lam_q1, learned.lam_k1), (learned.lam_q2, learned.lam_k2))
    )
    return first - second + LAM_INIT


@pytest.mark.parametrize("choices", [{}, {"masks": ["causal"]}], ids=["free", "causal"])
def test_by_torchs_attention_on_each_half(choices, qkv, learned):
    q, k, v = qkv
    trace = attend_qkv(q, k, v, weights=learned, config=AttentionConfig(modifiers=[CHOSEN], **choices))
    allowed = torch.ones(T, S).tril(S - T).bool() if choices else None
    first, second = (
        F.scaled_dot_product_attention(q[..., part], k[..., part], v, attn_mask=allowed, enable_gqa=True)
        for part in (slice(D_K), slice(D_K, None))
    )
    for h in range(H):
        mixed = first[:, h] - lam_of(learned, h) * second[:, h]
        torch.testing.assert_close(trace["head_outputs"][:, h], mixed, atol=1e-10, rtol=0)
        normed = F.rms_norm(mixed, (D_V,), learned.g_heads, EPS) * (1 - LAM_INIT)
        torch.testing.assert_close(trace["shrunk_outputs"][:, h], normed, atol=1e-10, rtol=0)
        assert torch.equal(trace["concat"][..., h * D_V : (h + 1) * D_V], trace["shrunk_outputs"][:, h])


def test_by_loops(qkv, learned):
    q, k, v = qkv
    trace = attend_qkv(q, k, v, weights=learned, config=AttentionConfig(modifiers=[CHOSEN], temperature=1.7))
    for h, t in ((0, 0), (5, 3)):
        maps = []
        for half in range(2):
            columns = range(half * D_K, (half + 1) * D_K)
            scores = [
                sum(q[1, h, t, m].item() * k[1, h // 2, s, m].item() for m in columns) / math.sqrt(D_K) / 1.7
                for s in range(S)
            ]
            powers = [math.exp(score) for score in scores]
            maps.append([power / sum(powers) for power in powers])
        for s in range(S):
            expected = maps[0][s] - lam_of(learned, h) * maps[1][s]
            assert trace["weights"][1, h, t, s].item() == pytest.approx(expected, abs=1e-12)
    torch.testing.assert_close(trace["weights"].sum(-1), 1 - trace["lam"].view(1, H, 1).expand(B, H, T))


def test_positions_and_norms_act_on_each_half(qkv, learned):
    q, k, v = qkv
    gains = {name: torch.linspace(0.5, 2, D_K - 1, dtype=torch.float64) for name in ("g_q", "g_k")}
    even = [x[..., : 2 * (D_K - 1)] for x in (q, k)]  # RoPE turns pairs
    config = AttentionConfig(modifiers=[CHOSEN, "qk_norm"], positions=["rope", "alibi"], masks=["causal"])
    trace = attend_qkv(*even, v, weights=Weights(**(learned.given() | gains)), config=config)
    for suffix, part in (("", slice(D_K - 1)), ("_2", slice(D_K - 1, None))):
        plain = AttentionConfig(modifiers=["qk_norm"], positions=["rope", "alibi"], masks=["causal"])
        alone = attend_qkv(*(x[..., part] for x in even), v, weights=Weights(**gains), config=plain)
        for name in ("q", "k", "masked_scores"):
            torch.testing.assert_close(trace[f"{name}{suffix}"], alone[name], atol=1e-12, rtol=0)
        torch.testing.assert_close(trace[f"weights{suffix or '_1'}"], alone["weights"], atol=1e-12, rtol=0)
    assert "bias_2" not in trace and "allowed_2" not in trace  # both maps read the same


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("choices", [{"normaliser": "sigmoid"}, {"dropout": 0.3}, {"score": "cosine"}, {}], ids=str)
def test_it_is_proven(dtype, choices, qkv, learned):
    cast = Weights(**{name: tensor.to(dtype) for name, tensor in learned.given().items()})
    config = AttentionConfig(modifiers=[CHOSEN, "softcap"], masks=["causal"], **choices)
    proof = prove(attend_qkv(*(x.to(dtype) for x in qkv), weights=cast, config=config))
    assert proof.passed and proof.worst < 1e-12
    assert {"weights_1", "weights_2", "weights"} <= {check.step for check in proof.checks if check.witness == "blocked"}


def test_a_wrong_second_map_turns_the_proof_red(qkv, learned):
    trace = attend_qkv(*qkv, weights=learned, config=AttentionConfig(modifiers=[CHOSEN]))
    step = trace.step("weights_2")
    wrong = replace(step, value=step.value.roll(1, -1))
    assert prove(replace(trace, steps={**trace.steps, "weights_2": wrong})).failed.step == "weights_2"
    assert not is_share(trace, "weights") and is_share(trace, "weights_1") and is_share(trace, "weights_2")


def test_a_layer_reads_the_columns_of_a_head_as_two_halves(generator):
    x = torch.randn(T, 3, generator=generator, dtype=torch.float64)
    shapes = {"w_q": (3, 2 * H * D_K), "w_k": (3, 2 * KV * D_K), "w_v": (3, KV * D_V), "g_heads": (D_V,)}
    given = {name: torch.randn(*shape, generator=generator, dtype=torch.float64) for name, shape in shapes.items()}
    given |= {f"lam_{role}{half}": torch.zeros(1, dtype=torch.float64) for role in "qk" for half in (1, 2)}
    config = AttentionConfig(heads=H, kv_heads=KV, modifiers=["differential"])
    trace = attend(x, weights=Weights(**given), config=config)
    q = (x @ given["w_q"]).view(T, H, 2 * D_K).transpose(0, 1)
    assert torch.equal(trace["q"][0], q[..., :D_K]) and torch.equal(trace["q_2"][0], q[..., D_K:])
    assert torch.equal(trace["lam"], torch.full((H,), 0.8, dtype=torch.float64))
    assert trace.step("q_heads").dims == ("B", "H", "T", "2d_k")


# ---- what does not go with it ----------------------------------------------------------------------------------------
def test_an_odd_width_has_no_halves(qkv, learned):
    q, k, v = qkv
    with pytest.raises(AttentionError, match=r"differential attention .* even") as refused:
        attend_qkv(q[..., :3], k[..., :3], v, weights=learned, config=AttentionConfig(modifiers=["differential"]))
    assert refused.value.code == "even_halves"
    with pytest.raises(AttentionError, match="even"):
        attend(torch.eye(3, dtype=torch.float64), weights=learned, config=AttentionConfig(modifiers=["differential"]))


def test_what_needs_one_softmax_says_so(qkv, learned):
    config = AttentionConfig(modifiers=["differential"])
    trace = attend_qkv(*qkv, weights=learned, config=config)
    with pytest.raises(AttentionError, match="softmax"):
        with_jacobian(trace)
    with pytest.raises(AttentionError, match="differential attention, which has two"):
        attend_blockwise(*qkv, block=2, weights=learned, config=config)


def test_chosen_scores_are_the_first_maps_and_chosen_weights_what_mixes(qkv, learned):
    config = AttentionConfig(modifiers=["differential"])
    chosen = torch.full((B, H, T, S), torch.nan, dtype=torch.float64)
    chosen[0, 0, 0, 0] = 2.5
    plain = attend_qkv(*qkv, weights=learned, config=config)
    scores = attend_qkv(*qkv, weights=learned, config=config, what_if={"scores": chosen})
    assert scores["scores"][0, 0, 0, 0] == 2.5 and torch.equal(scores["scores_2"], plain["scores_2"])
    weights = attend_qkv(*qkv, weights=learned, config=config, what_if={"weights": chosen})
    assert weights["weights"][0, 0, 0, 0] == 2.5 and torch.equal(weights["computed_weights"], plain["weights"])


@pytest.mark.parametrize("step", ["lam_1", "lam_2"])
def test_the_sum_of_a_head_reads_a_shared_vector_and_its_own(qkv, learned, step):
    trace = attend_qkv(*qkv, weights=learned, config=AttentionConfig(modifiers=[CHOSEN]))
    number = step[-1]
    for h in (0, H - 1):
        cell = explain(trace, step, (h,)).cell
        axes = {name: learned.given()[name].dim() for name in (f"lam_q{number}", f"lam_k{number}")}
        indices = {ref.step: ref.index for ref in cell.terms[-1]}
        assert indices == {name: (L - 1,) if axes[name] == 1 else (h, L - 1) for name in axes}
        assert evaluate(cell, lambda ref: learned.given()[ref.step][ref.index].item()) == pytest.approx(
            trace[step][h].item()
        )


# ---- in words --------------------------------------------------------------------------------------------------------
def test_the_sums_of_one_pair():
    q = torch.tensor([[1.0, 0.0, 0.0, 0.0]]).double()
    k = torch.tensor([[math.log(3), 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]], dtype=torch.float64)
    vectors = {f"lam_{role}{half}": torch.zeros(1).double() for role in "qk" for half in (1, 2)}
    weights = Weights(**vectors, g_heads=torch.ones(4).double())
    config = AttentionConfig("dot", modifiers=[("differential", {"lam_init": 0.5})])
    trace = attend_qkv(q, k, k, weights=weights, config=config)
    assert explain(trace, "lam", (0,)).text == "1.00 + (−1) × 1.00 + 0.5 = 0.50"
    assert explain(trace, "weights", (0, 0, 0, 0)).text == "0.75 + (−1) × 0.50 × 0.50 = 0.50"  # 3 of 4, and half of ½
    assert explain(trace, "weights", (0, 0, 0, 1)).text == "0.25 + (−1) × 0.50 × 0.50 = 0.00"
    fact = row_fact(trace, head=0, query=0)
    assert (fact.kind, fact.keys, round(fact.share, 9), round(fact.total, 9)) == ("difference", (0,), 0.5, 0.5)


def test_two_maps_have_a_witness():
    with pytest.raises(ValueError, match="witness"):
        replace(MODIFIERS["differential"], witness=None)
    with pytest.raises(ValueError, match="witness"):
        replace(MODIFIERS["gate"], witness=MODIFIERS["differential"].witness)
