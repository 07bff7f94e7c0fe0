"""Shows the lesson on attention as an explanation: replaces learned weights, and shows how predictions change."""

from functools import partial

import streamlit as st

from attention_core.drawing.bars import row_of
from attention_core.learned.insight.attention_swaps import moving_kinds
from attention_core.learned.tasks.evidence import MEASURED_TEXT_COUNT, answer
from attention_core.record.number_text import format_percent
from pages.lessons.explanation.classifiers import predict_text_class, setup_for_classifier
from pages.lessons.explanation.drawers import (
    LESSON,
    TaskTexts,
    choose_task,
    draw_shifts,
    measure_shifts,
    type_task_texts,
)
from pages.lessons.frame import draw_drawers, draw_lesson, show_lesson_code, show_lesson_run, tell_method
from pages.lessons.learned.learning import show_own_training
from pages.lessons.pictures import show_bar_rows
from pages.lessons.prompts import predict
from pages.lessons.sentences import list_place_names
from pages.panels.fact import show_fact
from pages.panels.link_controls import option_labels
from pages.runs.cache import trace_for
from pages.session.labels import spoken_share
from pages.site.words import say

ANSWER_OF_MOVING_TASKS = {
    ("lookup",): 0,
    ("vote",): 1,
    ("lookup", "vote"): 2,
    (): 3,
}  # set of tasks whose predictions change -> index of the answer that names these tasks


def describe_largest_weights(texts: TaskTexts) -> str:
    """Returns the sentence on the largest attention weight of each classifier, shown before the visitor's guess."""
    values = {}
    for task, (network, text) in texts.items():
        trace = trace_for(setup_for_classifier(task, network, text))
        values[f"{task}_most"] = spoken_share(trace["weights"].max().item())
    return say("lessons.explanation.seen", **values)


# ---- the learned weights of both texts as bars -----------------------------------------------------------------------
WEIGHT_BARS_HEIGHT_PX = 70.0  # px: height of the chart of a text's weights
WIDE_BARS_PX, NARROW_BARS_PX = 480.0, 336.0  # px: width of this chart beside the other text's, and beside the dumbbells


def draw_text_weights(task: str, network: str, text: str, room: float) -> None:
    """Draws the learned weights of a text, titled with the classifier's prediction.

    room: the width of the chart in pixels.
    """
    trace = trace_for(setup_for_classifier(task, network, text))
    verdict = predict_text_class(task, network, text)
    key = "row_task" if answer(task, text) else "row_guess"
    title = say(
        f"lessons.explanation.{key}",
        name=verdict.name,
        share=spoken_share(verdict.share),
        task=option_labels("task")(task),
    )
    show_bar_rows(
        f"own_{task}",
        [row_of(title, trace, "weights", (0, 0, 0))],
        list_place_names(trace, "S"),
        {"": trace},
        trace,
        title,
        fits_phone=room > NARROW_BARS_PX,
        height=WEIGHT_BARS_HEIGHT_PX,
        whole=True,
        room=room,
    )


with draw_lesson(LESSON) as place:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        texts = type_task_texts()
    shifts = measure_shifts(texts)
    answers = [say(f"lessons.explanation.moves_{name}") for name in ("lookup", "vote", "both", "neither")]
    under_even_weights = {task: shift_by_kind["uniform"] for task, shift_by_kind in shifts.items()}
    known = predict(answers, {ANSWER_OF_MOVING_TASKS[moving_kinds(under_even_weights)]})
    if known:
        shares = {task: format_percent(shift.mean) for task, shift in under_even_weights.items()}
        show_fact(say("lessons.explanation.fact", **shares))
    else:
        show_fact(describe_largest_weights(texts))
    if known:
        with st.container(horizontal=True, gap="medium"):
            with st.container(width="content"):
                for task, (network, text) in texts.items():
                    draw_text_weights(task, network, text, NARROW_BARS_PX)
            with st.container(width="content"):
                draw_shifts(shifts)
                st.markdown(say("lessons.explanation.legend"))
    else:
        with st.container(horizontal=True, gap="medium"):
            for task, (network, text) in texts.items():
                with st.container(width="content"):
                    draw_text_weights(task, network, text, WIDE_BARS_PX)
    tell_method(say("lessons.explanation.how", count=MEASURED_TEXT_COUNT))
    show_own_training(partial(choose_task, "trained"))
    setup = setup_for_classifier("lookup", *texts["lookup"])
    show_lesson_run(setup, place)
    draw_drawers(LESSON, known, texts)
    show_lesson_code(LESSON, trace_for(setup))
