"""How do we score a match? The row of one word under five scores, side by side."""

from dataclasses import replace

import streamlit as st

from attention_core.drawing.bar_grid import bar_columns
from attention_core.drawing.bars import row_of
from attention_core.explanation.facts import find_surest_rows, row_fact
from pages.lessons.frame import draw_lesson, drawer, show_lesson_code, show_lesson_run
from pages.lessons.pictures import get_opened_cell, show_picture
from pages.lessons.prompts import predict
from pages.lessons.scores import drawers
from pages.panels.head_maps import fact_sentence
from pages.panels.link_controls import choose_option, option_labels, pick_example, pick_place, sentence_box
from pages.runs.cache import trace_for
from pages.session.labels import current_palette, picture_texts_for, place_names, selection_of
from pages.site.words import say

with draw_lesson("scores") as place:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        setup = sentence_box(pick_example("en_it", "zh_ta", zh="zh_ta"))
        trace = trace_for(setup)
        names = place_names(trace, "T", trace.sizes()["T"])
        look = selection_of(trace, setup)
        setup = replace(setup, token=pick_place("token", names, look.query))
        look = selection_of(trace, setup)
    setups = {
        score: replace(setup, head=look.head, **drawers.SCORE_SETTINGS[score]) for score in drawers.SCORE_SETTINGS
    }
    runs = {score: trace_for(each) for score, each in setups.items()}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        score = choose_option("score", tuple(drawers.SCORE_SETTINGS), "scaled_dot")
        facts = [row_fact(run, look.head, look.query) for run in runs.values()]
        known = predict([option_labels("score")(name) for name in drawers.SCORE_SETTINGS], find_surest_rows(facts))
    told = fact_sentence(runs[score], look)
    st.markdown(f"##### {say('lessons.scores.by', score=option_labels('score')(score), fact=told)}")
    rows = [
        row_of(
            f"{option_labels('score')(name)}\n{say(f'lessons.scores.formula_{name}')}",
            run,
            "weights",
            (0, look.head, look.query),
            name,
            hidden=not (known or name == score),
        )
        for name, run in runs.items()
    ]
    chosen = [*runs].index(score)
    picture = bar_columns(
        rows, names, picture_texts_for(trace), current_palette(), get_opened_cell("hero", runs), outlined=chosen
    )
    show_picture("hero", picture, runs, say("lessons.scores.alt", word=names[look.query]))
    st.markdown(drawers.describe_score(runs[score], look, score))
    show_lesson_run(setups[score], place)
    for name in ("inside", "widths", "ceiling", "cost"):
        drawer(name, lambda name=name: getattr(drawers, f"show_{name}")(setup, look))
    show_lesson_code(runs[score], ("hidden", "scores", "scaled_scores", "weights"))
