"""The state that a page shows: a run, its inputs, the selection, and the run before it."""

from dataclasses import dataclass, replace
from functools import cached_property, partial

import streamlit as st
from torch import Tensor

from attention_core import AttentionError, Trace
from attention_core.comparison.differences import Exchange, StepMove, exchange, have_same_shape, subtract_traces
from attention_core.explanation.layout import MAX_PANEL_SIDE
from pages.runs.cache import Recalled, cache_in_thread, cached_moves, cached_row_distances, inputs_of, trace_for
from pages.runs.run_inputs import RunInputs
from pages.session import setup_state
from pages.session.labels import Selection, selection_of
from pages.setup.setup import RunSetup, Setup

NOTHING_SEEN = (None, None, {}, ())  # the Setup, the selection, the sizes and the words that the screen showed last


@dataclass(frozen=True, eq=False)
class ScreenRuns:
    """The numbers of a screen: its run and inputs, and the run before, where there is one of the same sizes.

    setup: of the run. named: of the run before."""

    setup: Setup
    named: Setup | None
    trace: Trace
    inputs: RunInputs
    before: Trace | None

    @cached_property
    def moved(self) -> dict[str, StepMove]:
        """The steps that moved since the run before."""
        if self.before is None:
            return {}
        return cached_moves(self.setup.run, self.named.run, self.trace, self.before)

    @cached_property
    def apart(self) -> Trace | None:
        """The difference to the run before."""
        return None if self.before is None else subtract_traces(self.trace, self.before)

    @cached_property
    def weights_difference(self) -> Trace | None:
        """The difference of the weights alone, because that of all steps is slow for long texts."""
        if self.before is None:
            return None
        weights = self.trace.step("weights")
        weights_alone = Trace({"weights": weights}, self.trace.labels, chance=self.trace.chance)
        return subtract_traces(weights_alone, self.before)

    @cached_property
    def a(self) -> Trace | None:
        """The run that is pinned as A, whatever its sizes; None where none is, or where its file is held no more."""
        pinned = self.setup.comparison.run_a
        try:
            return pinned and trace_for(replace(self.setup, run=pinned))
        except AttentionError:
            return None

    @cached_property
    def exchange(self) -> Exchange:
        """The words exchanged since the run before."""
        return Exchange({}, ()) if self.before is None else exchange(self.trace, self.before)


@dataclass(frozen=True, eq=False)
class ScreenState:
    """What a page shows: a Setup, what is looked at, and its numbers. named: the Setup of the run before.

    It does not keep its numbers, which the thread keeps that draws: a widget's callback may hold a screen."""

    setup: Setup
    selection: Selection
    named: Setup | None
    runs: Recalled[ScreenRuns]

    @property
    def trace(self) -> Trace:
        """The run."""
        return self.runs.get().trace

    @property
    def inputs(self) -> RunInputs:
        """The inputs of the run."""
        return self.runs.get().inputs

    @property
    def before(self) -> Trace | None:
        """The run before, where there is one of the same sizes."""
        return self.runs.get().before

    @property
    def moved(self) -> dict[str, StepMove]:
        """The steps that moved since the run before."""
        return self.runs.get().moved

    @property
    def apart(self) -> Trace | None:
        """The difference to the run before."""
        return self.runs.get().apart

    @property
    def weights_difference(self) -> Trace | None:
        """The difference of the weights alone."""
        return self.runs.get().weights_difference

    @property
    def row_distances(self) -> tuple[Tensor, Tensor]:
        """How far each row of the head that is looked at lies from the run before: its total variation, and the
        divergence of the run before from it, (T,) each."""
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
        """The arguments of caches for this run and the one before."""
        return self.setup.run, self.named.run, self.trace, self.before

    @property
    def a(self) -> Trace | None:
        """The run that is pinned as A."""
        return self.runs.get().a

    @property
    def exchange(self) -> Exchange:
        """The words exchanged since the run before."""
        return self.runs.get().exchange

    @property
    def shows_difference(self) -> bool:
        """Whether maps show how the numbers changed, where they can: not of one sentence to another."""
        is_asked = self.setup.comparison.against is not None and self.setup.comparison.pinned != "values"
        return is_asked and self.exchange.compared

    @property
    def times_by_itself(self) -> bool:
        """Whether a row is so long that its weights are shown as multiples of an even share by default."""
        return self.trace.sizes()["S"] > MAX_PANEL_SIDE

    @property
    def times(self) -> bool:
        """Whether colours show weights as multiples of an even share: as chosen, else for long rows."""
        ramp = self.setup.view.ramp
        return self.times_by_itself if ramp is None else ramp == "times"

    @property
    def new(self) -> list[str]:
        """The steps that the run before did not have."""
        if self.before is None:
            return []
        return [name for name in self.trace.computed() if name not in self.before]

    @property
    def reshaped(self) -> list[str]:
        """The steps that the run before had in another shape."""
        if self.before is None:
            return []
        reshaped = []
        for name, step in self.trace.computed().items():
            if name in self.before and not have_same_shape(step, self.before.step(name)):
                reshaped.append(name)
        return reshaped

    def drawn(self, step: str) -> Trace:
        """The run that a step is drawn from: the difference where that is asked for and there is one."""
        if not self.shows_difference:
            return self.trace  # the difference is computed where it is drawn alone
        has_difference = self.apart is not None and step in self.apart
        return self.apart if has_difference else self.trace


def current_screen() -> ScreenState:
    """The ScreenState of the session."""
    setup = setup_state.current_setup()
    seen, *_ = st.session_state.get("seen", NOTHING_SEEN)
    if seen != setup:
        keep_selection(trace_for(setup))
    return make_screen_state(setup_state.current_setup(), setup_state.setup_before())


@cache_in_thread
def make_screen_state(setup: Setup, before: Setup | None) -> ScreenState:
    """The ScreenState of a Setup compared with another one."""
    runs = Recalled(partial(make_screen_runs, setup, before))
    return ScreenState(setup, selection_of(runs.get().trace, setup), before, runs)


@cache_in_thread
def make_screen_runs(setup: Setup, before: Setup | None) -> ScreenRuns:
    """The ScreenRuns of a Setup compared with another one."""
    trace = trace_for(setup)
    return ScreenRuns(setup, before, trace, inputs_of(setup), get_run_before(trace, setup, before))


def keep_selection(trace: Trace) -> None:
    """After a change the same head and the same query are looked at as before, where the sentence is the same, there
    are as many of them, and the change itself says no others."""
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
    """The run that this one is compared with, its words those of the same sentence of a batch: none where it cannot be
    computed, or has other sizes."""
    if named is None:
        return None
    try:
        before = trace_for(named.with_fields(sentence=setup.view.sentence))
    except AttentionError:
        return None
    weights, weights_before = trace.step("weights"), before.step("weights")
    return before if have_same_shape(weights, weights_before) else None
