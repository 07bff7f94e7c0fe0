"""Measures how the softmax saturates as d_k grows: how peaked its weights are, and how much gradient passes through it.

The scores are sampled in float64 from a seed, in chunks that limit the memory. A run of attention computes the rest.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from attention_core.analysis.dot_product_moments import BAND_STANDARD_ERRORS, chunk_sizes, draw_normal, score_factors
from attention_core.analysis.softmax_steps import with_jacobian
from attention_core.mechanism.attention import attend_qkv
from attention_core.mechanism.config import AttentionConfig
from attention_core.mechanism.plain_checks import require_positive
from attention_core.mechanism.scores import dot
from attention_core.record.trace import Trace


@dataclass(frozen=True)
class Estimate:
    """The mean of a measure over samples, and its standard error."""

    mean: float
    error: float

    @property
    def band(self) -> tuple[float, float]:
        """Return the bounds of the 95 % confidence interval of the mean.

        >>> Estimate(0.5, 0.1).band
        (0.304, 0.696)
        """
        reach = BAND_STANDARD_ERRORS * self.error
        return self.mean - reach, self.mean + reach

    @property
    def centre(self) -> float:
        """Return the mean. Spread has a property of the same name, so that a chart can draw either."""
        return self.mean


@dataclass(frozen=True)
class Spread:
    """The median and both quartiles of a measure, for measures whose mean a few extreme samples would dominate."""

    median: float
    lower: float
    upper: float

    @property
    def band(self) -> tuple[float, float]:
        """Return the lower and the upper quartile."""
        return self.lower, self.upper

    @property
    def centre(self) -> float:
        """Return the median. Estimate has a property of the same name, so that a chart can draw either."""
        return self.median


@dataclass(frozen=True)
class Sharpness:
    r"""How peaked the softmax weights of sampled scores are, and how much gradient passes through.

    `largest` is the largest weight, `entropy` is in bits, and `slope` is the Frobenius norm of the softmax's Jacobian
    with respect to its inputs. `at_query` is the norm of $\partial w / \partial q$ (the Jacobian times the scale times
    the keys), which bounds the gradient that reaches the query; None if only scores were sampled.
    """

    largest: Estimate
    entropy: Estimate
    slope: Estimate
    at_query: Spread | None = None


def measure_saturation(d_k: int, keys: int = 8, draws: int = 2000, seed: int = 0) -> dict[str, Sharpness]:
    """Measure how peaked a softmax over `keys` keys is, for the scores "dot" and "scaled_dot".

    Returns {score: Sharpness}. The components of queries and keys are sampled from N(0, 1). Both scores get the same
    samples, so that only the scale differs. Raises AttentionError for numbers that are not whole and positive. Source:
    Vaswani et al. 2017, section 3.2.1.

    >>> found = measure_saturation(64)
    >>> round(found["dot"].largest.mean, 1), round(found["scaled_dot"].largest.mean, 1)
    (0.9, 0.4)
    """
    scores, key_products = draw_queries(d_k, keys, draws, seed)
    measured = {}
    for score, factor in score_factors(d_k).items():
        measured[score] = measure_sharpness(scores, factor, key_products)
    return measured


def last_width_of_more(found: Mapping[int, Mapping[str, Sharpness]]) -> int:
    """Return the largest d_k up to which at least as much gradient reaches the query with "dot" as with "scaled_dot".

    found: the results of measure_saturation by d_k, in rising order, from 1, where both scores are equal. The median
    gradients are compared. With more keys the returned d_k is larger. Raises AttentionError if `found` is empty.

    >>> last_width_of_more({d_k: measure_saturation(d_k, keys=8, draws=200) for d_k in (1, 16, 64, 256)})
    64
    """
    require_positive("widths", len(found))
    last = min(found)
    for d_k, by_score in found.items():
        if by_score["dot"].at_query.median < by_score["scaled_dot"].at_query.median:
            break
        last = d_k
    return last


def even_sharpness(keys: int) -> Sharpness:
    """Return the measures of uniform attention to n keys: largest weight 1/n, entropy log2 n bits, norm √(n - 1)/n.

    >>> even = even_sharpness(8)
    >>> even.largest.mean, even.entropy.mean, round(even.slope.mean, 3)
    (0.125, 3.0, 0.331)
    """
    equal_scores = torch.zeros(1, require_positive("keys", keys), dtype=torch.float64)
    return measure_sharpness(equal_scores, scale=1.0)


def draw_queries(
    d_k: int, keys: int, draws: int, seed: int
) -> tuple[Float[Tensor, "draws keys"], Float[Tensor, "draws keys keys"]]:
    """Sample one query and its keys `draws` times; return the scores, and the dot product of each two keys."""
    require_positive("draws", draws)
    require_positive("keys", keys)
    require_positive("d_k", d_k)
    generator = torch.Generator().manual_seed(seed)
    score_parts = []
    product_parts = []
    for count in chunk_sizes(draws, keys * d_k):
        query_shape = (count, 1, 1, d_k)
        key_shape = (count, 1, keys, d_k)
        q = draw_normal(query_shape, generator)
        k = draw_normal(key_shape, generator)
        scores = dot(q, k)  # (count, 1, 1, keys)
        score_parts.append(scores[:, 0, 0])  # (count, keys)
        products = dot(k, k)  # (count, 1, keys, keys)
        product_parts.append(products[:, 0])
    return torch.cat(score_parts), torch.cat(product_parts)


def measure_sharpness(
    scores: Float[Tensor, "draws keys"], scale: float, key_products: Float[Tensor, "draws keys keys"] | None = None
) -> Sharpness:
    """Measure how peaked the softmax of scores times `scale` is.

    key_products: the dot products of every two keys; None if only scores were sampled.
    """
    trace = run_on_scores(scores, scale)
    trace = with_jacobian(trace)
    weights = trace["weights"][:, 0, 0]  # (draws, keys)
    jacobian = trace["jacobian"][:, 0, 0]  # (draws, keys, keys)
    largest = weights.amax(-1)  # (draws,)
    entropy = torch.special.entr(weights).sum(-1) / math.log(2)  # (draws,), in bits: entr(w) is -w ln w, or 0 at w = 0
    slope = jacobian.flatten(1).norm(dim=-1)
    return Sharpness(
        largest=estimate_mean(largest),
        entropy=estimate_mean(entropy),
        slope=estimate_mean(slope),
        at_query=None if key_products is None else gradient_at_query(jacobian, key_products, scale),
    )


def gradient_at_query(
    jacobian: Float[Tensor, "draws keys keys"], key_products: Float[Tensor, "draws keys keys"], scale: float
) -> Spread:
    r"""Measure how much the weights change with the query, as a Spread over the samples.

    $\lVert \partial w / \partial q \rVert = s \lVert J K \rVert$ with the scale s. The square of $\lVert J K \rVert$ is
    the trace of $J K K^\top J^\top$, so that only the products $K K^\top$ of the keys are needed.

    >>> half = torch.tensor([[[0.25, -0.25], [-0.25, 0.25]]])  # the Jacobian of two even weights
    >>> gradient_at_query(half, torch.eye(2)[None], scale=2.0).median  # keys (1, 0) and (0, 1)
    1.0
    """
    moved = jacobian @ key_products  # J K Kᵀ for each sample: (draws, keys, keys)
    squares = (moved * jacobian).sum((1, 2))  # (draws,): the trace of J K Kᵀ Jᵀ
    norms = scale * squares.clamp(min=0).sqrt()  # clamped, because rounding may make a square slightly negative
    lower, median, upper = norms.quantile(norms.new_tensor([0.25, 0.5, 0.75])).tolist()
    return Spread(median, lower, upper)


def run_on_scores(scores: Float[Tensor, "draws keys"], scale: float) -> Trace:
    """Run attention so that its scores are the given numbers times a factor: the query is 1, and each key is one of the
    numbers.
    """
    k = scores[:, None, :, None]  # (draws, 1, keys, 1)
    q = torch.ones_like(k[:, :, :1])  # (draws, 1, 1, 1)
    config = AttentionConfig("dot", scale=scale)
    return attend_qkv(q, k, k, config=config)


def estimate_mean(figures: Float[Tensor, " draws"]) -> Estimate:
    """Estimate a mean from samples, with its standard error, which is 0 for a single sample.

    figures: the measured value of each sample.

    >>> estimate_mean(torch.tensor([1.0, 3.0]).double())
    Estimate(mean=2.0, error=1.0)
    """
    mean = figures.mean().item()
    if len(figures) == 1:
        return Estimate(mean, error=0.0)
    variance = figures.var().item()
    error = math.sqrt(variance / len(figures))
    return Estimate(mean, error)
