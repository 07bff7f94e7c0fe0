"""The lesson on cross-attention, drawer "decoder", a decoder that was trained: does a network align words by itself?"""

from dataclasses import replace

import streamlit as st

from attention_core import Trace
from attention_core.examples.examples import EXAMPLES
from attention_core.learned.language.network_folder import ShippedFigures
from attention_core.learned.translation.reading import aligning_head
from attention_core.learned.translation.shipped import TRANSLATORS
from attention_core.record.number_text import format_percent
from pages.export.page_links import link_to_workbench
from pages.lessons.sentences import show_sentence
from pages.lessons.word_threads import Way, show_threads
from pages.panels.link_controls import sentence_box
from pages.runs.cache import trace_for
from pages.runs.compute import sentences_of
from pages.session.labels import selection_of
from pages.setup.setup import Setup
from pages.site.words import escape_markdown, say

EXAMPLE = "translator"
MAX_WORDS = 30  # of a sentence: each has threads to all others


def show_translator(_: Setup) -> None:
    """Translates a typed sentence, and shows which of its words each written word was made of."""
    name = EXAMPLES[EXAMPLE].translator
    figures = TRANSLATORS.figures()[name]
    setup = sentence_box(Setup(example=EXAMPLE), "english", "context_text", MAX_WORDS)
    setup = replace(setup, head=aligning_head(name), token=0)
    trace = trace_for(setup)
    kind = sentences_of(setup)
    st.markdown(f"#### {escape_markdown(kind.spell(kind.own_words()))}")
    written = with_written_words(trace)
    title = say("lessons.cross.translator_title", head=figures.figures["head"])
    st.markdown(f"**{title}**")
    lines = (say("lessons.cross.control.text"), say("lessons.cross.control.context"))
    show_threads("translator", [Way("", written, 1, selection_of(trace, setup))], 0, lines)
    show_sentence("lessons.cross.translator", **measured_percents(figures))
    link_to_workbench(setup, "translator")


def with_written_words(trace: Trace) -> Trace:
    """The run with each row named after the word that it writes, which is the one behind it."""
    _, *written = trace.labels["T"]
    return trace.labelled(T=(*written, say("lessons.cross.translator_end")))


def measured_percents(figures: ShippedFigures) -> dict[str, str]:
    """What was measured of the translator, as the sentence has it."""
    names = ("held_exact", "held_aligned", "held_nouns", "frames_exact")
    percents = {name: format_percent(figures.figures[name]) for name in names}
    return {"texts": f"{figures.texts:,}", **percents}
