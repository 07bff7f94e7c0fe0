"""How sharp the softmax is as d_k grows: the stories' own figures, and small cases by hand."""

import math

import pytest
import torch

from attention_core import AttentionError
from attention_core.analysis.softmax_saturation import (
    Estimate,
    draw_scores,
    even_sharpness,
    measure_saturation,
    measure_sharpness,
)
from tests.golden import loader

(STATED,) = (
    figures for name, figures in loader.read(loader.STORIES)["measured"].items() if name.startswith("sqrt d_k")
)


@pytest.mark.parametrize("d_k", STATED)
def test_the_figures_of_the_stories(d_k):
    """Two means of 2000 draws each lie within four standard errors of their difference; the figures are rounded."""
    found = measure_saturation(int(d_k))
    unscaled, scaled = found["dot"], found["scaled_dot"]
    pairs = [(each.largest, 0.0005) for each in (unscaled, scaled)]
    pairs += [(each.entropy, 0.005) for each in (unscaled, scaled)]
    pairs += [(each.slope, 0.0005) for each in (unscaled, scaled)]
    for (estimate, rounding), stated in zip(pairs, STATED[d_k], strict=True):
        assert estimate.mean == pytest.approx(stated, abs=4 * math.sqrt(2) * estimate.error + rounding)
        assert 0 < estimate.error < 0.02


def test_scaled_stays_flat_and_unscaled_saturates():
    found = {d_k: measure_saturation(d_k, draws=500, seed=1) for d_k in (1, 16, 256)}
    unscaled = [found[d_k]["dot"] for d_k in found]
    assert unscaled[0].largest.mean < unscaled[1].largest.mean < unscaled[2].largest.mean
    assert unscaled[0].slope.mean > unscaled[1].slope.mean > unscaled[2].slope.mean
    assert found[256]["scaled_dot"].largest.mean == pytest.approx(0.36, abs=0.03)
    assert found[1]["dot"] == found[1]["scaled_dot"]  # √1 = 1


def test_by_hand():
    """Scores 0, ln 3: weights 1/4, 3/4; entropy 2/4 + 3/4 log2(4/3); all four cells of the Jacobian ± 3/16, norm 3/8.
    Scores 0, 0: 1/2, 1 bit, ± 1/4, norm 1/2. The error of the mean of two numbers is half their distance."""
    scores = torch.tensor([[0.0, math.log(3)], [0.0, 0.0]], dtype=torch.float64)
    found = measure_sharpness(scores, 1.0)
    bits = 0.5 + 0.75 * math.log2(4 / 3)
    for estimate, (one, other) in (
        (found.largest, (3 / 4, 1 / 2)),
        (found.entropy, (bits, 1.0)),
        (found.slope, (3 / 8, 1 / 2)),
    ):
        assert estimate.mean == pytest.approx((one + other) / 2, abs=1e-14)
        assert estimate.error == pytest.approx(abs(one - other) / 2, abs=1e-14)


@pytest.mark.parametrize("keys", [2, 3, 8, 61])
def test_even_weights_on_paper(keys):
    """The Jacobian of n weights 1/n is (I - 1/n)/n: n - 1 times the eigenvalue 1/n."""
    even = even_sharpness(keys)
    assert even.largest == Estimate(pytest.approx(1 / keys, abs=1e-14), 0.0)
    assert even.entropy == Estimate(pytest.approx(math.log2(keys), abs=1e-13), 0.0)
    assert even.slope == Estimate(pytest.approx(math.sqrt(keys - 1) / keys, abs=1e-14), 0.0)


def test_the_scale_multiplies_the_scores():
    scores = torch.tensor([[0.0, 2 * math.log(3)]], dtype=torch.float64)
    assert measure_sharpness(scores, 0.5).largest == Estimate(pytest.approx(0.75, abs=1e-14), 0.0)


def test_the_golden_scores_of_width_64():
    case = loader.read(loader.FOLDER / "s37_softmax_saturation_jacobian.json")
    scores, stated = torch.tensor([case["inputs"]["logits"]], dtype=torch.float64), case["expected"]
    for scale, name in ((1.0, "raw"), (1 / 8, "scaled")):
        found = measure_sharpness(scores, scale)
        assert found.largest.mean == pytest.approx(stated[f"max_p_{name}"], abs=1e-12)
        assert found.slope.mean == pytest.approx(stated[f"frobenius_{name}"], abs=1e-12)


def test_one_weight_that_has_it_all():
    found = measure_sharpness(torch.tensor([[2000.0, 0.0, 0.0]]).double(), 1.0)
    assert (found.largest.mean, found.entropy.mean, found.slope.mean) == (1, 0, 0)


def test_the_scores_of_one_query_share_it():
    """E s² = d_k for each key; E s₁² s₂² = E |q|⁴ = d_k² + 2 d_k, where separate queries would give d_k²."""
    scores = draw_scores(3, keys=2, draws=200_003, seed=0)
    assert scores.shape == (200_003, 2)
    squares = scores**2
    for figures, expected in ((squares[:, 0], 3.0), (squares[:, 1], 3.0), (squares.prod(-1), 15.0)):
        assert figures.mean().item() == pytest.approx(expected, abs=5 * figures.std().item() / math.sqrt(200_003))
    assert scores.prod(-1).mean().abs() <= 5 * scores.prod(-1).std() / math.sqrt(200_003)


def test_a_seed_says_it_all():
    state = torch.get_rng_state()
    one, again, other = (measure_saturation(5, keys=3, draws=7, seed=seed) for seed in (1, 1, 2))
    assert one == again != other
    assert torch.equal(torch.get_rng_state(), state)


@pytest.mark.parametrize("wrong", [{"d_k": 0}, {"d_k": 5, "keys": 0}, {"d_k": 5, "draws": 1.5}])
def test_what_is_refused(wrong):
    with pytest.raises(AttentionError) as error:
        measure_saturation(**wrong)
    assert error.value.code == "positive_integer"
