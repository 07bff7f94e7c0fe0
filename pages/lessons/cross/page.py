"""Two sentences? One asks the other, and the other way round: the map turned over is not the answer."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import streamlit as st

from attention_core import Trace
from attention_core.drawing.specifications import PAGE_WIDTH_PX
from attention_core.explanation.facts import find_farthest_from_one, transpose_gap, weight_sums
from attention_core.inputs.matrix_edits import transpose_to_chosen
from attention_core.record.number_text import format_fixed
from pages.lessons.cross.drawers import DRAWERS
from pages.lessons.cross.sequences import swap_sequences
from pages.lessons.cross.weight_sums import join_named_sums
from pages.lessons.frame import draw_lesson, drawer, show_lesson_code, show_lesson_run
from pages.lessons.pictures import SMALL_MAP_CELL_PX, equalize_sizes, make_weights_map, show_side_by_side
from pages.lessons.prompts import predict
from pages.lessons.sentences import list_place_names, show_sentence
from pages.panels.fact import show_fact
from pages.panels.head_maps import fact_sentence
from pages.panels.link_controls import choose_option, pick_place, sentence_box
from pages.runs.cache import trace_for
from pages.session.labels import Selection, selection_of
from pages.setup.setup import Setup
from pages.site.words import say

ASKING_CONTROLS = {"forward": "token", "backward": "word"}  # the control for the word that asks
GUESS_CONTROLS = {"forward": "guess", "backward": "error"}  # and that for the row which is wrong


def show_both_maps(trace: Trace, other: Trace, selection: Selection, titles: tuple[str, str]) -> None:
    """Shows the weights of a direction beside those of the other one, equally large."""
    own_title, other_title = titles
    own = make_weights_map("asked", trace, selection, own_title, PAGE_WIDTH_PX, SMALL_MAP_CELL_PX)
    beside = make_weights_map(
        "other",
        other,
        selection,
        other_title,
        PAGE_WIDTH_PX,
        SMALL_MAP_CELL_PX,
        outlined=False,
    )
    show_side_by_side(*equalize_sizes(own, beside))


def show_direction_answer(trace: Trace, back: Trace, row_sums: Sequence[float], has_wrong_row: bool) -> None:
    """Says what the rows of the map turned over sum to, and how far it is from the other direction."""
    key = "turned" if has_wrong_row else "turned_whole"
    names = list_place_names(trace, "S")
    score_gap = transpose_gap(trace, back, "scores")
    weight_gap = transpose_gap(trace, back, "weights")
    show_sentence(
        f"lessons.cross.{key}",
        sums=join_named_sums(row_sums, names),
        scores=format_fixed(score_gap),
        weights=format_fixed(weight_gap),
    )


with draw_lesson("cross") as place:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        forward = sentence_box(sentence_box(Setup(example="cross_en_zh")), "context", "context_text")
        direction = choose_option("direction", ("forward", "backward"))
        backward = swap_sequences(forward)
        asked, other = (forward, backward) if direction == "forward" else (backward, forward)
        trace = trace_for(asked)
        back = trace_for(other)
        names = list_place_names(trace, "T")
        query = pick_place(ASKING_CONTROLS[direction], names, selection_of(trace, asked).query)
    asked = replace(asked, token=query)
    selection = selection_of(trace, asked)
    turned_over = trace_for(replace(other, weights=transpose_to_chosen(trace)))
    row_sums = weight_sums(turned_over, "S")
    wrong_rows = find_farthest_from_one(row_sums)
    answers = list_place_names(trace, "S")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        right_guesses = wrong_rows or {*range(len(answers))}
        known = predict(answers, right_guesses, name=GUESS_CONTROLS[direction])
    show_fact(fact_sentence(trace, selection))
    shown, kind = (back, "back") if known else (turned_over, "wrong")
    titles = (say(f"lessons.cross.title_{direction}"), say(f"lessons.cross.{kind}"))
    with st.container(horizontal=True):
        with st.container(width="content"):
            show_both_maps(trace, shown, selection, titles)
        if known:
            with st.container(width=360):
                show_direction_answer(trace, back, row_sums, bool(wrong_rows))
    show_lesson_run(asked, place)
    writing = asked if direction == "forward" else forward  # English from Chinese
    for name, show in DRAWERS.items():
        setup = writing if name == "context_vector" else asked
        drawer(name, partial(show, setup))
    show_lesson_code(trace, ("q", "k", "scores", "scaled_scores", "weights", "head_outputs", "output"))
