"""How sharp the softmax is as d_k grows: the stories' own figures, and small cases by hand."""

import math

import pytest
import torch

from attention_core import AttentionError
from attention_core.analysis.dot_product_moments import draw_normal
from attention_core.analysis.softmax_saturation import (
    Estimate,
    draw_queries,
    even_sharpness,
    last_width_of_more,
    measure_saturation,
    measure_sharpness,
)
from attention_core.mechanism.scores import dot
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


WIDE = (1, 16, 128, 1024)  # both ends of the lesson's slider, its middle, and a width of real heads
MEASURED = {8: 400, 64: 100, 512: 8}  # draws by the number of keys


@pytest.fixture(scope="module", params=MEASURED)
def by_width(request):
    keys, draws = request.param, MEASURED[request.param]
    return keys, {d_k: measure_saturation(d_k, keys, draws, seed=5) for d_k in WIDE}


@pytest.mark.parametrize("keys", MEASURED)
def test_the_scores_spread_by_the_root_of_d_k_whatever_the_number_of_keys(keys):
    for d_k in WIDE:
        generator, draws = torch.Generator().manual_seed(3), max(8, 300 // d_k)
        scores = dot(draw_normal((draws, 1, 1, d_k), generator), draw_normal((draws, 1, keys, d_k), generator))
        assert scores.std().item() == pytest.approx(math.sqrt(d_k), rel=0.2)


def test_undivided_the_width_decides_how_sharp_the_softmax_is_and_divided_it_does_not(by_width):
    """What the lesson and the lecture say at every number of keys."""
    keys, found = by_width
    undivided, divided = ([found[d_k][score].largest.mean for d_k in WIDE] for score in ("dot", "scaled_dot"))
    assert undivided == sorted(undivided) and undivided[-1] > 0.85
    assert max(divided) - min(divided) < 0.1 and max(divided) < 0.4
    entropies = [found[d_k]["dot"].entropy.mean for d_k in WIDE]
    assert entropies == sorted(entropies, reverse=True) and entropies[-1] < 0.15 * math.log2(keys)
    still = [found[d_k]["scaled_dot"].entropy.mean for d_k in WIDE]
    assert max(still) - min(still) < 0.1 * math.log2(keys)


def test_the_width_up_to_which_more_gradient_arrives_undivided_grows_with_the_number_of_keys(by_width):
    keys, found = by_width
    last = last_width_of_more(found)
    assert {8: last == 16, 64: last == 128, 512: last >= 128}[keys]
    gradients = {d_k: [found[d_k][score].at_query.median for score in ("dot", "scaled_dot")] for d_k in WIDE}
    assert gradients[1][0] == gradients[1][1]
    assert all((undivided >= divided) == (d_k <= last) for d_k, (undivided, divided) in gradients.items())
    settled = [gradients[d_k][1] for d_k in WIDE if d_k >= 16]
    assert max(settled) < 1.25 * min(settled)  # divided it stays near one value


@pytest.mark.parametrize("keys", (8, 64, 512))
def test_wide_enough_hardly_any_gradient_arrives_undivided_with_any_number_of_keys(keys):
    found = measure_saturation(8192, keys, draws=3, seed=2)
    assert found["dot"].at_query.median < found["scaled_dot"].at_query.median / 100


def test_no_widths_have_no_last():
    with pytest.raises(AttentionError):
        last_width_of_more({})


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


def test_the_gradient_that_reaches_the_query_by_autograd():
    """|dw/dq| of every draw by torch's own backward pass; of eleven the middle one, and the quarters."""
    d_k, keys, draws = 5, 3, 11
    for score, factor in (("dot", 1.0), ("scaled_dot", 1 / math.sqrt(d_k))):
        generator = torch.Generator().manual_seed(7)
        q = draw_normal((draws, 1, 1, d_k), generator)
        k = draw_normal((draws, 1, keys, d_k), generator)
        norms = []
        for query, rows in zip(q[:, 0, 0], factor * k[:, 0], strict=True):
            slopes = torch.autograd.functional.jacobian(lambda x, rows=rows: (rows @ x).softmax(0), query)
            norms.append(slopes.norm().item())
        found = measure_saturation(d_k, keys, draws, seed=7)[score].at_query
        assert found.median == pytest.approx(sorted(norms)[5], abs=1e-12)
        assert found.lower == pytest.approx((sorted(norms)[2] + sorted(norms)[3]) / 2, abs=1e-12)
        assert found.upper == pytest.approx((sorted(norms)[7] + sorted(norms)[8]) / 2, abs=1e-12)


def test_undivided_most_draws_lose_the_gradient_and_a_few_get_more_than_ever():
    found = {d_k: measure_saturation(d_k) for d_k in (64, 1024)}
    assert found[1024]["dot"].at_query.median < 1e-3 < found[1024]["dot"].at_query.upper
    assert found[64]["dot"].at_query.median > found[64]["scaled_dot"].at_query.median  # at 64 not yet lost
    for d_k in found:
        assert found[d_k]["scaled_dot"].at_query.median == pytest.approx(0.365, abs=0.01)


def test_one_weight_that_has_it_all():
    found = measure_sharpness(torch.tensor([[2000.0, 0.0, 0.0]]).double(), 1.0)
    assert (found.largest.mean, found.entropy.mean, found.slope.mean) == (1, 0, 0)


def test_the_scores_of_one_query_share_it():
    """E s² = d_k for each key; E s₁² s₂² = E |q|⁴ = d_k² + 2 d_k, where separate queries would give d_k²."""
    scores, _ = draw_queries(3, keys=2, draws=200_003, seed=0)
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
