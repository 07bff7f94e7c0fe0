"""A choice between the readings of an ambiguous text: a button for each, beside the refusal."""

from collections.abc import Callable, Sequence
from itertools import zip_longest

import streamlit as st

from attention_core.inputs.pasted.refusals import safe_excerpt
from attention_core.record.errors import AttentionError
from pages.site.words import escape_markdown

MAX_LABEL_CHARS = 40  # characters of a row on the label of a button


def show_readings(error: AttentionError, key: str, take: Callable[[str], None]) -> None:
    """Shows a button for each reading of a refused text, if the text has several. take: handler of the chosen
    reading.
    """
    readings = error.values.get("readings", ())
    if not readings:
        return
    labels = label_readings(readings)
    with st.container(horizontal=True, gap="xsmall"):
        for number, (reading, label) in enumerate(zip(readings, labels, strict=True)):
            st.button(escape_markdown(label), key=f"reading_{key}_{number}", on_click=take, args=(reading,))


def label_readings(readings: Sequence[str]) -> list[str]:
    """Label of each reading: its size, and the first row in which it differs from the others.

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
