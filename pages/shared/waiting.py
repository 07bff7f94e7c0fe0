"""Work in parts, one after the other, and a bar that says how far it is."""

from collections.abc import Callable, Sequence
from time import perf_counter

import streamlit as st

from pages.shared.words import say

PATIENCE = 0.15  # seconds: what is done sooner needs no bar


def one_by_one(compute: Callable, items: Sequence) -> list:
    """What is computed of each item. Between two of them any control that is moved ends the run, and begins another."""
    place, begun, found = st.empty(), perf_counter(), []
    for item in items:
        if perf_counter() - begun > PATIENCE:
            told = {"done": len(found), "count": len(items)}
            place.progress(len(found) / len(items), say("lesson.measured", **told))
        found.append(compute(item))
    place.empty()
    return found
