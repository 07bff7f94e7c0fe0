"""Shows the controls of the language model that reads the sentence: the model, its layer, and a table of measures.

The table has measures of all models on held-out sentences.
"""

import streamlit as st

from attention_core.learned.grammar import known_words
from attention_core.learned.language.recipes import KINDS, RECIPES
from attention_core.learned.language.shipped import (
    ASKED_MODEL_GOALS,
    count_seeds,
    find_missed,
    read_figures,
    shipped_names,
)
from attention_core.record.number_text import format_percent, format_percent_tenths
from pages.panels.setup_controls import field_control, try_made_change
from pages.runs.model_runs import model_of
from pages.runs.recorded_layer import change_layer
from pages.session.fragments import page_part
from pages.session.labels import share_in_tenths
from pages.session.opened_drawers import show_drawer
from pages.session.view import ScreenState
from pages.setup.resolve import resolve_run
from pages.setup.setup import Setup
from pages.site.words import escape_markdown, say

MOST_BUTTONS = 12  # most layers shown as buttons side by side; more layers are shown as a list
LAYER_WIDTH_PX = 112
MODEL_WIDTH_PX = 260  # width in pixels of the select box of the models, with its label


def show_model_choice(setup: Setup) -> None:
    """Shows the select box of the language models of the sentence's language; its help says how they were trained."""
    name = resolve_run(setup.run).model
    language = RECIPES[name].language
    names = [each for each in shipped_names() if RECIPES[each].language == language]
    words = len(known_words(RECIPES[name].language))
    about = say("model.about", texts=f"{read_figures()[name].texts:,}", words=f"{words:,}")
    control = field_control("model", name, option_text=name_model)
    control.draw(st.selectbox, names, help=f"{about} {say('help.model')}", width=MODEL_WIDTH_PX)


def show_layer_choice(setup: Setup) -> None:
    """Shows the choice of the layer of the model that reads the sentence; shows nothing without such a model."""
    model = model_of(setup.run)
    if model is None:
        return
    layers = range(1, len(model.heads) + 1)

    def take(layer: int) -> None:
        try_made_change("layer", lambda: change_layer(setup.run, layer))

    control = field_control("layer", resolve_run(setup.run).layer, take, option_text=str)
    if len(layers) > MOST_BUTTONS:
        control.draw(st.selectbox, layers, help=say("help.layer"), width=LAYER_WIDTH_PX)
    else:
        control.draw(st.segmented_control, layers, required=True, help=say("help.layer"))


def name_model(name: str) -> str:
    """Returns the name that the page shows for a model: its kind, and whether it is a decoder or an encoder."""
    recipe = RECIPES[name]
    form = "decoder" if recipe.causal else "encoder"
    return say("model.name", kind=say(f"model.kind.{recipe.kind}"), form=say(f"model.form.{form}"))


# ---- the measured figures of all models of the language, side by side ------------------------------------------------
FIGURES_DRAWER_KEY = "model_figures"
FIGURES = ("one_fits", "two_fit", "pairs", "answered", "across", "frames")


def figures_dependencies(screen: ScreenState) -> tuple[object, ...]:
    """Returns the values on which the accordion of measures depends: the model, and whether the accordion is open."""
    return (resolve_run(screen.setup.run).model, bool(st.session_state.get(FIGURES_DRAWER_KEY)))


@page_part(figures_dependencies)
def show_model_figures(screen: ScreenState) -> None:
    """Shows an accordion with the measures of all models of the language, if a model reads the sentence."""
    name = resolve_run(screen.setup.run).model
    if name is not None:
        title = say("figures.title")
        show_drawer(title, ":material/monitoring:", FIGURES_DRAWER_KEY, lambda: show_figures(RECIPES[name].language))


def show_figures(language: str) -> None:
    """Shows the measures of all models of a language as a table, and for what each kind of model was trained."""
    names = [name for name in shipped_names() if RECIPES[name].language == language]
    kinds = dict.fromkeys(RECIPES[name].kind for name in names)
    st.markdown("\n".join(f"- {say(f'figures.kind.{kind}')}" for kind in KINDS if kind in kinds))
    table = {say("figures.column.model"): [name_model(name) for name in names]}
    for figure in FIGURES:
        table[say(f"figures.column.{figure}")] = [tell_figure(name, figure) for name in names]
    st.table(table, hide_index=True, width="content")
    st.caption(say("figures.how", trained=describe_trainings(names)))
    st.caption(describe_wanted(names))


def tell_figure(name: str, figure: str) -> str:
    """Returns a measure of a model as text for a table cell; a dash if the model has no such measure.

    figure: the name of the measure.
    """
    figures = read_figures()[name].figures
    if figure not in figures:
        return "–"
    return escape_markdown(share_in_tenths(figures[figure]))


def describe_wanted(names: list[str]) -> str:
    """Returns the text about the target values of the models that answer questions, and about measures below their
    target.
    """
    wanted = {f"least_{figure}": format_percent(least) for figure, least in ASKED_MODEL_GOALS.items()}
    missed = [describe_missed(name, figure) for name in names for figure in find_missed(name)]
    told = say("figures.missed", missed=say("fact.comma").join(missed)) if missed else say("figures.all_met")
    return say("figures.wanted", told=told, **wanted)


def describe_missed(name: str, figure: str) -> str:
    """Returns the text about a missed target: the model, the measure, and its value.

    figure: the name of the measure.
    """
    return say(
        "figures.missed_one",
        name=name_model(name),
        figure=say(f"figures.column.{figure}"),
        percent=format_percent_tenths(find_missed(name)[figure]),
    )


def describe_trainings(names: list[str]) -> str:
    """Returns a text about the trainings of each model: the number of seeds, and the seed of the shown network."""
    told = []
    for name in names:
        row = read_figures()[name]
        told.append(say("figures.trained", name=name_model(name), count=count_seeds(name), seed=row.seed))
    return say("fact.comma").join(told)
