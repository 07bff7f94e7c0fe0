"""Shows the progress of a request to a pretrained model, with a button that stops the request."""

from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import TypeVar

import streamlit as st

from pages.runs.model_task import ModelTask, TellStage
from pages.site.words import say

WAIT_SECONDS = 0.2  # seconds between two checks of the request's stage
STOP_KEY = "stop_model_task"  # the key of the button that stops a request
Result = TypeVar("Result")


def wait_for(begin: Callable[[TellStage], Future[Result]], key: str = STOP_KEY) -> Result:
    """Waits for a request and returns its result; meanwhile a bar names the stage, beside a button that stops the
    request.

    If the visitor clicks this button, or anything else, the script run ends, and the request is stopped. begin: see
    ModelTask. key: the key of the button; a script run that waits for two requests gives each its own. Raises
    AttentionError: those of the request.
    """
    task = ModelTask(begin)
    place = st.empty()
    try:
        if not wait([task.future], WAIT_SECONDS).done:
            with place.container():
                bar = show_stage(task, key)
            while not wait([task.future], WAIT_SECONDS).done:
                bar.progress(task.share, name_stage(task))
        return task.future.result()
    finally:
        task.stop()  # a request that nobody waits for must not delay others
        place.empty()


def show_stage(task: ModelTask, key: str = STOP_KEY) -> st.delta_generator.DeltaGenerator:
    """Draws the bar of a request, and the button that stops it; returns the bar."""
    with st.container(horizontal=True, vertical_alignment="center"):
        bar = st.progress(task.share, name_stage(task))
        st.button(say("lesson.stop"), key=key, on_click=task.stop, icon=":material/stop_circle:")
    return bar


def name_stage(task: ModelTask) -> str:
    """Returns the sentence that names the current stage of a request."""
    return say(f"model.stage.{task.stage}")
