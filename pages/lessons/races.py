"""Settings that race on this machine: what each must compute, counted, and how long it takes, measured when asked."""

from collections.abc import Callable, Mapping, Sequence

from attention_core.drawing.scaling_curves import GrowthLine, growth_curves, growth_power
from attention_core.record.number_text import format_fixed
from attention_core.variants.timed_kinds import TimedCase
from pages.panels import link_controls
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
    tell: ShowTimes,
    alt: str,
) -> None:
    """The lines of a race against the length: what is counted, at once, and what is measured, as it comes.

    name: of the race in its lesson. others: multiply-adds to stand beside those of the cases, by what they are called.
    tell: draws what is said over the picture. alt: what a screen reader says of it."""
    colours = (current_palette().share, current_palette().v)
    counted = make_counted_lines(cases, lengths, colours) + [
        make_race_line("counted", what, current_palette().x, points) for what, points in others.items()
    ]

    def show(found: Mapping[tuple[TimedCase, int], float]) -> None:
        times = [{length: found[case, length] for length in lengths if (case, length) in found} for case in cases]
        tell(times)
        measured = [
            make_race_line("measured", case_name(case), colour, points)
            for case, colour, points in zip(cases, colours, times, strict=True)
        ]
        titles = (say("lessons.cost.axis_length"), say("lessons.cost.axis_cost"))
        picture = growth_curves([*counted, *measured], lengths, titles, current_palette())
        show_curve_chart(picture, f"{link_controls.current_slug()}_{name}", alt)

    tasks = [(case, length) for length in lengths for case in cases]
    measure_on_request(name, tasks, lambda task: task[0].seconds(task[1]), say("lessons.cost.measure"), show)


def make_counted_lines(cases: Sequence[TimedCase], lengths: Sequence[int], colours: Sequence[str]) -> list[GrowthLine]:
    """The multiply-adds of each case; one line for all of them where they are equally many."""
    found = [case.products(lengths) for case in cases]
    names = [case_name(case) for case in cases] if found[0] != found[-1] else [say("lessons.cost.both")]
    return [
        make_race_line("counted", name, colour, points)
        for name, colour, points in zip(names, colours, found, strict=False)
    ]


def describe_growth(points: PointsByLength, how: str = "slope") -> str:
    """How it grows, as a text that follows others; nothing where there are no two lengths. how: "slope" in a sentence,
    "power" behind a name."""
    power = growth_power(points)
    return "" if power is None else say(f"lessons.cost.{how}", slope=format_fixed(power))


def make_race_line(kind: str, what: str, colour: str, points: PointsByLength) -> GrowthLine:
    """A line under its name, which says how it grows. kind: "counted" or "measured"."""
    name = say(f"lessons.cost.{kind}", what=what, slope=describe_growth(points, "power"))
    return GrowthLine(name, colour, counted=points) if kind == "counted" else GrowthLine(name, colour, seconds=points)
