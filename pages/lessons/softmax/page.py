"""Draws the lesson on softmax: the same numbers as shares of 1, at temperature 1 and at a chosen temperature."""

import math
from collections.abc import Mapping, Sequence

import streamlit as st

from attention_core import Trace
from attention_core.analysis.softmax_steps import NAIVE_SOFTMAX, STABLE_SOFTMAX
from attention_core.drawing.bars import row_of
from attention_core.drawing.specifications import Picture
from attention_core.explanation.facts import RowFact, row_fact
from attention_core.record.number_text import format_term
from pages import components
from pages.lessons.frame import draw_drawer, draw_lesson, show_lesson_code, show_lesson_run
from pages.lessons.opened_cell import get_opened_cell, handle_picture_click
from pages.lessons.pictures import RunPicture, draw_bar_rows, show_lesson_journey, show_opened_arithmetic
from pages.lessons.softmax.drawers import LESSON, ONLY_ROW, ask_for_numbers, read_typed_numbers, setup_with_scores
from pages.panels.link_controls import text_control
from pages.panels.live_choice import LiveChoice, describe_followed, find_live_choice, show_live_choice
from pages.panels.live_frames import show_live_goal, tell_live
from pages.runs.cache import trace_for
from pages.session.collected import collected, show_moving
from pages.session.labels import current_palette, spoken_share
from pages.setup.setup import Setup
from pages.site.words import get_text_template, say

SOFTMAX_TEMPERATURES = (0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0, 10.0)
FIRST_NUMBERS = "2, 1, 0, -1"


def describe_largest(numbers: Sequence[float], temperature: float, fact: RowFact) -> dict[str, object]:
    """Returns the values that fill in the sentences at a temperature, such as the share of the largest number."""
    return {
        "T": format_term(temperature),
        "percent": spoken_share(fact.share, fact.rest),
        "ratio": f"{fact.ratio:.1f}",
        "count": len(numbers),
    }


# ---- the numbers, their exponentials and their shares as columns; the numbers can be dragged -------------------------
PICTURE = "hero"  # name of the picture in a link, which stores the open number
LEAST_REACH = 4.0  # least bound of the scale, so that small numbers can be dragged far
STEPS_OF_REACH = 100  # most steps of dragging from 0 to the end of the scale
WANTED_SHARE = 0.98  # goal of the lesson: the share of the largest number
BARS_WIDTH_PX = 960.0  # px: width of the picture in files


def show_columns(
    temperature: LiveChoice, numbers: Sequence[float], usual: Setup, setup: Setup, first_numbers: str
) -> None:
    """Shows the columns of numbers and shares, and below them the arithmetic of the number that the visitor opened.

    usual: the Setup at temperature 1. setup: the Setup at the chosen temperature. first_numbers: the text of the
    numbers by default.
    """

    def take_numbers(moved: Sequence[float]) -> None:
        """Stores the numbers that the visitor dragged, in the same way as typed numbers."""
        text = ", ".join(f"{number:.6g}" for number in moved)
        text_control("logits", first_numbers, read_typed_numbers).take(text)

    run = trace_for(setup).then(*NAIVE_SOFTMAX)
    runs = {"plain": trace_for(usual), "now": run}
    picture = draw_bars(runs, usual, setup, numbers)
    alt = say("lessons.softmax.alt")
    collected().pictures.append((picture, alt))
    show_moving(
        components.number_columns,
        data=make_columns_data(temperature, numbers, run, runs),
        key="softmax_hero",
        on_moved=take_numbers,
        on_clicked=lambda cell: handle_picture_click(PICTURE, runs, cell),
    )
    show_opened_arithmetic(RunPicture(PICTURE, picture, runs, alt), "stretch")


def draw_bars(runs: Mapping[str, Trace], usual: Setup, setup: Setup, numbers: Sequence[float]) -> Picture:
    """Draws the numbers and their shares, at temperature 1 and at the temperature of a Setup, as a picture for
    files.
    """
    rows = [row_of(say("lessons.softmax.row_scores"), runs["plain"], "scores", ONLY_ROW, "plain")]
    for name, each in {"plain": usual, "now": setup}.items():
        title = say("lessons.softmax.row_weights", T=format_term(each.run.temperature))
        rows.append(row_of(title, runs[name], "weights", ONLY_ROW, name))
    texts = [format_term(float(number)) for number in numbers]
    return draw_bar_rows(PICTURE, rows, texts, runs, height=50.0, room=BARS_WIDTH_PX, fills=True)


def make_columns_data(
    temperature: LiveChoice, numbers: Sequence[float], run: Trace, runs: Mapping[str, Trace]
) -> dict[str, object]:
    """Returns the data of the browser component with the columns: numbers, exponentials, shares, scale and texts."""
    reach, step = make_scale(numbers)
    words = ("x", "share", "sum", "usual", "exponentials", "weights", "drag")
    text = {name: get_text_template(f"lessons.softmax.columns.{name}") for name in words}
    return describe_followed(temperature) | {
        "numbers": [float(number) for number in numbers],
        "exponentials": list_finite(run, "exponentials"),
        "shares": list_finite(run, "weights"),
        "temperatures": list(temperature.options),
        "written": list(map(format_term, temperature.options)),
        "reach": reach,
        "step": step,
        "opened": describe_opened(runs),
        "wanted": WANTED_SHARE,
        "palette": vars(current_palette()),
        "text": text | {"alt": say("lessons.softmax.alt"), "nearly_all": say("share.nearly_all")},
    }


def make_scale(numbers: Sequence[float]) -> tuple[float, float]:
    """Returns the bound of the scale on which numbers are dragged, and the step of dragging, a power of ten.

    The scale reaches from minus this bound to the bound.

    >>> make_scale([2.0, -1.0]), make_scale([12.5]), make_scale([1000.0])
    ((4.0, 0.1), (13.0, 1.0), (1000.0, 10.0))
    """
    reach = max(LEAST_REACH, math.ceil(max(map(abs, numbers))))
    return float(reach), 10.0 ** math.ceil(math.log10(reach / STEPS_OF_REACH))


def list_finite(run: Trace, step: str) -> list[float | None]:
    """Returns the numbers of a step for the only query; None for each number that is not finite."""
    row = run[step][ONLY_ROW].tolist()
    return [number if math.isfinite(number) else None for number in row]


def describe_opened(runs: Mapping[str, Trace]) -> dict[str, object] | None:
    """Returns the step and the index of the opened number; None if no number at the selected temperature is open."""
    opened = get_opened_cell(PICTURE, runs)
    if opened is None or opened[0] != "now":
        return None
    return {"step": opened[1].step, "place": opened[1].index[-1]}


with draw_lesson(LESSON) as place:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        numbers = ask_for_numbers("logits", FIRST_NUMBERS)
        temperature = find_live_choice("temperature", SOFTMAX_TEMPERATURES, 1.0)
        show_live_choice(temperature, lambda value: {"params": {"scaled_scores": {"temperature": value}}})
    usual = setup_with_scores(numbers)
    setups = [usual.with_fields(temperature=value) for value in temperature.options]
    facts = [row_fact(trace_for(each), 0, 0) for each in setups]
    told = [describe_largest(numbers, each.run.temperature, fact) for each, fact in zip(setups, facts, strict=True)]
    setup = setups[temperature.position]
    trace = trace_for(setup)
    tell_live(
        temperature,
        "softmax_fact",
        [say("lessons.softmax.fact", **values) for values in told],
        "heading",
        get_text_template("lessons.softmax.fact"),
    )
    show_columns(temperature, numbers, usual, setup, FIRST_NUMBERS)
    built = [fact.share >= WANTED_SHARE for fact in facts]
    goals = [f"lessons.softmax.{'built' if is_built else 'build'}" for is_built in built]
    show_live_goal(
        temperature,
        "softmax_goal",
        built,
        [say(goal, **values) for goal, values in zip(goals, told, strict=True)],
        [get_text_template(f"lessons.softmax.{goal}") for goal in ("build", "built")],
    )
    show_lesson_journey(setup, plays=False)
    show_lesson_run(setup, place)
    draw_drawer(LESSON, "stable", numbers)
    draw_drawer(LESSON, "slope", setup)
    draw_drawer(LESSON, "sharp")
    draw_drawer(LESSON, "many", setup.run.temperature)
    show_lesson_code(LESSON, trace.then(*NAIVE_SOFTMAX, *STABLE_SOFTMAX))
