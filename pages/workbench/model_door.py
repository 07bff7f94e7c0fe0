"""The button that opens the language model with a sentence whose words the current example does not know."""

import streamlit as st

from attention_core.examples.examples import EXAMPLES
from attention_core.inputs.tokenizer import is_written_without_spaces
from attention_core.record.errors import AttentionError
from pages.panels.word_changes import first_sentence_of
from pages.runs.cache import trace_for
from pages.runs.run_inputs import RunInputs
from pages.session import setup_state
from pages.session.fragments import redraw
from pages.setup.resolve import resolve_run
from pages.setup.setup import Setup, make_setup
from pages.site.words import say

MODEL_EXAMPLES = {"en": "model_en", "zh": "model_zh"}  # language of the text -> example that opens the language model
KNOWN_ORIGINS = frozenset(("built", "source", "learned", "padding"))  # origins of words with a vector in the example


def find_model_door(setup: Setup, inputs: RunInputs) -> Setup | None:
    """Returns the Setup of the language model with the typed sentence, in the model of the sentence's language.

    None if the example knows all words of the sentence, if a model already reads the sentence, for cross-attention, and
    if no sentence is typed.
    """
    resolved = resolve_run(setup.run)
    has_reader = resolved.model is not None or resolved.network is not None
    if setup.run.text is None or has_reader or resolved.crossed:
        return None
    example = EXAMPLES[setup.run.example]
    knows_words = example.lexicon is not None and not example.built
    if knows_words and KNOWN_ORIGINS.issuperset(inputs.word_origins):
        return None
    words = first_sentence_of(inputs)
    is_chinese = is_written_without_spaces("".join(words))
    text = ("" if is_chinese else " ").join(words)
    return make_setup(example=MODEL_EXAMPLES["zh" if is_chinese else "en"], text=text)


def show_model_door(setup: Setup, inputs: RunInputs) -> None:
    """Shows the button that opens the language model, if this example does not know the sentence's words."""
    door = find_model_door(setup, inputs)
    if door is None:
        return

    def open_model() -> None:
        try:
            trace_for(door)
        except AttentionError as error:  # raised for a text that is too long for the model
            setup_state.workbench().refuse("text", error)
        else:
            setup_state.adopt_setup(door)
        redraw()

    st.button(say("roles.dictionary.open"), key="read_by_model", on_click=open_model)
