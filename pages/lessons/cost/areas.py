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
    told = [(tell_pairs(each), tell_tokens(each)) for each in length.options]
    square, stripe = told[length.position]
    data = {
        "lengths": list(length.options),
        "pairs": [pairs[each] for each in length.options],
        "tokens": [tokens[each] for each in length.options],
        "told": told,
        "palette": vars(current_palette()),
        "alt": " ".join([*square, *stripe]),
    }
    show_moving(components.cost_areas, data=describe_followed(length) | data, key="cost_areas")


def tell_pairs(length: int) -> list[str]:
    """What is said of the square at a length."""
    values = {"length": format_grouped(length), "pairs": format_grouped(length * length)}
    return [say(f"lessons.cost.areas.{name}", **values) for name in ("pairs", "scores", "fourfold")]


def tell_tokens(length: int) -> list[str]:
    """What is said of the stripe at a length."""
    values = {"length": format_grouped(length), "width": TIMED_WIDTH}
    return [say(f"lessons.cost.areas.{name}", **values) for name in ("tokens", "rows", "twofold")]
