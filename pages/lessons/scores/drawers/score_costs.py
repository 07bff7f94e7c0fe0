"""The lesson on scores, drawer "cost": what does each score cost?"""

from dataclasses import replace

import streamlit as st

from attention_core.record.number_text import format_grouped
from attention_core.variants.cost import count_cost, score_cost
from pages.lessons.scores.score_settings import SCORE_SETTINGS, name_score
from pages.lessons.sentences import show_sentence
from pages.panels.link_controls import slide
from pages.runs.cache import trace_for
from pages.session.labels import Selection
from pages.setup.setup import Setup
from pages.site.words import say

COST_TOKEN_COUNTS = (7, 16, 64, 256, 1024, 4096)
COSTED_WIDTHS = (2, 8, 64, 128, 512)


def show_score_costs(setup: Setup, _: Selection) -> None:
    """Shows multiply-adds, tanh and learned numbers of each score, worked out for any size, counted on this one."""
    left, right = st.columns(2)
    with left:
        tokens = slide("tokens", COST_TOKEN_COUNTS, 64)
    with right:
        width = slide("width", COSTED_WIDTHS, 64)
    rows = [count_score_cost(setup, score, tokens, width) for score in SCORE_SETTINGS]
    st.table(rows, hide_index=True, width="content")
    sizes = trace_for(setup).sizes()
    show_sentence(
        "lessons.scores.cost_says",
        T=sizes["T"],
        H=sizes["H"],
        d_k=sizes["d_k"],
        tokens=format_grouped(tokens),
        width=width,
    )


def count_score_cost(setup: Setup, score: str, tokens: int, width: int) -> dict[str, str]:
    """What a score costs, by the headings of the table."""
    scored = replace(setup, **SCORE_SETTINGS[score])
    counted = count_cost(trace_for(scored)).multiply_adds
    cost = score_cost(score, width, width)
    worked_out = {step: products.total(tokens, tokens) for step, products in cost.products.items()}
    numbers = {
        "counted": sum(counted[step] for step in worked_out),
        "adds": sum(worked_out.values()),
        "tanh": worked_out["scores"] if "hidden" in worked_out else 0,
        "learned": sum(cost.parameters.values()),
    }
    row = {say("lessons.scores.cost_score"): name_score(score)}
    for name, number in numbers.items():
        row[say(f"lessons.scores.cost_{name}")] = f"{number:,}"
    return row
