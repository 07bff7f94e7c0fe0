"""The chart of lesson 13: the share of texts that are written exactly against their length."""

from collections.abc import Mapping
from itertools import chain

from attention_core.drawing.axes import whole_number_axis
from attention_core.drawing.curves import Curve, curves
from pages.lessons.learned.learning import TrainingRecord, share_axis
from pages.lessons.learned.writers import network_colours
from pages.panels.chart import show_curve_chart
from pages.panels.link_controls import option_labels
from pages.session.labels import current_palette
from pages.site.words import say

EXACTNESS_WIDTH_PX, EXACTNESS_HEIGHT_PX = 330, 250  # pixels of the curves' field


def draw_exactness_curves(records: Mapping[str, TrainingRecord], step: int, length: int) -> None:
    """Draws a curve for each network after a step of training.

    length: of the reader's text, where an upright line stands, if any network was measured there."""
    drawn = [make_exactness_curve(kind, record, step) for kind, record in records.items()]
    places = list(chain.from_iterable(curve.x for curve in drawn))
    is_measured = min(places) <= length <= max(places)
    picture = curves(
        drawn,
        whole_number_axis(say("lessons.bottleneck.axis_length"), places),
        share_axis(say("lessons.bottleneck.axis_exact")),
        current_palette(),
        length if is_measured else None,
        EXACTNESS_WIDTH_PX,
        EXACTNESS_HEIGHT_PX,
    )
    show_curve_chart(picture, "bottleneck_hero", say("lessons.bottleneck.alt"))


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
