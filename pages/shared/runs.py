"""Computed once a Setup and kept: the Trace, its inputs, its proof. The only caches of what a visitor makes.

Tensors from a file are handed in beside the Setup, which calls them by what is in them: who does not hold them cannot
ask for what was computed of them.
"""

import streamlit as st
import torch

from attention_core import Trace
from attention_core.alone import farthest_from_alone
from attention_core.causes import Cause, causes
from attention_core.diagnosis import Diagnosis, first_difference, told_precision
from attention_core.proof import Proof, prove
from pages.shared.brought_inputs import Arrays
from pages.shared.held import held_for
from pages.shared.inputs import compute, gather, sentences_alone
from pages.shared.material import Material
from pages.shared.setup import Setup, computed_part

TRACES = 256  # settings; all caches together are held to server.maxCacheDataSize bytes


@st.cache_data(max_entries=TRACES, show_spinner=False)
def cached_trace(setup: Setup, _arrays: Arrays | None) -> Trace:
    return compute(setup, _arrays)


@st.cache_data(max_entries=TRACES, show_spinner=False)
def cached_material(setup: Setup, _arrays: Arrays | None) -> Material:
    return gather(setup, _arrays)


@st.cache_data(max_entries=TRACES, show_spinner=False)
def cached_proof(setup: Setup, _trace: Trace) -> Proof:
    return prove(_trace)


@st.cache_data(max_entries=TRACES, show_spinner=False)
def cached_precision(setup: Setup, _trace: Trace, _material: Material) -> torch.dtype:
    return told_precision(_trace, _material.brought.given)


@st.cache_data(max_entries=TRACES, show_spinner=False)
def cached_diagnosis(setup: Setup, _trace: Trace, _material: Material) -> Diagnosis:
    return first_difference(_trace, _material.brought.given, cached_precision(setup, _trace, _material))


@st.cache_data(max_entries=TRACES, show_spinner=False)
def cached_causes(setup: Setup, _trace: Trace, _material: Material) -> tuple[Cause, ...]:
    return causes(_trace, _material.brought.given, cached_precision(setup, _trace, _material))


@st.cache_data(max_entries=TRACES, show_spinner=False)
def cached_alone(setup: Setup, _trace: Trace) -> tuple[str, float]:
    return farthest_from_alone(_trace, sentences_alone(setup))


def trace_of(setup: Setup) -> Trace:
    """The run of a Setup, its axes labelled with the words of the sentence that is looked at. Raises AttentionError."""
    trace = cached_trace(computed_part(setup), held_for(setup))
    if trace.sizes()["B"] == 1:
        return trace
    chosen = material_of(setup)
    return trace.labelled(T=chosen.queries, S=chosen.keys)


def material_of(setup: Setup) -> Material:
    """The inputs of a Setup. Raises AttentionError."""
    return cached_material(computed_part(setup), held_for(setup)).at(setup.sentence or 0)
