"""Lets the open model of a recorded layer read another text; until then, the page shows the last text."""

from concurrent.futures import wait
from dataclasses import dataclass, replace
from functools import partial

import streamlit as st

from attention_core.record.errors import AttentionError
from pages.panels.model_wait import show_stage
from pages.panels.setup_controls import field_control, take_made_change
from pages.runs.checkpoint_store import WantedText
from pages.runs.layer_store import TextSource
from pages.runs.model_task import ModelTask
from pages.runs.recorded_layer import find_kept
from pages.runs.recorded_setup import begin_reading, list_text_changes
from pages.session import setup_state
from pages.session.fragments import redraw
from pages.setup.resolve import resolve_run
from pages.setup.setup import RunSetup, Setup
from pages.site.words import say, use_language

ASKED_KEY = "recorded_text"  # session key of the AskedText that a model is reading; None if there is none
PATIENCE_SECONDS = 0.4  # seconds within which a text is read without showing a progress bar
REFRESH_SECONDS = 0.4  # seconds between two looks at the request


@dataclass(frozen=True, eq=False)
class AskedText:
    """A text that the visitor requested. run: the run that was shown at the time of the request. at_end: whether to
    select the last word of the text. token: the word to select otherwise; None for the usual one.
    """

    run: RunSetup
    task: ModelTask[Setup]
    at_end: bool
    token: int | None = None


def find_source(run: RunSetup) -> TextSource | None:
    """Returns the text that the model of a recorded run has read; None for other runs, and if the text is no longer
    stored.
    """
    if resolve_run(run).mode != "recorded":
        return None
    try:
        return find_kept(run).source
    except AttentionError:
        return None


def asked_text() -> AskedText | None:
    """Returns the requested text that a model is reading for this session; None if there is none."""
    return st.session_state.get(ASKED_KEY)


# ---- the boxes -------------------------------------------------------------------------------------------------------
def show_text_boxes(setup: Setup) -> None:
    """Shows the text that the model has read, and the second one if there is one, in boxes to type others."""
    source = find_source(setup.run)
    if source is None:
        return
    text, further = source.texts

    def take_text(typed: str) -> None:
        ask_for_text(replace(source.wanted, text=typed, further=further, written=(), masked=None))

    def take_further(typed: str) -> None:
        ask_for_text(replace(source.wanted, text=text, further=typed, written=(), masked=None))

    help = say("recorded.text_help")
    control = field_control("text", text, take_text, key="c_recorded_text")
    control.draw(st.text_input, label_visibility="collapsed", help=help)
    if further:
        control = field_control("text", further, take_further, key="c_recorded_further", label="recorded.further")
        control.draw(st.text_input, label_visibility="collapsed")


def ask_for_text(wanted: WantedText, at_end: bool = False, token: int | None = None) -> None:
    """Requests that the model reads another text, and waits a moment to show it at once; must be the last call of a
    callback.

    at_end: whether to select the last word. token: the word to select otherwise; None for the usual one.
    """
    stop_asked()
    run = setup_state.current_setup().run
    try:
        asked = AskedText(run, ModelTask(partial(begin_reading, run, wanted)), at_end, token)
    except AttentionError as error:
        setup_state.workbench().refuse("text", error)
    else:
        st.session_state[ASKED_KEY] = asked
        wait([asked.task.future], PATIENCE_SECONDS)
        take_read_text()
    redraw()


def stop_asked() -> None:
    """Stops this session's request that a model reads a text, if there is one."""
    asked = st.session_state.pop(ASKED_KEY, None)
    if asked is not None:
        asked.task.stop()


def take_read_text() -> bool:
    """Shows the requested text if the model has read it, or stores why it was refused; returns whether the request has
    ended.
    """
    asked = asked_text()
    if asked is None or not (asked.task.is_stopped or asked.task.future.done()):
        return asked is None
    del st.session_state[ASKED_KEY]
    now = setup_state.current_setup().run
    if not asked.task.is_stopped and now.recorded == asked.run.recorded:
        take_made_change("text", lambda: list_changes(now, asked))
    return True


def list_changes(run: RunSetup, asked: AskedText) -> dict[str, object]:
    """Returns the changed fields of a Setup that show the text that was read. Raises AttentionError with the reason if
    the text was not read.
    """
    read = asked.task.future.result().run
    changes = list_text_changes(run, read)
    token = find_kept(read).source.count - 1 if asked.at_end else asked.token
    return {**changes, "token": token, "step": None, "cell": None}


# ---- while the model reads -------------------------------------------------------------------------------------------
def show_reading() -> None:
    """Shows the progress of the model on the requested text, with a button that stops the request; nothing without a
    request.
    """
    # this container always exists, so that the content below keeps its place
    with st.container(key="recorded_reading"):
        if asked_text() is not None:
            st.fragment(watch_reading, run_every=REFRESH_SECONDS, key="watch_reading")()


def watch_reading() -> None:
    """Draws the stage of the requested text; shows the text as soon as the model has read it."""
    if take_read_text():
        st.rerun()
        return
    with use_language():
        show_stage(asked_text().task)
