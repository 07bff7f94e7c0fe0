"""Shows the lesson on published models: an older and a newer one side by side, which the workbench can open."""

from dataclasses import replace

import streamlit as st

from pages.lessons.frame import draw_drawer, draw_lesson, show_lesson_code, show_lesson_run
from pages.lessons.models.drawers import LESSON
from pages.lessons.models.pairs import (
    MODEL_KEYS,
    MODELS,
    link_to_both,
    list_shown_layers,
    make_side,
    show_followed_sides,
    show_parts,
    tell_pairs,
    tell_sight,
)
from pages.lessons.sentences import list_place_names
from pages.panels.link_controls import pick_example, pick_place, sentence_box
from pages.panels.live_choice import LiveChoice, find_live_choice, show_live_choice
from pages.runs.cache import trace_for
from pages.setup.setup import Setup


def choose_words() -> Setup:
    """Shows the controls for the words and the head; returns the Setup with the chosen ones."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        base = sentence_box(pick_example("model_layer", "zh_model_layer", zh="zh_model_layer"))
        heads = list_place_names(trace_for(base), "H")
        return base.with_fields(head=pick_place("head", heads, 0, width=110))


def find_model(name: str, default: str) -> LiveChoice:
    """Returns a slider that selects a model, from the oldest to the newest.

    name: the name of the choice in the link. default: the key of the model that is selected at first.
    """
    return find_live_choice(name, range(len(MODELS)), MODEL_KEYS.index(default), lambda place: MODELS[place].name)


with draw_lesson(LESSON) as place:
    picture = st.container()
    base = choose_words()  # the controls are below the picture, whose container exists already
    choices = {"old": find_model("old", "gpt_2"), "new": find_model("new", "gpt_oss_120b")}
    layers = [make_side("model", model, model.shown, base) for model in MODELS]
    sides = [replace(layers[choice.position], part=part) for part, choice in choices.items()]
    shown = list_shown_layers(base, layers)
    with picture:
        for column, choice in zip(st.columns(2, gap="medium"), choices.values(), strict=True):
            with column:
                show_live_choice(choice)
        tell_pairs(choices)
        show_followed_sides(choices, layers, shown)
    with st.container(key="waits"):
        st.markdown(tell_sight(*sides))
        link_to_both(*sides, "both")
        show_parts(*(side.model for side in sides))
    show_lesson_run(sides[-1].setup, place)
    draw_drawer(LESSON, "read", layers, shown.told)
    for name in ("one", "cache", "layers"):
        draw_drawer(LESSON, name, *sides)
    show_lesson_code(LESSON, sides[-1].trace)
