"""Lesson 5: what is said of a mask: what the asking word does under it, what it keeps, what is to be built."""

import streamlit as st

from attention_core import Trace
from attention_core.analysis.future_leakage import compare_with_causal
from attention_core.explanation.facts import accident_at, allowed_pairs, count_allowed_pairs, row_fact
from attention_core.record.number_text import format_fixed, format_percent
from pages.lessons.prompts import show_goal
from pages.lessons.sentences import quote_token, show_sentence
from pages.panels.head_maps import fact_sentence
from pages.session.labels import Selection
from pages.session.reveal import are_answers_revealed
from pages.site.words import say


def show_mask_facts(trace: Trace, free: Trace, selection: Selection, preset: str) -> None:
    """Says what the word that asks does now, how many pairs are kept, what the mask moved, and what is to be built."""
    st.markdown(f"##### {fact_sentence(trace, selection)}")
    key = row_fact(free, selection.head, selection.query).keys[0]
    cell = (selection.batch, selection.head, selection.query, key)
    values = {
        "query": quote_token(trace, "T", selection.query),
        "key": quote_token(trace, "S", key),
        "free": format_fixed(free["weights"][cell].item(), 3),
        "now": format_fixed(trace["weights"][cell].item(), 3),
    }
    pairs = count_allowed_pairs(trace)
    percent = format_percent(pairs.share)
    is_random = accident_at(free, selection.query, [key])  # then nothing is said of what it gives
    kept = "kept_random" if is_random else "kept"
    show_sentence(
        f"lessons.masks.{kept}",
        kept=pairs.kept,
        of=pairs.of,
        percent=percent,
        **values,
    )
    if preset in ("none", "custom"):
        done = "done_random" if is_random else "done"
        show_causal_goal(trace, say(f"lessons.masks.{done}", **values))
    else:
        st.caption(say("lessons.masks.build"))


def show_causal_goal(trace: Trace, done: str) -> None:
    """Says how far the mask is from the causal one, which is to be built. done: what is said where it is the same."""
    own_pairs = allowed_pairs(trace)[0, 0]  # (T, S)
    ahead = compare_with_causal(own_pairs)
    is_causal = ahead.later == 0 and ahead.missing == 0
    still = say("lessons.masks.still", later=ahead.later, missing=ahead.missing)
    answer = ""
    if are_answers_revealed():
        answer = say("lessons.masks.answer")
    show_goal(is_causal, done, f"{still} {answer}")
