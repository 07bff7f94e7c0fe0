"""Caches runs and the results computed from them, with RunSetups as keys, and measurements, with their arguments as
keys.

Tensors from a file are passed besides the RunSetup, which contains only their digest. So a session without the file
cannot get results computed from it.
"""

import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial, wraps

import streamlit as st
import torch

from attention_core import Trace
from attention_core.analysis.dot_product_moments import draw_score_clouds, measure_variances, score_histograms
from attention_core.analysis.softmax_saturation import measure_saturation
from attention_core.comparison.differences import StepMove, find_moves, largest_batch_difference
from attention_core.comparison.distances import kl_divergence, total_variation
from attention_core.exercises.slips import StepSlips, find_slips
from attention_core.exercises.stages import STAGES
from attention_core.exercises.worked_example import CheckedWork, check_work
from attention_core.record.bounded_cache import BoundedCache
from attention_core.variants.timing import savings_of_kind
from attention_core.verification.causes import Cause, find_causes
from attention_core.verification.diagnosis import Diagnosis, first_difference, infer_precision
from attention_core.verification.proof import Proof, prove
from pages.runs.compute import check as check_inputs
from pages.runs.compute import compute_run
from pages.runs.freed_memory import give_back
from pages.runs.run_inputs import RunInputs
from pages.runs.separate_runs import run_decoding, run_sentences_alone
from pages.runs.upload_store import UploadedArrays, uploaded_arrays
from pages.setup.setup import RunSetup, Setup

Run = tuple[Trace, RunInputs]
LARGE_BYTES = 16 * 2**20  # bytes of a large run: if one is evicted, unused memory is returned to the operating system
# Streamlit hashes these arguments by their repr, which contains all fields
HASH_SETUP_BY_REPR = {RunSetup: repr, Setup: repr}
MAX_THREAD_RESULTS = 4  # each function keeps at most this many results per thread that runs a script
MAX_CACHED_RUNS = 256  # runs
MAX_RUN_BYTES = 192 * 2**20  # most bytes of all cached runs together: two runs with 8 heads of 512 tokens
# Caches results that are computed from runs; server.maxCacheDataSize limits the total bytes of these caches.
cache_by_setup = st.cache_data(max_entries=MAX_CACHED_RUNS, show_spinner=False, hash_funcs=HASH_SETUP_BY_REPR)
# Caches the last two results without copying, because copying takes longer than drawing; they are never changed.
keep_latest = st.cache_resource(max_entries=2, show_spinner=False, hash_funcs=HASH_SETUP_BY_REPR)
# Largest number of cached results for each measurement with random samples. A result has some kilobytes.
MAX_CACHED_MEASUREMENTS = 4096
cache_measurement = st.cache_data(max_entries=MAX_CACHED_MEASUREMENTS, show_spinner=False)
cached_saturation = cache_measurement(measure_saturation)
cached_variances = cache_measurement(measure_variances)
cached_clouds = cache_measurement(draw_score_clouds)
cached_histograms = cache_measurement(score_histograms)
cached_savings = cache_measurement(savings_of_kind)


def give_back_large(freed: int) -> None:
    """Returns unused memory to the operating system if many bytes of runs were removed from the cache."""
    if freed >= LARGE_BYTES:
        give_back()


RUN_CACHE = BoundedCache(MAX_RUN_BYTES, MAX_CACHED_RUNS, give_back_large)


def cache_in_thread(function: Callable) -> Callable:
    """Decorator that caches the latest results of a function, separately for each thread that runs a script.

    All parts of a page use the same run; without this decorator, each part would get a separate copy from Streamlit's
    cache.
    """
    thread = threading.local()

    @wraps(function)
    def remembered(*args):
        results = thread.__dict__.setdefault("results", {})
        if args not in results:
            results[args] = function(*args)
            if len(results) > MAX_THREAD_RESULTS:
                del results[next(iter(results))]
        return results[args]

    return remembered


@partial(RUN_CACHE.keep, key=lambda run, arrays: repr(run))  # the key: repr(run) contains all fields of a RunSetup
def cached_run(run: RunSetup, arrays: UploadedArrays | None) -> Run:
    return compute_run(run, arrays)


@keep_latest
def latest_run(run: RunSetup, _arrays: UploadedArrays | None) -> Run:
    """Returns the run of a RunSetup, computed on a GPU, from a cache of the last two.

    The tensors stay on the GPU; only steps that are shown are copied to the CPU.
    """
    return compute_run(run, _arrays)


@cache_by_setup
def cached_proof(run: RunSetup, _trace: Trace) -> Proof:
    return prove(_trace)


@cache_by_setup
def cached_precision(run: RunSetup, _trace: Trace, _inputs: RunInputs) -> torch.dtype:
    return infer_precision(_trace, _inputs.brought.given)


@cache_by_setup
def cached_diagnosis(run: RunSetup, _trace: Trace, _inputs: RunInputs) -> Diagnosis:
    precision = cached_precision(run, _trace, _inputs)
    return first_difference(_trace, _inputs.brought.given, precision)


@cache_by_setup
def cached_causes(run: RunSetup, _trace: Trace, _inputs: RunInputs) -> tuple[Cause, ...]:
    precision = cached_precision(run, _trace, _inputs)
    return find_causes(_trace, _inputs.brought.given, precision)


@cache_by_setup
def cached_batch_difference(run: RunSetup, _trace: Trace) -> tuple[str, float]:
    return largest_batch_difference(_trace, run_sentences_alone(run))


@cache_by_setup
def cached_moves(run: RunSetup, before: RunSetup, _trace: Trace, _before: Trace) -> dict[str, StepMove]:
    return dict(find_moves(_trace, _before))


@cache_by_setup
def cached_row_distances(
    run: RunSetup, before: RunSetup, batch: int, head: int, _trace: Trace, _before: Trace
) -> tuple[torch.Tensor, torch.Tensor]:
    was = _before["weights"][batch, head].double()  # (T, S)
    now = _trace["weights"][batch, head].double()
    variation = total_variation(was, now)
    divergence = kl_divergence(was, now)
    return variation, divergence


@cache_by_setup
def cached_decoding(run: RunSetup) -> list[Trace]:
    return run_decoding(run)


TextItems = tuple[tuple[str, str], ...]


@cache_by_setup
def cached_check(run: RunSetup, texts: TextItems, stages: TextItems, _trace: Trace) -> CheckedWork:
    return check_work(_trace, dict(texts), dict(stages))


@cache_by_setup
def cached_slips(run: RunSetup, texts: TextItems, stages: TextItems, _checked: CheckedWork) -> dict[str, StepSlips]:
    return find_slips(_checked)


@cache_in_thread
def run_and_inputs_for(run: RunSetup) -> Run:
    """Returns the run and the inputs of a RunSetup, from the cache or computed."""
    keep = cached_run if run.device == "cpu" else latest_run
    return keep(run, find_arrays(run))


def find_arrays(run: RunSetup) -> UploadedArrays | None:
    """Returns the uploaded arrays whose digest a RunSetup contains; None if it names no file.

    Raises AttentionError: file_away, if the session no longer stores the file.
    """
    return None if run.file is None else uploaded_arrays(run)


def check_computable(setup: Setup) -> None:
    """Raises AttentionError if trace_for would raise it; computes and caches no run."""
    check_inputs(setup.run, find_arrays(setup.run))


def trace_for(setup: Setup) -> Trace:
    """Returns the run of a Setup; the words of the selected sentence label its axes.

    Raises AttentionError.
    """
    trace, _ = run_and_inputs_for(setup.run)
    if trace.sizes()["B"] == 1:
        return trace
    inputs = inputs_of(setup)
    labelled = trace.labelled(T=inputs.queries, S=inputs.keys)
    chance = inputs.random_parts("tied" in setup.run.wiring)
    return replace(labelled, chance=chance)


def inputs_of(setup: Setup) -> RunInputs:
    """Returns the inputs of a Setup's run, those of the selected sentence of a batch. Raises AttentionError."""
    _, inputs = run_and_inputs_for(setup.run)
    return inputs.at(setup.view.sentence or 0)


@cache_in_thread
def proof_for(run: RunSetup) -> Proof:
    """Returns the proof of a run: the comparison of its numbers with those of a second implementation. Raises
    AttentionError.
    """
    return cached_proof(run, trace_for(Setup(run)))


@cache_in_thread
def decoding_steps_for(setup: Setup) -> list[Trace]:
    """Returns the runs in which a causal Setup is decoded word by word with a KV cache. Raises AttentionError."""
    return cached_decoding(setup.run)


def checked_answers_for(setup: Setup, texts: Mapping[str, str], stages: Mapping[str, str] = STAGES) -> CheckedWork:
    """Returns the visitor's numbers for the stages of a worked example, each marked as right or wrong.

    setup: its run has the right numbers. texts: {stage: the numbers}. stages: {stage: step of the run}. Raises
    AttentionError.
    """
    return cached_check(setup.run, tuple(texts.items()), tuple(stages.items()), trace_for(setup))


def slips_for(setup: Setup, texts: Mapping[str, str], stages: Mapping[str, str]) -> dict[str, StepSlips]:
    """Returns {step: wrong numbers with their causes} for the visitor's numbers of a worked example.

    texts: {stage: the numbers}. stages: {stage: step of the run}. Raises AttentionError.
    """
    checked = checked_answers_for(setup, texts, stages)
    return cached_slips(setup.run, tuple(texts.items()), tuple(stages.items()), checked)
