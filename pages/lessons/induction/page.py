"""A head learns to copy: what came after this symbol last time comes again. Accuracy by position, head by head."""

import streamlit as st

from attention_core.learned.insight.copying_heads import HEAD_PLACES, expected_next, first_share, repeated_share
from attention_core.learned.insight.views import symbols_of
from attention_core.learned.training.courses import COURSES, Figures
from attention_core.learned.training.shipped_networks import SHIPPED_SEED
from attention_core.record.number_text import format_grouped, format_percent
from pages.lessons.frame import draw_drawer, draw_lesson, show_lesson_code, show_lesson_run
from pages.lessons.induction.accuracy_chart import measure_accuracy_without_heads, show_accuracy_curves
from pages.lessons.induction.arcs import show_arcs
from pages.lessons.induction.drawers import LESSON
from pages.lessons.induction.layer_runs import setup_for_layer
from pages.lessons.induction.needed_heads import find_most_needed_head, tell_needed_heads
from pages.lessons.learned.learning import get_training_record
from pages.lessons.learned.training_panel import show_own_training
from pages.lessons.prompts import predict
from pages.lessons.sentences import join_with_commas
from pages.panels.link_controls import choose_options, option_labels, text_box
from pages.panels.live_choice import find_live_choice, show_live_choice
from pages.panels.live_frames import only_now, tell_live
from pages.runs.cache import cache_by_setup, trace_for
from pages.runs.network_store import find_network
from pages.session.labels import spoken_share
from pages.site.words import escape_markdown, say

COPY_COURSE = "copy_two"
START_COPY_TEXT = "k7Bxa9k7Bxa9"


@cache_by_setup
def predict_next_symbol(network: str, text: str, off: tuple[str, ...]) -> tuple[str, float]:
    """Returns the most probable symbol after a text, and its probability. off: the ablated heads."""
    return expected_next(find_network(network), text, off)


def check_symbols(text: str) -> None:
    """Raises AttentionError for a text that the network cannot read."""
    symbols_of(text, COURSES[COPY_COURSE].alphabets[0])


def describe_accuracy(step: int, off: tuple[str, ...], accuracy: Figures) -> str:
    """Returns the sentence about the accuracy after a step of training. off: the ablated heads."""
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
    """Returns the sentence about the most probable symbol after a text. off: the ablated heads."""
    symbol, share = predict_next_symbol(network, text, off)
    return say(
        "lessons.induction.next",
        text=escape_markdown(text),
        symbol=escape_markdown(symbol),
        share=spoken_share(share),
    )


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
    if predict(tuple(HEAD_PLACES), {find_most_needed_head()}):
        st.markdown(tell_needed_heads())
    show_own_training(lambda: COPY_COURSE)
    st.caption(say("lessons.induction.how", numbers=format_grouped(record.parameters), seed=SHIPPED_SEED))
    show_lesson_run(setup, place)
    draw_drawer(LESSON, "one_layer")
    draw_drawer(LESSON, "layers", record, network, text)
    draw_drawer(LESSON, "appear", record)
    draw_drawer(LESSON, "typed", network, text, off)
    show_lesson_code(LESSON, trace)
