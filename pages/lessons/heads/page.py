"""Why many heads? The same matrices as two heads and as one: which animal has which colour."""

from dataclasses import replace

import streamlit as st

from attention_core.comparison.distances import apart
from attention_core.drawing.cell_rows import colour_rows, column_of
from attention_core.record.number_text import fixed
from pages.lessons.frame import code, drawer, lesson, stands_for
from pages.lessons.heads import drawers
from pages.lessons.pictures import heads_shown, rows_shown, show_beside
from pages.lessons.prompts import predict
from pages.panels.head_maps import fact_sentence
from pages.panels.link_controls import choose, pick_example, pick_place, sentence_box
from pages.runs.cache import trace_of
from pages.session.labels import looked_at, place_names, token
from pages.site.words import literal, say

SIDE = 34  # pixels: a cell of a map, so that everything stands on one screen
CHANGES = ("weaker", "same", "stronger")  # what may become of a colour

with lesson("heads") as place:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        two = replace(sentence_box(pick_example("en_colour", "zh_colour", zh="zh_colour")), head=0)
        trace = trace_of(two)
        names = place_names(trace, "T", trace.sizes()["T"])
        runs, colour = {"two": trace, "one": trace_of(replace(two, heads=1))}, trace.labels["D_out"].index("colour")
        moved = apart(runs["one"]["output"], trace["output"])[0, :, colour]
        two = replace(two, token=pick_place("token", names, int(moved.argmax())))
        shown = choose("heads", ("two", "one"))
    colours = {name: float(run["output"][0, two.token, colour]) for name, run in runs.items()}
    smaller = "weaker" if abs(colours["one"]) < abs(colours["two"]) else "stronger"
    change = "same" if fixed(colours["one"]) == fixed(colours["two"]) else smaller
    answers = [say(f"lessons.heads.{name}") for name in CHANGES]
    word = literal(token(trace, "T", two.token))
    asked = say("lessons.heads.ask", word=word)
    known = predict(answers, {CHANGES.index(change)}, asked) or shown == "one"
    seen = replace(two, heads=1) if shown == "one" else two
    run = runs[shown]
    look = looked_at(run, seen)
    told = {name: fixed(number) for name, number in colours.items()}
    came = "same" if change == "same" and shown == "one" else shown
    st.markdown(f"##### {say(f'lessons.heads.came_{came}', fact=fact_sentence(run, look), word=word, **told)}")
    rows = [
        column_of(say("lessons.heads.own"), trace, "x", (0,), colour, "two"),
        column_of(say("lessons.heads.with_two"), trace, "output", (0,), colour, "two"),
        column_of(say("lessons.heads.with_one"), runs["one"], "output", (0,), colour, "one", hidden=not known),
    ]
    hero = rows_shown("hero", rows, names, runs, trace, colour_rows, looked=two.token)
    show_beside(hero, *heads_shown(run, seen, look, SIDE))
    stands_for(seen, place)
    for name in ("bring", "split", "share", "explain"):
        drawer(name, lambda name=name: getattr(drawers, name)(two))
    code(run, ("q", "scores", "weights", "head_outputs", "concat", "output"))
