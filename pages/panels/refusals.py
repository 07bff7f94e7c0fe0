"""Shows why an input or a part of a link was refused; an ambiguous input gets a button for each interpretation."""

from collections.abc import Callable, Sequence
from itertools import zip_longest

import streamlit as st

from attention_core.inputs.pasted.refusals import safe_excerpt
from attention_core.inputs.tokenizer import printable_token
from attention_core.record.errors import AttentionError
from pages.session.linked_state import LinkedState
from pages.site.words import escape_markdown, say, say_refusal

MAX_LABEL_CHARS = 40  # most characters of a matrix row in the label of a button


def show_error(error: AttentionError | None, key: str = "", take_reading: Callable[[str], None] | None = None) -> None:
    """Shows the sentence that says why an input was refused; nothing if `error` is None.

    key: distinguishes the buttons of this input from those of others. take_reading: a callback that gets the
    interpretation that the visitor chooses, for an input that has several.
    """
    if error is None:
        return
    st.error(say_refusal(error), icon=":material/error:")
    if take_reading is not None:
        show_readings(error, key, take_reading)


def show_readings(error: AttentionError, key: str, take: Callable[[str], None]) -> None:
    """Shows a button for each interpretation of a refused text, if it has several.

    take: a callback that gets the interpretation that the visitor chose.
    """
    readings = error.values.get("readings", ())
    if not readings:
        return
    labels = label_readings(readings)
    with st.container(horizontal=True, gap="xsmall"):
        for number, (reading, label) in enumerate(zip(readings, labels, strict=True)):
            st.button(escape_markdown(label), key=f"reading_{key}_{number}", on_click=take, args=(reading,))


def label_readings(readings: Sequence[str]) -> list[str]:
    """Returns a label for each interpretation of a text: its size as a matrix, and the first row in which they differ.

    >>> label_readings(["1  2\\n1.234  4", "1  2\\n1234  4"])
    ['2 × 2: 1.234 4', '2 × 2: 1234 4']
    """
    rows = [reading.split("\n") for reading in readings]
    differing = 0
    for number, lines in enumerate(zip_longest(*rows)):
        if len(set(lines)) > 1:
            differing = number
            break
    labels = []
    for lines in rows:
        line = lines[min(differing, len(lines) - 1)]
        cells = line.split()
        labels.append(f"{len(lines)} × {len(cells)}: {safe_excerpt(' '.join(cells), MAX_LABEL_CHARS)}")
    return labels


def show_link_trouble(state: LinkedState, source: str, trouble_of: Callable[[str], str]) -> None:
    """Shows which parts of the opened link or file could not be read or computed, or why nothing of it is shown.

    source: the prefix of the text keys. trouble_of: a function from the key of an unreadable part to the ending of the
    text key that states the reason.
    """
    if state.missing is not None:
        st.error(say(f"{source}.missing", reason=say_refusal(state.missing)), icon=":material/link_off:")
    for key, text in state.unread:
        printed_text = escape_markdown(printable_token(text))
        sentence = say(f"{source}.{trouble_of(key)}", key=escape_markdown(key), text=printed_text)
        st.error(sentence, icon=":material/link_off:")
    for key, error in state.unfit:
        sentence = say(f"{source}.refused", key=escape_markdown(key), reason=say_refusal(error))
        st.error(sentence, icon=":material/link_off:")
