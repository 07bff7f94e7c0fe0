"""Shows the download of a model from the Hugging Face hub: what it consists of, its progress, and a stop button."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from urllib.parse import urlsplit

import streamlit as st

from attention_core.checkpoints.hub_download import HubPlan, HubTask
from attention_core.checkpoints.hub_model import HubModel
from attention_core.checkpoints.opened_model import COMMIT_SHOWN
from attention_core.inputs.files.stored_arrays import printable_name
from attention_core.record.errors import AttentionError
from attention_core.record.number_text import format_fixed
from pages.maps.recent_models import TO_OPEN_KEY, AskedText
from pages.runs.download_store import DOWNLOADS
from pages.site.words import escape_markdown, say, say_refusal, use_language

ABSENT_KEY = "maps_absent"  # session key of the AbsentModel: a requested model that is not on this machine
# session keys of the reason why a task was refused, and of the state on the screen
BUSY_KEY, SHOWN_KEY = "maps_hub_busy", "maps_hub_shown"
REFRESH_SECONDS = 0.5
MAX_NAMED_FILES = 6
MEGABYTE, GIGABYTE = 10**6, 10**9


@dataclass(frozen=True)
class AbsentModel:
    """A requested model that is not on this machine, and the text that it should read after the download.

    absent: the names of the files that the hub's cache lacks, if it has others of this model.
    """

    model: HubModel
    asked: AskedText
    absent: tuple[str, ...] = ()


def show_absent_model() -> None:
    """Shows a requested model that is not on this machine, if there is one; refreshes itself while a task runs."""
    absent = st.session_state.get(ABSENT_KEY)
    if absent is None:
        return
    task = DOWNLOADS.find(absent.model)
    every = REFRESH_SECONDS if task is not None and task.is_running else None
    st.fragment(partial(draw_absent, absent), run_every=every, key="maps_hub")()


def draw_absent(absent: AbsentModel) -> None:
    """Draws the state of a model's download, and the buttons for it; reruns the page when the state changes."""
    task = DOWNLOADS.find(absent.model)
    with use_language(), st.container(key="hub", gap="small"):
        if task is None:
            draw_question(absent)
        elif task.is_running:
            draw_running(task)
        elif task.folder is None:
            draw_ended(absent, task)
        busy = st.session_state.pop(BUSY_KEY, None)
        if busy is not None:
            st.error(say_refusal(busy), icon=":material/error:")
    if task is not None and task.folder is not None:
        st.session_state[TO_OPEN_KEY] = st.session_state.pop(ABSENT_KEY).asked
        st.rerun()
    state = (absent.model, task, task is not None and task.is_running)
    if st.session_state.get(SHOWN_KEY) != state:
        st.session_state[SHOWN_KEY] = state
        st.rerun()


def draw_question(absent: AbsentModel) -> None:
    """Says that the model, or some of its files, is missing on this machine; shows the button that asks the hub about
    the model.
    """
    name = escape_markdown(absent.model)
    if absent.absent:
        st.markdown(say("lessons.maps.hub.incomplete", name=name, files=list_files(absent.absent)))
    else:
        st.markdown(say("lessons.maps.hub.absent", name=name))
    offer(absent, "ask", say("lessons.maps.hub.ask", hub=hub_host()), ":material/travel_explore:")


def draw_running(task: HubTask) -> None:
    """Shows the progress of the running task, and the button that stops it."""
    if task.plan is None:
        told, share = say("lessons.maps.hub.asking", hub=hub_host(), name=escape_markdown(task.model)), 0.0
    else:
        present = task.plan.size - task.missing
        told = say("lessons.maps.hub.fetching", present=megabytes(present), size=megabytes(task.plan.size))
        share = present / max(1, task.plan.size)
    st.progress(min(1.0, max(0.0, share)), told)
    st.button(say("lessons.maps.hub.stop"), key="maps_hub_stop", on_click=task.stop, icon=":material/stop_circle:")


def draw_ended(absent: AbsentModel, task: HubTask) -> None:
    """Shows which files of the model the hub has, or why the download failed, and the button that downloads missing
    files.
    """
    if task.refusal is not None:
        st.error(say_refusal(task.refusal), icon=":material/error:")
    if task.plan is None:
        offer(absent, "ask", say("lessons.maps.hub.again", hub=hub_host()), ":material/refresh:")
        return
    st.markdown(describe_plan(task.model, task.plan))
    left = megabytes(task.missing)
    if task.missing < task.plan.size:
        st.caption(say("lessons.maps.hub.partly", missing=left))
        offer(absent, "fetch", say("lessons.maps.hub.go_on", missing=left), ":material/play_arrow:")
    else:
        offer(absent, "fetch", say("lessons.maps.hub.fetch", missing=left), ":material/download:")


def describe_plan(model: HubModel, plan: HubPlan) -> str:
    """Returns the sentences about a model's files on the hub: names, size, and the space left for the download."""
    return say(
        "lessons.maps.hub.plan",
        hub=hub_host(),
        name=escape_markdown(model),
        commit=plan.commit[:COMMIT_SHOWN],
        files=list_files([name for name, _ in plan.files]),
        size=megabytes(plan.size),
        free=format_fixed(plan.free / GIGABYTE, 1),
    )


def list_files(names: Sequence[str]) -> str:
    """Returns the names of files as Markdown; of many files the first ones, and the number of all."""
    shown = names if len(names) <= MAX_NAMED_FILES else [*names[: MAX_NAMED_FILES - 1], f"… ({len(names)})"]
    return ", ".join(escape_markdown(printable_name(name)) for name in shown)


def offer(absent: AbsentModel, action: str, label: str, icon: str) -> None:
    """Shows the button that starts a task of the hub. action: "ask" or "fetch"."""
    begins = partial(begin_task, absent.model, action == "fetch")
    help = say("lessons.maps.hub.sends", hub=hub_host())
    st.button(label, key=f"maps_hub_{action}", on_click=begins, icon=icon, help=help, type="primary")


def begin_task(model: HubModel, fetch: bool) -> None:
    """Starts a task, or stores why it was refused, to be shown."""
    try:
        DOWNLOADS.begin(model, fetch)
    except AttentionError as error:
        st.session_state[BUSY_KEY] = error


def hub_host() -> str:
    """Returns the host name of the hub, from the settings of huggingface_hub."""
    from huggingface_hub import constants

    return urlsplit(constants.ENDPOINT).hostname or ""


def megabytes(size: int) -> str:
    """Formats a number of bytes in megabytes, with one decimal."""
    return format_fixed(size / MEGABYTE, 1)
