"""What has become of a course: how well the network did after each step that was kept, and which network that was."""

from collections.abc import Mapping
from dataclasses import dataclass

from attention_core.drawing.axes import Axis
from attention_core.learned.training.courses import COURSES, Figures
from attention_core.learned.training.shipped import SHIPPED_SEED, read_figures_table, shipped_figures
from attention_core.learned.training.snapshots import NetworkRecipe
from attention_core.record.number_text import format_percent
from pages.lessons.learned.training_panel import get_running_training
from pages.site.words import say


@dataclass(frozen=True)
class TrainingRecord:
    """figures: after each kept step. networks: by the same steps, as far as there is one, its name. own: whether the
    visitor trained it."""

    course: str
    figures: Mapping[int, Figures]
    networks: Mapping[int, str]
    own: bool = False

    @property
    def places(self) -> tuple[int, ...]:
        """What the figures are counted against."""
        return COURSES[self.course].places

    @property
    def parameters(self) -> int:
        """How many numbers are learned."""
        return read_figures_table()[self.course]["parameters"]

    @property
    def steps(self) -> list[int]:
        """The steps of which there is a network."""
        return [*self.networks]

    def figures_at(self, step: int) -> Figures:
        """How well it did after a step, or after the last one before it that was kept."""
        return self.figures[max(kept for kept in self.figures if kept <= step)]

    def mean_at(self, step: int) -> float:
        """The same, all together."""
        figures = self.figures_at(step)
        return sum(figures) / len(figures)

    def network_at(self, step: int) -> str:
        """The name of the network after a step, one of `steps`."""
        return self.networks[step]


def load_shipped_training(course: str) -> TrainingRecord:
    """What comes with the app."""
    steps = (0, *COURSES[course].shipped)
    networks = {step: NetworkRecipe(course, SHIPPED_SEED, step).name for step in steps}
    return TrainingRecord(
        course, {step: shipped_figures(course, step) for step in read_figures_table()[course]["steps"]}, networks
    )


def get_own_training(course: str) -> TrainingRecord | None:
    """What the visitor has trained; None where that is nothing."""
    running = get_running_training(course)
    if running is None or not running.saved:
        return None
    saved = running.saved
    figures = {network.step: network.figures for network in saved}
    return TrainingRecord(course, figures, {network.step: network.recipe.name for network in saved}, own=True)


def get_training_record(course: str) -> TrainingRecord:
    """The visitor's own, else what comes with the app."""
    return get_own_training(course) or load_shipped_training(course)


SHARE_AXIS_STOPS = (0.0, 0.25, 0.5, 0.75, 1.0)  # that are written on it


def share_axis(title: str) -> Axis:
    """From nothing to all."""
    return Axis(
        title,
        0.0,
        1.0,
        values=SHARE_AXIS_STOPS,
        texts=tuple(say("train.percent", much=format_percent(stop)) for stop in SHARE_AXIS_STOPS),
    )
