"""The lesson on cross-attention, drawer "decoder": how does a decoder use it?"""

from dataclasses import replace

import streamlit as st

from attention_core import Trace
from attention_core.comparison.distances import abs_difference
from attention_core.drawing.specifications import PAGE_WIDTH_PX
from attention_core.inputs.matrix_text import to_text
from pages.export.page_links import link_to_workbench
from pages.lessons.cross.drawers.translator import show_translator
from pages.lessons.cross.sequences import ask_itself
from pages.lessons.frame import choose_sight
from pages.lessons.pictures import SMALL_MAP_CELL_PX, make_weights_map, show_side_by_side
from pages.lessons.sentences import format_gap, show_sentence
from pages.panels.head_maps import fact_sentence
from pages.panels.link_controls import pick_place, switch
from pages.runs.cache import inputs_of, trace_for
from pages.runs.compute import spell_tokens
from pages.session.labels import Selection, place_names, selection_of
from pages.setup.setup import Setup
from pages.site.words import say


def show_decoder(asked: Setup) -> None:
    """Shows a decoder that is built by hand, or one that was trained."""
    show_sight = choose_sight("decoding", {"built": show_built_decoder, "trained": show_translator})
    show_sight(asked)


def show_built_decoder(asked: Setup) -> None:
    """Shows how the words so far attend to each other, and how what comes of it asks the other sentence.

    asked: the run of the reader's two sentences."""
    left, right = st.columns(2)
    with left:
        so_far = choose_words_so_far(asked)
    with right:
        causal = switch("causal", True)
    text = spell_tokens(so_far, asked)
    stage_1, stage_2 = make_decoder_stages(replace(asked, text=text), causal)
    own = trace_for(stage_1)
    crossed = with_chance_of_words(trace_for(stage_2), own)
    last = len(so_far) - 1
    selection = replace(selection_of(crossed, stage_2), query=last)
    st.markdown(f"**{fact_sentence(crossed, selection)}**")
    show_stage_maps(own, crossed, selection)
    say_what_later_words_change(asked, causal, own)
    link_to_workbench(stage_2, "decoder")


def choose_words_so_far(asked: Setup) -> tuple[str, ...]:
    """Asks up to which word the sentence is written; at first up to the last but one."""
    words = inputs_of(asked).queries
    names = place_names(trace_for(asked), "T", len(words))
    last_but_one = max(0, len(words) - 2)
    last = pick_place("written", names, last_but_one)
    return tuple(word for place, word in enumerate(words) if place <= last)


def make_decoder_stages(setup: Setup, causal: bool) -> tuple[Setup, Setup]:
    """Makes self-attention of the words so far, with x added, and cross-attention in which the sums of both ask."""
    masks = ("causal",) if causal else ()
    own = replace(ask_itself(setup), masks=masks, wiring=("residual",))
    sums = trace_for(own)["residual"][0]  # (T, D)
    crossed = replace(setup, x=to_text(sums.numpy(), "x"))
    return own, crossed


def with_chance_of_words(crossed: Trace, own: Trace) -> Trace:
    """The second stage, in which those queries are random whose words have random vectors in the first stage."""
    tokens = dict(crossed.chance.tokens)
    tokens["T"] = own.chance.tokens["T"]
    chance = replace(crossed.chance, tokens=tokens)
    return replace(crossed, chance=chance)


def show_stage_maps(own: Trace, crossed: Trace, selection: Selection) -> None:
    """Shows the weights of both stages side by side."""
    pictures = []
    for name, trace in (("stage_1", own), ("stage_2", crossed)):
        title = say(f"lessons.cross.{name}")
        pictures.append(make_weights_map(name, trace, selection, title, PAGE_WIDTH_PX, SMALL_MAP_CELL_PX))
    show_side_by_side(*pictures)


def say_what_later_words_change(asked: Setup, causal: bool, own: Trace) -> None:
    """Says how far what the words so far ask with is from what they ask with in the whole sentence.

    own: the first stage of the words so far."""
    count = own.sizes()["T"]
    if count == len(inputs_of(asked).queries):
        show_sentence("lessons.cross.decoded_whole")
        return
    whole, _ = make_decoder_stages(asked, causal)
    asking_in_whole = trace_for(whole)["residual"][:, :count]  # (B, T, D)
    moved = abs_difference(asking_in_whole, own["residual"]).max().item()
    key = "decoded_causal" if causal else "decoded_free"
    show_sentence(f"lessons.cross.{key}", moved=format_gap(moved))
