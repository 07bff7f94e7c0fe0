"""Draws the lesson on cross-attention from the words of one sentence to the words of another, in both directions."""

import streamlit as st

from attention_core import Trace
from attention_core.explanation.facts import transpose_gap, weight_sums
from attention_core.record.number_text import format_fixed
from pages.lessons.cross.drawers import LESSON, join_named_sums, swap_sequences
from pages.lessons.frame import draw_drawer, draw_lesson, show_lesson_code, show_lesson_run
from pages.lessons.prompts import predict
from pages.lessons.sentences import list_place_names, quote_token, show_sentence
from pages.lessons.word_threads import Way, show_threads
from pages.panels.fact import show_fact
from pages.panels.gloss import show_gloss
from pages.panels.head_maps import fact_sentence
from pages.panels.lesson_choices import get_choice, store_choice
from pages.panels.link_controls import make_place_reader, sentence_box
from pages.runs.cache import trace_for
from pages.session.labels import selection_of
from pages.setup.link_values import make_member_reader
from pages.setup.setup import Setup, make_setup
from pages.site.words import say

DIRECTIONS = ("forward", "backward")  # "forward": the queries are the first line's words; "backward": the second line's
ASKING = {"forward": "token", "backward": "word"}  # direction -> link parameter with the index of the selected query
GUESSES = {"forward": "guess", "backward": "answer"}  # direction -> link parameter of the visitor's guess


def choose_way(direction: str, setup: Setup) -> tuple[Setup, Way]:
    """Returns the Setup of a direction with its selected query, and the Way, the direction's data for the picture."""
    trace = trace_for(setup)
    read = make_place_reader(trace.sizes()["T"])
    word = get_choice(ASKING[direction], None, read)
    if word is not None and word < trace.sizes()["T"]:
        setup = setup.with_fields(token=word)
    asks = DIRECTIONS.index(direction)
    return setup, Way(direction, trace, asks, selection_of(trace, setup))


def take_word(way: int, word: int) -> None:
    """Selects a clicked word of the picture as the query, in the direction in which this word's sentence has the
    queries.

    way: the index of the direction. word: the index of the word.
    """
    store_choice("direction", None if way == 0 else DIRECTIONS[way])
    store_choice(ASKING[DIRECTIONS[way]], word)


def ask_what_is_given(trace: Trace, back: Trace, name: str) -> bool:
    """Asks the visitor to guess to what the weights sum when the word with the least attention is the query.

    Returns whether the answer may be shown. trace: the run in which the word is a key. back: the run of the opposite
    direction. name: the link parameter with the guess.
    """
    got = weight_sums(trace, "T")
    least = min(range(len(got)), key=got.__getitem__)
    given = format_fixed(weight_sums(back, "S")[least])
    answers = list(dict.fromkeys([format_fixed(got[least]), given, format_fixed(len(got))]))
    word = quote_token(trace, "S", least)
    question = say("lessons.cross.given", word=word, got=format_fixed(got[least]))
    return predict(answers, {answers.index(given)}, question, name)


with draw_lesson(LESSON) as place:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        forward = sentence_box(sentence_box(make_setup(example="cross_en_zh")), "context", "context_text")
    direction = get_choice("direction", DIRECTIONS[0], make_member_reader(DIRECTIONS))
    setups, ways = zip(*map(choose_way, DIRECTIONS, (forward, swap_sequences(forward))), strict=True)
    shown = DIRECTIONS.index(direction)
    asked, way = setups[shown], ways[shown]
    (back,) = (each for each in ways if each is not way)
    show_fact(fact_sentence(way.trace, way.selection))
    lines = (say("lessons.cross.control.text"), say("lessons.cross.control.context"))
    show_threads("hero", ways, shown, lines, take_word)
    show_gloss((*way.trace.labels["T"], *way.trace.labels["S"]))
    if ask_what_is_given(way.trace, back.trace, GUESSES[direction]):
        scores, weights = (transpose_gap(way.trace, back.trace, step) for step in ("scores", "weights"))
        gets = join_named_sums(weight_sums(way.trace, "T"), list_place_names(way.trace, "S"))
        show_sentence("lessons.cross.turned", gets=gets, scores=format_fixed(scores), weights=format_fixed(weights))
    show_lesson_run(asked, place)
    writing = asked if direction == "forward" else forward  # the Setup with English queries and Chinese keys
    for name in LESSON.drawers:
        draw_drawer(LESSON, name, writing if name == "context_vector" else asked)
    show_lesson_code(LESSON, way.trace)
