"""Computed once a Setup and kept: the Trace, its inputs, its proof; and what was measured on many draws, by the numbers
that say which. The only caches of what a visitor makes.

Tensors from a file are handed in beside the Setup, which calls them by what is in them: who does not hold them cannot
ask for what was computed of them.
"""

import threading
from collections.abc import Callable, Mapping
from functools import wraps

import streamlit as st
import torch

from attention_core import Trace
from attention_core.analysis.dot_product_moments import histograms, measured_variances
from attention_core.analysis.softmax_saturation import saturation
from attention_core.comparison.batch_alone import farthest_from_alone
from attention_core.comparison.differences import Move, moves
from attention_core.comparison.distances import kl_divergence, total_variation
from attention_core.exercises.slips import Slips, slips
from attention_core.exercises.worked_example import STAGES, Checked, check
from attention_core.variants.timing import saved_by
from attention_core.verification.causes import Cause, causes
from attention_core.verification.diagnosis import Diagnosis, first_difference, told_precision
from attention_core.verification.proof import Proof, prove
from pages.runs.compute import compute, decoded, sentences_alone
from pages.runs.run_inputs import Material
from pages.runs.upload_store import held_for
from pages.runs.uploaded_inputs import Arrays
from pages.setup.setup import Setup, computed_part

EXACT = {Setup: repr}  # a Setup as a key: its text says all of it
LATEST = 4  # results of each function that a script's thread keeps
TRACES = 256  # settings; all caches together are held to server.maxCacheDataSize bytes
kept = st.cache_data(max_entries=TRACES, show_spinner=False, hash_funcs=EXACT)
MEASURED = 4096  # results of each function of draws: some kilobytes each, the bound on bytes is that of all caches
measured = st.cache_data(max_entries=MEASURED, show_spinner=False)
saturation_of, variances_of, histograms_of = map(measured, (saturation, measured_variances, histograms))
saved_of = measured(saved_by)


def while_it_runs(function: Callable) -> Callable:
    """The function with its latest results kept by the thread that runs a script, and gone when that has ended.

    All parts of a page read the same run: without it, each would get a copy of its own from the cache.
    """
    thread = threading.local()

    @wraps(function)
    def remembered(*args):
        results = thread.__dict__.setdefault("results", {})
        if args not in results:
            results[args] = function(*args)
            if len(results) > LATEST:
                del results[next(iter(results))]
        return results[args]

    return remembered


@kept
def cached_run(setup: Setup, _arrays: Arrays | None) -> tuple[Trace, Material]:
    return compute(setup, _arrays)


@st.cache_resource(max_entries=2, show_spinner=False, hash_funcs=EXACT)
def latest_run(setup: Setup, _arrays: Arrays | None) -> tuple[Trace, Material]:
    """The last two as they are: a copy of a large one takes longer than what is drawn of it. Nobody changes a run."""
    return cached_run(setup, _arrays)


@kept
def cached_proof(setup: Setup, _trace: Trace) -> Proof:
    return prove(_trace)


@kept
def cached_precision(setup: Setup, _trace: Trace, _material: Material) -> torch.dtype:
    return told_precision(_trace, _material.brought.given)


@kept
def cached_diagnosis(setup: Setup, _trace: Trace, _material: Material) -> Diagnosis:
    return first_difference(_trace, _material.brought.given, cached_precision(setup, _trace, _material))


@kept
def cached_causes(setup: Setup, _trace: Trace, _material: Material) -> tuple[Cause, ...]:
    return causes(_trace, _material.brought.given, cached_precision(setup, _trace, _material))


@kept
def cached_alone(setup: Setup, _trace: Trace) -> tuple[str, float]:
    return farthest_from_alone(_trace, sentences_alone(setup))


@kept
def cached_moves(setup: Setup, before: Setup, _trace: Trace, _before: Trace) -> dict[str, Move]:
    return dict(moves(_trace, _before))


@kept
def cached_rows(
    setup: Setup, before: Setup, batch: int, head: int, _trace: Trace, _before: Trace
) -> tuple[torch.Tensor, torch.Tensor]:
    was, now = (run["weights"][batch, head].double() for run in (_before, _trace))
    return total_variation(was, now), kl_divergence(was, now)


@kept
def cached_steps(setup: Setup) -> list[Trace]:
    return decoded(setup)


Texts = tuple[tuple[str, str], ...]


@kept
def cached_check(setup: Setup, texts: Texts, stages: Texts, _trace: Trace) -> Checked:
    return check(_trace, dict(texts), dict(stages))


@kept
def cached_slips(setup: Setup, texts: Texts, stages: Texts, _checked: Checked) -> dict[str, Slips]:
    return slips(_checked)


@while_it_runs
def computed(setup: Setup) -> tuple[Trace, Material]:
    """The run and the inputs of a computed part."""
    return latest_run(setup, held_for(setup))


def trace_of(setup: Setup) -> Trace:
    """The run of a Setup, its axes labelled with the words of the sentence that is looked at. Raises AttentionError."""
    trace, _ = computed(computed_part(setup))
    if trace.sizes()["B"] == 1:
        return trace
    chosen = material_of(setup)
    return trace.labelled(T=chosen.queries, S=chosen.keys)


def material_of(setup: Setup) -> Material:
    """The inputs of a Setup. Raises AttentionError."""
    return computed(computed_part(setup))[1].at(setup.sentence or 0)


@while_it_runs
def proof_of(setup: Setup) -> Proof:
    """The proof of a computed part's run. Raises AttentionError."""
    return cached_proof(setup, trace_of(setup))


@while_it_runs
def steps_of(setup: Setup) -> list[Trace]:
    """The run of a causal Setup word by word, with a cache. Raises AttentionError."""
    return cached_steps(computed_part(setup))


def checked_of(setup: Setup, texts: Mapping[str, str], stages: Mapping[str, str] = STAGES) -> Checked:
    """What somebody wrote of a Setup's run, checked; by the stages of a worked example. Raises AttentionError."""
    return cached_check(computed_part(setup), tuple(texts.items()), tuple(stages.items()), trace_of(setup))


def slips_of(setup: Setup, texts: Mapping[str, str], stages: Mapping[str, str]) -> dict[str, Slips]:
    """The slips in it by step, with what explains them. Raises AttentionError."""
    checked = checked_of(setup, texts, stages)
    return cached_slips(computed_part(setup), tuple(texts.items()), tuple(stages.items()), checked)
