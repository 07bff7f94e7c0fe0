"""Shows the lesson on copying: a head finds the same symbol earlier in the text, and copies the symbol after it.

Shows the accuracy by position, with all heads and with heads ablated.
"""

from collections.abc import Sequence

import streamlit as st

from attention_core.drawing.axes import Axis
from attention_core.drawing.curves import Curve, curves
from attention_core.drawing.specifications import Picture
from attention_core.learned.insight.copying_heads import (
    HEAD_PLACES,
    first_share,
    repeated_share,
)
from attention_core.learned.insight.views import symbols_of
from attention_core.learned.tasks.repeats import MEASURED_HALF
from attention_core.learned.training.courses import COURSES, Figures
from attention_core.learned.training.shipped_networks import SHIPPED_SEED
from attention_core.learned.training.snapshots import NetworkRecipe
from attention_core.record.number_text import format_grouped, format_percent
from pages.lessons.frame import draw_drawer, draw_lesson, show_lesson_code, show_lesson_run, tell_method
from pages.lessons.induction.drawers import (
    LESSON,
    measure_accuracy_without_heads,
    predict_next_symbol,
    setup_for_layer,
    show_arcs,
)
from pages.lessons.learned.learning import get_training_record, share_axis, show_own_training
from pages.lessons.prompts import predict
from pages.lessons.sentences import join_with_commas
from pages.panels.link_controls import choose_options, option_labels, text_box
from pages.panels.live_choice import LiveChoice, find_live_choice, show_live_choice
from pages.panels.live_frames import only_now, show_live_curves, tell_live
from pages.runs.cache import trace_for
from pages.session.labels import current_palette, spoken_share
from pages.site.words import escape_markdown, say

COPY_COURSE = "copy_two"
START_COPY_TEXT = "k7Bxa9k7Bxa9"


def check_symbols(text: str) -> None:
    """Raises AttentionError for a text that the network cannot read."""
    symbols_of(text, COURSES[COPY_COURSE].alphabets[0])


def describe_accuracy(step: int, off: tuple[str, ...], accuracy: Figures) -> str:
    """Returns the sentence about the accuracy of the network after a training step.

    off: the names of the ablated heads. accuracy: the share of right predictions at each position.
    """
    values = {
        "step": step,
        "share": spoken_share(repeated_share(accuracy)),
        "first": format_percent(first_share(accuracy)),
    }
    if not off:
        return say("lessons.induction.fact", **values)
    names = join_with_commas(map(option_labels("heads"), off))
    return say("lessons.induction.fact_off", names=names, **values)


def tell_next_symbol(network: str, text: str, off: tuple[str, ...]) -> str:
    """Returns the sentence about the symbol that a network predicts after a text, and its probability.

    off: the names of the ablated heads.
    """
    symbol, share = predict_next_symbol(network, text, off)
    return say(
        "lessons.induction.next",
        text=escape_markdown(text),
        symbol=escape_markdown(symbol),
        share=spoken_share(share),
    )


# ---- the chart: the share of symbols that are predicted correctly, by position ---------------------------------------
ACCURACY_WIDTH_PX, ACCURACY_HEIGHT_PX = 185, 200  # px: size of the plot area


def show_accuracy_curves(step: LiveChoice, all_on: Sequence[Figures], some_on: Figures, places: Sequence[int]) -> None:
    """Shows the accuracy by position, as a chart that follows the slider of training steps.

    all_on: the accuracies with all heads, for each step. some_on: the accuracies with some heads ablated, at the
    selected step only; () if no head is ablated. places: the positions in the text.
    """
    axes = (
        Axis(say("lessons.induction.axis_place"), min(places), max(places)),
        share_axis(say("lessons.induction.axis_right")),
    )
    pictures = [draw_accuracy(figures, some_on, places, axes) for figures in all_on]
    if some_on:
        pictures = only_now(step, pictures[step.position])
    show_live_curves(step, "induction_hero", pictures, axes, say("lessons.induction.alt"))


def draw_accuracy(all_on: Figures, some_on: Figures, places: Sequence[int], axes: tuple[Axis, Axis]) -> Picture:
    """Draws the accuracy by position after one step of training; a line marks where the repetition begins."""
    palette = current_palette()
    drawn = [Curve(say("lessons.induction.all_on"), places, all_on, palette.share, dashed=bool(some_on))]
    if some_on:
        drawn.append(Curve(say("lessons.induction.some_on"), places, some_on, palette.k))
    return curves(drawn, *axes, palette, MEASURED_HALF, ACCURACY_WIDTH_PX, ACCURACY_HEIGHT_PX)


# ---- which heads the supplied network needs, measured by ablation ----------------------------------------------------
HEADS_BY_LAYER = {"first": ("L1H1", "L1H2"), "second": ("L2H1", "L2H2")}


def measure_share_without(*off: str) -> float:
    """Returns the accuracy of the supplied network, after training, on repeated symbols with some heads ablated."""
    network = NetworkRecipe(COPY_COURSE, SHIPPED_SEED, COURSES[COPY_COURSE].saved[-1]).name
    return repeated_share(measure_accuracy_without_heads(network, off))


def tell_needed_heads() -> str:
    """Returns the sentence about the accuracy without each head, and without both heads of a layer."""
    shares = {name: spoken_share(measure_share_without(name)) for name in HEAD_PLACES}
    layers = {name: spoken_share(measure_share_without(*heads)) for name, heads in HEADS_BY_LAYER.items()}
    return say("lessons.induction.needed", **shares, **layers)


with draw_lesson(LESSON) as place:
    record = get_training_record(COPY_COURSE)
    last_step = max(record.steps)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        text = text_box("symbols", START_COPY_TEXT, check_symbols, width=300)
        heads = choose_options("heads", tuple(HEAD_PLACES), tuple(HEAD_PLACES))
        other_steps = COURSES[COPY_COURSE].saved
        kept = find_live_choice("step_of", record.steps, last_step, others=other_steps)
        show_live_choice(kept, width=220)
    step = kept.value
    network = record.network_at(step)
    off = tuple(name for name in HEAD_PLACES if name not in heads)
    all_on = [record.figures_at(each) for each in kept.options]
    some_on = measure_accuracy_without_heads(network, off) if off else ()
    facts = [describe_accuracy(each, (), figures) for each, figures in zip(kept.options, all_on, strict=True)]
    if off:
        facts = only_now(kept, describe_accuracy(step, off, some_on))
    tell_live(kept, "induction_fact", facts, "heading")
    tell_live(kept, "induction_next", only_now(kept, tell_next_symbol(network, text, off)))
    setup = setup_for_layer("L2", network, text)
    trace = trace_for(setup)
    picture, chart = st.columns([5, 3], gap="medium", vertical_alignment="center")
    with picture:
        show_arcs(record, kept, text, off)
    with chart:
        show_accuracy_curves(kept, all_on, some_on, record.places)
    shares_without_head = [measure_share_without(name) for name in HEAD_PLACES]
    most_needed = shares_without_head.index(min(shares_without_head))
    if predict(tuple(HEAD_PLACES), {most_needed}):
        st.markdown(tell_needed_heads())
    show_own_training(lambda: COPY_COURSE)
    tell_method(say("lessons.induction.how", numbers=format_grouped(record.parameters), seed=SHIPPED_SEED))
    show_lesson_run(setup, place)
    draw_drawer(LESSON, "one_layer")
    draw_drawer(LESSON, "layers", record, network, text)
    draw_drawer(LESSON, "appear", record)
    draw_drawer(LESSON, "typed", network, text, off)
    show_lesson_code(LESSON, trace)
