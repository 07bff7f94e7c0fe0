"""Reads the record of the supplied training or of the visitor's own, and shows the panel in which a visitor trains."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import streamlit as st

from attention_core.drawing.axes import Axis, decade_axis
from attention_core.drawing.curves import Curve, curves
from attention_core.learned.training.courses import COURSES, Figures
from attention_core.learned.training.shipped_networks import SHIPPED_SEED, read_figures_table, shipped_figures
from attention_core.learned.training.snapshots import NetworkRecipe
from attention_core.learned.training.training import Training
from attention_core.record.number_text import format_duration, format_fixed
from pages.lectures.kinds.lesson import TRAINING_PART
from pages.lessons.learned.trainings import MAX_CONCURRENT_TRAININGS, RunningTraining, stop_trainings
from pages.panels import lesson_choices
from pages.panels.chart import show_curve_chart
from pages.panels.link_controls import choose_option, choose_whole_number, slide
from pages.runs.devices import AVAILABLE_DEVICES
from pages.session.labels import current_palette, written_share
from pages.session.staged import get_staged_part
from pages.site.words import say, say_refusal, use_language


@dataclass(frozen=True)
class TrainingRecord:
    """The accuracies and the saved networks of a training, by training step.

    figures: {measured step: accuracies}. networks: {step: name of the network} for the steps with a checkpoint. own:
    whether the visitor ran the training.
    """

    course: str
    figures: Mapping[int, Figures]
    networks: Mapping[int, str]
    own: bool = False

    @property
    def places(self) -> tuple[int, ...]:
        """The positions or text lengths to which the accuracies belong."""
        return COURSES[self.course].places

    @property
    def parameters(self) -> int:
        """The number of learned parameters."""
        return read_figures_table()[self.course]["parameters"]

    @property
    def steps(self) -> list[int]:
        """The steps for which the network was saved as a checkpoint."""
        return [*self.networks]

    def figures_at(self, step: int) -> Figures:
        """Returns the accuracies after a training step or, if it was not measured, after the last measured one."""
        steps_so_far = [saved for saved in self.figures if saved <= step]
        return self.figures[max(steps_so_far)]

    def mean_at(self, step: int, longest: float = math.inf) -> float:
        """Returns the mean of the accuracies after a training step.

        longest: accuracies at larger lengths or positions do not count.
        """
        pairs = zip(self.places, self.figures_at(step), strict=True)
        figures = [share for length, share in pairs if length <= longest]
        return sum(figures) / len(figures)

    def network_at(self, step: int) -> str:
        """Returns the name of the network after a step with a checkpoint, one of `steps`."""
        return self.networks[step]


def load_shipped_training(course: str) -> TrainingRecord:
    """Returns the record of the training that is supplied with the app."""
    measured_steps = read_figures_table()[course]["steps"]
    figures = {step: shipped_figures(course, step) for step in measured_steps}
    networks = {}
    for step in (0, *COURSES[course].shipped):
        recipe = NetworkRecipe(course, SHIPPED_SEED, step)
        networks[step] = recipe.name
    return TrainingRecord(course, figures, networks)


def get_own_training(course: str) -> TrainingRecord | None:
    """Returns the record of the visitor's own training; None if that training has not saved a network."""
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
    """Returns the record of the visitor's own training if there is one, else of the supplied training."""
    return get_own_training(course) or load_shipped_training(course)


SHARE_AXIS_STOPS = (0.0, 0.25, 0.5, 0.75, 1.0)  # shares at which the axis has ticks


def share_axis(title: str) -> Axis:
    """Returns an axis from 0 to 1 for accuracies and other shares, with ticks at SHARE_AXIS_STOPS."""
    texts = [written_share(stop) for stop in SHARE_AXIS_STOPS]
    return Axis(
        title,
        0.0,
        1.0,
        values=SHARE_AXIS_STOPS,
        texts=tuple(texts),
    )


# ---- the visitor's own training: buttons to start, stop, continue and restart it, its progress and its loss ----------
REFRESH_SECONDS = 0.5  # seconds between two refreshes of the training panel
OFFERED_LEARNING_RATES = (0.0003, 0.001, 0.003, 0.01, 0.02, 0.1, 1.0, 100.0, 10_000.0)
LEAST_RIGHT_SHARE = 0.001  # least displayed probability; a smaller one would be rounded to 0.000
MAX_LOSS_POINTS = 200  # most points in the curve of the loss
MAX_SESSION_TRAININGS = 3  # most trainings that a session stores


def get_running_training(course: str) -> RunningTraining | None:
    """Returns this session's training of a course (a task and a network); None if it has none."""
    return st.session_state.get("trainings", {}).get(course)


def show_own_training(choose_course: Callable[[], str]) -> None:
    """Draws the training panel, which refreshes itself during training.

    If the lesson is shown as a scene of a lecture, the panel is above the picture, and only in scenes about training.
    choose_course: a function that shows controls and returns the course (a training for one task). This function is
    called only if the panel is drawn.
    """
    staged = get_staged_part()
    if staged is None:
        draw_own_training(choose_course())
    elif staged.name == TRAINING_PART:
        with staged.place:
            draw_own_training(choose_course())


def draw_own_training(course: str) -> None:
    """Draws the controls of a training (seed, learning rate, device), and its panel.

    course: a key of COURSES, the name of a network and of the task that it learns.
    """
    running = get_running_training(course)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        seed = choose_whole_number("seed", 1, width=130)
        rate = slide("rate", OFFERED_LEARNING_RATES, COURSES[course].rate, width=260)
        device = choose_device()
    is_busy = running is not None and running.busy
    draw = st.fragment(
        lambda: show_training(course, seed, rate, device),
        run_every=REFRESH_SECONDS if is_busy else None,
        key=f"training_{lesson_choices.current_slug()}",
    )
    draw()


def choose_device() -> str:
    """Shows a choice of the device to train on, if there are several, and returns the chosen device."""
    if len(AVAILABLE_DEVICES) == 1:
        return AVAILABLE_DEVICES[0]
    return choose_option("device", AVAILABLE_DEVICES, words=lambda name: say(f"device.{name}"))


def show_training(course: str, seed: int, rate: float, device: str) -> None:
    """Shows the state, buttons and loss of a training; reruns the page when the state or the number of checkpoints
    changes.
    """
    running = get_running_training(course)

    def begin_anew() -> None:
        begin_training(course, seed, rate, device)

    with use_language(), st.container(gap="xsmall"):
        with st.container(horizontal=True, vertical_alignment="center"):
            show_training_buttons(course, running, begin_anew)
            if running:
                running.look()
                st.markdown(describe_training(running), width="content")
        if running and running.failure:
            st.error(say_refusal(running.failure), icon=":material/error:")
        if running and running.training.step > 1:
            show_losses(running)
    progress = running and (running.state, len(running.saved))
    shown_progress = st.session_state.setdefault("trained", {})
    if progress != shown_progress.get(course):
        shown_progress[course] = progress
        st.rerun()


def show_training_buttons(course: str, running: RunningTraining | None, begin_anew: Callable[[], None]) -> None:
    """Shows those buttons that apply to the current state of a training.

    begin_anew: a function that starts a training from the first step.
    """

    def drop() -> None:
        st.session_state["trainings"].pop(course)

    if running is None:
        show_training_button("train", say("train.start"), ":material/model_training:", begin_anew)
        return
    if running.busy:
        show_training_button("stop", say("train.stop"), ":material/stop_circle:", running.stop)
        return
    if running.state == "stopped":
        show_training_button("go_on", say("train.go_on"), ":material/play_arrow:", running.start)
    show_training_button("train", say("train.again"), ":material/model_training:", begin_anew)
    show_training_button("drop", say("train.drop"), ":material/inventory_2:", drop)


def show_training_button(name: str, label: str, icon: str, on_click: Callable[[], None]) -> None:
    """Shows a button of the training panel.

    name: the end of the button's key, which begins with the name of the lesson. on_click: the function that the button
    calls.
    """
    key = f"{lesson_choices.current_slug()}_{name}"
    st.button(label, key=key, icon=icon, on_click=on_click)


def begin_training(course: str, seed: int, rate: float, device: str) -> None:
    """Starts a training from its first step.

    Stops the session's other trainings, and removes the oldest if there are more than MAX_SESSION_TRAININGS.
    """
    trainings: dict[str, RunningTraining] = st.session_state.setdefault("trainings", {})
    stop_trainings(trainings)
    trainings.pop(course, None)
    trainings[course] = RunningTraining(Training(course, seed, rate, device))
    for oldest in [*trainings][:-MAX_SESSION_TRAININGS]:
        del trainings[oldest]
    trainings[course].start()


def describe_training(running: RunningTraining) -> str:
    """Returns a sentence about the progress of a training; "" before a training has begun."""
    training = running.training
    facts = {
        "step": training.step,
        "last": training.course.saved[-1],
        "seed": training.seed,
        "most": MAX_CONCURRENT_TRAININGS,
    }
    if training.step:
        facts["loss"] = format_fixed(training.losses[-1], 3)
        facts["seconds"] = format_duration(running.seconds)
        facts["left"] = format_duration(running.seconds_left)
        return say(f"train.{running.state}", **facts)
    if running.state == "training":
        return say("train.begins")
    if running.state == "waiting":
        return say("train.waiting", **facts)
    return ""


def show_losses(running: RunningTraining) -> None:
    """Shows the loss against the training step, with at most MAX_LOSS_POINTS points."""
    palette = current_palette()
    losses = [*running.training.losses]  # a copy, because the training thread keeps appending to the list
    last = running.training.course.saved[-1]
    every = math.ceil(len(losses) / MAX_LOSS_POINTS)
    curve = Curve(
        say("train.loss"),
        range(1, len(losses) + 1, every),
        losses[::every],
        palette.share,
    )
    x = Axis(say("train.axis_step"), 0, last)
    y = decade_axis(say("train.axis_loss"), [0.001, *losses])
    picture = curves([curve], x, y, palette, height=110)
    show_curve_chart(picture, f"{lesson_choices.current_slug()}_losses", say("train.alt"))
    st.caption(say("train.cross_entropy", share=tell_right_share(losses[-1])))


def tell_right_share(loss: float) -> str:
    """Returns exp(-loss) as text: the probability of the right answer that corresponds to the loss."""
    share = math.exp(-loss)
    return format_fixed(share, 3) if share >= LEAST_RIGHT_SHARE else f"e^(−{format_fixed(loss, 1)})"
