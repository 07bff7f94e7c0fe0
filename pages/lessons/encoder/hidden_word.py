"""The sentence of the encoder's lesson, one word of which is hidden."""

from dataclasses import replace

from attention_core.learned.language.batches import MASK
from pages.panels.link_controls import pick_place, sentence_box
from pages.panels.model_guess import show_guess_sign
from pages.runs.cache import inputs_of
from pages.runs.compute import sentences_of
from pages.setup.setup import Setup

EXAMPLES = ("model_en", "model_zh")
HIDDEN = {"model_en": 3, "model_zh": 4}  # the word that is hidden at first: did, 没; the word behind it tells
MOST_WORDS = 24  # of a sentence


def choose_hidden_word(example: Setup) -> Setup:
    """Asks for a sentence, and which of its words is hidden: the one that is then looked at."""
    typed = sentence_box(example, most=MOST_WORDS)
    show_guess_sign(typed)
    words = inputs_of(typed).queries
    usual = min(HIDDEN[example.example], len(words) - 1)
    at = 1 + pick_place("hidden", words[1:], usual - 1)
    return hide_word(typed, at)


def hide_word(setup: Setup, at: int) -> Setup:
    """The same sentence with the word at a place hidden, and looked at."""
    words = inputs_of(setup).queries
    seen = (*words[:at], MASK, *words[at + 1 :])
    text = sentences_of(setup).spell(seen)
    return replace(setup, text=text, token=at, layer=1)
