"""The cost of all pairs as a square that grows with the length, beside that of the projections, a stripe."""

from attention_core.record.number_text import format_grouped
from attention_core.variants.timed_kinds import TIMED_WIDTH
from pages import components
from pages.lessons.races import PointsByLength
from pages.panels.live_choice import LiveChoice, describe_followed
from pages.session.collected import show_moving
from pages.session.labels import current_palette
from pages.site.words import say


def show_areas(length: LiveChoice, pairs: PointsByLength, tokens: PointsByLength) -> None:
    """Shows both areas, which follow the slider of the length. pairs, tokens: multiply-adds at each length."""
    told = [tell_areas(each, pairs, tokens) for each in length.options]
    square, stripe = told[length.position]
    data = {
        "lengths": list(length.options),
        "written": [format_grouped(each) for each in length.options],
        "pairs": [pairs[each] for each in length.options],
        "tokens": [tokens[each] for each in length.options],
        "told": told,
        "palette": vars(current_palette()),
        "alt": " ".join([*square, *stripe]),
    }
    show_moving(components.cost_areas, data=describe_followed(length) | data, key="cost_areas")


def tell_areas(length: int, pairs: PointsByLength, tokens: PointsByLength) -> list[list[str]]:
    """What is said of the square and of the stripe at a length: its name, and what is counted."""
    values = {"length": format_grouped(length), "width": TIMED_WIDTH}
    square = {**values, "products": format_grouped(pairs[length])}
    stripe = {**values, "products": format_grouped(tokens[length])}
    return [
        [say(f"lessons.cost.areas.{name}", **square) for name in ("pairs", "square")],
        [say(f"lessons.cost.areas.{name}", **stripe) for name in ("tokens", "stripe")],
    ]
