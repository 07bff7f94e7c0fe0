"""Shows the input of a second sentence for a language model, to compare heads or to patch attention weights from it."""

from functools import partial

import streamlit as st

from attention_core.inputs.tokenizer import MAX_TEXT_LENGTH
from attention_core.learned.language.reading import run_model
from attention_core.record.errors import AttentionError
from pages.panels.model_guess import show_sign, tell_sign
from pages.panels.setup_controls import field_control
from pages.runs.model_runs import ModelTexts, model_sentences_of
from pages.session import setup_state
from pages.session.fragments import redraw
from pages.session.labels import name_token
from pages.session.view import ScreenState
from pages.setup.setup import Setup
from pages.site.words import say

CONTROL = "other_text"


def second_words_of(setup: Setup) -> tuple[str, ...]:
    """Returns the words of the second sentence, START first.

    Returns () if there is no second sentence, or if the model cannot read the one in the link.
    """
    if setup.view.other_text is None:
        return ()
    try:
        return read_second_sentence(model_sentences_of(setup.run), setup.view.other_text)
    except AttentionError:
        return ()


def show_second_sentence(screen: ScreenState) -> None:
    """Shows the text input of the second sentence.

    If the input was refused, shows the error; if the model guesses about the sentence, shows a warning.
    """
    kind = model_sentences_of(screen.setup.run)
    text = screen.setup.view.other_text or ""
    control = field_control(CONTROL, text, partial(take_second_sentence, kind), label="second.label")
    control.show(st.text_input, placeholder=say("second.example"), help=say("second.help"))
    show_sign(tell_sign(screen.setup, second_words_of(screen.setup)))


def take_second_sentence(kind: ModelTexts, typed: str) -> None:
    """Stores a typed second sentence in the Setup if the model can read it; otherwise stores the error.

    In the second case, the former sentence stays.
    """
    text = typed.strip()
    try:
        if text:
            read_second_sentence(kind, text)
    except AttentionError as error:
        setup_state.workbench().refuse(CONTROL, error)
    else:
        setup_state.workbench().forget_refusals(CONTROL)
        setup_state.choose_view(other_text=text or None)
    redraw()


def read_second_sentence(kind: ModelTexts, typed: str) -> tuple[str, ...]:
    """Returns the words of a typed text. Raises AttentionError if the model cannot read it."""
    if len(typed) > MAX_TEXT_LENGTH:
        raise AttentionError("text_too_long", limit=MAX_TEXT_LENGTH, given=len(typed))
    return kind.tokens_of(typed)


def label_words(kind: ModelTexts, words: tuple[str, ...]) -> list[str]:
    """Returns the labels of words beside an attention map; repeated words get their positions."""
    trace = run_model(kind.model, kind.read(words))["1.attention"].labelled(T=words, S=words)
    return [name_token(trace, "T", place) for place in range(len(words))]
