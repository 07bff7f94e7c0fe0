"""The lesson on the scale: curves of the variance of drawn scores against d_k: measured, and worked out."""

from collections.abc import Mapping, Sequence

from attention_core.analysis.dot_product_moments import MeasuredVariance, exact_moments, score_factors
from attention_core.drawing.curves import Curve
from pages.lessons.scale.width_axis import SCALE_WIDTHS
from pages.panels.link_controls import choose_option
from pages.panels.progress import compute_one_by_one
from pages.runs.cache import cached_variances
from pages.session.labels import current_palette
from pages.site.words import say

VARIANCE_DRAWS = 5000
COMPARED_DOT_SCORES = ("dot", "scaled_dot")
DRAWN_LAW_NAMES = ("normal", "signs", "uniform")  # of laws


def choose_law(name: str) -> str:
    """Asks for the law from which components are drawn. name: of the control, where its drawer has another one."""
    return choose_option(name, DRAWN_LAW_NAMES, words=lambda law: say(f"lessons.scale.option.law.{law}"))


def measure_variances_by_width(
    law: str, dependence: str, draws: int, seed: int
) -> list[Mapping[str, MeasuredVariance]]:
    """The variances of drawn scores of each width, by score."""

    def measure(width: int) -> Mapping[str, MeasuredVariance]:
        return cached_variances(law, dependence, width, draws, seed)

    return compute_one_by_one(measure, SCALE_WIDTHS)


def make_measured_curve(name: str, score: str, found: Sequence[Mapping[str, MeasuredVariance]], colour: str) -> Curve:
    """What was measured of a score; the band is around what was worked out."""
    of_score = [by_score[score] for by_score in found]
    return Curve(
        say(f"lessons.scale.curve.{name}"),
        SCALE_WIDTHS,
        [variance.measured for variance in of_score],
        colour,
        band=[(variance.low, variance.high) for variance in of_score],
    )


def make_independent_curve(name: str, score: str) -> Curve:
    """What the variance is where all components are independent: any law of mean 0 and variance 1 has the same."""
    variances = []
    for width in SCALE_WIDTHS:
        moments = exact_moments("normal", "independent", width)
        scaled = moments.scaled(score_factors(width)[score])
        variances.append(scaled.variance)
    return Curve(
        say(f"lessons.scale.curve.{name}"),
        SCALE_WIDTHS,
        variances,
        current_palette().x,
        dashed=True,
    )
