"""Computes mean and variance of q · k as d_k grows, in closed form and from samples, for several distributions
("laws").

All samples are float64 and come from a seed. They are taken in chunks: at most six tensors of CHUNK_NUMBERS numbers
(1.5 MiB together) are in memory, or six of the size of one sample if it is larger. Only the products q · k of earlier
chunks are kept.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Generator, Tensor

from attention_core.mechanism.plain_checks import require_one_of, require_positive
from attention_core.mechanism.scores import root_scale
from attention_core.record.errors import AttentionError

CHUNK_NUMBERS = 2**15  # numbers per chunk of samples; larger chunks are no faster
BAND_STANDARD_ERRORS = 1.96  # 95 % of all measurements are within this many standard errors of the true value

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Law:
    """A distribution of one component x of q or k, given by its moments E x⁴, E x⁶ and E x⁸.

    Every law has E x² = 1 and odd moments 0.
    """

    draw: Callable[[tuple[int, ...], Generator], Tensor]
    fourth: float
    sixth: float
    eighth: float


@dataclass(frozen=True)
class Moments:
    """The mean, the variance and the fourth central moment of q · k."""

    mean: float
    variance: float
    fourth: float

    def scaled(self, factor: float) -> "Moments":
        """Return the moments of the product factor × (q · k).

        >>> Moments(mean=0.0, variance=64.0, fourth=12288.0).scaled(1 / 8).variance
        1.0
        """
        return Moments(
            mean=self.mean * factor,
            variance=self.variance * factor**2,
            fourth=self.fourth * factor**4,
        )


def moments_of_sum(part: Moments, parts: int) -> Moments:
    """Compute the moments of a sum of independent parts that have the same moments."""
    pairs = 3 * parts * (parts - 1)
    return Moments(
        mean=parts * part.mean,
        variance=parts * part.variance,
        fourth=parts * part.fourth + pairs * part.variance**2,
    )


def independent_moments(law: Law, d_k: int) -> Moments:
    """Compute the moments of q · k whose components are all independent."""
    return moments_of_sum(Moments(0.0, 1.0, law.fourth**2), d_k)


def same_moments(law: Law, d_k: int) -> Moments:
    """Compute the moments of q · q."""
    fourth = law.eighth - 4 * law.sixth + 6 * law.fourth - 3  # E (x² - 1)⁴, the fourth moment of x² - 1
    return moments_of_sum(Moments(1.0, law.fourth - 1, fourth), d_k)


def silent_moments(law: Law, d_k: int) -> Moments:
    """Compute the moments of q · k if each component is 0 in both q and k with probability 1/2 (the dependence
    "silent")."""
    return moments_of_sum(Moments(0.0, 2.0, 8 * law.fourth**2), d_k)


def repeated_moments(law: Law, d_k: int) -> Moments:
    """Compute the moments of q · k if all components of q are one random number a, and all components of k one random
    number b.
    """
    return Moments(0.0, 1.0, law.fourth**2).scaled(d_k)


# ---- laws: how one component is sampled, with mean 0 and variance 1 --------------------------------------------------
def draw_normal(shape: Shape, generator: Generator) -> Tensor:
    """Sample from N(0, 1)."""
    return torch.randn(shape, generator=generator, dtype=torch.float64)


def draw_signs(shape: Shape, generator: Generator) -> Tensor:
    """Sample -1 or +1, each with probability 1/2."""
    bits = torch.randint(2, shape, generator=generator, dtype=torch.int8)
    return 2.0 * bits.double() - 1.0


def draw_uniform(shape: Shape, generator: Generator) -> Tensor:
    """Sample uniformly from -√3 to √3, which has variance 1."""
    shares = torch.rand(shape, generator=generator, dtype=torch.float64)
    return (2.0 * shares - 1.0) * math.sqrt(3)


LAWS = {
    "normal": Law(draw_normal, fourth=3.0, sixth=15.0, eighth=105.0),
    "signs": Law(draw_signs, fourth=1.0, sixth=1.0, eighth=1.0),
    "uniform": Law(draw_uniform, fourth=9 / 5, sixth=27 / 7, eighth=81 / 9),
}


# ---- dependence: how k depends on q ----------------------------------------------------------------------------------
DrawnPair = tuple[Float[Tensor, "n d_k"], Float[Tensor, "n d_k"]]


def draw_independent(law: Law, shape: Shape, generator: Generator) -> DrawnPair:
    """Sample all components of q and k independently."""
    return law.draw(shape, generator), law.draw(shape, generator)


def draw_same(law: Law, shape: Shape, generator: Generator) -> DrawnPair:
    """Sample q once and return it as both q and k."""
    q = law.draw(shape, generator)
    return q, q


def draw_silent(law: Law, shape: Shape, generator: Generator) -> DrawnPair:
    """Sample q and k with shared zeros: with probability 1/2 a component is 0 in both, else it is sampled and scaled by
    √2.
    """
    bits = torch.randint(2, shape, generator=generator, dtype=torch.int8)
    factors = math.sqrt(2) * bits
    q = law.draw(shape, generator)
    k = law.draw(shape, generator)
    return factors * q, factors * k


def draw_repeated(law: Law, shape: Shape, generator: Generator) -> DrawnPair:
    """Sample a number for all components of q, and another number for all components of k."""
    q, k = draw_independent(law, (shape[0], 1), generator)
    return q.expand(shape), k.expand(shape)  # (n, 1) -> (n, d_k)


@dataclass(frozen=True)
class Dependence:
    """A joint distribution of q and k: how pairs are sampled from a law, and the moments of q · k in closed form."""

    draw: Callable[[Law, Shape, Generator], DrawnPair]
    moments: Callable[[Law, int], Moments]


DEPENDENCES = {
    "independent": Dependence(draw_independent, independent_moments),
    "same": Dependence(draw_same, same_moments),
    "silent": Dependence(draw_silent, silent_moments),
    "repeated": Dependence(draw_repeated, repeated_moments),
}


# ---- exact -----------------------------------------------------------------------------------------------------------
def exact_moments(law: str, dependence: str, d_k: int) -> Moments:
    r"""Compute mean, variance and fourth central moment of $q \cdot k = \sum_m q_m k_m$ in closed form.

    law: one of LAWS, the distribution of each component, with mean 0 and variance 1. d_k: the number of components.
    dependence: how q and k depend on each other:

    - "independent": $E\,q_m k_m = 0$ and $E\,(q_m k_m)^2 = 1$. A sum of d_k independent parts has d_k times the
      variance of one, so the mean is 0 and the variance d_k, whatever the law
      (Vaswani et al. 2017, footnote 4).
    - "same": q = k, so $E\,q_m^2 = 1$ and a part has variance $E\,q_m^4 - 1$. The mean is d_k, and the variance 2 d_k
      for normal components, 0.8 d_k for uniform ones, 0 for signs.
    - "silent": $q_m$ and $k_m$ are both 0 half of the time, else √2 times independent samples. Their covariance is 0
      and their variances 1, yet $E\,(q_m k_m)^2 = \tfrac{1}{2} \cdot 4 = 2$ and the variance is 2 d_k: being
      uncorrelated is not enough.
    - "repeated": all components of q are one number a, all of k one number b. Then $q \cdot k = d_k\,a b$ has variance
      d_k².

    A sum of d_k independent parts with variance s and fourth central moment f has the fourth central moment $d_k f + 3
    d_k (d_k - 1) s^2$: in each nonzero product of four factors, all come from one part, or two from each of two parts.

    Raises AttentionError (a ValueError) for an unknown name or a d_k that is not a positive whole number.

    >>> exact_moments("uniform", "independent", 64).variance, exact_moments("normal", "same", 64).variance
    (64.0, 128.0)
    """
    check_law(law, dependence, d_k)
    return DEPENDENCES[dependence].moments(LAWS[law], d_k)


# ---- measured --------------------------------------------------------------------------------------------------------
def draw_products(law: str, dependence: str, d_k: int, draws: int = 5000, seed: int = 0) -> Float[Tensor, " draws"]:
    """Sample q · k and return the products; `draws` is the number of products.

    law: one of LAWS, the distribution of each component. dependence: how q depends on k, described in exact_moments.
    d_k: the number of components. Raises AttentionError (a ValueError) for an unknown name, or a d_k or `draws` that is
    not a positive whole number.

    >>> draw_products("signs", "same", 7, draws=3)
    tensor([7., 7., 7.], dtype=torch.float64)
    """
    check_law(law, dependence, d_k)
    require_positive("draws", draws)
    generator = torch.Generator().manual_seed(seed)
    draw_pair = DEPENDENCES[dependence].draw
    parts = []
    for count in chunk_sizes(draws, d_k):
        shape = (count, d_k)
        q, k = draw_pair(LAWS[law], shape, generator)  # q and k: each (count, d_k)
        parts.append(torch.linalg.vecdot(q, k))  # (count,)
    return torch.cat(parts)


def score_factors(d_k: int) -> dict[str, float]:
    """Return {score: the factor that turns q · k into this score} for the two compared scores, "dot" and
    "scaled_dot".
    """
    return {"dot": 1.0, "scaled_dot": root_scale(d_k)}


@dataclass(frozen=True)
class MeasuredVariance:
    """The measured variance and the exact variance of sampled scores, with the 95 % band from `low` to `high`.

    mean: the mean of the same samples. exact_mean: the mean of the distribution.
    """

    measured: float
    exact: float
    low: float
    high: float
    mean: float
    exact_mean: float


def measure_variances(
    law: str, dependence: str, d_k: int, draws: int = 5000, seed: int = 0
) -> dict[str, MeasuredVariance]:
    r"""Measure the variance of sampled "dot" and "scaled_dot" scores, each with its 95 % band.

    Both scores use the same n samples. The band around the exact variance contains 95 % of such measurements. The
    measured variance of n samples has itself the variance $(\mu_4 - \sigma^4 (n-3)/(n-1))/n$, where $\mu_4$ is the
    fourth central moment of one sample. For many samples it is nearly normal, so the band is 1.96 standard deviations
    to each side.

    Arguments and errors are those of draw_products; draws must exceed 1, because one sample has no variance. Source of
    the variance of a variance: Cramér 1946, Mathematical Methods of Statistics, chapter 27.

    >>> found = measure_variances("uniform", "independent", 64)["dot"]
    >>> found.exact, round(found.low, 1), round(found.high, 1), found.low < found.measured < found.high
    (64.0, 61.5, 66.5, True)
    """
    if require_positive("draws", draws) == 1:
        raise AttentionError("one_draw")
    drawn = draw_products(law, dependence, d_k, draws, seed)
    moments = exact_moments(law, dependence, d_k)
    mean = drawn.mean().item()
    variance = drawn.var().item()
    found = {}
    for score, factor in score_factors(d_k).items():
        found[score] = variance_with_band(
            mean=mean * factor,
            measured=variance * factor**2,
            moments=moments.scaled(factor),
            draws=draws,
        )
    return found


def variance_with_band(mean: float, measured: float, moments: Moments, draws: int) -> MeasuredVariance:
    """Return a measured variance and mean beside the exact values, with the 95 % band for this number of samples."""
    exact = moments.variance
    spread = moments.fourth - exact**2 * (draws - 3) / (draws - 1)
    standard_error = math.sqrt(max(spread, 0.0) / draws)
    reach = BAND_STANDARD_ERRORS * standard_error
    return MeasuredVariance(
        measured=measured,
        exact=exact,
        low=max(exact - reach, 0.0),
        high=exact + reach,
        mean=mean,
        exact_mean=moments.mean,
    )


@dataclass(frozen=True)
class Histogram:
    """The count of numbers in each of equally wide bins.

    `edges` has one number more than `counts`. `outside` counts the numbers beyond the edges.
    """

    edges: tuple[float, ...]
    counts: tuple[int, ...]
    outside: int

    @property
    def shares(self) -> tuple[float, ...]:
        """The share of all numbers in each bin; numbers outside the edges count as numbers, but are in no bin."""
        whole = sum(self.counts) + self.outside
        return tuple(count / whole for count in self.counts)


def count_in_bins(numbers: Float[Tensor, " n"], limit: float, bins: int = 40) -> Histogram:
    """Count numbers in bins of equal width from -limit to limit.

    A number on an inner edge counts in the bin to its right; a number equal to limit counts in the last bin.

    >>> count_in_bins(torch.tensor([-1.0, 0.0, 0.5, 2.0, 7.0]), limit=2.0, bins=2)
    Histogram(edges=(-2.0, 0.0, 2.0), counts=(1, 3), outside=1)
    """
    counts, edges = torch.histogram(numbers.double(), bins, range=(-limit, limit))
    inside = [int(count) for count in counts.tolist()]
    return Histogram(
        edges=tuple(edges.tolist()),
        counts=tuple(inside),
        outside=len(numbers) - sum(inside),
    )


def score_histograms(
    law: str, dependence: str, d_k: int, limit: float, bins: int = 40, draws: int = 5000, seed: int = 0
) -> dict[str, Histogram]:
    """Count the same samples in the same bins twice: as "dot" scores q · k, and as "scaled_dot" scores q · k / √d_k.

    >>> found = score_histograms("normal", "independent", 256, limit=8.0)  # half a standard deviation, and eight
    >>> found["dot"].outside > 3000, found["scaled_dot"].outside
    (True, 0)
    """
    products = draw_products(law, dependence, d_k, draws, seed)
    histograms = {}
    for score, factor in score_factors(d_k).items():
        histograms[score] = count_in_bins(products * factor, limit, bins)
    return histograms


# ---- what is accepted, and how much at a time ------------------------------------------------------------------------
def check_law(law: str, dependence: str, d_k: int) -> None:
    """Raise AttentionError for an unknown name, or for a d_k that is not a positive whole number."""
    require_one_of("law", law, tuple(LAWS))
    require_one_of("dependence", dependence, tuple(DEPENDENCES))
    require_positive("d_k", d_k)


def chunk_sizes(draws: int, width: int) -> Iterator[int]:
    """Yield the sizes of the chunks into which `draws` samples of `width` numbers are divided.

    >>> list(chunk_sizes(75, 1024)), list(chunk_sizes(5, 8)), list(chunk_sizes(2, 10**6))
    ([32, 32, 11], [5], [1, 1])
    """
    most = max(1, CHUNK_NUMBERS // width)
    for first in range(0, draws, most):
        yield min(most, draws - first)


# ---- one sample, to be seen ------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class ScoreCloud:
    """Sampled scores in ascending order, and their standard deviation."""

    scores: tuple[float, ...]
    deviation: float


def draw_score_clouds(d_k: int, draws: int = 240, seed: int = 0) -> dict[str, ScoreCloud]:
    """Sample q · k with components from N(0, 1), and return the "dot" and "scaled_dot" scores of the same samples.

    Raises AttentionError if `d_k` or `draws` is not a positive whole number.

    >>> clouds = draw_score_clouds(256)
    >>> clouds["dot"].deviation == 16 * clouds["scaled_dot"].deviation  # √256
    True
    """
    products = draw_products("normal", "independent", d_k, draws, seed)
    rising = products.sort().values
    clouds = {}
    for score, factor in score_factors(d_k).items():
        scores = rising * factor
        clouds[score] = ScoreCloud(tuple(scores.tolist()), scores.std().item())
    return clouds
