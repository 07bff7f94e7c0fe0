"""A head learns to copy: what came after this symbol last time comes again. Accuracy by position, head by head."""

import streamlit as st

from attention_core.drawing.axes import Axis
from attention_core.drawing.curves import Curve, curves
from attention_core.learned.insight.copying_heads import (
    HEAD_PLACES,
    accuracy_without_heads,
    expected_next,
    first_share,
    repeated_share,
)
from attention_core.learned.insight.views import symbols_of
from attention_core.learned.training.courses import COURSES, Figures
from attention_core.learned.training.shipped import SHIPPED_SEED
from attention_core.record.number_text import format_percent
from pages.lessons.frame import draw_lesson, drawer, show_lesson_code, show_lesson_run
from pages.lessons.induction import drawers
from pages.lessons.learned.learning import get_training_record, share_axis
from pages.lessons.learned.training_panel import show_own_training
from pages.lessons.pictures import show_side_by_side
from pages.panels.chart import show_curve_chart
from pages.panels.link_controls import choose_options, option_labels, slide, text_box
from pages.runs.cache import cache_by_setup, trace_for
from pages.runs.network_store import find_network
from pages.session.labels import current_palette, spoken_share
from pages.site.words import escape_markdown, say

COPY_COURSE = "copy_two"
START_COPY_TEXT = "k7Bxa9k7Bxa9"
ACCURACY_WIDTH_PX, ACCURACY_HEIGHT_PX = 400, 240  # pixels of the curves' field


@cache_by_setup
def measure_accuracy_without_heads(network: str, off: tuple[str, ...]) -> Figures:
    """The share of symbols that are foretold by position, without some heads."""
    return find_network(network).measure(lambda model: accuracy_without_heads(model, off))


@cache_by_setup
def predict_next_symbol(network: str, text: str, off: tuple[str, ...]) -> tuple[str, float]:
    """The symbol that is expected after a text without some heads, and how probable it is held."""
    return expected_next(find_network(network), text, off)


def draw_accuracy_curves(all_on: Figures, some_on: Figures, places: tuple[int, ...]) -> None:
    """Accuracy by position: with all heads, and with those that are on, where some are not."""
    drawn = [Curve(say("lessons.induction.all_on"), places, all_on, current_palette().share, dashed=bool(some_on))]
    if some_on:
        drawn.append(Curve(say("lessons.induction.some_on"), places, some_on, current_palette().k))
    x = Axis(say("lessons.induction.axis_place"), min(places), max(places))
    y = share_axis(say("lessons.induction.axis_right"))
    picture = curves(
        drawn, x, y, current_palette(), drawers.FIRST_REPEATED_PLACE, ACCURACY_WIDTH_PX, ACCURACY_HEIGHT_PX
    )
    show_curve_chart(picture, "induction_hero", say("lessons.induction.alt"))


with draw_lesson("induction") as place:
    of = get_training_record(COPY_COURSE)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        text = text_box(
            "symbols", START_COPY_TEXT, lambda typed: symbols_of(typed, COURSES[COPY_COURSE].alphabets[0]), width=300
        )
        heads = choose_options("heads", tuple(HEAD_PLACES), tuple(HEAD_PLACES))
        step = slide("step_of", of.steps, max(of.steps), others=COURSES[COPY_COURSE].saved, moves=of.own, width=220)
    network = of.network_at(step)
    off = tuple(name for name in HEAD_PLACES if name not in heads)
    all_on = of.figures_at(step)
    some_on = measure_accuracy_without_heads(network, off) if off else ()
    shown = some_on or all_on
    told = {"step": step, "share": spoken_share(repeated_share(shown))}
    told["first"] = format_percent(first_share(shown))
    names = say("fact.comma").join(map(option_labels("heads"), off))
    st.markdown(f"##### {say('lessons.induction.fact_off' if off else 'lessons.induction.fact', names=names, **told)}")
    symbol, share = predict_next_symbol(network, text, off)
    st.markdown(
        say(
            "lessons.induction.next",
            text=escape_markdown(text),
            symbol=escape_markdown(symbol),
            share=spoken_share(share),
        )
    )
    setups = {layer: drawers.setup_for_layer(layer, network, text) for layer in drawers.LAYER_EXAMPLES}
    trace = trace_for(setups["L2"])
    with st.container(horizontal=True, gap="medium"):
        with st.container(width="content"):
            draw_accuracy_curves(all_on, some_on, of.places)
        with st.container(width="content"):
            show_side_by_side(drawers.make_layer_head_map("copying", drawers.find_most_copying_head(network), trace))
    show_own_training(COPY_COURSE)
    st.caption(say("lessons.induction.how", numbers=f"{of.parameters:,}", seed=SHIPPED_SEED))
    show_lesson_run(setups["L2"], place)
    drawer("appear", lambda: drawers.show_heads_appearing(of))
    drawer("typed", lambda: drawers.show_foretold_text(network, text, off))
    drawer("one_layer", drawers.show_one_layer)
    drawer("layers", lambda: drawers.show_layer_runs(network, text))
    show_lesson_code(trace, ("q", "k", "scores", "weights", "head_outputs", "output"))
