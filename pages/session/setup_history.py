"""Undo and redo, the comparison of two runs A and B, and the temporary display of a Setup."""

from collections.abc import Callable
from dataclasses import replace

import streamlit as st

from attention_core import Trace
from attention_core.record.errors import AttentionError
from pages.session.setup_state import (
    EMPTY_HISTORY,
    HISTORY_CONTROL,
    LOOK_FIELDS,
    MAX_HISTORY,
    current_setup,
    drop_missing,
    forget_all_refusals,
    is_same_run,
    renew_editors,
    setup_before,
    take_setup,
    with_comparison,
    workbench,
)
from pages.setup.codec import check_link_length
from pages.setup.setup import Setup

COMPARISON_CONTROL = "comparing"  # name under which the errors of pinning, swapping and resetting are stored
PLACE_FIELDS = ("sentence", "token", "head")  # fields that select a row of a map
HISTORY_MOVES = {"undo": ("past", "future"), "redo": ("future", "past")}


# ---- A and B ---------------------------------------------------------------------------------------------------------
def pin_current_setup() -> None:
    """Pins the current Setup as A; later changes apply to B."""
    now = current_setup()
    pin_run(now.with_fields(against=now.run, pinned=now.comparison.pinned or "values"))


def pin_setup_before() -> None:
    """Pins the Setup before the last change as A, and opens the view of all heads, which shows A, B and B - A."""
    before = setup_before()
    if before is not None:
        pin_run(
            current_setup().with_fields(
                against=before.run, pinned="values", stop="heads", side=None, step=None, cell=None
            )
        )


def pin_run(pinned: Setup) -> None:
    """Shows a Setup with a pinned run A, or stores the error if no link can hold both runs."""
    try:
        check_link_length(pinned)
    except AttentionError as error:
        workbench().refuse(COMPARISON_CONTROL, error)
        return
    workbench().forget_refusals(COMPARISON_CONTROL)
    st.session_state["setup"] = pinned


def swap_a_and_b(compute: Callable[[Setup], Trace]) -> None:
    """Swaps the runs A and B: the pinned run becomes the current one, and the current run is pinned.

    compute: a function that returns the run of a Setup.
    """
    now = current_setup()
    show_a(now.with_fields(against=now.run), compute)


def reset_b_to_a(compute: Callable[[Setup], Trace]) -> None:
    """Makes the pinned run A the current run as well, so that later changes start from A.

    compute: a function that returns the run of a Setup.
    """
    show_a(current_setup(), compute)


def show_a(seen: Setup, compute: Callable[[Setup], Trace]) -> None:
    """Makes the pinned run A the current run, but keeps the view and comparison of another Setup.

    seen: the Setup whose view and comparison are kept. compute: a function that returns the run of a Setup.
    """
    setup = replace(seen, run=current_setup().comparison.run_a)
    try:
        setup, _ = drop_missing(setup, compute(setup))
    except AttentionError as error:  # the session no longer has the uploaded file of run A
        workbench().refuse(COMPARISON_CONTROL, error)
        return
    state = workbench()
    take_setup(setup, [*state.refused, *state.drafts])
    renew_editors()


def are_swapped(one: Setup, other: Setup) -> bool:
    """Returns whether the run of each Setup is pinned as A in the other Setup."""
    if not (one.comparison.pinned and other.comparison.pinned):
        return False
    if one.run == other.run:
        return False
    return one.comparison.against == other.run and other.comparison.against == one.run


# ---- undo and redo ---------------------------------------------------------------------------------------------------
def move_in_history(move: str, compute: Callable[[Setup], Trace]) -> None:
    """Goes one entry back ("undo") or forward ("redo") in the history of Setups.

    If the entry has another run, this run is shown with the current selection; otherwise only the entry's selection is
    restored. compute: a function that returns the run of a Setup.
    """
    source, target = HISTORY_MOVES[move]
    if not can_move(move):
        return
    *rest, now = st.session_state[source]
    left = current_setup()
    is_look = is_same_run(now, left)
    if is_look:
        seen = left.with_fields(**{name: now.value_of(name) for name in LOOK_FIELDS})
        if any(seen.value_of(name) != left.value_of(name) for name in PLACE_FIELDS):
            seen = seen.with_fields(cell=None)  # closes the open cell, which belongs to another row of the map
    else:
        seen = with_comparison(replace(left, run=now.run), left)
    if are_swapped(now, left):
        seen = seen.with_fields(against=now.comparison.against)
    try:
        setup, _ = drop_missing(seen, compute(seen))
    except AttentionError as error:  # the session no longer has the uploaded file of this entry's run
        workbench().refuse(HISTORY_CONTROL, error)
        return
    passed = [*st.session_state[target], left]
    before = st.session_state["before"] if is_look else left
    st.session_state.update({source: rest, target: passed[-MAX_HISTORY:]})
    st.session_state.update(setup=setup, before=before, is_moved=True)
    forget_all_refusals()
    renew_editors()


def can_move(move: str) -> bool:
    """Returns whether the history has an entry to which undo or redo can go.

    move: "undo" or "redo".
    """
    source, _ = HISTORY_MOVES[move]
    return bool(st.session_state[source])


# ---- a screen for a while --------------------------------------------------------------------------------------------
def save_screen() -> dict:
    """Returns the session's Setup, history and workbench state, as the argument of restore_screen."""
    names = ("setup", *EMPTY_HISTORY)
    saved = {name: st.session_state[name] for name in names}
    return saved | {"workbench": replace(workbench())}


def restore_screen(saved: dict) -> None:
    """Restores the Setup, history and workbench state that save_screen returned."""
    st.session_state.update(saved)
    renew_editors_and_view()


def show_temporarily(setup: Setup, saved: dict) -> None:
    """Shows a Setup temporarily, without a comparison; undo leads back to the saved screen.

    saved: the result of save_screen.
    """
    past = [*saved["past"], saved["setup"]]
    st.session_state.update(EMPTY_HISTORY | {"setup": setup, "past": past[-MAX_HISTORY:]})
    forget_all_refusals()
    renew_editors_and_view()


def renew_editors_and_view() -> None:
    """Clears the drafts in editors and the stored selection, so that both are taken from the new Setup."""
    st.session_state.pop("seen", None)
    renew_editors()
