"""How do we score a match? The row of one word under five scores, side by side."""

from dataclasses import replace

import streamlit as st

from attention_core.drawing.bar_grid import bar_columns
from attention_core.drawing.bars import row_of
from attention_core.explanation.facts import row_fact, surest
from pages.lessons.frame import code, drawer, lesson, stands_for
from pages.lessons.pictures import opened_in, show
from pages.lessons.prompts import predict
from pages.lessons.scores import drawers
from pages.panels.head_maps import fact_sentence
from pages.panels.link_controls import choose, option, pick_example, pick_place, sentence_box
from pages.runs.cache import trace_of
from pages.session.labels import looked_at, palette, place_names, words_for
from pages.site.words import say

with lesson("scores") as place:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        setup = sentence_box(pick_example("en_it", "zh_ta", zh="zh_ta"))
        trace = trace_of(setup)
        names = place_names(trace, "T", trace.sizes()["T"])
        look = looked_at(trace, setup)
        setup = replace(setup, token=pick_place("token", names, look.query))
        look = looked_at(trace, setup)
    setups = {score: replace(setup, head=look.head, **drawers.SCORED[score]) for score in drawers.SCORED}
    runs = {score: trace_of(each) for score, each in setups.items()}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        score = choose("score", tuple(drawers.SCORED), "scaled_dot")
        facts = [row_fact(run, look.head, look.query) for run in runs.values()]
        known = predict([option("score")(name) for name in drawers.SCORED], surest(facts))
    told = fact_sentence(runs[score], look)
    st.markdown(f"##### {say('lessons.scores.by', score=option('score')(score), fact=told)}")
    rows = [
        row_of(
            f"{option('score')(name)}\n{say(f'lessons.scores.formula_{name}')}",
            run,
            "weights",
            (0, look.head, look.query),
            name,
            hidden=not (known or name == score),
        )
        for name, run in runs.items()
    ]
    chosen = [*runs].index(score)
    picture = bar_columns(rows, names, words_for(trace), palette(), opened_in("hero", runs), outlined=chosen)
    show("hero", picture, runs, say("lessons.scores.alt", word=names[look.query]))
    st.markdown(drawers.remark(runs[score], look, score))
    stands_for(setups[score], place)
    for name in ("inside", "widths", "ceiling", "cost"):
        drawer(name, lambda name=name: getattr(drawers, name)(setup, look))
    code(runs[score], ("hidden", "scores", "scaled_scores", "weights"))
