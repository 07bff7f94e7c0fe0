"""A number of a lesson chosen on a slider, with live updates while it is dragged."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod

from pages.panels.control import Control
from pages.panels.link_controls import number_control
from pages.panels.live_slider import ListSlider, show_list_slider


@dataclass(frozen=True, eq=False)
class LiveChoice:
    """A number chosen from a list with a slider. written: formats a number."""

    control: Control
    options: Sequence[float]
    written: Callable[[float], str]

    @property
    def value(self) -> float:
        """The chosen number."""
        return self.control.value

    @property
    def count(self) -> int:
        """The number of positions."""
        return len(self.options)

    @property
    def key(self) -> str:
        """The key of the slider on the page."""
        return self.control.key

    @property
    def position(self) -> int:
        """The index of the chosen value among the options."""
        return self.options.index(self.value)

    @property
    def follows(self) -> tuple["LiveChoice", ...]:
        """The sliders on which a follower depends: this one."""
        return (self,)

    @property
    def waits_for(self) -> tuple["LiveChoice", ...]:
        """The sliders until whose release a follower waits: ()."""
        return ()


@dataclass(frozen=True, eq=False)
class LiveChoices:
    """Several sliders that a part of the page follows, in every combination of their positions (the last slider varies
    fastest); and sliders until whose release the part waits, because its results take too long to be computed for all
    positions.
    """

    follows: tuple[LiveChoice, ...]
    waits_for: tuple[LiveChoice, ...] = ()

    @property
    def options(self) -> Sequence[float]:
        """The options of the last slider."""
        return self.follows[-1].options

    @property
    def count(self) -> int:
        """The number of combinations of positions."""
        return prod(choice.count for choice in self.follows)

    @property
    def position(self) -> int:
        """The index of the current combination."""
        place = 0
        for choice in self.follows:
            place = place * choice.count + choice.position
        return place


Followed = LiveChoice | LiveChoices  # the sliders that a part of the page follows


def describe_followed(followed: Followed) -> dict[str, object]:
    """The followed sliders as data for the browser; the format is described in position.js."""
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
    """The current choice of a slider that show_live_choice draws. The arguments are those of link_controls.slide."""
    return LiveChoice(number_control(name, options, default, others), options, written)


def show_live_choice(
    choice: LiveChoice, change: Callable[[float], dict] | None = None, width: int | str = "stretch"
) -> None:
    """Draws the slider. change: returns the change of the flow's run for an option, see ListSlider."""
    options = list(choice.options)
    slider = ListSlider(
        options,
        [choice.written(option) for option in options],
        None if change is None else [change(option) for option in options],
    )
    show_list_slider(choice.control, slider, width=width)
