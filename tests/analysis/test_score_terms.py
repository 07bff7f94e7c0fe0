"""Words and places in a score, and what distance does to it: by other routes and by hand."""

import math

import pytest
import torch

from attention_core import AttentionConfig, AttentionError, Weights, attend, attend_qkv
from attention_core.analysis.position_effects import SCORE_PARTS, score_by_distance, with_score_parts
from tests.faces import assert_five_faces

B, H, KV, T, S, D, D_KEY, D_K = 2, 6, 3, 5, 7, 11, 13, 4
FOUR = [f"{one}_{other}" for one in SCORE_PARTS for other in SCORE_PARTS]


def numbers(generator, *shape):
    return torch.randn(shape, generator=generator, dtype=torch.float64)


def placed(generator, cross=False, biases=True, score="scaled_dot", positions=("sinusoidal",), **choices):
    """A run with sinusoids, six query heads on three key heads."""
    key_width = D_KEY if cross else D
    shapes = {"w_q": (D, H * D_K), "w_k": (key_width, KV * D_K), "w_v": (key_width, KV * 2)}
    shapes |= {"b_q": (H * D_K,), "b_k": (KV * D_K,)} if biases else {}
    shapes |= {"w_a": (D_K, D_K)} if score == "general" else {}
    weights = Weights(**{name: numbers(generator, *shape) for name, shape in shapes.items()})
    inputs = [numbers(generator, B, T, D)] + ([numbers(generator, B, S, key_width)] if cross else [])
    config = AttentionConfig(score, heads=H, kv_heads=KV, positions=positions, **choices)
    return attend(*inputs, weights=weights, config=config)


RUNS = {
    "self": {},
    "cross": {"cross": True, "masks": ["causal"]},
    "no biases": {"biases": False},
    "general": {"score": "general"},
    "rope too": {"positions": ["sinusoidal", "rope"]},
}


@pytest.mark.parametrize("name", RUNS)
def test_the_four_parts_are_the_score(generator, name):
    trace = with_score_parts(placed(generator, **RUNS[name]))
    for part in FOUR:
        assert trace[part].shape == trace["scores"].shape
        assert trace[part].abs().max() > 0.1
    total = sum(trace[part] for part in FOUR)
    torch.testing.assert_close(total, trace["scores"], rtol=0, atol=1e-12 * trace["scores"].abs().max().item())


def test_words_alone_are_the_run_without_positions(generator):
    trace = placed(generator)
    weights = Weights(**{name: step.value for name, step in trace.inputs().items() if name != "x"})
    without = attend(trace["x"], weights=weights, config=AttentionConfig(heads=H, kv_heads=KV))
    torch.testing.assert_close(with_score_parts(trace)["content_content"], without["scores"], rtol=0, atol=1e-10)


def test_every_part_by_loops(generator):
    """(x or p) W_q (W_k)ᵀ (x or p)ᵀ of one pair of tokens in one head."""
    trace = with_score_parts(placed(generator, biases=False))
    x, p, w_q, w_k = trace["x"][1], trace["sinusoidal_x"], trace["w_q"], trace["w_k"]
    i, j, h = 4, 2, 5
    columns, shared = slice(h * D_K, (h + 1) * D_K), slice(h // 2 * D_K, (h // 2 + 1) * D_K)
    for part, left, right in zip(FOUR, (x, x, p, p), (x, p, x, p), strict=True):
        wanted = (left[i] @ w_q[:, columns]) @ (right[j] @ w_k[:, shared])
        assert trace[part][1, h, i, j].item() == pytest.approx(wanted.item(), abs=1e-10)


def test_places_are_the_same_in_every_sentence(generator):
    trace = with_score_parts(placed(generator, biases=False))
    assert torch.equal(trace["position_position"][0], trace["position_position"][1])
    assert not torch.equal(trace["content_position"][0], trace["content_position"][1])


def test_without_projections(generator):
    x = numbers(generator, T, D + 1)
    trace = with_score_parts(attend(x, config=AttentionConfig(positions=["sinusoidal"])))
    assert trace["position_position"][0, 0, 3, 3].item() == pytest.approx((D + 1) / 2)  # sin² + cos² a pair
    torch.testing.assert_close(trace["content_content"][0, 0], x @ x.T, rtol=0, atol=1e-10)


@pytest.mark.parametrize("name", RUNS)
def test_five_faces(generator, name):
    trace = placed(generator, **RUNS[name])
    parted = with_score_parts(trace)
    assert_five_faces(parted, *(step for step in parted.steps if step not in trace))


@pytest.mark.parametrize("score", ["cosine", "additive"])
def test_a_score_that_is_no_product_has_no_such_parts(generator, score):
    x = numbers(generator, T, D)
    own = {"w_aq": (D, 3), "w_ak": (D, 3), "v_a": (3,)} if score == "additive" else {}
    weights = Weights(**{name: numbers(generator, *shape) for name, shape in own.items()})
    trace = attend(x, weights=weights, config=AttentionConfig(score, positions=["sinusoidal"]))
    with pytest.raises(AttentionError, match=f"score must be one of dot, scaled_dot, general: got '{score}'"):
        with_score_parts(trace)


def test_without_positions_there_are_no_parts(generator):
    with pytest.raises(KeyError, match="there is no step 'positioned_x'"):
        with_score_parts(attend(numbers(generator, T, D)))


# ---- distance --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("style", ["interleaved", "half"])
def test_rope_turns_each_pair_by_its_own_angle(style):
    """|pair|² cos(n θ) summed over the pairs: 25 cos n + 169 cos(n / 100) for (3, 4) and (5, 12), base 10000."""
    vector = torch.tensor([3.0, 4, 5, 12] if style == "interleaved" else [3.0, 5, 4, 12]).double()
    config = AttentionConfig(score="dot", positions=[("rope", {"style": style})])
    scores = score_by_distance(vector, 7, config)["scores"].flatten()
    wanted = [25 * math.cos(n) + 169 * math.cos(n / 100) for n in range(7)]
    assert scores.tolist() == pytest.approx(wanted, abs=1e-10)
    assert scores[0] == vector @ vector


def test_rope_is_the_same_wherever_the_pair_stands(generator):
    """Query at i, key at j: the score at distance |i - j|."""
    vector, config = numbers(generator, 6), AttentionConfig(score="dot", positions=["rope"])
    scores = score_by_distance(vector, 5, config)["scores"].flatten()
    rows = vector.expand(5, 6)
    for i, row in enumerate(attend_qkv(rows, rows, rows, config=config)["scores"][0, 0]):
        for j, score in enumerate(row):
            assert score.item() == pytest.approx(scores[abs(i - j)].item(), abs=1e-10)


def test_alibi_takes_its_slope_a_position():
    """Eight heads: 1/2, 1/4, ... 1/256 a position (Press et al. 2022)."""
    vector = torch.tensor([1.0, 2.0, 2.0]).double()
    config = AttentionConfig(score="dot", heads=8, positions=["alibi"])
    trace = score_by_distance(vector, 4, config)
    wanted = [[9 - n / 2 ** (h + 1) for n in range(4)] for h in range(8)]
    assert trace["biased_scores"][0, :, 0].tolist() == wanted
    assert trace.labels["S"] == ("0", "1", "2", "3")
    assert trace["scores"].unique().tolist() == [9.0]


def test_distances_are_counted():
    with pytest.raises(AttentionError, match="distances must be a positive whole number"):
        score_by_distance(torch.ones(2), 0, AttentionConfig())
