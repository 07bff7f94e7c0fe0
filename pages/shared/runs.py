"""Computed once a Setup and kept: the Trace, its inputs, its proof. The only caches of what a visitor makes."""

from dataclasses import replace

import streamlit as st

from attention_core import Trace
from attention_core.proof import Proof, prove
from pages.shared.inputs import Material, compute, gather
from pages.shared.setup import Setup

TRACES = 256  # settings; all caches together are held to server.maxCacheDataSize bytes


def computed_part(setup: Setup) -> Setup:
    """A Setup without what is only looked at, so that looking around finds the cache warm."""
    return replace(setup, token=None, head=None, step=None, cell=None, ramp=None)


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
    """The run of a Setup. Raises AttentionError."""
    return cached_trace(computed_part(setup))


def material_of(setup: Setup) -> Material:
    """The inputs of a Setup. Raises AttentionError."""
    return cached_material(computed_part(setup))
