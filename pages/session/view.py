"""What a page shows at once: a run, what went into it, what is looked at, and the run before it."""

from dataclasses import dataclass
from functools import cached_property

import streamlit as st
from torch import Tensor

from attention_core import AttentionError, Trace
from attention_core.comparison.differences import Move, comparable, difference
from attention_core.explanation.layout import LARGEST
from pages.runs.cache import cached_moves, cached_rows, material_of, trace_of, while_it_runs
from pages.runs.run_inputs import Material
from pages.session import setup_state
from pages.session.labels import Look, looked_at
from pages.setup.setup import Setup, computed_part, pinned_of, seen_from


@dataclass(frozen=True, eq=False)
class Scene:
    """A Setup, its run and inputs, what is looked at, and the run before, where there is one of the same sizes; named:
    the Setup of that."""

    setup: Setup
    trace: Trace
    material: Material
    look: Look
    before: Trace | None
    named: Setup | None

    @cached_property
    def moved(self) -> dict[str, Move]:
        """The steps that moved since the run before."""
        return {} if self.before is None else cached_moves(*self.both)

    @cached_property
    def apart(self) -> Trace | None:
        """The difference to the run before."""
        return None if self.before is None else difference(self.trace, self.before)

    @cached_property
    def weights_apart(self) -> Trace | None:
        """The same of the weights alone: of a long text the whole takes longer than all that is drawn of it."""
        if self.before is None:
            return None
        return difference(Trace({"weights": self.trace.step("weights")}, self.trace.labels), self.before)

    @property
    def rows_apart(self) -> tuple[Tensor, Tensor]:
        """How far each row of the head that is looked at lies from the run before: its total variation, and the
        divergence of the run before from it, (T,) each."""
        now, named, *runs = self.both
        return cached_rows(now, named, self.look.batch, self.look.head, *runs)

    @property
    def both(self) -> tuple[Setup, Setup, Trace, Trace]:
        """What is computed of this Setup and of the one before, as caches are asked for it."""
        return computed_part(self.setup), computed_part(self.named), self.trace, self.before

    @cached_property
    def a(self) -> Trace | None:
        """The run that is pinned as A, whatever its sizes; None where none is, or where its file is held no more."""
        pinned = pinned_of(self.setup)
        try:
            return pinned and trace_of(seen_from(pinned, self.setup))
        except AttentionError:
            return None

    @property
    def shows_difference(self) -> bool:
        """Whether maps show how the numbers changed, where they can."""
        return self.setup.against is not None and self.setup.pinned != "values"

    @property
    def times_by_itself(self) -> bool:
        """Whether a row is so long that its weights are seen in even shares alone."""
        return self.trace.sizes()["S"] > LARGEST

    @property
    def times(self) -> bool:
        """Whether the weights' colours count in even shares: as it was chosen, else where a row is long."""
        return self.times_by_itself if self.setup.ramp is None else self.setup.ramp == "times"

    @property
    def new(self) -> list[str]:
        """The steps that the run before did not have."""
        return [] if self.before is None else [name for name in self.trace.computed() if name not in self.before]

    @property
    def reshaped(self) -> list[str]:
        """The steps that the run before had in another shape."""
        if self.before is None:
            return []
        steps, before = self.trace.computed().items(), self.before
        return [name for name, step in steps if name in before and not comparable(step, before.step(name))]

    def drawn(self, step: str) -> Trace:
        """The run that a step is drawn from: the difference where that is asked for and there is one."""
        compared = self.shows_difference and self.apart is not None and step in self.apart
        return self.apart if compared else self.trace  # the difference is computed where it is drawn alone


def current() -> Scene:
    """The scene of the session."""
    if st.session_state.get("seen", (None,))[0] != setup_state.current():
        stay(trace_of(setup_state.current()))
    return seen_as(setup_state.current(), setup_state.before())


@while_it_runs
def seen_as(setup: Setup, before: Setup | None) -> Scene:
    """The scene of a Setup that is compared with another one."""
    trace = trace_of(setup)
    return Scene(setup, trace, material_of(setup), looked_at(trace, setup), run_before(trace, before), before)


def stay(trace: Trace) -> None:
    """After a change the same head and the same query are looked at as before, where there are as many of them."""
    setup, sizes = setup_state.current(), trace.sizes()
    now = looked_at(trace, setup)
    seen, look, were = st.session_state.get("seen", (None, None, {}))
    if seen is not None and setup.example == seen.example and computed_part(setup) != computed_part(seen):
        kept = {"head": (look.head, now.head, "H"), "token": (look.query, now.query, "T")}
        pins = {name: was for name, (was, at, axis) in kept.items() if was != at and sizes[axis] == were[axis]}
        if pins:
            setup_state.look(**pins)
            now = looked_at(trace, setup_state.current())
    st.session_state["seen"] = (setup_state.current(), now, sizes)


def run_before(trace: Trace, named: Setup | None) -> Trace | None:
    """The run that this one is compared with: none where it cannot be computed, or has other sizes."""
    if named is None:
        return None
    try:
        before = trace_of(named)
    except AttentionError:
        return None
    return before if comparable(trace.step("weights"), before.step("weights")) else None
