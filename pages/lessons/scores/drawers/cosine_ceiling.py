"""Lesson 4, drawer "ceiling": how large can a weight of the cosine become?"""

from dataclasses import replace

import streamlit as st

from attention_core import Trace
from attention_core.analysis.score_bounds import cosine_ceiling
from attention_core.drawing.axes import Axis
from attention_core.drawing.bars import row_of
from attention_core.drawing.curves import Curve, curves
from attention_core.drawing.specifications import Picture
from attention_core.explanation.facts import accident, row_fact
from attention_core.record.number_text import format_exact, format_fixed
from pages.export.page_links import link_to_workbench
from pages.lessons.pictures import show_bar_rows
from pages.lessons.scores.score_settings import SCORE_SETTINGS
from pages.lessons.sentences import list_place_labels, quote_token
from pages.panels.chart import show_curve_chart
from pages.panels.link_controls import slide
from pages.runs.cache import trace_for
from pages.session.labels import Selection, current_palette, name_token
from pages.setup.setup import Setup
from pages.site.words import say

COSINE_TEMPERATURES = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0)
CEILING_KEY_COUNTS = (2, 3, 4, 5, 7, 10, 16, 32, 64, 128, 256, 512)


def show_cosine_ceiling(setup: Setup, selection: Selection) -> None:
    """Shows the largest weight that a cosine can give against the number of keys, and what the asking word gives."""
    with st.container(width=420):
        temperature = slide("temperature", COSINE_TEMPERATURES, 1.0)
    cool = replace(
        setup,
        head=selection.head,
        temperature=temperature,
        **SCORE_SETTINGS["cosine"],
    )
    trace = trace_for(cool)
    fact = row_fact(trace, selection.head, selection.query)
    keys = trace.sizes()["S"]
    text = "ceiling_random" if accident(trace, fact) else "ceiling"
    sentence = say(
        f"lessons.scores.{text}",
        keys=keys,
        ceiling=format_fixed(cosine_ceiling(keys, temperature)),
        share=format_fixed(fact.share),
        temperature=format_exact(temperature),
        key=quote_token(trace, "S", fact.keys[0]),
    )
    st.markdown(sentence)
    picture = draw_ceilings(trace, selection, temperature, fact.share)
    show_curve_chart(picture, "scores_ceiling", sentence)
    row = row_of(
        say("lessons.scores.row_cosine"),
        trace,
        "weights",
        (0, selection.head, selection.query),
    )
    names = list_place_labels(trace, "S")
    show_bar_rows("cool", [row], names, {"": trace}, trace, say("step.alt", step="weights"))
    link_to_workbench(cool, "ceiling")


def draw_ceilings(trace: Trace, selection: Selection, temperature: float, share: float) -> Picture:
    """Draws the ceiling against the number of keys at temperature 1 and at another, and the share that a word gives."""
    palette = current_palette()
    keys = trace.sizes()["S"]
    ceilings = {
        1.0: make_ceiling_curve(1.0, palette.x),
        temperature: make_ceiling_curve(temperature, palette.q),  # the same one where the temperature is 1
    }
    word = name_token(trace, "T", selection.query)
    point = Curve(word, [keys], [share], palette.share)
    compared = [*ceilings.values(), point]
    x = Axis(
        say("lessons.scores.keys"),
        CEILING_KEY_COUNTS[0],
        CEILING_KEY_COUNTS[-1],
        log=True,
        values=CEILING_KEY_COUNTS[::2],
    )
    y = Axis(say("lessons.scores.share"), 0, 1)
    return curves(compared, x, y, palette, at=keys)


def make_ceiling_curve(temperature: float, colour: str) -> Curve:
    """The largest weight of a cosine against the number of keys."""
    return Curve(
        say("lessons.scores.most", temperature=format_exact(temperature)),
        CEILING_KEY_COUNTS,
        [cosine_ceiling(count, temperature) for count in CEILING_KEY_COUNTS],
        colour,
        dashed=True,
    )
