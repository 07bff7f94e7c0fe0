"""Settings that race on this machine: what each must compute, counted, and how long it takes, measured when asked."""

from collections.abc import Callable, Mapping, Sequence

from attention_core.drawing.scaling_curves import Line, growth, slope
from attention_core.record.number_text import fixed
from attention_core.variants.timing import Case
from pages.panels import link_controls
from pages.panels.chart import curve_chart
from pages.panels.progress import measured_on_request
from pages.session.labels import palette
from pages.site.words import say

Points = Mapping[int, float]  # by length
Tell = Callable[[Sequence[Points]], None]  # is given the seconds that were measured of each case


def case_name(case: Case) -> str:
    """What a case is called."""
    return say(f"lessons.cost.case.{case.name}")


def run_race(
    name: str, cases: Sequence[Case], lengths: Sequence[int], others: Mapping[str, Points], tell: Tell, alt: str
) -> None:
    """The lines of a race against the length: what is counted, at once, and what is measured, as it comes.

    name: of the race in its lesson. others: multiply-adds to stand beside those of the cases, by what they are called.
    tell: draws what is said over the picture. alt: what a screen reader says of it."""
    colours = (palette().share, palette().v)
    counted = counted_lines(cases, lengths, colours) + [
        line_of("counted", what, palette().x, points) for what, points in others.items()
    ]

    def show(found: Mapping[tuple[Case, int], float]) -> None:
        times = [{length: found[case, length] for length in lengths if (case, length) in found} for case in cases]
        tell(times)
        measured = [
            line_of("measured", case_name(case), colour, points)
            for case, colour, points in zip(cases, colours, times, strict=True)
        ]
        titles = (say("lessons.cost.axis_length"), say("lessons.cost.axis_cost"))
        picture = growth([*counted, *measured], lengths, titles, palette())
        curve_chart(picture, f"{link_controls.slug()}_{name}", alt)

    tasks = [(case, length) for length in lengths for case in cases]
    measured_on_request(name, tasks, lambda task: task[0].seconds(task[1]), say("lessons.cost.measure"), show)


def counted_lines(cases: Sequence[Case], lengths: Sequence[int], colours: Sequence[str]) -> list[Line]:
    """The multiply-adds of each case; one line for all of them where they are equally many."""
    found = [case.products(lengths) for case in cases]
    names = [case_name(case) for case in cases] if found[0] != found[-1] else [say("lessons.cost.both")]
    return [
        line_of("counted", name, colour, points) for name, colour, points in zip(names, colours, found, strict=False)
    ]


def grows(points: Points, how: str = "slope") -> str:
    """How it grows, as a text that follows others; nothing where there are no two lengths. how: "slope" in a sentence,
    "power" behind a name."""
    power = slope(points)
    return "" if power is None else say(f"lessons.cost.{how}", slope=fixed(power))


def line_of(kind: str, what: str, colour: str, points: Points) -> Line:
    """A line under its name, which says how it grows. kind: "counted" or "measured"."""
    name = say(f"lessons.cost.{kind}", what=what, slope=grows(points, "power"))
    return Line(name, colour, counted=points) if kind == "counted" else Line(name, colour, seconds=points)
