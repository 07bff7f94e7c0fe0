"""The chart of lesson 9: how much a position depends on a word, by distance, and what it says."""

from collections.abc import Callable, Mapping

from attention_core.drawing.axes import decade_axis, whole_number_axis
from attention_core.drawing.curves import Curve, curves
from attention_core.variants.influence import (
    InfluenceByDistance,
    even_share_line,
)
from pages.lessons.distance import drawers
from pages.panels.chart import show_curve_chart
from pages.panels.link_controls import (
    option_labels,
)
from pages.session.labels import current_palette
from pages.site.words import escape_markdown, say


def draw_influence_curves(
    found: Mapping[str, InfluenceByDistance], there: range, distance: int, measure: str, word: str
) -> None:
    """A curve for each encoder, and where each word has an even share."""
    drawn = [
        Curve(option_labels("kinds")(kind), each.distances, each.mean, drawers.encoder_colours()[kind], band=each.band)
        for kind, each in found.items()
    ]
    if measure == "share":
        ends = (min(there), max(there))
        drawn.append(Curve(f"1/{len(there)}", ends, even_share_line(there), current_palette().x, dashed=True))
    x = whole_number_axis(say(f"lessons.distance.axis_{'both' if min(there) < 0 else 'one'}", word=word), there)
    numbers = [number for curve in drawn for number in curve.y]
    y = decade_axis(say(f"lessons.distance.axis_{measure}"), numbers, 1.0 if measure == "share" else None)
    show_curve_chart(
        curves(drawn, x, y, current_palette(), distance, 900, 228), "distance_hero", say("lessons.distance.alt")
    )


def describe_influence(
    found: Mapping[str, InfluenceByDistance], distance: int, spoken: Callable[[float], str], word: str
) -> dict[str, str]:
    """Where a word stands, and how much comes from there by each kind, the most first."""
    order = sorted(found, key=lambda kind: found[kind].at(distance), reverse=True)
    parts = [f"{option_labels('kinds')(kind)} {spoken(found[kind].at(distance))}" for kind in order]
    way = "back" if distance > 0 else "ahead" if distance < 0 else "itself"
    where = say(f"lessons.distance.where_{way}", word=escape_markdown(word), count=abs(distance))
    return {"where": where, "parts": say("fact.comma").join(parts) or say("lessons.distance.nobody")}
