"""The panels of a language model: their records, the open one, and the part of the page that draws it."""

from importlib import import_module

import streamlit as st

from attention_core.learned.language.batches import START
from pages.panels.model import Panel
from pages.panels.model_guess import tell_sign
from pages.panels.model_look import LOOK_KEY
from pages.panels.model_rail import words_of_model
from pages.panels.second_sentence import second_words_of
from pages.panels.setup_controls import field_control
from pages.runs.cache import inputs_of
from pages.session.fragments import page_part, select_and_redraw
from pages.session.labels import current_palette
from pages.session.view import ScreenState
from pages.setup.resolve import resolve_run
from pages.setup.setup import PANEL_NAMES, Setup
from pages.site.words import say, strip_markup

RECORDS: dict[str, Panel] = {name: import_module(f"pages.panels.model.{name}").PANEL for name in PANEL_NAMES}
PANELS = dict(sorted(RECORDS.items(), key=lambda each: each[1].place))  # by name, in the order of their tabs
FIRST_PANEL = next(iter(PANELS))


def open_panel(screen: ScreenState) -> str | None:
    """The name of the open panel; None if no language model reads the sentence."""
    return None if words_of_model(screen) is None else screen.setup.view.panel or FIRST_PANEL


@page_part(lambda screen: (open_panel(screen),))
def show_panel_choice(screen: ScreenState) -> None:
    """Shows the tabs of the panels; returns early if no language model reads the sentence."""
    panel = open_panel(screen)
    if panel is None:
        return

    def choose_panel(chosen: str | None) -> None:
        select_and_redraw(panel=None if chosen == FIRST_PANEL else chosen)

    control = field_control("panel", panel, choose_panel, option_text=lambda name: say(f"model.panel.{name}"))
    control.draw(st.segmented_control, list(PANELS), required=True, help=say("help.panel"))


def panel_dependencies(screen: ScreenState) -> tuple[object, ...]:
    """The open panel, its run, the selected word, the opened number, the colours, and the Setup fields in
    Panel.depends_on.
    """
    name = open_panel(screen)
    if name is None:
        return ()
    panel = PANELS[name]
    run = panel.run_key(screen) if panel.run_key else screen.setup.run
    declared = tuple(screen.setup.value_of(field) for field in panel.depends_on)
    word = (screen.selection.batch, screen.selection.query)
    return (name, run, word, declared, st.session_state.get(LOOK_KEY), current_palette().ground)


@page_part(panel_dependencies)
def show_panel(screen: ScreenState) -> None:
    """Draws the open panel, if a language model reads the sentence."""
    name = open_panel(screen)
    if name is not None:
        PANELS[name].draw(screen)


def tell_run_guess(setup: Setup) -> str:
    """The warning that the model guesses, for each sentence of a run that is unlike its training sentences, as plain
    text for files and the stage; "" if no language model is used, or if it does not guess.
    """
    if resolve_run(setup.run).model is None:
        return ""
    inputs = inputs_of(setup)
    own = [each.words for each in inputs.batch] or [inputs.queries]
    sentences = [words for words in (*own, second_words_of(setup)) if words[:1] == (START,)]
    predicts_words = PANELS[setup.view.panel or FIRST_PANEL].predicts_words
    signs = dict.fromkeys(tell_sign(setup, words, predicts_words) for words in sentences)
    return strip_markup(" ".join(filter(None, signs)))
