"""The state that a page shows: a run, its inputs, the selection, and the run before it."""

import weakref
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import streamlit as st
from torch import Tensor

from attention_core import AttentionError, Trace
from attention_core.comparison.differences import Exchange, StepMove, exchange, subtract_traces
from attention_core.explanation.layout import MAX_PANEL_SIDE
from pages.runs.cache import cache_in_thread, cached_moves, cached_row_distances, inputs_of, trace_for
from pages.runs.run_inputs import RunInputs
from pages.session import setup_state
from pages.session.labels import Selection, selection_of
from pages.setup.setup import RunSetup, Setup

NOTHING_SEEN = (None, None, {}, ())  # the Setup, selection, sizes and words of the screen that was shown last


@dataclass(frozen=True, eq=False)
class ScreenRuns:
    """The runs of a screen: its run and inputs, and the run before, None if there is none of the same sizes.

    setup: of the run. named: of the run before.
    """

    setup: Setup
    named: Setup | None
    trace: Trace
    inputs: RunInputs
    before: Trace | None

    @cached_property
    def moved(self) -> dict[str, StepMove]:
        """The largest change of each step since the run before, by step; {} without one."""
        if self.before is None:
            return {}
        return cached_moves(self.setup.run, self.named.run, self.trace, self.before)

    @cached_property
    def apart(self) -> Trace | None:
        """The difference to the run before; None without one."""
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
        """The pinned run A, whatever its sizes; None if no run is pinned, or if the session no longer has its file."""
        pinned = self.setup.comparison.run_a
        try:
            return pinned and trace_for(replace(self.setup, run=pinned))
        except AttentionError:
            return None

    @cached_property
    def exchange(self) -> Exchange:
        """The words exchanged since the run before."""
        return Exchange({}, ()) if self.before is None else exchange(self.trace, self.before)


class RecalledRuns:
    """A reference to the ScreenRuns of a Setup compared with another one; they are found or computed again if needed.

    Widgets keep their callbacks as long as the session exists, even after its visitor has left: a callback may keep a
    RecalledRuns in memory, but not a run.
    """

    def __init__(self, setup: Setup, before: Setup | None):
        self.setup = setup
        self.setup_before = before
        self.latest: Callable[[], ScreenRuns | None] = lambda: None

    def get(self) -> ScreenRuns:
        """The runs."""
        runs = self.latest()
        if runs is None:
            runs = make_screen_runs(self.setup, self.setup_before)
            self.latest = weakref.ref(runs)
        return runs


@dataclass(frozen=True, eq=False)
class ScreenState:
    """The state of a page: a Setup, the selection, and access to the runs. named: the Setup of the run before.

    The runs themselves are kept by the thread that draws, because a widget's callback may keep a ScreenState in memory.
    """

    setup: Setup
    selection: Selection
    named: Setup | None
    runs: RecalledRuns

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
        """The run before; None if there is none of the same sizes."""
        return self.runs.get().before

    @property
    def moved(self) -> dict[str, StepMove]:
        """The largest change of each step since the run before, by step; {} without one."""
        return self.runs.get().moved

    @property
    def apart(self) -> Trace | None:
        """The difference to the run before; None without one."""
        return self.runs.get().apart

    @property
    def weights_difference(self) -> Trace | None:
        """The difference of the weights to the run before; None without one."""
        return self.runs.get().weights_difference

    @property
    def row_distances(self) -> tuple[Tensor, Tensor]:
        """The distance of each row of the selected head to the same row of the run before: total variation, and
        Kullback-Leibler divergence, (T,) each.
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
        """Both RunSetups and both Traces: of this run and of the run before, as arguments of cached functions."""
        return self.setup.run, self.named.run, self.trace, self.before

    @property
    def a(self) -> Trace | None:
        """The pinned run A; None if there is none."""
        return self.runs.get().a

    @property
    def exchange(self) -> Exchange:
        """The words exchanged since the run before."""
        return self.runs.get().exchange

    @property
    def shows_difference(self) -> bool:
        """Whether maps show the difference to the run that the Setup names; False if the sentences cannot be
        compared.
        """
        is_asked = self.setup.comparison.against is not None and self.setup.comparison.pinned != "values"
        return is_asked and self.exchange.compared

    @property
    def times_by_itself(self) -> bool:
        """Whether rows are so long that colours show weights as multiples of the uniform weight by default."""
        return self.trace.sizes()["S"] > MAX_PANEL_SIDE

    @property
    def times(self) -> bool:
        """Whether colours show weights as multiples of the uniform weight: as the visitor chose, by default for long
        rows.
        """
        ramp = self.setup.view.ramp
        return self.times_by_itself if ramp is None else ramp == "times"

    @property
    def new(self) -> list[str]:
        """The steps that the run before did not have."""
        before = self.before
        if before is None:
            return []
        return [name for name in self.trace.computed() if name not in before.steps]

    @property
    def reshaped(self) -> list[str]:
        """The steps that the run before had in another shape."""
        before = self.before
        if before is None:
            return []
        kept = {name: step for name, step in self.trace.computed().items() if name in before.steps}
        return [name for name, step in kept.items() if not step.is_shaped_like(before.steps[name])]

    def drawn(self, step: str) -> Trace:
        """The Trace from which a step is drawn: the difference if it is switched on and the step has one, otherwise the
        run.
        """
        if not self.shows_difference:
            return self.trace  # a difference is computed only if it is shown
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
    runs = RecalledRuns(setup, before)
    return ScreenState(setup, selection_of(runs.get().trace, setup), before, runs)


@cache_in_thread
def make_screen_runs(setup: Setup, before: Setup | None) -> ScreenRuns:
    """The ScreenRuns of a Setup compared with another one."""
    trace = trace_for(setup)
    return ScreenRuns(setup, before, trace, inputs_of(setup), get_run_before(trace, setup, before))


def keep_selection(trace: Trace) -> None:
    """Keeps the selected head and query after a change, if the sentence and their counts are the same, and the change
    does not set others.
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
    """The run with which this one is compared, labelled with the words of the same sentence of the batch; None if there
    is none, or if it cannot be computed or has other sizes.
    """
    if named is None:
        return None
    try:
        before = trace_for(named.with_fields(sentence=setup.view.sentence))
    except AttentionError:
        return None
    return before if trace.step("weights").is_shaped_like(before.step("weights")) else None
