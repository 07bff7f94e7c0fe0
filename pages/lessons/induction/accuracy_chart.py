"""The chart of lesson 14: the share of symbols that are predicted, by position."""

from attention_core.drawing.axes import Axis
from attention_core.drawing.curves import Curve, curves
from attention_core.learned.insight.copying_heads import accuracy_without_heads
from attention_core.learned.tasks.repeats import MEASURED_HALF
from attention_core.learned.training.courses import Figures
from pages.lessons.learned.learning import share_axis
from pages.panels.chart import show_curve_chart
from pages.runs.cache import cache_by_setup
from pages.runs.network_store import find_network
from pages.session.labels import current_palette
from pages.site.words import say

ACCURACY_WIDTH_PX, ACCURACY_HEIGHT_PX = 400, 240  # pixels of the curves' field
FIRST_REPEATED_PLACE = MEASURED_HALF  # the position after which everything is a repetition


@cache_by_setup
def measure_accuracy_without_heads(network: str, off: tuple[str, ...]) -> Figures:
    """Measures the share of symbols that are predicted by position, without some heads."""
    return find_network(network).measure(lambda model: accuracy_without_heads(model, off))


def draw_accuracy_curves(all_on: Figures, some_on: Figures, places: tuple[int, ...]) -> None:
    """Draws the accuracy by position with all heads, and with those that are on; some_on is empty where all are."""
    palette = current_palette()
    drawn = [
        Curve(
            say("lessons.induction.all_on"),
            places,
            all_on,
            palette.share,
            dashed=bool(some_on),
        )
    ]
    if some_on:
        drawn.append(Curve(say("lessons.induction.some_on"), places, some_on, palette.k))
    picture = curves(
        drawn,
        Axis(say("lessons.induction.axis_place"), min(places), max(places)),
        share_axis(say("lessons.induction.axis_right")),
        palette,
        FIRST_REPEATED_PLACE,
        ACCURACY_WIDTH_PX,
        ACCURACY_HEIGHT_PX,
    )
    show_curve_chart(picture, "induction_hero", say("lessons.induction.alt"))
