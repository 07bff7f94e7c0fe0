"""The chart of the lesson on explanation: how far the predictions of both classifiers move under other weights."""

from collections.abc import Mapping
from dataclasses import replace

from attention_core.drawing.dumbbells import DumbbellEnd, DumbbellRow, dumbbells
from attention_core.learned.insight.prediction_shift import PredictionShift
from attention_core.record.number_text import format_percent
from pages.lessons.explanation.task_texts import TaskTexts
from pages.lessons.learned.classifiers import measure_prediction_shift
from pages.lessons.learned.learning import share_axis
from pages.panels.chart import show_curve_chart
from pages.panels.link_controls import option_labels
from pages.session.labels import current_palette
from pages.site.words import say

SHOWN_SWAP_KINDS = ("uniform", "permuted", "random", "adversarial")  # of weights in the place of the learned ones
SHIFT_AXIS_START = -0.03  # the axis begins, so that an end at 0 stands free of the edge

ShiftsByTask = Mapping[str, Mapping[str, PredictionShift]]  # by task, then by kind of weights


def measure_shifts(texts: TaskTexts) -> ShiftsByTask:
    """Measures how far the predictions of each classifier move under each kind of other weights."""
    shifts = {}
    for task, (network, _) in texts.items():
        shifts[task] = {kind: measure_prediction_shift(task, network, kind) for kind in SHOWN_SWAP_KINDS}
    return shifts


def draw_shifts(shifts: ShiftsByTask, known: bool) -> None:
    """Draws a dumbbell for each kind of other weights, A at the one end, B at the other, under a sentence of both.

    known: whether the answer may be seen."""
    rows = [make_dumbbell_row(shifts, kind, known) for kind in SHOWN_SWAP_KINDS]
    axis = share_axis(say("lessons.explanation.axis_shift"))
    x = replace(axis, first=SHIFT_AXIS_START)
    instead = "" if known else say("lessons.explanation.guess_first")
    picture = dumbbells(rows, x, current_palette(), instead)
    show_curve_chart(picture, "explanation_hero", say("lessons.explanation.alt"))


def make_dumbbell_row(shifts: ShiftsByTask, kind: str, known: bool) -> DumbbellRow:
    """Makes the row of a kind of weights: its name alone until the answer may be seen."""
    name = option_labels("shift")(kind)
    if not known:
        return DumbbellRow(name, name, [])
    means = {task: format_percent(shift_by_kind[kind].mean) for task, shift_by_kind in shifts.items()}
    told = say(f"lessons.explanation.moved.{kind}", **means)
    return DumbbellRow(name, told, make_dumbbell_ends(shifts, kind))


def make_dumbbell_ends(shifts: ShiftsByTask, kind: str) -> list[DumbbellEnd]:
    """Makes both ends of a dumbbell: a classifier's mean under a kind of weights, with its interval."""
    colours = {"lookup": current_palette().share, "vote": current_palette().k}
    ends = []
    for task, shift_by_kind in shifts.items():
        shift = shift_by_kind[kind]
        name = option_labels("task")(task)
        ends.append(DumbbellEnd(name, shift.mean, shift.interval, colours[task]))
    return ends
