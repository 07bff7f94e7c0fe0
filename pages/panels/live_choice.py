"""Draws sliders whose number the page follows: texts and pictures change while the visitor drags the slider."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod

from pages.panels.control import Control
from pages.panels.link_controls import number_control
from pages.panels.live_slider import ListSlider, show_list_slider


@dataclass(frozen=True, eq=False)
class LiveChoice:
    """A number that the visitor chooses from a list with a slider.

    Written: a function that formats a number as text.
    """

    control: Control
    options: Sequence[float]
    written: Callable[[float], str]

    @property
    def value(self) -> float:
        """Returns the number at the slider's current position."""
        return self.control.value

    @property
    def count(self) -> int:
        """Returns how many positions the slider has."""
        return len(self.options)

    @property
    def key(self) -> str:
        """Returns the key of the slider on the page."""
        return self.control.key

    @property
    def position(self) -> int:
        """Returns the index of the chosen value among the options."""
        return self.options.index(self.value)

    @property
    def follows(self) -> tuple["LiveChoice", ...]:
        """Returns the list of sliders that determine what is shown: for a single slider, the slider itself."""
        return (self,)

    @property
    def waits_for(self) -> tuple["LiveChoice", ...]:
        """Returns the list of sliders that must be released before an update, which is empty for a single slider."""
        return ()


@dataclass(frozen=True, eq=False)
class LiveChoices:
    """Several sliders that a part of the page follows: it shows the result for every combination of their positions.

    The last slider varies fastest. If the part's results take too long to be computed for all positions of further
    sliders, the part may wait until these sliders are released.
    """

    follows: tuple[LiveChoice, ...]
    waits_for: tuple[LiveChoice, ...] = ()

    @property
    def options(self) -> Sequence[float]:
        """Returns the options of the last slider."""
        return self.follows[-1].options

    @property
    def count(self) -> int:
        """Returns how many combinations the positions of the sliders have."""
        return prod(choice.count for choice in self.follows)

    @property
    def position(self) -> int:
        """Returns the index of the current combination of the sliders' positions."""
        place = 0
        for choice in self.follows:
            place = place * choice.count + choice.position
        return place


Followed = LiveChoice | LiveChoices  # the slider or sliders that a part of the page follows


def describe_followed(followed: Followed) -> dict[str, object]:
    """Returns the sliders that a part of the page follows as data for the browser, in the format that position.js
    reads.
    """
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
    """Returns the current choice of a slider that show_live_choice draws later.

    options: the numbers that the slider offers now. written: a function that formats a number. others: the numbers that
    the slider offers at other settings of the page, as in `slide`.
    """
    return LiveChoice(number_control(name, options, default, others), options, written)


def show_live_choice(
    choice: LiveChoice, change: Callable[[float], dict] | None = None, width: int | str = "stretch"
) -> None:
    """Draws the slider of a number that the page follows.

    change: a function that returns, for an option, the change of the run in the flow picture: its parameters or values.
    """
    options = list(choice.options)
    slider = ListSlider(
        options,
        [choice.written(option) for option in options],
        None if change is None else [change(option) for option in options],
    )
    show_list_slider(choice.control, slider, width=width)
