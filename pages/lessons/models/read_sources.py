"""The lesson on today's models: where their numbers stand."""

import streamlit as st

from attention_core.examples.published_models import PUBLISHED_MODELS
from pages.lessons.sentences import show_sentence
from pages.site.words import escape_markdown, has, say


def show_read_sources() -> None:
    """Shows what was read of each model, and where a class, a file and a paper say different numbers."""
    show_sentence("lessons.models.reading")
    lines = []
    for key, model in PUBLISHED_MODELS.items():
        note = f"lessons.models.note.{key}"
        read = say("lessons.models.read", model=model.name, source=escape_markdown(model.source))
        lines.append(f"- {read} {say(note)}" if has(note) else f"- {read}")
    st.markdown("\n".join(lines))
