"""Learned distances: each against an independent loop and torch's flex_attention; what does not fit is refused."""

import math
from dataclasses import replace

import pytest
import torch
from torch.nn.attention.flex_attention import flex_attention

from attention_core import AttentionConfig, AttentionError, Weights, attend_qkv
from attention_core.explanation.arithmetic import explain
from attention_core.mechanism.positions import POSITIONS
from attention_core.mechanism.relative_positions import t5_bucket
from attention_core.variants.blockwise_softmax import attend_blockwise
from attention_core.verification.proof import prove

B, H, T, S, D_K, D_V = 2, 3, 5, 11, 7, 13
DTYPES = [torch.float64, torch.float32, torch.bfloat16, torch.float16]
LEARNED = ("t5", "clipped", "relative_keys")
# of 32 buckets up to 128: the first distance of each bucket of one side, as T5's published code has it
T5_FIRST = (0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 23, 32, 46, 64, 91)


@pytest.fixture
def qkv(generator):
    shapes = (B, H, T, D_K), (B, H, S, D_K), (B, H, S, D_V)
    return [torch.randn(*shape, generator=generator, dtype=torch.float64) for shape in shapes]


def learned(name: str, generator, rows: int) -> Weights:
    (tensor,) = POSITIONS[name].weights
    width = H if name != "relative_keys" else D_K
    return Weights(**{tensor.name: torch.randn(rows, width, generator=generator, dtype=torch.float64)})


def run(name: str, qkv, weights: Weights, masks=(), **params):
    config = AttentionConfig(positions=[(name, params)], masks=masks)
    return attend_qkv(*qkv, weights=weights, config=config)


def clipped(distance: int, reach: int) -> int:
    return max(-reach, min(reach, distance))


# ---- T5 --------------------------------------------------------------------------------------------------------------
def test_t5s_buckets_are_those_of_the_published_code():
    for distance in range(200):
        bucket = max(place for place, first in enumerate(T5_FIRST) if first <= distance)
        assert t5_bucket(-distance, 32, "both", 128) == bucket
        assert t5_bucket(distance, 32, "both", 128) == (bucket + 16 if distance else 0)
        assert t5_bucket(-distance, 16, "past", 128) == bucket
        assert t5_bucket(distance, 16, "past", 128) == 0


@pytest.mark.parametrize("masks", [[], ["causal"]], ids=["free", "causal"])
@pytest.mark.parametrize(("direction", "rows"), [("both", 8), ("past", 6)])
def test_t5_by_loops(direction, rows, masks, qkv, generator):
    weights = learned("t5", generator, rows)
    trace = run("t5", qkv, weights, masks, direction=direction, farthest=7)
    at = S - T if masks else 0
    firsts = {"both": (0, 1, 2, 4), "past": (0, 1, 2, 3, 4, 6)}[direction]  # 2 + 2 log(x / 2) / log(7 / 2); 3 + ...
    for h in range(H):
        for i in range(T):
            for j in range(S):
                distance = j - i - at
                if direction == "both":
                    bucket = max(place for place, first in enumerate(firsts) if first <= abs(distance))
                    bucket += 4 if distance > 0 else 0
                else:
                    bucket = max(place for place, first in enumerate(firsts) if first <= max(-distance, 0))
                assert trace["bias"][h, i, j] == weights.w_buckets[bucket, h]


@pytest.mark.filterwarnings("ignore:flex_attention called without torch.compile")  # it is right, and slow
@pytest.mark.parametrize("name", ["t5", "clipped"])
def test_a_bias_by_flex_attention(name, qkv, generator):
    weights = learned(name, generator, 32 if name == "t5" else 5)
    table = next(iter(weights.given().values()))
    rows = torch.empty(T, S, dtype=torch.long)
    for i in range(T):
        for j in range(S):
            if name == "t5":
                bucket = max(place for place, first in enumerate(T5_FIRST) if first <= abs(j - i))
                rows[i, j] = bucket + (16 if j > i else 0)
            else:
                rows[i, j] = clipped(j - i, 2) + 2

    def score_mod(score, b, h, i, j):
        return score + table[rows[i, j], h]

    found = run(name, qkv, weights)["head_outputs"]
    torch.testing.assert_close(found, flex_attention(*qkv, score_mod=score_mod), atol=1e-10, rtol=0)


FEW = [(6, 16, "both"), (2, 16, "both"), (8, 2, "both"), (5, 16, "past")]


@pytest.mark.parametrize(("rows", "farthest", "direction"), FEW)
def test_buckets_that_no_distance_falls_into_are_refused(rows, farthest, direction, qkv, generator):
    with pytest.raises(AttentionError) as refused:
        run("t5", qkv, learned("t5", generator, rows), direction=direction, farthest=farthest)
    assert refused.value.code == "buckets"


# ---- clipped distances -----------------------------------------------------------------------------------------------
@pytest.mark.parametrize("masks", [[], ["causal"]], ids=["free", "causal"])
def test_a_clipped_distance_by_loops(masks, qkv, generator):
    weights = learned("clipped", generator, 7)
    bias = run("clipped", qkv, weights, masks)["bias"]
    at = S - T if masks else 0
    for h in range(H):
        for i in range(T):
            for j in range(S):
                assert bias[h, i, j] == weights.w_clipped[clipped(j - i - at, 3) + 3, h]


@pytest.mark.parametrize("masks", [[], ["causal"]], ids=["free", "causal"])
def test_relative_keys_by_loops(masks, qkv, generator):
    weights = learned("relative_keys", generator, 5)
    trace = run("relative_keys", qkv, weights, masks)
    q, k, _ = qkv
    at = S - T if masks else 0
    for b in range(B):
        for h in range(H):
            for i in range(T):
                scores = []
                for j in range(S):
                    vector = weights.w_rk[clipped(j - i - at, 2) + 2]
                    score = sum(q[b, h, i, m].item() * (k[b, h, j, m] + vector[m]).item() for m in range(D_K))
                    scores.append(score / math.sqrt(D_K) if not masks or j <= i + at else -math.inf)
                powers = [math.exp(score) for score in scores]
                weights_by_hand = [power / sum(powers) for power in powers]
                assert trace["weights"][b, h, i].tolist() == pytest.approx(weights_by_hand, abs=1e-10)


def test_relative_keys_of_zero_change_nothing(qkv):
    zeros = Weights(w_rk=torch.zeros(5, D_K, dtype=torch.float64))
    assert torch.equal(run("relative_keys", qkv, zeros)["weights"], attend_qkv(*qkv)["weights"])


@pytest.mark.parametrize("name", ["clipped", "relative_keys"])
def test_an_even_number_of_distances_is_refused(name, qkv, generator):
    with pytest.raises(AttentionError) as refused:
        run(name, qkv, learned(name, generator, 4))
    assert refused.value.code == "rows_odd"


# ---- all of them -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", LEARNED)
def test_each_is_proven_in_every_precision(name, dtype, qkv, generator):
    weights = learned(name, generator, 8 if name == "t5" else 5)
    cast = Weights(**{key: tensor.to(dtype) for key, tensor in weights.given().items()})
    proof = prove(run(name, [tensor.to(dtype) for tensor in qkv], cast, masks=["causal"]))
    assert proof.passed and "sdpa" in {check.witness for check in proof.checks}


@pytest.mark.parametrize("block", [1, 3, 4, 11])
@pytest.mark.parametrize("name", LEARNED)
def test_each_runs_in_blocks(name, block, qkv, generator):
    weights = learned(name, generator, 8 if name == "t5" else 5)
    config = AttentionConfig(positions=[name], masks=["causal"])
    *_, last = attend_blockwise(*qkv, block=block, config=config, weights=weights)
    expected = attend_qkv(*qkv, config=config, weights=weights)["head_outputs"]
    torch.testing.assert_close(last.output, expected, atol=1e-12, rtol=0)


def test_the_arithmetic_of_a_cell():
    q = torch.tensor([[2.0, 1.0]], dtype=torch.float64)
    k = torch.tensor([[1.0, 0.0], [0.0, 1.0]], dtype=torch.float64)
    vectors = torch.tensor([[5.0, 6.0], [0.5, 0.25], [-1.0, 3.0]], dtype=torch.float64)
    trace = attend_qkv(q, k, k, weights=Weights(w_rk=vectors), config=AttentionConfig(positions=["relative_keys"]))
    explained = explain(trace, "relative_keys_scores", (0, 0, 0, 1))
    assert explained.text == "1.00 + 2.00 × (−1.00) + 1.00 × 3.00 = 2.00"


def test_a_position_that_is_not_wired_is_none():
    with pytest.raises(ValueError, match="takes q, w_rk: declared are w_rk"):
        replace(POSITIONS["relative_keys"], reads=())
    with pytest.raises(ValueError, match="takes w_buckets: declared are "):
        replace(POSITIONS["t5"], weights=())
    with pytest.raises(AttentionError, match="direction must be one of both, past"):
        AttentionConfig(positions=[("t5", {"direction": "left"})])
