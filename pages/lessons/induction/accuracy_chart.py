"""The chart of the lesson on copying: the share of symbols that are predicted, by position."""

from collections.abc import Sequence

from attention_core.drawing.axes import Axis
from attention_core.drawing.curves import Curve, curves
from attention_core.drawing.specifications import Picture
from attention_core.learned.insight.copying_heads import accuracy_without_heads
from attention_core.learned.tasks.repeats import MEASURED_HALF
from attention_core.learned.training.courses import Figures
from pages.lessons.learned.learning import share_axis
from pages.panels.live_choice import LiveChoice
from pages.panels.live_frames import only_now, show_live_curves
from pages.runs.cache import cache_by_setup
from pages.runs.network_store import find_network
from pages.session.labels import current_palette
from pages.site.words import say

ACCURACY_WIDTH_PX, ACCURACY_HEIGHT_PX = 185, 200  # pixels of the curves' field
FIRST_REPEATED_PLACE = MEASURED_HALF  # the position after which everything is a repetition


@cache_by_setup
def measure_accuracy_without_heads(network: str, off: tuple[str, ...]) -> Figures:
    """Measures the accuracy by position with some heads ablated."""
    return find_network(network).measure(lambda model: accuracy_without_heads(model, off))


def show_accuracy_curves(step: LiveChoice, all_on: Sequence[Figures], some_on: Figures, places: Sequence[int]) -> None:
    """Shows the accuracy by position after each step of training, with all heads and with some of them ablated.

    all_on: of each step. some_on: with ablated heads, at the selected step; empty if none is ablated."""
    axes = (
        Axis(say("lessons.induction.axis_place"), min(places), max(places)),
        share_axis(say("lessons.induction.axis_right")),
    )
    pictures = [draw_accuracy(figures, some_on, places, axes) for figures in all_on]
    if some_on:
        pictures = only_now(step, pictures[step.position])
    show_live_curves(step, "induction_hero", pictures, axes, say("lessons.induction.alt"))


def draw_accuracy(all_on: Figures, some_on: Figures, places: Sequence[int], axes: tuple[Axis, Axis]) -> Picture:
    """Draws the accuracy by position after one step of training."""
    palette = current_palette()
    drawn = [Curve(say("lessons.induction.all_on"), places, all_on, palette.share, dashed=bool(some_on))]
    if some_on:
        drawn.append(Curve(say("lessons.induction.some_on"), places, some_on, palette.k))
    return curves(drawn, *axes, palette, FIRST_REPEATED_PLACE, ACCURACY_WIDTH_PX, ACCURACY_HEIGHT_PX)
