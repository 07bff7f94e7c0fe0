"""One vector for a whole text? A network with attention learns to write beside the same one without."""

from functools import partial
from itertools import chain

import streamlit as st

from attention_core.learned.training.courses import COURSES
from attention_core.learned.training.shipped_networks import SHIPPED_SEED
from attention_core.record.number_text import format_grouped
from pages.lessons.bottleneck.drawers import LESSON
from pages.lessons.bottleneck.exactness_chart import draw_exactness_curves
from pages.lessons.bottleneck.neck import show_neck
from pages.lessons.bottleneck.told_writings import describe_exactness, tell_bottleneck, tell_fact, tell_writings
from pages.lessons.frame import draw_drawer, draw_lesson, show_lesson_code, show_lesson_run
from pages.lessons.learned.learning import TrainingRecord, get_training_record, load_shipped_training
from pages.lessons.learned.training_panel import show_own_training
from pages.lessons.learned.writers import (
    WRITING_TASKS,
    check_writer_text,
    split_symbols,
    write_at_step,
)
from pages.lessons.sentences import join_with_commas
from pages.panels.link_controls import choose_option, text_box
from pages.panels.live_choice import LiveChoice, find_live_choice, show_live_choice
from pages.panels.live_frames import only_now, tell_live
from pages.runs.cache import trace_for
from pages.site.words import say

KEPT_TRAINING_STEPS = sorted(set(chain.from_iterable(course.saved for course in COURSES.values())))  # of any network
TASK_TEXT_CONTROLS = {"dates": "text_dates", "reversal": "text_reversal"}  # the names of the boxes for what is read


def find_step(task: str, record: TrainingRecord) -> LiveChoice:
    """After which step of the training the networks are shown."""
    usual = max(record.steps) if record.own else WRITING_TASKS[task].telling
    return find_live_choice("step_of", record.steps, usual, "{:,}".format, KEPT_TRAINING_STEPS)


with draw_lesson(LESSON) as place:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        task = choose_option("task", tuple(WRITING_TASKS))
        kinds = WRITING_TASKS[task].kinds
        check_text = partial(check_writer_text, task)
        text = text_box(TASK_TEXT_CONTROLS[task], WRITING_TASKS[task].text, check_text, width=200)
        kind = choose_option("kind", kinds)
        course = f"{task}_{kind}"
        records = {each: load_shipped_training(f"{task}_{each}") for each in kinds}
        records[kind] = record = get_training_record(course)
        kept = find_step(task, record)
        show_live_choice(kept, width=220)
    step = kept.value
    compared = tuple(dict.fromkeys((kind, "one")))
    results = {each: write_at_step(records[each], step, text) for each in compared if step in records[each].networks}
    facts = []
    for each_step in kept.options:
        parts = join_with_commas(describe_exactness(each, records[each], each_step) for each in compared)
        facts.append(tell_fact(task, each_step, parts))
    tell_live(kept, "bottleneck_fact", facts, "heading")
    writings = tell_writings(text, results, results[kind].right is not None)
    tell_live(kept, "bottleneck_writings", only_now(kept, writings))
    setup = results[kind].setup
    symbols = split_symbols(course, text)
    networks = {each: records[each].network_at(step) for each in results}
    picture, chart = st.columns([5, 3], gap="medium", vertical_alignment="center")
    with picture:
        show_neck(task, symbols, kept, networks, results)
        if setup is None and kind != "one":
            st.info(say("lessons.bottleneck.wrote_nothing"))
    with chart:
        draw_exactness_curves(records, kept, len(symbols))
    st.markdown(tell_bottleneck(task))
    show_own_training(lambda: course)
    st.caption(say("lessons.bottleneck.how", numbers=format_grouped(record.parameters), seed=SHIPPED_SEED))
    if setup is not None:
        show_lesson_run(setup, place)
        draw_drawer(LESSON, "growing", record, text)
        draw_drawer(LESSON, "one_step", setup, kept.written(step))
    draw_drawer(LESSON, "untrained", task, records)
    draw_drawer(LESSON, "smear", record, step, text)
    if setup is not None:
        show_lesson_code(LESSON, trace_for(setup))
