"""The encoder's lesson, drawer "sides": what does a model know that sees one side alone?"""

from dataclasses import replace

import streamlit as st

from attention_core.learned.language.reading import read_tokens
from attention_core.learned.language.readout import sum_model
from attention_core.learned.language.shipped import other_form
from attention_core.record.number_text import format_percent
from attention_core.transformer.stack import UNEMBEDDING
from pages.export.page_links import link_to_workbench
from pages.lessons.sentences import show_sentence
from pages.panels.word_shares import show_word_shares
from pages.runs.cache import inputs_of
from pages.runs.compute import sentences_of
from pages.runs.model_runs import model_vocabulary
from pages.setup.setup import Setup
from pages.site.words import escape_markdown, say

DECODERS = {"model_en": "model_en_decoder", "model_zh": "model_zh_decoder"}


def show_both_sides(setup: Setup) -> None:
    """Shows the likeliest words at the hidden place: for the encoder, and for the decoder, which reads up to there.

    setup: the sentence with a hidden word, which is looked at."""
    words, at = inputs_of(setup).queries, setup.token
    kind = sentences_of(setup)
    decoder = other_form(kind.model)
    left = words[:at]
    right = words[len(left) + 1 :]
    seen = {
        "encoder": likeliest(kind.model, kind.read(words), at),
        "decoder": likeliest(decoder, read_tokens(decoder, left, {}), len(left) - 1),
    }
    show_sentence(
        "lessons.encoder.sides",
        left=escape_markdown(kind.spell(left) or "…"),
        right=escape_markdown(kind.spell(right) or "…"),
        **{name: escape_markdown(shares[0][0]) for name, shares in seen.items()},
        **{f"{name}_share": format_percent(shares[0][1]) for name, shares in seen.items()},
    )
    with st.container(horizontal=True, gap="large"):
        for name, shares in seen.items():
            with st.container(width=380):
                st.markdown(f"**{say(f'lessons.encoder.{name}')}**")
                show_word_shares(shares, f"encoder_sides_{name}")
    example = DECODERS[setup.example]
    door = Setup(example=example)
    if len(left) > 1:  # the sign that each text begins with is no word
        door = replace(door, text=kind.spell(left), token=len(left) - 1)
    link_to_workbench(door, "sides", say("lessons.encoder.sides_door"))


def likeliest(name: str, tokens: tuple[str, ...], at: int) -> list[tuple[str, float]]:
    """The words that a model finds likeliest at a place, each with its probability."""
    shares, numbers = sum_model(name, tokens)[UNEMBEDDING]["probabilities"][0, at].topk(6)
    vocabulary = model_vocabulary(name)
    return list(zip([vocabulary[number] for number in numbers.tolist()], shares.tolist(), strict=True))
