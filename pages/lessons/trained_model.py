"""Shows a language model's loss on held-out texts without one part: mask, scale, positions, or all heads but one."""

import streamlit as st

from attention_core.learned.language.removed_parts import REMOVED_FIGURES, count_words_alike
from attention_core.learned.language.shipped import load_model
from attention_core.record.number_text import format_fixed, format_grouped
from pages.export.page_links import link_to_workbench
from pages.panels.lesson_choices import current_slug
from pages.setup.setup import make_setup
from pages.site.words import current_language, say

MODELS = {"en": "en_asked_decoder", "zh": "zh_asked_decoder"}
EXAMPLES = {"en": "model_en_decoder", "zh": "model_zh_decoder"}
WITHOUT = {
    "mask": {"masks": ()},
    "scale": {"scale": 1.0},
    "positions": {"positions": ()},
}  # part of the model -> the Setup fields that remove this part


def show_without(part: str) -> None:
    """Shows the model's cross-entropy as trained and without a part (such as the mask); links to a layer without it."""
    figures = REMOVED_FIGURES.rows[MODELS[current_language()]]
    nats = {"whole": figures.whole, "without": getattr(figures, part)}
    st.divider()
    tell_nats(nats, figures.words)
    setup = make_setup(example=EXAMPLES[current_language()], **WITHOUT[part])
    link_to_workbench(setup, "trained", say("lesson.trained_door"))


def show_one_head() -> None:
    """Shows the model's cross-entropy with only one head per layer: with the best head, and with the worst."""
    figures = REMOVED_FIGURES.rows[MODELS[current_language()]]
    st.divider()
    tell_nats({"whole": figures.whole, "least": min(figures.heads), "most": max(figures.heads)}, figures.words)


def tell_nats(nats: dict[str, float], count: int) -> None:
    """Shows cross-entropies in nats per word, and their perplexities.

    nats: placeholder -> nats per word. count: the number of measured words.
    """
    values = {}
    for name, each in nats.items():
        values[name] = format_fixed(each)
        values[f"{name}_alike"] = format_grouped(count_words_alike(each))
    st.markdown(say(f"lessons.{current_slug()}.trained", count=format_grouped(count), **values) + tell_blind(nats))


def tell_blind(nats: dict[str, float]) -> str:
    """Returns a sentence that says a model guesses worse than at random, if a perplexity exceeds the vocabulary's size;
    else "".

    nats: placeholder -> nats per word.
    """
    words = load_model(MODELS[current_language()]).shape.words
    if max(map(count_words_alike, nats.values())) <= words:
        return ""
    return say("lesson.worse_than_blind", words=format_grouped(words))
