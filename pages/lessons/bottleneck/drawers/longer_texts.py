"""One vector, drawer "untrained", one of its sights: reversal of texts longer than any that was trained."""

from collections.abc import Mapping

import streamlit as st

from attention_core.drawing.axes import whole_number_axis
from attention_core.drawing.curves import Curve, curves
from attention_core.learned.tasks import reversal
from attention_core.record.number_text import format_percent
from pages.lessons.learned.learning import load_shipped_training, share_axis
from pages.lessons.learned.writers import network_colours
from pages.panels.chart import show_curve_chart
from pages.panels.link_controls import option_labels
from pages.session.labels import current_palette
from pages.site.words import say

SharesByLength = Mapping[int, float]  # of texts that are reversed exactly


def show_longer_texts() -> None:
    """Shows the share of texts that are reversed exactly against their length, with attention and with one vector."""
    shares = {kind: load_shares_by_length(f"reversal_{kind}") for kind in ("additive", "one")}
    additive = {f"at_{length}": format_percent(shares["additive"][length]) for length in (40, 60, 100)}
    st.markdown(f"**{say('lessons.bottleneck.longer', **additive)}**")
    show_shares_by_length(shares)
    st.caption(
        say(
            "lessons.bottleneck.longer_how",
            first=reversal.SHORTEST_TRAINED,
            last=reversal.LONGEST_TRAINED,
        )
    )


def load_shares_by_length(course: str) -> SharesByLength:
    """Loads the shares at the end of the training that comes with the app."""
    record = load_shipped_training(course)
    figures = record.figures_at(max(record.steps))
    return dict(zip(reversal.MEASURED_LENGTHS, figures, strict=True))


def show_shares_by_length(shares: Mapping[str, SharesByLength]) -> None:
    """Shows the shares of each kind of network as a curve; an upright line stands at the longest trained text."""
    palette = current_palette()
    drawn = []
    for kind, share_by_length in shares.items():
        name = option_labels("short")(kind)
        values = list(share_by_length.values())
        colour = network_colours(palette)[kind]
        drawn.append(Curve(name, reversal.MEASURED_LENGTHS, values, colour))
    x = whole_number_axis(say("lessons.bottleneck.axis_length"), reversal.MEASURED_LENGTHS)
    y = share_axis(say("lessons.bottleneck.axis_exact"))
    picture = curves(drawn, x, y, palette, reversal.LONGEST_TRAINED, height=220)
    show_curve_chart(picture, "bottleneck_longer", say("lessons.bottleneck.alt"))
