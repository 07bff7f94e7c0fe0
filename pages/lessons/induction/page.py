"""A head learns to copy: what came after this symbol last time comes again. Accuracy by position, head by head."""

import streamlit as st

from attention_core.drawing.charts import Axis
from attention_core.drawing.curves import Curve, curves
from attention_core.learned.insight.copying_heads import PLACES, accuracy, expected_next, first_share, repeated_share
from attention_core.learned.insight.views import symbols_of
from attention_core.learned.training.courses import COURSES, Figures
from attention_core.learned.training.shipped import SEED
from attention_core.record.number_text import percent
from pages.lessons.frame import code, drawer, lesson, stands_for
from pages.lessons.induction import drawers
from pages.lessons.learned.learning import learning, share_axis
from pages.lessons.learned.training_panel import train_yourself
from pages.lessons.pictures import show_beside
from pages.panels.chart import curve_chart
from pages.panels.link_controls import choose_several, option, slide, text_box
from pages.runs.cache import kept, trace_of
from pages.runs.network_store import find
from pages.session.labels import palette
from pages.site.words import literal, say

COURSE = "copy_two"
TEXT = "k7Bxa9k7Bxa9"
WIDE, HIGH = 400, 240  # pixels of the curves' field


@kept
def accuracy_of(network: str, off: tuple[str, ...]) -> Figures:
    """The share of symbols that are foretold by position, without some heads."""
    return find(network).measure(lambda model: accuracy(model, off))


@kept
def next_of(network: str, text: str, off: tuple[str, ...]) -> tuple[str, float]:
    """The symbol that is expected after a text without some heads, and how probable it is held."""
    return expected_next(find(network), text, off)


def draw_curves(all_on: Figures, some_on: Figures, places: tuple[int, ...]) -> None:
    """Accuracy by position: with all heads, and with those that are on, where some are not."""
    drawn = [Curve(say("lessons.induction.all_on"), places, all_on, palette().share, dashed=bool(some_on))]
    if some_on:
        drawn.append(Curve(say("lessons.induction.some_on"), places, some_on, palette().k))
    x = Axis(say("lessons.induction.axis_place"), min(places), max(places))
    y = share_axis(say("lessons.induction.axis_right"))
    picture = curves(drawn, x, y, palette(), drawers.REPEATS, WIDE, HIGH)
    curve_chart(picture, "induction_hero", say("lessons.induction.alt"))


with lesson("induction") as place:
    of = learning(COURSE)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        text = text_box("symbols", TEXT, lambda typed: symbols_of(typed, COURSES[COURSE].alphabets[0]), width=300)
        heads = choose_several("heads", tuple(PLACES), tuple(PLACES))
        step = slide("step_of", of.steps, max(of.steps), others=COURSES[COURSE].saved, moves=of.own, width=220)
    network = of.network_at(step)
    off = tuple(name for name in PLACES if name not in heads)
    all_on = of.figures_at(step)
    some_on = accuracy_of(network, off) if off else ()
    shown = some_on or all_on
    told = {"step": step, "share": percent(repeated_share(shown))}
    told["first"] = percent(first_share(shown))
    names = say("fact.comma").join(map(option("heads"), off))
    st.markdown(f"##### {say('lessons.induction.fact_off' if off else 'lessons.induction.fact', names=names, **told)}")
    symbol, share = next_of(network, text, off)
    st.markdown(say("lessons.induction.next", text=literal(text), symbol=literal(symbol), share=percent(share)))
    setups = {layer: drawers.layer_setup(layer, network, text) for layer in drawers.LAYERS}
    trace = trace_of(setups["L2"])
    with st.container(horizontal=True, gap="medium"):
        with st.container(width="content"):
            draw_curves(all_on, some_on, of.places)
        with st.container(width="content"):
            show_beside(drawers.head_map("copying", drawers.most_copying(network), trace))
    train_yourself(COURSE)
    st.caption(say("lessons.induction.how", numbers=f"{of.parameters:,}", seed=SEED))
    stands_for(setups["L2"], place)
    drawer("appear", lambda: drawers.appear(of))
    drawer("typed", lambda: drawers.typed(network, text, off))
    drawer("one_layer", drawers.one_layer)
    drawer("layers", lambda: drawers.layers(network, text))
    code(trace, ("q", "k", "scores", "weights", "head_outputs", "output"))
