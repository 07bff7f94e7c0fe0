"""The lesson on distance, drawer "time": how long does it take?"""

from collections.abc import Mapping, Sequence
from itertools import product

import streamlit as st

from attention_core.drawing.axes import decade_axis
from attention_core.drawing.curves import Curve, curves
from attention_core.record.number_text import format_duration, format_fixed, format_grouped
from attention_core.variants.encoder_timing import encoding_time
from attention_core.variants.encoders import Encoder
from attention_core.variants.timing import fit_slope
from pages.lessons.distance.encoder_curves import (
    ENCODED_LENGTHS,
    EncodersByKind,
    encoder_colours,
    length_axis,
    list_values,
    name_encoder,
)
from pages.lessons.encoders import COMPARED_ENCODER_WIDTH
from pages.lessons.sentences import join_with_commas, show_sentence
from pages.panels.chart import show_curve_chart
from pages.panels.progress import measure_on_request
from pages.session.labels import current_palette
from pages.site.words import say

TIMED_ENCODING_LENGTHS = ENCODED_LENGTHS[3:]


def show_encoding_times(encoders: EncodersByKind) -> None:
    """Measures on request the time of a forward pass by length, and shows the exponent of its growth."""
    tasks = [(encoder, length) for length, encoder in product(TIMED_ENCODING_LENGTHS, encoders.values())]
    seconds = measure_on_request(
        "time",
        tasks,
        lambda task: encoding_time(*task).seconds,
        say("lessons.distance.measure"),
    )
    lengths = list_measured_lengths(encoders, seconds)
    if encoders and len(lengths) > 1:
        times = {kind: [seconds[encoder, length] for length in lengths] for kind, encoder in encoders.items()}
        say_encoding_times(lengths, times)
        show_time_curves(lengths, times)
    st.caption(say("lessons.distance.machine", width=COMPARED_ENCODER_WIDTH))


def list_measured_lengths(encoders: EncodersByKind, seconds: Mapping[tuple[Encoder, int], float]) -> list[int]:
    """Lists the lengths at which all encoders were measured."""
    lengths = []
    for length in TIMED_ENCODING_LENGTHS:
        if all((encoder, length) in seconds for encoder in encoders.values()):
            lengths.append(length)
    return lengths


def say_encoding_times(lengths: Sequence[int], times: Mapping[str, Sequence[float]]) -> None:
    """Shows the time of each kind of encoder at the longest length, the fastest first.

    times: of each kind, at each length."""
    parts = []
    for kind, seconds in times.items():
        slope = fit_slope(lengths, seconds)
        part = say(
            "lessons.distance.took",
            kind=name_encoder(kind),
            time=format_duration(seconds[-1]),
            slope=format_fixed(slope),
        )
        parts.append((seconds[-1], part))
    fastest_first = [part for _, part in sorted(parts)]
    show_sentence(
        "lessons.distance.timed",
        length=format_grouped(lengths[-1]),
        parts=join_with_commas(fastest_first),
    )


def show_time_curves(lengths: Sequence[int], times: Mapping[str, Sequence[float]]) -> None:
    """Shows the times of each kind of encoder as a curve.

    times: of each kind, at each length."""
    colours = encoder_colours()
    drawn = []
    for kind, seconds in times.items():
        slope = format_fixed(fit_slope(lengths, seconds))
        name = say("lessons.distance.slope", kind=name_encoder(kind), slope=slope)
        drawn.append(Curve(name, lengths, seconds, colours[kind]))
    x = length_axis(TIMED_ENCODING_LENGTHS)
    y = decade_axis(say("lessons.distance.axis_seconds"), list_values(drawn))
    picture = curves(drawn, x, y, current_palette())
    show_curve_chart(picture, "distance_time", say("lessons.distance.alt_time"))
