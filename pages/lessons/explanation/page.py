"""Is attention an explanation? Other weights in the place of the learned ones: whose prediction moves?"""

from collections.abc import Mapping
from dataclasses import replace

import streamlit as st

from attention_core.drawing.dumbbells import DumbbellEnd, dumbbells
from attention_core.learned.insight.attention_swaps import moving_kinds
from attention_core.learned.insight.prediction_shift import PredictionShift
from attention_core.learned.tasks.evidence import MEASURED_TEXT_COUNT
from attention_core.record.number_text import format_percent
from pages.lessons.explanation import drawers
from pages.lessons.explanation.weights_chart import draw_weights, largest_classifier_weight
from pages.lessons.frame import draw_lesson, drawer, show_lesson_code, show_lesson_run
from pages.lessons.learned.classifiers import (
    CLASSIFIER_EXAMPLES,
    CLASSIFIER_START_TEXTS,
    check_classifier_text,
    measure_prediction_shift,
    setup_for_classifier,
)
from pages.lessons.learned.learning import get_training_record, share_axis
from pages.lessons.learned.training_panel import show_own_training
from pages.lessons.prompts import predict
from pages.panels.chart import show_curve_chart
from pages.panels.link_controls import choose_option, option_labels, text_box
from pages.runs.cache import trace_for
from pages.session.labels import current_palette, spoken_share
from pages.site.words import say

ANSWER_OF_MOVING_TASKS = {
    ("lookup",): 0,
    ("vote",): 1,
    ("lookup", "vote"): 2,
    (): 3,
}  # whose prediction moves, as it may be guessed
CLASSIFIER_TEXT_CONTROLS = {"lookup": "text_lookup", "vote": "text_vote"}  # the names of the boxes for their texts
SHIFT_AXIS_START = -0.03  # the axis begins, so that an end at 0 stands free of the names
DUMBBELLS_WIDTH_PX = 400  # pixels of the dumbbells' field


def draw_shifts(found: Mapping[str, Mapping[str, PredictionShift]], known: bool) -> None:
    """A dumbbell for each kind of other weights: A at the one end, B at the other."""
    colours = {"lookup": current_palette().share, "vote": current_palette().k}
    rows = []
    for kind in drawers.SHOWN_SWAP_KINDS:
        shifts = {task: found[task][kind] for task in CLASSIFIER_EXAMPLES}
        ends = [
            DumbbellEnd(option_labels("task")(task), each.mean, each.interval, colours[task])
            for task, each in shifts.items()
        ]
        rows.append((option_labels("shift")(kind), ends))
    x = replace(share_axis(say("lessons.explanation.axis_shift")), first=SHIFT_AXIS_START)
    show_curve_chart(
        dumbbells(rows, x, current_palette(), not known, DUMBBELLS_WIDTH_PX),
        "explanation_hero",
        say("lessons.explanation.alt"),
    )


with draw_lesson("explanation") as place:
    texts = {}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        for task in CLASSIFIER_EXAMPLES:
            of = get_training_record(task)
            text = text_box(
                CLASSIFIER_TEXT_CONTROLS[task],
                CLASSIFIER_START_TEXTS[task],
                lambda typed, task=task: check_classifier_text(task, typed),
                width=260,
            )
            texts[task] = (of.network_at(max(of.steps)), text)
    found = {
        task: {kind: measure_prediction_shift(task, network, kind) for kind in drawers.SHOWN_SWAP_KINDS}
        for task, (network, _) in texts.items()
    }
    answers = [say(f"lessons.explanation.moves_{name}") for name in ("lookup", "vote", "both", "neither")]
    known = predict(
        answers, {ANSWER_OF_MOVING_TASKS[moving_kinds({task: found[task]["uniform"] for task in CLASSIFIER_EXAMPLES})]}
    )
    told = {
        f"{task}_{kind}": format_percent(found[task][kind].mean)
        for task in CLASSIFIER_EXAMPLES
        for kind in drawers.SHOWN_SWAP_KINDS
    }
    most = {f"{task}_most": spoken_share(largest_classifier_weight(task, *asked)) for task, asked in texts.items()}
    st.markdown(f"##### {say('lessons.explanation.fact' if known else 'lessons.explanation.seen', **told, **most)}")
    with st.container(horizontal=True, gap="medium"):
        with st.container(width="content"):
            draw_weights(texts)
        with st.container(width="content"):
            draw_shifts(found, known)
            st.markdown(say("lessons.explanation.legend"))
    st.caption(say("lessons.explanation.how", count=MEASURED_TEXT_COUNT))
    trained = choose_option("trained", tuple(CLASSIFIER_EXAMPLES), words=option_labels("task"))
    show_own_training(trained)
    setup = setup_for_classifier("lookup", *texts["lookup"])
    show_lesson_run(setup, place)
    drawer("witness", lambda: drawers.show_witness(texts))
    for name in ("others", "spare", "conclude"):
        drawer(name, lambda name=name: drawers.draw_after_guess(known, getattr(drawers, f"show_{name}"), texts))
    show_lesson_code(trace_for(setup), ("q", "k", "scores", "weights", "head_outputs", "output"))
