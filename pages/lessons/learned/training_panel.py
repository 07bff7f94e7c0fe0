"""Train it yourself: a button, how far it is, the loss as it falls; stop, go on, once more from the same seed."""

from collections.abc import Callable

import streamlit as st

from attention_core.drawing.axes import Axis, decade_axis
from attention_core.drawing.curves import Curve, curves
from attention_core.learned.training.courses import COURSES
from attention_core.learned.training.training import Training
from attention_core.record.number_text import format_duration, format_fixed
from pages.lessons.learned.trainings import MAX_CONCURRENT_TRAININGS, RunningTraining, stop_trainings
from pages.panels import link_controls
from pages.panels.chart import show_curve_chart
from pages.panels.link_controls import choose_option, choose_whole_number, slide
from pages.runs.compute import AVAILABLE_DEVICES
from pages.session.labels import current_palette
from pages.site.words import say, say_refusal, use_language

REFRESH_SECONDS = 0.5  # seconds between two looks at a training
OFFERED_LEARNING_RATES = (0.0003, 0.001, 0.003, 0.01, 0.02, 0.1, 1.0, 100.0, 10_000.0)
MAX_LOSS_POINTS = 200  # of the curve of losses
MAX_SESSION_TRAININGS = 3  # trainings of a session


def get_running_training(course: str) -> RunningTraining | None:
    """The session's own training of a course, where there is one."""
    return st.session_state.get("trainings", {}).get(course)


def show_own_training(course: str) -> None:
    """The row with the button, and what becomes of it; drawn anew by itself while it trains."""
    running = get_running_training(course)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        seed = choose_whole_number("seed", 1, width=130)
        rate = slide("rate", OFFERED_LEARNING_RATES, COURSES[course].rate, width=260)
        device = (
            choose_option("device", AVAILABLE_DEVICES, words=lambda name: say(f"device.{name}"))
            if len(AVAILABLE_DEVICES) > 1
            else AVAILABLE_DEVICES[0]
        )
    every = REFRESH_SECONDS if running and running.busy else None
    st.fragment(
        lambda: show_training(course, seed, rate, device),
        run_every=every,
        key=f"training_{link_controls.current_slug()}",
    )()


def show_training(course: str, seed: int, rate: float, device: str) -> None:
    """How a training is, what can be done with it. The whole page is drawn anew where there is more to be seen."""
    running = get_running_training(course)
    with use_language(), st.container(gap="xsmall"):
        with st.container(horizontal=True, vertical_alignment="center"):
            show_training_buttons(course, running, lambda: begin_training(course, seed, rate, device))
            if running:
                running.look()
                st.markdown(describe_training(running), width="content")
        if running and running.failure:
            st.error(say_refusal(running.failure), icon=":material/error:")
        if running and running.training.step > 1:
            show_losses(running)
    now = running and (running.state, len(running.saved))
    if now != st.session_state.setdefault("trained", {}).get(course):
        st.session_state["trained"][course] = now
        st.rerun()


def show_training_buttons(course: str, running: RunningTraining | None, begin_anew: Callable[[], None]) -> None:
    """What can be done. begin_anew: begins from the first step."""
    key = f"{link_controls.current_slug()}_{{}}".format
    if running and running.busy:
        st.button(say("train.stop"), key=key("stop"), icon=":material/stop_circle:", on_click=running.stop)
        return
    if running and running.state == "stopped":
        st.button(say("train.go_on"), key=key("go_on"), icon=":material/play_arrow:", on_click=running.start)
    words = "train.again" if running else "train.start"
    st.button(say(words), key=key("train"), icon=":material/model_training:", on_click=begin_anew)
    if running:
        drop = lambda: st.session_state["trainings"].pop(course)  # noqa: E731
        st.button(say("train.drop"), key=key("drop"), icon=":material/inventory_2:", on_click=drop)


def begin_training(course: str, seed: int, rate: float, device: str) -> None:
    """A training from its first step. A visitor has one at a time; of too many the oldest goes."""
    kept: dict[str, RunningTraining] = st.session_state.setdefault("trainings", {})
    stop_trainings(kept)
    kept.pop(course, None)
    kept[course] = RunningTraining(Training(course, seed, rate, device))
    for oldest in [*kept][:-MAX_SESSION_TRAININGS]:
        del kept[oldest]
    kept[course].start()


def describe_training(running: RunningTraining) -> str:
    """How far it is, in a sentence."""
    training = running.training
    facts = {
        "step": training.step,
        "last": training.course.saved[-1],
        "seed": training.seed,
        "most": MAX_CONCURRENT_TRAININGS,
    }
    if training.step:
        facts |= {"loss": format_fixed(training.losses[-1], 3), "seconds": format_duration(running.seconds)}
        facts["left"] = format_duration(running.seconds_left)
    elif running.state == "training":
        return say("train.begins")
    return say(f"train.{running.state}", **facts) if training.step or running.state == "waiting" else ""


def show_losses(running: RunningTraining) -> None:
    """The loss against the step; of many steps some."""
    losses, last = running.training.losses, running.training.course.saved[-1]
    every = -(-len(losses) // MAX_LOSS_POINTS)
    steps = range(0, len(losses), every)
    drawn = [
        Curve(
            say("train.loss"), [step + 1 for step in steps], [losses[step] for step in steps], current_palette().share
        )
    ]
    y = decade_axis(say("train.axis_loss"), [0.001, *losses])
    picture = curves(drawn, Axis(say("train.axis_step"), 0, last), y, current_palette(), height=110)
    show_curve_chart(picture, f"{link_controls.current_slug()}_losses", say("train.alt"))
