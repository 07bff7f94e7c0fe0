"""A sample of scores q · k, undivided and divided by √d_k: how far they spread as d_k grows."""

from dataclasses import dataclass

from attention_core.analysis.dot_product_moments import draw_products, score_factors


@dataclass(frozen=True)
class ScoreCloud:
    """Sampled scores, in rising order, and their standard deviation."""

    scores: tuple[float, ...]
    deviation: float


def draw_score_clouds(d_k: int, draws: int = 240, seed: int = 0) -> dict[str, ScoreCloud]:
    """Sample q · k with components from N(0, 1); returns "dot" and "scaled_dot" scores of the same samples by name.

    Raises AttentionError for numbers that are not whole and positive.

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
