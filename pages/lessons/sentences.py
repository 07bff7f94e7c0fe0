"""Formats tokens, differences, counts and bytes for the sentences of several lessons."""

from collections.abc import Iterable

import streamlit as st

from attention_core import Trace
from attention_core.record.number_text import format_bytes, format_fixed, format_small, round_count
from pages.session.collected import collected
from pages.session.labels import name_token, place_names
from pages.site.words import current_language, escape_markdown, say

LEAST_FIXED_GAP = 0.005  # smaller differences would be printed as 0.00
UNIT_NAMES = {10**4: "ten_thousand", 10**6: "million", 10**8: "hundred_million", 10**9: "billion"}
COUNT_UNITS = {"en": (10**6, 10**9), "zh": (10**4, 10**8)}  # language -> units in which large counts are written


def quote_token(trace: Trace, axis: str, position: int) -> str:
    """Returns a token of a run, escaped for Markdown.

    axis: the axis that the token labels, such as "T". position: the index along this axis.
    """
    return escape_markdown(name_token(trace, axis, position))


def list_place_names(trace: Trace, axis: str) -> list[str]:
    """Returns the names of all positions along an axis of a run, each unique."""
    return place_names(trace, axis, trace.sizes()[axis])


def format_gap(gap: float) -> str:
    """Formats a difference: as "0" only if the numbers are equal; a small difference is not rounded to "0.00"."""
    return format_small(gap) if gap < LEAST_FIXED_GAP else format_fixed(gap)


def say_large_count(count: int) -> str:
    """Formats a large count, rounded to three digits, in the units of the page's language."""
    figure, unit = round_count(count, COUNT_UNITS[current_language()])
    return say(f"lessons.cost.amount.{UNIT_NAMES[unit]}", figure=figure)


def say_bytes(count: int) -> str:
    """Formats a number of bytes in the largest unit that does not exceed the number; "bytes" is translated."""
    figure, _, unit = format_bytes(count).partition(" ")
    return say("lesson.bytes", figure=figure) if unit == "bytes" else f"{figure} {unit}"


def join_with_commas(parts: Iterable[str]) -> str:
    """Joins parts of a sentence with the comma of the page's language."""
    return say("fact.comma").join(parts)


def show_answer(key: str) -> None:
    """Shows the answer to a lesson's question, and collects it for exported files."""
    collected().facts.append(say(key))
    st.markdown(say(key))


def show_sentence(key: str, /, **values: object) -> None:
    """Shows a sentence of the page's content with its values filled in, and collects it for exported files."""
    text = say(key, **values)
    collected().sentences.append(text)
    st.markdown(text)
