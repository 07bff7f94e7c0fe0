"""The chart of the lesson on one vector: the share of texts that are written exactly against their length."""

from collections.abc import Mapping
from itertools import chain

from attention_core.drawing.axes import Axis, whole_number_axis
from attention_core.drawing.curves import Curve, curves
from attention_core.drawing.specifications import Picture
from pages.lessons.learned.learning import TrainingRecord, share_axis
from pages.lessons.learned.writers import network_colours
from pages.panels.link_controls import option_labels
from pages.panels.live_choice import LiveChoice
from pages.panels.live_frames import show_live_curves
from pages.session.labels import current_palette
from pages.site.words import say

EXACTNESS_WIDTH_PX, EXACTNESS_HEIGHT_PX = 200, 210  # pixels of the curves' field


def draw_exactness_curves(records: Mapping[str, TrainingRecord], step: LiveChoice, length: int) -> None:
    """Draws a curve for each network after each step of training that can be chosen.

    length: of the reader's text, where an upright line stands, if any network was measured there."""
    places = list(chain.from_iterable(record.places for record in records.values()))
    axes = (
        whole_number_axis(say("lessons.bottleneck.axis_length"), places),
        share_axis(say("lessons.bottleneck.axis_exact")),
    )
    at = length if min(places) <= length <= max(places) else None
    pictures = [draw_at_step(records, each, axes, at) for each in step.options]
    show_live_curves(step, "bottleneck_hero", pictures, axes, say("lessons.bottleneck.alt"))


def draw_at_step(records: Mapping[str, TrainingRecord], step: int, axes: tuple[Axis, Axis], at: int | None) -> Picture:
    """Draws a curve for each network after one step of training."""
    drawn = [make_exactness_curve(kind, record, step) for kind, record in records.items()]
    return curves(drawn, *axes, current_palette(), at, EXACTNESS_WIDTH_PX, EXACTNESS_HEIGHT_PX)


def make_exactness_curve(kind: str, record: TrainingRecord, step: int) -> Curve:
    """Makes the curve of a network, dashed where the visitor trained it."""
    return Curve(
        name_network(kind, record),
        record.places,
        record.figures_at(step),
        network_colours(current_palette())[kind],
        dashed=record.own,
    )


def name_network(kind: str, record: TrainingRecord) -> str:
    """Names a network at the end of its curve."""
    name = option_labels("short")(kind)
    return say("lessons.bottleneck.yours", kind=name) if record.own else name
