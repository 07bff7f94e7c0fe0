"""An axis of shares, in percent: what all pictures of learned networks are measured on."""

from attention_core.drawing.charts import Axis
from attention_core.record.number_text import percent
from pages.site.words import say

STOPS = (0.0, 0.25, 0.5, 0.75, 1.0)  # that are written on it


def share_axis(title: str) -> Axis:
    """From nothing to all."""
    return Axis(title, 0.0, 1.0, values=STOPS, texts=tuple(say("train.percent", much=percent(stop)) for stop in STOPS))
