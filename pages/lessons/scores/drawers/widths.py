"""The lesson on scores, drawer "widths": may queries and keys have different widths?"""

from collections.abc import Mapping
from dataclasses import replace

import streamlit as st

from attention_core import Trace
from attention_core.drawing.bar_grid import bar_columns
from attention_core.drawing.bars import row_of
from attention_core.inputs.matrix_text import to_text
from attention_core.record.errors import AttentionError
from pages.export.page_links import link_to_workbench
from pages.lessons.pictures import show_bar_rows
from pages.lessons.scores.drawers.w_a import choose_w_a
from pages.lessons.scores.score_settings import SCORE_SETTINGS, describe_row, name_score
from pages.lessons.sentences import join_with_commas, list_place_labels
from pages.panels.link_controls import choose_option, slide
from pages.runs.cache import inputs_of, trace_for
from pages.session.labels import Selection, name_token, selection_of
from pages.setup.setup import Setup
from pages.site.words import say, say_refusal

SCORED_HEAD_WIDTHS = (1, 2, 3, 4)
HANDMADE_LAYER_UNITS = ("2,0", "0,2", "0,0", "0,0")  # of the layer, for up to four numbers of q or of k
HANDMADE_LAYER_BIASES = ("-3", "-3", "-3", "-3")


def show_widths(setup: Setup, _: Selection) -> None:
    """Shows queries and keys of different widths: which scores take them, and what another W_a does."""
    left, middle, right = st.columns(3)
    with left:
        d_q = slide("d_q", SCORED_HEAD_WIDTHS, 4)
    with middle:
        d_k = slide("d_k", SCORED_HEAD_WIDTHS, 3)
    with right:
        kind = choose_option("w_a", ("identity", "crossed", "own"))
    narrow = narrow_to_widths(setup, d_q, d_k)
    setups = {score: replace(narrow, score=score) for score in SCORE_SETTINGS}
    setups["general"] = replace(setups["general"], w_a=choose_w_a(kind, d_q, d_k))
    setups["additive"] = replace(setups["additive"], **additive_layer_for(d_q, d_k))
    runs = run_scores_that_fit(setups)
    if "general" in runs:
        general = runs["general"]
        sentence = describe_row(general, selection_of(general, narrow), "general")
        st.markdown(f"**{sentence}**")
    show_score_rows("widths", runs, narrow)
    if "general" in runs:
        link_to_workbench(setups["general"], "widths")


def narrow_to_widths(setup: Setup, d_q: int, d_k: int) -> Setup:
    """One head that keeps the first columns of W_q and of W_k."""
    matrices = inputs_of(setup).matrices
    w_q = matrices["w_q"][:, :d_q]  # (D, d_q)
    w_k = matrices["w_k"][:, :d_k]  # (D, d_k)
    return replace(
        setup,
        heads=1,
        head=None,
        w_q=to_text(w_q),
        w_k=to_text(w_k),
    )


def additive_layer_for(d_q: int, d_k: int) -> Mapping[str, str]:
    """The additive score's layer for these widths."""
    return {
        "w_aq": ";".join(HANDMADE_LAYER_UNITS[:d_q]),
        "w_ak": ";".join(HANDMADE_LAYER_UNITS[:d_k]),
        "v_a": "4,4",
        "b_q": ",".join(HANDMADE_LAYER_BIASES[:d_q]),
    }


def run_scores_that_fit(setups: Mapping[str, Setup]) -> dict[str, Trace]:
    """The runs by score; says why there is none of the others."""
    runs = {}
    scores_by_refusal = {}
    for score, setup in setups.items():
        try:
            runs[score] = trace_for(setup)
        except AttentionError as refusal:
            refused = scores_by_refusal.setdefault(say_refusal(refusal), [])
            refused.append(name_score(score))
    for sentence, refused in scores_by_refusal.items():
        scores = join_with_commas(refused)
        st.warning(say("lessons.scores.refused", scores=scores, why=sentence), icon=":material/block:")
    return runs


def show_score_rows(name: str, runs: Mapping[str, Trace], setup: Setup) -> None:
    """Shows one word's rows under several scores."""
    first = next(iter(runs.values()))
    query = selection_of(first, setup).query
    rows = []
    for score, run in runs.items():
        row = row_of(name_score(score), run, "weights", (0, 0, query), score)
        rows.append(row)
    names = list_place_labels(first, "S")
    alt = say("lessons.scores.alt", word=name_token(first, "T", query))
    show_bar_rows(name, rows, names, runs, first, alt, made=bar_columns)
