"""A choice of a lesson on a slider that answers while it is dragged."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

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
    def key(self) -> str:
        """Under which its slider stands on the page."""
        return f"{current_slug()}.{self.name}"

    @property
    def position(self) -> int:
        """The place of its value among its options."""
        return self.options.index(self.value)


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
    """Draws the slider. change: what an option changes in the run that the flow shows, see ListSlider."""
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
