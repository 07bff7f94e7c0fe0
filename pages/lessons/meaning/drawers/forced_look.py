"""The lesson on meaning, drawer "why": why does one head look at the right word?"""

import streamlit as st

from pages.export.page_links import link_to_workbench
from pages.lessons.meaning.networks import LANGUAGES, NETWORKS, PAIRS, read_last, setup_for_network
from pages.lessons.sentences import show_sentence
from pages.site.words import say


def show_forced_look(language: str) -> None:
    """Says what differs between the three trainings, and opens each network in the workbench."""
    show_sentence("lessons.meaning.why")
    (example,) = [example for example, of in LANGUAGES.items() if of == language]
    with st.container(horizontal=True):
        for letter in NETWORKS:
            one, _ = read_last(letter, language, PAIRS[0])
            setup = setup_for_network(letter, example, one)
            link_to_workbench(setup, f"why_{letter}", say("lessons.meaning.door", network=letter))
