"""Why many heads? The same matrices as two heads and as one: which animal has which colour."""

from dataclasses import replace

import streamlit as st

from attention_core.comparison.distances import abs_difference
from attention_core.drawing.cell_rows import colour_rows, column_of
from attention_core.record.number_text import format_fixed
from pages.lessons.frame import draw_lesson, drawer, show_lesson_code, show_lesson_run
from pages.lessons.heads import drawers
from pages.lessons.pictures import make_cell_rows, make_head_maps, show_side_by_side
from pages.lessons.prompts import predict
from pages.panels.head_maps import fact_sentence
from pages.panels.link_controls import choose_option, pick_example, pick_place, sentence_box
from pages.runs.cache import trace_for
from pages.session.labels import name_token, place_names, selection_of
from pages.site.words import escape_markdown, say

HEADS_MAP_CELL_PX = 34  # pixels: a cell of a map, so that everything stands on one screen
COLOUR_CHANGES = ("weaker", "same", "stronger")  # what may become of a colour

with draw_lesson("heads") as place:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        two = replace(sentence_box(pick_example("en_colour", "zh_colour", zh="zh_colour")), head=0)
        trace = trace_for(two)
        names = place_names(trace, "T", trace.sizes()["T"])
        runs, colour = {"two": trace, "one": trace_for(replace(two, heads=1))}, trace.labels["D_out"].index("colour")
        moved = abs_difference(runs["one"]["output"], trace["output"])[0, :, colour]
        two = replace(two, token=pick_place("token", names, int(moved.argmax())))
        shown = choose_option("heads", ("two", "one"))
    colours = {name: float(run["output"][0, two.token, colour]) for name, run in runs.items()}
    smaller = "weaker" if abs(colours["one"]) < abs(colours["two"]) else "stronger"
    change = "same" if format_fixed(colours["one"]) == format_fixed(colours["two"]) else smaller
    answers = [say(f"lessons.heads.{name}") for name in COLOUR_CHANGES]
    word = escape_markdown(name_token(trace, "T", two.token))
    asked = say("lessons.heads.ask", word=word)
    known = predict(answers, {COLOUR_CHANGES.index(change)}, asked) or shown == "one"
    seen = replace(two, heads=1) if shown == "one" else two
    run = runs[shown]
    look = selection_of(run, seen)
    told = {name: format_fixed(number) for name, number in colours.items()}
    came = "same" if change == "same" and shown == "one" else shown
    st.markdown(f"##### {say(f'lessons.heads.came_{came}', fact=fact_sentence(run, look), word=word, **told)}")
    rows = [
        column_of(say("lessons.heads.own"), trace, "x", (0,), colour, "two"),
        column_of(say("lessons.heads.with_two"), trace, "output", (0,), colour, "two"),
        column_of(say("lessons.heads.with_one"), runs["one"], "output", (0,), colour, "one", hidden=not known),
    ]
    hero = make_cell_rows("hero", rows, names, runs, trace, colour_rows, looked=two.token)
    show_side_by_side(hero, *make_head_maps(run, seen, look, HEADS_MAP_CELL_PX))
    show_lesson_run(seen, place)
    for name in ("bring", "split", "share", "explain"):
        drawer(name, lambda name=name: getattr(drawers, f"show_{name}")(two))
    show_lesson_code(run, ("q", "scores", "weights", "head_outputs", "concat", "output"))
