"""The moments of q · k in closed form, from the moments of one component of q and of k."""

from collections.abc import Callable
from dataclasses import dataclass

from torch import Generator, Tensor


@dataclass(frozen=True)
class Law:
    """How one component x of q or of k is sampled, and E x⁴, E x⁶, E x⁸; E x² is 1, and odd powers have mean 0."""

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
        """Return the moments of q · k times a factor.

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
    fourth = law.eighth - 4 * law.sixth + 6 * law.fourth - 3  # E (x² - 1)⁴
    return moments_of_sum(Moments(1.0, law.fourth - 1, fourth), d_k)


def silent_moments(law: Law, d_k: int) -> Moments:
    """Compute the moments of q · k whose components are both 0 with probability 1/2."""
    return moments_of_sum(Moments(0.0, 2.0, 8 * law.fourth**2), d_k)


def repeated_moments(law: Law, d_k: int) -> Moments:
    """Compute the moments of q · k whose components are all one number a in q, and one number b in k."""
    return Moments(0.0, 1.0, law.fourth**2).scaled(d_k)
