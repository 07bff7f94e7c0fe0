"""The lesson on the scale: a chart of how sharp the softmax is as d_k grows, undivided and divided."""

from collections.abc import Mapping, Sequence

from attention_core.analysis.softmax_saturation import Sharpness, even_sharpness
from attention_core.drawing.axes import Axis
from attention_core.drawing.curves import Curve, curves
from pages.lessons.scale.width_axis import SCALE_WIDTHS, width_axis
from pages.panels.live_choice import Followed
from pages.panels.live_frames import show_followed_curves
from pages.session.labels import current_palette
from pages.session.staged import is_one_screen
from pages.site.words import say

HEIGHT_PX, STAGE_HEIGHT_PX = 250, 165  # of the chart; on the stage it stands under the cloud on one screen


def show_sharpness_chart(
    found: Sequence[Mapping[str, Sharpness]], quantity: str, width: Followed, keys: int, known: bool
) -> None:
    """Shows a quantity against d_k, and what it is where all keys get the same.

    found: of each width, by score. width: which an upright line follows. known: whether the divided
    scores may be seen."""
    palette = current_palette()
    even = getattr(even_sharpness(keys), quantity)
    compared = [make_sharpness_curve("dot", found, quantity, palette.plus)]
    if known:
        compared.append(make_sharpness_curve("scaled_dot", found, quantity, palette.share))
    if even is not None:
        ends = (SCALE_WIDTHS[0], SCALE_WIDTHS[-1])
        name = say("lessons.scale.curve.even")
        compared.append(Curve(name, ends, (even.centre, even.centre), palette.x, dashed=True))
    reach = {  # the largest that each quantity can be; a gradient can be any
        "largest": 1.0,
        "entropy": even_sharpness(keys).entropy.mean,
        "at_query": max(by_score["dot"].at_query.upper for by_score in found),
        "slope": 0.5,
    }
    y = Axis(say(f"lessons.scale.axis.{quantity}"), 0.0, reach[quantity])
    axes = (width_axis(), y)
    picture = curves(compared, *axes, palette, width=560, height=STAGE_HEIGHT_PX if is_one_screen() else HEIGHT_PX)
    show_followed_curves(width, "scale_hero", picture, axes, say("lessons.scale.alt", what=y.title))


def make_sharpness_curve(score: str, found: Sequence[Mapping[str, Sharpness]], quantity: str, colour: str) -> Curve:
    """A quantity of one score against d_k."""
    estimates = [getattr(by_score[score], quantity) for by_score in found]
    return Curve(
        say(f"lessons.scale.curve.{score}"),
        SCALE_WIDTHS,
        [estimate.centre for estimate in estimates],
        colour,
        band=[estimate.band for estimate in estimates],
    )
