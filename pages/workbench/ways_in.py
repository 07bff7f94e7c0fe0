"""Draws the first line of the workbench: tabs for the kinds of input, the sentence, and the menu of examples."""

import streamlit as st

from attention_core.examples.examples import EXAMPLES
from attention_core.inputs.tokenizer import is_written_without_spaces
from pages.panels import recorded_text
from pages.panels.setup_controls import field_control, show_refusal, take_made_change
from pages.panels.word_changes import first_sentence_of
from pages.runs.cache import inputs_of
from pages.runs.compute import spell_tokens
from pages.session import setup_state
from pages.session.fragments import page_part
from pages.session.side_panel import find_panel, show_panel
from pages.session.view import ScreenState
from pages.setup.codec import DEFAULTS
from pages.setup.resolve import resolve_run
from pages.setup.setup import Setup, make_setup, start_in
from pages.site.controls import FILE, MATRICES
from pages.site.words import current_language
from pages.workbench import input_controls, sentence_box
from pages.workbench.examples_menu import examples_dependencies, show_examples_menu

WAYS = ("sentence", "matrices", "model", "file")


def first_line_dependencies(screen: ScreenState) -> tuple[object, ...]:
    """Returns the values whose change redraws the first line: the open tab, the sentence, and the example's name."""
    setup = screen.setup
    return (
        find_panel(setup),
        *examples_dependencies(setup),
        *input_controls.input_dependencies(screen),
        sentence_box.waiting_text(),
        recorded_text.asked_text(),
    )


@page_part(first_line_dependencies, keeps_place=True)
def show_first_line(screen: ScreenState) -> None:
    """Shows the tabs, the sentence (or a description of other input) and the examples; below them, messages about the
    text.
    """
    setup, inputs = screen.setup, screen.inputs
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="first_line"):
        show_ways(setup)
        if resolve_run(setup.run).mode == "sentence":
            sentence_box.show_sentence_box(setup, inputs)
            input_controls.show_swap_offer(setup, inputs)
        elif recorded_text.find_source(setup.run) is not None:
            recorded_text.show_text_boxes(setup)
        else:
            st.markdown(input_controls.describe_input(screen), width="stretch")
        show_examples_menu(setup)
    show_refusal("way")
    sentence_box.show_pasted(setup)
    input_controls.show_text_controls(screen)
    recorded_text.show_reading()


def find_way(setup: Setup) -> str:
    """Returns the name of the open tab: that of the panel beside the picture, else that of the kind of input."""
    panel, resolved = find_panel(setup), resolve_run(setup.run)
    if panel in (MATRICES, FILE):
        return panel
    if resolved.mode == "sentence":
        return "sentence" if resolved.model is None else "model"
    return "file" if resolved.mode == "file" else "matrices"


def show_ways(setup: Setup) -> None:
    """Shows the tabs for the kinds of input: a sentence, matrices, a language model, a file."""
    control = field_control("way", find_way(setup), choose_way)
    control.draw(st.segmented_control, WAYS, label_visibility="collapsed")


def choose_way(way: str | None) -> None:
    """Opens a tab: Matrices and File open their panel beside the picture; Sentence and Model change the input at once.

    way: None if the open tab was clicked again, which opens or closes its panel.
    """
    setup = setup_state.current_setup()
    panel, wanted = find_panel(setup), way or find_way(setup)
    if wanted in (MATRICES, FILE):
        show_panel(None if wanted == panel else wanted)
    elif panel in (MATRICES, FILE):
        show_panel(None)
    if way == "sentence":
        take_changes(make_sentence_changes(setup))
    elif way == "model":
        take_changes(make_model_changes(setup))
    st.rerun()


def take_changes(changes: dict[str, object]) -> None:
    """Applies changes of the Setup's fields, if there are any, or stores why they are refused."""
    if changes:
        take_made_change("way", lambda: changes)


def make_sentence_changes(setup: Setup) -> dict[str, object]:
    """Returns the changed fields that make the example's dictionary read a sentence; {} if the dictionary reads the
    sentence already.

    A sentence that a language model reads is kept, if the visitor typed it. An example without a sentence is replaced
    by the first example of the language.
    """
    resolved, example = resolve_run(setup.run), EXAMPLES[setup.run.example]
    if resolved.mode == "sentence" and resolved.model is None:
        return {}
    if resolved.mode not in ("sentence", "recorded") and example.q is None and example.code is None:
        return input_controls.make_mode_change(setup, "sentence")
    start = start_in(current_language())
    is_typed = resolved.mode == "sentence" and setup.run.text is not None
    return list_changes(start.with_fields(text=setup.run.text) if is_typed else start)


def make_model_changes(setup: Setup) -> dict[str, object]:
    """Returns the changed fields that make a language model read the sentence, or the model's example if no sentence is
    typed.
    """
    resolved = resolve_run(setup.run)
    if resolved.model is not None:
        return {}
    text = None
    if resolved.mode == "sentence":
        text = spell_tokens(first_sentence_of(inputs_of(setup)), setup.run)
    is_chinese = is_written_without_spaces(text) if text else current_language() == "zh"
    return list_changes(make_setup(example=input_controls.MODEL_EXAMPLES["zh" if is_chinese else "en"], text=text))


def list_changes(wanted: Setup) -> dict[str, object]:
    """Returns {field: value} with every field of a Setup."""
    return {name: wanted.value_of(name) for name in DEFAULTS}
