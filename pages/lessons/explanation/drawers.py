"""Draws the accordions of the lesson on attention as an explanation, and provides functions that its page uses too."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import streamlit as st

from attention_core import Trace
from attention_core.drawing.bars import Row, row_of
from attention_core.drawing.curves import DumbbellEnd, DumbbellRow, dumbbells
from attention_core.learned.insight.attention_swaps import PredictionShift
from attention_core.learned.language.readout import measure_vector_shares
from attention_core.learned.tasks.evidence import answer
from attention_core.record.number_text import format_fixed, format_percent
from pages.export.page_links import link_to_workbench
from pages.lessons.explanation.classifiers import (
    CLASSIFIER_EXAMPLES,
    CLASSIFIER_START_TEXTS,
    check_classifier_text,
    measure_accuracy_by_heads,
    measure_prediction_shift,
    predict_text_class,
    run_with_other_weights,
    setup_for_classifier,
    trace_with_attributions,
)
from pages.lessons.frame import Lesson
from pages.lessons.learned.learning import get_training_record, share_axis
from pages.lessons.pictures import show_bar_rows
from pages.lessons.prompts import after_guess
from pages.lessons.sentences import list_place_names, show_sentence
from pages.panels.chart import show_curve_chart
from pages.panels.link_controls import choose_option, option_labels, text_box
from pages.runs.cache import trace_for
from pages.session.labels import current_palette, place_name, spoken_share, written_share
from pages.site.words import current_language, say

# ---- the texts of the lesson on explanation, one for each classifier, and the networks that read them ----------------
CLASSIFIER_TEXT_CONTROLS = {"lookup": "text_lookup", "vote": "text_vote"}  # task -> name of the text input's control

TaskTexts = Mapping[str, tuple[str, str]]  # task of a classifier -> (name of its network, text)


def type_task_texts() -> TaskTexts:
    """Shows a text input for each classifier; returns {task: (name of the classifier's last network, typed text)}."""
    texts = {}
    for task in CLASSIFIER_EXAMPLES:
        record = get_training_record(task)
        last_step = max(record.steps)
        text = text_box(
            CLASSIFIER_TEXT_CONTROLS[task],
            CLASSIFIER_START_TEXTS[task],
            partial(check_classifier_text, task),
            width=260,
        )
        texts[task] = (record.network_at(last_step), text)
    return texts


def choose_task(name: str) -> str:
    """Shows the choice of a classifier, and returns its task.

    name: the name of the control.
    """
    return choose_option(name, tuple(CLASSIFIER_EXAMPLES), words=option_labels("task"))


# ---- the chart of the lesson on explanation: how far the predictions of both classifiers move under other weights ----
SHOWN_SWAP_KINDS = ("uniform", "permuted", "random", "adversarial")  # kinds of replacement weights that the page shows
SHIFT_AXIS_START = -0.03  # start of the axis of shifts, below 0 so that a dot at 0 does not touch the chart's edge

ShiftsByTask = Mapping[str, Mapping[str, PredictionShift]]  # task -> {kind of weights: shift of the predictions}


def measure_shifts(texts: TaskTexts) -> ShiftsByTask:
    """Measures how much each classifier's predictions change with each kind of replacement weights."""
    shifts = {}
    for task, (network, _) in texts.items():
        shifts[task] = {kind: measure_prediction_shift(task, network, kind) for kind in SHOWN_SWAP_KINDS}
    return shifts


def draw_shifts(shifts: ShiftsByTask) -> None:
    """Draws how far the predictions shift under each kind of replacement weights, as a line between two classifiers
    ("dumbbell").
    """
    rows = [make_dumbbell_row(shifts, kind) for kind in SHOWN_SWAP_KINDS]
    axis = share_axis(say("lessons.explanation.axis_shift"))
    x = replace(axis, first=SHIFT_AXIS_START)
    picture = dumbbells(rows, x, current_palette())
    show_curve_chart(picture, "explanation_hero", say("lessons.explanation.alt"))


def make_dumbbell_row(shifts: ShiftsByTask, kind: str) -> DumbbellRow:
    """Returns the chart's row for a kind of replacement weights."""
    name = option_labels("shift")(kind)
    means = {task: format_percent(shift_by_kind[kind].mean) for task, shift_by_kind in shifts.items()}
    told = say(f"lessons.explanation.moved.{kind}", **means)
    return DumbbellRow(name, told, make_dumbbell_ends(shifts, kind))


def make_dumbbell_ends(shifts: ShiftsByTask, kind: str) -> list[DumbbellEnd]:
    """Returns the ends of a row's line: for each classifier the mean shift under one kind of weights, with its
    interval.
    """
    colours = {"lookup": current_palette().share, "vote": current_palette().k}
    ends = []
    for task, shift_by_kind in shifts.items():
        shift = shift_by_kind[kind]
        name = option_labels("task")(task)
        ends.append(DumbbellEnd(name, shift.mean, shift.interval, colours[task]))
    return ends


# ---- drawer "witness": do weights, gradients and leave-one-out agree? ------------------------------------------------
def show_witnesses(_: bool, texts: TaskTexts) -> None:
    """Shows three explanations of a classifier's prediction one below the other: weights, gradient x input,
    leave-one-out.
    """
    task = choose_task("witness_task")
    network, text = texts[task]
    trace = trace_with_attributions(task, network, text)
    verdict = predict_text_class(task, network, text)
    key = f"witness_{task}" if answer(task, text) else "witness_guess"
    show_sentence(f"lessons.explanation.{key}", name=verdict.name, share=spoken_share(verdict.share))
    weights_title = say("lessons.explanation.row_weights")
    gradient_title = say("lessons.explanation.row_gradient", name=verdict.name)
    left_out_title = say("lessons.explanation.row_left_out", name=verdict.name)
    rows = [
        row_of(weights_title, trace, "weights", (0, 0, 0)),
        row_of(gradient_title, trace, "gradient_x_input", (0,)),
    ]
    left_out = row_of(left_out_title, trace, "left_out", (0,))
    show_witness_rows("witness", rows, trace)
    show_witness_rows("left_out", [left_out], trace)  # a separate chart, because logits and weights differ in scale


def show_witness_rows(name: str, rows: list[Row], trace: Trace) -> None:
    """Shows rows of bars, one bar per symbol of the text."""
    symbols = list_place_names(trace, "S")
    alt = say("lessons.explanation.alt_witness")
    show_bar_rows(name, rows, symbols, {"": trace}, trace, alt, whole=True)


# ---- drawer "others": which other weights give the same answer? ------------------------------------------------------
def show_other_weights(texts: TaskTexts) -> None:
    """Shows the learned weights of a text, and for each kind of replacement weights the shift of the prediction."""
    task = choose_task("other_task")
    network, text = texts[task]
    learned = trace_for(setup_for_classifier(task, network, text))
    runs = {"learned": learned}
    title = say("lessons.explanation.row_learned")
    rows = [row_of(title, learned, "weights", (0, 0, 0), "learned")]
    for kind in SHOWN_SWAP_KINDS:
        run, shift = run_with_other_weights(network, text, kind)
        runs[kind] = run
        name = option_labels("shift")(kind)
        title = say("lessons.explanation.row_other", kind=name, shift=format_percent(shift))
        row = row_of(title, run, "weights", (0, 0, 0), kind)
        rows.append(row)
    symbols = list_place_names(learned, "S")
    alt = say("lessons.explanation.alt_others")
    show_bar_rows("others", rows, symbols, runs, learned, alt, whole=True)


# ---- drawer "spare": are some heads redundant? -----------------------------------------------------------------------
SPARE_HEADS = 4
SPARE_BARS_HEIGHT_PX = 60  # px: height of the bars of one head


def show_spare_heads(texts: TaskTexts) -> None:
    """Shows four redundant heads: their weights, and the accuracy with each head ablated and with each head alone."""
    record = get_training_record("lookup_heads")
    network = record.network_at(max(record.steps))
    _, text = texts["lookup"]
    setup = setup_for_classifier("lookup", network, text, SPARE_HEADS)
    trace = trace_for(setup)
    accuracy = measure_accuracy_by_heads(network, SPARE_HEADS)
    show_sentence("lessons.explanation.spare", all=format_percent(accuracy[()]))
    show_accuracy_table(trace, accuracy)
    show_weights_by_head(trace)
    link_to_workbench(setup, "spare")


def show_accuracy_table(trace: Trace, accuracy: Mapping[tuple[int, ...], float]) -> None:
    """Shows a table of the accuracy without each head, and with only that head.

    accuracy: {tuple of ablated heads: share of right answers}.
    """
    all_on = accuracy[()]
    rows = [make_accuracy_row(say("lessons.explanation.all_heads"), all_on, all_on)]
    heads = range(SPARE_HEADS)
    for head in heads:
        others = tuple(other for other in heads if other != head)
        name = place_name(trace, "H", head)
        row = make_accuracy_row(name, accuracy[(head,)], accuracy[others])
        rows.append(row)
    st.table(rows, hide_index=True, width="content")


def make_accuracy_row(name: str, without: float, alone: float) -> dict[str, str]:
    """Returns the row of one head in the table of accuracies, as {column title: text}.

    without: the accuracy without the head. alone: the accuracy with only this head.
    """
    return {
        say("lessons.explanation.head_left"): name,
        say("lessons.explanation.head_without"): written_share(without),
        say("lessons.explanation.head_alone"): written_share(alone),
    }


def show_weights_by_head(trace: Trace) -> None:
    """Shows the weights of each head as bars."""
    rows = []
    for head in range(SPARE_HEADS):
        name = place_name(trace, "H", head)
        row = row_of(name, trace, "weights", (0, head, 0))
        rows.append(row)
    show_bar_rows(
        "spare",
        rows,
        list_place_names(trace, "S"),
        {"": trace},
        trace,
        say("lessons.explanation.alt_spare"),
        height=SPARE_BARS_HEIGHT_PX,
        whole=True,
    )


# ---- drawer "conclude": what may be concluded? -----------------------------------------------------------------------
def show_conclusion(_: TaskTexts) -> None:
    """Shows which conclusions a test with replaced weights allows, and what an attention map does not show."""
    show_sentence("lessons.explanation.conclude")
    shares = measure_vector_shares(current_language())
    show_sentence(
        "lessons.explanation.left_out",
        embedding=format_percent(shares.embedding),
        attention=format_percent(shares.attention),
        feed_forward=format_percent(shares.feed_forward),
        words=shares.words,
        growth=format_fixed(shares.growth, 0),
    )


LESSON = Lesson(
    "explanation",
    drawers={
        "witness": show_witnesses,
        "others": after_guess(show_other_weights),
        "spare": after_guess(show_spare_heads),
        "conclude": after_guess(show_conclusion),
    },
    code=("q", "k", "scores", "weights", "head_outputs", "output"),
)
