"""Where is a token? The same words with positions and without, and a dial that says how far a head looks."""

from dataclasses import replace
from functools import partial

import streamlit as st

from attention_core import Trace
from attention_core.drawing.cell_rows import colour_rows, column_of
from attention_core.explanation.facts import attends_at_offset
from attention_core.record.number_text import format_fixed, format_term
from pages.lessons.frame import draw_lesson, drawer, show_lesson_code, show_lesson_run
from pages.lessons.pictures import RunPicture, make_cell_rows, make_head_maps, make_live, show_side_by_side
from pages.lessons.positions.drawers import DRAWERS
from pages.lessons.sentences import list_place_names, quote_token
from pages.panels.head_maps import fact_sentence
from pages.panels.link_controls import choose_option, pick_example, pick_place, sentence_box
from pages.panels.live_choice import find_live_choice, show_live_choice
from pages.panels.live_frames import show_live_goal, tell_live
from pages.runs.cache import trace_for
from pages.session.labels import Selection, selection_of
from pages.session.reveal import are_answers_revealed
from pages.setup.setup import Setup
from pages.site.words import say

POSITIONS_MAP_CELL_PX = 34  # pixels: a cell of a map, so that everything stands on one screen
BUILT_DIAL = -8  # W_q[one, 0] as it was built: head 1 looks at the word before
REACHES = ("−2", "−1.5", "−1", "−0.5", "0", "+0.5", "+1", "+1.5", "+2")  # in words: −1 is the word before
REACH_OF_DIAL = dict(zip(range(-16, 17, 4), REACHES, strict=True))


def turn_dial(built: Setup, dial: int, with_or_without: str) -> Setup:
    """The run at a position of the dial."""
    wiring = () if with_or_without == "with" else ("bare",)
    w_q = None if dial == BUILT_DIAL else f"~3.0={dial}"
    return replace(built, wiring=wiring, w_q=w_q)


def tell_goal(reached: bool) -> str:
    """Says whether every word looks at the word after it."""
    if reached:
        return say("lessons.positions.done")
    answer = say("lessons.positions.answer") if are_answers_revealed() else ""
    return say("lessons.positions.still", answer=answer)


def tell_colour(trace: Trace, selection: Selection) -> str:
    """Says which colour comes out at the word that asks."""
    number = trace["output"][0, selection.query, trace.labels["D_out"].index("colour")]
    return say(
        "lessons.positions.came",
        fact=fact_sentence(trace, selection),
        word=quote_token(trace, "T", selection.query),
        number=format_fixed(float(number)),
    )


def make_colour_rows(trace: Trace, names: list[str], selection: Selection, with_or_without: str) -> RunPicture:
    """Draws each word's own colour, and the one that comes out."""
    colour = trace.labels["D_out"].index("colour")
    after = say(f"lessons.positions.after_{with_or_without}")
    rows = [
        column_of(say("lessons.positions.own"), trace, "x", (0,), colour),
        column_of(after, trace, "output", (0,), colour),
    ]
    return make_cell_rows("hero", rows, names, {"": trace}, trace, colour_rows, looked=selection.query)


with draw_lesson("positions") as place:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        built = sentence_box(pick_example("en_colour", "zh_colour", zh="zh_colour"))
        built = replace(built, head=0)
        names = list_place_names(trace_for(built), "T")
        built = replace(built, token=pick_place("token", names, len(names) - 1))
        with_or_without = choose_option("positions", ("with", "without"))
    dial = find_live_choice("dial", tuple(REACH_OF_DIAL), BUILT_DIAL, REACH_OF_DIAL.__getitem__)
    setups = [turn_dial(built, each, with_or_without) for each in dial.options]
    traces = [trace_for(each) for each in setups]
    reached = [attends_at_offset(each, 0, 1) for each in traces]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        with st.container(width=420):
            show_live_choice(dial)
            entries = [say("lessons.positions.entry", number=format_term(each)) for each in dial.options]
            tell_live(dial, "positions_entry", entries, "caption")
        with st.container(width="stretch"):
            show_live_goal(dial, "positions_goal", reached, [tell_goal(each) for each in reached])
    setup, trace = setups[dial.position], traces[dial.position]
    selection = selection_of(trace, setup)
    tell_live(dial, "positions_fact", [tell_colour(each, selection) for each in traces], "heading")
    heroes = [make_colour_rows(each, names, selection, with_or_without) for each in traces]
    shown = [make_live(dial, heroes, say("lesson.rows"))]
    of_each_dial = [
        make_head_maps(of, each, selection, POSITIONS_MAP_CELL_PX) for of, each in zip(traces, setups, strict=True)
    ]
    for number, maps in enumerate(zip(*of_each_dial, strict=True), start=1):
        shown.append(make_live(dial, maps, say("place.head", number=number)))
    show_side_by_side(*shown)
    show_lesson_run(setup, place)
    for name, show in DRAWERS.items():
        drawer(name, partial(show, built))
    show_lesson_code(trace, ("q", "scores", "weights", "head_outputs", "output"))
