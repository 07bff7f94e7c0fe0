"""What becomes of q · k as d_k grows: its mean and variance for several laws, exact and measured.

Everything is drawn in float64 from a seed. While drawing, at most six tensors of CHUNK numbers (1.5 MiB together) are
held, or of one draw where that has more, and beside them only the products.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Generator, Tensor

from attention_core.mechanism.config import require_positive
from attention_core.mechanism.scores import root_scale
from attention_core.record.errors import AttentionError

CHUNK_NUMBERS = 2**15  # numbers of one tensor drawn at a time: more are no faster
BAND_STANDARD_ERRORS = 1.96  # standard errors to each side of it that hold 95 % of what is measured

Shape = tuple[int, ...]


# ---- laws: how one component is drawn, with mean 0 and variance 1 ----------------------------------------------------
@dataclass(frozen=True)
class Law:
    """One component x of q or of k: its draw, and E x⁴, E x⁶, E x⁸. E x² is 1, and odd powers have mean 0."""

    draw: Callable[[Shape, Generator], Tensor]
    fourth: float
    sixth: float
    eighth: float


def draw_normal(shape: Shape, generator: Generator) -> Tensor:
    """From N(0, 1)."""
    return torch.randn(shape, generator=generator, dtype=torch.float64)


def draw_signs(shape: Shape, generator: Generator) -> Tensor:
    """-1 or +1, both as likely."""
    return 2.0 * torch.randint(2, shape, generator=generator, dtype=torch.int8).double() - 1.0


def draw_uniform(shape: Shape, generator: Generator) -> Tensor:
    """Evenly from -√3 to √3, which has variance 1."""
    return (2.0 * torch.rand(shape, generator=generator, dtype=torch.float64) - 1.0) * math.sqrt(3)


LAWS = {
    "normal": Law(draw_normal, 3.0, 15.0, 105.0),
    "signs": Law(draw_signs, 1.0, 1.0, 1.0),
    "uniform": Law(draw_uniform, 9 / 5, 27 / 7, 81 / 9),
}


# ---- exact -----------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Moments:
    """Mean, variance and fourth central moment of q · k."""

    mean: float
    variance: float
    fourth: float

    def scaled(self, factor: float) -> "Moments":
        """Those of q · k times a factor.

        >>> exact_moments("normal", "independent", 64).scaled(1 / 8).variance
        1.0
        """
        return Moments(self.mean * factor, self.variance * factor**2, self.fourth * factor**4)


def exact_moments(law: str, dependence: str, d_k: int) -> Moments:
    r"""Mean, variance and fourth central moment of $q \cdot k = \sum_m q_m k_m$ in closed form.

    law: of each component, mean 0 and variance 1: one of LAWS. d_k: how many components there are. dependence:

    - "independent": $E\,q_m k_m = 0$ and $E\,(q_m k_m)^2 = 1$; a sum of d_k independent parts has d_k times the
      variance of one: mean 0, variance d_k. The law does not matter. (Vaswani et al. 2017, footnote 4.)
    - "same", q = k: $E\,q_m^2 = 1$, variance of a part $E\,q_m^4 - 1$: mean d_k, variance 2 d_k for normal components,
      0.8 d_k for uniform ones, 0 for signs.
    - "silent", each $q_m$ and $k_m$ both 0 half of the time, else √2 times independent draws: their covariance is 0,
      their variances 1, and yet $E\,(q_m k_m)^2 = \tfrac{1}{2} \cdot 4 = 2$: variance 2 d_k; to be uncorrelated is
      not enough.
    - "repeated", all components of q one number a, all of k one number b: $q \cdot k = d_k\,a b$: variance d_k².

    A sum of d_k independent parts with variance s and fourth central moment f has the fourth central moment
    $d_k f + 3 d_k (d_k - 1) s^2$: all four factors from one part, or two from each of two parts.

    Raises AttentionError (a ValueError) for an unknown name or a d_k that is no positive whole number.

    >>> exact_moments("uniform", "independent", 64).variance, exact_moments("normal", "same", 64).variance
    (64.0, 128.0)
    """
    check_law(law, dependence, d_k)
    return DEPENDENCES[dependence].moments(LAWS[law], d_k)


def moments_of_sum(part: Moments, parts: int) -> Moments:
    """The moments of a sum of independent parts that are alike."""
    pairs = 3 * parts * (parts - 1)
    return Moments(parts * part.mean, parts * part.variance, parts * part.fourth + pairs * part.variance**2)


def independent_moments(law: Law, d_k: int) -> Moments:
    return moments_of_sum(Moments(0.0, 1.0, law.fourth**2), d_k)


def same_moments(law: Law, d_k: int) -> Moments:
    fourth = law.eighth - 4 * law.sixth + 6 * law.fourth - 3  # E (x² - 1)⁴
    return moments_of_sum(Moments(1.0, law.fourth - 1, fourth), d_k)


def silent_moments(law: Law, d_k: int) -> Moments:
    return moments_of_sum(Moments(0.0, 2.0, 8 * law.fourth**2), d_k)


def repeated_moments(law: Law, d_k: int) -> Moments:
    return Moments(0.0, 1.0, law.fourth**2).scaled(d_k)


# ---- dependence: how q and k hang together ---------------------------------------------------------------------------
DrawnPair = tuple[Float[Tensor, "n d_k"], Float[Tensor, "n d_k"]]


def draw_independent(law: Law, shape: Shape, generator: Generator) -> DrawnPair:
    """All components on their own."""
    return law.draw(shape, generator), law.draw(shape, generator)


def draw_same(law: Law, shape: Shape, generator: Generator) -> DrawnPair:
    """q = k."""
    q = law.draw(shape, generator)
    return q, q


def draw_silent(law: Law, shape: Shape, generator: Generator) -> DrawnPair:
    """Component m of q and of k are both 0 half of the time."""
    loud = math.sqrt(2) * torch.randint(2, shape, generator=generator, dtype=torch.int8)
    q, k = draw_independent(law, shape, generator)
    return loud * q, loud * k


def draw_repeated(law: Law, shape: Shape, generator: Generator) -> DrawnPair:
    """One number in all components of q, one in all of k."""
    q, k = draw_independent(law, (shape[0], 1), generator)
    return q.expand(shape), k.expand(shape)  # (n, 1) -> (n, d_k)


@dataclass(frozen=True)
class Dependence:
    """How pairs (q, k) are drawn from a law, and the moments of their product."""

    draw: Callable[[Law, Shape, Generator], DrawnPair]
    moments: Callable[[Law, int], Moments]


DEPENDENCES = {
    "independent": Dependence(draw_independent, independent_moments),
    "same": Dependence(draw_same, same_moments),
    "silent": Dependence(draw_silent, silent_moments),
    "repeated": Dependence(draw_repeated, repeated_moments),
}


# ---- measured --------------------------------------------------------------------------------------------------------
def draw_products(law: str, dependence: str, d_k: int, draws: int = 5000, seed: int = 0) -> Float[Tensor, " draws"]:
    """q · k, drawn so many times; the names and what is raised are those of `exact`.

    >>> draw_products("signs", "same", 7, draws=3)
    tensor([7., 7., 7.], dtype=torch.float64)
    """
    check_law(law, dependence, d_k)
    generator, draw = torch.Generator().manual_seed(seed), DEPENDENCES[dependence].draw
    parts = []
    for count in chunk_sizes(require_positive("draws", draws), d_k):
        q, k = draw(LAWS[law], (count, d_k), generator)  # each (count, d_k)
        parts.append(torch.linalg.vecdot(q, k))  # (count,)
    return torch.cat(parts)


def score_factors(d_k: int) -> dict[str, float]:
    """What q · k is multiplied by, in the two scores that are compared: "dot" and "scaled_dot"."""
    return {"dot": 1.0, "scaled_dot": root_scale(d_k)}


@dataclass(frozen=True)
class MeasuredVariance:
    """The variance of drawn scores beside the exact one; 95 of 100 measurements lie between `low` and `high`. mean,
    exact_mean: of the same draws, and of the law."""

    measured: float
    exact: float
    low: float
    high: float
    mean: float
    exact_mean: float


def measure_variances(
    law: str, dependence: str, d_k: int, draws: int = 5000, seed: int = 0
) -> dict[str, MeasuredVariance]:
    r"""The variance of n drawn scores, "dot" and "scaled_dot" of the same draws, and the band around the exact one in
    which 95 % of such measurements lie.

    The variance of n draws has itself the variance $(\mu_4 - \sigma^4 (n-3)/(n-1))/n$, where $\mu_4$ is the fourth
    central moment of one draw; for many draws it is nearly normal, so the band is 1.96 of its roots to each side.

    Arguments and errors are those of `products`; one draw has no variance. Source of the variance of a variance:
    Cramér 1946, Mathematical Methods of Statistics, chapter 27.

    >>> found = measure_variances("uniform", "independent", 64)["dot"]
    >>> found.exact, round(found.low, 1), round(found.high, 1), found.low < found.measured < found.high
    (64.0, 61.5, 66.5, True)
    """
    if require_positive("draws", draws) == 1:
        raise AttentionError("one_draw")
    drawn, moments = draw_products(law, dependence, d_k, draws, seed), exact_moments(law, dependence, d_k)
    mean, variance = drawn.mean().item(), drawn.var().item()
    return {
        score: variance_with_band(mean * c, variance * c**2, moments.scaled(c), draws)
        for score, c in score_factors(d_k).items()
    }


def variance_with_band(mean: float, measured: float, moments: Moments, draws: int) -> MeasuredVariance:
    """A measured variance with the band of so many draws, and their mean."""
    spread = moments.fourth - moments.variance**2 * (draws - 3) / (draws - 1)
    reach = BAND_STANDARD_ERRORS * math.sqrt(max(spread, 0.0) / draws)
    low, high = max(moments.variance - reach, 0.0), moments.variance + reach
    return MeasuredVariance(measured, moments.variance, low, high, mean, moments.mean)


@dataclass(frozen=True)
class Histogram:
    """How many numbers lie in each of equally wide bins; `edges` has one number more than `counts`, `outside` counts
    what lies beyond them."""

    edges: tuple[float, ...]
    counts: tuple[int, ...]
    outside: int

    @property
    def shares(self) -> tuple[float, ...]:
        """Each count as a share of all numbers, of those outside too."""
        whole = sum(self.counts) + self.outside
        return tuple(count / whole for count in self.counts)


def count_in_bins(numbers: Float[Tensor, " n"], limit: float, bins: int = 40) -> Histogram:
    """Counts in bins from -limit to limit; a number on an edge counts to the right of it, limit itself to the left.

    >>> count_in_bins(torch.tensor([-1.0, 0.0, 0.5, 2.0, 7.0]), limit=2.0, bins=2)
    Histogram(edges=(-2.0, 0.0, 2.0), counts=(1, 3), outside=1)
    """
    counts, edges = torch.histogram(numbers.double(), bins, range=(-limit, limit))
    inside = tuple(map(int, counts.tolist()))
    return Histogram(tuple(edges.tolist()), inside, len(numbers) - sum(inside))


def score_histograms(
    law: str, dependence: str, d_k: int, limit: float, bins: int = 40, draws: int = 5000, seed: int = 0
) -> dict[str, Histogram]:
    """The same draws as "dot" leaves them and as "scaled_dot" does, times 1/√d_k, in the same bins.

    >>> found = score_histograms("normal", "independent", 256, limit=8.0)  # half a standard deviation, and eight
    >>> found["dot"].outside > 3000, found["scaled_dot"].outside
    (True, 0)
    """
    drawn = draw_products(law, dependence, d_k, draws, seed)
    return {score: count_in_bins(drawn * factor, limit, bins) for score, factor in score_factors(d_k).items()}


# ---- what is accepted, and how much at a time ------------------------------------------------------------------------
def check_law(law: str, dependence: str, d_k: int) -> None:
    """Names that the tables have, and a positive whole number."""
    for name, given, table in (("law", law, LAWS), ("dependence", dependence, DEPENDENCES)):
        if given not in table:
            raise AttentionError("unknown_choice", name=name, choices=", ".join(table), given=repr(given))
    require_positive("d_k", d_k)


def chunk_sizes(draws: int, width: int) -> Iterator[int]:
    """How many draws of `width` numbers are made at a time until all are.

    >>> list(chunk_sizes(75, 1024)), list(chunk_sizes(5, 8)), list(chunk_sizes(2, 10**6))
    ([32, 32, 11], [5], [1, 1])
    """
    most = max(1, CHUNK_NUMBERS // width)
    for first in range(0, draws, most):
        yield min(most, draws - first)
