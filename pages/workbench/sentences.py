"""The choice of the sentence of a batch that is on the screen."""

import streamlit as st

from attention_core.inputs.tokenizer import printable_token
from pages.panels.setup_controls import field_control
from pages.runs.cache import cached_batch_difference
from pages.runs.compute import spell_tokens
from pages.session.fragments import select_and_redraw
from pages.session.view import ScreenState
from pages.site.words import escape_markdown, say

MAX_SENTENCE_CHARS = 16  # characters of a sentence in its label


def batch_dependencies(screen: ScreenState) -> tuple[object, ...]:
    """Returns the run and the selected sentence; () if there is only one sentence."""
    if screen.trace.sizes()["B"] == 1:
        return ()
    return (screen.setup.run, screen.selection.batch)


def show_sentences(screen: ScreenState) -> None:
    """Shows the choice of a sentence of the batch, and how far its run differs from that sentence computed alone."""
    batch = screen.inputs.batch
    count = screen.trace.sizes()["B"]
    if count == 1:
        return

    def choose_sentence(chosen: int | None) -> None:
        number = chosen or 0
        cell = find_cell_of_sentence(screen, number)
        select_and_redraw(sentence=number or None, cell=cell, token=None, head=None)

    def name_sentence(number: int) -> str:
        if not batch:
            return say("batch.sequence", number=number + 1)
        text = spell_tokens(batch[number].words, screen.setup.run)
        short_text = shorten_sentence(printable_token(text))
        return say("batch.sentence", number=number + 1, words=escape_markdown(short_text))

    control = field_control(
        "sentence", screen.selection.batch, choose_sentence, label="batch.picker", option_text=name_sentence
    )
    control.draw(st.segmented_control, range(count), required=True, label_visibility="collapsed")
    if not batch:
        return
    _, difference = cached_batch_difference(screen.setup.run, screen.trace)
    if difference:
        st.caption(say("batch.alone", figure=f"{difference:.0e}"))
    else:
        st.caption(say("batch.alone_exact"))


def find_cell_of_sentence(screen: ScreenState, number: int) -> tuple[int, ...] | None:
    """Returns the index of the opened cell with another sentence, if its step has a batch axis; None if no cell is
    open.
    """
    cell = screen.setup.view.cell
    if cell is None:
        return None
    dims = screen.trace.step(screen.setup.view.step).dims
    return (number, *cell[1:]) if dims[0] == "B" else cell


def shorten_sentence(text: str) -> str:
    """Returns a sentence cut to MAX_SENTENCE_CHARS characters."""
    if len(text) <= MAX_SENTENCE_CHARS:
        return text
    return text[: MAX_SENTENCE_CHARS - 1] + "…"
