"""Prepares the sliders for sampling a language model's next word, and stores the values that the visitor sets."""

from collections.abc import Mapping

from attention_core.record.errors import AttentionError
from pages.session import setup_state
from pages.session.fragments import redraw, select_and_redraw
from pages.setup.model_fields import (
    TOP_KS,
    TOP_PS,
    WHOLE_WORD_CHOICES,
    WORD_TEMPERATURES,
    check_word_choice,
)
from pages.setup.resolve import word_choices_of
from pages.setup.setup import Setup
from pages.site.words import say

WORD_CHOICES = "word_choices"  # name under which the errors of refused sampling settings are stored
NEUTRAL = {"word_temperature": 1.0, "top_p": 1.0}  # sampling setting -> its value without effect, which a link omits


def describe_temperature(setup: Setup) -> dict:
    """Returns the data of the temperature slider for the browser: value, ends and label."""
    value = word_choices_of(setup.view).temperature
    return {"value": value, "ends": WORD_TEMPERATURES, "label": say("block.temperature")}


def describe_cuts(setup: Setup) -> dict:
    """Returns the data of the sliders of top-k and top-p for the browser; the value of top-k is None if all words are
    kept.
    """
    choices = word_choices_of(setup.view)
    return {
        "top_k": {"value": choices.top_k, "ends": TOP_KS, "label": say("words.top_k"), "all": say("words.all")},
        "top_p": {"value": choices.top_p, "ends": TOP_PS, "label": say("words.top_p"), "all": say("words.all")},
    }


def take_word_choices(sent: Mapping) -> None:
    """Stores the sampling settings that the browser sends in the Setup, or refuses values that no control offers.

    sent: the settings by Setup field. None for top-k excludes no words; without a seed the likeliest word is taken.
    """
    try:
        changes = {name: read_choice_sent(name, number) for name, number in sent.items()}
    except AttentionError as error:
        setup_state.workbench().refuse(WORD_CHOICES, error)
        redraw()
    else:
        setup_state.workbench().forget_refusals(WORD_CHOICES)
        select_and_redraw(**changes)


def read_choice_sent(name: str, number: object) -> float | int | None:
    """Checks a sampling setting that the browser sent; returns its value for the Setup, which is None if the setting
    has no effect.
    """
    if number is None and name in WHOLE_WORD_CHOICES:
        return None
    checked = check_word_choice(name, number)
    return None if checked == NEUTRAL.get(name) else checked
