"""The current Setup of a session: its changes, the errors of refused changes, and the selection.

A change is applied only if it can be computed. If it raises an error, the error is stored under the control that was
used, the control keeps the typed value, and the screen keeps the last valid Setup.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import streamlit as st

from attention_core import Trace
from attention_core.learned.grammar import vocabulary
from attention_core.learned.language.recipes import RECIPES
from attention_core.record.errors import AttentionError
from pages.session import side_panel
from pages.session.linked_state import LinkedState, show_link
from pages.setup.codec import check_link_length, check_link_values, to_address
from pages.setup.model_fields import HEAD_ORDER_READERS, find_written
from pages.setup.resolve import resolve_run
from pages.setup.setup import Setup, make_setup, start_in
from pages.site.words import current_language

MAX_HISTORY = 50  # undo can go back at most this many Setups
INTERVENTION_FIELDS = ("changes", "held", "other_text")  # fields for interventions in a language model
LOOK_FIELDS = {
    *("sentence", "token", "head", "written", "maps", "side"),
    *HEAD_ORDER_READERS,
    *INTERVENTION_FIELDS,
}  # fields of the view that undo restores together with the run
READ_FIELDS = {"text", "more", "model"}  # a change of any of these fields removes the generated text
WORD_FIELDS = {"text", "cut"}  # a change of any of these fields removes the selected query
# The histories of a new session. is_moved: whether undo or redo led to the current Setup, instead of a change.
EMPTY_HISTORY: dict = {"past": [], "future": [], "before": None, "is_moved": False}
AWAITED_KEY = "awaited_link"  # session key: a link, and the digest of the files for which it waits; None for neither
HISTORY_CONTROL = "history"  # name under which the errors of undo and redo are stored


@dataclass
class WorkbenchState(LinkedState):
    """The state of the workbench in a session, besides its Setup and its history.

    drafts: {control: change of the Setup that was refused}; each is tried again together with the next change. source:
    "link" or "file", from which the Setup was opened. start: the default Setup of the session's language; None once
    another Setup was opened. is_empty: whether the workbench shows no numbers, because the link that began the session
    names a recorded model that is not kept.
    """

    drafts: dict[str, dict] = field(default_factory=dict)
    source: str = "link"
    start: Setup | None = None
    is_empty: bool = False

    def forget_refusals(self, *controls: str) -> None:
        """Removes the errors and the drafts (refused changes) stored under these controls."""
        super().forget_refusals(*controls)
        self.drafts = {name: draft for name, draft in self.drafts.items() if name not in controls}


def workbench() -> WorkbenchState:
    """Returns the state of the workbench in this session."""
    return st.session_state["workbench"]


def current_setup() -> Setup:
    """Returns the Setup on the screen."""
    return st.session_state["setup"]


def has_begun() -> bool:
    """Returns whether the session has a Setup."""
    return "setup" in st.session_state


def begin_session() -> None:
    """Starts a session with the start Setup of its language and an empty history."""
    start = start_in(current_language())
    st.session_state.update(setup=start, workbench=WorkbenchState(start=start), **EMPTY_HISTORY)


def is_untouched() -> bool:
    """Returns whether the Setup is still the session's start Setup, without any history, error or draft."""
    state = workbench()
    if state.refused or state.drafts:
        return False
    if st.session_state["past"] or st.session_state["future"]:
        return False
    return state.start == current_setup()


def write_setup_link() -> None:
    """Writes the Setup's link into the address bar.

    A link that still waits for files from the browser is left unchanged, and one whose model is not kept.
    """
    if st.session_state.get(AWAITED_KEY) or workbench().is_empty:
        return
    show_link(to_address(current_setup(), current_language()) | side_panel.write_panel_link())


def write_panel() -> None:
    """Writes into the address which panel of the workbench is open, and what is open in it; does nothing on other
    pages.
    """
    if st.session_state["page"] == "":
        write_setup_link()


# ---- a change --------------------------------------------------------------------------------------------------------
def change_setup(control: str, compute: Callable[[Setup], Trace], **updates) -> None:
    """Applies a change to the Setup if its run can be computed, else stores the error and keeps the change as a draft.

    Several changes may depend on each other (a new width in q and in k), so a refused change is kept as a draft of its
    control. Drafts are applied together with a later change if this can be computed. If the new run lacks the open step
    or cell, the step or cell is closed. Another text removes the generated text and the selected query.

    control: the name of the control that was used. compute: a function that returns the run of a Setup. updates: the
    new values of the fields.
    """
    try:
        check_link_values(updates)
    except AttentionError as refusal:
        workbench().refuse(control, refusal)
        return
    if updates.keys() & READ_FIELDS:
        updates = {"written": None, **updates}
    if updates.keys() & WORD_FIELDS:
        updates = {"token": None, **updates}
    before, drafts = current_setup(), workbench().drafts
    waiting: dict[str, object] = {}
    for draft in drafts.values():
        waiting |= draft
    attempts = [
        (before.with_fields(**waiting | updates), [*drafts, control]),
        (before.with_fields(**updates), [control]),
    ]
    for attempt, settled in attempts:
        try:
            trace = compute(attempt)
            check_link_length(attempt)  # a link must have room for the compared run, too
        except AttentionError as refusal:
            error = refusal
            continue
        setup, _ = drop_missing(attempt, trace)
        take_setup(setup, settled)
        return
    workbench().drafts = {**drafts, control: updates}
    workbench().refuse(control, error)


def take_setup(setup: Setup, settled: list[str]) -> None:
    """Makes a Setup the current one; if its run differs, adds the former Setup to the history.

    settled: the controls whose errors and drafts are removed.
    """
    if not is_same_run(setup, current_setup()):
        setup = push_history(setup)
    workbench().forget_refusals(*settled, HISTORY_CONTROL)
    workbench().forget_trouble()
    workbench().is_empty = False
    # the visitor has changed the Setup, so the session no longer waits for the link's files
    st.session_state.update({"setup": setup, AWAITED_KEY: None})


def push_history(setup: Setup) -> Setup:
    """Adds the current Setup to the history; returns the given Setup, with its comparison updated.

    If the maps of the given Setup show a difference, it becomes the difference from the run that was current before.
    """
    before = current_setup()
    past = [*st.session_state["past"], before]
    st.session_state.update(past=past[-MAX_HISTORY:], future=[], before=before, is_moved=False)
    return with_comparison(setup, before)


def with_comparison(setup: Setup, before: Setup) -> Setup:
    """Returns a Setup that is compared with the run of `before`, if the maps of the Setup show a difference.

    A pinned run A stays. If both Setups show different layers, the maps show no difference any more.
    """
    if setup.comparison.against is None or setup.comparison.pinned:
        return setup
    return setup.with_fields(against=None if is_other_layer(before, setup) else before.run)


def setup_before() -> Setup | None:
    """Returns the Setup with which the current one is compared; None if there is none.

    It is the Setup whose run the maps subtract, else the Setup before the last change. If that change opened another
    layer, there is none, because the numbers of two layers cannot be compared.
    """
    now, before = current_setup(), st.session_state["before"]
    named = now.comparison.against
    if named is not None:
        return Setup(named)
    return None if before is None or is_other_layer(before, now) else before


def is_moved_in_history() -> bool:
    """Returns whether undo or redo led to the current Setup, so that differences in its numbers are not the effect of a
    new change.
    """
    return st.session_state["is_moved"]


def is_other_layer(one: Setup, other: Setup) -> bool:
    """Returns whether two Setups show different layers of a language model."""
    return resolve_run(one.run).layer != resolve_run(other.run).layer


def adopt_setup(setup: Setup) -> None:
    """Makes a Setup from another page the current one; undo leads back to the former Setup."""
    if not has_begun():
        begin_session()
    take_setup(setup, [])
    renew_editors()


def open_example(example: str) -> None:
    """Opens an example with its default settings."""
    setup, now = make_setup(example=example), current_setup()
    if now.comparison.run_a is not None:  # run A stays pinned, and the example becomes run B
        setup = setup.with_fields(against=now.comparison.against, pinned=now.comparison.pinned)
    push_history(setup)
    forget_all_refusals()
    st.session_state.update(setup=setup, before=None)
    renew_editors()


# ---- refusals --------------------------------------------------------------------------------------------------------
def forget_all_refusals() -> None:
    """Removes all errors and drafts (changes that were refused), and the parts of the link that could not be used."""
    state = workbench()
    st.session_state["workbench"] = WorkbenchState(source=state.source, start=state.start)


# ---- the selection ---------------------------------------------------------------------------------------------------
def look_at(**updates) -> None:
    """Changes the selection (such as head, token, cell). Undo goes back to the selection right after the last change of
    the run.

    So undo reverses neither a move of the animation nor the opening of a step or cell, although these may select a row.
    updates: the new values of the fields.
    """
    now = current_setup()
    changed = {name for name, value in updates.items() if now.value_of(name) != value}
    is_look = bool(changed) and changed <= LOOK_FIELDS
    past = st.session_state["past"]
    if is_look and not (past and is_same_run(past[-1], now)):
        st.session_state["past"] = [*past, now][-MAX_HISTORY:]
    select(**updates)


def choose_view(**updates) -> None:
    """Changes interventions in a language model, its generated text, or the options of maps; undo reverses these one by
    one.

    updates: the new values of the fields.
    """
    now = current_setup()
    if now.with_fields(**updates) != now:
        st.session_state.update(past=[*st.session_state["past"], now][-MAX_HISTORY:], future=[])
    select(**updates)


def is_same_run(one: Setup, other: Setup) -> bool:
    """Returns whether two Setups have the same run; their selections and comparisons may differ."""
    return one.run == other.run


def select(**updates) -> None:
    """Sets fields of the view (token, head, step, cell) without computing a run and without any check."""
    st.session_state["setup"] = current_setup().with_fields(**updates)


def drop_missing(setup: Setup, trace: Trace) -> tuple[Setup, list[tuple[str, str]]]:
    """Returns a Setup without a step, cell or generated text that its run lacks, and the removed values.

    Each removed value is a pair (key in a link, text).
    """
    setup, missing = drop_missing_cell(setup, trace)
    if setup.view.written is None or has_written(setup, trace):
        return setup, missing
    return setup.with_fields(written=None), [*missing, ("written", setup.view.written[:40])]


def has_written(setup: Setup, trace: Trace) -> bool:
    """Returns whether the generated text in a Setup can come from its language model.

    Returns False without a language model with a causal mask, and True for any batch of sentences that it reads.
    """
    recipe = RECIPES.get(resolve_run(setup.run).model)
    if recipe is None or not recipe.causal:
        return False
    words = trace.labels.get("T", ())
    return bool(setup.run.more) or find_written(setup.view.written, words, vocabulary(recipe.language)) is not None


def drop_missing_cell(setup: Setup, trace: Trace) -> tuple[Setup, list[tuple[str, str]]]:
    """Returns a Setup without a step or a cell that its run does not have, and the removed values as (key, text)."""
    step, cell = setup.view.step, setup.view.cell
    if step is not None and step not in trace:
        missing = ("step", step[:40])
        return setup.with_fields(step=None, cell=None), [missing]
    if cell is None:
        return setup, []
    if not trace.holds(step, cell):
        missing = ("cell", ",".join(map(str, cell)))
        return setup.with_fields(cell=None), [missing]
    view_fields = view_fields_for_cell(setup, trace)
    return setup.with_fields(**view_fields), []


def view_fields_for_cell(setup: Setup, trace: Trace) -> dict[str, int]:
    """Returns the head and token of the opened cell as fields of the view, except those that the Setup already has."""
    place = dict(zip(trace.step(setup.view.step).dims, setup.view.cell, strict=True))
    fields = {}
    for name, axis in (("head", "H"), ("token", "T")):
        if axis in place and setup.value_of(name) is None:
            fields[name] = place[axis]
    return fields


def get_trail() -> list[tuple[str, tuple[int, ...] | None]]:
    """Returns the trail: the cells that the visitor opened one after another, as (step, cell)."""
    setup = current_setup()
    here = (setup.view.step, setup.view.cell)
    trail = st.session_state.get("trail", [])
    if trail and trail[-1] == here:
        return trail
    return [here]


def extend_trail(step: str, cell: tuple[int, ...]) -> None:
    """Adds an operand to the trail of opened cells; if the trail already contains it, goes back to that entry."""
    trail, operand = get_trail(), (step, cell)
    if operand in trail:
        place = trail.index(operand)
        trail = trail[:place]
    trail = [*trail, operand]
    st.session_state["trail"] = trail[-MAX_HISTORY:]


def renew_editors() -> None:
    """Discards the text typed into editors: their widgets get keys with a new version number."""
    st.session_state["version"] = editors_version() + 1


def editors_version() -> int:
    """Returns the version number that is part of the keys of editors' widgets."""
    return st.session_state.get("version", 0)
