"""What a file holds of the steps itself, beside what is computed here: the first step that differs, and why."""

import streamlit as st

from attention_core.verification.diagnosis_report import Comparison, Diagnosis
from pages.runs.cache import cached_causes, cached_diagnosis, cached_precision
from pages.session.cell_clicks import open_cell
from pages.session.view import ScreenState
from pages.setup.setup import without_view
from pages.site.words import say, say_cause

MAX_PAIRS_WITHOUT_ASKING = 64 * 64 * 8  # pairs of tokens: the cause of a larger run is looked for when it is asked for


def show_diagnosis(scene: ScreenState) -> None:
    """Whether the file's own steps agree with the run; the first that does not, and the change that gives it."""
    brought = scene.inputs.brought
    if brought is None or not (brought.given or scene.inputs.left_out):
        return
    with st.container(border=True):
        if scene.inputs.left_out:
            st.caption(say("diagnosis.part_only"))
        if not brought.given:
            return
        diagnosis = cached_diagnosis(without_view(scene.setup), scene.trace, scene.inputs)
        if diagnosis.step is None:
            show_agreement(scene, diagnosis)
            return
        show_first_difference(scene, diagnosis)
        show_causes(scene)


def show_agreement(scene: ScreenState, diagnosis: Diagnosis) -> None:
    """All agree, and how well."""
    steps, figures = join_step_names(diagnosis.agreeing), diagnosis.agreeing.values()
    dtype = name_upload_precision(scene)
    st.success(say("diagnosis.agree", steps=steps, figure=f"{max(figures):.0e}", dtype=dtype), icon=":material/check:")


def name_upload_precision(scene: ScreenState) -> str:
    """What the file's steps were computed in."""
    dtype = cached_precision(without_view(scene.setup), scene.trace, scene.inputs)
    return str(dtype).removeprefix("torch.")


def show_first_difference(scene: ScreenState, diagnosis: Diagnosis) -> None:
    """The first step that differs: where most, what stands there, and whether it follows from the steps before it."""
    first = diagnosis.first
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(describe_step_difference(scene, first), width="content")
        if first.index is not None:
            st.button(say("diagnosis.open"), on_click=open_cell, args=(first.step, first.index), key="b_differs")
    lines = [say("diagnosis.before", steps=join_step_names(diagnosis.before))] if diagnosis.before else []
    if first.follows:
        lines.append(say("diagnosis.follows"))
    elif first.follows is False:
        lines.append(
            say("diagnosis.among" if len(first.among) > 1 else "diagnosis.own", steps=join_step_names(first.among))
        )
    if lines:
        st.caption(" ".join(lines))


def describe_step_difference(scene: ScreenState, first: Comparison) -> str:
    """One comparison in words."""
    if not first.fits:
        text = say("diagnosis.misfit", step=first.step, given=first.given_shape, shape=first.shape)
        return text + (say("diagnosis.misfit_as", axes=", ".join(first.fits_as)) if first.fits_as else "")
    numbers = {"theirs": format_four_digits(first.theirs), "ours": format_four_digits(first.ours)}
    return say("diagnosis.differs", step=first.step, place=describe_difference_place(scene, first), **numbers)


def describe_difference_place(scene: ScreenState, first: Comparison) -> str:
    """Where the largest difference stands: head 2, query 4, key 2."""
    parts = []
    for dim, at, size in zip(first.dims, first.index, first.shape, strict=True):
        if dim in ("H", "H_kv", "T", "S"):
            words = scene.trace.labels.get(dim)
            parts.append(say(f"diagnosis.{dim}", at=at + 1 if words is None else words[at]))
        elif size > 1:
            parts.append(say("diagnosis.other", dim=dim, at=at + 1))
    return say("fact.comma").join(parts)


def format_four_digits(number: float) -> str:
    """Four digits of a number."""
    return f"{number:.4g}".replace("-", "−")


def show_causes(scene: ScreenState) -> None:
    """The one change that gives the file's numbers, where one does."""
    setup, pairs = without_view(scene.setup), scene.trace["scores"].numel()
    if pairs > MAX_PAIRS_WITHOUT_ASKING and st.session_state.get("causes") != setup:
        if st.button(say("diagnosis.look"), key="b_causes"):
            st.session_state["causes"] = setup
            st.rerun()
        return
    found = cached_causes(setup, scene.trace, scene.inputs)
    for cause in found:
        steps, dtype = join_step_names(cause.steps), name_upload_precision(scene)
        st.markdown(say("diagnosis.cause", steps=steps, dtype=dtype, reason=say_cause(cause)))
    if not found:
        st.caption(say("diagnosis.no_cause"))


def join_step_names(steps) -> str:
    """Names of steps in a row."""
    return say("fact.comma").join(steps)
