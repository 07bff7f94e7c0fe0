"""A second sentence for the same language model, whose heads are compared with those of the one on the screen."""

from dataclasses import dataclass

import streamlit as st

from attention_core.inputs.tokenizer import MAX_TEXT_LENGTH
from attention_core.learned.language.reading import UNKNOWN, run_model
from attention_core.record.errors import AttentionError
from pages.runs.model_sentences import ModelSentences
from pages.session.labels import label_token
from pages.site.words import escape_markdown, say, say_refusal

SECOND_KEY = "second_sentence"  # of this session: a passing look, in no link
BOX_KEY = "c_second_sentence"


@dataclass(frozen=True)
class SecondSentence:
    """What was typed, and for which model. words: what was read last, behind the sign that each text begins with; empty
    where there is none. refused: why the typed text was not read."""

    model: str
    typed: str = ""
    words: tuple[str, ...] = ()
    refused: AttentionError | None = None


def second_sentence_of(kind: ModelSentences) -> SecondSentence:
    """The second sentence for a model, an empty one where none was typed for it."""
    kept = st.session_state.get(SECOND_KEY)
    return kept if kept is not None and kept.model == kind.model else SecondSentence(kind.model)


def show_second_sentence(kind: ModelSentences) -> None:
    """The box for it; why it could not be read, or which of its words the model does not know."""
    second = second_sentence_of(kind)
    st.session_state[BOX_KEY] = second.typed
    st.text_input(
        say("second.label"),
        key=BOX_KEY,
        placeholder=say("second.example"),
        help=say("second.help"),
        on_change=lambda: take_second_sentence(kind, st.session_state[BOX_KEY]),
    )
    if second.refused is not None:
        st.error(say_refusal(second.refused), icon=":material/error:")
    read = zip(second.words, kind.read(second.words), strict=True)
    unknown = [escape_markdown(word) for word, token in read if token == UNKNOWN]
    if unknown:
        st.caption(say("second.unknown", words=say("fact.comma").join(unknown)))


def take_second_sentence(kind: ModelSentences, typed: str) -> None:
    """Keeps what was typed, where the model can read it; else the one before, and why."""
    before = second_sentence_of(kind)
    words, refused = (), None
    if typed.strip():
        try:
            words = read_second_sentence(kind, typed)
        except AttentionError as error:
            words, refused = before.words, error
    st.session_state[SECOND_KEY] = SecondSentence(kind.model, typed[:MAX_TEXT_LENGTH], words, refused)


def read_second_sentence(kind: ModelSentences, typed: str) -> tuple[str, ...]:
    """The words of a typed text. Raises AttentionError."""
    if len(typed) > MAX_TEXT_LENGTH:
        raise AttentionError("text_too_long", limit=MAX_TEXT_LENGTH, given=len(typed))
    return kind.tokens_of(typed)


def label_words(kind: ModelSentences, words: tuple[str, ...]) -> list[str]:
    """The words as they stand beside a map: one that stands there twice carries its place."""
    trace = run_model(kind.model, kind.read(words))["1.attention"].labelled(T=words, S=words)
    return [label_token(trace, "T", place) for place in range(len(words))]
