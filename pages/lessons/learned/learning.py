"""The record of a training, supplied or the visitor's own: figures and networks at each checkpoint."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from attention_core.drawing.axes import Axis
from attention_core.learned.training.courses import COURSES, Figures
from attention_core.learned.training.shipped_networks import SHIPPED_SEED, read_figures_table, shipped_figures
from attention_core.learned.training.snapshots import NetworkRecipe
from pages.lessons.learned.training_panel import get_running_training
from pages.session.labels import written_share


@dataclass(frozen=True)
class TrainingRecord:
    """The figures and the networks of a training, by step.

    figures: measured step -> accuracies. networks: step -> name of the network, for the steps with a checkpoint.
    own: whether the visitor ran this training."""

    course: str
    figures: Mapping[int, Figures]
    networks: Mapping[int, str]
    own: bool = False

    @property
    def places(self) -> tuple[int, ...]:
        """The x axis of the figures: positions or lengths."""
        return COURSES[self.course].places

    @property
    def parameters(self) -> int:
        """The number of learned parameters."""
        return read_figures_table()[self.course]["parameters"]

    @property
    def steps(self) -> list[int]:
        """The steps with a checkpoint, that is, with a network."""
        return [*self.networks]

    def figures_at(self, step: int) -> Figures:
        """The figures after a step; if the step was not measured, after the last measured step before."""
        steps_so_far = [saved for saved in self.figures if saved <= step]
        return self.figures[max(steps_so_far)]

    def mean_at(self, step: int, longest: float = math.inf) -> float:
        """The mean of the figures at a step. longest: figures at larger places (lengths or positions) are left out."""
        pairs = zip(self.places, self.figures_at(step), strict=True)
        figures = [share for length, share in pairs if length <= longest]
        return sum(figures) / len(figures)

    def network_at(self, step: int) -> str:
        """The name of the network after a step, one of `steps`."""
        return self.networks[step]


def load_shipped_training(course: str) -> TrainingRecord:
    """The record of the training that is supplied with the app."""
    measured_steps = read_figures_table()[course]["steps"]
    figures = {step: shipped_figures(course, step) for step in measured_steps}
    networks = {}
    for step in (0, *COURSES[course].shipped):
        recipe = NetworkRecipe(course, SHIPPED_SEED, step)
        networks[step] = recipe.name
    return TrainingRecord(course, figures, networks)


def get_own_training(course: str) -> TrainingRecord | None:
    """The record of the visitor's own training; None if the training has not saved a network."""
    running = get_running_training(course)
    if running is None or not running.saved:
        return None
    figures = {}
    networks = {}
    for network in running.saved:
        figures[network.step] = network.figures
        networks[network.step] = network.recipe.name
    return TrainingRecord(course, figures, networks, own=True)


def get_training_record(course: str) -> TrainingRecord:
    """The record of the visitor's own training if there is one, else of the supplied training."""
    return get_own_training(course) or load_shipped_training(course)


SHARE_AXIS_STOPS = (0.0, 0.25, 0.5, 0.75, 1.0)  # shares at which the axis has ticks


def share_axis(title: str) -> Axis:
    """An axis for shares from 0 to 1."""
    texts = [written_share(stop) for stop in SHARE_AXIS_STOPS]
    return Axis(
        title,
        0.0,
        1.0,
        values=SHARE_AXIS_STOPS,
        texts=tuple(texts),
    )
