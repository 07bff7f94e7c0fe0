"""Computed once a Setup and kept: the Trace, its inputs, its proof. The only caches of what a visitor makes."""

import streamlit as st

from attention_core import Trace
from attention_core.proof import Proof, prove
from pages.shared.inputs import compute, gather
from pages.shared.material import Material
from pages.shared.setup import Setup, computed_part

TRACES = 256  # settings; all caches together are held to server.maxCacheDataSize bytes


@st.cache_data(max_entries=TRACES, show_spinner=False)
def cached_trace(setup: Setup) -> Trace:
    return compute(setup)


@st.cache_data(max_entries=TRACES, show_spinner=False)
def cached_material(setup: Setup) -> Material:
    return gather(setup)


@st.cache_data(max_entries=TRACES, show_spinner=False)
def cached_proof(setup: Setup) -> Proof:
    return prove(cached_trace(setup))


def trace_of(setup: Setup) -> Trace:
    """The run of a Setup, its axes labelled with the words of the sentence that is looked at. Raises AttentionError."""
    trace = cached_trace(computed_part(setup))
    if trace.sizes()["B"] == 1:
        return trace
    chosen = material_of(setup)
    return trace.labelled(T=chosen.queries, S=chosen.keys)


def material_of(setup: Setup) -> Material:
    """The inputs of a Setup. Raises AttentionError."""
    return cached_material(computed_part(setup)).at(setup.sentence or 0)
