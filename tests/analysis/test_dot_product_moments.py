"""Laws of q · k: the closed forms against sums over all outcomes, the draws against the closed forms.

Five nodes of Gauss quadrature have the law's own moments up to the ninth, so a sum over all their combinations gives
the mean, the variance and the fourth moment of q · k exactly.
"""

import math
from bisect import bisect_right
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import torch

from attention_core import AttentionError
from attention_core.analysis import dot_product_moments
from attention_core.analysis.dot_product_moments import (
    CHUNK_NUMBERS,
    DEPENDENCES,
    LAWS,
    count_in_bins,
    draw_products,
    exact_moments,
    measure_variances,
    score_histograms,
)

every_law = pytest.mark.parametrize("law", LAWS)
every_dependence = pytest.mark.parametrize("dependence", DEPENDENCES)

Outcomes = list[tuple[float, float]]  # a value and its probability


# ---- exact -----------------------------------------------------------------------------------------------------------
def nodes(law: str) -> Outcomes:
    """A law of a few values with the same moments, the ninth included."""
    if law == "signs":
        return [(-1.0, 0.5), (1.0, 0.5)]
    if law == "uniform":
        points, weights = np.polynomial.legendre.leggauss(5)
        return [*zip(points * math.sqrt(3), weights / 2, strict=True)]
    points, weights = np.polynomial.hermite_e.hermegauss(5)
    return [*zip(points, weights / math.sqrt(2 * math.pi), strict=True)]


def outcomes(law: str, dependence: str, d_k: int) -> Outcomes:
    """Every value that q · k can have with these nodes, by loops."""
    one = nodes(law)
    pairs = [(a * b, p * r) for (a, p), (b, r) in product(one, one)]
    if dependence == "repeated":
        return [(sum([value] * d_k), share) for value, share in pairs]
    if dependence == "same":
        parts = [(a * a, p) for a, p in one]
    elif dependence == "silent":
        parts = [(2 * value, share / 2) for value, share in pairs] + [(0.0, 0.5)]
    else:
        parts = pairs
    return [
        (sum(value for value, _ in each), math.prod(share for _, share in each)) for each in product(parts, repeat=d_k)
    ]


@every_law
@every_dependence
@pytest.mark.parametrize("d_k", [1, 2, 3])
def test_moments_against_a_sum_over_all_outcomes(law, dependence, d_k):
    found = outcomes(law, dependence, d_k)
    assert math.fsum(share for _, share in found) == pytest.approx(1.0, abs=1e-12)
    mean = math.fsum(value * share for value, share in found)
    variance, fourth = (math.fsum((value - mean) ** n * share for value, share in found) for n in (2, 4))
    stated = exact_moments(law, dependence, d_k)
    assert (stated.mean, stated.variance) == pytest.approx((mean, variance), rel=1e-12, abs=1e-12)
    assert stated.fourth == pytest.approx(fourth, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize(
    ("law", "dependence", "mean", "variance"),
    [
        *((law, "independent", 0, 64) for law in LAWS),
        ("normal", "same", 64, 128),
        ("uniform", "same", 64, 51.2),
        ("signs", "same", 64, 0),
        *((law, "silent", 0, 128) for law in LAWS),
        *((law, "repeated", 0, 4096) for law in LAWS),
    ],
)
def test_on_paper(law, dependence, mean, variance):
    moments = exact_moments(law, dependence, 64)
    assert (moments.mean, moments.variance) == pytest.approx((mean, variance), abs=1e-12)
    assert moments.scaled(1 / 8).mean == pytest.approx(mean / 8)
    assert moments.scaled(1 / 8).variance == pytest.approx(variance / 64)
    assert moments.scaled(1 / 8).fourth == pytest.approx(moments.fourth / 4096)


# ---- draws -----------------------------------------------------------------------------------------------------------
@every_law
def test_a_component_has_its_law(law):
    """Mean 0, variance 1 and the moments of the table, each within five standard errors of 100,003 draws."""
    own, n = LAWS[law], 100_003
    drawn = own.draw((n,), torch.Generator().manual_seed(7))
    assert drawn.dtype == torch.float64
    for power, expected in ((1, 0.0), (2, 1.0), (3, 0.0), (4, own.fourth), (6, own.sixth), (8, own.eighth)):
        error = (drawn**power).std().item() / math.sqrt(n)
        assert (drawn**power).mean().item() == pytest.approx(expected, abs=5 * error + 1e-12), power
    if law == "signs":
        assert drawn.unique().tolist() == [-1, 1]
    if law == "uniform":
        assert 1.73 < drawn.abs().max() <= math.sqrt(3)


@every_law
@every_dependence
@pytest.mark.parametrize("d_k", [1, 7, 61])
def test_products_have_the_stated_mean_and_variance(law, dependence, d_k):
    moments, n = exact_moments(law, dependence, d_k), 20_011
    drawn = draw_products(law, dependence, d_k, n, seed=3)
    assert (drawn.shape, drawn.dtype) == ((n,), torch.float64)
    spread = math.sqrt((moments.fourth - moments.variance**2 * (n - 3) / (n - 1)) / n)
    assert drawn.mean().item() == pytest.approx(moments.mean, abs=5 * math.sqrt(moments.variance / n) + 1e-9)
    assert drawn.var().item() == pytest.approx(moments.variance, abs=5 * spread + 1e-9)


@every_dependence
def test_q_and_k_are_as_they_are_called(dependence):
    q, k = DEPENDENCES[dependence].draw(LAWS["normal"], (5, 7), torch.Generator().manual_seed(1))
    assert q.shape == k.shape == (5, 7)
    assert torch.equal(q, k) == (dependence == "same")
    assert torch.equal(q, q[:, :1].expand(5, 7)) == (dependence == "repeated")
    assert torch.equal(q == 0, k == 0)
    assert (q == 0).any() == (dependence == "silent")


@every_law
@every_dependence
def test_a_seed_says_it_all(law, dependence):
    state = torch.get_rng_state()
    one, again, other = (draw_products(law, dependence, 5, 301, seed) for seed in (1, 1, 2))
    assert torch.equal(one, again)
    assert torch.equal(one, other) == ((law, dependence) == ("signs", "same"))
    assert torch.equal(torch.get_rng_state(), state)


@pytest.mark.parametrize("dependence", ["independent", "same", "silent"])
@pytest.mark.parametrize(("d_k", "draws"), [(1, 40_009), (1024, 101), (CHUNK_NUMBERS + 1, 3)])
def test_no_more_is_drawn_at_a_time_than_is_said(dependence, d_k, draws, monkeypatch):
    sizes = []

    def draw(shape, generator):
        sizes.append(math.prod(shape))
        return torch.ones(shape, dtype=torch.float64)

    monkeypatch.setitem(dot_product_moments.LAWS, "normal", replace(LAWS["normal"], draw=draw))
    assert draw_products("normal", dependence, d_k, draws).shape == (draws,)
    assert sum(sizes) == draws * d_k * (1 if dependence == "same" else 2)
    assert max(sizes) <= max(CHUNK_NUMBERS, d_k)


# ---- the band --------------------------------------------------------------------------------------------------------
def test_a_band_on_paper():
    """d_k = 1, normal, 5 draws: (9 - 2/4) / 5 = 1.7; 1.96 √1.7 = 2.55553; not below 0. Repeated 9 times: all by 81."""
    found = measure_variances("normal", "independent", 1, draws=5)["dot"]
    assert (found.exact, found.low, found.high) == pytest.approx((1.0, 0.0, 3.55552734), abs=1e-7)
    found = measure_variances("normal", "repeated", 9, draws=5)["dot"]
    assert (found.exact, found.low, found.high) == pytest.approx((81.0, 0.0, 81 * 3.55552734), abs=1e-5)


def test_what_cannot_vary_has_no_band():
    found = measure_variances("signs", "same", 61)["dot"]
    assert (found.measured, found.exact, found.low, found.high) == (0, 0, 0, 0)


def test_what_is_measured_is_the_variance_of_the_products():
    drawn = draw_products("uniform", "independent", 13, 999, seed=4).tolist()
    mean = sum(drawn) / 999
    by_hand = sum((each - mean) ** 2 for each in drawn) / 998
    found = measure_variances("uniform", "independent", 13, 999, seed=4)
    assert found["dot"].measured == pytest.approx(by_hand, rel=1e-12)
    assert found["scaled_dot"].measured == pytest.approx(by_hand / 13, rel=1e-12)
    assert found["scaled_dot"].exact == pytest.approx(1.0, rel=1e-12)
    for each in ("low", "high"):
        assert getattr(found["scaled_dot"], each) == pytest.approx(getattr(found["dot"], each) / 13, rel=1e-12)
    assert found["dot"].mean == pytest.approx(mean, rel=1e-12)
    assert found["scaled_dot"].mean == pytest.approx(mean / math.sqrt(13), rel=1e-12)
    same = measure_variances("normal", "same", 64, draws=2)
    assert (same["dot"].exact_mean, same["scaled_dot"].exact_mean) == (64, 8)  # d_k, and √d_k


@pytest.mark.parametrize(
    ("law", "dependence"),
    [("normal", "independent"), ("uniform", "same"), ("signs", "silent"), ("normal", "repeated")],
)
def test_the_band_holds_95_of_100(law, dependence):
    """Of 400 seeds 380 are expected, give or take 13 (three standard errors), and somewhat more for skewed laws."""
    found = [measure_variances(law, dependence, 5, 2000, seed)["dot"] for seed in range(400)]
    inside = sum(each.low <= each.measured <= each.high for each in found)
    assert 364 <= inside <= 394


# ---- histograms ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("bins", [1, 7, 40])
def test_a_histogram_by_loops(bins):
    numbers = draw_products("normal", "independent", 7, 1009, seed=5)
    found = count_in_bins(numbers, 4.0, bins)
    edges = [-4 + 8 * n / bins for n in range(bins + 1)]
    counts = [0] * bins
    for each in numbers.tolist():
        if -4 <= each <= 4:
            counts[min(bisect_right(edges, each) - 1, bins - 1)] += 1
    assert found.edges == pytest.approx(edges)
    assert found.counts == tuple(counts)
    assert found.outside == 1009 - sum(counts) > 0
    assert found.shares == pytest.approx([count / 1009 for count in counts])


def test_scaled_and_not_are_the_same_draws_in_the_same_bins():
    found = score_histograms("uniform", "independent", 256, limit=6.0, bins=12, draws=1511, seed=2)
    drawn = draw_products("uniform", "independent", 256, 1511, seed=2)
    assert found == {"dot": count_in_bins(drawn, 6.0, 12), "scaled_dot": count_in_bins(drawn / 16, 6.0, 12)}
    assert found["dot"].outside > 900  # of 1,511 with a standard deviation of 16, 71 % lie beyond 6
    assert found["scaled_dot"].outside == 0


# ---- what is refused -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"law": "cauchy"}, "unknown_choice"),
        ({"dependence": "alike"}, "unknown_choice"),
        ({"d_k": 0}, "positive_integer"),
        ({"d_k": 2.0}, "positive_integer"),
        ({"draws": 0}, "positive_integer"),
        ({"draws": 1}, "one_draw"),
    ],
)
def test_what_is_refused(changes, code):
    usual = {"law": "normal", "dependence": "independent", "d_k": 3, "draws": 5}
    with pytest.raises(AttentionError) as error:
        measure_variances(**(usual | changes))
    assert error.value.code == code


def test_an_unknown_law_lists_those_there_are():
    with pytest.raises(AttentionError, match="law must be one of normal, signs, uniform: got 'cauchy'"):
        exact_moments("cauchy", "same", 3)
