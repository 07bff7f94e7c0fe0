"""Shows the diagnosis of an uploaded file: its first step that differs from the app's own run, and the cause."""

from collections.abc import Iterable

import streamlit as st

from attention_core.record.number_text import with_true_minus
from attention_core.verification.diagnosis import Comparison, Diagnosis, format_distinguishably
from pages.runs.cache import cached_causes, cached_diagnosis, cached_precision
from pages.session.cell_clicks import open_cell
from pages.session.view import ScreenState
from pages.site.words import say, say_cause

MAX_PAIRS_WITHOUT_ASKING = 64 * 64 * 8  # most query-key pairs of a run for which causes are searched without a click


def show_diagnosis(screen: ScreenState) -> None:
    """Shows the diagnosis of an uploaded file, and says if only a part of the file is shown.

    Shows nothing if the file has no steps to compare and is shown as a whole.
    """
    inputs = screen.inputs
    uploaded = inputs.brought
    if uploaded is None or not (uploaded.given or inputs.left_out):
        return
    with st.container(border=True):
        if inputs.left_out:
            st.caption(say("diagnosis.part_only"))
        if uploaded.given:
            show_diagnosis_of_steps(screen)


def show_diagnosis_of_steps(screen: ScreenState) -> None:
    """Shows that the steps in the file agree with the run or, if not, the first step that differs, and the cause."""
    diagnosis = cached_diagnosis(screen.setup.run, screen.trace, screen.inputs)
    if diagnosis.step is None:
        show_agreement(screen, diagnosis)
        return
    show_first_difference(screen, diagnosis)
    show_causes(screen, was_tried=diagnosis.first.fits)


def show_agreement(screen: ScreenState, diagnosis: Diagnosis) -> None:
    """Shows that all steps of the file agree with the run, and the largest difference."""
    largest_difference = max(diagnosis.agreeing.values())
    sentence = say(
        "diagnosis.agree",
        steps=join_step_names(diagnosis.agreeing),
        figure=f"{largest_difference:.0e}",
        dtype=name_upload_precision(screen),
    )
    st.success(sentence, icon=":material/check:")


def name_upload_precision(screen: ScreenState) -> str:
    """Returns the precision, such as float32, in which the steps of the uploaded file were computed."""
    dtype = cached_precision(screen.setup.run, screen.trace, screen.inputs)
    return str(dtype).removeprefix("torch.")


# ---- the first step that differs -------------------------------------------------------------------------------------
def show_first_difference(screen: ScreenState, diagnosis: Diagnosis) -> None:
    """Shows the first step that differs, its largest difference, and whether earlier steps explain the difference."""
    first = diagnosis.first
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(describe_step_difference(screen, first), width="content")
        if first.index is not None:
            st.button(
                say("diagnosis.open"),
                on_click=open_cell,
                args=(first.step, first.index),
                key="b_differs",
            )
    sentences = describe_steps_before(diagnosis)
    if sentences:
        st.caption(" ".join(sentences))


def describe_steps_before(diagnosis: Diagnosis) -> list[str]:
    """Returns sentences about the steps before the first one that differs, and about whether they explain its
    difference.
    """
    first = diagnosis.first
    sentences = []
    if diagnosis.before:
        sentences.append(say("diagnosis.before", steps=join_step_names(diagnosis.before)))
    if first.follows:
        sentences.append(say("diagnosis.follows"))
    elif first.follows is False:
        sentence = "diagnosis.among" if len(first.among) > 1 else "diagnosis.own"
        sentences.append(say(sentence, steps=join_step_names(first.among)))
    return sentences


def describe_step_difference(screen: ScreenState, first: Comparison) -> str:
    """Returns the sentence about a step that differs between file and run: its shapes, or its largest difference."""
    if not first.fits:
        sentence = say("diagnosis.misfit", step=first.step, given=first.given_shape, shape=first.shape)
        if first.fits_as:
            sentence += say("diagnosis.misfit_as", axes=", ".join(first.fits_as))
        return sentence
    theirs, ours = format_distinguishably(first.theirs, first.ours)
    return say(
        "diagnosis.differs",
        step=first.step,
        place=describe_difference_place(screen, first),
        theirs=with_true_minus(theirs),
        ours=with_true_minus(ours),
    )


def describe_difference_place(screen: ScreenState, first: Comparison) -> str:
    """Returns the position of the largest difference in words, such as "head 2, query 4, key 2"."""
    parts = []
    for dim, position, size in zip(first.dims, first.index, first.shape, strict=True):
        number = position + 1
        if dim in ("H", "H_kv", "T", "S"):
            words = screen.trace.labels.get(dim)
            name = number if words is None else words[position]
            parts.append(say(f"diagnosis.{dim}", at=name))
        elif size > 1:
            parts.append(say("diagnosis.other", dim=dim, at=number))
    return say("fact.comma").join(parts)


# ---- its cause -------------------------------------------------------------------------------------------------------
def show_causes(screen: ScreenState, was_tried: bool) -> None:
    """Shows the causes, such as another mask, that reproduce the numbers of the uploaded file.

    was_tried: whether to report that no cause was found.
    """
    setup = screen.setup.run
    is_large = screen.trace["scores"].numel() > MAX_PAIRS_WITHOUT_ASKING
    if is_large and st.session_state.get("causes") != setup:
        if st.button(say("diagnosis.look"), key="b_causes"):
            st.session_state["causes"] = setup
            st.rerun()
        return
    causes = cached_causes(setup, screen.trace, screen.inputs)
    for cause in causes:
        sentence = say(
            "diagnosis.cause",
            steps=join_step_names(cause.steps),
            dtype=name_upload_precision(screen),
            reason=say_cause(cause),
        )
        st.markdown(sentence)
    if not causes and was_tried:
        st.caption(say("diagnosis.no_cause"))


def join_step_names(steps: Iterable[str]) -> str:
    """Returns the names of steps as a list in words."""
    return say("fact.comma").join(steps)
