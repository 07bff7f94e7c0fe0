"""Shows the text box for the sentence; if a pasted text is no sentence, says what it is and offers to use it."""

import streamlit as st

from attention_core.inputs.matrix_edits import pack_matrix
from attention_core.inputs.matrix_text import parse_matrix
from pages.panels import recorded_text
from pages.panels.refusals import label_readings
from pages.panels.setup_controls import field_control, show_refusal, take_made_change, try_change
from pages.panels.word_changes import first_sentence_of
from pages.runs.cache import check_computable, trace_for
from pages.runs.compute import spell_tokens
from pages.runs.run_inputs import RunInputs
from pages.session import linked_setup, setup_state
from pages.session.fragments import page_part, redraw
from pages.session.side_panel import show_panel
from pages.session.view import ScreenState
from pages.setup.resolve import resolve_run
from pages.setup.setup import Setup
from pages.site.catalog import PAGES_BY_SLUG
from pages.site.controls import EDITED_KEY, MATRICES
from pages.site.words import escape_markdown, say, say_refusal
from pages.workbench import input_controls
from pages.workbench.pasted_text import Pasted, recognise, shorten

PASTED_KEY = "pasted"  # session key of the text that waits for a choice, with the run that was shown when it was pasted


def show_sentence_box(setup: Setup, inputs: RunInputs) -> None:
    """Shows the text box with the sentence, in which the visitor can type or paste."""
    shipped = spell_tokens(first_sentence_of(inputs), setup.run)
    text = shipped if setup.run.text is None else setup.run.text
    field_control("text", text, take_text).draw(st.text_input, label_visibility="collapsed")
    input_controls.pasted_lines(key="pasted_lines", on_pasted=take_text)


def scene_input_dependencies(screen: ScreenState) -> tuple[object, ...]:
    """Returns the values on which the drawing of a scene's input depends: the screen's input, and a text that a model
    reads.
    """
    own = input_controls.input_dependencies(screen)
    return (*own, setup_state.editors_version(), recorded_text.asked_text())


@page_part(scene_input_dependencies)
def show_input_of_scene(screen: ScreenState) -> None:
    """Shows the sentence of a scene with its messages, or the given matrices of the scene."""
    if resolve_run(screen.setup.run).mode == "sentence":
        show_sentence_box(screen.setup, screen.inputs)
        input_controls.show_swap_offer(screen.setup, screen.inputs)
        show_pasted(screen.setup)
    recorded_text.show_text_boxes(screen.setup)
    input_controls.show_text_controls(screen)
    recorded_text.show_reading()
    input_controls.show_given_matrices(screen)


def take_text(text: str) -> None:
    """Applies a typed or pasted sentence; if the text is recognised as something else, stores it until the visitor
    chooses.
    """
    run = setup_state.current_setup().run
    # for a trained network, nothing is recognised, because it reads every text
    found = recognise(text) if resolve_run(run).network is None else None
    if found is None:
        take_words(text)
        return
    st.session_state[PASTED_KEY] = (run, text)
    setup_state.workbench().forget_refusals("text")
    redraw()


def take_words(text: str) -> None:
    """Applies a text as the sentence, after joining its lines."""
    st.session_state[PASTED_KEY] = None
    try_change("text", text=" ".join(text.splitlines()) if "\n" in text else text)


def waiting_text() -> str | None:
    """Returns the pasted text about which the visitor must still decide; None if there is none, or if the run has
    changed.
    """
    run, text = st.session_state.get(PASTED_KEY) or (None, None)
    return text if run == setup_state.current_setup().run else None


def show_pasted(setup: Setup) -> None:
    """Shows what the pasted text was recognised as, if it is no sentence, and buttons for what can be done with it."""
    text = waiting_text()
    if text is None:
        return
    found = recognise(text)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="pasted"):
        st.markdown(say(f"pasted.{found.kind}", given=escape_markdown(shorten(text)), **found.values))
        show_uses(found, setup)
        label = say("pasted.one_sentence" if found.lines else "pasted.keep")
        st.button(label, key="keep_words", on_click=take_words, args=(text,))
    if found.error is not None:
        st.caption(say_refusal(found.error))
    show_refusal("pasted")


def show_uses(found: Pasted, setup: Setup) -> None:
    """Shows a button for each use of a pasted text."""
    labels = label_readings(found.readings) if found.readings else []
    if found.kind == "matrix":
        labels = [say("pasted.use_as_x", **found.values)]
    for number, (label, reading) in enumerate(zip(labels, found.readings, strict=True)):
        key, args = f"use_as_x{number or ''}", (reading,)
        st.button(
            escape_markdown(label), key=key, icon=":material/grid_on:", type="primary", on_click=use_as_x, args=args
        )
    if found.opened is not None:
        args = (found,)
        st.button(say("pasted.open"), key="open_pasted", type="primary", on_click=open_pasted, args=args)
    if found.page is not None:
        slug, link = found.page
        st.page_link(PAGES_BY_SLUG[slug].path, label=say("pasted.open"), query_params=dict(link))
    if found.panel is not None:
        label = say("pasted.open_panel", panel=say(f"way.{found.panel}"))
        st.button(label, key="open_panel", type="primary", on_click=open_panel, args=(found.panel,))
    if found.tokens:
        label = say("pasted.use_as_tokens", count=len(found.tokens))
        words = spell_tokens(found.tokens, setup.run)
        st.button(label, key="use_as_tokens", type="primary", on_click=take_words, args=(words,))
    if found.lines and not resolve_run(setup.run).crossed:
        label = say("pasted.use_as_batch", count=len(found.lines))
        st.button(label, key="use_as_batch", type="primary", on_click=use_as_batch, args=(found.lines,))


def use_as_x(reading: str) -> None:
    """Makes a pasted matrix the input X, and opens the panel of matrices, with X in its cells."""
    setup = setup_state.current_setup()
    given = {"text": None, "x": pack_matrix(parse_matrix(reading, "x"), "x")}
    show_panel(MATRICES)
    st.session_state[EDITED_KEY] = "x"
    take_made_change("pasted", lambda: input_controls.make_mode_change(setup, "matrix") | given)
    st.rerun()  # reruns the whole page, which draws the panel beside the picture


def use_as_batch(lines: tuple[str, ...]) -> None:
    """Computes the pasted lines together, as a batch of sentences."""
    first, *further = lines
    try_change("pasted", text=first, more="\n".join(further), sentence=None)


def open_pasted(found: Pasted) -> None:
    """Opens the settings of a pasted link or saved file; undo leads back."""
    st.session_state[PASTED_KEY] = None
    source = "file" if found.kind == "settings" else "link"
    linked_setup.open_setup(*found.opened, source, check_computable, trace_for)
    redraw()


def open_panel(panel: str) -> None:
    """Opens the panel that can open a named file."""
    st.session_state[PASTED_KEY] = None
    show_panel(panel)
    st.rerun()
