"""What the softmax makes of scores that grow with d_k: how sharp it is, and how much gradient comes through.

The scores are drawn in float64 from a seed, in chunks as in laws.py; all else is a run of the core.
"""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.analysis.dot_product_moments import BAND_STANDARD_ERRORS, chunk_sizes, draw_normal, score_factors
from attention_core.analysis.softmax_jacobian import with_jacobian
from attention_core.mechanism.attention import attend_qkv
from attention_core.mechanism.config import AttentionConfig, require_positive
from attention_core.mechanism.scores import dot


@dataclass(frozen=True)
class Estimate:
    """A mean over draws and its standard error."""

    mean: float
    error: float

    @property
    def band(self) -> tuple[float, float]:
        """From where to where the true mean lies in 95 of 100 such estimates.

        >>> Estimate(0.5, 0.1).band
        (0.304, 0.696)
        """
        return self.mean - BAND_STANDARD_ERRORS * self.error, self.mean + BAND_STANDARD_ERRORS * self.error


@dataclass(frozen=True)
class Sharpness:
    """What softmaxes of drawn scores are like: the largest weight, the entropy in bits, and the Frobenius norm of the
    Jacobian, which is how much gradient comes through."""

    largest: Estimate
    entropy: Estimate
    slope: Estimate


def measure_saturation(d_k: int, keys: int = 8, draws: int = 2000, seed: int = 0) -> dict[str, Sharpness]:
    """How sharp the softmax over a query's keys is where all components are from N(0, 1): by "dot" and "scaled_dot".

    The same scores for both, so that only the scale differs. Raises AttentionError for numbers that are not whole and
    positive. Source: Vaswani et al. 2017, section 3.2.1.

    >>> found = measure_saturation(64)
    >>> round(found["dot"].largest.mean, 1), round(found["scaled_dot"].largest.mean, 1)
    (0.9, 0.4)
    """
    scores = draw_scores(d_k, keys, draws, seed)
    return {score: measure_sharpness(scores, factor) for score, factor in score_factors(d_k).items()}


def even_sharpness(keys: int) -> Sharpness:
    """What it is like to attend evenly to so many keys: 1/n, log2 n bits, norm √(n - 1)/n.

    >>> even = even_sharpness(8)
    >>> even.largest.mean, even.entropy.mean, round(even.slope.mean, 3)
    (0.125, 3.0, 0.331)
    """
    return measure_sharpness(torch.zeros(1, require_positive("keys", keys), dtype=torch.float64), 1.0)


def draw_scores(d_k: int, keys: int, draws: int, seed: int) -> Float[Tensor, "draws keys"]:
    """The scores of one query with its keys, drawn so many times."""
    generator, parts = torch.Generator().manual_seed(seed), []
    for count in chunk_sizes(
        require_positive("draws", draws), require_positive("keys", keys) * require_positive("d_k", d_k)
    ):
        q = draw_normal((count, 1, 1, d_k), generator)
        k = draw_normal((count, 1, keys, d_k), generator)
        parts.append(dot(q, k)[:, 0, 0])  # (count, 1, 1, keys) -> (count, keys)
    return torch.cat(parts)


def measure_sharpness(scores: Float[Tensor, "draws keys"], scale: float) -> Sharpness:
    """What the softmax makes of scores times a factor, by a run whose scores they are: q is 1, each key its score."""
    q, k = torch.ones_like(scores[:, None, :1, None]), scores[:, None, :, None]  # (draws, 1, 1, 1), (draws, 1, keys, 1)
    trace = with_jacobian(attend_qkv(q, k, k, config=AttentionConfig("dot", scale=scale)))
    weights, jacobian = trace["weights"][:, 0, 0], trace["jacobian"][:, 0, 0]  # (draws, keys), (draws, keys, keys)
    entropy = torch.special.entr(weights).sum(-1) / math.log(2)  # -w ln w, 0 where w is 0
    return Sharpness(
        estimate_mean(weights.amax(-1)), estimate_mean(entropy), estimate_mean(jacobian.flatten(1).norm(dim=-1))
    )


def estimate_mean(figures: Float[Tensor, " draws"]) -> Estimate:
    """The mean, and how far it may be from the true one.

    >>> estimate_mean(torch.tensor([1.0, 3.0]).double())
    Estimate(mean=2.0, error=1.0)
    """
    return Estimate(figures.mean().item(), math.sqrt(figures.var().item() / len(figures)) if len(figures) > 1 else 0.0)
