"""The decoder's lesson, drawer "shapes": which shapes have the three attentions?"""

import streamlit as st

from attention_core import Trace
from pages.lessons.decoder.translated import Written
from pages.lessons.sentences import show_sentence
from pages.panels.markdown_table import make_table
from pages.site.words import say

PARTS = ("encoder.{layer}.attention", "{layer}.attention", "{layer}.cross")
NAMES = ("encoder", "attention", "cross")
STEPS = ("q", "k", "weights", "output")


def show_shapes(written: Written) -> None:
    """Shows the three attentions of the Transformer of 2017 in this run: who asks whom, and the shapes."""
    show_sentence("lessons.decoder.shapes", T=len(written.target), S=len(written.source))
    head = [say(f"lessons.decoder.shape.{name}") for name in ("attention", "asks", "asked", "blocked")]
    rows = []
    for name, part in zip(NAMES, PARTS, strict=True):
        trace = written.stack[part.format(layer=written.layer)]
        who = [say(f"lessons.decoder.{column}.{name}") for column in ("name", "asks", "asked")]
        rows.append([*who, str(count_blocked(trace)), *(write_shape(trace, step) for step in STEPS)])
    st.markdown(make_table([*head, *STEPS], rows))


def count_blocked(trace: Trace) -> int:
    """How many pairs of a head may not look at each other."""
    return int(trace["masked_scores"][0, 0].isinf().sum())


def write_shape(trace: Trace, step: str) -> str:
    """The shape of a step, without the batch."""
    return " × ".join(map(str, trace.step(step).shape[1:]))
