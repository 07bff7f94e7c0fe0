"""Draws the main column of the workbench: sentences, picture, effect of the last change, and the opened step."""

import streamlit as st

from attention_core.inputs.tokenizer import printable_token
from attention_core.learned.translation.reading import next_words, translate_words
from attention_core.record.number_text import format_percent
from pages.export.page_links import link_to_drawer
from pages.panels import (
    flow_picture,
    head_maps,
    model_controls,
    model_guess,
    model_next_words,
    model_panels,
    step,
)
from pages.panels.setup_controls import field_control
from pages.runs.cache import cached_batch_difference
from pages.runs.compute import sentences_of, spell_tokens
from pages.runs.made_sentences import TranslatedSentences
from pages.session import setup_state
from pages.session.fragments import page_part, select_and_redraw
from pages.session.view import ScreenState
from pages.setup.resolve import resolve_run
from pages.site.words import escape_markdown, say
from pages.workbench import change, compare, compared_maps, diagnosis, listing

MAX_SENTENCE_CHARS = 16  # most characters of a sentence in the label of its button


def show_picture() -> None:
    """Shows the choice of a batch's sentence, the picture, the effect of the last change, and the opened step."""
    show_batch()
    show_model_notes()
    show_translation()
    flow_picture.show_flow()
    flow_picture.show_look()
    show_run()
    model_panels.show_panel_choice()
    model_panels.show_model_proof()
    model_panels.show_panel()
    model_controls.show_model_figures()
    listing.show_example_listing()
    show_opened_step()


def show_model_notes() -> None:
    """Shows how well a language model knows the sentence, the likeliest next words, and a link to the page that opens
    other models.
    """
    with st.container(horizontal=True, vertical_alignment="center", key="model_notes"):
        model_guess.show_judgement()
        model_next_words.show_next_words()
        with st.container(width="content"):
            show_folder_link()


def folder_link_dependencies(screen: ScreenState) -> tuple[object, ...]:
    """Returns whether a language model reads the sentence; the link to models in folders is shown only then."""
    return (resolve_run(screen.setup.run).model is not None,)


@page_part(folder_link_dependencies)
def show_folder_link(screen: ScreenState) -> None:
    """Shows, beside a language model, the link to the page that opens a model from a folder."""
    if resolve_run(screen.setup.run).model is not None:
        link_to_drawer("maps", "model", {}, say("model.folder"))


def batch_dependencies(screen: ScreenState) -> tuple[object, ...]:
    """Returns the values on which the choice of a sentence depends: the run and the selection; () for one sentence."""
    if screen.trace.sizes()["B"] == 1:
        return ()
    return (screen.setup.run, screen.selection.batch)


@page_part(batch_dependencies)
def show_batch(screen: ScreenState) -> None:
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
    """Returns the index of the opened cell, moved to another sentence if the cell's step has a batch axis.

    Returns None if no cell is open. number: the index of the sentence.
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


def run_dependencies(screen: ScreenState) -> tuple[object, ...]:
    """Returns the values on which the part of the page below the picture depends.

    These are the run, the previous run and the sentence that compares the two, and also the selection if maps or a file
    are shown.
    """
    is_comparison = screen.setup.comparison.run_a is not None
    is_looked_at = is_comparison or screen.shows_difference or screen.inputs.brought is not None
    before = setup_state.setup_before()
    said = change.describe_last_change(screen) if before is not None and not is_comparison else None
    return (screen.setup if is_looked_at else screen.setup.run, screen.setup.comparison.against, before, said)


@page_part(run_dependencies)
def show_run(screen: ScreenState) -> None:
    """Shows the comparison if two runs are compared, else the diagnosis of an uploaded file and a change's effect."""
    is_comparison = screen.setup.comparison.run_a is not None
    if is_comparison:
        compare.show_comparison(screen, compared_maps.make_compared_maps(screen))
        return
    diagnosis.show_diagnosis(screen)
    change.show_last_change(screen)
    if screen.shows_difference:
        head_maps.show_head_pictures(screen, head_maps.make_head_pictures(screen))


@page_part(step.step_dependencies)
def show_opened_step(screen: ScreenState) -> None:
    """Shows the opened step of the run: its pictures, formula, code and table."""
    step.show_step_panel(screen)


# ---- the word that a translator generates from the selected row ------------------------------------------------------
def translation_dependencies(screen: ScreenState) -> tuple[object, ...]:
    """Returns the values on which the translator's next word depends: the run and the selected row; () without one."""
    kind = translated_sentences_of(screen)
    return () if kind is None else (screen.setup.run, screen.selection.query)


def translated_sentences_of(screen: ScreenState) -> TranslatedSentences | None:
    """Returns the sentences of a translator's run; None if the run has no translator, or if its rows are not words."""
    kind = sentences_of(screen.setup.run)
    return kind if isinstance(kind, TranslatedSentences) and "x" not in kind.typed else None


@page_part(translation_dependencies)
def show_translation(screen: ScreenState) -> None:
    """Shows the word that the translator generates at the selected row.

    If the visitor typed another translation, the translator's own translation is shown, too.
    """
    kind = translated_sentences_of(screen)
    if kind is None:
        return
    source, target, row = kind.source_words(), kind.own_words(), screen.selection.query
    word, share = next_words(kind.translator, source, target)[row]
    is_end = word == target[0]
    told = say(
        "translation.ends" if is_end else "translation.writes",
        row=escape_markdown(target[row]),
        word=escape_markdown(word),
        percent=format_percent(share),
    )
    own = translate_words(kind.translator, source)
    if own != target:
        told += " " + say("translation.own", text=escape_markdown(kind.spell(own)))
    st.caption(told)
