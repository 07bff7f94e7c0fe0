"""The choice of the language model that reads the sentence and of its layer, and the model's description."""

import streamlit as st

from attention_core.learned.grammar import known_words
from attention_core.learned.language.recipes import RECIPES
from attention_core.learned.language.shipped import read_figures, shipped_names
from pages.panels.setup_controls import field_control
from pages.session.fragments import page_part
from pages.session.view import ScreenState
from pages.setup.resolve import resolve_run
from pages.setup.setup import Setup
from pages.site.words import say


def show_model_controls(setup: Setup) -> None:
    """Shows the choice of the model, and its description; returns early if no model reads the sentence."""
    name = resolve_run(setup.run).model
    if name is None:
        return
    show_model_choice(name)
    words = len(known_words(RECIPES[name].language))
    st.caption(say("model.about", texts=f"{read_figures()[name].texts:,}", words=f"{words:,}"))


def show_model_choice(name: str) -> None:
    """Shows the select box of the models of a language."""
    language = RECIPES[name].language
    names = [each for each in shipped_names() if RECIPES[each].language == language]
    field_control("model", name, option_text=name_model).show(st.selectbox, names, help=say("help.model"))


def layer_dependencies(screen: ScreenState) -> tuple[object, ...]:
    """The model and its layer."""
    resolved = resolve_run(screen.setup.run)
    return resolved.model, resolved.layer


@page_part(layer_dependencies)
def show_layer_choice(screen: ScreenState) -> None:
    """Shows the choice of the model's layer, as a separate part so that no other input is redrawn with it."""
    name = resolve_run(screen.setup.run).model
    if name is None:
        return
    layers = len(RECIPES[name].choices().layers)
    control = field_control("layer", resolve_run(screen.setup.run).layer, option_text=str)
    control.show(st.segmented_control, range(1, layers + 1), required=True, help=say("help.layer"))


def name_model(name: str) -> str:
    """The display name of a model: its kind, and whether it is a decoder or an encoder."""
    recipe = RECIPES[name]
    form = "decoder" if recipe.causal else "encoder"
    return say("model.name", kind=say(f"model.kind.{recipe.kind}"), form=say(f"model.form.{form}"))
