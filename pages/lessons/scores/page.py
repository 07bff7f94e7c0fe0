"""Draws the lesson on scores: five score functions of two arrows that can be dragged, then the weights of a word."""

from collections.abc import Mapping

import streamlit as st

from attention_core import Trace
from attention_core.drawing.bars import bar_columns, row_of
from attention_core.explanation.facts import find_surest_rows, row_fact
from attention_core.inputs.matrix_edits import pack_matrix
from attention_core.inputs.matrix_values import MatrixValue
from pages import components
from pages.lessons.frame import draw_drawers, draw_lesson, show_lesson_code, show_lesson_run
from pages.lessons.pictures import show_bar_rows
from pages.lessons.prompts import predict, show_goal
from pages.lessons.scores.drawers import LESSON, SCORE_SETTINGS, USUAL_SCORE, describe_row, describe_score, name_score
from pages.lessons.sentences import list_place_names
from pages.panels.fact import show_fact
from pages.panels.lesson_choices import get_choice, store_choice
from pages.panels.link_controls import choose_option, make_member_reader, pick_example, pick_place, sentence_box
from pages.runs.cache import trace_for
from pages.session.collected import show_moving
from pages.session.labels import current_palette, selection_of
from pages.setup.setup import make_setup
from pages.site.words import get_text_template, say

# ---- a query and a key as two arrows that can be dragged, and their five scores --------------------------------------
MATCH_KEY = "scores_match"
FIRST_ARROWS = {"q": (2.0, 0.5), "k": (1.0, 1.5)}
REACH = 3  # largest absolute value of an arrow's coordinate
UNITS = pack_matrix([[1, 0], [0, 1]])
# the additive score is then 4 times the sum of tanh(q + k)
ONE_SUM = {"w_aq": UNITS, "w_ak": UNITS, "v_a": pack_matrix([[4, 4]])}
MATCH_SETTINGS: Mapping[str, Mapping[str, str | MatrixValue]] = {
    **SCORE_SETTINGS,
    "additive": {"score": "additive", **ONE_SUM},
}
LARGEST_PRODUCT = 2 * REACH * REACH
LIMITS = {"cosine": 1, "dot": LARGEST_PRODUCT, "scaled_dot": LARGEST_PRODUCT, "general": LARGEST_PRODUCT, "additive": 8}
ENDS = {"cosine": "±1", "additive": "±8"}  # score -> the bounds that it never exceeds, as text
Arrow = tuple[float, float]


def show_match() -> None:
    """Shows two arrows, their scores and the goal: a general score above 0 with a dot product below 0."""
    chosen = get_choice("score", USUAL_SCORE, make_member_reader(MATCH_SETTINGS))
    arrows = {role: get_choice(role, first, read_arrow) for role, first in FIRST_ARROWS.items()}
    q, k = (pack_matrix([arrows[role]], role) for role in "qk")
    pair = make_setup(example="one_query", q=q, k=k, v=k)
    runs = {name: trace_for(pair.with_fields(**settings)) for name, settings in MATCH_SETTINGS.items()}
    show_moving(
        components.word_match,
        data=make_match_data(arrows, runs, chosen),
        key=MATCH_KEY,
        given={"reach": REACH, "back": -REACH, "scores": tuple(MATCH_SETTINGS)},
        on_moved=take_arrows,
        on_chosen=lambda name: store_choice("score", None if name == USUAL_SCORE else name),
    )
    is_turned = score_of(runs["general"]) > 0 > score_of(runs["dot"])
    show_goal(is_turned, say("lessons.scores.turned_done"), say("lessons.scores.turned_goal"))


def score_of(trace: Trace) -> float:
    """Returns the only scaled score of a run."""
    return trace["scaled_scores"].item()


def read_arrow(text: str) -> Arrow:
    """Parses a text such as "2,1" as an arrow. Raises ValueError for other texts, and for coordinates beyond REACH."""
    across, up = map(float, text.split(","))
    if not (abs(across) <= REACH and abs(up) <= REACH):
        raise ValueError(text)
    return across, up


def take_arrows(arrows: tuple[Arrow, Arrow]) -> None:
    """Stores both arrows after the visitor has dragged one."""
    for role, arrow in zip("qk", arrows, strict=True):
        arrow = tuple(map(float, arrow))
        store_choice(role, None if arrow == FIRST_ARROWS[role] else arrow)


def make_match_data(arrows: Mapping[str, Arrow], runs: Mapping[str, Trace], chosen: str) -> dict[str, object]:
    """Returns the data of the browser component with the two arrows: arrows, scores, matrices and texts."""
    made = {name: runs["additive"][name].tolist() for name in ONE_SUM}
    made["w_a"] = runs["general"]["w_a"].tolist()
    text = {name: say(f"lessons.scores.match.{name}") for name in ("alt", "q", "k", "turned", "sum", "open")}
    return {
        "q": list(arrows["q"]),
        "k": list(arrows["k"]),
        "scores": {name: score_of(trace) for name, trace in runs.items()},
        "chosen": chosen,
        "made": made,
        "reach": REACH,
        "limits": LIMITS,
        "names": {name: name_score(name) for name in runs},
        "formulas": {name: say(f"lessons.scores.formula_{name}") for name in runs},
        "told": {name: get_text_template(f"lessons.scores.match.told_{name}") for name in runs},
        "palette": vars(current_palette()),
        "text": text | {"ends": ENDS},
    }


with draw_lesson(LESSON) as place:
    show_match()
    st.markdown(say("lessons.scores.row"))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        setup = sentence_box(pick_example("en_it", "zh_ta", zh="zh_ta"))
        trace = trace_for(setup)
        names = list_place_names(trace, "T")
        query = pick_place("token", names, selection_of(trace, setup).query)
        setup = setup.with_fields(token=query)
        selection = selection_of(trace, setup)
    setups = {}
    runs = {}
    for name, settings in SCORE_SETTINGS.items():
        setups[name] = setup.with_fields(head=selection.head, **settings)
        runs[name] = trace_for(setups[name])
    with st.container(horizontal=True, vertical_alignment="bottom"):
        score = choose_option("score", tuple(SCORE_SETTINGS), USUAL_SCORE)
        facts = [row_fact(run, selection.head, selection.query) for run in runs.values()]
        guesses = [name_score(name) for name in SCORE_SETTINGS]
        known = predict(guesses, find_surest_rows(facts))
    show_fact(describe_row(runs[score], selection, score))
    rows = []
    for name, run in runs.items():
        formula = say("lessons.scores.short_additive" if name == "additive" else f"lessons.scores.formula_{name}")
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
    show_bar_rows("hero", rows, names, runs, trace, alt, bar_columns, fits_phone=True, outlined=chosen)
    st.markdown(describe_score(runs[score], selection, score))
    show_lesson_run(setups[score], place)
    draw_drawers(LESSON, setup, selection)
    show_lesson_code(LESSON, runs[score])
