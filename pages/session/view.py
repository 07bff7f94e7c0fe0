"""Holds what a page shows: a run, its inputs, the selection, and the earlier run with which it is compared."""

import weakref
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import streamlit as st
from torch import Tensor

from attention_core import AttentionError, Trace
from attention_core.comparison.differences import Exchange, StepMove, exchange, subtract_traces
from attention_core.explanation.layout import MAX_PANEL_SIDE
from attention_core.inputs.tokenizer import printable_token
from pages.runs.cache import cache_in_thread, cached_moves, cached_row_distances, inputs_of, trace_for
from pages.runs.run_inputs import RunInputs
from pages.session import setup_state
from pages.session.labels import Selection, selection_of
from pages.setup.resolve import resolve_run
from pages.setup.setup import RunSetup, Setup
from pages.site.words import say

NOTHING_SEEN = (None, None, {}, ())  # (Setup, selection, sizes, words) before the first page was drawn


@dataclass(frozen=True, eq=False)
class ScreenRuns:
    """The run that a page shows, its inputs, and the earlier run with which it is compared.

    setup: the Setup of the run. named: the Setup of the earlier run. before: the earlier run; None if there is none
    with weights of the same shape.
    """

    setup: Setup
    named: Setup | None
    trace: Trace
    inputs: RunInputs
    before: Trace | None

    @cached_property
    def moved(self) -> dict[str, StepMove]:
        """{step: its largest change from the earlier run with which the run is compared}; {} without such a run."""
        if self.before is None:
            return {}
        return cached_moves(self.setup.run, self.named.run, self.trace, self.before)

    @cached_property
    def apart(self) -> Trace | None:
        """The difference of every step from the same step of the earlier run, as a Trace; None without an earlier
        run.
        """
        return None if self.before is None else subtract_traces(self.trace, self.before)

    @cached_property
    def weights_difference(self) -> Trace | None:
        """The difference of the weights from those of the earlier run, as a Trace; None without an earlier run.

        The differences of all steps (`apart`) are slow to compute for long texts.
        """
        if self.before is None:
            return None
        weights = self.trace.step("weights")
        weights_alone = Trace({"weights": weights}, self.trace.labels, chance=self.trace.chance)
        return subtract_traces(weights_alone, self.before)

    @cached_property
    def a(self) -> Trace | None:
        """The run that the visitor pinned as A, of any size.

        It is None if no run is pinned, or if the session lost its file.
        """
        pinned = self.setup.comparison.run_a
        try:
            return pinned and trace_for(replace(self.setup, run=pinned))
        except AttentionError:
            return None

    @cached_property
    def exchange(self) -> Exchange:
        """The words in which the sentence differs from that of the earlier run."""
        return Exchange({}, ()) if self.before is None else exchange(self.trace, self.before)


class RecalledRuns:
    """Gives access to the runs of a Setup without holding them in memory; runs that left the cache are computed again.

    Widgets keep their callbacks as long as the session exists, even after its visitor has left. A callback may
    therefore hold a RecalledRuns, but not a run.
    """

    def __init__(self, setup: Setup, before: Setup | None):
        self.setup = setup
        self.setup_before = before
        self.latest: Callable[[], ScreenRuns | None] = lambda: None

    def get(self) -> ScreenRuns:
        """Returns the run that the page shows and the earlier run, from the cache or computed again."""
        runs = self.latest()
        if runs is None:
            runs = make_screen_runs(self.setup, self.setup_before)
            self.latest = weakref.ref(runs)
        return runs


@dataclass(frozen=True, eq=False)
class ScreenState:
    """What a page shows: a Setup, the selection, and access to the run and to the earlier run with which it is
    compared.

    named: the Setup of the earlier run. runs: a RecalledRuns, because a widget's callback may hold a ScreenState; the
    runs themselves are held by the thread that draws.
    """

    setup: Setup
    selection: Selection
    named: Setup | None
    runs: RecalledRuns

    @property
    def trace(self) -> Trace:
        """The run that the page shows, computed from the Setup."""
        return self.runs.get().trace

    @property
    def inputs(self) -> RunInputs:
        """The inputs of the run that the page shows."""
        return self.runs.get().inputs

    @property
    def before(self) -> Trace | None:
        """The earlier run with which the run is compared; None if no such run has weights of the same shape."""
        return self.runs.get().before

    @property
    def moved(self) -> dict[str, StepMove]:
        """{step: its largest change from the earlier run with which the run is compared}; {} without such a run."""
        return self.runs.get().moved

    @property
    def apart(self) -> Trace | None:
        """The difference of every step from the same step of the earlier run, as a Trace.

        It is None without an earlier run.
        """
        return self.runs.get().apart

    @property
    def weights_difference(self) -> Trace | None:
        """The difference of the weights from those of the earlier run, as a Trace; None without an earlier run."""
        return self.runs.get().weights_difference

    @property
    def row_distances(self) -> tuple[Tensor, Tensor]:
        """The distance of each row of the selected head's weights from the same row in the earlier run.

        Returns total variation and Kullback-Leibler divergence, (T,) each.
        """
        setup, setup_before, trace, before = self.both
        return cached_row_distances(
            setup,
            setup_before,
            self.selection.batch,
            self.selection.head,
            trace,
            before,
        )

    @property
    def both(self) -> tuple[RunSetup, RunSetup, Trace, Trace]:
        """The RunSetup and the Trace of the run, then of the earlier run: the arguments of cached functions."""
        return self.setup.run, self.named.run, self.trace, self.before

    @property
    def a(self) -> Trace | None:
        """The run that the visitor pinned as A, to compare others with it; None if no run is pinned."""
        return self.runs.get().a

    @property
    def exchange(self) -> Exchange:
        """The words in which the sentence differs from that of the earlier run."""
        return self.runs.get().exchange

    @property
    def shows_difference(self) -> bool:
        """Whether maps show the difference from the earlier run: the visitor chose this, and both sentences are
        comparable.
        """
        is_asked = self.setup.comparison.against is not None and self.setup.comparison.pinned != "values"
        return is_asked and self.exchange.compared

    @property
    def times_by_itself(self) -> bool:
        """Whether colours show weights as multiples of the uniform weight by default, because rows are long."""
        return self.trace.sizes()["S"] > MAX_PANEL_SIDE

    @property
    def times(self) -> bool:
        """Whether colours show weights as multiples of the uniform weight: by the visitor's choice, else by the length
        of rows.
        """
        ramp = self.setup.view.ramp
        return self.times_by_itself if ramp is None else ramp == "times"

    @property
    def new(self) -> list[str]:
        """The steps of the run that the earlier run does not have."""
        before = self.before
        if before is None:
            return []
        return [name for name in self.trace.computed() if name not in before.steps]

    @property
    def reshaped(self) -> list[str]:
        """The steps of the run whose shape differs from that in the earlier run."""
        before = self.before
        if before is None:
            return []
        kept = {name: step for name, step in self.trace.computed().items() if name in before.steps}
        return [name for name, step in kept.items() if not step.is_shaped_like(before.steps[name])]

    def drawn(self, step: str) -> Trace:
        """Returns the Trace whose numbers the maps of a step show: the difference from the earlier run, or else the run
        itself.

        It is the difference if maps show differences and the step has one.
        """
        if not self.shows_difference:
            return self.trace  # returns before the difference is computed, because that is slow
        has_difference = self.apart is not None and step in self.apart
        return self.apart if has_difference else self.trace


def current_screen() -> ScreenState:
    """Returns the ScreenState of this session's page; after a change of the run, keeps the selected head and query if
    possible.
    """
    setup = setup_state.current_setup()
    seen, *_ = st.session_state.get("seen", NOTHING_SEEN)
    if seen != setup:
        keep_selection(trace_for(setup))
    return make_screen_state(setup_state.current_setup(), setup_state.setup_before())


def name_shown(setup: Setup) -> str:
    """Returns the name of what a Setup shows: a pretrained model and its layer, else the example."""
    if resolve_run(setup.run).mode == "recorded":
        return printable_token(inputs_of(setup).layer_name)
    return say(f"example.{setup.run.example}")


@cache_in_thread
def make_screen_state(setup: Setup, before: Setup | None) -> ScreenState:
    """Returns the ScreenState of a page with this Setup: the selection, and access to the run and the earlier run.

    before: the Setup of the earlier run with which the run is compared; None for no comparison.
    """
    runs = RecalledRuns(setup, before)
    return ScreenState(setup, selection_of(runs.get().trace, setup), before, runs)


@cache_in_thread
def make_screen_runs(setup: Setup, before: Setup | None) -> ScreenRuns:
    """Computes the run of a Setup, its inputs, and the earlier run with which it is compared.

    before: the Setup of the earlier run; None if there is no comparison.
    """
    trace = trace_for(setup)
    return ScreenRuns(setup, before, trace, inputs_of(setup), get_run_before(trace, setup, before))


def keep_selection(trace: Trace) -> None:
    """Keeps the selected head and query after a change of the run that left its words the same.

    The head is kept if the number of heads is the same, and the query if the number of queries is the same. A head or
    query that the change itself selects is not replaced.
    """
    setup, sizes = setup_state.current_setup(), trace.sizes()
    selection = selection_of(trace, setup)
    seen, selection_before, sizes_before, words_before = st.session_state.get("seen", NOTHING_SEEN)
    words = trace.labels.get("T", ())
    is_changed = seen is not None and setup.run.example == seen.run.example and setup.run != seen.run
    if is_changed and words == words_before:
        pins = {}
        keeps_head = setup.view.head == seen.view.head and sizes["H"] == sizes_before["H"]
        keeps_query = setup.view.token == seen.view.token and sizes["T"] == sizes_before["T"]
        if keeps_head and selection.head != selection_before.head:
            pins["head"] = selection_before.head
        if keeps_query and selection.query != selection_before.query:
            pins["token"] = selection_before.query
        if pins:
            setup_state.select(**pins)
            selection = selection_of(trace, setup_state.current_setup())
    st.session_state["seen"] = (setup_state.current_setup(), selection, sizes, words)


def get_run_before(trace: Trace, setup: Setup, named: Setup | None) -> Trace | None:
    """Computes the earlier run with which a run is compared, with the sentence of the batch that `setup` selects.

    Returns None if there is no such run, if it cannot be computed, or if its weights have another shape. named: the
    Setup of the earlier run.
    """
    if named is None:
        return None
    try:
        before = trace_for(named.with_fields(sentence=setup.view.sentence))
    except AttentionError:
        return None
    return before if trace.step("weights").is_shaped_like(before.step("weights")) else None
