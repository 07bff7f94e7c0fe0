"""The lesson on meaning, drawer "conclude": what may be concluded?"""

from attention_core.learned.language.shipped import count_seeds
from attention_core.record.number_text import format_percent
from pages.lessons.meaning.networks import NETWORKS, figures_of, name_network
from pages.lessons.meaning.told_figures import last_of
from pages.lessons.sentences import show_sentence


def show_conclusion(language: str) -> None:
    """Says what the three trainings allow to say, and what not."""
    named, asked = figures_of("B", language), figures_of("C", language)
    show_sentence(
        "lessons.meaning.conclude",
        answered=format_percent(last_of(named.answered)),
        shown=format_percent(last_of(named.shown)),
        without=format_percent(named.changed["off"]),
        asked=format_percent(last_of(asked.shown)),
        asked_without=format_percent(asked.changed["off"]),
        **{f"seeds_{letter}": count_seeds(name_network(letter, language)) for letter in NETWORKS},
    )
