"""The lesson on the scale: a cloud of scores that spreads with d_k, one draw in it, and the gradient that is left."""

from collections.abc import Mapping, Sequence

from attention_core.analysis.score_cloud import ScoreCloud
from attention_core.analysis.softmax_saturation import Sharpness
from attention_core.record.number_text import format_fixed, format_small
from pages import components
from pages.lessons.scale.single_draw import Runs
from pages.lessons.scale.width_axis import SCALE_WIDTHS
from pages.panels.live_choice import Followed, describe_followed
from pages.runs.cache import cached_clouds, trace_for
from pages.session.collected import show_moving
from pages.session.labels import current_palette
from pages.site.words import get_text_template, say

CLOUD_SCORES = 240  # as many as can be told apart
LANE_TEXTS = ("dot", "scaled_dot", "gradient", "hidden")
CLOUD_REACH = 64  # twice the standard deviation of the widest undivided scores


def show_cloud(
    width: Followed, seed: int, all_runs: Sequence[Runs], found: Sequence[Mapping[str, Sharpness]], known: bool
) -> None:
    """Shows the scores of each width as the slider moves.

    all_runs: the draw that is numbered, and found: the gradient, of each width. known: whether the divided scores may
    be seen."""
    clouds = [cached_clouds(each, CLOUD_SCORES, seed) for each in SCALE_WIDTHS]
    scores = ("dot", "scaled_dot") if known else ("dot",)
    widths = []
    for cloud, runs, by_score in zip(clouds, all_runs, found, strict=True):
        lanes = {score: describe_lane(cloud[score], runs, score, by_score[score]) for score in scores}
        widths.append(lanes)
    text = {name: get_text_template(f"lessons.scale.cloud.{name}") for name in LANE_TEXTS}
    data = {
        "widths": widths,
        "told": [tell_cloud(d_k, cloud, known) for d_k, cloud in zip(SCALE_WIDTHS, clouds, strict=True)],
        "reach": CLOUD_REACH,
        "most": max(by_score[score].at_query.median for by_score in found for score in by_score),
        "palette": vars(current_palette()),
        "text": text,
    }
    show_moving(components.score_cloud, data=describe_followed(width) | data, key="scale_cloud")


def describe_lane(cloud: ScoreCloud, runs: Runs, score: str, sharpness: Sharpness) -> dict[str, object]:
    """What is drawn of one score at one width."""
    gradient = sharpness.at_query.median
    return {
        "scores": [round(number, 2) for number in cloud.scores],
        "draw": trace_for(runs[score])["scaled_scores"][0, 0, 0].tolist(),
        "spread": say("lessons.scale.cloud.spread", deviation=format_fixed(cloud.deviation)),
        "gradient": gradient,
        "written": format_small(gradient),
    }


def tell_cloud(d_k: int, cloud: Mapping[str, ScoreCloud], known: bool) -> str:
    """Says what a screen reader tells of a width."""
    deviations = {score: format_fixed(each.deviation) for score, each in cloud.items()}
    return say(f"lessons.scale.cloud.{'alt' if known else 'alt_hidden'}", draws=CLOUD_SCORES, d_k=d_k, **deviations)


def tell_dots() -> str:
    """Says what the dots are."""
    return say("lessons.scale.cloud.how", draws=CLOUD_SCORES, reach=CLOUD_REACH)
