"""What the lesson on meaning tells of its networks: of how many held-out pairs both sentences are right."""

import streamlit as st

from attention_core.learned.language.kept_steps import size_between_steps
from attention_core.learned.language.measures import PAIRS as MEASURED_PAIRS
from attention_core.learned.language.pair_readings import OWN
from attention_core.learned.language.step_figures import StepFigures
from attention_core.record.number_text import format_grouped, format_percent
from pages.lessons.meaning.networks import NETWORKS, figures_of, name_network
from pages.panels.live_choice import LiveChoice
from pages.panels.live_frames import tell_live
from pages.site.words import say

GUESS_BOUNDS = (0.6, 0.2)  # between the answers that may be guessed
ANSWERING = ("B", "C")  # the networks that are asked who is meant


def find_right_guess(language: str) -> int:
    """Finds the number of the answer that is right: how often B's best head shows whom B means."""
    shown = last_of(figures_of("B", language).shown)
    reached = [shown > bound for bound in GUESS_BOUNDS]
    return reached.index(True) if True in reached else len(GUESS_BOUNDS)


def last_of(figures: dict[str, float]) -> float:
    """The figure after the last step."""
    return figures[max(figures, key=int)]


def find_needed_head(figures: StepFigures) -> tuple[int, int]:
    """The head without which the fewest answers are right, of those that do not show it best."""
    answers = {
        (layer, head): share for layer, shares in enumerate(figures.without) for head, share in enumerate(shares)
    }
    del answers[tuple(figures.head)]
    return min(answers, key=answers.get)


def ask_words(language: str) -> str:
    """The question that is asked before B's head is shown."""
    answered = format_percent(last_of(figures_of("B", language).answered))
    return say("lessons.meaning.ask", answered=answered, count=MEASURED_PAIRS)


def tell_steps(choice: LiveChoice, language: str, known: bool) -> None:
    """Tells at each step of a slider how often heads and answers are right."""
    texts = [describe_step(str(step), language, known) for step in choice.options]
    tell_live(choice, "meaning_fact", texts, "heading")


def tell_lacking_steps(choice: LiveChoice, language: str) -> None:
    """Says where the slider has the beginning and the end alone, and why."""
    first, *between, last = choice.options
    if between:
        return
    megabytes = size_between_steps(name_network(letter, language) for letter in NETWORKS)
    st.caption(say("lessons.meaning.lacking", first=first, last=format_grouped(last), size=round(megabytes)))


def describe_step(step: str, language: str, known: bool) -> str:
    """How often heads and answers are right after a step. known: whether B's head may be told."""
    values = {}
    for letter in NETWORKS:
        figures = figures_of(letter, language)
        values[f"shown_{letter}"] = format_percent(figures.shown[step])
        if letter in ANSWERING:
            values[f"answered_{letter}"] = format_percent(figures.answered[step])
    if not known:
        values["shown_B"] = "?"
    return say("lessons.meaning.fact", step=format_grouped(int(step)), **values)


def describe_change(change: str, language: str) -> str:
    """How often answers are right at the end where each network's head is changed."""
    values = {}
    for letter in ANSWERING:
        figures = figures_of(letter, language)
        values[f"before_{letter}"] = format_percent(last_of(figures.answered))
        values[f"after_{letter}"] = format_percent(figures.changed[change])
    return say(f"lessons.meaning.changed_{change}", **values)


def is_changed(change: str) -> bool:
    """Whether the heads do something else than they learned."""
    return change != OWN
