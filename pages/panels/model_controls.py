"""Which language model reads the sentence, which of its layers is looked at, and what the model is."""

import streamlit as st

from attention_core.learned.grammar import known_words
from attention_core.learned.language.recipes import RECIPES
from attention_core.learned.language.shipped import read_figures, shipped_names
from pages.panels.setup_controls import mirror_field, show_refusal, try_change
from pages.session.fragments import page_part
from pages.session.view import ScreenState
from pages.setup.setup import Setup, layer_of, model_of
from pages.site.words import say


def show_model_controls(setup: Setup) -> None:
    """The model, and what it learned from; nothing where no model reads the sentence."""
    name = model_of(setup)
    if name is None:
        return
    show_model_choice(name)
    st.caption(describe_model(name))


def show_model_choice(name: str) -> None:
    """Which of the models of a language reads."""
    language = RECIPES[name].language
    names = [each for each in shipped_names() if RECIPES[each].language == language]

    def choose_model() -> None:
        try_change("model", model=st.session_state["c_model"])

    mirror_field("c_model", "model", name)
    st.selectbox(
        say("control.model"),
        names,
        format_func=name_model,
        key="c_model",
        on_change=choose_model,
        help=say("help.model"),
    )
    show_refusal("model")


def layer_dependencies(screen: ScreenState) -> tuple[object, ...]:
    """The model and its layer."""
    return (model_of(screen.setup), layer_of(screen.setup))


@page_part(layer_dependencies)
def show_layer_choice(screen: ScreenState) -> None:
    """Which layer of a model is looked at. A part of its own: nothing else that goes in is drawn anew with it."""
    name = model_of(screen.setup)
    if name is None:
        return
    layers = len(RECIPES[name].choices().layers)

    def choose_layer() -> None:
        try_change("layer", layer=st.session_state["c_layer"])

    mirror_field("c_layer", "layer", layer_of(screen.setup))
    st.segmented_control(
        say("control.layer"),
        list(range(1, layers + 1)),
        key="c_layer",
        on_change=choose_layer,
        required=True,
        help=say("help.layer"),
    )
    show_refusal("layer")


def name_model(name: str) -> str:
    """What a model is called: what it was trained for, and whether it sees what comes later."""
    recipe = RECIPES[name]
    form = "decoder" if recipe.causal else "encoder"
    return say("model.name", kind=say(f"model.kind.{recipe.kind}"), form=say(f"model.form.{form}"))


def describe_model(name: str) -> str:
    """What a model is, and no more: learned here, from so many sentences of a grammar, knowing so many words."""
    words = len(known_words(RECIPES[name].language))
    return say("model.about", texts=f"{read_figures()[name].texts:,}", words=f"{words:,}")
