"""Compares kinds of attention by length: their multiply-adds and, if the visitor requests it, measured seconds."""

from collections.abc import Callable, Mapping, Sequence

import streamlit as st

from attention_core.drawing.curves import COUNTED, MEASURED, GrowthLine, growth_curves, growth_power
from attention_core.record.number_text import format_fixed
from attention_core.variants.timing import TimedCase
from pages.panels import lesson_choices
from pages.panels.chart import show_curve_chart
from pages.panels.progress import measure_on_request
from pages.session.labels import current_palette
from pages.site.words import say

PointsByLength = Mapping[int, float]  # length of the text -> multiply-adds or seconds
ShowTimes = Callable[[Sequence[PointsByLength]], None]  # gets, for each compared case, {length: seconds}


def case_name(case: TimedCase) -> str:
    """Returns the name of a compared kind of attention in the page's language."""
    return say(f"lessons.cost.case.{case.name}")


def run_race(
    name: str,
    cases: Sequence[TimedCase],
    lengths: Sequence[int],
    others: Mapping[str, PointsByLength],
    show_times: ShowTimes,
    alt: str,
) -> None:
    """Shows the multiply-adds of several cases (kinds of attention) by length and, if the visitor requests them,
    measured seconds.

    name: the name of this comparison in its lesson. others: {name of a curve: further multiply-adds to draw}.
    show_times: a function that shows the text above the charts. alt: prefix of the text keys of the charts' alternative
    texts.
    """
    palette = current_palette()
    colours = (palette.share, palette.v)
    counted = make_counted_lines(cases, lengths, colours)
    for other, points in others.items():
        counted.append(make_race_line(other, palette.x, points))

    def show_measured(seconds: Mapping[tuple[TimedCase, int], float]) -> None:
        times = []
        for case in cases:
            times.append({length: seconds[case, length] for length in lengths if (case, length) in seconds})
        with st.container(gap="xsmall"):  # reserves room, so that the charts do not move when a text appears
            show_times(times)
        measured = []
        for case, colour, points in zip(cases, colours, times, strict=True):
            measured.append(make_race_line(case_name(case), colour, points))
        with st.container(horizontal=True):
            draw_growth(COUNTED, counted, lengths, name, alt)
            if any(times):
                draw_growth(MEASURED, measured, lengths, name, alt)

    tasks = [(case, length) for length in lengths for case in cases]
    measure_on_request(
        name,
        tasks,
        measure_task,
        say("lessons.cost.measure"),
        show_measured,
    )


def draw_growth(kind: str, lines: Sequence[GrowthLine], lengths: Sequence[int], name: str, alt: str) -> None:
    """Draws the chart of one kind of cost, COUNTED or MEASURED, by length.

    name: the name of the comparison, unique in its lesson. alt: prefix of the text key of the alternative text.
    """
    titles = (say("lessons.cost.axis_length"), say(f"lessons.cost.axis_{kind}"))
    picture = growth_curves(kind, lines, lengths, titles, current_palette())
    show_curve_chart(picture, f"{lesson_choices.current_slug()}_{name}_{kind}", say(f"{alt}_{kind}"))


def measure_task(task: tuple[TimedCase, int]) -> float:
    """Measures the seconds of a task, which is a pair (case, length)."""
    case, length = task
    return case.seconds(length)


def make_counted_lines(cases: Sequence[TimedCase], lengths: Sequence[int], colours: Sequence[str]) -> list[GrowthLine]:
    """Returns the chart line of each case's multiply-adds; a single line if all cases have equally many."""
    products = [case.products(lengths) for case in cases]
    names = [case_name(case) for case in cases]
    if products[0] == products[-1]:
        names = [say("lessons.cost.both")]
    lines = []
    for name, colour, points in zip(names, colours, products, strict=False):
        line = make_race_line(name, colour, points)
        lines.append(line)
    return lines


def describe_growth(points: PointsByLength, form: str = "slope") -> str:
    """Returns a text with the exponent of the length with which a cost grows; "" for fewer than two lengths.

    form: how the exponent is worded: "slope" for a text inside a sentence, "power" for a text after a name.
    """
    power = growth_power(points)
    if power is None:
        return ""
    return say(f"lessons.cost.{form}", slope=format_fixed(power))


def make_race_line(name: str, colour: str, points: PointsByLength) -> GrowthLine:
    """Returns a curve of the chart, with a name that states the exponent with which the cost grows."""
    return GrowthLine(name + describe_growth(points, "power"), colour, points)
