"""Settings that race on this machine: what each must compute, counted, and how long it takes, measured when asked."""

from collections.abc import Callable, Mapping, Sequence

import streamlit as st

from attention_core.drawing.scaling_curves import COUNTED, MEASURED, GrowthLine, growth_curves, growth_power
from attention_core.record.number_text import format_fixed
from attention_core.variants.timed_kinds import TimedCase
from pages.panels import lesson_choices
from pages.panels.chart import show_curve_chart
from pages.panels.progress import measure_on_request
from pages.session.labels import current_palette
from pages.site.words import say

PointsByLength = Mapping[int, float]  # by length
ShowTimes = Callable[[Sequence[PointsByLength]], None]  # is given the seconds that were measured of each case


def case_name(case: TimedCase) -> str:
    """What a case is called."""
    return say(f"lessons.cost.case.{case.name}")


def run_race(
    name: str,
    cases: Sequence[TimedCase],
    lengths: Sequence[int],
    others: Mapping[str, PointsByLength],
    show_times: ShowTimes,
    alt: str,
) -> None:
    """The lines of a race against the length: what is counted, at once, and what is measured, as it comes, beside it.

    name: of the race in its lesson. others: multiply-adds to stand beside those of the cases, by what they are called.
    show_times: draws what is said over the pictures. alt: the key of what a screen reader says of them."""
    palette = current_palette()
    colours = (palette.share, palette.v)
    counted = make_counted_lines(cases, lengths, colours)
    for other, points in others.items():
        counted.append(make_race_line(other, palette.x, points))

    def show_measured(seconds: Mapping[tuple[TimedCase, int], float]) -> None:
        times = [seconds_by_length(case, lengths, seconds) for case in cases]
        with st.container(gap="xsmall"):  # also before anything is said, so that what follows stays where it is
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
    """Draws what is counted in one picture, or what is measured. The other arguments are those of run_race."""
    titles = (say("lessons.cost.axis_length"), say(f"lessons.cost.axis_{kind}"))
    picture = growth_curves(kind, lines, lengths, titles, current_palette())
    show_curve_chart(picture, f"{lesson_choices.current_slug()}_{name}_{kind}", say(f"{alt}_{kind}"))


def measure_task(task: tuple[TimedCase, int]) -> float:
    """How many seconds a case takes at a length."""
    case, length = task
    return case.seconds(length)


def seconds_by_length(
    case: TimedCase, lengths: Sequence[int], seconds: Mapping[tuple[TimedCase, int], float]
) -> PointsByLength:
    """The seconds of one case at the lengths at which it was measured."""
    return {length: seconds[case, length] for length in lengths if (case, length) in seconds}


def make_counted_lines(cases: Sequence[TimedCase], lengths: Sequence[int], colours: Sequence[str]) -> list[GrowthLine]:
    """The multiply-adds of each case; one line for all of them where they are equally many."""
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
    """How it grows, as a text that follows others; nothing where there are no two lengths. form: "slope" in a sentence,
    "power" behind a name."""
    power = growth_power(points)
    if power is None:
        return ""
    return say(f"lessons.cost.{form}", slope=format_fixed(power))


def make_race_line(name: str, colour: str, points: PointsByLength) -> GrowthLine:
    """A line under its name, which says how it grows."""
    return GrowthLine(name + describe_growth(points, "power"), colour, points)
