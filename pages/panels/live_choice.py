"""A choice of a lesson on a slider that answers while it is dragged."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from math import prod

from pages.panels.lesson_choices import current_slug, take_choice
from pages.panels.link_controls import read_number_choice
from pages.panels.live_slider import ListSlider, show_list_slider
from pages.site.words import say


@dataclass(frozen=True, eq=False)
class LiveChoice:
    """One of a row of numbers. name: of the choice in its lesson. written: how a number of it is shown."""

    name: str
    options: Sequence[float]
    value: float
    default: float
    written: Callable[[float], str]
    read: Callable[[str], float]

    @property
    def count(self) -> int:
        """How many positions it has."""
        return len(self.options)

    @property
    def key(self) -> str:
        """Under which its slider stands on the page."""
        return f"{current_slug()}.{self.name}"

    @property
    def position(self) -> int:
        """The place of its value among its options."""
        return self.options.index(self.value)

    @property
    def follows(self) -> tuple["LiveChoice", ...]:
        """The sliders that what follows it follows."""
        return (self,)

    @property
    def waits_for(self) -> tuple["LiveChoice", ...]:
        """The sliders that what follows it waits for."""
        return ()


@dataclass(frozen=True, eq=False)
class LiveChoices:
    """Sliders that a part of the page follows, each position of one with each of the others, the last fastest; and
    those that it waits for, because what they change takes too long to be there for all of their positions."""

    follows: tuple[LiveChoice, ...]
    waits_for: tuple[LiveChoice, ...] = ()

    @property
    def options(self) -> Sequence[float]:
        """The numbers of the last."""
        return self.follows[-1].options

    @property
    def count(self) -> int:
        """How many positions they have together."""
        return prod(choice.count for choice in self.follows)

    @property
    def position(self) -> int:
        """Where they stand among these."""
        place = 0
        for choice in self.follows:
            place = place * choice.count + choice.position
        return place


Followed = LiveChoice | LiveChoices  # what a part of the page follows


def describe_followed(followed: Followed) -> dict[str, object]:
    """What follows sliders as the browser reads it: see position.js."""
    return {
        "of": [choice.key for choice in followed.follows],
        "counts": [choice.count for choice in followed.follows],
        "position": followed.position,
        "waits_for": {choice.key: choice.position for choice in followed.waits_for},
    }


def find_live_choice(
    name: str,
    options: Sequence[float],
    default: float,
    written: Callable[[float], str] = "{:g}".format,
    others: Sequence[float] = (),
) -> LiveChoice:
    """What is chosen on a slider that is drawn by show_live_choice. The arguments are those of link_controls.slide."""
    value, read = read_number_choice(name, options, default, others)
    return LiveChoice(name, options, value, default, written, read)


def show_live_choice(
    choice: LiveChoice, change: Callable[[float], dict] | None = None, width: int | str = "stretch"
) -> None:
    """Draws the slider. change: what an option changes in the run that the flow shows, see ListSlider; make_flow_wait
    gives one that takes too long."""
    options = list(choice.options)
    slider = ListSlider(
        say(f"lessons.{choice.key.partition('.')[0]}.control.{choice.name}"),
        choice.value,
        options,
        [choice.written(option) for option in options],
        None if change is None else [change(option) for option in options],
    )
    take = partial(take_choice, choice.name, default=choice.default, read=choice.read)
    show_list_slider(slider, choice.key, take, width)


def make_flow_wait(choice: LiveChoice) -> Callable[[float], dict]:
    """The change by which the flow waits until the slider is let go."""
    return lambda option: {"waits": option != choice.value}
