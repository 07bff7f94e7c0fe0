"""How uploaded files are read: a line for each file, and the choice of how to read a mask."""

from collections.abc import Callable
from functools import partial

import streamlit as st

from attention_core.inputs.files.mask_readings import MaskReading
from attention_core.inputs.files.qkv_file import MASK_ROLES, UploadedTensors
from attention_core.record.errors import AttentionError
from pages.panels.file_box import name_array, say_unread
from pages.panels.setup_controls import field_control, show_refusal, try_change
from pages.runs.compute import input_kind_of
from pages.runs.upload_store import UploadedArrays, others_of, sources_of, uploaded_arrays
from pages.session import setup_state
from pages.setup.link_values import write_mask_answer
from pages.setup.setup import Setup
from pages.site.words import escape_markdown, say

BRING = "bring"  # the name of the file upload control


# ---- a line for each file --------------------------------------------------------------------------------------------
def show_file_lines(setup: Setup, tensors: UploadedTensors, names_by_id: dict[str, str]) -> None:
    """Shows a line for each file: its arrays with the roles they were read as, and those not read."""
    arrays = uploaded_arrays(setup.run)
    roles = {name: role for role, name in input_kind_of(setup.run, arrays).roles_by_name().items()}
    sources, others = sources_of(setup.run), others_of(setup.run)
    for source in dict.fromkeys([*sources.values(), *others]):
        own = [name for name in arrays if sources[name] == source]
        read = [say_read(name, roles[name], arrays, tensors) for name in own if name in roles]
        unread = [(name, arrays[name].shape) for name in own if name not in roles]
        line = say("brought.read", arrays=say("fact.comma").join(read)) if read else say("brought.read_nothing")
        line += say_unread([*unread, *others.get(source, {}).items()])
        name = names_by_id.get(source.id, escape_markdown(source.name))
        st.caption(say("brought.line", file=name, line=line))


def say_read(name: str, role: str, arrays: UploadedArrays, tensors: UploadedTensors) -> str:
    """Returns the phrase about the role of an array in the file; for a mask with its axes and the meaning of True."""
    array = name_array(name, arrays[name].shape)
    if role in tensors.masks:
        return say("brought.as_mask", array=array, reading=format_reading(tensors.masks[role]))
    return say("brought.as", array=array, role=say(f"role_of.{role}"))


def format_reading(reading: MaskReading) -> str:
    """Returns the phrase about the axes of a mask and the meaning of its numbers."""
    axes = reading.axes.replace("BH", "B·H").replace(" ", ", ")
    return say(f"mask_reading.{reading.polarity}", axes=f"({axes})")


# ---- a file that waits for an answer ---------------------------------------------------------------------------------
def waiting_file() -> Setup | None:
    """Returns the Setup with the file that waits for an answer; None if none waits."""
    draft = setup_state.workbench().drafts.get(BRING)
    if draft is None:
        return None
    waiting = setup_state.current_setup().with_fields(**draft)
    try:
        uploaded_arrays(waiting.run)
    except AttentionError:  # the file is no longer stored
        return None
    return waiting


def answer_for_waiting_file(**answer) -> None:
    """Tries the waiting file again, with an answer."""
    try_change(BRING, **{**setup_state.workbench().drafts.get(BRING, {}), **answer})


# ---- the readings of a mask ------------------------------------------------------------------------------------------
def show_mask_question() -> None:
    """Shows the possible readings of a mask, if a file waits for this choice."""
    refusal, waiting = setup_state.workbench().refused.get(BRING), waiting_file()
    if waiting is None or refusal is None or refusal.code != "mask_readings":
        return
    roles = input_kind_of(waiting.run, uploaded_arrays(waiting.run)).roles_by_name()
    role = next(role for role in MASK_ROLES if roles.get(role) == refusal.values["name"])
    readings = [*refusal.values["likely"], *refusal.values["others"]]
    show_reading_choice(waiting, role, readings, None, answer_for_waiting_file)


def show_mask_choices(setup: Setup, tensors: UploadedTensors) -> None:
    """Shows the choice of a reading for each mask of the file that has more than one."""
    for role, readings in tensors.mask_fits.items():
        if len(readings) > 1:
            show_reading_choice(setup, role, list(readings), tensors.masks[role], partial(try_change, f"read_{role}"))
            show_refusal(f"read_{role}")


def show_reading_choice(
    setup: Setup, role: str, readings: list[MaskReading], now: MaskReading | None, take: Callable[..., None]
) -> None:
    """Shows a choice of the reading of one mask, which may be none. now: the current reading, None if the mask waits
    for a choice. take: called with the chosen reading.
    """
    arrays = uploaded_arrays(setup.run)
    roles = input_kind_of(setup.run, arrays).roles_by_name()

    def choose_reading(chosen: str | None) -> None:
        if chosen == "none":
            numbers = {name: number for number, name in enumerate(arrays)}
            kept = [f"{each}:{numbers[name]}" for each, name in roles.items() if each != role]
            take(roles=tuple(kept))
        elif chosen is not None:
            others = [answer for answer in setup.run.mask_as if not answer.startswith(f"{role}:")]
            take(mask_as=(*others, chosen), polarity=None)

    answers = {write_mask_answer(role, reading): format_reading(reading) for reading in readings}
    answers["none"] = say("mask_reading.none")
    control = field_control(
        f"read_{role}",
        None if now is None else write_mask_answer(role, now),
        choose_reading,
        key=f"c_waiting_mask_{role}" if now is None else f"c_mask_{role}",
        option_text=answers.__getitem__,
    )
    label = say("control.mask_reading", name=escape_markdown(roles[role]))
    control.draw(st.pills, list(answers), label=label, help=say("help.mask_reading"))
