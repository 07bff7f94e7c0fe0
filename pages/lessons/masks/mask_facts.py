"""Masks: what is said of a mask: what the asking word does under it, what it keeps, what is to be built."""

import streamlit as st

from attention_core import Trace
from attention_core.analysis.future_leakage import compare_with_causal
from attention_core.explanation.facts import accident_at, allowed_pairs, count_allowed_pairs, row_fact
from attention_core.record.number_text import format_fixed, format_percent
from pages.lessons.prompts import show_goal
from pages.lessons.sentences import quote_token
from pages.session.labels import Selection
from pages.session.reveal import are_answers_revealed
from pages.site.words import say


def describe_pairs(trace: Trace, free: Trace, selection: Selection) -> str:
    """Says how many pairs a mask keeps, and what it moved."""
    pairs = count_allowed_pairs(trace)
    kept = "kept_random" if is_accident(free, selection) else "kept"  # then nothing is said of what it gives
    return say(
        f"lessons.masks.{kept}",
        kept=pairs.kept,
        of=pairs.of,
        percent=format_percent(pairs.share),
        **compare_largest(trace, free, selection),
    )


def compare_largest(trace: Trace, free: Trace, selection: Selection) -> dict[str, str]:
    """The key to which the word that asks gives most without a mask, and how much it gets with and without one."""
    key = largest_key(free, selection)
    cell = (selection.batch, selection.head, selection.query, key)
    return {
        "query": quote_token(trace, "T", selection.query),
        "key": quote_token(trace, "S", key),
        "free": format_fixed(free["weights"][cell].item(), 3),
        "now": format_fixed(trace["weights"][cell].item(), 3),
    }


def largest_key(free: Trace, selection: Selection) -> int:
    """The key to which the word that asks gives most without a mask."""
    return row_fact(free, selection.head, selection.query).keys[0]


def is_accident(free: Trace, selection: Selection) -> bool:
    """Whether what the word that asks gives comes of random numbers."""
    return accident_at(free, selection.query, [largest_key(free, selection)])


def show_mask_goal(trace: Trace, free: Trace, selection: Selection, preset: str) -> None:
    """Says what is to be built, and how far it is."""
    if preset not in ("none", "custom"):
        st.caption(say("lessons.masks.build"))
        return
    done = "done_random" if is_accident(free, selection) else "done"
    show_causal_goal(trace, say(f"lessons.masks.{done}", **compare_largest(trace, free, selection)))


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
