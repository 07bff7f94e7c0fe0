"""Train it yourself: a button, how far it is, the loss as it falls; stop, go on, once more from the same seed."""

from collections.abc import Callable

import streamlit as st

from attention_core.drawing.charts import Axis
from attention_core.drawing.curves import Curve, curves, decades
from attention_core.learned.training.courses import COURSES
from attention_core.learned.training.training import Training
from attention_core.record.number_text import duration, fixed
from pages.lessons.learned.trainings import AT_ONCE, Running, stop_all
from pages.panels import link_controls
from pages.panels.chart import curve_chart
from pages.panels.link_controls import choose, slide, whole
from pages.runs.compute import DEVICES
from pages.session.labels import palette
from pages.site.words import say, sentence, speaking

EVERY = 0.5  # seconds between two looks at a training
RATES = (0.0003, 0.001, 0.003, 0.01, 0.02, 0.1, 1.0, 100.0, 10_000.0)
MOST_POINTS = 200  # of the curve of losses
MOST_KEPT = 3  # trainings of a session


def training_of(course: str) -> Running | None:
    """The session's own training of a course, where there is one."""
    return st.session_state.get("trainings", {}).get(course)


def train_yourself(course: str) -> None:
    """The row with the button, and what becomes of it; drawn anew by itself while it trains."""
    running = training_of(course)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        seed = whole("seed", 1, width=130)
        rate = slide("rate", RATES, COURSES[course].rate, width=260)
        device = choose("device", DEVICES, words=lambda name: say(f"device.{name}")) if len(DEVICES) > 1 else DEVICES[0]
    every = EVERY if running and running.busy else None
    st.fragment(
        lambda: show_training(course, seed, rate, device), run_every=every, key=f"training_{link_controls.slug()}"
    )()


def show_training(course: str, seed: int, rate: float, device: str) -> None:
    """How a training is, what can be done with it. The whole page is drawn anew where there is more to be seen."""
    running = training_of(course)
    with speaking(), st.container(gap="xsmall"):
        with st.container(horizontal=True, vertical_alignment="center"):
            buttons(course, running, lambda: begin(course, seed, rate, device))
            if running:
                running.look()
                st.markdown(told(running), width="content")
        if running and running.failure:
            st.error(sentence(running.failure), icon=":material/error:")
        if running and running.training.step > 1:
            show_losses(running)
    now = running and (running.state, len(running.saved))
    if now != st.session_state.setdefault("trained", {}).get(course):
        st.session_state["trained"][course] = now
        st.rerun()


def buttons(course: str, running: Running | None, begin_anew: Callable[[], None]) -> None:
    """What can be done. begin_anew: begins from the first step."""
    key = f"{link_controls.slug()}_{{}}".format
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


def begin(course: str, seed: int, rate: float, device: str) -> None:
    """A training from its first step. A visitor has one at a time; of too many the oldest goes."""
    kept: dict[str, Running] = st.session_state.setdefault("trainings", {})
    stop_all(kept)
    kept.pop(course, None)
    kept[course] = Running(Training(course, seed, rate, device))
    for oldest in [*kept][:-MOST_KEPT]:
        del kept[oldest]
    kept[course].start()


def told(running: Running) -> str:
    """How far it is, in a sentence."""
    training = running.training
    facts = {"step": training.step, "last": training.course.saved[-1], "seed": training.seed, "most": AT_ONCE}
    if training.step:
        facts |= {"loss": fixed(training.losses[-1], 3), "seconds": duration(running.seconds)}
        facts["left"] = duration(running.seconds_left)
    elif running.state == "training":
        return say("train.begins")
    return say(f"train.{running.state}", **facts) if training.step or running.state == "waiting" else ""


def show_losses(running: Running) -> None:
    """The loss against the step; of many steps some."""
    losses, last = running.training.losses, running.training.course.saved[-1]
    every = -(-len(losses) // MOST_POINTS)
    steps = range(0, len(losses), every)
    drawn = [Curve(say("train.loss"), [step + 1 for step in steps], [losses[step] for step in steps], palette().share)]
    y = decades(say("train.axis_loss"), [0.001, *losses])
    picture = curves(drawn, Axis(say("train.axis_step"), 0, last), y, palette(), height=110)
    curve_chart(picture, f"{link_controls.slug()}_losses", say("train.alt"))
