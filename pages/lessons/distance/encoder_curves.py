"""Shared by the charts of the lesson on distance: names and colours of encoders, and the axis of lengths."""

from collections.abc import Mapping, Sequence
from itertools import chain

from attention_core.drawing.axes import Axis
from attention_core.drawing.curves import Curve
from attention_core.variants.encoders import Encoder
from pages.panels.link_controls import option_labels
from pages.session.labels import current_palette
from pages.site.words import say

ENCODED_LENGTHS = (8, 16, 32, 64, 128, 256, 512, 1024)

EncodersByKind = Mapping[str, Encoder]


def name_encoder(kind: str) -> str:
    """Returns the displayed name of a kind of encoder."""
    return option_labels("kinds")(kind)


def encoder_colours() -> dict[str, str]:
    """The colour of each kind of encoder."""
    palette = current_palette()
    return {
        "rnn": palette.k,
        "gru": palette.outline,
        "lstm": palette.q,
        "cnn": palette.v,
        "attention": palette.share,
    }


def length_axis(lengths: Sequence[int]) -> Axis:
    """The logarithmic axis of the number of words in a sequence."""
    return Axis(
        say("lessons.distance.axis_length"),
        lengths[0],
        lengths[-1],
        log=True,
        values=tuple(lengths),
    )


def list_values(drawn: Sequence[Curve]) -> list[float]:
    """Lists the y values of all curves."""
    return list(chain.from_iterable(curve.y for curve in drawn))
