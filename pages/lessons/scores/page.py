"""How do we score a match? Two arrows that are dragged under five scores; then the row of one word."""

from dataclasses import replace

import streamlit as st

from attention_core.drawing.bar_grid import bar_columns
from attention_core.drawing.bars import row_of
from attention_core.explanation.facts import find_surest_rows, row_fact
from pages.lessons.frame import draw_drawers, draw_lesson, show_lesson_code, show_lesson_run
from pages.lessons.pictures import show_bar_rows
from pages.lessons.prompts import predict
from pages.lessons.scores.drawers import LESSON
from pages.lessons.scores.match import show_match
from pages.lessons.scores.score_settings import SCORE_SETTINGS, USUAL_SCORE, describe_row, describe_score, name_score
from pages.lessons.sentences import list_place_names
from pages.panels.fact import show_fact
from pages.panels.link_controls import choose_option, pick_example, pick_place, sentence_box
from pages.runs.cache import trace_for
from pages.session.labels import selection_of
from pages.site.words import say

with draw_lesson(LESSON) as place:
    show_match()
    st.markdown(say("lessons.scores.row"))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        setup = sentence_box(pick_example("en_it", "zh_ta", zh="zh_ta"))
        trace = trace_for(setup)
        names = list_place_names(trace, "T")
        query = pick_place("token", names, selection_of(trace, setup).query)
        setup = replace(setup, token=query)
        selection = selection_of(trace, setup)
    setups = {}
    runs = {}
    for name, settings in SCORE_SETTINGS.items():
        setups[name] = replace(setup, head=selection.head, **settings)
        runs[name] = trace_for(setups[name])
    with st.container(horizontal=True, vertical_alignment="bottom"):
        score = choose_option("score", tuple(SCORE_SETTINGS), USUAL_SCORE)
        facts = [row_fact(run, selection.head, selection.query) for run in runs.values()]
        guesses = [name_score(name) for name in SCORE_SETTINGS]
        known = predict(guesses, find_surest_rows(facts))
    show_fact(describe_row(runs[score], selection, score))
    rows = []
    for name, run in runs.items():
        formula = say(f"lessons.scores.formula_{name}")
        row = row_of(
            f"{name_score(name)}\n{formula}",
            run,
            "weights",
            (0, selection.head, selection.query),
            name,
            hidden=not (known or name == score),
        )
        rows.append(row)
    chosen = [*runs].index(score)
    alt = say("lessons.scores.alt", word=names[selection.query])
    show_bar_rows("hero", rows, names, runs, trace, alt, bar_columns, outlined=chosen)
    st.markdown(describe_score(runs[score], selection, score))
    show_lesson_run(setups[score], place)
    draw_drawers(LESSON, setup, selection)
    show_lesson_code(LESSON, runs[score])
