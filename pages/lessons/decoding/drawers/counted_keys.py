"""The lesson on decoding, drawer "count": how much does the cache save?"""

import streamlit as st

from attention_core.drawing.axes import Axis, decade_axis
from attention_core.drawing.curves import Curve, curves
from attention_core.record.number_text import format_grouped
from attention_core.variants.decoding_work import guess_key_counts, total_work
from pages.lessons.decoding.triangles import show_triangles
from pages.lessons.decoding.written import Written
from pages.lessons.prompts import predict
from pages.lessons.sentences import show_sentence
from pages.panels.chart import show_curve_chart
from pages.panels.link_controls import slide
from pages.session.labels import current_palette
from pages.site.words import say

DECODED_LENGTHS = (16, 64, 256, 1024, 4096)
MOST_TRIANGLE_WORDS = 12  # more cells would be too small to read on a projector


def show_counted_keys(written: Written) -> None:
    """Shows which keys each step computes for the written words, and asks for their number in longer texts."""
    names = written.words[:MOST_TRIANGLE_WORDS]
    count = len(names)
    values = {name: format_grouped(total_work(count, cached=name == "cached").keys) for name in ("cached", "again")}
    show_sentence("lessons.decoding.triangles", count=count, **values)
    with st.container(horizontal=True, gap="medium"):
        show_triangles(names)
    ask_for_key_count()


def ask_for_key_count() -> None:
    """Asks how many keys a long text takes without a cache; after the guess shows the answer and a chart."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        with st.container(width=300):
            length = slide("length", DECODED_LENGTHS, 256, format_grouped)
        counts = guess_key_counts(length)
        right = total_work(length, cached=False).keys
        labels = [format_grouped(count) for count in counts]
        known = predict(labels, {counts.index(right)})
    if not known:
        return
    show_sentence(
        "lessons.decoding.counted",
        length=format_grouped(length),
        cached=format_grouped(total_work(length).keys),
        again=format_grouped(right),
    )
    show_key_curves(length)


def show_key_curves(length: int) -> None:
    """Draws how many keys are computed by length, with a cache and without. length: marked by a vertical line."""
    palette = current_palette()
    drawn = []
    for name, colour, is_cached in (("cached", palette.k, True), ("again", palette.x, False)):
        counted = [total_work(each, cached=is_cached).keys for each in DECODED_LENGTHS]
        drawn.append(Curve(say(f"lessons.decoding.picture.way_{name}"), DECODED_LENGTHS, counted, colour))
    x = Axis(
        say("lessons.decoding.axis_tokens"),
        *(DECODED_LENGTHS[0], DECODED_LENGTHS[-1]),
        log=True,
        values=DECODED_LENGTHS,
        texts=tuple(map(format_grouped, DECODED_LENGTHS)),
    )
    most = total_work(DECODED_LENGTHS[-1], cached=False).keys
    y = decade_axis(say("lessons.decoding.axis_keys"), [DECODED_LENGTHS[0], most])
    show_curve_chart(curves(drawn, x, y, palette, at=length), "decoding_keys", say("lessons.decoding.keys_alt"))
